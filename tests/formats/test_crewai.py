"""CrewAI: states of flows row by row, and checkpoints whose branches are told by their parents."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest
from builders import (
    FIXTURES,
    codes,
    database_of,
    facts,
    fixture_database,
    ids_of,
    load,
    replay_of,
)
from jsonb_made import jsonb

from tt_debugger.core.changes import Put
from tt_debugger.core.model import Kind, SessionId
from tt_debugger.formats.crewai import Crewai
from tt_debugger.storage.probe import FolderProbe, probe

FORMAT = "crewai"
HERE = FIXTURES / FORMAT
MAIN = "20261129T173022_c4a70719", "20261129T173022_bc0d50b8"
FORKED = "20261129T173022_d9f1c86e"
made = partial(fixture_database, FORMAT)


def checkpoints(path: Path, *more: str) -> Path:
    script = (HERE / "checkpoints.sql").read_text()
    return database_of(path, "pragma page_size = 1024", script, *more)


def tree_of(path: Path) -> tuple[str, dict[str, str]]:
    store, loaded = load(path, FORMAT)
    session = loaded.session
    store.close()
    tree = " ".join(f"{each.id[-8:]}<{(each.parent or '')[-8:]}" for each in session)
    return tree, {session.ids[row][-8:]: label for row, label in session.labels.items()}


@pytest.mark.parametrize(("name", "make"), [("sessions", made), ("checkpoints", checkpoints)])
def test_a_database_of_the_fixture_is_what_its_statements_make(
    name: str, make: partial[Path], tmp_path: Path
):
    store, loaded = load(HERE / f"{name}.db", FORMAT)
    again, same = load(make(tmp_path / f"{name}.db"), FORMAT)

    assert facts(same.session) == facts(loaded.session)
    store.close()
    again.close()


def test_each_flow_is_a_session_of_the_states_after_its_methods():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    assert store.sessions() == ["f-bread", "f-posters"]
    shown = [(each.id, each.head.kind, each.head.name, each.head.summary) for each in session]
    assert shown == [
        ("1", Kind.SNAPSHOT, "draft", "id, title, drafts"),
        ("4", Kind.SNAPSHOT, "review", "title Fair"),
        ("feedback-1", Kind.INTERRUPT, "feedback", "Is the title right?"),
    ]
    assert replay.state(1) == {
        "id": "f-posters",
        "title": "Fair",
        "drafts": ["A fair on the green."],
    }
    assert replay.step(2).changes == ()
    bread = store.load(SessionId("f-bread")).session
    assert replay_of(store, bread).step(1).changes == (Put(("minutes",), 12),)
    store.close()


def test_a_flow_that_the_framework_kept_is_shown_state_by_state():
    store, loaded = load(HERE / "flow.db", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    states = [replay.state(row) for row in range(len(session))]

    assert [(each["n"], each["note"]) for each in states] == [(1, ""), (1, "b saw a")]
    assert [each.head.name for each in session] == ["a", "b"]
    store.close()


def test_checkpoints_in_jsonb_are_a_tree_with_its_branches_called_by_name():
    tree, labels = tree_of(HERE / "checkpoints.db")
    store, loaded = load(HERE / "checkpoints.db", FORMAT)

    assert tree == "aaaa0001< ffff0002<aaaa0001 bbbb0003<ffff0002 cccc0004<ffff0002"
    assert labels == {"bbbb0003": "main", "cccc0004": "fork/t"}
    session = loaded.session
    replay = replay_of(store, session)
    held = [replay.state(row)["entities"][0]["checkpoint_state"]["n"] for row in range(4)]
    assert held == [1, 2, 3, 9]
    assert session.heads[3].summary == "flow · 1 event · branch fork/t"
    assert session.heads.time(0) == 1791100800
    assert (session.id, session.findings) == ("checkpoints", ())
    store.close()


def test_a_body_that_is_no_jsonb_is_a_gap(tmp_path: Path):
    broken = jsonb({"entities": [1]})[:-1].hex()
    path = checkpoints(
        tmp_path / "c.db",
        f"create table bad as select x'{broken}' as data",
        "update checkpoints set data = (select data from bad) where id like '%0003'",
        """update checkpoints set data = '{"entities":[],"n":NaN}' where id like '%0004'""",
    )
    store, loaded = load(path, FORMAT)
    session = loaded.session

    assert ids_of(session, [2]) == "gap@20261004T080001_bbbb0003"
    assert codes(session.findings) == ["TT101", "TT108"]
    assert "longer than what holds it at byte" in session.findings[0].message
    store.close()


@pytest.mark.parametrize("location", ["", "main", "fork/x", f"fork/x/{FORKED}_p-{MAIN[0]}.json"])
def test_the_folder_of_branches_opens_from_each_place_in_it(location: str):
    store, loaded = load(HERE / "saved" / location, FORMAT)
    session = loaded.session

    assert store.sessions() == ("saved",)
    assert [(each.id, each.parent) for each in session] == [
        (MAIN[0], None),
        (MAIN[1], MAIN[0]),
        (FORKED, MAIN[0]),
    ]
    assert dict(session.labels) == {1: "main", 2: "fork/x"}
    entity = replay_of(store, session).state(2)["entities"][0]
    assert entity == {"entity_type": "flow", "checkpoint_state": {"n": 9}}
    store.close()


def test_what_is_damaged_or_hangs_on_itself_hides_nothing_else(tmp_path: Path):
    folder = tmp_path / "saved"
    shutil.copytree(HERE / "saved", folder)
    (folder / "main" / f"{MAIN[1]}_p-{MAIN[0]}.json").write_text("{")
    for one, other in (("a", "b"), ("b", "a")):
        name = f"20261130T000000_{one}_p-20261130T000000_{other}.json"
        (folder / "main" / name).write_text("{}")
    store, loaded = load(folder, FORMAT)
    session = loaded.session

    assert [each.id.rpartition("_")[2] for each in session] == [
        "c4a70719",
        "c4a70719",
        "d9f1c86e",
        "a",
        "b",
    ]
    assert sorted(codes(session.findings)) == ["TT101", "TT203"]
    store.close()


@pytest.mark.parametrize(
    ("name", "folders", "score"),
    [
        (".checkpoints", ("main", "draft"), 80),
        ("anything", ("fork", "main"), 60),
        ("src", ("main", "test"), None),
        ("src", ("main",), None),
    ],
)
def test_a_folder_of_branches_is_told_by_their_names(
    name: str, folders: tuple[str, ...], score: int | None
):
    match = Crewai.sniff(FolderProbe(name, name, b"", 1, (), folders=folders))

    assert (match.score if match else None) == score


def test_a_table_of_checkpoints_without_branches_is_not_its_own(tmp_path: Path):
    path = database_of(tmp_path / "c.db", "create table checkpoints (id, parent_id, data)")

    assert Crewai.sniff(probe(str(path))) is None
