"""The probe: one look at a location, shared by all formats that are asked about it."""

from __future__ import annotations

from pathlib import PurePath

from tt_debugger.storage.files import HEAD, RegularFile
from tt_debugger.store import Probe


def probe(location: str) -> Probe:
    """Look at a location once. Raises CannotReadError where it is not a readable file."""
    file = RegularFile(location)
    try:
        return Probe(location, PurePath(location).name, file.read(0, HEAD), file.size())
    finally:
        file.close()
