"""Trees, sessions and files, made from texts short enough to read in a test.

A tree is a text of words in storage order. A word is `id<parent`; without `<` the parent is the
word before, and `id<` is a root. So `a b c d<b` is a run of three, and a branch at its middle.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, Put
from tt_debugger.core.model import Head, Kind, Session, SessionId
from tt_debugger.core.replay import Replay
from tt_debugger.core.tree import NO_ROW, Tree
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import known_formats
from tt_debugger.formats.shared.memory import MemoryRecord, MemoryStore
from tt_debugger.storage.probe import probe
from tt_debugger.store import Loaded, Store

FIXTURES = Path(__file__).parent / "fixtures"


def family(text: str) -> list[tuple[str, str | None]]:
    """Give the id and the parent's id of each word."""
    pairs: list[tuple[str, str | None]] = []
    for word in text.split():
        name, sign, parent = word.partition("<")
        before = pairs[-1][0] if pairs else None
        pairs.append((name, (parent or None) if sign else before))
    return pairs


def tree(text: str) -> Tree:
    """Give the tree of a text; a row is the place of its word."""
    pairs = family(text)
    rows = {name: row for row, (name, _) in enumerate(pairs)}
    parents = (NO_ROW if parent is None else rows[parent] for _, parent in pairs)
    return Tree(array("q", parents))


def memories(
    text: str,
    changes: Mapping[str, Sequence[Change]] | None = None,
    heads: Mapping[str, Head] | None = None,
) -> list[MemoryRecord]:
    """Give the records of a tree. What is not said puts its own id: a state tells its path."""
    return [
        MemoryRecord(
            name,
            parent,
            tuple((changes or {}).get(name, [Put((name,), value=True)])),
            (heads or {}).get(name, Head(Kind.SNAPSHOT)),
        )
        for name, parent in family(text)
    ]


def memory(records: Iterable[MemoryRecord], name: str = "s") -> tuple[MemoryStore, Session]:
    """Give a store of one session, and the session."""
    store = MemoryStore({name: list(records)})
    return store, store.load(SessionId(name)).session


def session(
    text: str,
    *,
    active: str | None = None,
    labels: Mapping[str, str] | None = None,
    heads: Mapping[str, Head] | None = None,
) -> Session:
    """Give the session of a tree; the last word is the active leaf unless another is named."""
    _, loaded = memory(memories(text, heads=heads))
    return msgspec.structs.replace(
        loaded,
        active=loaded.active if active is None else loaded.rows[active],
        labels={loaded.rows[name]: label for name, label in (labels or {}).items()},
    )


def replay_of(store: Store, loaded: Session, *, uncompacted: bool = False) -> Replay:
    """Give the replay of a session, its bodies read from the store."""
    rules = store.rules(loaded, uncompacted=uncompacted)
    return Replay(loaded, rules, lambda rows: store.bodies(loaded, rows))


def load(path: Path, format_name: str) -> tuple[Store, Loaded]:
    """Open a file as a format and load its newest session."""
    (chosen,) = (each for each in known_formats() if each.format == format_name)
    store = chosen.open(str(path))
    return store, store.load(store.sessions()[-1])


def session_of(content: bytes, format_name: str, folder: Path) -> Session:
    """Give the session of a file with this content, closed again."""
    path = folder / "s.jsonl"
    path.write_bytes(content)
    store, loaded = load(path, format_name)
    loaded.session.take_in()
    store.close()
    return loaded.session


def database_of(path: Path, *scripts: str) -> Path:
    """Build a database by scripts of statements, one after the other."""
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as made:
        for script in scripts:
            made.executescript(script)
    return path


def fixture_database(format_name: str, path: Path, *more: str) -> Path:
    """Build the database of a format's fixture folder anew, with more statements."""
    script = (FIXTURES / format_name / "sessions.sql").read_text()
    return database_of(path, "pragma page_size = 1024", script, *more)


def files_of(location: Path) -> list[Path]:
    """Give the files that a location is, or has in it."""
    if location.is_file():
        return [location]
    return sorted(each for each in location.rglob("*") if each.is_file())


def said(loaded: Session) -> str:
    """Give the findings of a session, each as code and line."""
    return ", ".join(f"{each.code} {each.line}" for each in loaded.findings)


def fixture_files(format_name: str) -> list[Path]:
    """Give the session files of a format's fixture folder that have a record a line."""
    return [each for each in fixture_locations(format_name) if each.suffix == LINES]


def fixture_locations(format_name: str) -> list[Path]:
    """Give all that a format's fixture folder has to open: files, and folders that it claims."""
    (store,) = (each for each in known_formats() if each.format == format_name)
    return sorted(_locations(store, FIXTURES / format_name))


def _locations(store: type[Store], folder: Path) -> Iterator[Path]:
    for each in sorted(folder.iterdir()) if folder.is_dir() else ():
        if each.is_file():
            is_answer = each.name.endswith(ANSWERS)
            if each.suffix in SUFFIXES and not is_answer and not each.name.startswith("."):
                yield each
        elif _is_claimed(store, each):
            yield each
        else:
            yield from _locations(store, each)


def _is_claimed(store: type[Store], folder: Path) -> bool:
    try:
        return store.sniff(probe(str(folder))) is not None
    except CannotReadError:
        return False


LINES = ".jsonl"
SUFFIXES = frozenset((LINES, ".json", ".traj", ".md", ".db"))
ANSWERS = (".oracle.json", ".expected.json")

FORMATS = tuple(sorted(each.format for each in known_formats()))
"""All formats there are; each is under all laws by its fixtures alone."""

ADDRESSED = frozenset(
    (
        *("langgraph_postgres", "langgraph_redis", "postgres_tables", "recording_postgres"),
        *("recording_redis", "redis_keys", "recording_git"),
    )
)
"""Formats that are reached by an address, and not by a path, such as those of servers.

Their own tests make what is there to be read, those of servers of what their fixtures hold.
"""

FILES = [(name, path) for name in FORMATS for path in fixture_locations(name)]
"""All locations, files and folders."""
FILE_IDS = [f"{name}-{path.stem}" for name, path in FILES]

LINE_FILES = [(name, path) for name, path in FILES if path.suffix == LINES]
"""The files that have a record a line, and grow by lines."""
LINE_FORMATS = tuple(dict.fromkeys(name for name, _ in LINE_FILES))
OTHER_FILES = [(name, path) for name, path in FILES if path.suffix not in {LINES, ".db", ".git"}]
"""Documents, texts and folders, which are written anew as a whole."""


def facts(loaded: Session) -> dict[str, Any]:
    """Give all that a session says, as one value that can be compared."""
    return {
        "id": loaded.id,
        "format": loaded.format,
        "checkpoints": list(loaded),
        "labels": dict(loaded.labels),
        "active": loaded.active,
        "title": loaded.title,
        "cwd": loaded.cwd,
        "forked_from": loaded.forked_from,
        "extent": loaded.extent,
        "findings": loaded.findings,
    }


def ids_of(loaded: Session, rows: Iterable[int]) -> str:
    """Give the ids of some rows as a text."""
    return " ".join(loaded.ids[row] for row in rows)


def codes(findings: Iterable[Any]) -> list[str]:
    """Give the codes of findings, in order."""
    return [str(each.code) for each in findings]


def jsonl(*records: Mapping[str, Any] | str | bytes) -> bytes:
    """Give a file: objects become their JSON, texts and bytes stand as they are, a line each."""
    return b"".join(_bytes(each) + b"\n" for each in records)


def tree_of_records(*records: tuple[str, str | None, Mapping[str, Any]]) -> bytes:
    """Give a file of records, each with its id, that of its parent, and what else it holds."""
    return jsonl(
        *(
            {"id": own, "parentId": parent, "type": "x"} | dict(more)
            for own, parent, more in records
        )
    )


def _bytes(record: Mapping[str, Any] | str | bytes) -> bytes:
    if isinstance(record, bytes):
        return record
    return (record if isinstance(record, str) else json.dumps(record)).encode()


PI_HEADER = {"type": "session", "version": 3, "id": "pi-session", "cwd": "/home/dev/demo"}


def user(text: str) -> dict[str, Any]:
    """Give a message of the user, as Pi and Tau write it."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(text: str, *calls: str, **more: Any) -> dict[str, Any]:
    """Give a message of the model, with a call of `bash` for each id."""
    blocks: list[Any] = [{"type": "text", "text": text}]
    blocks += [{"type": "toolCall", "id": each, "name": "bash", "arguments": {}} for each in calls]
    return {"role": "assistant", "content": blocks, "provider": "p", "model": "m", **more}


def pi(name: str, parent: str | None, message: Any = None, /, **entry: Any) -> dict[str, Any]:
    """Give an entry of a Pi file: a message, or what the other arguments say."""
    own = {"type": "message", "message": message} if message is not None else {}
    return {"id": name, "parentId": parent, **own, **entry}


def tau(name: str, parent: str | None, message: Any = None, /, **entry: Any) -> dict[str, Any]:
    """Give an entry of a Tau file; a root has no `parent_id`."""
    own: dict[str, Any] = {"id": name, "timestamp": 1767225600.5}
    own |= {} if parent is None else {"parent_id": parent}
    own |= {"type": "message", "message": message} if message is not None else {}
    return own | entry
