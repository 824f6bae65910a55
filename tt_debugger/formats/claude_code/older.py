"""What older versions of Claude Code would go on with, where it is not what the newest takes.

Measured with 1.0.120, 2.0.76, 2.1.19 and 2.1.197 on the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.model import Session
from tt_debugger.core.placed import finding_at
from tt_debugger.core.text import counted
from tt_debugger.formats.claude_code.tree import Written, healed_root
from tt_debugger.formats.shared.reading import lost_before

OLDER = "Claude Code 2.1.19 and before"


def older_versions(
    session: Session,
    written: Written,
    healed: Mapping[int, int],
    lost: AbstractSet[int],
    passed_by: AbstractSet[int],
    preserved: AbstractSet[int],
    fanned: AbstractSet[int],
) -> Iterator[Finding]:
    """Say what is lost by which version, on the way to the active leaf."""
    if session.active is None:
        return
    for row, heir in healed.items():
        gap = (session.heads.time(row) or 0) - (session.heads.time(heir) or 0)
        yield finding_at(
            session,
            row,
            Code.VERSIONS_DIFFER,
            f"when it resumes, Claude Code goes on from {session.ids[heir]}, {gap:.3g} s before",
            f"{OLDER} starts the context here and sends nothing of what stands before",
        )
    root = healed_root(session.active, session.tree, healed)
    if root in lost and root:
        yield lost_before(session, root, "Claude Code")
    path = set(session.active_path)
    on_progress = sorted(passed_by & path)
    if on_progress:
        yield finding_at(
            session,
            on_progress[0],
            Code.VERSIONS_DIFFER,
            f"{counted(len(on_progress), 'row')} on this path hang on lines of progress",
            "Claude Code 2.0.76 and before sends nothing of what stands before such a line",
        )
    side_by_side = sorted(fanned & path)
    if side_by_side:
        yield finding_at(
            session,
            side_by_side[0],
            Code.VERSIONS_DIFFER,
            f"in {counted(len(side_by_side), 'message')} several tools ran side by side",
            f"{OLDER} sends only the last call of such a message, and its result",
        )
    kept = sorted(preserved & path)
    if kept:
        yield finding_at(
            session,
            kept[-1],
            Code.VERSIONS_DIFFER,
            "the compaction names messages that stay as they were",
            f"{OLDER} sends only the summary",
        )
    newest = _newest(session, written)
    if newest is not None and newest not in path and not _is_below(session, newest):
        yield finding_at(
            session,
            newest,
            Code.VERSIONS_DIFFER,
            f"Claude Code goes on at {session.ids[session.active]}, though this is newer",
            f"{OLDER} goes on at the newest time",
        )


def _newest(session: Session, written: Written) -> int | None:
    """Give the row with the newest time that older versions take for the leaf."""
    heads, active = session.heads, session.active
    if active is None or (heads.time(active) or 0) >= heads.latest():
        return active
    left_out = written.sidechain | written.strangers
    timed = [
        (time, row)
        for row in range(len(session))
        if row not in left_out and (time := heads.time(row)) is not None
    ]
    return max(timed)[1] if timed else None


def _is_below(session: Session, row: int) -> bool:
    """Tell whether a row descends from the active leaf."""
    return session.active is not None and session.tree.is_ancestor(session.active, row)
