"""Backends: what keeps the log of a recorder, one module each, behind the protocol `Records`."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from tt_debugger.record.backends.options import Options
    from tt_debugger.store import Records

_SCHEMES = {
    "memory": ("memory", "MemoryLog"),
    "sqlite": ("sqlite", "SqliteLog"),
    "postgres": ("postgres", "PostgresLog"),
    "postgresql": ("postgres", "PostgresLog"),
    "redis": ("redis", "RedisLog"),
    "rediss": ("redis", "RedisLog"),
    "git": ("git", "GitLog"),
    "snapshot": ("snapshot", "SnapshotLog"),
    "jsonl": ("jsonl", "JsonlLog"),
}
_SEVERAL = frozenset(("sqlite", "postgres", "postgresql", "redis", "rediss"))
"""Those that have several sessions, each with a name."""
_SUFFIXES = {
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".jsonl": "jsonl",
    ".json": "snapshot",
    ".json.history": "snapshot",
}
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
_KINDS = (
    "a path that ends in .jsonl, .json or .db, memory:, sqlite:///FILE, "
    "postgresql://HOST/DATABASE, redis://HOST:PORT/NUMBER or git:FOLDER#REF"
)


def opened(location: str, options: Options) -> Records:
    """Open the log at a location, which need not be there yet.

    Raises UsageError for a location of no known kind, and what opening raises. Each backend is
    imported when it is first asked for: drivers are slow, and may not be there.
    """
    scheme = _scheme_of(location)
    if scheme not in _SCHEMES:
        raise UsageError(f"nothing is recorded to {_shown(location)}", f"name {_KINDS}")
    if scheme in ("jsonl", "snapshot"):
        location = location.removeprefix(f"{scheme}:")
    module, name = _SCHEMES[scheme]
    backend = getattr(import_module(f"{__name__}.{module}"), name)
    return backend.open(location, options)


def has_several(location: str) -> bool:
    """Tell whether a location may have several sessions, each with a name."""
    return _scheme_of(location) in _SEVERAL


def _scheme_of(location: str) -> str:
    named = _SCHEME.match(location)
    scheme = named[1].lower() if named else ""
    if scheme not in _SCHEMES:
        scheme = next((of for end, of in _SUFFIXES.items() if location.endswith(end)), "")
    return scheme


def _shown(location: str) -> str:
    """Give what may be shown of a location that may be an address with a password."""
    return f"{location.split('://', 1)[0]}://…" if "://" in location else repr(location)
