"""The probe: one look at a location, shared by all formats that are asked about it."""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path, PurePath

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.compressed import CompressedFile, opened
from tt_debugger.storage.files import HEAD, RegularFile, folder_refused
from tt_debugger.storage.folders import FileFound, PassedBy, Why, files_under
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.servers import POSTGRES, address_of, admitted, is_server
from tt_debugger.storage.sqlite import MAGIC, tables_of
from tt_debugger.storage.stdin import STDIN
from tt_debugger.store import Inside, Probe

SCHEME = "git:"
"""How a location begins that means what refs of a repository lead to, not its branches."""
MOST_INSIDE = 10_000
"""Names in a folder that are looked at."""
MOST_HEADS = 8
"""Files in a folder whose first bytes are looked at."""
MOST_KEYS = 1_000
"""Keys of a server that are looked at."""
_LOOKED_FOR = "*checkpoint*"
"""Which of them are looked for first: in a large cache they would not be among so few."""


class DatabaseProbe(Probe, frozen=True):
    """What a format may know of a SQLite database: the columns of its tables, and no head."""

    # Not a mapping: a probe can be hashed, and is.
    tables: tuple[tuple[str, tuple[str, ...]], ...] = ()


class PostgresProbe(Probe, frozen=True):
    """What a format may know of a database of PostgreSQL: the columns of its tables."""

    tables: tuple[tuple[str, tuple[str, ...]], ...] = ()


class RedisProbe(Probe, frozen=True):
    """What a format may know of a database of Redis: some of its keys, each with its kind."""

    keys: tuple[tuple[str, str], ...] = ()


class FolderProbe(Probe, frozen=True):
    """What a format may know of a folder: beside the files in it, the names of its folders."""

    folders: tuple[str, ...] = ()


class RepositoryProbe(FolderProbe, frozen=True):
    """What a format may know of a folder that is a git repository, or the work tree of one."""


class RefsProbe(Probe, frozen=True):
    """What a format may know of the refs of a repository: their full names."""

    refs: tuple[str, ...] = ()


def means_refs(location: str) -> bool:
    """Tell whether a location means refs of a repository, and is no path itself."""
    try:
        return location.startswith(SCHEME) and not Path(location).exists()
    except (OSError, ValueError):
        return False


def has_folders(probe: Probe, *names: str) -> bool:
    """Tell whether a location is a folder that has at least these folders in it."""
    return isinstance(probe, FolderProbe) and set(names) <= set(probe.folders)


def has_columns(probe: Probe, table: str, *columns: str) -> bool:
    """Tell whether a location is a database in which a table has at least these columns."""
    found = dict(probe.tables).get(table) if isinstance(probe, DatabaseProbe) else None
    return found is not None and set(columns) <= set(found)


def served_columns(probe: Probe, table: str, *columns: str) -> bool:
    """Tell whether a location is a server's database in which a table has at least these columns.

    A table of a schema that is not searched by itself is one that is named `schema.table`.
    """
    found = dict(probe.tables).get(table) if isinstance(probe, PostgresProbe) else None
    return found is not None and set(columns) <= set(found)


def probe(location: str) -> Probe:
    """Look at a location once.

    Raises CannotReadError where it is not a readable file, nor a folder with folders or with
    files that may hold sessions, nor a database whose tables can be told, nor a server that
    answers.
    """
    if is_server(location):
        return _server_probe(admitted(location))
    if means_refs(location):
        return _refs_probe(location)
    if location != STDIN and _is_folder(location):
        # A file needs nothing of this.
        from tt_debugger.storage.repository import repository_at

        inside = folder_probe(location)
        if repository_at(location) is not None:
            return _as_repository(inside)
        if not inside.size:
            raise folder_refused(location)
        return inside
    file = opened(location)
    try:
        seen = probe_of(file)
    finally:
        file.close()
    if seen.head.startswith(MAGIC):
        tables = tuple(tables_of(location).items())
        return DatabaseProbe(location, seen.name, b"", seen.size, tables=tables)
    return seen


def folder_probe(location: str) -> FolderProbe:
    """Look at a folder once; its size is 0 where neither files nor folders are to be seen.

    Raises CannotReadError where it cannot be listed.
    """
    every = list(files_under(location, most_deep=0, most_names=MOST_INSIDE))
    found = [each for each in every if isinstance(each, FileFound) and each.size]
    folders = tuple(
        PurePath(each.path).name
        for each in every
        if isinstance(each, PassedBy) and each.why is Why.TOO_DEEP
    )
    inside = tuple(
        Inside(PurePath(each.path).name, each.size, _first_bytes(each) if n < MOST_HEADS else None)
        for n, each in enumerate(found)
    )
    # Not 0 where there are folders alone: that would say that there is nothing.
    size = sum(each.size for each in found) or len(folders)
    return FolderProbe(location, PurePath(location).name, b"", size, inside, folders=folders)


def _refs_probe(location: str) -> RefsProbe:
    # Others need nothing of this.
    from tt_debugger.storage.repository import must_be_repository, refs_of

    repository = must_be_repository(location.removeprefix(SCHEME))
    names = tuple(refs_of(repository, with_logs=False).names)
    return RefsProbe(location, repository.name, b"", 1, refs=names)


def _as_repository(seen: FolderProbe) -> RepositoryProbe:
    # It is not blank, whatever files are in it.
    size = max(seen.size, 1)
    return RepositoryProbe(seen.location, seen.name, b"", size, seen.inside, folders=seen.folders)


def probe_of(file: RegularFile) -> Probe:
    """Look at a file that is open."""
    head = _head(file)
    size = file.head_size() if isinstance(file, CompressedFile) else file.size()
    return Probe(file.path, PurePath(file.path).name, head, size)


def _server_probe(location: str) -> Probe:
    """Look at a server; that it has no bytes of its own does not make it blank."""
    name = PurePath(location).name
    # A driver is slow to import.
    if address_of(location).scheme == POSTGRES:
        from tt_debugger.storage.postgres import PostgresDatabase

        with PostgresDatabase(location) as database:
            tables = tuple((each.name, each.columns) for each in database.tables.values())
        return PostgresProbe(location, name, b"", 1, tables=tables)
    from tt_debugger.storage.redis import RedisKeys

    with RedisKeys(location) as server:
        first = server.keys(_LOOKED_FOR, most=MOST_KEYS)
        keys = list(islice(dict.fromkeys(chain(first, server.keys(most=MOST_KEYS))), MOST_KEYS))
        kinds = zip(keys, server.kinds(keys), strict=True)
        found = tuple((key, kind) for key, kind in kinds if kind is not None)
    return RedisProbe(location, name, b"", 1, keys=found)


def _is_folder(location: str) -> bool:
    try:
        return Path(location).is_dir()
    except (OSError, ValueError):
        return False


def _first_bytes(found: FileFound) -> bytes | None:
    try:
        file = RegularFile(found.path)
    except CannotReadError:
        return None
    try:
        return file.read(0, HEAD)
    finally:
        file.close()


def _head(file: RegularFile) -> bytes:
    """Give the first bytes, and on to the end of the first line that is not blank."""
    length = HEAD
    while True:
        head = file.read(0, length)
        blank = len(head) - len(head.lstrip())
        end = head.find(b"\n", blank) + 1
        if end:
            return head[: max(end, HEAD)]
        if len(head) < length or length >= LONGEST or file.data_after(length) >= LONGEST:
            return head
        length = min(2 * length, LONGEST)
