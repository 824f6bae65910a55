"""Filters: which checkpoints of a session are shown, as masks of one byte per row."""

from __future__ import annotations

import enum
from collections.abc import Callable

import msgspec

from tt_debugger.core.model import (
    BY_USER,
    FAILED,
    KIND_BITS,
    KIND_NUMBERS,
    LABELLED,
    SILENT,
    Kind,
    Session,
)


class Filter(enum.StrEnum):
    """Which checkpoints are shown."""

    DEFAULT = "default"
    NO_TOOLS = "no tools"
    USER = "user only"
    LABELLED = "labelled"
    ERRORS = "errors"
    CHANGES = "state changes"
    ALL = "all"


class Where(msgspec.Struct, frozen=True, eq=False):
    """A filter that shows where a condition holds: 1 for each such row, one byte a row.

    Two are the same if they ask the same: what a session has become may be asked anew.
    """

    condition: str
    mask: bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Where) and self.condition == other.condition

    def __hash__(self) -> int:
        return hash(self.condition)

    def __str__(self) -> str:
        return f"where {self.condition}"


Chosen = Filter | Where
"""What says which checkpoints are shown."""


def _numbers(*kinds: Kind) -> frozenset[int]:
    return frozenset(KIND_NUMBERS[kind] for kind in kinds)


_TOOLS = _numbers(Kind.TOOL_CALL, Kind.TOOL_RESULT)
_TALK = _numbers(Kind.MESSAGE, Kind.TURN) | _TOOLS
_BROKEN = _numbers(Kind.GAP, Kind.UNREADABLE)
_BOOKKEEPING = _numbers(Kind.LABEL, Kind.SETTING) | {SILENT}
_QUIET = _TALK | _BOOKKEEPING | _numbers(Kind.CUSTOM, Kind.SUPER_STEP, Kind.SNAPSHOT, Kind.COMMIT)


def _is_broken(traits: int) -> bool:
    return bool(traits & FAILED) or traits & KIND_BITS in _BROKEN


def _is_by_user(traits: int) -> bool:
    return bool(traits & BY_USER) and traits & KIND_BITS not in _TOOLS


def _is_shown_by_default(traits: int) -> bool:
    return bool(traits & (LABELLED | FAILED)) or traits & KIND_BITS not in _BOOKKEEPING


def _is_shown_without_tools(traits: int) -> bool:
    is_tool = traits & KIND_BITS in _TOOLS
    return bool(traits & LABELLED) or (_is_shown_by_default(traits) and not is_tool)


def _changes_state(traits: int) -> bool:
    number = traits & KIND_BITS
    return number not in _TALK | _BROKEN and number != KIND_NUMBERS[Kind.LABEL]


def _is_uneventful(traits: int) -> bool:
    eventful = traits & (LABELLED | FAILED | BY_USER)
    return not eventful and traits & KIND_BITS in _QUIET


def _table(test: Callable[[int], bool]) -> bytes:
    """Give what `bytes.translate` takes to turn the traits of rows into a mask."""
    return bytes(map(test, range(256)))


MASKS = {
    Filter.DEFAULT: _table(_is_shown_by_default),
    Filter.NO_TOOLS: _table(_is_shown_without_tools),
    Filter.USER: _table(_is_by_user),
    Filter.LABELLED: _table(lambda traits: bool(traits & LABELLED)),
    Filter.ERRORS: _table(_is_broken),
    Filter.CHANGES: _table(_changes_state),
    Filter.ALL: _table(lambda _: True),
}
"""For each filter the table that turns traits into 1 for a row that is shown."""

COMPACTIONS = _table(lambda traits: traits & KIND_BITS == KIND_NUMBERS[Kind.COMPACTION])
UNEVENTFUL = _table(_is_uneventful)
"""The table of rows that may vanish in a fold of a run: plain steps that went well."""


def shown_mask(session: Session, chosen: Chosen) -> bytes:
    """Give 1 for each row that a filter shows, else 0; of rows that were not asked, none is."""
    if isinstance(chosen, Where):
        return chosen.mask[: len(session)].ljust(len(session), b"\0")
    return bytes(session.traits).translate(MASKS[chosen])
