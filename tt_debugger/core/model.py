"""The model: a session is an index of checkpoints; what a checkpoint holds stays in the store.

A session of a million checkpoints must open, so the index is kept in columns (one array or list
per property) and a `Checkpoint` is made when it is asked for.
"""

from __future__ import annotations

import enum
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import compress, count, repeat
from operator import is_
from typing import Any, NewType

import msgspec

from tt_debugger.core.chains import Chains, chains_of
from tt_debugger.core.findings import Finding
from tt_debugger.core.tree import NO_ROW, Tree, heir_among

_ABSENT = -(2**63)
"""What stands for None in a column of integers; -1 would not do: it is LangGraph's first step."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_1 = -62_135_596_800
_YEAR_10000 = 253_402_300_800

CheckpointId = NewType("CheckpointId", str)
SessionId = NewType("SessionId", str)


class Kind(enum.StrEnum):
    """What a checkpoint is."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TURN = "turn"
    MODEL_CHANGE = "model_change"
    SETTING = "setting"
    COMPACTION = "compaction"
    BRANCH_SUMMARY = "branch_summary"
    LABEL = "label"
    SUPER_STEP = "super_step"
    INTERRUPT = "interrupt"
    SNAPSHOT = "snapshot"
    COMMIT = "commit"
    HANDOFF = "handoff"
    CUSTOM = "custom"
    GAP = "gap"
    UNREADABLE = "unreadable"


class Role(enum.StrEnum):
    """Who speaks in a checkpoint."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


BY_USER, FAILED, LABELLED = 32, 64, 128
"""The bits of a row's traits; the five below them are the number of its kind."""
KIND_BITS = 31
KIND_NUMBERS = {kind: number for number, kind in enumerate(Kind)}
SILENT = len(KIND_NUMBERS)
"""The number of a custom checkpoint that says nothing."""
# By identity: hashing a member of an enumeration takes longer than all the rest of the work.
_NUMBERS_BY_ID = {id(kind): number for kind, number in KIND_NUMBERS.items()}


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=False):
    """Tokens and cost as the agent recorded them; cost in the agent's own currency (dollars)."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total + other.total,
            # Sums of decimal fractions; without rounding 0.1 + 0.2 would show its tail.
            round(self.cost + other.cost, 10),
        )

    @property
    def context(self) -> int:
        """The size of the context after this call: all that was read, and what was answered."""
        return self.input + self.cache_read + self.cache_write + self.output


class Head(msgspec.Struct, frozen=True, gc=False):
    """What the index keeps of one record: enough to draw a row of the tree.

    `time` is seconds since 1970 or None; `offset` and `length` are the record's bytes in its file
    (line end included), None for stores without; `name` is the tool, model or type a row is titled
    with; `failed` marks what went wrong.
    """

    kind: Kind
    role: Role | None = None
    name: str = ""
    summary: str = ""
    time: float | None = None
    step: int | None = None
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    usage: Usage | None = None
    failed: bool = False


class Checkpoint(msgspec.Struct, frozen=True):
    """One point that one can travel to. `row` counts from 0 in storage order."""

    row: int
    id: CheckpointId
    parent: CheckpointId | None
    head: Head


class Heads:
    """The columns of an index: append-only, apart from taking back the newest."""

    def __init__(self) -> None:
        self._kinds: list[Kind] = []
        self._roles: list[Role | None] = []
        self._names: list[str] = []
        self._summaries: list[str] = []
        self._usages: list[Usage | None] = []
        self._times: array[float] = array("d")
        self._steps: array[int] = array("q")
        self._lines: array[int] = array("q")
        self._offsets: array[int] = array("q")
        self._lengths: array[int] = array("q")
        self._failed = bytearray()

    def __len__(self) -> int:
        return len(self._kinds)

    def copy(self) -> Heads:
        """Give columns that can grow apart from these."""
        twin = Heads()
        for name, column in vars(self).items():
            setattr(twin, name, column[:])
        return twin

    def append(self, head: Head) -> None:
        """Add the next checkpoint in storage order; a time that ISO 8601 cannot say is none."""
        self._kinds.append(head.kind)
        self._roles.append(head.role)
        self._names.append(head.name)
        self._summaries.append(head.summary)
        self._usages.append(head.usage)
        self._times.append(_or_nan(head.time))
        self._steps.append(_or_absent(head.step))
        self._lines.append(_or_absent(head.line))
        self._offsets.append(_or_absent(head.offset))
        self._lengths.append(_or_absent(head.length))
        self._failed.append(head.failed)

    def __getitem__(self, row: int) -> Head:
        time = self._times[row]
        return Head(
            self._kinds[row],
            self._roles[row],
            self._names[row],
            self._summaries[row],
            None if math.isnan(time) else time,
            _or_none(self._steps[row]),
            _or_none(self._lines[row]),
            _or_none(self._offsets[row]),
            _or_none(self._lengths[row]),
            self._usages[row],
            bool(self._failed[row]),
        )

    def texts(self, rows: slice) -> list[str]:
        """Give the names and summaries of a run of rows."""
        return self._names[rows] + self._summaries[rows]

    def kind(self, row: int) -> Kind:
        """Give the kind of a row without making its head."""
        return self._kinds[row]

    def role(self, row: int) -> Role | None:
        """Give the role of a row without making its head."""
        return self._roles[row]

    def usage(self, row: int) -> Usage | None:
        """Give what a row itself used."""
        return self._usages[row]

    def failed(self, row: int) -> bool:
        """Tell whether a row went wrong."""
        return bool(self._failed[row])

    def time(self, row: int) -> float | None:
        """Give the time of a row."""
        time = self._times[row]
        return None if math.isnan(time) else time

    def length(self, row: int) -> int | None:
        """Give the bytes of a row's record in its file."""
        return _or_none(self._lengths[row])

    def traits(self) -> bytearray:
        """Give one byte per row: the number of its kind, `BY_USER` and `FAILED`."""
        traits = bytearray(map(_NUMBERS_BY_ID.__getitem__, map(id, self._kinds)))
        for row in compress(count(), map(is_, self._kinds, repeat(Kind.CUSTOM))):
            if not self._summaries[row]:
                traits[row] = SILENT
        for row in compress(count(), map(is_, self._roles, repeat(Role.USER))):
            traits[row] |= BY_USER
        for row in compress(count(), self._failed):
            traits[row] |= FAILED
        return traits

    def contexts(self) -> dict[int, int]:
        """Give the size of the context at each row that tells it; none that is known is 0."""
        told: dict[int, int] = {}
        usages, roles = self._usages, self._roles
        for row in compress(count(), usages):
            usage = usages[row]
            if usage is not None and roles[row] is Role.ASSISTANT and (size := usage.context):
                told[row] = size
        # A compaction shrinks the context by an amount that only the next answer tells.
        told.update(
            dict.fromkeys(compress(count(), map(is_, self._kinds, repeat(Kind.COMPACTION))), 0)
        )
        return told


def _or_nan(time: float | None) -> float:
    return math.nan if time is None or not _has_iso_form(time) else time


def _or_absent(value: int | None) -> int:
    return _ABSENT if value is None else value


def _or_none(value: int) -> int | None:
    return None if value == _ABSENT else value


class Extent(msgspec.Struct, frozen=True):
    """How much of a file is shown: shown + skipped = size. In bytes."""

    shown: int
    skipped: int

    @property
    def size(self) -> int:
        """All bytes of the file."""
        return self.shown + self.skipped


class Session(msgspec.Struct, frozen=True, dict=True, eq=False):
    """One history: its checkpoints in storage order, their tree, and where the agent would go on.

    `ids` and `parents` have one item per row; `labels` maps a row to its label; `active` is the
    row of the active leaf or None; `format` is None for an empty file. `extent` is None where the
    store has no bytes of its own.
    """

    id: SessionId
    format: str | None
    heads: Heads
    ids: list[str]
    parents: array[int]
    labels: Mapping[int, str] = msgspec.field(default_factory=dict[int, str])
    active: int | None = None
    title: str | None = None
    cwd: str | None = None
    forked_from: str | None = None
    extent: Extent | None = None
    findings: tuple[Finding, ...] = ()
    own: Any = None
    """What its format keeps for replay."""

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Checkpoint]:
        return map(self.checkpoint, range(len(self)))

    def checkpoint(self, row: int) -> Checkpoint:
        """Give the checkpoint of a row. Raises IndexError beyond the last."""
        parent = self.parents[row]
        return Checkpoint(
            row,
            CheckpointId(self.ids[row]),
            None if parent == NO_ROW else CheckpointId(self.ids[parent]),
            self.heads[row],
        )

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each id."""
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def tree(self) -> Tree:
        """The tree of rows."""
        return Tree(self.parents)

    @cached_property
    def order(self) -> Sequence[int]:
        """The rows in drawing order, parents first: a range where they are stored so."""
        return range(len(self)) if self.tree.has_parents_first else self.tree.parents_first()

    @cached_property
    def positions(self) -> Sequence[int]:
        """The place of each row in `order`."""
        if isinstance(self.order, range):
            return self.order
        positions = array("q", bytes(8 * len(self)))
        for position, row in enumerate(self.order):
            positions[row] = position
        return positions

    @cached_property
    def chains(self) -> Chains:
        """The tree by chains of places in `order`."""
        parents = self.parents
        if isinstance(self.order, range):
            return Chains(len(self), {row: parents[row] for row in self.tree.hung})
        positions = array("q", (*self.positions, NO_ROW))
        return chains_of([positions[parents[row]] for row in self.order])

    @cached_property
    def traits(self) -> bytes:
        """One byte per row: what filters ask of it, see `KIND_BITS`, `BY_USER` and after."""
        traits = self.heads.traits()
        for row in self.labels:
            traits[row] |= LABELLED
        return bytes(traits)

    @cached_property
    def active_path(self) -> list[int]:
        """The rows from the root to the active leaf."""
        return [] if self.active is None else self.tree.path_to(self.active)

    @cached_property
    def on_active_path(self) -> bytearray:
        """One byte per row: 1 on the active path."""
        marks = bytearray(len(self))
        if self.active is not None:
            for begin, end in self.tree.stretches_above(self.active):
                marks[begin:end] = b"\1" * (end - begin)
        return marks

    def heir(self, row: int) -> int:
        """Give the child on the active path, else the newest one, NO_ROW for a leaf."""
        return heir_among(self.tree.children(row), self.on_active_path)

    @cached_property
    def context_sizes(self) -> array[int]:
        """Tokens in the context at each row, as last measured on its path; 0 where unknown."""
        told, order = self.heads.contexts(), self.order
        mask = bytearray(len(self))
        for row in told:
            mask[self.positions[row]] = 1
        # NO_ROW finds the last item, for rows above which nothing is told.
        sizes = [*map(told.__getitem__, compress(order, mask)), 0]
        nearest: Sequence[int] = self.chains.nearest_marked(mask)
        if not isinstance(order, range):
            nearest = [nearest[position] for position in self.positions]
        return array("q", map(sizes.__getitem__, nearest[: len(self)]))


def iso_time(seconds: float | None) -> str | None:
    """Give a time as ISO 8601 in UTC with milliseconds, or None where out of range."""
    if seconds is None or not _has_iso_form(seconds):
        return None
    moment = _EPOCH + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _has_iso_form(seconds: float) -> bool:
    """Tell whether a time lies in the years 1 to 9999; infinity and NaN do not."""
    return _YEAR_1 <= seconds < _YEAR_10000


def checkpoint_json(checkpoint: Checkpoint) -> dict[str, Any]:
    """Give a checkpoint in the form of CONTRACT; its row counts from 1."""
    head = checkpoint.head
    return {
        "id": checkpoint.id,
        "parent": checkpoint.parent,
        "kind": str(head.kind),
        "role": None if head.role is None else str(head.role),
        "row": checkpoint.row + 1,
        "step": head.step,
        "time": iso_time(head.time),
        "summary": head.summary,
        "line": head.line,
        "offset": head.offset,
        "length": head.length,
        "usage": None if head.usage is None else msgspec.structs.asdict(head.usage),
    }
