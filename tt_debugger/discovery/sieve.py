"""The sieve: files that cannot hold what is looked for need not be opened as sessions.

Most of what an index says of a row stands in the record of the row too, if not in one piece: a
summary joins the parts of a command, and names the tool that an earlier record called. So the
words of a text are looked for one by one, in the file and among those that only the index says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tt_debugger.core.listing import Entry
from tt_debugger.core.model import Session
from tt_debugger.core.search import Query, Regex
from tt_debugger.errors import CannotReadError
from tt_debugger.storage.compressed import MAGIC
from tt_debugger.storage.files import RegularFile
from tt_debugger.store import Contiguous, Store

MOST_WORDS = 256
"""Words that are kept of an index; one that makes up more is not sieved."""
_CHUNK = 4 << 20
_AT_ONCE = 1 << 16
_ESCAPE = len(r"\u0000")
_WORD = re.compile(r"\w+")
_COUNTED = re.compile(r"l?\d*\Z")
"""Numbers and names of lines: an index makes as many of them as it likes, so none is kept."""


def made_words(store: Store, session: Session) -> tuple[str, ...] | None:
    """Give the words, their case folded, that an index says and the file of its session does not.

    None where not all that bodies say stands in the file as it is, or where there are too many.
    """
    if not isinstance(store, Contiguous) or session.extent is None:
        return None
    made: set[str] = set()
    for row, record in _records(store, session):
        head = session.heads[row]
        for text in (session.ids[row], head.name, head.summary):
            made.update(_words_missing(text, record))
        if len(made) > MOST_WORDS:
            return None
    for label in session.labels.values():
        made.update(_words_in(label))
    return tuple(sorted(made)) if len(made) <= MOST_WORDS else None


def may_hold(entry: Entry, query: Query | Regex) -> bool:
    """Tell whether a search may find something in a session; only a no is certain.

    Of a session whose index was not read, and of a file that changed since, nothing is.
    """
    made = entry.facts.made if entry.facts else None
    if isinstance(query, Regex) or query.data is None or made is None:
        return True
    words = [each for each in _words_in(query.needle) if not any(each in one for one in made)]
    try:
        return not words or _is_changed(entry) or is_in(entry.location, query, words)
    except (CannotReadError, OSError):
        # Whoever opens it will say why.
        return True


def _records(store: Contiguous, session: Session) -> Iterator[tuple[int, bytes]]:
    """Give the record of each row, without parts that stand elsewhere; none of a long one."""
    heads = session.heads
    places = [(heads.offset(row) or 0, heads.length(row) or 0) for row in range(len(session))]
    first = 0
    while first < len(places):
        begin, end = places[first][0], sum(places[first])
        last = first
        while last + 1 < len(places) and end <= places[last + 1][0]:
            if sum(places[last + 1]) - begin > _AT_ONCE:
                break
            last += 1
            end = sum(places[last])
        data = store.run(session, first, last) if end - begin <= _CHUNK else b""
        for row in range(first, last + 1):
            offset, length = places[row]
            yield row, data[offset - begin : offset - begin + length]
        first = last + 1


def _words_missing(text: str, record: bytes) -> Iterator[str]:
    """Give the words of a text that a record does not hold."""
    if text.encode(errors="replace") in record:
        return
    folded = record.lower() if record.isascii() else _folded(record)
    for word in _words_in(text):
        if word.encode(errors="replace") not in folded:
            yield word


def _folded(record: bytes) -> bytes:
    return record.decode(errors="replace").casefold().encode(errors="replace")


def _words_in(text: str) -> list[str]:
    return [each for each in _WORD.findall(text.casefold()) if not _COUNTED.match(each)]


def _is_changed(entry: Entry) -> bool:
    status = Path(entry.location).stat()
    return (status.st_size, status.st_mtime) != (entry.size, entry.modified)


def is_in(location: str, query: Query, words: list[str]) -> bool:
    """Tell whether a file has a text, or each of some words wherever it stands.

    What stands in a compressed file is not looked at: it may have them.
    """
    missing: list[Query] = [Query.of(each, is_exact=False) for each in words]
    # Folding may make of one character some that are longer, or shorter.
    overlap = 4 * max(len(each.needle.encode(errors="replace")) for each in (query, *missing))
    overlap = max(overlap, _ESCAPE)
    file = RegularFile(location)
    try:
        offset, before = 0, b""
        while chunk := file.read(offset, _CHUNK):
            data = before + chunk
            if data.startswith(MAGIC) or query.may_be_in(data):
                return True
            missing = [word for word in missing if not word.may_be_in(data)]
            if not missing:
                return True
            offset += len(chunk)
            before = data[-overlap:]
        return False
    finally:
        file.close()
