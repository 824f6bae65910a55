"""Entries: what a recorder writes, one a step, whatever they are kept in.

The log of them is append-only: no entry is ever changed. Each names its parent, so that a branch
is an entry and no copy. What an entry did to the state are its changes; a snapshot holds the whole
state, so that nobody has to read what came before it, and the ledger of effects for the same
reason. The README describes the same as an open format; `SCHEMA_VERSION` is its version.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from tt_debugger.core.changes import Append, Change, Snapshot, Splice
from tt_debugger.core.model import Usage
from tt_debugger.core.recording.effects import Effect

SCHEMA_VERSION = 1
"""The version of the format itself; that of the states in it is `Snapshotted.version`."""
MOST_DROPPED = 1 << 20
MESSAGES = "messages"
"""The key of the state to whose list a message is added."""

Event = Literal["error", "interrupt", "effect", "plan"]
"""What makes an entry a critical one, which is written at once whatever the policy is."""
Phase = Literal["intended", "begun", "done", "not_done"]


class Continues(msgspec.Struct, frozen=True):
    """The log that another one goes on from, and the id of the last entry that counts there."""

    location: str
    after: str | None


class Header(msgspec.Struct, frozen=True, tag="recording", tag_field="type", omit_defaults=True):
    """What stands before all entries: whose they are, and in which version of the format."""

    session_id: str
    created_at: str
    schema_version: int = msgspec.field(default=SCHEMA_VERSION)
    title: str | None = None
    continues: Continues | None = None


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong in a step: the type of the error and its text."""

    type: str
    message: str


class Migration(msgspec.Struct, frozen=True, omit_defaults=True):
    """A state that was brought from one version of its schema to another.

    `steps` are the names of the functions that did it. `added` and `removed` are the keys of the
    state that are new and that are gone; what was there still stands in the entries before.
    """

    before: int
    after: int
    steps: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class _Entry(msgspec.Struct, frozen=True, gc=False, tag_field="type", omit_defaults=True):
    """What every entry has.

    `time` is ISO 8601 in UTC. `name` is the step's, `tool` the tool that it called.
    """

    id: str
    parent: str | None
    time: str
    name: str = ""
    tool: str | None = None
    event: Event | None = None
    failure: Failure | None = None
    usage: Usage | None = None


class Snapshotted(_Entry, frozen=True, gc=False, tag="snapshot"):
    """The whole state, and all that is known of effects up to here, on whatever branch."""

    state: Any = None
    version: int = 1
    """The version of the state's own schema."""
    effects: tuple[Effect, ...] = ()
    migration: Migration | None = None
    why: str = ""
    """In a word why the state was written whole: start, size, close, migration, moved, thinned."""


class Changed(_Entry, frozen=True, gc=False, tag="change"):
    """A step: what it did to the state, which may be nothing."""

    changes: tuple[Change, ...] = ()


class Said(_Entry, frozen=True, gc=False, tag="message"):
    """A message, added to the list at `messages`."""

    message: Any = None


class Compacted(_Entry, frozen=True, gc=False, tag="compaction"):
    """Messages that gave way to a summary of them.

    `replaces` are the ids of the entries that had brought them; their text stays where it is.
    `index` and `count` say where they stood in the messages of the state, `message` is what
    stands there now.
    """

    replaces: tuple[str, ...] = ()
    index: int = 0
    count: int = 0
    message: Any = None


class BranchSummarised(_Entry, frozen=True, gc=False, tag="branch_summary"):
    """What came of another branch, told by a message; `branch` is the last entry of that one."""

    branch: str = ""
    message: Any = None


class Labelled(_Entry, frozen=True, gc=False, tag="label"):
    """A name for an entry; None takes it away again."""

    target: str = ""
    label: str | None = None


class EffectNoted(_Entry, frozen=True, gc=False, tag="effect"):
    """How far an effect came: it is intended, begun, done or known not to have been done.

    With `done` there are its result and what the step did to the state, at once.
    """

    key: str = ""
    phase: Phase = "intended"
    input_hash: str | None = None
    result: Any = None
    changes: tuple[Change, ...] = ()


class Forked(_Entry, frozen=True, gc=False, tag="fork"):
    """Where a branch begins: its parent is what it goes on from."""

    note: str | None = None


class HandedOff(_Entry, frozen=True, gc=False, tag="handoff"):
    """What one session leaves to the next: the text of the handoff, whole.

    `digest` is the SHA-256 of the text in UTF-8, as hexadecimal text. The state is that of the
    parent.
    """

    path: str = ""
    text: str = ""
    digest: str = ""
    next_step: str | None = None
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


class Recovered(_Entry, frozen=True, gc=False, tag="recovered"):
    """That a writer was cut off: how many bytes it had left unfinished, and their SHA-256.

    `data` are the first `MOST_DROPPED` of the bytes, base64: should a disk have damaged what once
    was whole, it is still there.
    """

    dropped: int = 0
    digest: str = ""
    data: bytes = b""


Entry = Union[  # noqa: UP007 - msgspec wants the members of a union at run time
    Snapshotted,
    Changed,
    Said,
    Compacted,
    BranchSummarised,
    Labelled,
    EffectNoted,
    Forked,
    HandedOff,
    Recovered,
]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode
_decode_header = msgspec.json.Decoder(Header).decode


def encoded(entry: Entry) -> bytes:
    """Give an entry as JSON, in one line without its end."""
    return _encode(entry)


def decoded(data: bytes | str) -> Entry:
    """Give the entry of some JSON. Raises msgspec.DecodeError; ValidationError is one of them."""
    return _decode(data)


def encoded_header(header: Header) -> bytes:
    """Give a header as JSON; the version of the format always stands in it."""
    return _encode({**msgspec.to_builtins(header), "schema_version": header.schema_version})


def decoded_header(data: bytes | str) -> Header:
    """Give the header of some JSON. Raises msgspec.DecodeError."""
    return _decode_header(data)


def changes_of(entry: Entry) -> tuple[Change, ...]:
    """Give what an entry did to the state, compactions included."""
    match entry:
        case Snapshotted(state=state):
            return (Snapshot(state),)
        case Changed(changes=changes) | EffectNoted(changes=changes):
            return changes
        case Said(message=message) | BranchSummarised(message=message):
            return (Append((MESSAGES,), message),)
        case Compacted(index=index, count=count, message=message):
            return (Splice((MESSAGES,), index, count, (message,)),)
        case Labelled() | Forked() | HandedOff() | Recovered():
            return ()
