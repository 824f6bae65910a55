"""Tables of one's own in SQLite: threads with their past, turns, and trees under other names."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, database_of, facts, ids_of, load, replay_of

from tt_debugger.core.changes import Append, Put, fold
from tt_debugger.core.model import Kind, Session, SessionId, iso_time
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, UnknownRefError
from tt_debugger.formats import recognise
from tt_debugger.formats.shared.tables import sessions
from tt_debugger.formats.shared.tables.naming import NEWEST
from tt_debugger.formats.sqlite_tables import SqliteTables
from tt_debugger.storage.probe import probe
from tt_debugger.storage.sqlite import Database

HERE = FIXTURES / "sqlite_tables"
NAMES = ("threads", "turns", "branches")
STATES = "create table runs (id integer primary key, run_id, step integer, state)"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    """Open a fixture, or a database of a few statements; give its store and newest session."""
    stores: list[SqliteTables] = []

    def open_database(*scripts: str, fixture: str | None = None) -> tuple[SqliteTables, Session]:
        if fixture is not None:
            scripts = ((HERE / f"{fixture}.sql").read_text(), *scripts)
        store = SqliteTables.open(str(database_of(tmp_path / "s.db", *scripts)))
        stores.append(store)
        return store, store.load(store.sessions()[-1]).session

    yield open_database
    for each in stores:
        each.close()


def told(session: Session) -> list[str]:
    return [f"{each.code} {each.checkpoint}: {each.message}" for each in session.findings]


def inserted(table: str, *rows: str) -> str:
    return f"insert into {table} values {', '.join(rows)};"  # noqa: S608 - made right here


def stored(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


@pytest.mark.parametrize("name", NAMES)
def test_the_databases_of_the_fixture_are_what_their_statements_make(name: str, opened: Any):
    store, loaded = load(HERE / f"{name}.db", "sqlite_tables")

    assert facts(opened(fixture=name)[1]) == facts(loaded.session)
    store.close()


# --- A thread and its past -----------------------------------------------------------------------


def test_a_thread_is_its_past_by_time_and_then_the_state_that_it_has(opened: Any):
    store, session = opened(fixture="threads")

    assert store.sessions() == ["alone", "parcel:7"]
    times = [f"2026-04-02T08:0{n}:00.000001+00:00" for n in (1, 2, 3)]
    assert list(session.ids) == [*(f"parcel:7:history:{each}" for each in times), "parcel:7"]
    assert session.parents == array("q", [-1, 0, 1, 2])
    assert session.ids[session.active or 0] == "parcel:7"
    heads = [(each.head.kind, each.head.step, iso_time(each.head.time)) for each in session]
    assert heads[0] == (Kind.SNAPSHOT, 1, "2026-04-02T08:01:00.000Z")
    assert [step for _, step, _ in heads] == [1, 2, 3, 3]


def test_the_state_at_a_row_is_the_document_that_it_holds(opened: Any):
    store, session = opened(fixture="threads")
    replay = replay_of(store, session)
    rows = dict(stored(Path(store.location), "select thread_id, state_json from checkpoints"))

    for row, name in enumerate(session.ids):
        assert replay.state(row) == json.loads(rows[name])
        assert store.raw(session, row) == rows[name].encode()
    assert [type(each) for each in replay.changes(1)] == [Put, Append, Append]
    assert replay.changes(3) == ()


def test_another_version_of_the_schema_is_told_field_by_field_and_in_its_row(opened: Any):
    _, session = opened(fixture="threads")

    (drift,) = told(session)
    assert drift == (
        "TT410 parcel:7:history:2026-04-02T08:03:00.000001+00:00: schema_version 1 -> 2:"
        " added /long_term_refs; gone /long_term_memory; other type /cost (text to number)"
    )
    assert session.heads[2].summary.startswith("schema 1 -> 2 · step 3")
    assert session.heads[3].summary.startswith("step 3")


def test_a_thread_may_be_called_as_if_it_had_a_past_and_have_none_but_that(opened: Any):
    _, session = opened(
        "create table checkpoints (thread_id text primary key, state_json, schema_version)",
        """insert into checkpoints values ('a:history:b', '{}', 1), ('b', '{}', 1),
        ('a:history:b:history:2026-01-01T00:00:00', '{"n":1}', 1),
        ('b:history:2026-01-01', '{}', 1)""",
    )
    store, _ = opened()

    assert set(store.sessions()) == {"a:history:b", "b"}
    apart = store.load(SessionId("a:history:b")).session
    assert list(apart.ids) == ["a:history:b:history:2026-01-01T00:00:00", "a:history:b"]
    assert len(session) == 2


def test_a_thread_that_has_only_a_past_is_found(opened: Any):
    store, session = opened(
        "delete from checkpoints where thread_id in ('parcel:7', 'alone')", fixture="threads"
    )

    assert (store.sessions(), len(session)) == (["parcel:7"], 3)
    assert store.sessions_named("parcel:7") == ["parcel:7"]


# --- Turns ---------------------------------------------------------------------------------------


def test_the_state_at_a_turn_is_the_turns_so_far_and_what_the_last_one_held(opened: Any):
    store, session = opened(fixture="turns")
    replay = replay_of(store, session)
    payloads = stored(
        Path(store.location),
        "select payload from agent_turns where session_id = 'run-a' order by turn_number",
    )

    assert session.id == "run-a"
    assert [each.head.step for each in session] == [1, 2, 3, 4]
    states = [replay.state(row) for row in range(4)]
    assert [each["turn"] for each in states] == [json.loads(text) for (text,) in payloads]
    assert [len(each["turns"]) for each in states] == [1, 2, 3, 4]
    assert states[3]["turns"][1].keys() == {
        *("turn_id", "turn_number", "tool_name", "input_hash", "output_hash", "written_at"),
    }
    assert states[3]["turns"][1]["tool_name"] == "fetch"
    assert [type(each) for each in replay.changes(2)] == [Append, Put]


def test_a_turn_is_called_by_its_tool_and_says_what_went_in_and_came_out(opened: Any):
    _, session = opened(fixture="turns")

    heads = [(each.head.kind, each.head.name, each.head.failed) for each in session]
    assert heads == [
        (Kind.TURN, "search", False),
        (Kind.TURN, "fetch", True),
        (Kind.TURN, "turn", False),
        (Kind.TURN, "write", False),
    ]
    assert session.heads[1].summary == '{"query":"run-a 2"} -> {"error":"timeout"}'
    assert session.findings == ()


def test_numbers_of_turns_that_skip_or_repeat_are_told(opened: Any):
    _, session = opened(
        "create table again as select * from agent_turns; drop table agent_turns;"
        " alter table again rename to agent_turns;"
        " update agent_turns set turn_number = 9 where turn_id = 'run-a-4';"
        " update agent_turns set turn_number = 2 where turn_id = 'run-a-3';",
        fixture="turns",
    )

    assert ids_of(session, range(4)) == "run-a-1 run-a-2 run-a-3 run-a-4"
    assert told(session) == [
        "TT409 run-a-3: agent_turns: the turn_number 2 comes again",
        "TT409 run-a-4: agent_turns: the turn_number goes on at 9: 3 to 8 missing",
    ]


@pytest.mark.parametrize(
    ("payload", "summary"),
    [
        ('{"input":null,"output":{"n":1}}', '{"n":1}'),
        ('{"input":null,"messages":[{"content":"Hi"},{"content":"All done"}]}', "All done"),
        ('{"content":"Well"}', "Well"),
        ('{"cost":1,"model":"m"}', "cost, model"),
        ("{}", "empty"),
    ],
)
def test_a_turn_without_input_and_output_says_what_it_has(payload: str, summary: str, opened: Any):
    _, session = opened(
        "create table steps (id integer primary key, run_id, step, tool, payload)",
        inserted("steps", f"(1, 'r', 1, 'a', '{payload}')"),
    )

    assert session.heads[0].summary == summary


def test_turns_with_parents_are_a_tree_of_which_a_state_has_its_path(opened: Any):
    store, session = opened(
        "create table steps (id integer primary key, run_id, step, parent_id, tool, payload)",
        """insert into steps values (1, 'r', 1, null, 'a', '{}'), (2, 'r', 2, 1, 'b', '{}'),
        (3, 'r', 2, 1, 'c', '{}'), (4, 'r', 3, 3, 'd', '{"n":4}')""",
    )
    replay = replay_of(store, session)

    paths = [[turn["tool"] for turn in replay.state(row)["turns"]] for row in range(4)]
    assert paths == [["a"], ["a", "b"], ["a", "c"], ["a", "c", "d"]]
    assert replay.state(3)["turn"] == {"n": 4}
    assert session.findings == ()
    assert all(
        replay.state(row) == fold(replay.state(session.parents[row]), replay.changes(row))
        for row in (1, 2, 3)
    )


CHANGED = "update agent_turns set payload = replace(payload, 'run-a 3', 'else')"


def test_a_hash_that_is_not_that_of_what_it_is_of_is_told(opened: Any):
    _, session = opened(CHANGED, fixture="turns")

    assert told(session) == [
        "TT415 run-a-3: agent_turns/run-a-3: input_hash is not the hash of its input"
    ]


@pytest.mark.parametrize(
    "script",
    [
        "update agent_turns set input_hash = 'a scheme of their own'",
        "update agent_turns set input_hash = upper(hex(randomblob(32)))",
        "update agent_turns set input_hash = 'sha256:' || substr(input_hash, 1, 20)",
        "update agent_turns set input_hash = null",
        """update agent_turns set payload = replace(payload, '"run-a 3"', '3.0')""",
    ],
)
def test_a_hash_that_is_made_in_another_way_is_not_accused(script: str, opened: Any):
    assert told(opened(script, fixture="turns")[1]) == []


# --- Other names ---------------------------------------------------------------------------------


def test_rows_with_parents_are_a_tree_whatever_their_columns_are_called(opened: Any):
    store, session = opened(fixture="branches")

    assert recognise(probe(store.location))[0] is SqliteTables
    assert (store.sessions(), session.title) == (["conv-1"], "Name the boat")
    drawn = [(each.id, each.parent, each.head.step) for each in session]
    assert drawn == [
        ("1", None, 1),
        ("2", "1", 2),
        ("4", "1", 2),
        ("3", "2", 3),
        ("5", "4", 3),
    ]
    assert iso_time(session.heads.time(0)) == "2026-01-01T00:01:00.000Z"
    assert replay_of(store, session).state(4)["names"] == ["name 5"]


def test_a_parent_that_is_missing_or_its_own_child_makes_a_root_with_a_finding(opened: Any):
    _, session = opened(
        "update snapshots set parentId = 99 where id = 2;"
        "update snapshots set parentId = 5 where id = 4;",
        fixture="branches",
    )

    assert [each.code for each in session.findings] == ["TT201", "TT203"]
    assert [each.id for each in session if each.parent is None] == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("columns", "score"),
    [
        ("thread_id, state_json, schema_version", 88),
        ("threadId, stateJson, schemaVersion, x", 88),
        ("session_id, turn_number, payload, turn_id", 88),
        ("run_id, state, step", 21),
        ("chat_id, body, ts", 21),
        ("conversation_id, data, parent_id", 21),
        ("session_id, data", None),
        ("state, step", None),
        ("session_id, step, title", None),
    ],
)
def test_the_vaguer_the_names_of_columns_the_lower_the_score(
    tmp_path: Path, columns: str, score: int | None
):
    path = database_of(tmp_path / "s.db", f"create table t ({columns})")

    match = SqliteTables.sniff(probe(str(path)))
    assert (match and match.score) == score


def test_a_table_that_only_looks_like_checkpoints_is_refused_with_what_to_do(opened: Any):
    with pytest.raises(CannotReadError, match=r"no JSON objects are in runs\.state") as error:
        opened(STATES, "insert into runs values (1, 'r', 1, 'Bavaria'), (2, 'r', 2, '[1]')")

    assert "--map" in (error.value.hint or "")


def test_two_tables_with_a_session_of_one_name_keep_it_apart(opened: Any):
    store, session = opened(
        (HERE / "threads.sql").read_text(),
        "insert into agent_turns (turn_id, session_id, turn_number, payload, written_at)"
        " values ('t', 'parcel:7', 1, '{}', '2020-01-01')",
        fixture="turns",
    )

    ids = store.sessions()
    assert set(ids) == {"alone", "parcel:7", "checkpoints/parcel:7", "run-a", "run-b"}
    for name in ids:
        assert store.load(name).session.id == name
    fresh = SqliteTables.open(store.location)
    assert len(fresh.load(SessionId("checkpoints/parcel:7")).session) == 4
    fresh.close()
    assert session.id == ids[-1]


def test_rows_are_in_their_order_however_they_were_stored(opened: Any):
    _, session = opened(
        STATES,
        """insert into runs values (5, 'r', 1, '{"n":1}'), (3, 'r', 10, '{"n":10}'),
        (9, 'r', 9, '{"n":9}')""",
    )

    assert ids_of(session, range(3)) == "5 9 3"


def test_rows_without_a_key_are_found_by_what_is_known_of_them(opened: Any):
    store, session = opened(
        "create table runs (run_id, step, state, ts)",
        """insert into runs values (7, 1, '{"n":1}', 5), (7, 1, '{"n":2}', 5),
        (null, 1, '{"n":3}', 5), (7, 2, '{"n":4}', 6)""",
    )
    replay = replay_of(store, session)

    assert set(store.sessions()) == {"NULL", "7"}
    session = store.load(SessionId("7")).session
    replay = replay_of(store, session)
    assert ids_of(session, range(3)) == "1/5@1 1/5 2/6"
    assert [replay.state(row)["n"] for row in range(3)] == [1, 2, 4]
    apart = store.load(SessionId("NULL")).session
    assert replay_of(store, apart).state(0) == {"n": 3}


def test_many_rows_without_a_key_are_found_in_one_pass(
    opened: Any, monkeypatch: pytest.MonkeyPatch
):
    values = [f"""('r', {n // 2}, '{{"n":{n}}}')""" for n in range(20)]
    store, session = opened(
        "create table runs (run_id, step, state)", inserted("runs", *values, "('q', 1, '{}')")
    )
    session = store.load(SessionId("r")).session
    asked: list[str] = []
    rows = Database.rows

    def counted(self: Database, table: str, *more: Any, **how: Any) -> Any:
        asked.append(table)
        return rows(self, table, *more, **how)

    monkeypatch.setattr(Database, "rows", counted)
    wanted = (19, 3, 2, 8, 11, 0)
    assert store.bodies(session, wanted) == [{"n": n} for n in wanted]
    assert len(asked) == 1
    assert store.bodies(session, (3, 2)) == [{"n": 3}, {"n": 2}]


@pytest.mark.parametrize("key", ["", "id integer primary key,", "id integer,"])
def test_the_past_of_a_thread_is_found_whatever_the_key_of_its_table(key: str, opened: Any):
    days = [f"2026-04-0{n}T08:00:00+00:00" for n in range(1, 7)]
    names = [*(f"a:history:{each}" for each in reversed(days)), "a"]
    rows = [
        ", ".join(([str(n)] if key else []) + [f"'{name}'", f"""'{{"n":{n}}}'""", "'1'"])
        for n, name in enumerate(names)
    ]
    store, _ = opened(
        f"create table checkpoints ({key} thread_id text, state_json text, schema_version text)",
        inserted("checkpoints", *(f"({each})" for each in rows)),
    )
    assert store.sessions() == ["a"]
    session = store.load(SessionId("a")).session

    replay = replay_of(store, session)
    assert [replay.state(row)["n"] for row in range(7)] == [5, 4, 3, 2, 1, 0, 6]
    assert [iso_time(session.heads.time(row)) for row in (0, 5, 6)] == [
        "2026-04-01T08:00:00.000Z",
        "2026-04-06T08:00:00.000Z",
        None,
    ]
    assert store.bodies(session, (1, 4)) == [{"n": 4}, {"n": 1}]


def test_of_very_many_tables_it_is_told_that_not_all_are_read(
    opened: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.formats.shared.tables.store.MOST_TABLES", 2)
    made = [f"create table t{n} (run_id, step, state)" for n in range(4)]
    filled = [inserted(f"t{n}", f"('r{n}', 1, '{{}}')") for n in range(4)]
    store, session = opened(*made, *filled)

    assert sorted(store.sessions()) == ["r0", "r1"]
    assert told(session) == [
        "TT101 None: 2 tables that may hold checkpoints: not read, the first t2"
    ]


# --- What cannot be read -------------------------------------------------------------------------


BAD = """insert into runs values (1, 'r', 1, '{"n":1}'), (2, 'r', 2, '{"n":'), (3, 'r', 3, null),
(4, 'r', 4, '[1]'), (5, 'r', 5, 7), (6, 'r', 6, '{"n":6}')"""


def test_a_row_whose_value_is_no_document_keeps_its_place_and_is_told(opened: Any):
    store, session = opened(STATES, BAD)
    replay = replay_of(store, session)

    assert [each.head.kind is Kind.UNREADABLE for each in session] == [
        *(False, True, True, True, True, False)
    ]
    assert session.parents == array("q", range(-1, 5))
    assert told(session) == [
        "TT101 2: runs/2: state: it is no JSON",
        "TT101 3: runs/3: state: it has no value",
        "TT101 4: runs/4: state: it is a list, not an object",
        "TT101 5: runs/5: state: it is a number, not JSON",
    ]
    assert [replay.state(row) for row in (1, 2, 3, 4, 5)] == [{}, {}, {}, {}, {"n": 6}]
    assert [store.raw(session, row) for row in (1, 2, 3)] == [b'{"n":', b"", b"[1]"]


def test_what_json_has_no_form_for_is_kept_and_what_was_forgiven_is_told(opened: Any):
    deep = "[" * 300 + "]" * 300
    store, session = opened(
        STATES,
        f"""insert into runs values (1, 'r', 1, '{{"a":NaN,"b":1e400}}'),
        (2, 'r', 2, cast(x'7b2261223a22ff227d' as text)), (3, 'r', 3, '{{"a":{deep}}}'),
        (4, 'r', 4, x'4c176105')""",  # noqa: S608 - made right here
    )

    assert [replay_of(store, session).state(row) for row in range(4)] == [
        {
            "a": {"$type": "float", "$value": "NaN"},
            "b": {"$type": "decimal.Decimal", "$value": "1e400"},
        },
        {"a": "\ufffd"},
        {},
        {},
    ]
    assert [(each.code, each.checkpoint) for each in session.findings] == [
        ("TT105", None),
        ("TT108", "1"),
        ("TT101", "3"),
        ("TT101", "4"),
    ]


def test_of_a_long_session_the_same_is_told_when_all_is_examined(
    opened: Any, monkeypatch: pytest.MonkeyPatch
):
    store, short = opened(STATES, BAD)
    monkeypatch.setattr(SqliteTables, "short", 2)
    long = store.load(short.id).session

    assert (long.findings, long.heads.waiting()) == ((), 6)
    assert list(store.examined(long)) == list(short.findings)
    assert list(store.examined(short)) == []
    assert [*map(str, long)] == [*map(str, short)]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_says_the_same_whether_its_states_are_read_at_once_or_later(
    name: str, opened: Any, monkeypatch: pytest.MonkeyPatch
):
    store, whole = opened(fixture=name)
    monkeypatch.setattr(SqliteTables, "short", 0)
    later = store.load(whole.id).session

    assert later.heads.waiting() == len(later)
    assert [later.heads.time(row) for row in range(len(later))] == [
        whole.heads.time(row) for row in range(len(whole))
    ]
    # The step of a thread stands in its states alone.
    steps = [None] * 4 if name == "threads" else [each.head.step for each in whole]
    assert [each.head.step for each in later] == steps
    assert [each.head.summary for each in later] == [each.head.summary for each in whole]
    assert later.findings == whole.findings
    assert [replay_of(store, later).state(row) for row in range(len(later))] == [
        replay_of(store, whole).state(row) for row in range(len(whole))
    ]


def test_of_many_changes_of_the_schema_the_later_ones_are_told_by_their_versions(
    opened: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sessions, "MOST_DRIFTS", 1)
    rows = [f"({n}, 'r', {n}, '{{\"f{n}\":1}}', {n})" for n in range(1, 4)]
    _, session = opened(
        "create table runs (id integer primary key, run_id, step, state, schema_version)",
        inserted("runs", *rows),
    )

    assert told(session) == [
        "TT410 2: schema_version 1 -> 2: added /f2; gone /f1",
        "TT410 3: schema_version 2 -> 3",
    ]


def test_a_damaged_table_shows_the_rows_before_the_damage(tmp_path: Path):
    path = database_of(
        tmp_path / "s.db",
        "pragma page_size = 512",
        STATES,
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)"
        " insert into runs select i, 'r', i, '{\"n\":1}' from n",
    )
    content = bytearray(path.read_bytes())
    content[-2048:] = b"\xff" * 2048
    path.write_bytes(content)
    store, loaded = load(path, "sqlite_tables")

    assert 0 < len(loaded.session) < 400
    assert any("the rows of runs end here" in each.message for each in loaded.session.findings)
    store.close()


# --- Many ----------------------------------------------------------------------------------------


def test_of_many_sessions_the_newest_are_named_and_any_is_found_by_its_name(tmp_path: Path):
    path = database_of(
        tmp_path / "s.db",
        STATES,
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)"
        " insert into runs select i, 'run-' || i, 1, '{\"n\":' || i || '}' from n",
    )
    store = SqliteTables.open(str(path))

    assert store.sessions() == [f"run-{n}" for n in range(400 - NEWEST + 1, 401)]
    assert store.sessions_named("run-12") == [
        *("run-12", "run-120", "run-121", "run-122", "run-123", "run-124", "run-125"),
        *("run-126", "run-127", "run-128", "run-129"),
    ]
    assert store.sessions_named("other") == []
    with Debugger.open(str(path), "run-12") as debugger:
        assert debugger.state(0) == {"n": 12}
    with pytest.raises(UnknownRefError):
        Debugger.open(str(path), "run-99999")
    store.close()


def test_prefixes_pass_over_the_past_of_threads(opened: Any):
    past = [f"('a1:history:2026-01-{n:02}', '{{}}', 1)" for n in range(1, 29)]
    rest = [f"('{name}', '{{}}', 1)" for name in ("a1", "a2", "a1-x")]
    store, _ = opened(
        "create table checkpoints (thread_id text primary key, state_json, schema_version)",
        inserted("checkpoints", *past, *rest),
    )

    assert store.sessions_named("a") == ["a1", "a1-x", "a2"]


def test_of_a_long_session_only_the_last_state_is_read_until_more_are_asked_for(
    opened: Any, monkeypatch: pytest.MonkeyPatch
):
    store, session = opened(fixture="branches")
    asked: list[tuple[str, ...]] = []
    rows = Database.rows

    def recorded(self: Database, table: str, columns: Any, **more: Any) -> Any:
        asked.append(tuple(columns))
        return rows(self, table, columns, **more)

    monkeypatch.setattr(Database, "rows", recorded)
    monkeypatch.setattr(SqliteTables, "short", 0)
    later = store.load(session.id).session
    assert [each for each in asked if "snapshot" in each] == [("snapshot",)]
    asked.clear()
    assert later.heads[0].name == "state"
    assert asked == [("snapshot",)] * len(later)


# --- Growing -------------------------------------------------------------------------------------


def test_a_session_is_followed_as_it_is_written_to(opened: Any):
    store, session = opened(fixture="threads")
    since = store.load(session.id).cursor
    session = since.position.session
    with closing(sqlite3.connect(store.location)) as database:
        database.execute(
            "insert into checkpoints select replace(thread_id, '08:03', '08:04'), state_json, 2,"
            " created_at, updated_at from checkpoints where thread_id like '%08:03%'"
        )
        database.commit()
    grown = store.follow(since)

    assert (grown.kept, len(grown.session)) == (3, 5)
    again = store.follow(grown.cursor)
    assert again.session is grown.session
    with closing(sqlite3.connect(store.location)) as database:
        database.execute("update checkpoints set state_json = '{}' where thread_id = 'parcel:7'")
        database.commit()
    changed = store.follow(again.cursor)
    assert (changed.kept, len(changed.session)) == (4, 5)
    assert replay_of(store, changed.session).state(4) == {}
    with closing(sqlite3.connect(store.location)) as database:
        database.execute("delete from checkpoints where thread_id like 'parcel%'")
        database.commit()
    gone = store.follow(changed.cursor)
    assert (gone.session.id, gone.kept) == ("alone", 0)


def test_the_states_of_neighbours_come_as_pages_and_singly_alike(opened: Any):
    store, session = opened(fixture="branches")
    rows = list(range(len(session)))
    apart = [store.bodies(session, [row])[0] for row in rows]

    assert store.bodies(session, rows) == apart
    assert store.bodies(session, rows[::-1]) == apart[::-1]
    for one, other in pairwise(rows):
        assert store.bodies(session, [other, one]) == [apart[other], apart[one]]
