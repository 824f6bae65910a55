"""Where a fork comes from, and why: what the fork itself says of it."""

from __future__ import annotations

from tt_debugger.core.fork.plan import Plan

OURS = "ttdbg"
"""The key of a record under which it stands, where it has no record of its own."""
MARKER = "ttdbg.fork"
"""What an entry is called that says where a fork comes from."""


def told_origin(plan: Plan) -> dict[str, str]:
    """Give the ref of the checkpoint that was forked, and the note if there is one."""
    return {"origin": plan.origin} | ({} if plan.note is None else {"note": plan.note})
