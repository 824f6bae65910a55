"""Forking Pi: a new session beside the original, or a new branch at the end of its file.

A new session has the entries of one path as Pi's own `/fork` gives them: ids and times stay,
labels are said once more behind them. What was edited is an entry of its own with a new id. A
`custom` entry, of which Pi sends nothing, is the leaf: it says where the fork comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tt_debugger.core.changes import Append, State
from tt_debugger.core.fork.minting import stamp, uuid7
from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.transcripts import Part, parts_along
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.pi.fork_entries import ForkEntries, text_of
from tt_debugger.formats.pi.naming import file_name
from tt_debugger.formats.pi.reading import NEWEST_VERSION, PiSession
from tt_debugger.formats.pi.replay import Memo
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    Holds,
    line_of,
    place_for,
    refuse_target,
    resumed_in,
)
from tt_debugger.formats.shared.fork_paths import (
    absolute,
    not_answered,
    origins_in,
    refuse_edits,
    refused_lines,
    rows_that_stay,
)
from tt_debugger.formats.shared.forked_entries import Chain, fresh_id, more_lines
from tt_debugger.storage.stdin import STDIN

_SETTABLE = ("model", "provider", "thinking_level", "title", "cwd")
_START: State = {"model": None, "provider": None, "thinking_level": "off", "title": None}


def said(text: str, time: float) -> Append:
    """Give the edit that adds what the user says."""
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content, "timestamp": round(time * 1000)}
    return Append(("messages",), message)


def draft(store: Holds, replay: Replay, plan: Plan) -> Draft:
    """Give all that a fork would write. Raises UnsupportedError, UsageError."""
    session = replay.session
    refuse_edits(other_edits(plan), _SETTABLE, "Pi")
    memo: Memo = replay.memo(plan.row)
    parts = [*parts_along(session, origins_in(memo.context), plan)]
    if plan.in_place:
        return _in_place(store, replay, plan, parts)
    chain = Chain(session, "parentId", None, _mint(session, plan))
    entries = ForkEntries(store, session, plan, chain)
    entries.add_all(parts)
    entries.settle(_START)
    entries.label()
    point = entries.mark()
    header = _header(store.location, session.own, plan)
    name = file_name(header["timestamp"], header["id"])
    path = place_for(store.location, name, plan.target)
    return Draft(
        (NewFile(path, (line_of(header), *chain.records())),),
        path,
        header["id"],
        point,
        resumed_in(text_or_none(plan.wanted.get("cwd")), "pi", "--session", absolute(path)),
        (*entries.notes(), *not_answered(plan.wanted, "Pi")),
        ("usage",),
    )


def _in_place(store: Holds, replay: Replay, plan: Plan, parts: Sequence[Part]) -> Draft:
    """Branch off in the file itself: what is edited becomes a sibling of what it was."""
    refuse_target(plan)
    session = replay.session
    _check_in_place(session, plan)
    stay = rows_that_stay(store, session, parts)
    chain = Chain(session, "parentId", None, _mint(session, plan), stay)
    entries = ForkEntries(store, session, plan, chain)
    entries.add_all(parts[len(stay) :])
    before = replay.state(stay[-1]) if stay else _START
    # The latest title in the file counts, whatever branch it stands on.
    entries.settle({**before, "title": plan.state.get("title")})
    point = entries.mark()
    return Draft(
        (more_lines(store.location, chain.records(), "Pi"),),
        store.location,
        session.id,
        point,
        resumed_in(session.cwd, "pi", "--session", absolute(store.location)),
        (*entries.notes(), *not_answered(plan.wanted, "Pi")),
        ("usage", *(() if "title" in other_edits(plan) else ("title",))),
        agent="pi",
    )


def _check_in_place(session: Session, plan: Plan) -> None:
    facts: PiSession = session.own
    if facts.version < NEWEST_VERSION:
        raise UnsupportedError(
            f"the file is of version {facts.version}, which Pi writes anew when it opens it",
            WITHOUT_IN_PLACE,
        )
    if "cwd" in other_edits(plan):
        raise UnsupportedError("the cwd stands in the header, for all branches", WITHOUT_IN_PLACE)
    for why in refused_lines(session).values():
        raise UnsupportedError(f"Pi does not open this file: {why}", WITHOUT_IN_PLACE)


def _mint(session: Session, plan: Plan) -> Callable[[], str]:
    return fresh_id(session, lambda: plan.fresh(4).hex())


def _header(location: str, facts: PiSession, plan: Plan) -> dict[str, Any]:
    header: dict[str, Any] = {
        "type": "session",
        # A later version than the newest may have entries of other shapes.
        "version": max(facts.version, NEWEST_VERSION),
        "id": uuid7(plan.time, plan.fresh),
        "timestamp": stamp(plan.time),
    }
    if plan.wanted.get("cwd") is not None:
        header["cwd"] = text_of(plan.wanted, "cwd")
    if location != STDIN:
        header["parentSession"] = absolute(location)
    return header
