"""Maps: a TOML file that says which table and columns hold checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import database_of, replay_of

from tt_debugger.core.model import Kind
from tt_debugger.errors import CannotReadError, UsageError
from tt_debugger.formats import recognise
from tt_debugger.formats.shared.tables.maps import map_of
from tt_debugger.formats.sqlite_tables import SqliteTables
from tt_debugger.storage.map_files import LARGEST, MAP
from tt_debugger.storage.probe import probe

BRAIN = """create table brain (k integer primary key, who, prev, n, mind, at, v, how);
insert into brain values (1, 'bob', null, 10, '{"n":1}', '2026-01-01', 1, 'look'),
    (2, 'bob', 1, 20, '{"n":2}', '2026-01-02', 1, null),
    (3, 'bob', 1, 30, '{"m":3}', '2026-01-03', 2, 'act'), (4, 'eve', null, 1, '{}', 0, 1, null)"""
WHOLE = {
    "table": "brain",
    "session": "who",
    "id": "k",
    "parent": "prev",
    "order": "n",
    "state": "mind",
    "time": "at",
    "schema_version": "v",
    "tool": "how",
}


def toml(said: dict[str, str]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return database_of(tmp_path / "s.db", BRAIN)


@pytest.fixture
def opened(brain: Path) -> Any:
    """Open a database with a map beside it."""

    def open_mapped(said: dict[str, str] | str) -> SqliteTables:
        beside = brain.with_name("s.db.ttdbg.toml")
        beside.write_text(said if isinstance(said, str) else toml(said))
        return SqliteTables.open(str(brain))

    return open_mapped


def test_without_a_map_no_format_reads_such_a_table(brain: Path):
    with pytest.raises(CannotReadError, match="whose tables no format reads"):
        recognise(probe(str(brain)))


def test_a_map_beside_a_database_says_what_each_column_holds(opened: Any, brain: Path):
    store = opened(WHOLE)
    store_type, match = recognise(probe(str(brain)))
    session = store.load(store.sessions()[-1]).session

    assert (store_type, match.score) == (SqliteTables, 99)
    assert store.sessions() == ["eve", "bob"]
    drawn = [(each.id, each.parent, each.head.step, each.head.kind) for each in session]
    assert drawn == [
        ("1", None, 10, Kind.SNAPSHOT),
        ("2", "1", 20, Kind.SNAPSHOT),
        ("3", "1", 30, Kind.SNAPSHOT),
    ]
    assert session.heads.time(2) == 1767398400.0
    assert replay_of(store, session).state(2) == {"m": 3}
    assert [each.message for each in session.findings] == [
        "schema_version 1 -> 2: added /m; gone /n"
    ]
    store.close()


def test_a_map_may_leave_out_all_but_table_and_state(opened: Any):
    store = opened({"table": "brain", "state": "mind"})
    session = store.load(store.sessions()[-1]).session

    assert store.sessions() == ["brain"]
    assert list(session.ids) == ["1", "2", "3", "4"]
    assert [replay_of(store, session).state(row) for row in (0, 3)] == [{"n": 1}, {}]
    store.close()


def test_a_map_may_say_that_rows_are_turns(opened: Any):
    store = opened({**WHOLE, "form": "turns"})
    session = store.load(store.sessions()[-1]).session

    assert [each.head.name for each in session] == ["look", "turn", "act"]
    assert replay_of(store, session).state(2)["turn"] == {"m": 3}
    store.close()


def test_a_map_that_is_named_counts_before_one_beside(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    named = tmp_path / "named.toml"
    named.write_text(toml({"table": "brain", "state": "mind", "session": "how"}))
    monkeypatch.setenv(MAP, str(named))
    store = opened(WHOLE)

    assert set(store.sessions()) == {"look", "act", "NULL"}
    store.close()


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("tabel = 'brain'", "unknown key 'tabel'", "a map has the keys table, session"),
        ("", "it says nothing", "a map has the keys"),
        ("table = 1", "its key 'table' is no text", "a map has the keys"),
        ("table = ''", "its key 'table' is no text", "a map has the keys"),
        ("table = ", "it is no TOML", "a map has the keys"),
        ({"table": "brian"}, "there is no table 'brian'", "there are the tables brain"),
        ({"table": "brain"}, "it has no key 'state'", "there are the columns k, who, prev"),
        (
            {"table": "brain", "state": "mind", "session": "whom"},
            "the table 'brain' has no column 'whom' for 'session'",
            "there are the columns k, who, prev, n, mind, at, v, how",
        ),
        (
            {"table": "brain", "state": "mind", "form": "x"},
            "its key 'form' is none of states, history, turns",
            "a map has the keys",
        ),
        (
            {"table": "brain", "state": "mind", "form": "history"},
            "it has no key 'session'",
            "there are the columns k, who, prev, n, mind, at, v, how",
        ),
    ],
)
def test_a_map_that_cannot_be_used_is_refused_with_what_there_is(
    opened: Any, said: Any, message: str, hint: str
):
    with pytest.raises(UsageError) as error:
        opened(said)

    assert message in error.value.message
    assert (error.value.hint or "").startswith(hint)


def test_a_map_that_is_no_small_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.toml"
    path.write_bytes(b"#" * (LARGEST + 1))
    monkeypatch.setenv(MAP, str(path))
    with pytest.raises(UsageError, match="larger than 64 KiB"):
        map_of("s.db")
    monkeypatch.setenv(MAP, str(tmp_path))
    with pytest.raises(CannotReadError):
        map_of("s.db")


def test_a_map_of_keys_alone_says_nothing_of_tables(opened: Any, brain: Path):
    with pytest.raises(CannotReadError, match="no table holds checkpoints"):
        opened({"prefix": "mind:"})

    assert SqliteTables.sniff(probe(str(brain))) is None
