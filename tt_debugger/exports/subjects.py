"""What can be exported: the transcript of a branch, a state, two states beside each other.

A subject holds plain values as they stand in the session. Nothing renders one: it must pass the
gate first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, Protocol

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Splice, State, change_json
from tt_debugger.core.diff.cause import cause
from tt_debugger.core.diff.cause_told import cause_sentences
from tt_debugger.core.diff.comparing import MESSAGES
from tt_debugger.core.diff.divergence import divergence
from tt_debugger.core.diff.normal import comparable
from tt_debugger.core.diff.parting import normal_sentence, parting_sentences
from tt_debugger.core.diff.side import Side
from tt_debugger.core.findings import Finding, finding_json
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import is_message, messages_in
from tt_debugger.core.model import Checkpoint, Head, Kind, Session, checkpoint_json
from tt_debugger.core.refs import parse_fragment, quoted
from tt_debugger.core.text import CUT

NOT_WHOLE = "(what it quotes was cut, and is left out)"
_SAYING = frozenset((Kind.MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.TURN))
_USAGE = "usage"
"""What every answer adds to: each checkpoint tells its own."""


class Origin(msgspec.Struct, frozen=True):
    """Where something comes from: the name of a file, a session in it, a checkpoint of that."""

    file: str
    format: str | None
    session_id: str
    title: str | None
    cwd: str | None
    checkpoint: dict[str, Any]
    """In the form of CONTRACT."""
    label: str | None = None
    is_one_of_several: bool = False
    """Whether the file holds other sessions too, so that a ref must name this one."""

    @property
    def ref(self) -> str:
        """The text that names the point."""
        session = f"{quoted(self.session_id)}:" if self.is_one_of_several else ""
        return f"{self.file}#{session}{quoted(str(self.checkpoint['id']))}"


class Turn(msgspec.Struct, frozen=True):
    """A checkpoint on the way, with the messages that it added and what else it changed."""

    checkpoint: dict[str, Any]
    """In the form of CONTRACT."""
    name: str
    failed: bool
    label: str | None
    messages: tuple[Any, ...]
    changes: tuple[dict[str, Any], ...]
    """All changes but those that added messages, in the form of CONTRACT."""


class Transcript(msgspec.Struct, frozen=True):
    """All that was said on the way to a checkpoint, whatever was compacted away later."""

    origin: Origin
    turns: tuple[Turn, ...]
    findings: tuple[dict[str, Any], ...] = ()


class StateAt(msgspec.Struct, frozen=True):
    """The state at a checkpoint."""

    origin: Origin
    state: State


class TwoStates(msgspec.Struct, frozen=True):
    """Two states to be compared.

    `notes` are sentences: why and where their branches part, and how two formats are compared.
    """

    a: Origin
    b: Origin
    old: State
    new: State
    fork_point: str | None = None
    notes: tuple[str, ...] = ()
    is_masked: bool = True


Subject = Transcript | StateAt | TwoStates


class Source(Protocol):
    """What exports ask of an opened session."""

    location: str
    session: Session

    def state(self, row: int, *, uncompacted: bool = False) -> State:
        """Give the recorded state at a checkpoint."""
        ...

    def changes_along(
        self, path: Sequence[int], *, uncompacted: bool = False
    ) -> Iterable[tuple[Change, ...]]:
        """Give what each of some rows did to the state; each is the parent of the next."""
        ...

    def side(self, row: int, *, uncompacted: bool = False) -> Side:
        """Give a checkpoint as one side of a comparison."""
        ...

    def ref(self, row: int) -> str:
        """Give the location with the ref of a checkpoint, complete enough to open it again."""
        ...


class At(msgspec.Struct, frozen=True):
    """A row of an opened session."""

    source: Source
    row: int

    @property
    def file(self) -> str:
        """The name of the file; a redacted export does not say where it lies."""
        return PurePath(self.source.location).name or self.source.location


def origin_of(at: At, *, whole_path: bool = False) -> Origin:
    """Say where a row stands: its file by name alone, unless the whole path is wanted."""
    session, row = at.source.session, at.row
    fragment = at.source.ref(row).removeprefix(f"{at.source.location}#")
    return Origin(
        at.source.location if whole_path else at.file,
        session.format,
        session.id,
        session.title,
        session.cwd,
        _told_by(session.checkpoint(row)),
        session.labels.get(row),
        parse_fragment(fragment).session is not None,
    )


def transcript_of(at: At, *, whole_path: bool = False) -> Transcript:
    """Give the transcript of the branch that ends at a row."""
    session = at.source.session
    path = session.tree.path_to(at.row)
    names = {session.ids[each] for each in path}
    return Transcript(
        origin_of(at, whole_path=whole_path),
        tuple(
            _turn(session, row, changes)
            for row, changes in zip(
                path, at.source.changes_along(path, uncompacted=True), strict=True
            )
        ),
        _told(each for each in session.findings if each.checkpoint in names),
    )


def state_of(at: At, *, whole_path: bool = False) -> StateAt:
    """Give the state at a row."""
    return StateAt(origin_of(at, whole_path=whole_path), at.source.state(at.row))


def two_states(a: At, b: At, *, mask: bool = True, whole_path: bool = False) -> TwoStates:
    """Give two rows to be compared; of two formats in the normal form, and it says so."""
    old, new = a.source.side(a.row), b.source.side(b.row)
    if a.source is b.source:
        # What was read meanwhile is a session of its own, but the tree of both rows.
        old = msgspec.structs.replace(old, session=new.session)
    parted, states = divergence(old, new), comparable(old, new)
    # Of what they quote no rule would know a token by its half.
    why = cause_sentences(cause(old, new, parted), is_whole=True)
    notes = [*why, *parting_sentences(old, new, parted)]
    if states.is_normal:
        notes.append(normal_sentence(old, new, states.left_out))
    return TwoStates(
        origin_of(a, whole_path=whole_path),
        origin_of(b, whole_path=whole_path),
        states.old,
        states.new,
        None if parted.old_point is None else old.session.ids[parted.old_point],
        tuple(notes),
        mask,
    )


def _turn(session: Session, row: int, changes: Iterable[Change]) -> Turn:
    messages: list[Any] = []
    others: list[Change] = []
    for change in changes:
        said = _said(change)
        messages += said
        if not said and change.path[:1] != (_USAGE,):
            others.append(change)
    checkpoint = session.checkpoint(row)
    head = checkpoint.head
    return Turn(
        _told_by(checkpoint),
        whole(head.name),
        head.failed,
        session.labels.get(row),
        tuple(messages),
        tuple(map(change_json, others)),
    )


def _said(change: Change) -> list[Any]:
    """Give the messages that a change puts into the state, none if it does something else."""
    match change:
        case Append(path=path, value=value):
            values = [value]
        case Splice(path=path, values=several):
            values = list(several)
        case Put(path=(*path, int()), value=value):
            values = [value]
        case _:
            return messages_in([change])
    if tuple(path)[-1:] == (MESSAGES,):
        return values
    return values if all(is_message(as_map(each)) for each in values) else []


def _told_by(checkpoint: Checkpoint) -> dict[str, Any]:
    return checkpoint_json(checkpoint) | {"summary": whole_summary(checkpoint.head)}


def _told(findings: Iterable[Finding]) -> tuple[dict[str, Any], ...]:
    return tuple(
        finding_json(each) | {"message": whole(each.message) or NOT_WHOLE} for each in findings
    )


def whole(text: str) -> str:
    """Give a text that an index may have cut only if it is whole, else none.

    No rule knows a token by its half.
    """
    return "" if CUT in text else text


def whole_summary(head: Head) -> str:
    """Give the summary of a checkpoint that no message of its own tells better."""
    return "" if head.kind in _SAYING else whole(head.summary)
