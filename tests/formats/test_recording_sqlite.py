"""Recordings in SQLite: what a recorder wrote there is shown, and what is damaged is told."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import FIXTURES, facts, ids_of, load, replay_of

from tt_debugger.core.changes import Append, LiveState, Put
from tt_debugger.core.model import Kind, Session, SessionId, Usage
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    Changed,
    Compacted,
    EffectNoted,
    Entry,
    Forked,
    HandedOff,
    Header,
    Labelled,
    Said,
    Snapshotted,
    changes_of,
)
from tt_debugger.core.refs import parse_fragment
from tt_debugger.core.replay import Replay
from tt_debugger.debugger import Debugger
from tt_debugger.formats.recording_sqlite import RecordingSqlite
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.sqlite import SqliteLog
from tt_debugger.storage.probe import probe
from tt_debugger.store import Examines, Loaded

FORMAT = "recording_sqlite"
HERE = FIXTURES / FORMAT
RUN = HERE / "run.db"
"""What `recorded` writes, its pages made small."""


def at(minute: int) -> str:
    return f"2026-03-01T09:{minute:02}:00Z"


def said(name: str, parent: str, minute: int, role: str, text: str) -> Said:
    return Said(name, parent, at(minute), message={"role": role, "content": text})


DONE = Effect("mail-7", Status.DONE, "m7", "mail", "5e", {"id": 41})
ENTRIES: tuple[Entry, ...] = (
    Snapshotted("m0", None, at(0), state={"messages": [], "plan": ["look", "mend"]}, why="start"),
    said("m1", "m0", 1, "user", "The form loses what is typed: ü. Mend it."),
    said("m2", "m1", 2, "assistant", "I look where it is kept."),
    Changed(
        "m3",
        "m2",
        at(3),
        name="look",
        tool="grep",
        usage=Usage(900, 40, 0, 0, 940, 0.01),
        changes=(Append(("messages",), {"role": "tool", "content": "form.py: 3"}),),
    ),
    Labelled("m4", "m3", at(4), target="m3", label="found"),
    EffectNoted("m5", "m4", at(5), tool="mail", event="effect", key="mail-7", input_hash="5e"),
    EffectNoted("m6", "m5", at(6), key="mail-7", phase="begun"),
    EffectNoted(
        "m7",
        "m6",
        at(7),
        key="mail-7",
        phase="done",
        result={"id": 41},
        changes=(Put(("told",), value=True),),
    ),
    Compacted(
        "m8",
        "m7",
        at(8),
        replaces=("m1", "m2"),
        index=0,
        count=2,
        message={"role": "system", "content": "The form is to be mended."},
    ),
    Forked("m9", "m3", at(9), note="without mail"),
    Snapshotted(
        "m10",
        "m9",
        at(10),
        state={
            "messages": [
                {"role": "user", "content": "The form loses what is typed: ü. Mend it."},
                {"role": "assistant", "content": "I look where it is kept."},
                {"role": "tool", "content": "form.py: 3"},
            ],
            "plan": ["look", "mend"],
        },
        effects=(DONE,),
        why="size",
    ),
    HandedOff("m11", "m10", at(11), path="h.md", text="# Next\n", digest="0f", next_step="mend"),
)
OTHER: tuple[Entry, ...] = (
    Snapshotted("a0", None, at(20), state={"messages": []}, why="start"),
    said("a1", "a0", 21, "user", "hello"),
)
SESSIONS = {("", "a/b"): OTHER[:1], ("acme", "main"): OTHER, ("", "main"): ENTRIES}


def recorded(path: Path) -> Path:
    for (tenant, session), entries in SESSIONS.items():
        log = SqliteLog.open(f"sqlite:///{path}", Options(session, tenant))
        log.begin(Header(session, at(0), title=f"run of {tenant or 'nobody'}"))
        for entry in entries:
            log.append([entry])
        log.close()
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return shutil.copy(RUN, tmp_path / "run.db")


@pytest.fixture
def read(run: Path) -> Iterator[Callable[..., tuple[Loaded, Replay]]]:
    """Read a session of a copy of the fixture, to which a script was done."""
    stores: list[RecordingSqlite] = []

    def read_session(*statements: str, name: str = "main") -> tuple[Loaded, Replay]:
        with closing(sqlite3.connect(run)) as connection:
            connection.executescript(";".join(statements))
        store = RecordingSqlite.open(str(run))
        stores.append(store)
        loaded = store.load(SessionId(name))
        return loaded, replay_of(store, loaded.session)

    yield read_session
    for store in stores:
        store.close()


def shown(session: Session) -> list[str]:
    return [
        f"{each.id}<{each.parent or ''} {each.head.kind} {each.head.name}: {each.head.summary}"
        for each in session
    ]


def told(loaded: Session) -> list[tuple[str, str | None, str]]:
    return [(str(each.code), each.checkpoint, each.message) for each in loaded.findings]


def states_of(entries: tuple[Entry, ...]) -> dict[str, Any]:
    """Give the state after each entry, as a recorder has it."""
    states: dict[str, Any] = {}
    for entry in entries:
        live = LiveState(states[entry.parent] if entry.parent else None)
        live.apply(changes_of(entry))
        states[entry.id] = live.value
    return states


def test_the_fixture_is_what_a_recorder_writes(tmp_path: Path):
    made = recorded(tmp_path / "made.db")
    for name in ("main", "acme/main", "/a/b"):
        stores = [RecordingSqlite.open(str(each)) for each in (made, RUN)]
        loaded = [each.load(SessionId(name)).session for each in stores]
        assert facts(loaded[0]) == facts(loaded[1])
        for store in stores:
            store.close()


def test_it_is_told_by_the_columns_that_only_a_recorder_makes(run: Path):
    match = RecordingSqlite.sniff(probe(str(run)))
    assert match is not None
    assert match.score == 97

    with closing(sqlite3.connect(run)) as connection:
        connection.execute("ALTER TABLE agent_turns RENAME COLUMN kind TO type")
    assert RecordingSqlite.sniff(probe(str(run))) is None


def test_sessions_are_named_with_their_tenants_the_last_written_to_last(run: Path):
    store = RecordingSqlite.open(str(run))
    assert store.sessions() == ["/a/b", "acme/main", "main"]
    store.close()

    log = SqliteLog.open(str(run), Options("main", "acme"))
    log.append([said("a2", "a1", 30, "user", "go on")])
    store = RecordingSqlite.open(str(run))
    assert store.sessions() == ["/a/b", "main", "acme/main"]
    store.close()
    log.close()


def test_the_location_of_a_log_opens_its_session(run: Path):
    for (tenant, session), entries in SESSIONS.items():
        log = SqliteLog.open(str(run), Options(session, tenant))
        log.close()
        location, _, fragment = log.location.rpartition("#")
        with Debugger.open(location, parse_fragment(fragment).session) as debugger:
            assert list(debugger.session.ids) == [each.id for each in entries]
            assert debugger.session.format == FORMAT


def test_entries_are_checkpoints_in_the_order_in_which_they_were_written(read: Any):
    loaded, _ = read()
    session = loaded.session

    assert shown(session) == [
        "m0< snapshot snapshot: start",
        "m1<m0 message user: The form loses what is typed: ü. Mend it.",
        "m2<m1 message asst: I look where it is kept.",
        "m3<m2 tool_result grep: look: tool: form.py: 3",
        "m4<m3 label label: found on m3",
        "m5<m4 tool_call mail: intended mail-7",
        "m6<m5 tool_call effect: begun mail-7",
        "m7<m6 tool_result effect: done: {1 key}",
        "m8<m7 compaction compact: 2 messages: The form is to be mended.",
        "m9<m3 custom fork: without mail",
        "m10<m9 snapshot snapshot: size",
        "m11<m10 handoff handoff: mend",
    ]
    assert [each.head.step for each in session] == list(range(1, 13))
    assert session.title == "run of nobody"
    assert session.labels == {3: "found"}
    assert ids_of(session, [session.active or 0]) == "m11"
    assert session.heads.usage(3) == Usage(900, 40, 0, 0, 940, 0.01)
    assert told(session) == []


def test_the_state_at_each_checkpoint_is_what_the_recorder_had_there(read: Any):
    loaded, replay = read()

    states = {name: replay.state(row) for row, name in enumerate(loaded.session.ids)}

    assert states == states_of(ENTRIES)


def test_the_recorder_goes_on_from_the_entry_before_a_label(read: Any, run: Path):
    log = SqliteLog.open(str(run), Options())
    log.append([Labelled("m12", "m11", at(12), target="m11", label="end")])
    log.close()

    loaded, _ = read()

    assert loaded.session.ids[loaded.session.active or 0] == "m11"
    assert loaded.session.labels == {3: "found", 11: "end"}


def test_a_body_is_the_entry_and_its_raw_bytes_are_those_of_the_columns(run: Path):
    store = RecordingSqlite.open(str(run))
    session = store.load(SessionId("main")).session

    bodies = store.bodies(session, [10, 1])

    assert [msgspec.convert(each, Entry) for each in bodies] == [ENTRIES[10], ENTRIES[1]]
    (payload,) = rows_of(run, "SELECT payload FROM agent_turns WHERE checkpoint_id = 'm10'")
    (state,) = rows_of(run, "SELECT state_json FROM checkpoints WHERE checkpoint_id = 'm10'")
    assert store.raw(session, 10) == f"{payload[0]}\n{state[0]}".encode()
    assert store.raw(session, 1).startswith(b'{"type":"message","id":"m1","parent":"m0"')
    store.close()


def rows_of(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_a_recording_is_followed_while_it_is_written(tmp_path: Path):
    path = tmp_path / "run.db"
    log = SqliteLog.open(str(path), Options())
    log.begin(Header("main", at(0)))
    log.append(ENTRIES[:3])
    store = RecordingSqlite.open(str(path))
    loaded = store.load(SessionId("main"))
    for end in range(3, len(ENTRIES)):
        log.append([ENTRIES[end]])
        loaded = store.follow(loaded.cursor)
        again = RecordingSqlite.open(str(path))
        assert facts(loaded.session) == facts(again.load(SessionId("main")).session)
        again.close()
    store.close()
    log.close()

    assert list(loaded.session.ids) == [each.id for each in ENTRIES]


def test_an_effect_that_stays_open_is_told(tmp_path: Path):
    path = tmp_path / "run.db"
    log = SqliteLog.open(str(path), Options())
    log.begin(Header("main", at(0)))
    log.append(ENTRIES[:7])
    log.close()

    store, loaded = load(path, FORMAT)
    store.close()

    (found,) = loaded.session.findings
    assert (found.code, found.checkpoint) == ("TT411", "m6")
    assert "nothing says whether it happened" in found.message


def payload(name: str, old: str, new: str) -> str:
    """Give the statement that puts a text in the payload of an entry in the place of another."""
    put = f"SET payload = replace(payload, '{old}', '{new}') WHERE checkpoint_id = '{name}'"
    return f"UPDATE agent_turns {put}"


NO_STATE = "a change cannot be made, and is left out: the state is no object"
NO_CHANGE = "a change cannot be made, and is left out: what it lists is no change"
NO_FORM = "the entry is not of the form of its type: Expected `int`, got `str` - at `$.count`"
DAMAGE = {
    "payload": (
        payload("m2", "}", ""),
        [("TT101", "m2", "agent_turns/m2: payload: it is no JSON")],
    ),
    "bytes": (
        "UPDATE agent_turns SET payload = x'ff00' WHERE checkpoint_id = 'm11'",
        [("TT101", "m11", "agent_turns/m11: payload: it is no JSON")],
    ),
    "state": (
        "UPDATE checkpoints SET state_json = '[1]' WHERE checkpoint_id = 'm10'",
        [
            ("TT101", "m10", "checkpoints/m10: state_json: it is a list, not an object"),
            ("TT402", "m10", NO_STATE),
        ],
    ),
    "no state": (
        "DELETE FROM checkpoints WHERE checkpoint_id = 'm10'",
        [
            ("TT101", "m10", "checkpoints/m10: state_json: the row is not there"),
            ("TT402", "m10", NO_STATE),
        ],
    ),
    "type": (
        payload("m9", '"fork"', '"knife"'),
        [("TT401", "m9", "the entry type 'knife' is not known")],
    ),
    "form": (
        payload("m8", '"count":2', '"count":"2"'),
        [("TT407", "m8", NO_FORM), ("TT402", "m8", NO_CHANGE)],
    ),
    "columns": (
        "UPDATE agent_turns SET parent_id = 'm1' WHERE checkpoint_id = 'm3'",
        [("TT407", "m3", "the parent_id is 'm1', and the entry says 'm2'")],
    ),
    "label": (
        payload("m4", '"m3","label"', '"m99","label"'),
        [("TT406", "m4", "a label names 'm99', which is not in this session")],
    ),
    "header": (
        "UPDATE agent_sessions SET header = 'x'",
        [("TT404", None, "agent_sessions: header: it is no JSON")],
    ),
    "no header": (
        "DELETE FROM agent_sessions",
        [("TT404", None, "the session has no row in agent_sessions")],
    ),
    "newer": (
        "UPDATE agent_sessions SET header = replace(header, 'version\":1', 'version\":9')",
        [("TT405", None, "the recording is of version 9; 1 is known")],
    ),
}
"""Statements that damage the fixture, and what is found then: code, checkpoint, words."""


@pytest.mark.parametrize(("script", "findings"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_told_and_the_rest_is_shown(
    script: str, findings: list[tuple[str, str | None, str]], read: Any
):
    loaded, replay = read(script)

    assert sorted(told(loaded.session), key=str) == sorted(findings, key=str)
    assert len(loaded.session) == len(ENTRIES)
    assert replay.state(7)["told"] is True


def test_without_the_table_of_states_all_else_is_shown(read: Any):
    loaded, replay = read("DROP TABLE checkpoints")

    found = told(loaded.session)
    assert found[:2] == [
        ("TT101", "m0", "checkpoints/m0: state_json: the row is not there"),
        ("TT101", "m10", "checkpoints/m10: state_json: the row is not there"),
    ]
    assert {code for code, _, _ in found[2:]} == {"TT402"}
    assert replay.state(7)["told"] is True


def test_an_unreadable_entry_stays_where_it_was_and_does_nothing(read: Any):
    loaded, replay = read(DAMAGE["payload"][0])
    session = loaded.session

    assert session.heads.kind(2) is Kind.UNREADABLE
    assert ids_of(session, session.tree.path_to(3)) == "m0 m1 m2 m3"
    assert replay.state(2) == replay.state(1)


def test_a_long_recording_is_looked_through_only_when_asked(tmp_path: Path):
    path = tmp_path / "run.db"
    log = SqliteLog.open(str(path), Options())
    log.begin(Header("main", at(0)))
    wrong = Changed("w", "m0", at(1), changes=(Append(("nowhere",), 1),))
    many = [Changed(f"n{n}", f"n{n - 1}" if n else "w", at(2)) for n in range(600)]
    log.append([ENTRIES[0], wrong, *many])
    log.close()

    store, loaded = load(path, FORMAT)

    assert loaded.session.findings == ()
    assert isinstance(store, Examines)
    assert [each.checkpoint for each in store.examined(loaded.session)] == ["w"]
    store.close()
