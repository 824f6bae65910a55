"""Effects: what a step did to the world outside, and what is known of it after a crash.

Around an effect three things are recorded: that it is intended, that it begins, that it is done.
Between the last two nobody who was not there can know whether it happened; that is said, and not
guessed. An effect belongs to the session and not to a branch: what was sent stays sent, whichever
past one goes on from.
"""

from __future__ import annotations

import enum
from typing import Any

import msgspec


class Status(enum.StrEnum):
    """What is known of an effect."""

    NOT_DONE = "not_done"
    """It has surely not happened: it was not begun, or somebody who knows said so."""
    UNKNOWN = "unknown"
    """It was begun, and nothing says how it ended."""
    DONE = "done"
    """It happened; its result is known."""


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """An effect by its key, which the outside world must never meet twice.

    `input_hash` is the SHA-256 of what went in, as hexadecimal text; `entry` is the id of the
    entry that last spoke of it.
    """

    key: str
    status: Status
    entry: str
    tool: str | None = None
    input_hash: str | None = None
    result: Any = None
