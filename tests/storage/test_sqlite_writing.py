"""Rows that a fork adds to a database of others: all or none, and no other row is touched."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import database_of

from tt_debugger.core.fork.writes import FileWritten, Insert, NewRows, RowsWritten, Written
from tt_debugger.errors import (
    CannotReadError,
    CannotWriteError,
    TtdbgError,
    UnsupportedError,
    UsageError,
)
from tt_debugger.storage import sqlite_opening
from tt_debugger.storage.database_files import SUPER_JOURNAL
from tt_debugger.storage.writing import take_back, write

# Python warns of what another test may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

TABLES = """
create table thread (id text primary key, title text);
create table step (
    number integer primary key autoincrement, thread text references thread (id),
    name text, body blob, weight real, unique (thread, name)
);
create index by_name on step (name);
insert into thread values ('old', 'first'), ('other', null);
insert into step (thread, name, body, weight) values
    ('old', 'a', x'00ff', 1.5), ('old', 'b', null, -0.0), ('other', 'a', 'text', 2);
"""
LOGGED = "pragma journal_mode = wal;"
THREAD = Insert("thread", {"id": "new", "title": "forked"}, ("id",))
STEPS = (
    Insert("step", {"thread": "new", "name": "a", "body": b"\0\xff", "weight": 1}, ("thread",)),
    Insert("step", {"thread": "new", "name": "b", "body": None, "weight": 0.5}, ("thread",)),
)
INSERTS = (THREAD, *STEPS)


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where private copies are made: at the end of each test none is left."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture(params=["", LOGGED], ids=["journal", "log"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return database_of(tmp_path / "of others" / "state #1.db", request.param, TABLES)


def new(path: Path, *inserts: Insert, copy: Path | None = None) -> NewRows:
    return NewRows(str(path), inserts or INSERTS, str(copy) if copy else None)


def everything(path: Path) -> dict[str, list[Any]]:
    """Give all rows of all tables, with the types of their values, and the schema itself."""
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        names = [
            name.decode()
            for (name,) in database.execute(
                "select name from sqlite_master where type = 'table' and rootpage > 0"
            )
        ]
        found: dict[str, list[Any]] = {
            name: [
                tuple(map(repr, row))
                for row in database.execute(f'select * from "{name}" order by 1, 2')  # noqa: S608 - quoted
            ]
            for name in names
            if name != "sqlite_sequence"
        }
        found["sqlite_master"] = [
            tuple(map(repr, row))
            for row in database.execute(
                "select type, name, tbl_name, rootpage, sql from sqlite_master order by rowid"
            )
        ]
        assert database.execute("pragma integrity_check").fetchall() == [(b"ok",)]
    return found


def added(path: Path, before: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Give the rows that are new, once it is sure that all others are what they were."""
    after = everything(path)
    assert after.keys() == before.keys()
    for name, rows in before.items():
        assert [row for row in after[name] if row in rows] == rows
    return {
        name: [row for row in after[name] if row not in rows]
        for name, rows in before.items()
        if after[name] != rows
    }


def logged_and_read(written: Written) -> Any:
    """Give what the operation log gives back."""
    return msgspec.json.decode(msgspec.json.encode(written), type=Written)


def test_rows_are_added_and_all_others_stay_what_they_are(path: Path):
    before = everything(path)

    written = write(new(path))

    assert isinstance(written, RowsWritten)
    assert [(row.table, row.key) for row in written.rows] == [
        ("thread", {"id": "new"}),
        ("step", {"thread": "new"}),
        ("step", {"thread": "new"}),
    ]
    assert added(path, before) == {
        "thread": [("b'new'", "b'forked'")],
        "step": [
            ("4", "b'new'", "b'a'", "b'\\x00\\xff'", "1.0"),
            ("5", "b'new'", "b'b'", "None", "0.5"),
        ],
    }


def test_what_was_added_is_taken_back_and_nothing_else(path: Path):
    before = everything(path)
    written = write(new(path))

    take_back(logged_and_read(written))

    assert everything(path) == before
    with pytest.raises(UsageError, match="has changed since"):
        take_back(written)


def test_the_way_of_journalling_stays(path: Path):
    with closing(sqlite3.connect(path)) as database:
        before = database.execute("pragma journal_mode").fetchone()

    write(new(path))

    with closing(sqlite3.connect(path)) as database:
        assert database.execute("pragma journal_mode").fetchone() == before


def test_a_value_that_is_not_new_adds_nothing(path: Path):
    before = everything(path)

    with pytest.raises(UsageError, match="the table thread has some already"):
        write(new(path, *STEPS, Insert("thread", {"id": "old"}, ("id",))))

    assert everything(path) == before


def test_new_is_what_has_all_of_several_values_or_none(path: Path):
    name = Insert("step", {"thread": "old", "name": "c"}, ("thread", "name"))
    none = Insert("step", {"thread": None, "name": "a"}, ("thread", "name"))

    written = write(new(path, name, none))

    with pytest.raises(UsageError, match="by thread and name alike"):
        write(new(path, none))
    take_back(written)


def test_what_has_come_between_draft_and_write_is_no_hindrance(path: Path):
    with closing(sqlite3.connect(path)) as database:
        database.executescript("insert into step (thread, name) values ('other', 'z')")
    before = everything(path)

    write(new(path))

    assert list(added(path, before)) == ["thread", "step"]


def test_rows_that_are_told_from_others_in_two_ways_are_not_added(path: Path):
    before = everything(path)
    other = Insert("step", {"thread": "new", "name": "c"}, ("thread", "name"))

    with pytest.raises(CannotWriteError, match="does not give them back"):
        write(new(path, *STEPS, other))

    assert everything(path) == before


@pytest.mark.parametrize(
    "change",
    [
        "update step set weight = 2 where thread = 'new' and name = 'a'",
        "update step set body = cast(body as text) where thread = 'new' and name = 'a'",
        "delete from step where thread = 'new' and name = 'a'",
        "insert into step (thread, name) values ('new', 'more')",
        "update thread set title = null where id = 'new'",
        "alter table step rename to steps",
    ],
)
def test_what_has_changed_since_is_not_taken_back(path: Path, change: str):
    written = write(new(path))
    with closing(sqlite3.connect(path)) as database:
        database.executescript(change)
    before = everything(path)

    with pytest.raises(UsageError, match="has changed since"):
        take_back(written)

    assert everything(path) == before


def test_a_column_that_came_since_is_no_change(path: Path):
    before = everything(path)["step"]
    written = write(new(path))
    with closing(sqlite3.connect(path)) as database:
        database.executescript("alter table step add column later text; vacuum")

    take_back(written)

    assert everything(path)["step"] == [(*row, "None") for row in before]


@pytest.mark.parametrize("action", ["", "on delete cascade", "on delete set null"])
def test_rows_that_refer_to_what_was_added_hinder_that_it_is_taken_back(path: Path, action: str):
    written = write(new(path))
    with closing(sqlite3.connect(path)) as database:
        database.executescript(f"create table seen (at, thread references thread (id) {action})")
        database.executescript("insert into seen values (1, 'new')")
    before = everything(path)

    with pytest.raises(UsageError, match="refer"):
        take_back(written)

    assert everything(path) == before
    with closing(sqlite3.connect(path)) as database:
        database.executescript("delete from seen")
    take_back(written)


def test_bytes_and_large_numbers_tell_a_fork_from_others(tmp_path: Path):
    path = database_of(
        tmp_path / "b.db", "create table t (k, n, primary key (k, n)) without rowid"
    )
    before = everything(path)

    written = write(new(path, Insert("t", {"k": b"\xff\0", "n": 2**63 - 1}, ("k", "n"))))
    take_back(logged_and_read(written))

    assert everything(path) == before


TRIGGER = (
    "create trigger TR after insert on STEP begin delete from step where thread = 'old'; end;"
)
ONE = Insert("t", {"a": 1}, ("a",))


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "create table t (a); create trigger r after insert on T begin select 1; end",
            "trigger r",
        ),
        ("create table t (a); create trigger r before delete on t begin select 1; end", "trigger"),
        ("create view t as select 1 as a", "no real table t"),
        ("create virtual table t using fts5 (a)", "no real table t"),
        ("create table t (a check (fts3_tokenizer (a)))", "calls fts3_tokenizer"),
        ('create table t (a check ("Load_Extension" /* ( */ (a)))', "calls load_extension"),
        ("create table t (a, b default (load_extension('x')))", "calls load_extension"),
    ],
)
def test_a_table_that_would_run_more_than_an_insert_is_refused(
    tmp_path: Path, script: str, why: str
):
    path = database_of(tmp_path / "t.db", script)
    before = path.read_bytes()

    with pytest.raises(UnsupportedError, match=why):
        write(new(path, ONE))

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "script",
    [
        "create table t (a check (f(a)))",
        "create table t (a, b default (f(1)))",
        "create table t (a, b as (f(a)) stored)",
        "create table t (a); create index i on t (f(a))",
        "create table t (a); create index i on t (a) where f(a) > 0",
        "create table t (a collate c unique)",
    ],
)
def test_what_needs_a_function_of_its_own_program_is_refused(tmp_path: Path, script: str):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as database:
        database.create_function("f", 1, lambda a: a, deterministic=True)
        database.create_collation("c", lambda a, b: (a > b) - (a < b))
        database.executescript(script)
        database.executescript("insert into t (a) values (7)")
    before = path.read_bytes()

    with pytest.raises(UnsupportedError, match="only its own program has"):
        write(new(path, ONE))

    assert path.read_bytes() == before


def test_what_only_gives_a_value_may_be_called(tmp_path: Path):
    path = database_of(
        tmp_path / "t.db",
        "create table t (a check (length(a) < 9), b default (datetime('now')),"
        " load_extension varchar(20), c as (upper(a)));"
        "create index i on t (lower(a)) where a is not null",
    )

    written = write(new(path, ONE))
    take_back(written)

    assert everything(path)["t"] == []


@pytest.mark.parametrize("said", ["tbl_name = 'u'", "type = 'index'", "type = 'odd'"])
def test_a_trigger_that_is_hidden_from_a_look_at_the_schema_is_not_run(tmp_path: Path, said: str):
    path = database_of(
        tmp_path / "t.db",
        "create table t (a); create table u (a); insert into u values (1);"
        "create trigger r after insert on t begin delete from u; end;"
        "pragma writable_schema = on",
        f"update sqlite_master set {said} where type = 'trigger'",  # noqa: S608 - ours
    )
    before = path.read_bytes()

    with pytest.raises(CannotWriteError):
        write(new(path, ONE))

    assert path.read_bytes() == before


@pytest.mark.parametrize("way", ["replace", "ignore", "rollback"])
def test_no_row_gives_way_to_a_new_one_whatever_its_table_says(tmp_path: Path, way: str):
    path = database_of(
        tmp_path / "t.db",
        f"create table t (a, k unique on conflict {way})",
        "insert into t values (0, 'one')",
    )
    before = everything(path)

    with pytest.raises(UnsupportedError, match="UNIQUE"):
        write(new(path, ONE, Insert("t", {"a": 2, "k": "one"}, ("a",))))

    assert everything(path) == before


@pytest.mark.parametrize(
    ("insert", "error", "why"),
    [
        (Insert("note", {"a": 1}, ("a",)), UnsupportedError, "no real table note"),
        (Insert("thread", {"id": "x", "b": 1}, ("id",)), UsageError, "no column b"),
        (Insert("thread", {"id": "\ud800"}, ("id",)), UnsupportedError, "can keep"),
        (Insert("thread", {"id": 2**64}, ("id",)), UnsupportedError, "can keep"),
    ],
)
def test_what_does_not_fit_the_tables_is_said(
    path: Path, insert: Insert, error: type[TtdbgError], why: str
):
    before = everything(path)

    with pytest.raises(error, match=why):
        write(new(path, *INSERTS, insert))

    assert everything(path) == before


def test_a_database_that_is_busy_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_opening, "PATIENCE", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("begin immediate")
        with pytest.raises(CannotWriteError, match="is busy") as raised:
            write(new(path))
        database.execute("rollback")

    assert "--to FILE" in str(raised.value.hint)
    write(new(path))


def test_a_busy_database_is_waited_for(path: Path):
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.execute("begin immediate")
    database.execute("insert into thread values ('meanwhile', null)")
    later = threading.Timer(0.3, lambda: database.execute("commit"))
    later.start()

    write(new(path))

    later.join()
    database.close()
    assert len(everything(path)["thread"]) == 4


def test_writers_at_the_same_time_lose_nothing(path: Path):
    before = everything(path)
    stop = threading.Event()
    said: list[str] = []

    def writer() -> None:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as database:
            while not stop.is_set():
                name = f"w{len(said)}"
                database.execute("insert into step (thread, name) values ('other', ?)", (name,))
                said.append(name)
                time.sleep(0.001)

    other = threading.Thread(target=writer)
    other.start()
    try:
        while not said and other.is_alive():
            time.sleep(0.001)
        for number in range(20):
            thread = f"new {number}"
            write(
                new(
                    path,
                    *(
                        msgspec.structs.replace(each, values={**each.values, "thread": thread})
                        for each in STEPS
                    ),
                )
            )
    finally:
        stop.set()
        other.join()

    more = added(path, before)["step"]
    assert said
    assert sorted(row[2] for row in more if row[1] == "b'other'") == sorted(
        repr(name.encode()) for name in said
    )
    assert len([row for row in more if row[1] != "b'other'"]) == 40


def link(path: Path) -> Path:
    other = path.with_name("link.db")
    other.symlink_to(path)
    return other


def second_name(path: Path) -> Path:
    path.with_name("second.db").hardlink_to(path)
    return path


def linked_log(path: Path) -> Path:
    for side in ("-journal", "-wal"):
        path.with_name(path.name + side).unlink(missing_ok=True)
        path.with_name(path.name + side).symlink_to(path.with_name("victim"))
    return path


def several_databases(path: Path) -> Path:
    """Leave a journal that names a file, which SQLite would remove."""
    path.with_name("victim.txt").touch()
    name = str(path.with_name("victim.txt")).encode()
    end = len(name).to_bytes(4) + sum(name).to_bytes(4) + SUPER_JOURNAL
    path.with_name(path.name + "-journal").write_bytes(b"\0" * 512 + name + end)
    return path


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (link, "it is a link"),
        (second_name, "several names"),
        (linked_log, "is a link"),
        (several_databases, "spans several databases"),
        (lambda path: path.parent, "it is no file"),
        (lambda path: path.with_name("none"), "No such file"),
    ],
)
def test_a_place_that_is_not_the_file_alone_is_refused(
    path: Path, place: Callable[[Path], Path], why: str
):
    before = path.read_bytes()

    with pytest.raises(CannotWriteError, match=why):
        write(new(place(path)))

    assert path.read_bytes() == before
    assert not path.with_name("victim").exists()
    assert place is not several_databases or path.with_name("victim.txt").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be another")
@pytest.mark.parametrize("closed", ["file", "folder", "both"])
def test_what_may_not_be_written_to_is_said(closed: str):
    # A folder that others can reach, which those of a test cannot.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        folder = Path(name, "of others")
        path = database_of(folder / "state.db", TABLES)
        before = path.read_bytes()
        folder.chmod(0o755 if closed in ("folder", "both") else 0o777)
        path.chmod(0o644 if closed in ("file", "both") else 0o666)
        Path(name, "tmp").mkdir()
        Path(name, "tmp").chmod(0o777)

        said = said_by_another(new(path), Path(name, "tmp"))

        assert said.startswith(f"CannotWriteError: cannot write to {path}: ")
        assert "may not be written to" in said
        assert path.read_bytes() == before
        assert [each.name for each in folder.iterdir()] == ["state.db"]


def said_by_another(each: NewRows, folder: Path) -> str:
    """Give the error that somebody without rights gets."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            tempfile.tempdir = str(folder)
            os.setgid(65534)
            os.setuid(65534)
            try:
                write(each)
                said = "nothing"
            except Exception as error:  # noqa: BLE001 - it is what is told
                said = f"{type(error).__name__}: {error}"
            os.write(writing, said.encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as told:
        return told.read()


def test_a_damaged_database_is_not_written_to(path: Path):
    write(new(path))
    data = bytearray(path.read_bytes())
    data[4096:4200] = b"\xff" * 104
    path.write_bytes(data)

    with pytest.raises(CannotWriteError, match="damaged"):
        write(new(path, Insert("thread", {"id": "newer"}, ("id",))))
    with pytest.raises(CannotWriteError, match="damaged"):
        write(new(path, copy=path.with_name("copy.db")))

    assert path.read_bytes() == data
    assert not path.with_name("copy.db").exists()


def test_what_is_no_database_is_not_written_to(tmp_path: Path):
    path = tmp_path / "text"
    path.write_text("no database")

    with pytest.raises(CannotWriteError, match="no SQLite database"):
        write(new(path))
    with pytest.raises(CannotReadError, match="no SQLite database"):
        write(new(path, copy=tmp_path / "copy"))

    assert path.read_text() == "no database"


# A copy.


def test_a_copy_has_the_rows_and_the_original_has_not(path: Path):
    before = {each: each.read_bytes() for each in path.parent.iterdir()}
    copy = path.with_name("copy.db")

    written = write(new(path, copy=copy))

    assert isinstance(written, FileWritten)
    assert {each: each.read_bytes() for each in path.parent.iterdir() if each != copy} == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert written.size == copy.stat().st_size
    assert list(added(copy, everything(path))) == ["thread", "step"]
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("pragma journal_mode").fetchone() == ("delete",)


def test_a_copy_has_what_is_only_in_the_log_yet(tmp_path: Path):
    path = database_of(tmp_path / "live.db", LOGGED, TABLES)
    with closing(sqlite3.connect(path)) as database:
        database.executescript("insert into thread values ('late', 'in the log')")
        assert Path(f"{path}-wal").stat().st_size > 0

        write(new(path, copy=tmp_path / "copy.db"))

    assert [row[0] for row in everything(tmp_path / "copy.db")["thread"]] == [
        "b'late'",
        "b'new'",
        "b'old'",
        "b'other'",
    ]


def test_in_a_copy_no_trigger_is_fired_and_each_is_there_still(path: Path):
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            f"{TRIGGER} create trigger [second one] before insert ON step WHEN new.name != 'x'"
            " -- a word\n begin select raise(abort, 'no; not this'); END;"
            "create trigger unlike after insert on thread begin select f(1); end;"
        )
    before = everything(path)
    with pytest.raises(
        UnsupportedError, match="the table thread has the trigger unlike"
    ) as raised:
        write(new(path))

    write(new(path, copy=path.with_name("copy.db")))

    assert "in which no trigger is fired" in str(raised.value.hint)
    assert everything(path) == before
    assert list(added(path.with_name("copy.db"), before)) == ["thread", "step"]


def test_a_copy_takes_no_name_that_is_there(path: Path):
    copy = path.with_name("copy.db")
    for name in ("copy.db", "copy.db-journal", "copy.db-wal"):
        path.with_name(name).write_text("mine")
        with pytest.raises(UsageError, match=f"{name} is there already"):
            write(new(path, copy=copy))
        assert path.with_name(name).read_text() == "mine"
        path.with_name(name).unlink()
    copy.symlink_to(path.with_name("nowhere"))

    with pytest.raises(UsageError, match="is there already"):
        write(new(path, copy=copy))


def test_a_copy_is_taken_back_while_it_is_what_was_written(path: Path):
    copy = path.with_name("copy.db")
    written = write(new(path, copy=copy))
    take_back(written)
    assert not copy.exists()

    written = write(new(path, copy=copy))
    with closing(sqlite3.connect(copy)) as database:
        database.executescript("insert into thread values ('mine', null)")

    with pytest.raises(UsageError):
        take_back(written)
    assert copy.exists()


# What fails, and who is killed.


class Failing(sqlite3.Connection):
    """A connection of which the n-th statement fails, before it is run or after."""

    left = 0
    is_after = False

    def execute(self, *given: Any) -> sqlite3.Cursor:
        Failing.left -= 1
        if Failing.left != 0:
            return super().execute(*given)
        if Failing.is_after and not given[0].startswith("COMMIT"):
            super().execute(*given)
        raise sqlite3.OperationalError("disk I/O error")


def opened_by(factory: type[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is written to be opened by a connection of some kind."""

    def opened(place: str | Path, *given: Any, **more: Any) -> sqlite3.Connection:
        is_for_writing = str(place).endswith("mode=rw") and more.get("check_same_thread", True)
        return connect(place, *given, **more, **({"factory": factory} if is_for_writing else {}))

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", opened)


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("way", ["insert", "copy", "delete"])
def test_whichever_statement_fails_nothing_is_left(
    path: Path, monkeypatch: pytest.MonkeyPatch, way: str, *, is_after: bool
):
    written = write(new(path)) if way == "delete" else None
    before = everything(path)
    names = {each.name for each in path.parent.iterdir()}
    copy = path.with_name("copy.db") if way == "copy" else None
    count = 0
    said: set[str] = set()
    with monkeypatch.context() as patch:
        opened_by(Failing, patch)
        Failing.is_after = is_after
        while True:
            count += 1
            Failing.left = count
            try:
                if written is None:
                    write(new(path, copy=copy))
                else:
                    take_back(written)
            except CannotWriteError as error:
                said.add(error.message)
            else:
                break
            Failing.left = 0
            assert everything(path) == before
            assert {each.name for each in path.parent.iterdir()} == names

    assert count > 15
    assert said == {f"cannot write to {path}: disk I/O error"}
    assert everything(path if copy is None else copy) != before


def test_a_disk_that_is_full_at_any_byte_leaves_what_was(tmp_path: Path):
    path = database_of(tmp_path / "full.db", TABLES)
    large = msgspec.structs.replace(STEPS[0], values={**STEPS[0].values, "body": b"x" * 50_000})
    before = everything(path)
    size = path.stat().st_size
    refused = 0
    for limit in range(size // 8, size + 60_000, 7_919):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                write(new(path, THREAD, large))
            except CannotWriteError:
                os._exit(3)
            except BaseException:  # noqa: BLE001 - it is told by another number
                os._exit(4)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            break
        assert code == 3
        refused += 1
        assert everything(path) == before

    assert refused > 5
    assert list(added(path, before)) == ["thread", "step"]


class Dying(sqlite3.Connection):
    """A connection of which the n-th statement is not run: the process is killed before it."""

    left = 0

    def execute(self, *given: Any) -> sqlite3.Cursor:
        Dying.left -= 1
        if Dying.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*given)


def test_whoever_is_killed_meanwhile_leaves_all_rows_or_none(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows = [
        Insert("step", {"thread": "new", "name": f"{n}", "weight": 1.0}, ("thread",))
        for n in range(400)
    ]
    opened_by(Dying, monkeypatch)
    begin, Dying.left = time.monotonic(), 0
    written = write(new(path, *rows))
    to_write = -Dying.left
    take_back(written)
    to_end, lasts = -Dying.left, time.monotonic() - begin
    before = everything(path)
    chance = random.Random(8)  # noqa: S311 - the same moments each time
    # The last statement of each is its commit. One more than there are: it comes to its end.
    statements = [1, to_write, to_write + 1, to_end, to_end + 1]
    statements += chance.sample(range(1, to_end), 20)

    def left_by(statement: int, after: float | None = None) -> tuple[int, bytes]:
        said = said_until_killed(new(path, *rows), statement, after)
        # Whoever opens it next finds what was, or all that is new.
        count = len(added(path, before).get("step", ()))
        with closing(sqlite3.connect(path)) as database:
            database.executescript("delete from step where thread = 'new'")
        return count, said

    by_statement = {each: left_by(each) for each in statements}
    # Within a statement too; which moments these are is up to the machine.
    at_any_time = {left_by(0, chance.random() * lasts) for _ in range(35)}

    assert by_statement == {
        each: (0, b"") if each <= to_write else (400, b"+") if each <= to_end else (0, b"+-")
        for each in statements
    }
    # It may be killed between what it does and what it says.
    assert at_any_time <= {(0, b""), (400, b""), (400, b"+"), (0, b"+"), (0, b"+-")}


def said_until_killed(each: NewRows, statement: int, after: float | None) -> bytes:
    """Write in another process, and take back; give how far it came until it was killed.

    That is before a statement by its number, or after some seconds.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            Dying.left = statement
            written = write(each)
            os.write(writing, b"+")
            take_back(written)
            os.write(writing, b"-")
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        if after is not None:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
        said = told.read()
    os.waitpid(child, 0)
    return said
