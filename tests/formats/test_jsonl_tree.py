"""JSONL trees of any dialect: ids and parents by the names that most records carry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, jsonl, load, replay_of, said, session_of
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.model import Role, Session, Usage, iso_time
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.jsonl_tree import JsonlTree
from tt_debugger.formats.shared.dialect import Dialect, tree_dialect
from tt_debugger.storage.files import HEAD
from tt_debugger.store import Follows


def tree_of(session: Session) -> str:
    """Give a session as a text of `id<parent`, as in builders."""
    names = [*session.ids, ""]
    return " ".join(f"{names[row]}<{names[up]}" for row, up in enumerate(session.parents))


def heads_of(session: Session) -> list[tuple[Any, ...]]:
    heads = [each.head for each in session]
    return [(str(each.kind), each.role, each.name, each.summary, each.failed) for each in heads]


def record(own: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"id": own, "parentId": parent, **more}


@pytest.mark.parametrize(
    ("records", "dialect"),
    [
        ([{"uuid": "a", "parentUuid": None, "id": "x"}], Dialect(("uuid",), "parentUuid")),
        ([{"id": "a", "parent": "b", "run_id": "r"}], Dialect(("id",), "parent")),
        ([{"run_id": "a", "parent_run_id": "b"}], Dialect(("run_id",), "parent_run_id")),
        ([{"message_id": "a", "parent_id": "b"}], Dialect(("message_id",), "parent_id")),
        ([{"id": "a", "parent_id": None, "parent": "b"}], Dialect(("id",), "parent")),
        (
            [{"id": "s", "parent": "p"}, *[{"event_id": "a", "parent_event_id": None}] * 2],
            Dialect(("id",), "parent"),
        ),
        (
            [{"id": "s", "parent": "p"}, *[{"event_id": "a", "parent_event_id": "b"}] * 2],
            Dialect(("event_id",), "parent_event_id"),
        ),
        ([{"id": 1, "parent": 2}, {"id": "a", "parent": []}, {"id": "a"}], None),
        ([{"checkpoint_id": "a", "parent_run_id": "b"}], None),
        ([], None),
    ],
)
def test_the_names_are_the_pair_that_links_most_records(
    records: list[dict[str, Any]], dialect: Dialect | None
):
    assert tree_dialect(records) == dialect


def test_a_tree_of_messages_is_read_with_its_branches_times_and_calls():
    store, loaded = load(FIXTURES / "jsonl_tree" / "branched.jsonl", "jsonl_tree")
    session = loaded.session

    assert tree_of(session) == "L1< b0< b1<b0 b2<b1 b3<b2 b4<b0 b5<b4 b6<b5 L9<b6"
    assert heads_of(session) == [
        ("custom", None, "summary", "Boats and their names", False),
        ("message", Role.USER, "user", "Name a boat.", False),
        ("tool_call", Role.ASSISTANT, "Read", "/home/dev/boats.txt", False),
        ("tool_result", Role.TOOL, "tool", "no such file", True),
        ("message", Role.ASSISTANT, "asst", "Heron.", False),
        ("message", Role.USER, "user", "A short one, please.", False),
        ("custom", None, "progress", '{"data":{"percent":50}}', False),
        ("message", Role.ASSISTANT, "asst", "Ed.", False),
        ("custom", None, "pinned", '{"sessionId":"boats"}', False),
    ]
    assert session.heads.usage(2) == Usage(30, 12, 5, 7, 54)
    assert session.heads.time(2) == 1767258002
    assert (session.active, session.findings) == (8, ())
    store.close()


def test_the_state_is_the_record_and_the_messages_that_were_said_on_its_path():
    store, loaded = load(FIXTURES / "jsonl_tree" / "branched.jsonl", "jsonl_tree")
    state = replay_of(store, loaded.session).state(8)

    assert state["record"] == {"type": "pinned", "sessionId": "boats"}
    assert state["messages"] == [
        {"role": "user", "content": "Name a boat."},
        {"role": "user", "content": "A short one, please."},
        {"id": "m3", "role": "assistant", "content": [{"type": "text", "text": "Ed."}]},
    ]
    store.close()


def test_times_are_iso_texts_or_seconds_or_milliseconds():
    store, loaded = load(FIXTURES / "jsonl_tree" / "events.jsonl", "jsonl_tree")
    times = [iso_time(loaded.session.heads.time(row)) for row in range(5)]

    assert times == [
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:01.000Z",
        "2026-01-01T00:00:02.500Z",
        "2026-01-01T00:00:09.000Z",
        None,
    ]
    assert loaded.session.heads.usage(2) == Usage(12, 2, 8, 0, 22)
    store.close()


def test_what_is_damaged_is_told_and_all_else_is_there():
    store, loaded = load(FIXTURES / "jsonl_tree" / "damaged.jsonl", "jsonl_tree")
    session = loaded.session

    assert tree_of(session) == ("n1< gap@2< n3< n4@4<n3 n4<n1 n5< n6<n5 L8<n6 n8<n6 n9<n8")
    assert said(session) == (
        "TT101 2, TT201 3, TT202 4, TT203 6, TT204 8, TT408 9, TT107 9, TT102 10"
    )
    assert (session.ids[session.active or 0], session.extent and session.extent.skipped) == (
        "n9",
        89,
    )
    store.close()


def test_a_record_that_tells_neither_id_nor_parent_hangs_on_the_one_before(tmp_path: Path):
    content = jsonl(record("a", None), {"note": 1}, "bad", {"note": 2}, record("b", "a"))

    assert tree_of(session_of(content, "jsonl_tree", tmp_path)) == ("a< L2<a gap@3< L4<L2 b<a")


def test_an_id_that_is_a_number_is_none_and_an_empty_parent_neither(tmp_path: Path):
    content = jsonl(record("a", ""), {"id": 7, "parentId": "a"}, {"id": "", "parentId": "a"})
    session = session_of(content, "jsonl_tree", tmp_path)

    assert (tree_of(session), said(session)) == ("a< L2<a L3<a", "TT204 2")


def test_the_names_follow_what_is_written_to_a_file_that_grows(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl({"id": "s", "parent": "p", "event_id": "a", "parent_event_id": None}))
    store, loaded = load(path, "jsonl_tree")
    assert list(loaded.session.ids) == ["s"]
    with path.open("ab") as file:
        file.write(jsonl(*[{"event_id": "b", "parent_event_id": "a"}] * 2))

    assert isinstance(store, Follows)
    loaded = store.follow(loaded.cursor)

    assert tree_of(loaded.session) == "a< b@2<a b<a"
    store.close()


def test_the_names_are_those_of_the_beginning_however_a_long_file_goes_on(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(record("a", None, text="x" * HEAD), record("b", "a")))
    store, loaded = load(path, "jsonl_tree")
    with path.open("ab") as file:
        file.write(jsonl(*[{"uuid": str(n), "parentUuid": str(n - 1)} for n in range(9)]))

    assert isinstance(store, Follows)
    loaded = store.follow(loaded.cursor)

    assert list(loaded.session.ids) == ["a", "b", *[f"L{n}" for n in range(3, 12)]]
    assert facts(loaded.session) == facts(load(path, "jsonl_tree")[1].session)
    store.close()


CALL = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}],
}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([record("a", None, message=CALL), record("b", "a", message=RESULT)], ""),
        ([record("a", None, message=CALL), record("b", None, message=RESULT)], "TT408 2"),
        ([record("b", None, message=RESULT)], "TT408 1"),
        ([record("b", "a", message=RESULT), record("a", None, message=CALL)], ""),
        (
            [
                record("a", None, message=CALL),
                record("x", "a"),
                record("y", "a"),
                record("b", "x", message=RESULT),
                record("c", "y", message=RESULT),
            ],
            "",
        ),
    ],
)
def test_a_result_without_a_call_on_its_path_is_said_to_have_none(
    records: list[dict[str, Any]], found: str, tmp_path: Path
):
    assert said(session_of(jsonl(*records), "jsonl_tree", tmp_path)) == found


def test_a_body_is_not_given_for_another_record_of_the_same_length(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(record("a", None)))
    store, loaded = load(path, "jsonl_tree")
    path.write_bytes(jsonl(record("b", None)))

    with pytest.raises(CannotReadError, match="changed"):
        store.bodies(loaded.session, [0])
    store.close()


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(("id", "uuid", "parentId", "parent", "role", "content", "step")),
            st.sampled_from(("a", "b", "intent", None, 1, 2, [], {})),
        ),
        max_size=8,
    )
)
def test_whatever_records_carry_each_is_a_checkpoint_and_all_parents_end(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
):
    session = session_of(jsonl(*records), "jsonl_tree", tmp_path_factory.getbasetemp())

    assert len(session) == len(records)
    assert not any(map(session.heads.is_gap, range(len(session))))
    assert sorted(session.tree.parents_first()) == list(range(len(records)))


def test_a_record_without_an_id_is_no_body_of_an_id_that_begins_as_a_line_does(tmp_path: Path):
    content = '{"id":"Last-1","parentId":null}\n{"id":"Last-2","parentId":null}\n'
    path = tmp_path / "s.jsonl"
    path.write_text(content)
    store, loaded = load(path, "jsonl_tree")
    path.write_text(content.replace('"id"', '"no"'))

    for row in range(2):
        with pytest.raises(CannotReadError, match="the file changed since it was read"):
            store.bodies(loaded.session, [row])
    store.close()


def test_the_dialect_is_told_by_the_file_that_is_open(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"uuid":"a","parentUuid":null}\n{"uuid":"b","parentUuid":"a"}\n')
    store = JsonlTree.open(str(path))
    path.unlink()

    session = store.load(store.sessions()[-1]).session

    assert (list(session.ids), list(session.parents)) == (["a", "b"], [-1, 0])
    store.close()


def test_a_beginning_that_becomes_of_another_dialect_is_read_anew(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"uuid":"a","parentUuid":null}\n')
    store, loaded = load(path, "jsonl_tree")
    with path.open("a") as file:
        file.writelines(f'{{"id":"{name}","parentId":"a"}}\n' for name in "bcd")
    assert isinstance(store, Follows)

    followed = store.follow(loaded.cursor).session

    assert facts(followed) == facts(load(path, "jsonl_tree")[1].session)
    assert list(followed.ids) == ["L1", "b", "c", "d"]
    store.close()
