"""Hostile and damaged databases and repositories, all invented and made at run time.

Each lies in a folder of its own, as what stands beside a database belongs to it. Whatever would
be run of them would make a file, the canary.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from builders import database_of
from hostile_places import STRANGE
from hostile_values import OTHER_STORES, TEXT_ATTACK, TURNS, VALUES, Builder
from langgraph_rows import (
    CHECKPOINTS,
    TABLES,
    WRITES,
    identity,
    message,
    packed,
    row,
    stored,
    write,
)

ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n)"


def write_hostile_databases(folder: Path, canary: Path) -> dict[str, Path]:
    """Write all of them into a folder; give their locations by name."""
    made: dict[str, Path] = {}
    for name, build in (SCHEMAS | DAMAGED | VALUES | OTHER_STORES | STRANGE).items():
        own = folder / name
        own.mkdir(parents=True)
        made[name] = location = own / "state.sqlite"
        try:
            build(location, canary)
        except sqlite3.OperationalError as error:
            # Not every SQLite was built with everything.
            if "no such module" not in str(error):
                raise
            database_of(location, TABLES)
    return made


def flipped(sound: bytes, count: int, seed: int = 7) -> Iterator[bytes]:
    """Give a database again and again with other bytes of it changed."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence
    for _ in range(count):
        data = bytearray(sound)
        for _ in range(chance.choice((1, 1, 8, 64))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        yield bytes(data)


# --- Schemas -------------------------------------------------------------------------------------


def _schema(*scripts: str) -> Builder:
    filled = [each.replace("ENDLESS", ENDLESS) for each in scripts]
    return lambda path, _: database_of(path, *filled)


def _with_schema_edited(script: str, edit: str) -> Builder:
    """Give a builder of a database whose schema says what SQLite itself would not write."""

    def build(path: Path, _: Path) -> None:
        database_of(path, script)
        with closing(sqlite3.connect(path)) as made:
            made.executescript(f"pragma writable_schema = on; {edit.replace('ENDLESS', ENDLESS)}")

    return build


_SOUND_ROWS = (
    "insert into checkpoints values ('t', '', 'a', null, 'msgpack', x'80', '{}');"
    "insert into writes values ('t', '', 'a', 'k', '', 0, 'c', 'null', null);"
)

SCHEMAS: dict[str, Builder] = {
    "an endless view in the place of the checkpoints": _schema(
        WRITES,
        """create view checkpoints as ENDLESS
            select x as thread_id, '' as checkpoint_ns, x as checkpoint_id,
            null as parent_checkpoint_id, 'null' as type, null as checkpoint, '{}' as metadata
            from n;""",
    ),
    "an endless view in the place of the turns": _schema(
        """create view agent_turns as ENDLESS
            select x as turn_id, 's' as session_id, x as turn_number, 't' as tool_name,
            '' as input_hash, '' as output_hash, '{}' as payload, '' as written_at from n;"""
    ),
    "a view that writes in the place of the checkpoints": _schema(
        CHECKPOINTS.replace("checkpoints", "hidden"),
        WRITES,
        """create view checkpoints as select * from hidden;
           create trigger t instead of insert on checkpoints begin delete from hidden; end;
           create trigger u instead of update on checkpoints begin delete from writes; end;""",
    ),
    "virtual tables in the place of real ones": _schema(
        """create virtual table checkpoints using fts5(
            thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
            metadata);
           create virtual table agent_turns using fts5(
            turn_id, session_id, turn_number, payload);"""
    ),
    "triggers that run whatever they can": _schema(
        TABLES,
        _SOUND_ROWS,
        """create trigger a after insert on checkpoints begin
               select load_extension('./evil.so'); delete from writes; end;
           create trigger b before delete on writes begin select randomblob(1000000000); end;""",
    ),
    "columns that are worked out": _schema(
        WRITES,
        """create table checkpoints (thread_id text, checkpoint_ns text, checkpoint_id text,
            parent_checkpoint_id text, type text,
            checkpoint blob as (zeroblob(900000000)) virtual,
            metadata text as (printf('%.*c', 900000000, thread_id)) stored check (1));
        """,
    ),
    "expressions that ask for much": _schema(
        CHECKPOINTS.replace("type text", "type text default (randomblob(900000000))").replace(
            "primary key", "check (length(zeroblob(900000000)) > 1), primary key"
        ),
        WRITES,
        "create index i on checkpoints (hex(zeroblob(length(thread_id))));"
        "create index j on writes (channel) where length(zeroblob(9)) > 1;",
    ),
    "a collation that nobody has": _with_schema_edited(
        TABLES + _SOUND_ROWS,
        "update sqlite_master set sql = replace(sql, 'thread_id text',"
        " 'thread_id text collate evil') where type = 'table';",
    ),
    "a table whose pages are those of the schema": _with_schema_edited(
        TABLES + _SOUND_ROWS, "update sqlite_master set rootpage = 1 where name = 'checkpoints';"
    ),
    "two tables on the same pages": _with_schema_edited(
        TABLES + _SOUND_ROWS,
        "update sqlite_master set rootpage = 2 where type = 'table';",
    ),
    "a table beyond the end": _with_schema_edited(
        TABLES, "update sqlite_master set rootpage = 2147483647 where name = 'checkpoints';"
    ),
    "a table that is said twice": _with_schema_edited(
        TABLES + _SOUND_ROWS,
        "insert into sqlite_master select type, name, tbl_name, rootpage, sql from sqlite_master;",
    ),
    "a view that says it is a table": _with_schema_edited(
        TABLES + _SOUND_ROWS,
        "update sqlite_master set sql = 'create view checkpoints as ENDLESS select x from n'"
        " where name = 'checkpoints';",
    ),
    "a virtual table that says it has pages": _with_schema_edited(
        TABLES + _SOUND_ROWS,
        "update sqlite_master set sql = 'create virtual table checkpoints using fts5(a)'"
        " where name = 'checkpoints';",
    ),
    "a schema that is no text": _with_schema_edited(
        TABLES, "update sqlite_master set sql = x'fffe00', name = x'ff' where name = 'writes';"
    ),
    "names that act on a terminal": _schema(
        TABLES,
        f'create table "{TEXT_ATTACK.replace(chr(0), "")}" (a);'
        f'create table "x"";drop table writes;--" ("{TEXT_ATTACK.replace(chr(0), "")}");',
    ),
    "very many columns": _schema(
        CHECKPOINTS.replace("type text", f"{', '.join(f'c{n}' for n in range(1900))}, type text"),
        WRITES,
    ),
    "texts in utf-16": _schema("pragma encoding = 'UTF-16le'", TABLES, _SOUND_ROWS),
}


# --- Damage --------------------------------------------------------------------------------------


def sound_thread(path: Path, steps: int = 40) -> Path:
    """Write a sound thread."""
    texts = [f"said {n} " + "x" * (n * 37 % 900) for n in range(steps)]
    rows = [
        row(
            {"messages": [message("human", each) for each in texts[: n + 1][-6:]], "n": n},
            n,
            parent=identity(n - 1) if n else None,
        )
        for n in range(steps)
    ]
    writes = [write(n, "n", "msgpack", packed(n + 1)) for n in range(steps)]
    return stored(path, rows, writes, "pragma page_size = 1024;" + TABLES)


def sound_turns(path: Path, turns: int = 80) -> Path:
    """Write a sound session of turns."""
    database_of(path, "pragma page_size = 1024", TURNS)
    with closing(sqlite3.connect(path)) as made:
        rows = [
            (f"t{n}", f"s{n % 2}", n // 2, "run", "a" * 64, "b" * 64, f'{{"said":"{"x" * n}"}}', n)
            for n in range(turns)
        ]
        made.executemany("insert into agent_turns values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        made.commit()
    return path


def _damaged(damage: Callable[[bytearray], object]) -> Builder:
    def build(path: Path, _: Path) -> None:
        data = bytearray(sound_thread(path).read_bytes())
        damage(data)
        path.write_bytes(data)

    return build


def _page_leads_to_itself(data: bytearray) -> None:
    """Let each cell of each inner page lead to a page above it."""
    for begin in range(0, len(data), 1024):
        if data[begin] != 5:
            continue
        own = begin // 1024 + 1
        for cell in range(int.from_bytes(data[begin + 3 : begin + 5])):
            place = begin + 12 + 2 * cell
            at = begin + int.from_bytes(data[place : place + 2])
            data[at : at + 4] = own.to_bytes(4)


def _overflow_goes_in_a_circle(data: bytearray) -> None:
    for begin in range(1024, len(data), 1024):
        if data[begin] == 0:
            data[begin : begin + 4] = (begin // 1024 + 1).to_bytes(4)


def _claims_a_gigabyte(data: bytearray) -> None:
    """Let each row of a leaf page claim to have as many bytes as a number can say."""
    for begin in range(1024, len(data), 1024):
        if data[begin] != 13:
            continue
        for cell in range(int.from_bytes(data[begin + 3 : begin + 5])):
            place = begin + 8 + 2 * cell
            at = begin + int.from_bytes(data[place : place + 2])
            data[at : at + 5] = b"\x84\x80\x80\x80\x00"


def _huge_numbers(data: bytearray) -> None:
    for begin in range(1024, len(data), 1024):
        if data[begin] == 13:
            place = begin + int.from_bytes(data[begin + 8 : begin + 10])
            data[place : place + 9] = b"\xff" * 9


def _put(place: int, value: bytes) -> Callable[[bytearray], object]:
    def put(data: bytearray) -> None:
        data[place : place + len(value)] = value

    return put


def _cut(share: float) -> Callable[[bytearray], object]:
    def cut(data: bytearray) -> None:
        del data[int(len(data) * share) :]

    return cut


def _nothing_but_the_log(path: Path, _: Path) -> None:
    """Leave a thread whose newest rows stand in a log that is none of its own."""
    sound_thread(path)
    other = sound_thread(path.with_name("other.sqlite"), 3)
    with closing(sqlite3.connect(other, isolation_level=None)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("delete from checkpoints")
        log = bytearray(Path(f"{other}-wal").read_bytes())
    log[16:24] = b"wrong!!!"
    Path(f"{path}-wal").write_bytes(log)
    other.unlink()


CRASH = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("pragma cache_size = 1")
database.execute("pragma synchronous = off")
database.execute("begin")
database.execute("update checkpoints set type = 'never', checkpoint = zeroblob(4000)")
database.execute("update writes set channel = 'never'")
os._exit(0)
"""


def _half_done(path: Path, _: Path) -> None:
    """Leave what a crash leaves, and the name of a file that would be removed with it."""
    sound_thread(path)
    subprocess.run([sys.executable, "-c", CRASH, str(path)], check=True)  # noqa: S603 - our own


def _half_done_with_victim(path: Path, _: Path) -> None:
    _half_done(path, _)
    victim = path.with_name("victim")
    victim.write_bytes(b"precious")
    name = str(victim).encode()
    with Path(f"{path}-journal").open("ab") as journal:
        journal.write(b"\0\0\0\1" + name + len(name).to_bytes(4) + sum(name).to_bytes(4))
        journal.write(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")


def _log_is_a_link(path: Path, _: Path) -> None:
    sound_thread(path)
    victim = path.with_name("victim")
    victim.write_bytes(b"precious")
    Path(f"{path}-wal").symlink_to(victim)
    Path(f"{path}-journal").symlink_to("/dev/zero")


def _log_is_no_file(path: Path, _: Path) -> None:
    sound_thread(path)
    os.mkfifo(f"{path}-wal")
    Path(f"{path}-journal").mkdir()


def _linked(path: Path, _: Path) -> None:
    sound_thread(path.with_name("real.sqlite"))
    path.symlink_to("real.sqlite")


DAMAGED: dict[str, Builder] = {
    "only its beginning": _damaged(_cut(0.001)),
    "only its header": _damaged(lambda data: data.__delitem__(slice(100, None))),
    "cut in half": _damaged(_cut(0.5)),
    "cut in a page": _damaged(_cut(0.77)),
    "pages that lead to themselves": _damaged(_page_leads_to_itself),
    "long values that go in a circle": _damaged(_overflow_goes_in_a_circle),
    "rows that claim a gigabyte": _damaged(_claims_a_gigabyte),
    "numbers as large as they can be": _damaged(_huge_numbers),
    "another page size": _damaged(_put(16, b"\x10\x00")),
    "no page size": _damaged(_put(16, b"\x00\x03")),
    "pages that are not there": _damaged(_put(28, b"\x7f\xff\xff\xff")),
    "free pages that are taken": _damaged(_put(32, b"\x00\x00\x00\x02\x7f\xff\xff\xff")),
    "texts that are said to be utf-16": _damaged(_put(56, b"\x00\x00\x00\x02")),
    "a schema of another time": _damaged(_put(44, b"\x00\x00\x00\x09")),
    "a version of another time": _damaged(_put(18, b"\x09\x09")),
    "a log that is not its own": _nothing_but_the_log,
    "a transaction that did not end": _half_done,
    "a transaction that names a victim": _half_done_with_victim,
    "a link to a database": _linked,
    "a log that is a link": _log_is_a_link,
    "a log that is no file": _log_is_no_file,
}
