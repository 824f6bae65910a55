"""JSONL of no known format: a list of records in the order of their lines."""

from __future__ import annotations

from typing import ClassVar

from tt_debugger.formats.shared.loose import LooseFile, LooseReading
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.formats.shared.spread import is_spread, whole_lines
from tt_debugger.store import Match, Probe

_LOST = b"\0 \t\r"
"""What may stand before a record where a crash left zeros."""


class LinesReading(LooseReading):
    """A list of records; each hangs on the one before."""

    format: ClassVar[str] = "jsonl"


class Jsonl(LooseFile):
    """A file with a JSON object on a line, whatever it says."""

    format: ClassVar[str] = "jsonl"
    about: ClassVar[str] = "any other JSONL: its lines as a list of records"
    verified: ClassVar[str] = "no agent to compare with: a record is what its line says"
    reading: ClassVar[type[LooseReading]] = LinesReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by one line that is a JSON object by itself."""
        lines = [each for each in whole_lines(probe) if each.strip()]
        if is_spread(probe.head) or (lines and _is_binary(lines[0])):
            return None
        found = sum(map(_is_record, lines))
        if found:
            return Match(5, f"{found} of the first lines are JSON objects")
        if probe.head.lstrip()[:1] == b"{" and len(probe.head) < probe.size:
            return Match(1, "it begins like a JSON object, and may hold some further on")
        return None


def _is_record(line: bytes) -> bool:
    """Tell whether a line begins as an object and holds one; in what is no JSONL one may stand."""
    return _begins(line) and any(isinstance(each, Record) for each in records(line))


def _is_binary(line: bytes) -> bool:
    """Tell whether a line has NUL bytes that are not all that a crash left there."""
    return b"\0" in line and any(byte < ord(" ") and byte not in b"\0\t\r" for byte in line)


def _begins(line: bytes) -> bool:
    return line.lstrip(_LOST)[:1] == b"{"


STORE = Jsonl
