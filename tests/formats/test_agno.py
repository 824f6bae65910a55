"""Agno: a run is a turn, its parts stand beside the line, and history is not doubled."""

from __future__ import annotations

from functools import partial
from pathlib import Path

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

from tt_debugger.core.changes import Put
from tt_debugger.core.messages import results_in
from tt_debugger.core.model import Kind, SessionId, Usage
from tt_debugger.formats import recognise
from tt_debugger.formats.agno import Agno
from tt_debugger.storage.probe import probe

FORMAT = "agno"
HERE = FIXTURES / FORMAT
made = partial(fixture_database, FORMAT)


def test_the_database_of_the_fixture_is_what_its_statements_make(tmp_path: Path):
    store, loaded = load(HERE / "sessions.db", FORMAT)
    again, same = load(made(tmp_path / "sessions.db"), FORMAT)

    assert facts(same.session) == facts(loaded.session)
    assert store.sessions() == ["old", "ferry"]
    store.close()
    again.close()


def test_runs_are_turns_and_that_of_a_member_hangs_beside_the_line():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    shown = [(each.id, each.parent, each.head.kind, each.head.name) for each in session]

    assert shown == [
        ("r1", None, Kind.TURN, "team"),
        ("m1", "r1", Kind.TURN, "agent"),
        ("r2", "r1", Kind.INTERRUPT, "paused"),
    ]
    assert [each.head.summary for each in session] == [
        "The next ferry is at nine.",
        "nine",
        "Book it.",
    ]
    assert ids_of(session, session.active_path) == "r1 r2"
    assert (session.title, session.heads.usage(0)) == ("Ferry times", Usage(40, 20, 60, 0, 120))
    assert session.findings == ()
    store.close()


def test_what_a_run_repeats_of_those_before_is_said_once():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    replay = replay_of(store, loaded.session)

    state = replay.state(2)

    said = [(each["role"], each["content"]) for each in state["messages"]]
    assert said == [
        ("system", "Be brief."),
        ("user", "When is the next ferry?"),
        ("assistant", ""),
        ("tool", "no such day"),
        ("assistant", "The next ferry is at nine."),
        ("user", "Book it."),
    ]
    (result,) = results_in(state["messages"][3])
    assert (result.name, result.call, result.failed) == ("timetable", "t1", True)
    assert (state["model"], state["provider"]) == ("m-1", "Acme")
    store.close()


def test_of_the_state_of_a_session_only_what_a_run_changed_is_put():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    replay = replay_of(store, loaded.session)

    assert replay.state(1)["session_state"] == {"ticket": {"price": 3}}
    assert Put(("session_state", "ticket", "price"), 4) in replay.step(2).changes
    store.close()


def test_runs_in_the_row_of_their_session_are_read_alike():
    store, _ = load(HERE / "sessions.db", FORMAT)
    session = store.load(SessionId("old")).session

    messages = replay_of(store, session).state(1)["messages"]

    assert ids_of(session, range(2)) == "o1 run-2"
    assert [each["content"] for each in messages] == ["hello", "Good day.", "bye", "Bye."]
    assert session.title == "clerk"
    store.close()


def test_what_the_kit_wrote_is_shown_run_by_run():
    store, loaded = load(HERE / "runs.db", FORMAT)
    session = loaded.session

    state = replay_of(store, session).state(1)

    assert [each["content"] for each in state["messages"]] == [
        "hello",
        "fake answer",
        "again",
        "fake answer",
    ]
    assert (state["session_state"], len(session)) == ({"n": 1}, 2)
    assert session.findings == ()
    store.close()


def test_what_is_damaged_or_a_part_of_itself_hides_nothing_else(tmp_path: Path):
    path = made(
        tmp_path / "sessions.db",
        "update agno_runs set run_data = '[1]' where run_id = 'r1'",
        "insert into agno_runs select 'm2', session_id, run_type, agent_id, team_id, workflow_id,"
        " user_id, 'm3', status, 9, run_data, created_at, 0 from agno_runs where run_id = 'm1'",
        "insert into agno_runs select 'm3', session_id, run_type, agent_id, team_id, workflow_id,"
        " user_id, 'm2', status, 9, run_data, created_at, 0 from agno_runs where run_id = 'm1'",
        'update agno_sessions set runs = \'[{"run_id":"m1"},{"run_id":"x"}]\'',
    )
    store, loaded = load(path, FORMAT)
    session = loaded.session

    assert ids_of(session, range(len(session))) == "x gap@r1 m1 r2 m2 m3"
    assert codes(session.findings) == ["TT101"]
    store.close()


def test_tables_are_told_by_their_columns_whatever_they_are_called(tmp_path: Path):
    script = (HERE / "sessions.sql").read_text()
    renamed = "alter table agno_sessions rename to s; alter table agno_runs rename to r"
    path = database_of(tmp_path / "a.db", script, renamed)
    bare = database_of(tmp_path / "b.db", script, "drop table agno_runs")
    none = database_of(
        tmp_path / "c.db",
        "create table s (session_id, session_type, session_data)",
    )
    store, loaded = load(path, FORMAT)

    assert recognise(probe(str(path)))[0] is Agno
    assert len(loaded.session) == 3
    assert Agno.sniff(probe(str(bare))) is not None
    assert Agno.sniff(probe(str(none))) is None
    store.close()
