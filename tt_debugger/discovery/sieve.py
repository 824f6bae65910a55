"""The sieve: files that cannot hold what is looked for need not be opened as sessions."""

from __future__ import annotations

from pathlib import Path, PurePath

from tt_debugger.core.listing import Entry
from tt_debugger.core.search import Expression, Query
from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.folders import SUFFIXES

_CHUNK = 4 << 20


def may_hold(entry: Entry, query: Query | Expression) -> bool:
    """Tell whether a search may find something in a session; only a no is certain.

    Only files of JSON text are looked through for it.
    """
    is_text = PurePath(entry.location).suffix.lower() in SUFFIXES
    if isinstance(query, Expression) or query.data is None or not is_text:
        return True
    try:
        return _is_in(entry.location, query, len(query.data))
    except CannotReadError:
        # Whoever opens it will say why.
        return True


def _is_in(location: str, query: Query, length: int) -> bool:
    if not Path(location).is_file():
        return True
    file = RegularFile(location)
    try:
        # Folding may make of one character some that are longer, or shorter.
        overlap = 4 * length
        offset, before = 0, b""
        while chunk := file.read(offset, _CHUNK):
            if query.may_be_in(before + chunk):
                return True
            offset += len(chunk)
            before = chunk[-overlap:]
        return False
    finally:
        file.close()
