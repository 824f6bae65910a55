"""The model: a session is an index of checkpoints; what a checkpoint holds stays in the store.

A session of a million checkpoints must open, so the index is kept in columns (one array or list
per property) and a `Checkpoint` is made when it is asked for.
"""

from __future__ import annotations

import enum
import math
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain, compress, count, pairwise
from operator import attrgetter
from typing import Any, NewType, Protocol

import msgspec

from tt_debugger.core.chains import Chains, chains_of
from tt_debugger.core.findings import Finding
from tt_debugger.core.ids import Ids
from tt_debugger.core.tree import NO_ROW, Tree, heir_among

ABSENT = -(2**63)
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
_KINDS = tuple(Kind)
_GAP, _CUSTOM = KIND_NUMBERS[Kind.GAP], KIND_NUMBERS[Kind.CUSTOM]
_COMPACTION = KIND_NUMBERS[Kind.COMPACTION]
_ROLES = (None, *Role)
_ROLE_NUMBERS = {role: number for number, role in enumerate(_ROLES)}
# Tables by which a column of bytes becomes one of bits.
_BY_USER_ROLES = bytes(BY_USER * (number == _ROLE_NUMBERS[Role.USER]) for number in range(256))
_FAILED_BITS = bytes(FAILED * bool(number) for number in range(256))
_TOLD_EVERY = 1024


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


class Span(msgspec.Struct, frozen=True, gc=False):
    """The bytes of a record in its file, line end included."""

    line: int
    offset: int
    length: int


class Describe(Protocol):
    """Gives the heads of rows that are not described yet, in the order asked for."""

    def __call__(self, heads: Heads, rows: Sequence[int], /) -> Iterable[Head]:
        """Give them; of the heads, the places of the records are known."""
        ...


BLOCK = 64
"""Rows that are described at once, as one of them is asked for."""
OPEN_BLOCKS = 256
"""Blocks that are kept as they are looked at; of more, the first are packed again."""


class _Texts(msgspec.Struct, array_like=True):
    """What a block of rows says: a name, a summary and what was used for each."""

    names: list[str]
    summaries: list[str]
    usages: list[Usage | None]

    def copied(self) -> _Texts:
        return _Texts(self.names.copy(), self.summaries.copy(), self.usages.copy())

    def filled(self, size: int) -> _Texts:
        """Make room for so many rows."""
        missing = size - len(self.names)
        if missing > 0:
            self.names += [""] * missing
            self.summaries += [""] * missing
            self.usages += [None] * missing
        return self


def _numbers(data: bytes) -> array[int]:
    return array("q", data)


_decode_texts = msgspec.msgpack.Decoder(_Texts).decode
_BYTE_COLUMNS = ("_kinds", "_roles", "_failed", "_waiting")
_ARRAY_COLUMNS = ("_times", "_line_rows", "_line_numbers", "_offsets", "_lengths")


class Heads:
    """The columns of an index, which only grow.

    Where a record stands, when it was written and whether it is a gap is known of each row at
    once. What it is and says may be described later, when somebody asks for it: `extend` adds
    such rows, and `describe` gives their heads (of which kind, role, name, summary, usage and
    failed are taken). Columns that ask of every row describe all that are waiting.
    """

    def __init__(self, describe: Describe | None = None) -> None:
        self.describe = describe
        self.parts: dict[int, tuple[Span, ...]] = {}
        """Further records of rows that were written in several, beside the first of each."""
        self.named: dict[int, str] = {}
        """Names of rows whose own records do not tell them: the tool of a result, by its call."""
        self._kinds = bytearray()
        self._roles = bytearray()
        self._failed = bytearray()
        self._waiting = bytearray()
        self._times: array[float] = array("d")
        # Most records stand on the line after that of the row before: these rows do not.
        self._line_rows: array[int] = array("q")
        self._line_numbers: array[int] = array("q")
        self._offsets: array[int] = array("q")
        self._lengths: array[int] = array("q")
        self._steps: dict[int, int] = {}
        # A block that nobody looks at is packed: a million rows would say too much.
        self._texts: list[_Texts | bytes | None] = []
        self._opened: deque[int] = deque()
        self._stored: Callable[[int], bytes] | None = None
        self._column: Callable[[str], bytes] | None = None

    def __len__(self) -> int:
        return len(self._kinds)

    def copy(self) -> Heads:
        """Give columns that can grow apart from these."""
        twin = Heads(self.describe)
        twin._stored = self._stored
        for name in (*_BYTE_COLUMNS, *_ARRAY_COLUMNS, "_texts"):
            setattr(twin, name, getattr(self, name)[:])
        twin._steps, twin.parts = self._steps.copy(), self.parts.copy()
        twin.named = self.named.copy()
        if twin._texts and isinstance(last := twin._texts[-1], _Texts):
            # Only the last block may grow; one that is described for one is described for both.
            twin._texts[-1] = last.copied()
        return twin

    def append(self, head: Head) -> None:
        """Add the next checkpoint in storage order."""
        row = len(self._kinds)
        self._kinds.append(_NUMBERS_BY_ID[id(head.kind)])
        self._roles.append(_ROLE_NUMBERS[head.role])
        self._failed.append(head.failed)
        self._waiting.append(False)
        self._times.append(math.nan if head.time is None else head.time)
        self._begin_lines(row, _or_absent(head.line))
        self._offsets.append(_or_absent(head.offset))
        self._lengths.append(_or_absent(head.length))
        if head.step is not None:
            self._steps[row] = head.step
        texts = self._texts_at(row)
        texts.names[-1], texts.summaries[-1], texts.usages[-1] = (
            head.name,
            head.summary,
            head.usage,
        )

    def extend(
        self,
        kinds: bytes,
        times: Sequence[float],
        lines: Sequence[int],
        offsets: Sequence[int],
        lengths: Sequence[int],
    ) -> None:
        """Add checkpoints to be described later.

        Of each the number of its kind as far as it is known (see `KIND_NUMBERS`), its time, NaN
        for none, and where it stands.
        """
        row = len(self)
        if lines:
            self._begin_lines(row, lines[0])
        if not isinstance(lines, range):
            for place, (before, line) in enumerate(pairwise(lines), row + 1):
                if line != before + 1:
                    self._line_rows.append(place)
                    self._line_numbers.append(line)
        self._kinds += kinds
        self._roles += bytes(len(kinds))
        self._failed += bytes(len(kinds))
        self._waiting += b"\1" * len(kinds)
        self._times += array("d", times)
        self._offsets += array("q", offsets)
        self._lengths += array("q", lengths)
        blocks = -(-len(self._kinds) // BLOCK)
        self._texts += [None] * (blocks - len(self._texts))

    def extend_row(self, row: int, part: Span, time: float) -> None:
        """Add a further record to a row, which is described anew; its time is the last one."""
        self.parts[row] = (*self.parts.get(row, ()), part)
        self._waiting[row] = True
        if not math.isnan(time):
            self._times[row] = time

    def amend(self, row: int, usage: Usage | None = None, *, failed: bool = False) -> None:
        """Take in what a later record tells of a row: what it used, and that it went wrong."""
        # Heads that these were copied from may hold the same block.
        texts = self._texts[row // BLOCK] = self._described(row).copied()
        if usage is not None:
            texts.usages[row % BLOCK] = usage
        if failed:
            self._failed[row] = True

    def __getitem__(self, row: int) -> Head:
        row = range(len(self._kinds))[row]
        texts, place = self._described(row), row % BLOCK
        return Head(
            _KINDS[self._kinds[row]],
            _ROLES[self._roles[row]],
            texts.names[place],
            texts.summaries[place],
            self.time(row),
            self._steps.get(row),
            self.line(row),
            _or_none(self._offsets[row]),
            _or_none(self._lengths[row]),
            texts.usages[place],
            bool(self._failed[row]),
        )

    def texts(self, rows: slice) -> list[str]:
        """Give the names and summaries of a run of rows."""
        names: list[str] = []
        summaries: list[str] = []
        for row, texts in self._walk(range(len(self))[rows]):
            names.append(texts.names[row % BLOCK])
            summaries.append(texts.summaries[row % BLOCK])
        return names + summaries

    def packed(self, rows: slice) -> Iterator[bytes]:
        """Give what a run of rows and those near them say, where each text stands as UTF-8."""
        some = range(len(self))[rows]
        for row in compress(some, self._waiting[rows]):
            if self._waiting[row]:
                self._described(row)
        if some:
            yield from map(self.block, range(some[0] // BLOCK, some[-1] // BLOCK + 1))

    def usages(self) -> list[Usage | None]:
        """Give what each row itself used."""
        return [texts.usages[row % BLOCK] for row, texts in self._walk(range(len(self)))]

    def kind(self, row: int) -> Kind:
        """Give the kind of a row without making its head."""
        if self._waiting[row]:
            self._described(row)
        return _KINDS[self._kinds[row]]

    def is_gap(self, row: int) -> bool:
        """Tell whether a row is a gap, which is known of each row at once."""
        return self._kinds[row] == _GAP

    def not_gap_before(self, row: int) -> int:
        """Give the last row before a row that is no gap, NO_ROW if there is none."""
        row -= 1
        while row >= 0 and self.is_gap(row):
            row -= 1
        return row

    def role(self, row: int) -> Role | None:
        """Give the role of a row without making its head."""
        if self._waiting[row]:
            self._described(row)
        return _ROLES[self._roles[row]]

    def usage(self, row: int) -> Usage | None:
        """Give what a row itself used."""
        return self._described(row).usages[row % BLOCK]

    def failed(self, row: int) -> bool:
        """Tell whether a row went wrong."""
        if self._waiting[row]:
            self._described(row)
        return bool(self._failed[row])

    def time(self, row: int) -> float | None:
        """Give the time of a row; one that ISO 8601 cannot say is none."""
        time = self._times[row]
        return time if _has_iso_form(time) else None

    def latest(self) -> float:
        """Give the latest time of any row, minus infinity where none has a time."""
        known = (time for time in self._times if not math.isnan(time))
        return max(known, default=-math.inf)

    def step(self, row: int) -> int | None:
        """Give the format's own number of a row's step."""
        return self._steps.get(row)

    def line(self, row: int) -> int | None:
        """Give the line on which a row's record begins."""
        return _or_none(self._line_at(row))

    def offset(self, row: int) -> int | None:
        """Give the place of a row's record in its file, in bytes."""
        return _or_none(self._offsets[row])

    def row_at(self, offset: int) -> int:
        """Give the last row that begins at an offset or before it, NO_ROW if none does.

        The offsets must ascend, as they do where rows stand in the order of their file.
        """
        return bisect_right(self._offsets, offset) - 1

    def length(self, row: int) -> int | None:
        """Give the bytes of a row's record in its file."""
        return _or_none(self._lengths[row])

    def columns(self) -> dict[str, bytes]:
        """Give the columns that `restored` takes; what the rows say is in `block`."""
        return {
            **{name: bytes(getattr(self, name)) for name in _BYTE_COLUMNS},
            **{name: getattr(self, name).tobytes() for name in _ARRAY_COLUMNS},
            "_steps": array("q", chain.from_iterable(self._steps.items())).tobytes(),
        }

    def block(self, number: int) -> bytes:
        """Give what is known of what a block of rows says, for `restored`; b"" for nothing."""
        texts = self._texts[number]
        if isinstance(texts, _Texts):
            return msgspec.msgpack.encode(texts)
        if texts is None and self._stored:
            return self._stored(number)
        return texts or b""

    @classmethod
    def restored(
        cls,
        column: Callable[[str], bytes],
        block: Callable[[int], bytes],
        describe: Describe | None = None,
    ) -> Heads:
        """Give heads from columns and from what blocks of rows say, asked for when needed."""
        heads = cls(describe)
        for name in (*_BYTE_COLUMNS, *_ARRAY_COLUMNS, "_steps"):
            delattr(heads, name)
        heads._column, heads._stored = column, block
        heads._texts = [None] * -(-len(heads) // BLOCK)
        return heads

    def __getattr__(self, name: str) -> Any:
        """Take a column out that is needed for the first time."""
        column: Callable[[str], bytes] | None = vars(self).get("_column")
        if column is None or name not in (*_BYTE_COLUMNS, *_ARRAY_COLUMNS, "_steps"):
            raise AttributeError(name)
        value: Any = bytearray(column(name)) if name in _BYTE_COLUMNS else _numbers(column(name))
        if name == "_times":
            value = array("d", column(name))
        elif name == "_steps":
            value = dict(zip(value[::2], value[1::2], strict=True))
        setattr(self, name, value)
        return value

    def unload(self, block: Callable[[int], bytes]) -> None:
        """Let go of what blocks of rows say, but for the last, where it can be asked for again."""
        self._stored = block
        self._texts[:-1] = [None] * (len(self._texts) - 1)

    def waiting(self) -> int:
        """Give the number of rows that are not described yet."""
        return self._waiting.count(1)

    def describe_all(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Describe every row that is waiting; progress is told the rows done and of how many."""
        rows = list(compress(count(), self._waiting))
        for begin in range(0, len(rows), _TOLD_EVERY):
            part = rows[begin : begin + _TOLD_EVERY]
            self._describe(part)
            self._pack(part[0] // BLOCK, part[-1] // BLOCK)
            if progress is not None:
                progress(min(begin + _TOLD_EVERY, len(rows)), len(rows))

    def take_in(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Take in all that would be asked of a store later, so that it can be closed."""
        self.describe_all(progress)
        for name in (*_BYTE_COLUMNS, *_ARRAY_COLUMNS, "_steps"):
            getattr(self, name)
        for number in range(len(self._texts)):
            if self._texts[number] is None:
                self._texts[number] = self.block(number)

    def traits(self) -> bytes:
        """Give one byte per row: the number of its kind, `BY_USER` and `FAILED`."""
        self.describe_all()
        kinds = bytearray(self._kinds)
        for row, texts in self._walk(list(compress(count(), map(_CUSTOM.__eq__, kinds)))):
            if not texts.summaries[row % BLOCK]:
                kinds[row] = SILENT
        by_user = self._roles.translate(_BY_USER_ROLES)
        failed = self._failed.translate(_FAILED_BITS)
        # As three numbers, whose bits are joined at once.
        traits = int.from_bytes(kinds) | int.from_bytes(by_user) | int.from_bytes(failed)
        return traits.to_bytes(len(kinds))

    def contexts(self) -> dict[int, int]:
        """Give the size of the context at each row that tells it; none that is known is 0."""
        self.describe_all()
        told: dict[int, int] = {}
        answers = compress(count(), map(_ROLE_NUMBERS[Role.ASSISTANT].__eq__, self._roles))
        for row, texts in self._walk(answers):
            usage = texts.usages[row % BLOCK]
            if usage is not None and (size := usage.context):
                told[row] = size
        # A compaction shrinks the context by an amount that only the next answer tells.
        told.update(dict.fromkeys(compress(count(), map(_COMPACTION.__eq__, self._kinds)), 0))
        return told

    def _begin_lines(self, row: int, line: int) -> None:
        """Say on which line a row stands that is not there yet."""
        if not row or self._line_at(row) != line:
            self._line_rows.append(row)
            self._line_numbers.append(line)

    def _line_at(self, row: int) -> int:
        place = bisect_right(self._line_rows, row) - 1
        line = self._line_numbers[place]
        return line if line == ABSENT else line + row - self._line_rows[place]

    def _texts_at(self, row: int) -> _Texts:
        """Give the texts of a row's block, with room for all rows of the block that there are."""
        block = row // BLOCK
        self._texts += [None] * (block + 1 - len(self._texts))
        texts = self._texts[block]
        if isinstance(texts, _Texts):
            return self._unpacked(block)
        texts = self._texts[block] = self._unpacked(block)
        self._opened.append(block)
        if len(self._opened) > OPEN_BLOCKS:
            self._pack(self._opened[0], self._opened.popleft())
        return texts

    def _unpacked(self, block: int) -> _Texts:
        texts = self._texts[block]
        if not isinstance(texts, _Texts):
            packed = self.block(block)
            texts = _decode_texts(packed) if packed else _Texts([], [], [])
        return texts.filled(min(len(self._kinds) - block * BLOCK, BLOCK))

    def _pack(self, first: int, last: int) -> None:
        """Pack blocks, but for the last one of all, which may grow, and those not described."""
        for number in range(first, min(last + 1, len(self._texts) - 1)):
            if not any(self._waiting[number * BLOCK : (number + 1) * BLOCK]):
                self._texts[number] = self.block(number)

    def _walk(self, rows: Iterable[int]) -> Iterator[tuple[int, _Texts]]:
        """Give rows in order with the texts of their blocks, which stay packed if they are."""
        block, texts = -1, _Texts([], [], [])
        for row in rows:
            if self._waiting[row]:
                self._described(row)
            if row // BLOCK != block:
                block = row // BLOCK
                texts = self._unpacked(block)
            yield row, texts

    def _described(self, row: int) -> _Texts:
        if self._waiting[row]:
            begin = row // BLOCK * BLOCK
            waiting = self._waiting[begin : begin + BLOCK]
            self._describe(list(compress(count(begin), waiting)))
        texts = self._texts[row // BLOCK]
        return texts if isinstance(texts, _Texts) else self._texts_at(row)

    def _describe(self, rows: Sequence[int]) -> None:
        if self.describe is None:
            raise LookupError(f"nothing describes row {rows[0]}")
        for row, head in zip(rows, self.describe(self, rows), strict=True):
            place = row % BLOCK
            texts = self._texts_at(row)
            texts.names[place] = self.named.get(row, head.name)
            texts.summaries[place] = head.summary
            texts.usages[place] = head.usage
            self._roles[row] = _ROLE_NUMBERS[head.role]
            self._failed[row] = head.failed
            self._kinds[row] = _NUMBERS_BY_ID[id(head.kind)]
            self._waiting[row] = False


def _or_absent(value: int | None) -> int:
    return ABSENT if value is None else value


def _or_none(value: int) -> int | None:
    return None if value == ABSENT else value


class Aside(msgspec.Struct, frozen=True, gc=False):
    """A record that is no checkpoint: what it is called, where it stands, and after which row.

    Such are headers, titles, progress, lists of saved files. `row` is NO_ROW before the first.
    """

    row: int
    name: str
    line: int
    offset: int
    length: int


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
    store has no bytes of its own. `aliases` has further ids of rows, of the parts that a message
    was written in; `asides` what is no checkpoint. `subsessions` has by row the names of the
    sessions that it started, which their store can find.
    """

    id: SessionId
    format: str | None
    heads: Heads
    ids: Sequence[str]
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
    compared: tuple[int, int] | None = None
    """The two rows that whoever wrote it down wants to have compared."""
    aliases: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    asides: Sequence[Aside] = ()
    subsessions: Mapping[int, tuple[str, ...]] = msgspec.field(
        default_factory=dict[int, tuple[str, ...]]
    )

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Checkpoint]:
        return map(self.checkpoint, range(len(self)))

    def take_in(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Take in all that would be asked of the store later, so that it can be closed."""
        self.heads.take_in(progress)
        if isinstance(self.ids, Ids):
            self.ids.whole()

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

    def row_of(self, name: str) -> int | None:
        """Give the row that has an id, as its own or as an alias; None for no id here."""
        return self.rows.get(name, self.aliases.get(name))

    def rows_of(self, names: Collection[str]) -> dict[str, int]:
        """Give the rows of some ids, aliases too; what is no id here is left out.

        Of a few ids this asks for less memory than `rows`, which has every one.
        """
        also = {name: self.aliases[name] for name in names if name in self.aliases}
        if not names or "rows" in vars(self):
            return also | {name: self.rows[name] for name in names if name in self.rows}
        return also | {name: row for row, name in enumerate(self.ids) if name in names}

    def asides_at(self, row: int) -> Sequence[Aside]:
        """Give what stands behind a row and is no checkpoint; of the first, before it too."""
        first = NO_ROW if row == 0 else row
        begin = bisect_left(self.asides, first, key=_row_of)
        return self.asides[begin : bisect_right(self.asides, row, key=_row_of)]

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
        traits = bytearray(self.heads.traits())
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


_row_of = attrgetter("row")


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
