"""Commits of a recording: what one says, how it is called, and in which order they were written.

Each entry is a commit, and the commit of its parent is its parent. All of them hang on one that
holds the header alone. A ref has one end only: where a branch is left for another, a ref of its
own keeps the end of it, called after the commit by which it was left. As long as that commit is
not there itself, as after a crash, it counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from urllib.parse import quote, unquote

import msgspec

from tt_debugger.core.recording.entries import Entry, Header
from tt_debugger.core.text import summary_line

REFS = "refs/agents/"
"""Where refs of recordings are: out of the way of branches and tags."""
STATE, ENTRY, EFFECTS, HEADER = "state.json", "entry.json", "effects.json", "header.json"
"""The files of a commit: the whole state, the entry without it, the ledger, the header."""
_FORKS = "-forks/"
_SHORT = 16
"""Digits of a commit that tell it from all others of its recording."""
_LONGEST_SUBJECT = 72
_TRAILERS = re.compile(
    r"\n\n(?:Entry: (.+)\n)?Turn: ([0-9]{1,15})\nSession: (.+)(?:\nTool: .+)?\n*\Z"
)
_ODD = re.compile(r"[%\x00-\x1f\x7f-\x9f\u2028\u2029]|\A\s|\s\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NO_REF = re.compile(r"~|\A\.|\.(?=\.|lock\Z)|\.\Z|-(?=forks\Z)")
"""What stands in the way of a name of a ref where nothing else does."""
_NO_NAME = re.compile(r"[<>\x00-\x1f\x7f]+")
_NO_MAILBOX = re.compile(r"[^\w.+-]+", re.ASCII)
_CRUD = " .,:;\"'\\"
"""What git cuts off from the ends of names."""


class Turn(msgspec.Struct, frozen=True):
    """A commit of a recording.

    `entry` is the id of its entry, None where it is the one that begins the recording; `number`
    counts the entries over all branches, from 1.
    """

    commit: str
    parent: str | None
    number: int
    entry: str | None


def ref_of(session: str) -> str:
    """Give the ref of a session, whose id may be anything."""
    return REFS + _NO_REF.sub(lambda found: f"%{ord(found[0]):02X}", quote(session, safe="-_."))


def session_of(ref: str) -> str:
    """Give the session of a ref."""
    return unquote(ref.removeprefix(REFS))


def message_of(entry: Entry, number: int, session: str) -> str:
    """Give the message of the commit of an entry."""
    kind = str(entry.__struct_config__.tag)
    subject = summary_line(_CONTROL.sub(" ", entry.name), _LONGEST_SUBJECT) or kind
    tool = "" if entry.tool is None else f"Tool: {_quoted(entry.tool)}\n"
    return f"{subject}\n\nEntry: {_quoted(entry.id)}\n{_told(number, session)}{tool}"


def beginning_of(header: Header) -> str:
    """Give the message of the commit that begins a recording."""
    title = summary_line(_CONTROL.sub(" ", header.title or ""), _LONGEST_SUBJECT)
    return f"{title or 'A recording begins'}\n\n{_told(0, header.session_id)}"


def turn_of(commit: str, parents: str, message: str) -> Turn | None:
    """Give what a commit of a recording says, None for any other; parents are apart by spaces."""
    found = _TRAILERS.search(message)
    if found is None:
        return None
    entry = None if found[1] is None else unquote(found[1])
    return Turn(commit, parents.partition(" ")[0] or None, int(found[2]), entry)


def commit_data(tree: str, parent: str | None, session: str, time: str, message: str) -> bytes:
    """Give the bytes of a commit, whose author is the session. Raises ValueError for no time."""
    name = _NO_NAME.sub("-", session).strip(_CRUD) or "agent"
    mailbox = _NO_MAILBOX.sub("-", session).strip(".-") or "agent"
    signed = f"{name} <{mailbox}@agents.invalid> {_seconds(time)} +0000"
    head = (
        f"tree {tree}",
        *(() if parent is None else (f"parent {parent}",)),
        *(f"author {signed}", f"committer {signed}"),
    )
    return "\n".join((*head, "", message)).encode()


def keeping_ref(ref: str, commit: str, end: str) -> str:
    """Give the ref that keeps the end of a branch, which was left by a commit."""
    return f"{ref}{_FORKS}{commit[:_SHORT]}.{end[:_SHORT]}"


def ends_kept(ref: str, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Give the ends of branches that are kept, by the first digits of what they were left by."""
    kept: dict[str, list[str]] = {}
    for name, value in names.items():
        if name.startswith(f"{ref}{_FORKS}"):
            by = name.removeprefix(f"{ref}{_FORKS}").partition(".")[0]
            kept.setdefault(by, []).append(value)
    return kept


def recordings_in(names: Iterable[str]) -> list[str]:
    """Give the refs of recordings among the names of all refs."""
    return sorted(filter(is_recording, names))


def is_recording(ref: str) -> bool:
    """Tell by its name whether a ref is that of a recording, and not of a branch of one."""
    return ref.startswith(REFS) and _FORKS not in f"{ref}/"


def newest_first(
    turns: Mapping[str, Turn], end: str, kept: Mapping[str, Iterable[str]]
) -> list[Turn]:
    """Give the turns that an end leads to, and those that were left on the way to it."""
    found: dict[str, Turn] = {}
    waiting = [end]
    while waiting:
        turn = turns.get(waiting.pop())
        if turn is None or turn.commit in found:
            continue
        found[turn.commit] = turn
        waiting += (*([] if turn.parent is None else [turn.parent]),)
        waiting += kept.get(turn.commit[:_SHORT], ())
    return sorted(found.values(), key=lambda turn: turn.number, reverse=True)


def _told(number: int, session: str) -> str:
    return f"Turn: {number}\nSession: {_quoted(session)}\n"


def _quoted(text: str) -> str:
    """Give a text that may be anything as what a line can hold: see `urllib.parse.unquote`."""
    return _ODD.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def _seconds(time: str) -> int:
    moment = datetime.fromisoformat(time)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, int(moment.timestamp()))
