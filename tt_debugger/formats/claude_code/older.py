"""What older versions of Claude Code would go on with, where it is not what the newest takes.

Measured with 1.0.120, 2.0.76, 2.1.19 and 2.1.197 on the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Session
from tt_debugger.core.text import counted
from tt_debugger.formats.claude_code.tree import Written, healed_root

OLDER = "Claude Code 2.1.19 and before"


def older_versions(
    session: Session,
    written: Written,
    healed: Mapping[int, int],
    lost: AbstractSet[int],
    passed_by: AbstractSet[int],
    preserved: AbstractSet[int],
) -> Iterator[Finding]:
    """Say what is lost by which version, on the way to the active leaf."""
    if session.active is None:
        return
    for row, heir in healed.items():
        gap = (session.heads.time(row) or 0) - (session.heads.time(heir) or 0)
        yield _at(
            session,
            row,
            f"when it resumes, Claude Code goes on from {session.ids[heir]}, {gap:.3g} s before",
            f"{OLDER} starts the context here and sends nothing of what stands before",
            Code.VERSIONS_DIFFER,
        )
    yield from _lost_history(session, lost, healed)
    path = set(session.active_path)
    on_progress = sorted(passed_by & path)
    if on_progress:
        yield _at(
            session,
            on_progress[0],
            f"{counted(len(on_progress), 'row')} on this path hang on lines of progress",
            "Claude Code 2.0.76 and before sends nothing of what stands before such a line",
            Code.VERSIONS_DIFFER,
        )
    side_by_side = _side_by_side(written, path)
    if side_by_side:
        yield _at(
            session,
            side_by_side[0],
            f"in {counted(len(side_by_side), 'message')} several tools ran side by side",
            f"{OLDER} sends only the last call of such a message, and its result",
            Code.VERSIONS_DIFFER,
        )
    kept = sorted(preserved & path)
    if kept:
        yield _at(
            session,
            kept[-1],
            "the compaction names messages that stay as they were",
            f"{OLDER} sends only the summary",
            Code.VERSIONS_DIFFER,
        )
    newest = _newest(session, written)
    if newest is not None and newest not in path and not _is_below(session, newest):
        yield _at(
            session,
            newest,
            f"Claude Code goes on at {session.ids[session.active]}, though this is newer",
            f"{OLDER} goes on at the newest time",
            Code.VERSIONS_DIFFER,
        )


def _lost_history(
    session: Session, lost: AbstractSet[int], healed: Mapping[int, int]
) -> Iterator[Finding]:
    """Say what the newest version drops too: all before a root whose parent is missing."""
    if session.active is None:
        return
    root = healed_root(session.active, session.tree, healed)
    if root in lost and root:
        yield _at(
            session,
            root,
            f"Claude Code starts the context at {session.ids[root]} and sends nothing of what"
            f" stands before it (rows 1 to {root})",
            "its parent is missing; the earlier checkpoints are shown as their own tree",
            Code.AGENT_LOSES,
        )


def _side_by_side(written: Written, path: AbstractSet[int]) -> list[int]:
    """Give the messages on the path whose calls were answered by several lines."""
    answers: dict[int, int] = {}
    for row, names in written.results:
        message = written.calls.get(names[0])
        if message is not None and row in path and message in path:
            answers[message] = answers.get(message, 0) + 1
    return sorted(message for message, count in answers.items() if count > 1)


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


def _at(session: Session, row: int, message: str, hint: str, code: Code) -> Finding:
    return finding(
        code,
        message,
        hint=hint,
        line=session.heads.line(row),
        offset=session.heads.offset(row),
        checkpoint=session.ids[row],
    )
