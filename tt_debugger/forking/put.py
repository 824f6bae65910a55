"""The messages of a checkpoint that is forked from, where the fork has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tt_debugger.core.fork.edits import messages_put, stands
from tt_debugger.core.paths import Path
from tt_debugger.core.tree import NO_ROW

if TYPE_CHECKING:
    from tt_debugger.debugger import Debugger
    from tt_debugger.forking.drafting import Standing


def messages_at(debugger: Debugger, at: Standing) -> tuple[Path, ...]:
    """Give the paths of the messages of the checkpoint that was asked for.

    A fork may go on from another row: what does not stand there any more is not given.
    """
    parent = debugger.session.parents[at.asked]
    before = None if parent == NO_ROW else debugger.state(parent)
    state = debugger.state(at.asked)
    found = messages_put(debugger.changes(at.asked), before, state)
    return tuple(path for path in found if stands(at.state, state, path))
