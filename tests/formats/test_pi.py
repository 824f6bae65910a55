"""Pi: what is particular to its files, beside what the oracles and laws show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import (
    PI_HEADER,
    assistant,
    codes,
    ids_of,
    jsonl,
    pi,
    said,
    session_of,
    user,
)

from tt_debugger.core.model import Kind, Role, Usage
from tt_debugger.formats.pi import Pi


@pytest.fixture
def opened(open_as: Callable[..., Any]) -> Any:
    return partial(open_as, "pi")


def texts(state: dict[str, Any]) -> list[str]:
    return [each.get("summary") or each["content"][0]["text"] for each in state["messages"]]


def old(message: Any = None, **entry: Any) -> dict[str, Any]:
    """Give an entry of version 1, which has no ids."""
    return {"type": "message", "message": message} if message else entry


@pytest.mark.parametrize(
    "version",
    [{}, *({"version": each} for each in (None, 1.0, 0, "1", " 1 ", "", False))],
)
def test_version_1_is_chained_in_file_order_and_named_by_line(
    opened: Any, version: dict[str, Any]
):
    header = {key: value for key, value in PI_HEADER.items() if key != "version"}
    session, _ = opened({**header, **version}, old(user("a")), "", "bad", old(assistant("b")))

    assert list(session.ids) == ["L2", "gap@4", "L5"]
    assert ids_of(session, session.active_path) == "L2 L5"


@pytest.mark.parametrize("version", [3, "3", "x", "nan", "inf", {}, [2], 1e308])
def test_any_other_version_has_ids(opened: Any, version: Any):
    session, _ = opened({**PI_HEADER, "version": version}, pi("a", None, user("hi")))

    assert list(session.ids) == ["a"]


@pytest.mark.parametrize("damage", [[], ["", "  "], ["garbage"]])
def test_the_index_of_a_kept_entry_counts_parsed_lines_only(opened: Any, damage: list[str]):
    session, replay = opened(
        {**PI_HEADER, "version": 1},
        old(user("one")),
        *damage,
        old(user("two")),
        old(type="compaction", summary="S", firstKeptEntryIndex=2),
        old(user("three")),
    )

    assert texts(replay.state(session.active)) == ["S", "two", "three"]


def test_records_that_share_a_line_are_not_in_the_chain_of_version_1_nor_counted(opened: Any):
    session, replay = opened(
        {**PI_HEADER, "version": 1},
        old(user("one")),
        glued(old(user("lost")), old(user("lost too"))),
        "[]",
        old(user("two")),
        old(type="compaction", summary="S", firstKeptEntryIndex=3),
    )

    assert ids_of(session, session.active_path) == "L2 L5 L6"
    assert texts(replay.state(session.active)) == ["S", "two"]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("bad", "Pi skips this line in silence"),
        ("null", "Pi skips this line in silence"),
        ("0 1", "Pi skips this line in silence"),
        ("[NaN]", "Pi skips this line in silence"),
        ("[]", "as the last line it leaves the context empty"),
        ('"x"', "as the last line it leaves the context empty"),
        ("7", "as the last line it leaves the context empty"),
        ("[" * 300 + "]" * 300, "this limit is that of ttdbg"),
    ],
)
def test_what_pi_makes_of_a_line_that_is_no_record_is_in_the_hint(
    opened: Any, line: str, hint: str
):
    session, _ = opened(PI_HEADER, pi("a", None, user("hi")), line)

    assert session.ids[session.active] == "a"
    assert all(hint in (each.hint or "") for each in session.findings)
    assert set(codes(session.findings)) == {"TT101"}


def test_the_session_is_what_the_header_says(opened: Any):
    session, _ = opened({**PI_HEADER, "parentSession": "/home/dev/parent.jsonl"}, pi("a", None))

    assert (session.id, session.cwd, session.forked_from) == (
        "pi-session",
        "/home/dev/demo",
        "/home/dev/parent.jsonl",
    )


def test_a_session_without_a_header_has_the_name_of_its_file(opened: Any):
    session, _ = opened(pi("a", None, user("hi")))

    assert (session.id, session.cwd, session.title) == ("a-name", None, None)


@pytest.mark.parametrize(
    ("records", "name"),
    [
        ([{**PI_HEADER, "id": 7}, {**PI_HEADER, "id": "second"}], "a-name"),
        ([{**PI_HEADER, "id": ""}], "a-name"),
        ([pi("a", None, user("x" * 70_000)), PI_HEADER], "pi-session"),
        (["x" * 70_000, PI_HEADER], "pi-session"),
        ([{**PI_HEADER, "cwd": "x" * 70_000}], "pi-session"),
        (["bad", ""], "a-name"),
    ],
    ids=["no text", "empty", "late", "after garbage", "long", "none"],
)
def test_the_first_header_names_the_session_before_and_after_it_is_loaded(
    opened: Any, tmp_path: Path, records: list[Any], name: str
):
    session, _ = opened(*records)
    store = Pi.open(str(tmp_path / "a-name.jsonl"))

    assert (store.sessions(), session.id) == ((name,), name)
    store.close()


def test_the_title_is_the_latest_name_in_the_file_up_to_a_row_even_off_its_path(opened: Any):
    session, replay = opened(
        PI_HEADER,
        pi("a", None, type="session_info", name=" first "),
        pi("b", "a", type="session_info", name="second"),
        pi("c", "a", user("hi")),
    )

    assert session.title == "second"
    assert [replay.state(row)["title"] for row in range(3)] == ["first", "second", "second"]


def test_an_empty_title_clears_and_so_does_an_empty_label(opened: Any):
    session, _ = opened(
        PI_HEADER,
        pi("a", None, type="session_info", name="first"),
        pi("b", "a", type="session_info", name="  "),
        pi("c", "b", type="label", targetId="a", label="x"),
        pi("d", "c", type="label", targetId="b", label="y"),
        pi("e", "d", type="label", targetId="a"),
    )

    assert (session.title, session.labels) == (None, {1: "y"})


def test_usage_is_summed_over_the_path(opened: Any):
    def spent(tokens: int) -> dict[str, Any]:
        return {"input": tokens, "output": 1, "totalTokens": tokens + 1, "cost": {"total": 0.1}}

    _, replay = opened(
        PI_HEADER,
        pi("a", None, user("hi")),
        pi("b", "a", assistant("yo", usage=spent(10))),
        pi("c", "a", assistant("other", usage=spent(1000))),
        pi("d", "b", type="compaction", summary="S", usage=spent(5)),
    )

    assert replay.state(0)["usage"] is None
    assert replay.state(3)["usage"] == {
        "input": 15,
        "output": 2,
        "cache_read": 0,
        "cache_write": 0,
        "total": 17,
        "cost": 0.2,
    }


def test_an_edit_that_was_compacted_away_no_longer_acts(opened: Any):
    _, replay = opened(
        PI_HEADER,
        pi("a", None, user("one")),
        pi("b", "a", type="context_edit", targetId="a", replacement={"content": "edited"}),
        pi("c", "b", type="context_edit", targetId="a", replacement=None),
        pi("d", "a", type="compaction", summary="S", firstKeptEntryId="a"),
        pi("e", "b", type="compaction", summary="S", firstKeptEntryId="a"),
        pi("f", "c", type="compaction", summary="S", firstKeptEntryId="a"),
    )

    assert replay.state(1)["messages"] == [{"role": "user", "content": "edited"}]
    assert replay.state(2)["messages"] == []
    assert texts(replay.state(3)) == ["S", "one"]
    assert replay.state(4)["messages"][1:] == [{"role": "user", "content": "edited"}]
    assert texts(replay.state(5)) == ["S"]


def test_the_head_of_a_call_names_its_tool_and_what_it_does(opened: Any):
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls -l"}}
    message = {"role": "assistant", "content": [call], "usage": {"input": 7}}
    session, _ = opened(PI_HEADER, pi("a", None, message, timestamp="2026-01-01T00:00:00.500Z"))

    head = session.heads[0]

    assert (head.kind, head.role, head.name, head.summary) == (
        Kind.TOOL_CALL,
        Role.ASSISTANT,
        "bash",
        "ls -l",
    )
    assert (head.time, head.line, head.usage) == (1767225600.5, 2, Usage(input=7))


@pytest.mark.parametrize("time", [None, 7, "soon", "2026-13-45T00:00:00Z", ""])
def test_a_time_that_is_none_is_no_time_and_no_finding(opened: Any, time: Any):
    session, _ = opened(PI_HEADER, pi("a", None, user("hi"), timestamp=time))

    assert (session.heads[0].time, codes(session.findings)) == (None, [])


HI, YO = user("hi"), assistant("yo")


def glued(*records: Any) -> bytes:
    """Give several records on one line, without its end."""
    return b"".join(jsonl(each)[:-1] for each in records)


# Of each: the file, the ids in storage order, the active leaf, and code and line of each finding.
PI_TABLE: dict[str, tuple[bytes, str, str, str]] = {
    "a torn last line": (
        jsonl(PI_HEADER, pi("a", None, HI)) + b'{"type":"mess',
        "a",
        "a",
        "TT102 3",
    ),
    "no final newline": (jsonl(PI_HEADER, pi("a", None, HI))[:-1], "a", "a", "TT103 2"),
    "a garbage line in the middle": (
        jsonl(PI_HEADER, pi("a", None, HI), "garbage", pi("c", "b", YO)),
        "a gap@3 c",
        "c",
        "TT101 3, TT201 4, TT403 4",
    ),
    "a missing parent": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("c", "b", YO), pi("d", "c", HI)),
        "a c d",
        "d",
        "TT201 3, TT403 3",
    ),
    "two records on one line": (
        jsonl(PI_HEADER, pi("a", None, HI), glued(pi("b", "a", YO), pi("c", "b", HI))),
        "a b c",
        "a",
        "TT403 3, TT107 3",
    ),
    "two records on the only line": (
        jsonl(PI_HEADER, glued(pi("a", None, HI), pi("b", "a", YO))),
        "a b",
        "b",
        "TT403 2, TT107 2",
    ),
    "a record with garbage behind it": (
        jsonl(PI_HEADER, pi("a", None, HI), glued(pi("b", "a", YO), "{")),
        "a b gap@3.2",
        "a",
        "TT403 3, TT101 3",
    ),
    "a number that is no JSON": (
        jsonl(PI_HEADER, pi("a", None, HI), b'{"id":"b","type":"usage","parentId":"a","n":NaN}'),
        "a b",
        "a",
        "TT108 3, TT403 3",
    ),
    "a number beyond 64 bits, which JSON.parse rounds; found by looking into bodies": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="usage", n=1 << 70)),
        "a b",
        "b",
        "",
    ),
    "a raw control character": (
        jsonl(PI_HEADER, b'{"id":"a","type":"usage","kind":"\t"}', pi("b", "a", HI)),
        "a b",
        "b",
        "TT105 2, TT403 2",
    ),
    "bytes that are no UTF-8": (
        jsonl(PI_HEADER, b'{"id":"a","type":"usage","kind":"\xff"}'),
        "a",
        "a",
        "TT105 2",
    ),
    "a header that Pi cannot read": (
        jsonl(glued(PI_HEADER, pi("a", None, HI)), pi("b", "a", YO)),
        "a b",
        "b",
        "TT403 1, TT107 1, TT402 2",
    ),
    "a header whose id is no text": (
        jsonl({**PI_HEADER, "id": 7}, pi("a", None, HI)),
        "a",
        "a",
        "TT402 1",
    ),
    "a number before the header": (
        jsonl("5", PI_HEADER, pi("a", None, HI)),
        "gap@1 a",
        "a",
        "TT402 1, TT101 1, TT404 2",
    ),
    "null before the header": (
        jsonl("null", PI_HEADER, pi("a", None, HI)),
        "gap@1 a",
        "a",
        "TT101 1",
    ),
    "an empty id and an empty parent": (
        jsonl(PI_HEADER, pi("", None, HI), pi("b", "", YO)),
        "L2 b",
        "b",
        "",
    ),
    "an id used twice": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", YO), pi("a", None, HI)),
        "a@2 b a",
        "a",
        "TT202 2",
    ),
    "an unknown type": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="telemetry")),
        "a b",
        "b",
        "TT401 3",
    ),
    "a second header": (
        jsonl(PI_HEADER, pi("a", None, HI), {**PI_HEADER, "id": "other"}, pi("b", "a", YO)),
        "a b",
        "b",
        "TT404 3",
    ),
    "a newer version": (
        jsonl({**PI_HEADER, "version": 4}, pi("a", None, HI)),
        "a",
        "a",
        "TT405 1",
    ),
    "a header that is not first": (
        jsonl(pi("a", None, HI), PI_HEADER, pi("b", "a", YO)),
        "a b",
        "b",
        "TT402 1, TT404 2",
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf" + jsonl(PI_HEADER, pi("a", None, HI)),
        "a",
        "a",
        "TT104 1, TT402 1",
    ),
    "a cycle": (
        jsonl(PI_HEADER, pi("a", "b", HI), pi("b", "a", YO)),
        "a b",
        "b",
        "TT203 2, TT402 2",
    ),
    "a label on nothing": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="label", targetId="x", label="y")),
        "a b",
        "b",
        "TT406 3",
    ),
    "an entry without a type": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a")),
        "a b",
        "b",
        "TT407 3",
    ),
    "a message that is no object": (
        jsonl(PI_HEADER, pi("a", None, "just text")),
        "a",
        "a",
        "TT407 2",
    ),
    "no header at all": (jsonl(pi("a", None, HI)), "a", "a", "TT402 1"),
    # Nothing is lost here, so nothing is said.
    "blank lines and carriage returns": (
        b"\n \r\n" + jsonl(PI_HEADER, pi("a", None, HI)).replace(b"\n", b"\r\n") + b"\n",
        "a",
        "a",
        "",
    ),
    "a parent later in the file": (
        jsonl(PI_HEADER, pi("b", "a", YO), pi("a", None, HI)),
        "b a",
        "a",
        "",
    ),
    "a label as the last line": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="label", targetId="a", label="x")),
        "a b",
        "b",
        "",
    ),
    "null content": (
        jsonl(PI_HEADER, pi("a", None, {"role": "user", "content": None})),
        "a",
        "a",
        "",
    ),
}


@pytest.mark.parametrize(
    ("content", "ids", "active", "findings"), PI_TABLE.values(), ids=PI_TABLE.keys()
)
def test_what_pi_loses_is_shown_and_said(
    content: bytes, ids: str, active: str, findings: str, tmp_path: Path
):
    session = session_of(content, "pi", tmp_path)

    assert " ".join(session.ids) == ids
    assert ("" if session.active is None else session.ids[session.active]) == active
    assert said(session) == findings
