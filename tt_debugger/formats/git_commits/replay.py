"""How commits replay: each holds all of its files, and what it did is what differs from before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_debugger.core.between import changes_between
from tt_debugger.core.changes import Change, Drop, Put, State
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.git_commits.trees import Trees

_SAID = ("message", "author", "time", "trailers")
_FILES, _MODES = "files", "modes"


class CommitRules:
    """The files of a commit, and what it changed of those of its first parent.

    `parents` is there for a merge alone, `modes` where programs are among the files.
    """

    def __init__(self, trees: Trees) -> None:
        self._trees = trees

    def start(self, session: Session) -> tuple[State, None]:
        """Give the empty state."""
        return {}, None

    def state_of(self, body: Body) -> State:
        """Give all that is in a commit."""
        commit = as_map(body)
        modes = self._trees.programs(commit["tree"])
        files = self._trees.files(commit["tree"])
        return {_FILES: files, **_said(commit), **({_MODES: modes} if modes else {})}

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what differs from the first parent; at a root, all of the state."""
        parent = session.parents[row]
        if parent == NO_ROW:
            return Step(changes_between({}, self.state_of(body)), memo)
        return Step(self.changes(bodies([parent])[0], body), memo)

    def changes(self, before: Body, after: Body) -> tuple[Change, ...]:
        """Give what makes the state of one commit that of another."""
        old, new = as_map(before), as_map(after)
        files = self._changes(old["tree"], new["tree"])
        return (*files, *changes_between(_said(old), _said(new)))

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: who goes on from a commit has its files."""
        return Resumed(replay.state(row))

    def _changes(self, before: str, after: str) -> Iterator[Change]:
        """Give what differs between two trees; only where it shows are files read."""
        if before == after:
            return
        trees = self._trees
        if not before or not after:
            yield from self._changes_of_whole(before, after)
            return
        shapes = trees.shape(before), trees.shape_after(before, after)
        if shapes[0].most != shapes[1].most or any(each.is_too_large for each in shapes):
            yield from self._changes_of_whole(before, after)
            return
        old, new = trees.differences(before, after)
        values = trees.values(new, shapes[1].most)
        yield from (Put((_FILES, path), value) for path, value in values.items())
        yield from (Drop((_FILES, path)) for path in old if path not in new)
        yield from self._changes_of_modes(before, after)

    def _changes_of_whole(self, before: str, after: str) -> Iterator[Change]:
        trees = self._trees
        old, new = ({_FILES: trees.files(each)} for each in (before, after))
        yield from changes_between(old, new)
        yield from self._changes_of_modes(before, after)

    def _changes_of_modes(self, before: str, after: str) -> Iterator[Change]:
        trees = self._trees
        if not any(each and trees.shape(each).programs for each in (before, after)):
            return
        old, new = (
            {_MODES: modes} if (modes := trees.programs(each)) else {} for each in (before, after)
        )
        yield from changes_between(old, new)


def _said(commit: dict[str, Any]) -> dict[str, Any]:
    """Give what a commit says beside its files."""
    parents = commit["parents"]
    said = {key: commit[key] for key in _SAID}
    return said | {"parents": parents} if len(parents) > 1 else said
