"""Threads: what the family asks of a place where checkpoints are kept, whichever it is.

A row is told by its thread, its namespace ("" is the graph itself, others are graphs inside it)
and its id. Ids ascend as rows are made, by plain comparison of their text. Rows are plain tuples,
as the databases give them: there are many, and of most only the index is ever looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import msgspec

from tt_debugger.core.findings import Finding
from tt_debugger.formats.shared.langgraph.held import Held
from tt_debugger.formats.shared.langgraph.serde import Lost
from tt_debugger.storage.tables import Value

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.writes import NewKeys, NewRows

IndexRow = tuple[Value, Value, Value, Value]
"""Of a checkpoint its id, its parent's id (NULL or "" at a root), its metadata (JSON) and the type
of its body, by which one sees what cannot be decoded; NULL where all bodies are of one type."""

WriteRow = tuple[Value, Value, Value, Value, Value, Value, Value]
"""Of a write the id of its checkpoint, its task, the path of the task ("" or NULL where it is not
recorded), its place, its channel, and the type and bytes of its value."""


TreeRow = tuple[Value, Value, Value]
"""Of a checkpoint its id, its parent's id, and the type of its body, as in an `IndexRow`."""


class Threads(Protocol):
    """The threads that are kept somewhere. Its answers may raise CannotReadError."""

    location: str
    is_live: bool
    """Whether it always answers with what is there now, and never with what was."""

    def newest(self) -> Sequence[str]:
        """Give the ids of the threads that were written to last, the newest last.

        That is one page of them, or all where there are few rows.
        """
        ...

    def beginning_with(self, text: str, most: int) -> Sequence[str]:
        """Give the ids of threads that begin with a text, the one that is it first."""
        ...

    def namespaces(self, thread: str) -> Sequence[str]:
        """Give the namespaces in which a thread has checkpoints, in the order of their text."""
        ...

    def index(
        self, thread: str, namespace: str, *, most: int | None = None, descending: bool = False
    ) -> Iterator[IndexRow]:
        """Go over the checkpoints of a namespace by their ids, without their bodies.

        Ends where rows cannot be read any further, which `findings` tells then.
        """
        ...

    def checkpoints(
        self, thread: str, namespace: str, ids: Sequence[Value], passed: int = 0
    ) -> list[tuple[Held | Lost, Value]]:
        """Give the checkpoints of some ids, which stand next to each other in the index.

        A table without a key may have an id several times; `passed` of those with the first id
        stand before the ones that are asked for.

        Of each what `serde.Serde.checkpoint` gives, or `held.held_of` of an object that was put
        together, with all that belongs into `channel_values`; `Lost` where it cannot be decoded
        or is gone. And its metadata.
        """
        ...

    def writes(
        self, thread: str, namespace: str, first: Value, last: Value, *, values: bool
    ) -> Iterator[WriteRow]:
        """Go over the writes under the checkpoints from one id to another, both included.

        They are by checkpoint, task and place. Without `values` neither type nor bytes are read.
        """
        ...

    def stored(
        self, thread: str, namespace: str, key: Value, passed: int = 0
    ) -> tuple[str | None, Value]:
        """Give the type and bytes of the body of one checkpoint, as far as they are one value.

        Where a body is put together of many parts: its own part, as it is kept.
        """
        ...

    def stamps(self, thread: str, namespace: str) -> Sequence[int]:
        """Give a number for each checkpoint, in the order of the index.

        It is another one as soon as anything of the checkpoint differs, or of what is written
        under it: no two answers of one process that are equal mean different rows.
        """
        ...

    def findings(self) -> Sequence[Finding]:
        """Give what is wrong with the place as a whole, and what was met while reading so far."""
        ...

    def renewed(self) -> Self:
        """Give what is there now: the same object where nothing was written since.

        The old one must still answer as it did, if it can, until it is closed.
        """
        ...

    def watched(self) -> Sequence[str]:
        """Give the paths whose change may mean news."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


@runtime_checkable
class TellsTree(Protocol):
    """Threads that are sooner with the tree alone, where metadata stands behind long bodies."""

    def tree(self, thread: str, namespace: str) -> Iterator[TreeRow]:
        """Go over the checkpoints of a namespace by their ids, without their metadata."""
        ...


class Kept(msgspec.Struct, frozen=True):
    """A checkpoint as it is kept: the type and the bytes of its body, and its metadata as JSON.

    `apart` has by channel the types and bytes of values that are kept apart from the body, None
    where none are.
    """

    kind: str | None
    body: bytes
    metadata: bytes
    apart: Mapping[str, tuple[str, bytes]] | None = None


class NewCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint that is to be written: a copy of `base`, which is at a row of `of_thread`.

    `parent` is None in a thread of its own. `versions` has the version of each channel, and the
    `edited` channels are those whose values are new. `time` is in seconds since 1970.
    """

    base: str
    row: int
    of_thread: str
    thread: str
    namespace: str
    id: str
    parent: str | None
    kept: Kept
    versions: Mapping[str, str]
    edited: tuple[str, ...]
    step: int
    time: float


@runtime_checkable
class TakesForks(Protocol):
    """Threads that say how a checkpoint is added to them; nothing is written here."""

    location: str

    def beginning_with(self, text: str, most: int) -> Sequence[str]:
        """Give the ids of threads that begin with a text, the one that is it first."""
        ...

    def namespaces(self, thread: str) -> Sequence[str]:
        """Give the namespaces in which a thread has checkpoints."""
        ...

    def index(
        self, thread: str, namespace: str, *, most: int | None = None, descending: bool = False
    ) -> Iterator[IndexRow]:
        """Go over the checkpoints of a namespace by their ids."""
        ...

    def kept(self, thread: str, namespace: str, key: str) -> Kept:
        """Give a checkpoint as it is kept.

        Raises UnsupportedError where this layout takes no forks.
        """
        ...

    def writing(self, new: NewCheckpoint) -> NewRows | NewKeys:
        """Say what is to be written for a new checkpoint.

        Raises UnsupportedError where it can only have a thread of its own.
        """
        ...
