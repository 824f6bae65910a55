"""The probe: one look at a location, shared by all formats that are asked about it."""

from __future__ import annotations

from pathlib import Path, PurePath

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import HEAD, RegularFile, folder_refused
from tt_debugger.storage.folders import FileFound, files_under
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.stdin import STDIN
from tt_debugger.store import Inside, Probe

MOST_INSIDE = 10_000
"""Names in a folder that are looked at."""
MOST_HEADS = 8
"""Files in a folder whose first bytes are looked at."""


def probe(location: str) -> Probe:
    """Look at a location once.

    Raises CannotReadError where it is not a readable file, nor a folder with files that may hold
    sessions.
    """
    if location != STDIN and _is_folder(location):
        return _probe_folder(location)
    file = RegularFile(location)
    try:
        return probe_of(file)
    finally:
        file.close()


def probe_of(file: RegularFile) -> Probe:
    """Look at a file that is open."""
    return Probe(file.path, PurePath(file.path).name, _head(file), file.size())


def _is_folder(location: str) -> bool:
    try:
        return Path(location).is_dir()
    except (OSError, ValueError):
        return False


def _probe_folder(location: str) -> Probe:
    found = [
        each
        for each in files_under(location, most_deep=0, most_names=MOST_INSIDE)
        if isinstance(each, FileFound) and each.size
    ]
    if not found:
        raise folder_refused(location)
    inside = tuple(
        Inside(PurePath(each.path).name, each.size, _first_bytes(each) if n < MOST_HEADS else None)
        for n, each in enumerate(found)
    )
    size = sum(each.size for each in found)
    return Probe(location, PurePath(location).name, b"", size, inside)


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
