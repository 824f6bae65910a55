"""Forks as lines: every record is told with a sign, and nothing of it acts."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from tt_debugger.core.fork.made import Made, MadeState
from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.plan import Draft, Forked
from tt_debugger.core.fork.writes import (
    How,
    IndexLine,
    Insert,
    Key,
    MoreLines,
    NewBranch,
    NewFile,
    NewKeys,
    NewRows,
    Record,
    Write,
)
from tt_debugger.core.text import acting
from tt_debugger.views.fork import (
    counts_line,
    damage_text,
    draft_lines,
    forked_lines,
    made_lines,
    made_list,
    made_name,
    operation_lines,
    rehearsal_line,
)
from tt_debugger.views.palette import ANSI, ASCII, UNICODE

KEPT = Record(b'{"id":1}\n', How.KEPT, 0)
EDITED = Record(b'{"id":2,"text":"changed"}\n', How.CHANGED, 4)
NEW = Record(
    b'{"id":3,"message":{"role":"user","content":"something that was said anew"}}\n', How.ADDED
)


def draft(*writes: Write, notes=()) -> Draft:
    return Draft(writes, "/s/new.jsonl", "new", "3", "agent --resume new", notes)


def plain(*writes: Write, notes=()) -> list[str]:
    return [line.plain for line in draft_lines(draft(*writes, notes=notes), ANSI, UNICODE)]


def test_what_is_kept_folds_and_what_is_edited_or_new_is_shown_in_full():
    assert plain(NewFile("/s/new.jsonl", (KEPT, KEPT, EDITED, KEPT, NEW))) == [
        "new file /s/new.jsonl",
        "= 2 records kept, 18 bytes",
        "~ edited record, from row 5",
        '~ {"id":2,"text":"changed"}',
        "= 1 record kept, 9 bytes",
        "+ new record",
        "+ {",
        '+   "id": 3,',
        '+   "message": {',
        '+     "role": "user",',
        '+     "content": "something that was said anew"',
        "+   }",
        "+ }",
    ]


def test_each_write_has_a_heading_and_notes_come_first():
    lines = plain(
        MoreLines("/s/a.jsonl", (NEW,), 10, "0" * 64),
        IndexLine("/s/index.jsonl", KEPT),
        notes=("one record could not be kept",),
    )
    assert [line for line in lines if line[:1] not in ("+", "=")] == [
        "note       one record could not be kept",
        "",
        "added at the end of /s/a.jsonl",
        "",
        "one line more in the index /s/index.jsonl",
    ]


def test_rows_are_told_by_table_and_columns():
    kept = Insert("writes", {"thread": "t2", "at": 1}, ("thread",), How.KEPT)
    values = {
        "thread": "t2",
        "step": 3,
        "nothing": None,
        "blob": bytes(range(128, 160)),
        "state": '{"answer": 42}',
    }
    assert plain(NewRows("/s/a.db", (kept, kept, Insert("checkpoints", values, ("thread",))))) == [
        "new rows in /s/a.db: writes, checkpoints",
        "= 2 rows of writes kept, but for thread",
        "+ new row of checkpoints",
        "+ thread   t2",
        "+ step     3",
        "+ nothing  null",
        "+ blob     32 bytes: " + bytes(range(128, 152)).hex(" ") + " ...",
        '+ state    {"answer": 42}',
    ]


def test_keys_are_told_by_kind_and_value():
    keys = (
        Key("a", "hash", {b"x": b"1", b"long": b"2"}, 5000, How.CHANGED, 2),
        Key("b", "zset", [("m", 1.5)]),
        Key("c", "string", b"kept", None, How.KEPT),
    )
    assert plain(NewKeys("redis://h/0", keys)) == [
        "new keys in redis://h/0",
        "~ edited hash a, kept for 5,000 ms, from row 3",
        "~ x     1",
        "~ long  2",
        "+ new zset b",
        "+ m",
        "+ 1.5",
        "= 1 key kept, under new names",
    ]


def test_a_commit_is_told_by_its_files():
    branch = NewBranch(
        "/r", "ttdbg/x", "abc", {"a.py": b"x = 1\n", "gone": None}, "why\n", "me", "me@x", 0
    )
    assert plain(branch) == [
        "new branch ttdbg/x in /r",
        "= all of commit abc",
        "+ new commit by me <me@x>",
        "+ why",
        "~ edited a.py, 6 bytes",
        "~ x = 1",
        "- gone",
    ]
    told = msgspec.structs.replace(branch, files={})
    assert plain(told)[1:] == ["= all of commit abc", "+ new commit by me <me@x>", "+ why"]
    assert plain(msgspec.structs.replace(told, message=""))[1:] == ["= all of commit abc"]


def test_a_record_that_is_no_json_is_shown_escaped():
    assert plain(NewFile("/s/x", (Record(b"\xff\x1b[31mred\n", How.ADDED),))) == [
        "new file /s/x",
        "+ new record",
        "+ \\xff␛[31mred\\n",
    ]


def test_records_are_counted_by_how_they_come_about():
    counts = counts_line(draft(NewFile("/s/x", (KEPT, KEPT, EDITED)), IndexLine("/i", NEW)), ANSI)
    assert counts.plain == "= 2 kept   ~ 1 edited   + 1 new   "


def test_it_is_told_whether_a_draft_was_read_back():
    told = [rehearsal_line(ANSI, ASCII, is_rehearsed=each).plain for each in (True, False)]
    later = rehearsal_line(ANSI, ASCII, is_rehearsed=False, is_for_later=True).plain
    assert later == "large: it is read back once, when it is to be written"
    assert told == [
        "ok read back: it ends at this state, exactly",
        "not read back: it is too large, or goes to a server",
    ]


def test_a_fork_is_told_with_each_line_of_its_command():
    forked = Forked("/s/new.jsonl", "new", "/s/new.jsonl#new:3", "import x\nx.go(1)", "ab")
    assert [line.plain for line in forked_lines(forked, ANSI)] == [
        "fork       /s/new.jsonl",
        "session    new",
        "",
        "To go on from there:",
        "",
        "import x",
        "x.go(1)",
    ]


OPERATION = Operation(
    "ab12cd34", 1_789_660_800, "/s/a.jsonl#x", "/s/b.jsonl", "sid", "p", "pi b", "try again"
)
MADE = Made(OPERATION, MadeState.DONE)


def test_forks_made_before_are_told_with_time_note_and_place():
    assert [line.plain for line in made_lines((MADE,), ANSI)] == [
        "forked     2026-09-17 16:00:00.000 UTC · try again",
        "           /s/b.jsonl · sid",
    ]
    assert made_name(MADE) == "fork of 2026-09-17 16:00 · try again"
    assert [line.plain for line in operation_lines(MADE, ANSI)] == [
        "made       2026-09-17 16:00:00.000 UTC",
        "state      done",
        "note       try again",
        "of         /s/a.jsonl#x",
        "fork       /s/b.jsonl",
        "session    sid",
        "go on      pi b",
        "id         ab12cd34",
    ]


def test_forks_are_listed_with_state_note_place_and_origin():
    quiet = msgspec.structs.replace(
        OPERATION, id="ef567890", note=None, location="redis://h/0", session="t2"
    )
    made = (MADE, Made(quiet, MadeState.CHANGED))
    assert [line.plain for line in made_list(made, ANSI, UNICODE)] == [
        "ab12cd34  2026-09-17 16:00  done           try again",
        "          /s/b.jsonl · sid",
        "          of /s/a.jsonl#x",
        "ef567890  2026-09-17 16:00  changed since",
        "          redis://h/0 · t2",
        "          of /s/a.jsonl#x",
    ]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [40, 80])
def test_what_does_not_fit_a_list_is_cut_where_it_tells_least(glyphs, width: int):
    long = msgspec.structs.replace(
        OPERATION,
        note="why " * 40,
        origin=f"/home/{'deep/' * 20}a.jsonl#x",
        location=f"/home/{'deep/' * 20}b.jsonl",
    )
    first, place, origin = made_list((Made(long, MadeState.DONE),), ANSI, glyphs, width)
    assert [first.cell_len, place.cell_len, origin.cell_len] == [width] * 3
    assert first.plain.startswith("ab12cd34  2026-09-17 16:00  done")
    assert place.plain.endswith("/b.jsonl · sid")
    assert origin.plain.startswith(f"          of {glyphs.ellipsis}")
    assert origin.plain.endswith("/a.jsonl#x")


def test_lines_that_cannot_be_read_are_counted():
    assert [damage_text(each) for each in (0, 1, 2)] == [
        "",
        "1 line of the operation log cannot be read",
        "2 lines of the operation log cannot be read",
    ]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@given(text=st.text(), data=st.binary())
def test_nothing_that_is_told_acts(glyphs, text: str, data: bytes):
    encoded = msgspec.json.encode(text.encode(errors="replace").decode())
    made = Made(Operation(text, 0, text, text, text, text, text, text), MadeState.DONE)
    writes = (
        NewFile(text, (Record(data, How.ADDED), Record(encoded, How.CHANGED))),
        NewRows(text, (Insert(text, {text: text, "b": data}, (text,)),)),
        NewRows(text, (Insert(text, {}, (text,), How.KEPT),)),
        NewKeys(text, (Key(text, text, {data: data}), Key(text, "list", [data]))),
        NewBranch(text, text, text, {text: data, text + "/": None}, text, text, text, 0),
    )
    lines = [
        *draft_lines(draft(*writes, notes=(text,)), ANSI, glyphs),
        *forked_lines(Forked(text, text, text, text, text, (text,)), ANSI),
        *made_lines((made,), ANSI),
        *made_list((made,), ANSI, glyphs),
        *made_list((made,), ANSI, glyphs, 80),
        Text(made_name(made)),
        *operation_lines(made, ANSI),
    ]
    for line in lines:
        assert not acting(line.plain)
        assert "\n" not in line.plain
