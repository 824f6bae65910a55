"""Checking: that what a recorder was given can be read again, before it counts.

Types are not checked where a program runs: a name that is a number would be written, and the entry
passed over by whoever reads the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from tt_debugger.core.recording.entries import (
    Entry,
    Header,
    decoded,
    decoded_header,
    encoded,
    encoded_header,
)
from tt_debugger.errors import UsageError

_JSON_BEFORE = frozenset({"state", "changes", "message", "result", "effects"})
"""What was made JSON before it came into an entry, and may be large."""


def must_be_readable(written: Entry | Header) -> None:
    """Raise UsageError where something is not what a reader takes."""
    try:
        if isinstance(written, Header):
            wanted: Entry | Header = written
            there: Entry | Header = decoded_header(encoded_header(written))
        else:
            wanted = msgspec.structs.replace(written, **_left_out(type(written)))
            there = decoded(encoded(wanted))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise _refused(written, str(error)) from error
    if there != wanted:
        different = next(
            each
            for each in wanted.__struct_fields__
            if getattr(there, each) != getattr(wanted, each)
        )
        raise _refused(written, f"{different} would be another one when it is read")


@lru_cache
def _left_out(kind: type[msgspec.Struct]) -> Mapping[str, Any]:
    """Give what stands in place of what need not be looked at."""
    fields = msgspec.structs.fields(kind)
    return {each.name: each.default for each in fields if each.name in _JSON_BEFORE}


def _refused(written: msgspec.Struct, why: str) -> UsageError:
    return UsageError(
        f"this {written.__struct_config__.tag} cannot be recorded: {why}",
        "names, keys, labels and notes are text, a version is a whole number",
    )
