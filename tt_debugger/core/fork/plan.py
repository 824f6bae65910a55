"""The plan of a fork: from where, with which edits; and the draft that a format makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Change, State
from tt_debugger.core.fork.writes import Write

Fresh = Callable[[int], bytes]
"""Gives as many random bytes as it is asked for."""


class Plan(msgspec.Struct, frozen=True):
    """A fork as it is wanted.

    `row` is the checkpoint that it goes on from. `state` is the recorded state at `row`, `wanted`
    that state after the `edits`. `origin` names the original with its ref, `note` is why one
    forks. `time` is in seconds since 1970; ids are made of it and of what `fresh` gives. `target`
    is where the fork is to be written, None for the format's own choice.
    """

    row: int
    state: State
    wanted: State
    edits: tuple[Change, ...]
    origin: str
    time: float
    fresh: Fresh
    note: str | None = None
    target: str | None = None
    in_place: bool = False


class Draft(msgspec.Struct, frozen=True):
    """What a fork would write, to the byte, and what it would be.

    `writes` are done in their order. `location`, `session` and `point` name the new branch and
    the checkpoint at its end. `resume_command` is what one types to let the agent go on from
    there, or the lines of a program that do so. `notes` say what is otherwise than one may
    expect, one sentence each. `own` are the keys of the state that tell of the session itself,
    and so are the fork's own: all others are as the plan wants them. `agent` is the program that
    writes such sessions, empty where there is none. `is_read_back` says that the format has
    read back itself what it would write.
    """

    writes: tuple[Write, ...]
    location: str
    session: str
    point: str
    resume_command: str
    notes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    agent: str = ""
    is_read_back: bool = False


class Forked(msgspec.Struct, frozen=True):
    """A fork that was written: the location with its ref, and how the agent goes on from it."""

    location: str
    session: str
    ref: str
    resume_command: str
    operation: str
    """The id under which it can be undone."""
    notes: tuple[str, ...] = ()


def other_edits(plan: Plan) -> dict[str, Any]:
    """Give what was edited beside the messages: the keys of the state with their new values.

    A key that is gone has the value UNSET.
    """
    return {
        key: plan.wanted.get(key, msgspec.UNSET)
        for key in keys_between(plan.state, plan.wanted)
        if key != "messages"
    }
