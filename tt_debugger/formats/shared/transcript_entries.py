"""Entries: what a format gives of a transcript, and from which its session is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Change
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Head
from tt_debugger.formats.shared.document import Lost
from tt_debugger.formats.shared.message_heads import head_of, record_head, time_in
from tt_debugger.formats.shared.reading import Place


class Told(msgspec.Struct, frozen=True):
    """What an entry does to the state.

    Its messages are added; where it `clears`, they take the place of all before, and where it has
    a place `at`, that of the messages there, which are as many as it is `over`. Of messages that
    take the place of all, `added` are those that were not there before, None for all of them.
    `puts` are settings, by their key in the state; `changes` is whatever else there is.
    """

    messages: tuple[Any, ...] = ()
    puts: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    clears: bool = False
    added: tuple[Any, ...] | None = None
    at: int | None = None
    over: int = 1
    changes: tuple[Change, ...] = ()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that an agent wrote down: it becomes a checkpoint.

    It hangs on the entry before it, unless `parent` is an id, or None for a root, or `above` is
    the place of an earlier one among the entries, from 0. Where it has no id of its own, it is
    called by its `name`, or by its place. `place` is where its bytes stand: in the file of the
    store, or of a folder in the file named `file`; None where there are none.
    """

    head: Head
    body: dict[str, Any]
    told: Told = Told()
    own_id: object = None
    name: str = ""
    parent: object = msgspec.UNSET
    above: int | None = None
    time: float | None = None
    place: Place | None = None
    file: str = ""
    label: str | None = None
    subsessions: tuple[str, ...] = ()
    """The sessions that it started, by the names under which the store finds them."""
    findings: tuple[Finding, ...] = ()
    """What is wrong with it; where it stands is filled in."""


class Beside(msgspec.Struct, frozen=True):
    """What is no entry: a header, a title, what only the agent's own program needs."""

    name: str
    place: Place


class LostFile(msgspec.Struct, frozen=True):
    """A file of a folder that cannot be read, or the place of what cannot be read of it."""

    file: str
    size: int
    why: str
    place: Place | None = None


Piece = Entry | Beside | Lost | LostFile


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """All that a format read of a session, in the order in which it happened.

    `size` counts all bytes of the store, None where it has none of its own. `active` is the place
    of the active leaf among the entries; where nothing is said it is the last one. `start` is
    what the state has before the first entry.
    """

    id: str
    pieces: Sequence[Piece]
    size: int | None = None
    start: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    title: str | None = None
    cwd: str | None = None
    forked_from: str | None = None
    active: int | None = None
    findings: tuple[Finding, ...] = ()


class Entries(msgspec.Struct, frozen=True):
    """What a session has of its transcript: the entry of each row; a gap has none."""

    start: Mapping[str, Any]
    entries: Sequence[Entry | LostFile | None]


def with_entries(pieces: Iterable[Piece], entries: Iterable[Entry]) -> list[Piece]:
    """Give pieces with as many other entries in the place of theirs."""
    others = iter(entries)
    return [next(others) if isinstance(each, Entry) else each for each in pieces]


def message_entry(
    message: dict[str, Any],
    place: Place | None = None,
    *,
    name: str = "",
    head: Head | None = None,
    body: dict[str, Any] | None = None,
) -> Entry:
    """Give the entry of a message in a shape that everybody knows, which adds itself.

    `body` is the record that holds it, if that is another; `head` is what is shown of it, if that
    is not what the message alone says.
    """
    record = message if body is None else body
    return Entry(
        head=head_of(message)[0] if head is None else head,
        body=record,
        told=Told((message,)),
        name=name,
        time=time_in(record),
        place=place,
    )


def other_entry(record: dict[str, Any], place: Place | None = None, *, name: str = "") -> Entry:
    """Give the entry of a record that holds no message and is not known."""
    return Entry(
        head=record_head(record), body=record, name=name, time=time_in(record), place=place
    )
