"""Forking Tau: a new session with a line in the index, or a new branch at the end of the file.

A new session has the lines of one path as they are. What was edited is an entry of its own with
a new id. A `custom` entry, of which Tau sends nothing, is the leaf: it says where the fork comes
from.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tt_debugger.core.changes import Append, State
from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.transcripts import Part, Source, parts_along
from tt_debugger.core.fork.writes import NewFile, Write
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.context import Item, Spine
from tt_debugger.formats.shared.fork_files import place_for, resumed_in
from tt_debugger.formats.shared.fork_paths import (
    absolute,
    not_answered,
    refuse_edits,
    refused_lines,
    rows_that_stay,
)
from tt_debugger.formats.shared.forked_entries import Chain, Holds, fresh_id, more_lines
from tt_debugger.formats.tau.fork_entries import SETTABLE, ForkEntries
from tt_debugger.formats.tau.index import index_line, is_project_folder, where_it_belongs
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
    parts = [*parts_along(session, _origins(replay.memo(plan.row)), plan)]
    if plan.in_place:
        return _in_place(store, replay, plan, parts)
    chain = Chain(session, "parent_id", msgspec.UNSET, _mint(session, plan))
    entries = ForkEntries(store, session, plan, chain)
    entries.add_all(parts)
    entries.settle(_START)
    entries.label()
    point = entries.mark()
    path = place_for(store.location, f"{_new_id(plan)}.jsonl", plan.target)
    in_index, note = _in_index(absolute(path), plan)
    own_id = Path(path).stem
    return Draft(
        (NewFile(path, chain.records()), *in_index),
        path,
        own_id,
        point,
        resumed_in(text_or_none(plan.wanted.get("cwd")), "tau", "--session", own_id),
        (*entries.notes(), *not_answered(plan.wanted, "Tau"), *note),
    )


def _in_index(path: str, plan: Plan) -> tuple[Sequence[Write], Sequence[str]]:
    """Give what lets Tau find a new session, or a note that says what would."""
    line = index_line(path, plan)
    if line is None:
        return (), ("Tau resumes only what its index names, which needs a model and a cwd",)
    if is_project_folder(path):
        return (line,), ()
    return (), (where_it_belongs(plan.wanted["cwd"], line),)


def _in_place(store: Holds, replay: Replay, plan: Plan, parts: Sequence[Part]) -> Draft:
    """Branch off in the file itself: what is edited becomes a sibling of what it was."""
    session = replay.session
    if plan.target is not None:
        raise UsageError("a branch in the original has no other place to be written to")
    for why in refused_lines(session).values():
        raise UnsupportedError(f"Tau does not open this file: {why}", "fork it into a new file")
    stay = rows_that_stay(store, session, parts, has_nan=True)
    chain = Chain(session, "parent_id", msgspec.UNSET, _mint(session, plan), stay)
    entries = ForkEntries(store, session, plan, chain)
    entries.add_all(parts[len(stay) :])
    entries.settle(replay.state(stay[-1]) if stay else _START)
    point = entries.mark()
    path = Path(absolute(store.location))
    lock = str(path.with_name(f".{path.name}.lock"))
    return Draft(
        (more_lines(store.location, chain.entries, lock, "Tau"),),
        store.location,
        session.id,
        point,
        resumed_in(text_or_none(plan.wanted.get("cwd")), "tau", "--session", session.id),
        (*entries.notes(), *not_answered(plan.wanted, "Tau")),
        agent="tau",
    )


def _origins(memo: Memo) -> list[Source]:
    """Give of each message in the context the row that it is of."""
    items: list[Item] = Spine.items(memo.context)
    return [Source(item.row, 0) for item in items]


def _mint(session: Session, plan: Plan) -> Callable[[], str]:
    return fresh_id(session, lambda: _new_id(plan))


def _new_id(plan: Plan) -> str:
    return uuid.UUID(bytes=plan.fresh(16), version=4).hex
