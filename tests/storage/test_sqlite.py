"""Databases of others: read from a copy, believed in nothing, whatever they hold."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from builders import database_of

from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise
from tt_debugger.storage import database_files, sqlite
from tt_debugger.storage.probe import DatabaseProbe, has_columns, probe
from tt_debugger.storage.sqlite import Database, look_at, tables_of
from tt_debugger.storage.tables import Table

NOTES = """
create table note (id text primary key, at integer, said text, data blob);
insert into note values ('b', 2, 'second', x'00ff'), ('a', 1, 'first', null), ('c', 2, null, 1.5);
"""


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where private copies are made: at the end of each test none is left."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any database is large enough to be read in its place."""
    monkeypatch.setattr(sqlite, "LARGE", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "of others" / "state #1.db"


def made(path: Path, script: str, *more: str) -> str:
    return str(database_of(path, script, *more))


def everything_beside(path: Path) -> dict[str, tuple[bytes, int]]:
    return {
        each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in path.parent.iterdir()
    }


def test_tables_and_rows_are_given_as_they_are_stored(path: Path):
    with Database(made(path, NOTES)) as database:
        assert database.tables == {
            "note": Table("note", ("id", "at", "said", "data"), ("id",), "rowid")
        }
        rows = list(database.rows("note", ["id", "said", "data", "later"], order=["at", "id"]))
        seconds = list(database.rows("note", ["id"], order=["id"], where={"at": 2}))
        none = list(database.rows("note", ["id"], where={"said": None}))

    assert rows == [
        ("a", "first", None, None),
        ("b", "second", b"\0\xff", None),
        ("c", None, 1.5, None),
    ]
    assert (seconds, none, database.damage) == ([("b",), ("c",)], [("c",)], ())


PAGED = """
CREATE TABLE step (thread TEXT, n INTEGER, said TEXT, PRIMARY KEY (thread, n));
CREATE TABLE bare (n INTEGER PRIMARY KEY, said TEXT) WITHOUT ROWID;
CREATE TABLE taken (rowid TEXT, said TEXT);
INSERT INTO step VALUES ('b', 1, 'b1'), ('a', 2, 'a2'), ('a', 1, 'a1'), ('a', 10, 'a10');
INSERT INTO bare VALUES (2, 'two'), (1, 'one'), (3, 'three');
INSERT INTO taken VALUES ('z', 'first'), ('a', 'second');
"""


def test_a_page_begins_behind_the_key_that_is_given(path: Path):
    with Database(made(path, PAGED)) as database:
        page = partial(database.rows, "step", ["said"], order=["thread", "n"], most=2)

        assert list(page()) == [("a1",), ("a2",)]
        assert list(page(after=["a", 2])) == [("a10",), ("b1",)]
        assert list(page(after=["b", 1], descending=True)) == [("a10",), ("a2",)]
        assert list(page(after=["a", 1], where={"thread": "a"})) == [("a2",), ("a10",)]
        assert list(database.rows("step", ["said"], order=["no", "n"], after=[1, 2])) == []


def test_the_rows_that_were_stored_last_come_first(path: Path):
    with Database(made(path, PAGED)) as database:
        assert list(database.newest("step", ["said"], 2)) == [("a10",), ("a1",)]
        assert list(database.newest("bare", ["said"], 2)) == [("three",), ("two",)]
        assert list(database.newest("taken", ["said", "no"], 5)) == [
            ("second", None),
            ("first", None),
        ]


def test_what_a_database_has_no_column_for_has_no_value(path: Path):
    with Database(made(path, NOTES)) as database:
        assert list(database.rows("note", ["id"], where={"owner": "me"})) == []
        assert len(list(database.rows("note", ["id"], where={"owner": None}))) == 3
        assert len(list(database.rows("note", ["id"], order=["owner"]))) == 3
        with pytest.raises(KeyError):
            database.rows("letter", ["id"])


def test_reading_changes_no_byte_and_leaves_nothing_behind(path: Path):
    location = made(path, "pragma journal_mode = wal;" + NOTES)
    before = everything_beside(path)

    with Database(location) as database:
        list(database.rows("note", ["id"]))
    tables_of(location)

    assert everything_beside(path) == before


def test_a_database_in_a_folder_that_nobody_may_write_to_is_read(path: Path):
    location = made(path, "pragma journal_mode = wal;" + NOTES)
    path.parent.chmod(0o500)
    try:
        with Database(location) as database:
            assert len(list(database.rows("note", ["id"]))) == 3
        assert list(tables_of(location)) == ["note"]
    finally:
        path.parent.chmod(0o700)


def test_what_stands_in_the_log_alone_is_read_and_the_log_stays_as_it_is(path: Path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as writer:
        writer.executescript("pragma journal_mode = wal;" + NOTES)
        before = everything_beside(path)
        assert before[f"{path.name}-wal"][0]

        with Database(str(path)) as database:
            assert len(list(database.rows("note", ["id"]))) == 3
        assert tables_of(str(path)) == {"note": ("id", "at", "said", "data")}

        assert everything_beside(path) == before


def let_rest(path: Path) -> None:
    """Let the last change lie back so far that the next one shows."""
    for each in path.parent.iterdir():
        os.utime(each, ns=(10**18, 10**18))


@pytest.mark.usefixtures("large")
def test_a_large_database_at_rest_is_read_in_its_place_and_stays_as_it_is(
    path: Path, copies: Path
):
    location = made(path, "pragma journal_mode = wal;" + NOTES)
    let_rest(path)
    before = everything_beside(path)

    with Database(location) as database:
        assert len(list(database.rows("note", ["id"]))) == 3
        assert list(copies.iterdir()) == []
        with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
            database._connection.execute("delete from note")

    assert everything_beside(path) == before


@pytest.mark.usefixtures("large")
def test_a_large_database_that_was_just_written_to_is_copied(path: Path, copies: Path):
    with Database(made(path, NOTES)):
        assert len(list(copies.iterdir())) == 1


@pytest.mark.usefixtures("large")
def test_what_changes_in_its_place_ends_the_reading_and_is_then_read_anew(path: Path):
    location = made(path, NOTES)
    let_rest(path)
    with Database(location) as database:
        seen = database.seen
        with closing(sqlite3.connect(location)) as writer:
            writer.executemany(
                "insert into note (id) values (?)", ((f"n{n}",) for n in range(999))
            )
            writer.commit()
            let_rest(path)
            rows = database.rows("note", ["id"])
            next(rows)
            writer.execute("delete from note where id > 'n499'")
            writer.commit()

        with pytest.raises(CannotReadError, match="written to meanwhile"):
            list(rows)
        again = list(database.rows("note", ["id"], order=["id"]))

    assert (again[:3], again[-1], database.seen) == ([("a",), ("b",), ("c",)], ("n499",), seen)


WRITER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("pragma wal_autocheckpoint = 0")
for n, _ in enumerate(sys.stdin):
    database.execute("insert into note (id) values (?)", (f"w{n}",))
    print(n, flush=True)
"""


@pytest.mark.usefixtures("large")
def test_a_large_live_database_is_read_beside_its_writer_and_stays_as_it_is(
    path: Path, copies: Path
):
    location = made(path, "pragma journal_mode = wal;" + NOTES)
    with subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-c", WRITER, location],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdin
        assert writer.stdout

        def write() -> dict[str, tuple[bytes, int]]:
            print(file=writer.stdin, flush=True)
            writer.stdout.readline()
            return everything_beside(path)

        before = write()
        assert before[f"{path.name}-wal"][0]
        with Database(location) as database:
            assert len(list(database.rows("note", ["id"]))) == 4
            assert list(copies.iterdir()) == []
            assert everything_beside(path) == before

            before = write()
            assert len(list(database.rows("note", ["id"]))) == 5
            assert everything_beside(path) == before
            with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                database._connection.execute("delete from note")
        assert everything_beside(path) == before
        writer.kill()

    # What it leaves behind when it dies is no live database, but reads the same.
    assert f"{path.name}-shm" in before
    with Database(location) as database:
        assert len(list(database.rows("note", ["id"]))) == 5
    assert everything_beside(path) == before


@pytest.mark.usefixtures("large")
def test_a_large_database_whose_transaction_did_not_end_is_copied(path: Path, copies: Path):
    location = made(path, NOTES)
    subprocess.run([sys.executable, "-c", CRASH, location], check=True)  # noqa: S603 - our own
    let_rest(path)
    before = everything_beside(path)

    with Database(location) as database:
        assert len(list(copies.iterdir())) == 1
        assert len(list(database.rows("note", ["id"]))) == 3

    assert everything_beside(path) == before


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("side", ["-wal", "-shm"])
def test_a_link_in_the_place_of_a_log_is_not_followed_in_place(
    path: Path, side: str, copies: Path
):
    location = made(path, NOTES)
    victim = path.with_name("victim")
    victim.write_bytes(b"precious" * 9000)
    for each in ("-wal", "-shm"):
        Path(f"{location}{each}").write_bytes(b"x" * 40000)
    Path(f"{location}{side}").unlink()
    Path(f"{location}{side}").symlink_to(victim)
    before = everything_beside(path)

    with Database(location) as database:
        assert len(list(copies.iterdir())) == 1
        assert len(list(database.rows("note", ["id"]))) == 3

    assert everything_beside(path) == before


def test_tables_are_told_as_they_are_even_where_they_change_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    location = made(path, NOTES)
    look = sqlite._tables_in_place

    def look_and_write(location: str):
        found = look(location)
        with closing(sqlite3.connect(location)) as writer:
            writer.execute("create table later (id text)")
        return found

    monkeypatch.setattr(sqlite, "_tables_in_place", look_and_write)
    assert list(tables_of(location)) == ["note", "later"]


CRASH = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("pragma cache_size = 1")
database.execute("pragma synchronous = off")
database.execute("begin")
database.execute("update note set said = 'never'")
database.executemany("insert into note (id, said) values (?, ?)",
    ((f"n{n}", "x" * 500) for n in range(500)))
os._exit(0)
"""


def test_what_a_crash_left_half_done_is_not_shown(path: Path):
    location = made(path, NOTES)
    subprocess.run([sys.executable, "-c", CRASH, location], check=True)  # noqa: S603 - our own
    before = everything_beside(path)
    assert before[f"{path.name}-journal"][0]

    with Database(location) as database:
        said = list(database.rows("note", ["said"], order=["id"]))

    assert said == [("first",), ("second",), (None,)]
    assert everything_beside(path) == before


def test_a_journal_that_names_another_file_does_not_have_it_removed(path: Path, tmp_path: Path):
    location = made(path, NOTES)
    subprocess.run([sys.executable, "-c", CRASH, location], check=True)  # noqa: S603 - our own
    victim = tmp_path / "precious"
    victim.write_bytes(b"still needed")
    name = str(victim).encode()
    with Path(f"{location}-journal").open("ab") as journal:
        journal.write(b"\0\0\0\1" + name + len(name).to_bytes(4) + sum(name).to_bytes(4))
        journal.write(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")

    with Database(location) as database:
        told = database.damage

    assert victim.exists()
    assert "its -journal spans several databases and is not applied" in told


HOSTILE = {
    "a view in the place of a table": """
        create view note as with recursive n(x) as (select 1 union all select x + 1 from n)
            select x as id, x as at, x as said from n;
        create table other (a);
    """,
    "a virtual table": "create virtual table note using fts5(said);",
    "triggers": """
        create table note (id text);
        create trigger t after insert on note begin delete from note; end;
        create trigger u after update on note begin delete from note; end;
    """,
    "generated columns": """
        create table note (id text, said text,
            more as (printf('%.*c', 40000000, 'x')) virtual, kept as (id || 'x') stored);
        insert into note (id, said) values ('a', 'b');
    """,
    "names that are statements": """
        create table "note"";drop table x;--" ("id"") from x;--" text);
        insert into "note"";drop table x;--" values ('a');
    """,
    "an index on an expression": NOTES + "create index i on note (lower(said) || upper(said));",
    "a check that asks for much": "create table note (id text check (length(zeroblob(9e8)) > 1));",
}


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_nothing_but_real_tables_is_read_and_nothing_of_a_schema_is_run(path: Path, script: str):
    try:
        location = made(path, script)
    except sqlite3.OperationalError as error:
        pytest.skip(f"this SQLite has no such thing: {error}")
    begin = time.process_time()

    with Database(location) as database:
        found = {
            name: list(database.rows(name, table.columns))
            for name, table in database.tables.items()
        }

    assert time.process_time() - begin < 5
    assert tables_of(location) == {name: t.columns for name, t in database.tables.items()}
    match script:
        case _ if "create view" in script:
            assert found == {"other": []}
        case _ if "virtual table" in script:
            assert "note" not in found
        case _ if "printf" in script:
            assert found == {"note": [("a", "b")]}
        case _ if "drop table" in script:
            assert found == {'note";drop table x;--': [("a",)]}
        case _:
            assert list(found) == ["note"]


def test_a_copy_allows_nothing_but_to_read_its_tables(path: Path):
    with Database(made(path, NOTES)) as database:
        for statement in (
            "insert into note (id) values ('x')",
            "delete from note",
            "select load_extension('x')",
            "select randomblob(9)",
            "select * from sqlite_master",
            "pragma query_only = off",
            "attach 'other.db' as other",
            "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n",
            "create table t (a)",
            "vacuum into 'elsewhere.db'",
        ):
            with pytest.raises(sqlite3.DatabaseError):
                database._connection.execute(statement).fetchall()


def test_a_look_that_takes_too_long_is_ended(path: Path):
    location = made(path, "create table note (id text)")
    with closing(sqlite3.connect(location)) as writer:
        writer.executemany("insert into note values (?)", ((f"{n}",) for n in range(300_000)))
        writer.commit()

    with Database(location) as database:
        database._patience = -1.0
        with pytest.raises(CannotReadError, match="takes too long"):
            list(database.rows("note", ["id"], order=["id"]))


def test_long_values_among_short_ones_are_given_each_once(path: Path):
    location = made(path, NOTES, "delete from note")
    with closing(sqlite3.connect(path)) as writer:
        rows = ((f"n{n:04}", "x" * (400_000 if n in {300, 301, 999} else 9)) for n in range(1000))
        writer.executemany("insert into note (id, said) values (?, ?)", rows)
        writer.commit()

    with Database(location) as database:
        for _ in range(2):
            given = list(database.rows("note", ["id", "said"], order=["id"]))
            assert [one for one, _ in given] == [f"n{n:04}" for n in range(1000)]
            assert sum(len(said) for _, said in given) == 3 * 400_000 + 997 * 9


def test_a_value_that_is_too_long_is_told(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite, "LONGEST", 100_000)
    location = made(path, NOTES, "insert into note values ('d', 4, zeroblob(200000), null)")

    with Database(location) as database, pytest.raises(CannotReadError, match="too big"):
        list(database.rows("note", ["id", "said"]))


def test_a_text_that_is_no_utf_8_is_replaced_and_counted(path: Path):
    location = made(path, NOTES, "insert into note values ('d', 4, cast(x'68ff69' as text), '')")

    with Database(location) as database:
        rows = list(database.rows("note", ["said"], where={"id": "d"}))

    assert (rows, database.bad_texts) == ([("h\ufffdi",)], 1)


def test_rows_before_and_behind_a_text_that_is_no_utf_8_are_given_once(path: Path):
    location = made(path, NOTES, "delete from note")
    with closing(sqlite3.connect(path)) as writer:
        rows = ((f"n{n:04}", b"\xff" if n in {700, 900} else b"ok") for n in range(1000))
        writer.executemany("insert into note (id, said) values (?, cast(? as text))", rows)
        writer.commit()

    with Database(location) as database:
        for _ in range(2):
            given = list(database.rows("note", ["id", "said"], order=["id"]))
            assert [one for one, _ in given] == [f"n{n:04}" for n in range(1000)]
            assert [said for _, said in given].count("\ufffd") == 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no SQLite database"),
        (b"plain text", "no SQLite database"),
        (b"SQLite format 3\0", "no SQLite database, or an encrypted one"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "damaged|no SQLite database"),
    ],
)
def test_what_is_no_database_is_refused(path: Path, content: bytes, why: str):
    path.parent.mkdir()
    path.write_bytes(content)

    with pytest.raises(CannotReadError, match=why):
        Database(str(path))


def test_a_database_that_is_not_there_is_refused(path: Path):
    with pytest.raises(CannotReadError, match="there is no such file"):
        Database(str(path))


def test_a_database_that_is_too_large_to_be_copied_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(database_files, "LARGEST", 1000)

    with pytest.raises(CannotReadError, match="larger than"):
        Database(made(path, NOTES))


def test_a_database_that_is_always_written_to_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    location = made(path, NOTES)
    copy = database_files._copy

    def copy_and_write(*arguments):
        copy(*arguments)
        os.utime(path, ns=(time.time_ns(), time.time_ns()))

    monkeypatch.setattr(database_files, "_copy", copy_and_write)
    with pytest.raises(CannotReadError, match="written to all the time"):
        Database(location)


def test_a_pipe_in_the_place_of_a_log_is_not_waited_for(path: Path):
    location = made(path, NOTES)
    os.mkfifo(f"{location}-wal")

    with Database(location) as database:
        assert len(list(database.rows("note", ["id"]))) == 3
        assert "a named pipe" in database.damage[0]


def test_whoever_writes_to_a_database_changes_how_it_looks(path: Path):
    location = made(path, "pragma journal_mode = wal;" + NOTES)
    looks = [look_at(location)]
    with Database(location) as database:
        assert database.seen == looks[0]
    with closing(sqlite3.connect(location)) as writer:
        writer.execute("delete from note where id = 'a'")
        writer.commit()
        looks.append(look_at(location))
        with Database(location) as database:
            assert len(list(database.rows("note", ["id"]))) == 2
    looks.append(look_at(location))
    looks.append(look_at(location))

    assert looks[0] != looks[1] != looks[2] == looks[3]


def test_a_database_that_is_piped_in_is_read(path: Path):
    with Path(made(path, NOTES)).open("rb") as piped:
        ran = subprocess.run(  # noqa: S603 - our own
            [sys.executable, "-c", PIPED], stdin=piped, capture_output=True, text=True, check=True
        )

    assert ran.stdout == "['note'] ['note'] 3\n"


PIPED = """
from tt_debugger.storage.sqlite import Database, tables_of
with Database("-") as database:
    print(list(tables_of("-")), list(database.tables), len(list(database.rows("note", ["id"]))))
"""


def test_flipped_bytes_are_refused_or_told_and_never_more(path: Path):
    made(path, NOTES)
    with closing(sqlite3.connect(path)) as writer:
        writer.executemany(
            "insert into note values (?, ?, ?, ?)",
            ((f"n{n}", n, "x" * (n % 700), b"y" * (n % 90)) for n in range(400)),
        )
        writer.commit()
    sound, chance = path.read_bytes(), random.Random(7)  # noqa: S311 - a fixed sequence
    ends: set[str] = set()
    for _ in range(150):
        data = bytearray(sound)
        for _ in range(chance.choice((1, 8, 64))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            with Database(str(path)) as database:
                ends.add("damaged" if database.damage else "sound")
                for name, table in database.tables.items():
                    list(database.rows(name, table.columns, order=table.key))
        except CannotReadError:
            ends.add("refused")

    assert ends == {"damaged", "sound", "refused"}


def test_pages_that_repeat_for_ever_come_to_an_end(path: Path):
    location = made(path, "pragma page_size = 512; create table note (id text)")
    with closing(sqlite3.connect(path)) as writer:
        writer.executemany("insert into note values (?)", ((f"{n:0200}",) for n in range(400)))
        writer.commit()
        (root,) = writer.execute("select rootpage from sqlite_master").fetchone()
    data = bytearray(path.read_bytes())
    begin = (root - 1) * 512
    assert data[begin] == 5
    # Each of its cells leads back to it.
    for cell in range(int.from_bytes(data[begin + 3 : begin + 5])):
        at = begin + int.from_bytes(data[begin + 12 + 2 * cell : begin + 14 + 2 * cell])
        data[at : at + 4] = root.to_bytes(4)
    path.write_bytes(data)

    with Database(location) as database:
        assert database.damage
        with pytest.raises(CannotReadError, match=r"malformed|more than"):
            list(database.rows("note", ["id"]))


def test_long_values_that_share_their_bytes_are_refused(path: Path):
    """Each of many rows claims a megabyte of pages that go in a circle."""
    location = made(path, "pragma page_size = 4096; create table note (data blob)")
    size, rows = 16_400, 64
    with closing(sqlite3.connect(path)) as writer:
        writer.executemany("insert into note values (zeroblob(?))", [(size,)] * rows)
        writer.commit()
    data = bytearray(path.read_bytes())
    longer = 4092 * 250
    before = _varint(size + 4), _varint(12 + 2 * size)
    after = _varint(size + 4 + longer), _varint(12 + 2 * (size + longer))
    begin = 0
    for _ in range(rows):
        begin = data.index(before[0], begin)
        data[begin : begin + 3] = after[0]
        place = data.index(before[1], begin)
        data[place : place + 3] = after[1]
        begin = place
    for page in range(2, len(data) // 4096):
        # The last page of each value has none behind it: there it begins anew.
        if data[page * 4096 : page * 4096 + 4] == b"\0\0\0\0":
            data[page * 4096 : page * 4096 + 4] = (page + 1).to_bytes(4)
    path.write_bytes(data)

    with Database(location) as database:
        database._has_long = True
        database._limit_length()
        (data,) = database._connection.execute("select data from note limit 1").fetchone()
        assert len(data) == size + longer
        with pytest.raises(CannotReadError, match="more than it has bytes"):
            list(database.rows("note", ["data"]))


def _varint(number: int) -> bytes:
    parts = [number & 0x7F]
    while number := number >> 7:
        parts.append(number & 0x7F | 0x80)
    return bytes(reversed(parts))


def test_the_probe_tells_tables_however_large_the_schema_is(path: Path):
    script = "".join(
        f"create table t{n} ({', '.join(f'c{m}' for m in range(90))});" for n in range(300)
    )
    seen = probe(made(path, script))

    assert isinstance(seen, DatabaseProbe)
    assert (seen.head, seen.name, len(seen.tables)) == (b"", path.name, 300)
    assert has_columns(seen, "t299", "c0", "c89")
    assert not has_columns(seen, "t299", "c90")
    assert not has_columns(seen, "t300")


def test_a_database_whose_tables_nobody_reads_is_refused_by_name(path: Path):
    with pytest.raises(CannotReadError, match="a SQLite database whose tables no format reads"):
        recognise(probe(made(path, NOTES)))


def test_lines_of_json_in_a_database_make_it_no_session(path: Path):
    location = made(path, NOTES, "insert into note values ('d', 4, '\n{\"id\":\"a\"}\n', null)")

    with pytest.raises(CannotReadError, match="SQLite"):
        recognise(probe(location))
