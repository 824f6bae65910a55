"""Drafting: from a point and some edits to all that a fork would write, read back if that can be.

Nothing is written where it belongs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Change, State, change_json
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Talk, fitted, said_alike, talk_of, with_said
from tt_debugger.core.json import as_map
from tt_debugger.core.paths import dotted
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import safe_line
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UnsupportedError, UsageError
from tt_debugger.forking.rehearsal import rehearse
from tt_debugger.formats import known_formats
from tt_debugger.storage import servers
from tt_debugger.storage.holders import Holder, holders, running
from tt_debugger.store import Composes, HasPlaces

PROGRAM = "ttdbg"
"""What another one of us is called."""


class Standing(msgspec.Struct, frozen=True):
    """Where a fork would go on from: the row, the one asked for, and the state there."""

    row: int
    asked: int
    state: State


class Drafted(msgspec.Struct, frozen=True):
    """A plan with its draft; `is_rehearsed` says that the draft was read back and is right.

    `talk` is what another agent is to be told by it, None for a fork of the session's own agent.
    """

    plan: Plan
    draft: Draft
    is_rehearsed: bool
    talk: Talk | None = None


class Wish(msgspec.Struct, frozen=True):
    """What else is asked of a fork: why it is made, where to, and whether in the original."""

    note: str | None = None
    target: str | None = None
    in_place: bool = False


def standing(debugger: Debugger, row: int, *, for_another_agent: bool = False) -> Standing:
    """Give where a fork at a row would go on from. Raises UnsupportedError, UsageError."""
    safe = debugger.safe_row(row, for_another_agent=for_another_agent)
    return Standing(safe, row, debugger.state(safe))


def drafted(
    debugger: Debugger,
    at: Standing,
    edits: Sequence[Change] = (),
    wish: Wish | None = None,
    *,
    rehearses: bool = True,
) -> Drafted:
    """Draft a fork, and read it back unless that is left for later.

    Raises UsageError for edits that are wrong, UnsupportedError for what the format cannot hold.
    """
    plan = _plan(debugger, at, edits, wish or Wish())
    draft = debugger.draft(plan)
    if plan.in_place:
        _refuse_where_live(debugger, draft)
    made = Drafted(plan, draft, is_rehearsed=False)
    return rehearsed(made) if rehearses else made


def composed(
    debugger: Debugger,
    at: Standing,
    target_format: str,
    edits: Sequence[Change] = (),
    wish: Wish | None = None,
    *,
    said: str | None = None,
    rehearses: bool = True,
) -> Drafted:
    """Draft a fork in the format of another agent, and read it back unless that is for later.

    What the user has said to that agent stands at its end. Raises UnsupportedError where there is
    nothing that the other agent could go on from.
    """
    plan = _plan(debugger, at, edits, wish or Wish())
    if plan.in_place:
        raise UsageError("a session of another agent cannot be a branch in this one")
    chosen = _composing(target_format)
    _refuse_no_text(said)
    talk = fitted(with_said(talk_of(plan.wanted), said), chosen.fit)
    if not talk.turns:
        raise UnsupportedError(
            "there are no messages at this checkpoint that another agent could go on from"
        )
    made = Drafted(
        plan, chosen.composed(talk, plan, _home_of(chosen)), is_rehearsed=False, talk=talk
    )
    return rehearsed(made) if rehearses else made


def rehearsed(made: Drafted) -> Drafted:
    """Read a draft back if that was not done yet; one that cannot be is given as it is.

    Raises TtdbgError where it would not be what is wanted.
    """
    if made.is_rehearsed:
        return made
    if made.talk is None:
        compare = partial(_compare, made.plan.wanted, set(made.draft.own))
    else:
        compare = partial(_compare_talks, made.talk)
    return msgspec.structs.replace(made, is_rehearsed=rehearse(made.draft, compare))


def composing() -> tuple[str, ...]:
    """Give the names of the formats in which a session of any agent can be written."""
    return tuple(each.format for each in known_formats() if issubclass(each, Composes))


def ref_of(draft: Draft) -> str:
    """Give the ref of the end of a fork, complete enough to be shown."""
    return f"{draft.location}#{quoted(draft.session)}:{quoted(draft.point)}"


def _plan(debugger: Debugger, at: Standing, edits: Sequence[Change], wish: Wish) -> Plan:
    target = wish.target
    if target is not None and (servers.is_server(target) or servers.looks_like_address(target)):
        # It may hold a password, so it is not repeated.
        raise UsageError("a fork cannot be written to a server that is named", "name a file")
    if target is not None and not target.strip():
        raise UsageError("the place to write to has no name")
    _refuse_no_text(wish.note, target, [change_json(each) for each in edits])
    return Plan(
        row=at.row,
        state=at.state,
        wanted=edited(at.state, edits),
        edits=tuple(edits),
        origin=debugger.ref(at.row),
        time=time.time(),
        fresh=os.urandom,
        note=wish.note,
        target=wish.target,
        in_place=wish.in_place,
    )


def _refuse_no_text(*values: Any) -> None:
    """Let pass only what UTF-8 can hold: half a character is no text."""
    try:
        msgspec.json.encode(values, enc_hook=repr)
    except UnicodeEncodeError as error:
        raise UsageError("half a character (a lone surrogate) cannot be written") from error


def _refuse_where_live(debugger: Debugger, draft: Draft) -> None:
    """Let nothing be added to a session that a process has open, or may go on with."""
    path, cwd = debugger.location, debugger.session.cwd
    found = set(holders(path)) if Path(path).is_file() else set[Holder]()
    # Another ttdbg that looks on follows what comes.
    found = {each for each in found if each.program != PROGRAM}
    if draft.agent and cwd is not None:
        found |= set(running((draft.agent,), cwd))
    if found:
        named = ", ".join(f"{safe_line(each.program)} ({each.pid})" for each in sorted(found))
        raise UsageError(
            f"the session may be open in {named}, which would not see what is added to it",
            "end it first, or leave out --in-place: a new session disturbs nobody",
        )


def _composing(name: str) -> type[Composes]:
    """Give the format of which a text is the name, or the beginning of it."""
    named = [
        each
        for each in known_formats()
        if each.format.startswith(name) and issubclass(each, Composes)
    ]
    if not name or len(named) != 1:
        raise UsageError(
            f"a session of another agent cannot be written as {name!r}",
            f"it can be written as {', '.join(composing())}",
        )
    return named[0]


def _home_of(chosen: type[Composes]) -> Path:
    """Give the first place where an agent keeps its sessions."""
    places: Sequence[Path] = ()
    if issubclass(chosen, HasPlaces):
        places = chosen.places(os.environ, Path.home())
    return places[0] if places else Path.cwd()


def _compare(wanted: State, own: set[str], found: State) -> None:
    """Let pass only the state that was asked for; a fork has some keys of its own."""
    other = [key for key in keys_between(as_map(wanted), as_map(found)) if key not in own]
    if other:
        raise TtdbgError(
            f"the fork would not replay to the state that is asked for: {dotted((other[0],))} "
            "would be otherwise, so nothing is written",
            "an edit elsewhere may do; please report this if it should have worked",
        )


def _compare_talks(talk: Talk, found: State) -> None:
    if not said_alike(talk, talk_of(found)):
        raise TtdbgError(
            "the other agent would not be told what was said here, so nothing is written",
            "please report this with the output of `ttdbg fork --dry-run`",
        )
