"""Forking Tau: a new session with a line in the index, or a new branch at the end of the file.

A new session has the lines of one path as they are. What was edited is an entry of its own with
a new id. A `custom` entry, of which Tau sends nothing, is the leaf: it says where the fork comes
from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tt_debugger.core.changes import Append, State
from tt_debugger.core.fork.minting import uuid4_hex
from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.transcripts import Part, parts_along
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    Holds,
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
from tt_debugger.formats.tau.fork_entries import SETTABLE, ForkEntries
from tt_debugger.formats.tau.index import in_index, is_project_folder
from tt_debugger.formats.tau.replay import Memo

_START: State = dict.fromkeys(SETTABLE)


def said(text: str, time: float) -> Append:
    """Give the edit that adds what the user says."""
    message = {"role": "user", "content": text, "timestamp": round(time * 1000)}
    return Append(("messages",), message)


def draft(store: Holds, replay: Replay, plan: Plan) -> Draft:
    """Give all that a fork would write. Raises UnsupportedError, UsageError."""
    session = replay.session
    refuse_edits(other_edits(plan), SETTABLE, "Tau")
    memo: Memo = replay.memo(plan.row)
    parts = [*parts_along(session, origins_in(memo.context), plan)]
    if plan.in_place:
        return _in_place(store, replay, plan, parts)
    chain = Chain(session, "parent_id", msgspec.UNSET, _mint(session, plan))
    entries = ForkEntries(store, session, plan, chain)
    entries.add_all(parts)
    entries.settle(_START)
    entries.label()
    point = entries.mark()
    path = place_for(store.location, f"{uuid4_hex(plan.fresh)}.jsonl", plan.target)
    lines, note = in_index(
        absolute(path), plan.wanted, plan.time, is_found=is_project_folder(absolute(path))
    )
    own_id = Path(path).stem
    return Draft(
        (NewFile(path, chain.records()), *lines),
        path,
        own_id,
        point,
        resumed_in(text_or_none(plan.wanted.get("cwd")), "tau", "--session", own_id),
        (*entries.notes(), *not_answered(plan.wanted, "Tau"), *note),
        ("usage",),
    )


def _in_place(store: Holds, replay: Replay, plan: Plan, parts: Sequence[Part]) -> Draft:
    """Branch off in the file itself: what is edited becomes a sibling of what it was."""
    refuse_target(plan)
    session = replay.session
    for why in refused_lines(session).values():
        raise UnsupportedError(f"Tau does not open this file: {why}", WITHOUT_IN_PLACE)
    stay = rows_that_stay(store, session, parts, has_nan=True)
    chain = Chain(session, "parent_id", msgspec.UNSET, _mint(session, plan), stay)
    entries = ForkEntries(store, session, plan, chain)
    entries.add_all(parts[len(stay) :])
    entries.settle(replay.state(stay[-1]) if stay else _START)
    point = entries.mark()
    path = Path(absolute(store.location))
    lock = str(path.with_name(f".{path.name}.lock"))
    return Draft(
        (more_lines(store.location, chain.records(), "Tau", lock),),
        store.location,
        session.id,
        point,
        resumed_in(text_or_none(plan.wanted.get("cwd")), "tau", "--session", session.id),
        (*entries.notes(), *not_answered(plan.wanted, "Tau")),
        ("usage", *(() if "title" in other_edits(plan) else ("title",))),
        agent="tau",
    )


def _mint(session: Session, plan: Plan) -> Callable[[], str]:
    return fresh_id(session, lambda: uuid4_hex(plan.fresh))
