"""A bundle opens again as the session that it is about: its shape, its ids and its states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FILES, PI_HEADER, jsonl, memory, pi, replay_of, user
from exported import redacting
from hostile_files import SAMPLES
from hypothesis import given
from strategies import memory_records

from tt_debugger.core.between import is_same
from tt_debugger.core.bundle import Course, changes_of, did_between, entry_of
from tt_debugger.core.changes import Append, fold
from tt_debugger.core.findings import Code
from tt_debugger.core.model import Head, Kind
from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.debugger import Debugger
from tt_debugger.exports.bundle import bundle_page, bundled
from tt_debugger.exports.exporting import exported
from tt_debugger.exports.forms import What
from tt_debugger.exports.gate import Gate
from tt_debugger.exports.subjects import At
from tt_debugger.formats.shared.memory import MemoryRecord

BRANCHED = [path for name, path in FILES if name != "bundle" and path.stat().st_size]


def written(points: list[At], path: Path, gate: Gate | None = None) -> Debugger:
    path.write_text(bundle_page(bundled(points), gate or Gate(None)).text, encoding="utf-8")
    return Debugger.open(str(path))


@pytest.mark.parametrize("file", BRANCHED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_bundle_of_any_session_has_the_paths_ids_and_states_of_it(file: Path, tmp_path: Path):
    with Debugger.open(str(file)) as source:
        session = source.session
        leaves = [row for row in session.tree.leaves() if not session.heads.is_gap(row)][-2:]
        if not leaves:
            pytest.skip("nothing to show")
        rows = sorted({row for leaf in leaves for row in session.tree.path_to(leaf)})
        with written([At(source, leaf) for leaf in leaves], tmp_path / "r.ttdbg") as opened:
            copy = opened.session
            assert copy.format == "bundle"
            assert list(copy.ids) == [session.ids[row] for row in rows]
            for place, row in enumerate(rows):
                old, new = session.checkpoint(row), copy.checkpoint(place)
                assert old.parent == new.parent
                assert old.head.kind in {new.head.kind, Kind.GAP, Kind.UNREADABLE}
                assert (old.head.role, old.head.time) == (new.head.role, new.head.time)
                assert is_same(opened.state(place), source.state(row))
            assert copy.active == copy.rows[session.ids[leaves[-1]]]
            assert {copy.labels[copy.rows[session.ids[leaf]]] for leaf in leaves} <= {
                *("A", "B"),
                *session.labels.values(),
            }


def test_a_redacted_bundle_has_the_redacted_states(tmp_path: Path):
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    said = [user(f"with {token}"), {"role": "assistant", "content": [], "env": {"API_KEY": token}}]
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, said[0]), pi("b", "a", said[1])))
    with Debugger.open(str(path)) as source:
        expected = Redactor().value(source.state(1))
        with written([At(source, 1)], tmp_path / "r.ttdbg", redacting()) as opened:
            assert opened.state(1) == expected
            assert token not in json.dumps(opened.state(1))


@given(memory_records())
def test_what_entries_say_folded_gives_every_state(records: list[MemoryRecord]):
    store, session = memory(records)
    replay = replay_of(store, session)
    shapes: dict[int, object] = {-1: {}}
    for row in session.tree.parents_first():
        parent = session.parents[row]
        before, after = None if parent < 0 else replay.state(parent), replay.state(row)
        did = did_between(before, after)
        if before is not None:
            did = Course(before).did(replay.changes(row))
        entry = entry_of(Head(Kind.SNAPSHOT), "x", None, did)
        changes, shapes[row], fits = changes_of(entry, shapes[parent])  # type: ignore[arg-type]
        assert fits
        assert is_same(fold(before or {}, changes), after)


@given(memory_records())
def test_a_course_along_a_path_tells_the_same_as_one_from_each_state(records: list[MemoryRecord]):
    store, session = memory(records)
    replay = replay_of(store, session)
    for leaf in session.tree.leaves():
        root, *path = session.tree.path_to(leaf)
        course = Course(replay.state(root))
        said = [course.did(replay.changes(row)) for row in path]
        anew = [
            Course(replay.state(session.parents[row])).did(replay.changes(row)) for row in path
        ]
        assert is_same(said, anew)


@pytest.mark.parametrize("count", [2, 200])
def test_what_an_entry_costs_does_not_grow_with_the_talk(count: int):
    class Counting(list[Any]):
        looks = 0

        def __iter__(self) -> Iterator[Any]:
            Counting.looks += 1
            return super().__iter__()

    course = Course({"messages": Counting(range(count))})
    course.did((Append(("messages",), 0),))
    Counting.looks = 0

    did = course.did((Append(("messages",), 1), Append(("messages",), 2)))

    assert (did["at"], did["insert"]) == ({"messages": [count + 1, 0]}, {"messages": [1, 2]})
    assert Counting.looks == 0


def test_a_copy_of_a_session_is_one_tree_with_it(tmp_path: Path):
    head = [pi("a", None, user("q")), pi("b", "a", user("r"))]
    for name, end in (("one", "left"), ("two", "right")):
        lines = jsonl(PI_HEADER, *head, pi("c", "b", user(end)))
        (tmp_path / f"{name}.jsonl").write_bytes(lines)
    with (
        Debugger.open(str(tmp_path / "one.jsonl")) as one,
        Debugger.open(str(tmp_path / "two.jsonl")) as other,
        written([At(one, 2), At(other, 2)], tmp_path / "r.ttdbg") as opened,
    ):
        session = opened.session
        assert [(each.id, each.parent) for each in session] == [
            *(("a", None), ("b", "a"), ("c", "b"), ("c'", "b")),
        ]
        assert opened.state(2) == one.state(2)
        assert opened.state(3) == other.state(2)
        assert session.labels == {2: "A", 3: "B"}


def test_a_bundle_holds_what_was_told_about_it():
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as source:
        text = exported([At(source, 27), At(source, 62)], What.BUNDLE, "", redacting()).text
    head, *rest = map(json.loads, text.splitlines())
    parts = {each["part"]: each for each in rest if "part" in each}

    assert (head["ttdbg_bundle"], head["fork_point"]) == (1, "9ad9150d")
    assert parts["diff"]["value"]["ttdbg"] == 1
    assert parts["markdown"]["value"].startswith("# What changed\n")
    assert set(parts["redaction"]) == {"part", "counts", "hits"}
    assert all("state" not in each for each in rest[1:])


def test_findings_of_the_session_are_told_again_where_they_belong(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", "gone", user("q"))))
    with (
        Debugger.open(str(path)) as source,
        written([At(source, 0)], tmp_path / "r.ttdbg") as opened,
    ):
        ours = [(each.code, each.checkpoint, each.message) for each in source.session.findings]
        assert [code for code, _, _ in ours] == [Code.MISSING_PARENT]
        assert [
            (each.code, each.checkpoint, each.message) for each in opened.session.findings
        ] == ours


def test_a_bundle_of_a_bundle_has_the_same_checkpoints(tmp_path: Path):
    with (
        Debugger.open(str(SAMPLES / "tau.jsonl")) as source,
        written([At(source, 36)], tmp_path / "r.ttdbg") as once,
        written([At(once, len(once.session) - 1)], tmp_path / "s.ttdbg") as twice,
    ):
        assert list(once.session.ids) == list(twice.session.ids)
        assert once.state(len(once.session) - 1) == source.state(36)
        assert twice.state(len(twice.session) - 1) == source.state(36)
