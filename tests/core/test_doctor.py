"""Doctor: what only bodies show, each once and in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, codes, jsonl, pi, user

from tt_debugger.core.doctor import Examination
from tt_debugger.core.findings import Code, Finding
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, StoreError


def result(call: object) -> dict[str, object]:
    return {"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": []}


def examined(folder: Path, *entries: object) -> list[tuple[str, int | None, str | None]]:
    """Give code, line and checkpoint of all that is found in a Pi file."""
    path = folder / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, *entries))  # type: ignore[arg-type]
    with Debugger.open(str(path)) as debugger:
        return [(str(each.code), each.line, each.checkpoint) for each in debugger.examined()]


def test_a_result_whose_call_is_not_on_its_path_is_found(tmp_path: Path):
    entries = [
        pi("a", None, assistant("go", "c1", "c2")),
        pi("r1", "a", result("c1")),
        pi("other", "a", result("c2")),
        pi("lost", "r1", result("c3")),
        pi("b", None, assistant("elsewhere", "c3")),
        pi("again", "b", result("c1")),
        pi("no-id", "b", result(None)),
    ]

    assert examined(tmp_path, *entries) == [("TT408", 5, "lost"), ("TT408", 7, "again")]


def test_a_call_that_stands_after_its_result_in_the_file_is_before_it_on_the_path(tmp_path: Path):
    entries = [pi("r", "a", result("c")), pi("a", None, assistant("go", "c"))]

    assert examined(tmp_path, *entries) == []


def test_keys_given_twice_and_numbers_kept_as_text_are_found_with_their_place(tmp_path: Path):
    twice = '{"type":"message","id":"b","parentId":"a","message":{"role":"user","role":"user"}}'
    number = '{"type":"custom","id":"c","parentId":"b","data":{"n":1e999}}'

    assert examined(tmp_path, pi("a", None, user("x")), twice, number) == [
        ("TT109", 3, "b"),
        ("TT108", 4, "c"),
    ]


def test_what_the_index_knew_is_listed_once_and_all_is_in_the_order_of_the_file(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    lone = b'{"type":"message","id":"b","parentId":"x","message":{"role":"user","t":"\\ud83d"}}'
    path.write_bytes(
        jsonl(PI_HEADER, pi("a", None, result("gone")), lone, "{", lone.replace(b'"b"', b'"c"'))
    )

    with Debugger.open(str(path)) as debugger:
        known = debugger.session.findings
        found = debugger.examined()

    assert set(known) <= set(found)
    assert len(set(found)) == len(found)
    assert [each.line for each in found] == sorted(each.line or 0 for each in found)
    assert codes(each for each in found if each not in known) == ["TT408"]
    assert codes(found).count("TT106") == 2


def test_progress_counts_every_row(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("x")), pi("b", "a", user("y"))))
    heard: list[tuple[int, int]] = []

    with Debugger.open(str(path)) as debugger:
        debugger.examined(lambda done, of: heard.append((done, of)))

    assert heard == [(1, 2), (2, 2)]


def test_a_blank_session_has_nothing_to_examine(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n")

    with Debugger.open(str(path)) as debugger:
        assert debugger.examined() == ()


@pytest.fixture
def opened(tmp_path: Path) -> Debugger:
    path = tmp_path / "s.jsonl"
    entries = [pi("a", None, user("x")), pi("b", "a", user("y")), pi("c", "b", user("z"))]
    path.write_bytes(jsonl(PI_HEADER, *entries, pi("d", None, user("other"))))
    return Debugger.open(str(path))


def failing_at(debugger: Debugger, row: int, error: Exception) -> tuple[Finding, ...]:
    def changes(each: int) -> tuple[()]:
        if each == row:
            raise error
        return ()

    examination = Examination(debugger.session, lambda _: b"", lambda _: (), changes)
    for each in debugger.session.order:
        examination.look_at(each)
    return examination.findings()


def test_where_replay_fails_is_told_once_and_not_again_for_what_follows(opened: Debugger):
    asked: list[int] = []

    def changes(row: int) -> tuple[()]:
        asked.append(row)
        if row == 1:
            raise StoreError("the format pi failed: KeyError", "this is a bug")
        return ()

    examination = Examination(opened.session, lambda _: b"", lambda _: (), changes)
    for row in opened.session.order:
        examination.look_at(row)

    assert [(each.code, each.checkpoint, each.hint) for each in examination.findings()] == [
        (Code.REPLAY_FAILS, "b", "this is a bug")
    ]
    assert asked == [0, 1, 3]


def test_a_record_that_is_gone_is_told(opened: Debugger):
    found = failing_at(opened, 2, CannotReadError("the file changed since it was read"))

    assert [(each.code, each.checkpoint, each.message) for each in found] == [
        (Code.LOST_RECORD, "c", "no longer readable: the file changed since it was read")
    ]


def test_a_file_that_is_cut_while_it_is_examined_is_no_failure(opened: Debugger):
    path = Path(opened.location)
    path.write_bytes(path.read_bytes()[:-60])

    assert codes(opened.examined()) == ["TT110"]
