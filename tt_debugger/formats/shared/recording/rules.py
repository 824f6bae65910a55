"""How a recording replays: each entry says itself what it did to the state.

What an entry says on file may be wrong. A change that cannot be made is left out, and kept in mind
as a flaw of its entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.paths import pointer
from tt_debugger.core.placed import finding_at
from tt_debugger.core.recording.entries import MESSAGES
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.recording.compacted import Summaries, uncompacted, with_summary
from tt_debugger.formats.shared.recording.heads import changes_in
from tt_debugger.formats.shared.recording.outline import (
    Outline,
    Outlines,
    fits,
    hashed,
    untold,
)


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it.

    `summaries` are those that the state without compactions has not. `flaws` are what the entry
    itself says in vain. `version` is that of the schema of the state.
    """

    outline: Outline
    summaries: Summaries = ()
    flaws: tuple[str, ...] = ()
    version: int = 1


class RecordingRules:
    """How a recording replays; with `uncompacted`, summaries take the place of nothing."""

    def __init__(self, *, uncompacted: bool = False) -> None:
        self._uncompacted = uncompacted
        self._outlines = Outlines(hashed if uncompacted else untold)

    def start(self, session: Session) -> tuple[State, Memo]:
        """Give the state before the first entry: nothing is in it."""
        return {}, Memo(Outline({}))

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one entry changes; its body is the entry as JSON has it."""
        known: Memo = memo
        entry = as_map(body)
        live = self._outlines.live(known.outline)
        summaries, flaws = known.summaries, list[str]()
        changes, made = list[Change](), list[Change]()
        for change in _changes_of(entry):
            if change is None:
                flaws.append("what it lists is no change")
                continue
            change = _at_first(live.value, change)  # noqa: PLW2901 - the same, as it can be made
            if not fits(live.value, change):
                flaws.append(_flaw(change))
                continue
            own = self._outlines.change(change)
            if self._uncompacted:
                found, summaries = self._without_compaction(
                    entry, change, own, live.value, summaries
                )
                changes += found
            else:
                changes.append(change)
            live.apply((own,))
            made.append(own)
        is_anew = any(isinstance(each, Snapshot) for each in made)
        outline = self._outlines.after(known.outline, live, tuple(made), is_anew=is_anew)
        memo = Memo(outline, summaries, tuple(flaws), _version(entry, known.version))
        return Step(tuple(changes), memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: a recorder goes on from just that."""
        return Resumed(replay.state(row))

    def _without_compaction(
        self,
        entry: Mapping[str, Any],
        change: Change,
        own: Change,
        before: Any,
        summaries: Summaries,
    ) -> tuple[list[Change], Summaries]:
        """Give a change as it is where no compaction was made, and the summaries after it."""
        if entry.get("type") == "compaction" and isinstance(change, Splice):
            return [], with_summary(summaries, change.index, change.count)
        if summaries and isinstance(change, Snapshot) and isinstance(own, Snapshot):
            after = as_map(own.value)
            if after.get(MESSAGES) == before.get(MESSAGES):
                # The same state, written whole: what the summaries stand for is still there.
                return list(_keys_changed(before, after, as_map(change.value))), summaries
        moved, summaries = uncompacted(summaries, change)
        return ([] if moved is None else [moved]), summaries


def _changes_of(entry: Mapping[str, Any]) -> Iterator[Change | None]:
    """Give what an entry does to the state; None for what it lists and is no change."""
    match entry.get("type"):
        case "snapshot":
            yield Snapshot(entry.get("state"))
        case "change" | "effect":
            yield from changes_in(entry)
        case "message" | "branch_summary":
            yield Append((MESSAGES,), entry.get("message"))
        case "compaction":
            yield _compaction(entry)
        case _:
            pass


def _compaction(entry: Mapping[str, Any]) -> Change | None:
    index, count = entry.get("index", 0), entry.get("count", 0)
    if type(index) is int and type(count) is int:
        return Splice((MESSAGES,), index, count, (entry.get("message"),))
    return None


def _version(entry: Mapping[str, Any], before: int) -> int:
    """Give the version of the state's schema after an entry."""
    version = entry.get("version", 1) if entry.get("type") == "snapshot" else before
    return version if type(version) is int else before


def _flaw(change: Change) -> str:
    """Say that a change cannot be made."""
    if isinstance(change, Snapshot):
        return "the state is no object"
    place = summary_line(pointer(change.path), _LONGEST_PLACE) or "the whole state"
    return f"{type(change).__name__.lower()} at {place}: there is no such place"


_LONGEST_PLACE = 60


def _at_first(outline: Any, change: Change) -> Change:
    """Give a message that is the first of all as the list of it."""
    if isinstance(change, Append) and change.path == (MESSAGES,) and MESSAGES not in outline:
        return Put((MESSAGES,), [change.value])
    return change


def _keys_changed(
    before: Mapping[str, Any], after: Mapping[str, Any], state: Mapping[str, Any]
) -> Iterator[Change]:
    """Give the changes to keys whose outlines differ."""
    for key in before:
        if key not in after:
            yield Drop((key,))
    for key, value in state.items():
        if key not in before or before[key] != after[key]:
            yield Put((key,), value)


def flaws_along(replay: Replay) -> Iterator[Finding]:
    """Replay all entries of a session; say which changes cannot be made."""
    session = replay.session
    for row in session.order:
        if session.heads.is_gap(row):
            continue
        memo: Memo = replay.step(row).memo
        for flaw in memo.flaws:
            yield finding_at(
                session,
                row,
                Code.AGENT_REFUSES,
                f"a change cannot be made, and is left out: {flaw}",
                "the recorder does not go on from here",
            )
