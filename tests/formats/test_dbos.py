"""DBOS: steps add to the state what they gave, and what is pickled stays closed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from builders import (
    FIXTURES,
    codes,
    facts,
    fixture_database,
    ids_of,
    load,
    replay_of,
)

from tt_debugger.core.model import Kind, SessionId
from tt_debugger.formats.shared.opaque import opaque
from tt_debugger.store import HasSubsessions

FORMAT = "dbos"
HERE = FIXTURES / FORMAT
FOUR = opaque("pickle", b"\x80\x04K\x04.")
made = partial(fixture_database, FORMAT)


def states(path: Path, session: str) -> list[Any]:
    store, _ = load(path, FORMAT)
    loaded = store.load(SessionId(session)).session
    replay = replay_of(store, loaded)
    found = [replay.state(row) for row in range(len(loaded))]
    store.close()
    return found


def test_the_database_of_the_fixture_is_what_its_statements_make(tmp_path: Path):
    store, loaded = load(HERE / "sessions.db", FORMAT)
    again, same = load(made(tmp_path / "sessions.db"), FORMAT)

    assert facts(same.session) == facts(loaded.session)
    assert store.sessions() == ["w-wait", "w-stamp", "w-post"]
    store.close()
    again.close()


def test_a_workflow_begins_with_its_input_and_ends_with_its_output():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    shown = [(each.id, each.head.kind, each.head.name, each.head.summary) for each in session]

    assert shown == [
        ("input", Kind.CUSTOM, "begin", 'post {"positionalArgs":["Anna"]}'),
        ("1", Kind.SUPER_STEP, "DBOS.setEvent", ""),
        ("2", Kind.SUPER_STEP, "stamp", '{"name":"ValueError","message":"no stamps"}'),
        ("3", Kind.SUPER_STEP, "DBOS.recv", "go on"),
        ("5", Kind.SUPER_STEP, "send", '{"ok":true}'),
        ("output", Kind.CUSTOM, "end", 'SUCCESS {"sent":2}'),
    ]
    assert [session.heads[row].failed for row in (1, 2)] == [False, True]
    assert session.heads.time(3) == 1791100805
    assert (session.title, session.forked_from) == ("post", None)
    store.close()


def test_the_state_has_the_steps_and_what_was_written_beside_them():
    after = states(HERE / "sessions.db", "w-post")

    assert [len(each["steps"]) for each in after] == [0, 1, 2, 3, 4, 4]
    assert after[2]["steps"][1] == {
        "function_id": 2,
        "name": "stamp",
        "output": None,
        "error": {"name": "ValueError", "message": "no stamps"},
        "child_workflow_id": "w-stamp",
    }
    assert [each["events"].get("phase") for each in after] == [
        *(None, "writing", "writing", "writing", "sent", "sent"),
    ]
    # What no step is known of is at the last one.
    assert [each["events"].get("colour") for each in after[3:5]] == [None, "red"]
    # What a step wrote that is not there is at the one before it.
    assert [each["streams"].get("log") for each in after[2:5]] == [None, ["one"], ["one", "two"]]
    assert after[3]["received"] == [{"topic": "desk", "message": "go on"}]
    assert after[5]["received"][1] == {"topic": "desk", "message": FOUR}
    assert (after[5]["output"], after[5]["status"]) == ({"sent": 2}, "SUCCESS")


def test_a_step_leads_to_the_workflow_that_it_started():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    assert dict(session.subsessions) == {2: ("w-stamp",)}
    assert isinstance(store, HasSubsessions)
    assert store.subsession(session, "w-stamp") == f"{HERE / 'sessions.db'}#w-stamp:"
    assert store.subsession(session, "w-gone") is None
    failed = states(HERE / "sessions.db", "w-stamp")[-1]
    assert (failed["status"], failed["error"]["message"]) == ("ERROR", "no stamps")
    store.close()


def test_a_workflow_that_is_at_work_has_no_end():
    (only,) = states(HERE / "sessions.db", "w-wait")

    assert (only["status"], only["input"]) == ("PENDING", FOUR)


def test_a_fork_of_the_agent_begins_with_the_steps_of_its_source():
    store, loaded = load(HERE / "forked.db", FORMAT)
    session = loaded.session
    source, fork = store.sessions()

    assert session.id == fork
    assert (session.forked_from, ids_of(session, range(4))) == (source, "input 1 2 output")
    steps = states(HERE / "forked.db", fork)[-1]["steps"]
    assert steps == states(HERE / "forked.db", source)[-1]["steps"]
    assert steps[0] == {"function_id": 1, "name": "s1", "output": FOUR}
    assert codes(session.findings) == ["TT111"]
    store.close()


def test_numbers_of_steps_that_are_none_break_nothing(tmp_path: Path):
    path = made(
        tmp_path / "sessions.db",
        "update streams set function_id = 'x' where \"offset\" = 0",
        "update operation_outputs set function_id = 'y' where function_id = 1",
        "update operation_outputs set output = 'torn{' where function_id = 3",
    )

    after = states(path, "w-post")

    assert [len(each["steps"]) for each in after] == [0, 1, 2, 3, 4, 4]
    assert after[-1]["streams"] == {"log": ["one", "two"]}
    assert after[-1]["steps"][1]["output"] == "torn{"


def test_what_was_written_is_at_the_last_step_before_whatever_order_steps_have(tmp_path: Path):
    rows = ", ".join(
        f"('w-post', {number}, '{key}', '1', null)"
        for number, key in ((4, "four"), (0, "none"), (99, "last"))
    )
    path = made(tmp_path / "s.db", f"insert into workflow_events_history values {rows};")  # noqa: S608 - made right here

    after = states(path, "w-post")
    first = {
        key: next(n for n, each in enumerate(after) if key in each["events"])
        for key in ("none", "four", "last")
    }
    assert first == {"none": 0, "four": 3, "last": 4}
