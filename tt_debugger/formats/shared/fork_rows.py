"""Forks that are rows of a database: where they go."""

from __future__ import annotations

from tt_debugger.core.fork.plan import Plan
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.fork_documents import fork_name
from tt_debugger.formats.shared.fork_files import place_for
from tt_debugger.storage.servers import is_server
from tt_debugger.storage.stdin import STDIN


def copy_for(location: str, plan: Plan) -> str | None:
    """Give the path of the copy of a database that gets the rows; None where itself does.

    Raises UnsupportedError where neither can be.
    """
    if is_server(location):
        refuse_target_at_server(plan)
        return None
    if plan.target is not None:
        return place_for(location, fork_name(location, plan.fresh), plan.target)
    if location == STDIN:
        raise UnsupportedError("what came through stdin has no place to add to", "--to FILE has")
    return None


def refuse_target_at_server(plan: Plan) -> None:
    """Raise UnsupportedError where what is at a server is to be forked elsewhere."""
    if plan.target is not None:
        raise UnsupportedError(
            "what is at a server is forked there, under a name of its own",
            "leave out --to: nothing that is there is changed",
        )
