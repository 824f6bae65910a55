"""Claude Code files in which lines are lost, repeated, moved or bent: what is left is shown."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, fixture_files, jsonl, load, replay_of
from claude_lines import Claude, calls, says
from hypothesis import given
from hypothesis import strategies as st
from strategies import bent_files, damaged_files, fixture_lines

from tt_debugger.core.findings import Code
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.claude_code.reading import ClaudeReading
from tt_debugger.store import Store

HOSTILE = FIXTURES / "hostile"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("claude") / "session.jsonl"


@st.composite
def mixed_files(draw: st.DrawFn) -> list[bytes]:
    """Give the lines of fixtures, some lost, some twice, in any order."""
    several = draw(st.lists(st.sampled_from(fixture_lines("claude_code")), min_size=1, max_size=2))
    lines = [line for each in several for line in each]
    kept = draw(st.lists(st.sampled_from(lines), min_size=1, max_size=14))
    in_order = draw(st.booleans())
    return sorted(kept, key=lines.index) if in_order else kept


def lines_of(session: Session) -> set[int]:
    """Give the numbers of the lines that are in rows, in their parts or in asides."""
    heads = session.heads
    found = {heads.line(row) or 0 for row in range(len(session))}
    found |= {part.line for parts in heads.parts.values() for part in parts}
    return found | {each.line for each in session.asides}


def check(store: Store, session: Session) -> None:
    """Check what holds of every session: all is there, hangs together, and can be replayed."""
    assert sorted(session.tree.parents_first()) == list(range(len(session)))
    assert all(row != parent for row, parent in enumerate(session.parents))
    replay = replay_of(store, session)
    for row, body in enumerate(store.bodies(session, range(len(session)))):
        parts = session.heads.parts.get(row, ())
        assert len(body) == len(parts) + 1 if parts else not isinstance(body, list)
        assert isinstance(replay.state(row)["messages"] if body is not None else [], list)
        assert isinstance(replay.resumed(row).state, dict)
        assert session.heads[row].summary is not None
    for alias, row in session.aliases.items():
        assert alias not in session.rows or session.rows[alias] != row
        assert 0 <= row < len(session)
    assert all(0 <= row < len(session) for row in session.subsessions)
    if session.active is not None:
        assert session.heads.kind(session.active) is not Kind.GAP


@given(mixed_files())
def test_of_lines_that_were_lost_repeated_or_moved_each_that_is_there_is_shown(
    path: Path, lines: list[bytes]
):
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    store, loaded = load(path, "claude_code")
    whole = {n for n, line in enumerate(lines, 1) if line.startswith(b"{") and line.endswith(b"}")}

    assert whole <= lines_of(loaded.session)
    check(store, loaded.session)
    store.close()


@given(st.data())
def test_whatever_is_of_another_type_can_be_asked_for_all_the_same(
    path: Path, data: st.DataObject
):
    lines = data.draw(st.sampled_from(fixture_lines("claude_code")))
    path.write_bytes(data.draw(bent_files(b"\n".join(lines) + b"\n")))
    store, loaded = load(path, "claude_code")
    check(store, loaded.session)
    store.close()


# --- The quick way of reading ----------------------------------------------------------------


def read(path: Path, content: bytes, *, carefully: bool) -> dict[str, Any]:
    """Give all that reading a file gives, but what only the careful way looks for."""
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        if carefully:
            patch.setattr(ClaudeReading, "reads_plainly", False)
        store, loaded = load(path, "claude_code")
        session = loaded.session
        seen = {
            **facts(session),
            "own": session.own,
            "asides": list(session.asides),
            "parts": dict(session.heads.parts),
            "aliases": dict(session.aliases),
            "subsessions": dict(session.subsessions),
            "findings": [each for each in session.findings if each.code is not Code.ODD_NUMBER],
        }
        store.close()
    return seen


def check_both_ways(path: Path, content: bytes) -> None:
    assert read(path, content, carefully=False) == read(path, content, carefully=True)


@pytest.mark.parametrize("file", fixture_files("claude_code"), ids=lambda each: each.stem)
def test_a_session_is_read_the_same_both_ways(path: Path, file: Path):
    check_both_ways(path, file.read_bytes())


@given(mixed_files())
def test_mixed_lines_are_read_the_same_both_ways(path: Path, lines: list[bytes]):
    check_both_ways(path, b"".join(line + b"\n" for line in lines))


@given(st.data())
def test_a_damaged_file_is_read_the_same_both_ways(path: Path, data: st.DataObject):
    check_both_ways(path, data.draw(damaged_files("claude_code")))


@given(st.data())
def test_fields_of_any_type_are_read_the_same_both_ways(path: Path, data: st.DataObject):
    lines = data.draw(st.sampled_from(fixture_lines("claude_code")))
    check_both_ways(path, data.draw(bent_files(b"\n".join(lines) + b"\n")))


@pytest.mark.parametrize("old", [b'"type":"tool_use"', b'"type":"tool_result"'])
def test_a_block_of_another_type_is_neither_call_nor_result(path: Path, old: bytes):
    (file,) = (each for each in fixture_files("claude_code") if each.stem == "commands")
    content = file.read_bytes().replace(old, b'"type":"other"')

    check_both_ways(path, content)
    codes = {each.code for each in read(path, content, carefully=False)["findings"]}
    assert (Code.UNMATCHED_RESULT in codes) is (b"use" in old)


VALUES = (None, 0, True, "", "x", [None], {"x": None}, [{"type": "text"}])
FIELDS = (
    *("type", "uuid", "parentUuid", "timestamp", "isSidechain", "message", "toolUseResult"),
    *("cwd", "gitBranch", "permissionMode", "thinkingMetadata", "forkedFrom", "isMeta"),
    *("isCompactSummary", "subtype", "compactMetadata", "logicalParentUuid", "todos", "data"),
    *("parentToolUseID", "attachment", "content", "hookInfos", "error", "durationMs", "level"),
    *("snapshot", "leafUuid", "customTitle", "summary"),
    *("message.content", "message.id", "message.role", "message.model", "message.usage"),
    *("toolUseResult.file", "toolUseResult.filePath", "toolUseResult.structuredPatch"),
    *("toolUseResult.agentId", "toolUseResult.newTodos", "toolUseResult.content"),
)


def every_kind() -> list[dict[str, Any]]:
    """Give a line of each kind, in one session."""
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1 a2", "msg_1", says("I go."), calls("t1", "Task", prompt="Look."))
    claude.line("progress", "p1", data={"agentId": "x1"}, parentToolUseID="t1")
    claude.result("r1", "t1", "done", {"filePath": "/f", "structuredPatch": [], "file": {}})
    claude.hook("h1")
    claude.system("y1", "turn_duration", durationMs=1)
    claude.compact("c1", "s1", "Gone.", preservedSegment={"headUuid": "u1", "tailUuid": "a2"})
    claude.aside("custom-title", customTitle="title")
    claude.aside("file-history-snapshot", snapshot={})
    claude.last_prompt("s1")
    claude.user("u2", "On.")
    return claude.lines


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_may_be_anything(path: Path, field: str):
    outer, _, inner = field.partition(".")
    places = [place for place, line in enumerate(every_kind()) if outer in line]
    for place in places or (0, 5):
        for value in VALUES:
            lines = every_kind()
            old = lines[place].get(outer)
            within = {**(old if isinstance(old, dict) else {}), inner: value}
            lines[place][outer] = within if inner else value
            content = jsonl(*lines)
            path.write_bytes(content)
            store, loaded = load(path, "claude_code")
            assert lines_of(loaded.session) == set(range(1, len(lines) + 1))
            check(store, loaded.session)
            store.close()
            check_both_ways(path, content)


# --- What happened to real files -------------------------------------------------------------


def shape(session: Session) -> list[tuple[str, str | None]]:
    return [
        (session.ids[row], None if parent == NO_ROW else session.ids[parent])
        for row, parent in enumerate(session.parents)
    ]


def test_a_damaged_session_shows_every_whole_record_and_says_where_the_damage_is():
    file = FIXTURES / "claude_code" / "damaged.jsonl"
    store, loaded = load(file, "claude_code")
    session = loaded.session

    assert shape(session) == [
        ("u1", None),
        ("a1", "u1"),
        ("u2@3", "a1"),
        ("a3", "u2"),
        ("gap@5", None),
        ("u3", None),
        ("a4", "u3"),
        ("u2", "a1"),
        ("a5", "u3"),
        ("k1", None),
        ("k2", "k1"),
        ("u4", "a5"),
        ("gap@15", None),
        ("a6", "u4"),
    ]
    assert session.aliases == {"a2": 3}
    found = [(each.code, each.line) for each in session.findings]
    assert found == [
        (Code.DUPLICATE_ID, 3),
        (Code.SEVERAL_ON_LINE, 3),
        (Code.UNREADABLE, 5),
        (Code.UNREADABLE, 6),
        (Code.MISSING_PARENT, 7),
        (Code.AGENT_LOSES, 7),
        (Code.CYCLE, 12),
        (Code.UNREADABLE, 15),
        (Code.SEVERAL_ON_LINE, 15),
        (Code.TORN_TAIL, 16),
    ]
    assert session.ids[session.active or 0] == "a6"
    check(store, session)
    store.close()


@pytest.mark.parametrize(
    "name",
    [
        "R01_bad_line_in_middle",
        "R02_torn_tail",
        "R03_lone_surrogate_escape",
        "R04_phantom_parent",
        "R11_tool_result_without_tool_use",
        "R17_duplicate_uuid_collision",
    ],
)
def test_reported_damage_loses_no_record(path: Path, name: str):
    content = (HOSTILE / f"{name}.jsonl").read_bytes()
    path.write_bytes(content)
    store, loaded = load(path, "claude_code")
    session = loaded.session

    lines = content.split(b"\n")
    whole = {n for n, line in enumerate(lines, 1) if line[:1] == b"{" and line[-1:] == b"}"}
    assert whole <= lines_of(session)
    check(store, session)
    check_both_ways(path, content)
    store.close()


def test_a_line_that_is_glued_to_a_torn_one_is_found(path: Path):
    claude = Claude()
    claude.user("u1", "One.")
    claude.answer("a1", "msg_1", says("1."))
    claude.user("u2", "Two.")
    first, second, third = claude.written
    path.write_bytes(first + b"\n" + second[:120] + third + b"\n")
    store, loaded = load(path, "claude_code")

    assert "u2" in loaded.session.ids
    assert Code.SEVERAL_ON_LINE in {each.code for each in loaded.session.findings}
    store.close()


# --- Large ones -------------------------------------------------------------------------------


def parallel(count: int) -> bytes:
    """Give a message with so many calls, the results on the parts that called them."""
    claude = Claude()
    claude.user("u1", "All.")
    names = " ".join(f"a{n}" for n in range(count))
    claude.answer(names, "msg_1", *(calls(f"t{n}") for n in range(count)))
    for n in range(count):
        claude.result(f"r{n}", f"t{n}", parent=f"a{n}")
        claude.hook(f"h{n}", parent=f"r{n}")
    claude.answer("b1", "msg_2", says("Done."))
    return claude.content


def fanned(count: int) -> bytes:
    """Give so many hooks on one line, which goes on from it as often."""
    claude = Claude()
    claude.user("u1", "All.")
    for n in range(count):
        claude.hook(f"h{n}", parent="u1")
        claude.user(f"v{n}", "Other.", parent="u1")
    return claude.content


def unlinked(count: int) -> bytes:
    """Give so many lines whose parents are missing, all within a second."""
    claude = Claude()
    for n in range(count):
        claude.user(f"u{n}", "Lost.", parent=f"gone{n}", after=0.0001)
    return claude.content


def pinned(count: int) -> bytes:
    """Give a session in which each second line says where it goes on."""
    claude = Claude()
    for n in range(count):
        claude.user(f"u{n}", "On.", parent="u0" if n else None)
        claude.last_prompt(f"u{n // 2}")
    return claude.content


def waiting(count: int) -> bytes:
    """Give a chain of so much progress, and as many lines that hang on its end."""
    claude = Claude()
    claude.user("u0", "On.")
    for n in range(count):
        claude.line("progress", f"p{n}", data={"type": "bash_progress"})
    for n in range(count):
        claude.user(f"v{n}", "And on.", parent=f"p{count - 1}")
    return claude.content


@pytest.mark.parametrize("make", [parallel, fanned, unlinked, pinned, waiting])
def test_twice_as_much_takes_not_much_longer_than_twice_the_time(path: Path, make: Any):
    spent: list[float] = []
    for content in (make(1500), make(6000)):
        path.write_bytes(content)
        tries: list[float] = []
        for _ in range(3):
            begin = time.process_time()
            store, _ = load(path, "claude_code")
            tries.append(time.process_time() - begin)
            store.close()
        spent.append(min(tries))

    assert spent[1] < 10 * spent[0] + 0.05


@pytest.mark.parametrize("depth", [50, 900, 100_000])
def test_a_line_that_is_nested_deep_breaks_nothing(path: Path, depth: int):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.line("attachment", "d1", attachment="?")
    claude.user("u2", "On.")
    first, second, third = claude.written
    deep = second.replace(b'"?"', b'{"type":' * depth + b'"x"' + b"}" * depth)
    content = b"\n".join((first, deep, third, b""))
    path.write_bytes(content)
    store, loaded = load(path, "claude_code")

    assert len(loaded.session) == 3
    check(store, loaded.session)
    store.close()
