"""Forks that are one JSON value or a value a line: their names, and what they read back as."""

from __future__ import annotations

from pathlib import PurePath

from tt_debugger.core.fork.plan import Fresh
from tt_debugger.core.model import Session
from tt_debugger.core.text import counted
from tt_debugger.formats.shared.document import Document
from tt_debugger.formats.shared.document_file import DocumentReading
from tt_debugger.formats.shared.fork_states import name_of_fork
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.records import records
from tt_debugger.storage.lines import Line

_SUFFIXES = (".json", ".jsonl", ".ndjson")
_PACKED = (".gz", ".zst")


def fork_name(location: str, fresh: Fresh, suffix: str | None = None) -> str:
    """Give the name of a file for a fork of another file, or of a folder."""
    path = PurePath(location)
    if path.suffix in _PACKED:
        path = path.with_suffix("")
    own = path.suffix if path.suffix.lower() in _SUFFIXES else ""
    stem = path.name.removesuffix(own).strip("-") or "session"
    return f"{name_of_fork(stem, fresh)}{own if suffix is None else suffix}"


def read_back(reading: DocumentReading, data: bytes, *, is_document: bool) -> Session:
    """Give the session that some bytes would be, as one JSON value or as lines."""
    if is_document:
        bare = data.removeprefix(BYTE_ORDER_MARK).lstrip()
        is_list = bare[:1] == b"["
        objects = () if is_list else tuple(records(bare))
        reading.read_document(Document(data, is_array=is_list, findings=(), objects=objects))
        return reading.finished(len(data))
    offset = 0
    for number, text in enumerate(data.split(b"\n")[:-1], 1):
        reading.read(Line(number, offset, len(text) + 1, text, is_whole=True))
        offset += len(text) + 1
    return reading.finished(len(data))


def lost_told(session: Session, row: int) -> tuple[str, ...]:
    """Say how much of a damaged original the fork leaves out."""
    gaps = sum(session.heads.is_gap(each) for each in range(row))
    if not gaps:
        return ()
    what = "it is" if gaps == 1 else "they are"
    return (f"{counted(gaps, 'place')} cannot be read, and {what} not in the fork",)
