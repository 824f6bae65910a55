"""Forks along a path of entries: which of them stay, and what is told of their origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from tt_debugger.core.changes import State
from tt_debugger.core.findings import Code
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.sources import Source
from tt_debugger.core.fork.transcripts import Kept, Part
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Session
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.context import Item, Spine
from tt_debugger.formats.shared.fork_files import WITHOUT_IN_PLACE, Holds
from tt_debugger.formats.shared.fork_origin import told_origin
from tt_debugger.formats.shared.forked_entries import kept_entries


def origins_in(context: Spine | None) -> list[Source]:
    """Give of each message in a context the row that it is of, and its place there."""
    items: list[Item] = Spine.items(context)
    return [Source(item.row, place) for item in items for place in range(item.count)]


def rows_that_stay(
    store: Holds, session: Session, parts: Sequence[Part], *, has_nan: bool = False
) -> list[int]:
    """Give the rows before the first change, on which a branch in the same file can hang.

    Raises UnsupportedError where the last of them has no id to be named by.
    """
    stay = [each.row for each in takewhile(_is_kept, parts) if isinstance(each, Kept)]
    for entry in kept_entries(store, session, stay[-1:], has_nan=has_nan):
        if entry.value("id") != session.ids[stay[-1]]:
            raise UnsupportedError(
                "the entry to branch off from has no id of its own", WITHOUT_IN_PLACE
            )
    return stay


def _is_kept(part: Part) -> bool:
    return isinstance(part, Kept)


def refused_lines(session: Session) -> dict[int | None, str]:
    """Give the lines for which the agent does not open the session, and why."""
    return {
        each.line: each.message for each in session.findings if each.code is Code.AGENT_REFUSES
    }


def not_answered(state: State, agent: str) -> tuple[str, ...]:
    """Give what to say where the user said the last, and the agent will not answer by itself."""
    messages = as_list(state.get("messages"))
    if not messages or as_map(messages[-1]).get("role") != "user":
        return ()
    return (f"{agent} sends the last message, which is the user's, together with the next prompt",)


def marker_data(session: Session, plan: Plan) -> dict[str, Any]:
    """Give what the entry at the end of a fork says of where it comes from, and why."""
    return {
        **told_origin(plan),
        "session": session.id,
        "checkpoint": session.ids[plan.row],
    }


def title_wanted(edits: Mapping[str, Any], agent: str) -> str | None:
    """Give the title that was asked for, None where none was.

    Raises UnsupportedError for any other key, and UsageError for what is no title.
    """
    for key in edits:
        if key != "title":
            raise UnsupportedError(
                f"{key} cannot be set in a session of {agent}: only messages and the title can",
                f"set it when {agent} goes on",
            )
    title = edits.get("title")
    if "title" in edits and not (isinstance(title, str) and title.strip()):
        raise UsageError("a title is a text")
    return title


def refuse_edits(edits: Mapping[str, Any], known: Iterable[str], agent: str) -> None:
    """Raise UnsupportedError for an edited key that no entry could say."""
    for key in edits:
        if key not in known:
            raise UnsupportedError(
                f"{agent} has no entry that could set {key}",
                f"it has for: messages, {', '.join(known)}",
            )


def message_from(value: Any, agent: str) -> dict[str, Any]:
    """Give a message that was edited or added. Raises UsageError where it is none."""
    message = as_map(value)
    if not isinstance(message.get("role"), str):
        raise UsageError(f"a message of {agent} is an object with a role")
    return message


def absolute(location: str) -> str:
    """Give the absolute path of a file, links in it followed."""
    return str(Path(location).resolve())
