"""The index of a session in a table: all that its rows say but their states, column by column.

Nothing of it needs a state, which may be long: a hundred thousand rows are a few lists.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import lt
from typing import Any, cast, overload

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.tree import NO_ROW, Linked, Links, link
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.tables.history import (
    Rows,
    moment_of,
    moments_of,
    parts,
    past_of,
    rows_in_order,
    split_history,
    text_of,
    times_of,
)
from tt_debugger.formats.shared.tables.layouts import Form, Layout
from tt_debugger.storage.tables import Tables, Value

_LARGEST = 1 << 62
_NO_COLUMN = "\0"

Column = Sequence[Value]


class Index(msgspec.Struct, frozen=True):
    """The rows of a session in storage order; what no column says is an empty sequence."""

    layout: Layout
    name: Value
    """What the rows have in the column of their session."""
    key: Sequence[Column]
    """The values by which each row is found again, by the columns that have them."""
    ids: Sequence[str]
    parents: array[int]
    orders: Column = ()
    times: Sequence[Column] = ()
    versions: Column = ()
    tools: Column = ()
    hashes: Sequence[Column] = ()
    findings: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def key_of(self, row: int) -> tuple[Value, ...]:
        """Give the values by which a row is found again."""
        return tuple(column[row] for column in self.key)

    def step(self, row: int) -> int | None:
        """Give the number that a row has in the order of its session."""
        return _step(self.orders[row]) if self.orders else None

    def steps(self) -> Iterator[tuple[int, int]]:
        """Give the rows that have such a number, with it."""
        if all(map(_is_small, self.orders)):
            return cast("Iterator[tuple[int, int]]", enumerate(self.orders))
        found = ((row, _step(each)) for row, each in enumerate(self.orders))
        return ((row, step) for row, step in found if step is not None)

    def time(self, row: int) -> float | None:
        """Give when a row was written, in seconds since 1970."""
        if self.layout.form is Form.HISTORY:
            past = split_history(self.key[0][row])[1]
            if past is not None:
                return past
        told = (moment_of(column[row]) for column in self.times)
        return next((each for each in told if each is not None), None)

    def moments(self) -> array[float]:
        """Give the same of each row, NaN for none."""
        if self.layout.form is Form.HISTORY:
            moments = moments_of(self.key[0], text_of(self.name))
            for row, moment in enumerate(moments):
                if math.isnan(moment) and (time := self.time(row)) is not None:
                    moments[row] = time
            return moments
        told = times_of(self.times[0]) if self.times else None
        if told is not None:
            return told
        times = map(self.time, range(len(self)))
        return array("d", (math.nan if each is None else each for each in times))

    def version(self, row: int) -> Value:
        """Give the version of the schema that a row says its state has."""
        return self.versions[row] if self.versions else None

    def has_first(self, other: Index) -> int:
        """Give how many rows, from the first on, are those of another index."""
        count = 0
        for one, theirs in zip(self.facts(), other.facts(), strict=False):
            if one != theirs:
                break
            count += 1
        return count

    def facts(self) -> Iterator[tuple[Any, ...]]:
        """Give all that is known of each row."""
        own = (*self.key, self.orders, self.versions, self.tools, *self.times, *self.hashes)
        known = (each for each in own if each)
        return zip(self.ids, self.parents, *known, strict=True)


def index_of(tables: Tables, layout: Layout, name: Value) -> Index:
    """Read the index of a session; it has no rows where there is no such session.

    Where the table cannot be read any further, what stands before is given, with a finding.
    """
    columns = _columns(layout)
    read: list[list[Value]] = [[] for _ in columns]
    broken: list[Finding] = []
    try:
        for part in rows_of(tables, layout, columns, name):
            for own, values in zip(read, zip(*part, strict=True), strict=False):
                own.extend(values)
    except CannotReadError as error:
        what = f"the rows of {layout.table} end here: {error.message}"
        broken.append(finding(Code.UNREADABLE, what, hint=error.hint))
    count = len(read[0]) if read else 0
    by_name: dict[str, Column] = dict(zip(columns, read, strict=True))
    by_name |= {each: [name] * count for each in _known(layout)}
    by_name = _in_order(layout, name, by_name, count)
    count = len(next(iter(by_name.values()), ()))
    key = tuple(by_name[each] for each in layout.key)
    named = by_name[layout.id] if layout.id else ()
    parents = by_name[layout.parent] if layout.parent else None
    linked = _linked(layout, key, named, parents, count)

    def column(wanted: str | None) -> Column:
        return by_name[wanted] if wanted is not None else ()

    return Index(
        layout,
        name,
        key,
        linked.ids,
        linked.parents,
        column(layout.order),
        tuple(map(column, layout.times)),
        column(layout.version),
        column(layout.tool),
        tuple(map(column, layout.hashes)),
        (*broken, *linked.findings),
    )


def rows_of(tables: Tables, layout: Layout, columns: Sequence[str], name: Value) -> Iterator[Rows]:
    """Give the rows of a session, some at a time, as they are stored.

    Of a thread those of its past are the first; the column of the threads is the first, too.
    """
    if layout.session is None:
        return parts(tables.rows(layout.table, columns))
    own = parts(tables.rows(layout.table, columns, where={layout.session: name}))
    if layout.form is not Form.HISTORY:
        return own
    # The past has its times in its keys; a column that no table has costs nothing.
    needed = [_NO_COLUMN if each in layout.times else each for each in columns]
    return chain(past_of(tables, layout.table, needed, text_of(name)), own)


def _columns(layout: Layout) -> list[str]:
    """Give the columns that are read, that of the threads before all."""
    known = _known(layout)
    read = [each for each in layout.columns if each not in known]
    return sorted(read, key=lambda each: each != layout.session)


def _known(layout: Layout) -> tuple[str, ...]:
    """Give the columns that need not be read: all rows have the same in them."""
    if layout.form is Form.HISTORY or layout.session is None or len(layout.columns) == 1:
        return ()
    return (layout.session,)


def _in_order(
    layout: Layout, name: Value, columns: dict[str, Column], count: int
) -> dict[str, Column]:
    """Sort columns by the order of the rows, or else their time, unless they stand so already."""
    rows: list[int] | None = None
    by = [each for each in (layout.order, *layout.times[:1]) if each is not None]
    if layout.form is Form.HISTORY:
        rows = rows_in_order(columns[layout.session or ""], text_of(name))
    elif not (by and _ascends(columns[by[0]], layout, by[0])):
        ranks = [
            (_time_rank if each in layout.times else _rank, columns[each])
            for each in (by if layout.is_in_order else (*by, *layout.key))
        ]
        rows = sorted(
            range(count), key=lambda row: tuple(rank(values[row]) for rank, values in ranks)
        )
    if rows is None:
        return columns
    return {each: [values[row] for row in rows] for each, values in columns.items()}


def _ascends(values: Sequence[Value], layout: Layout, name: str) -> bool:
    """Tell quickly whether values ascend, each greater than the one before; a no may be wrong."""
    kinds = set(map(type, values))
    if len(kinds) > 1 or not kinds <= {int, float, str}:
        return False
    if kinds == {str}:
        # Of texts only times of one form can be told so: 10 comes before 9.
        texts = cast("list[str]", values)
        if name not in layout.times or len(set(map(len, texts))) > 1:
            return False
    plain = cast("list[int]", values)
    return all(map(lt, plain, plain[1:]))


def _rank(value: Value) -> tuple[int, Any]:
    """Give by what values of several types are sorted: numbers before texts, also as texts."""
    match value:
        case None:
            return 0, 0
        case int() | float():
            return 1, value
        case str():
            try:
                return 1, float(value)
            except ValueError:
                return 2, value
        case _:
            return 3, value


def _time_rank(value: Value) -> float:
    moment = moment_of(value)
    return float("-inf") if moment is None else moment


class _Texts(Sequence[str]):
    """A column as texts, each made when it is asked for."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return list(map(text_of, self._column[place]))
        return text_of(self._column[place])

    def __iter__(self) -> Iterator[str]:
        return map(text_of, self._column)


def _linked(
    layout: Layout, key: Sequence[Column], named: Column, parents: Column | None, count: int
) -> Linked:
    """Give ids that are all different, the row of each parent, and what is wrong.

    A row is called by its id, or else by its key without its session.
    """
    own = [column for name, column in zip(layout.key, key, strict=True) if name != layout.session]
    own = own or list(key)
    single = named or (own[0] if len(own) == 1 else ())
    is_key = layout.is_keyed and len(layout.key) == 1 and single is own[0]
    if single and _is_plain(single, is_unique=is_key):
        rows = _rows_of(single, parents)
        if rows is not None:
            is_text = isinstance(single[0], str)
            ids = cast("Sequence[str]", single) if is_text else _Texts(single)
            return Linked(ids, rows, ())
    ids = _joined(own, count)
    if named:
        ids = [
            each if name is None else text_of(name) for each, name in zip(ids, named, strict=True)
        ]
    links = Links()
    for row, each in enumerate(ids):
        before = ids[row - 1] if row else None
        parent = before if parents is None else parents[row]
        links.append(each, None if parent in {None, ""} else text_of(parent), f"row@{row + 1}")
    return link(links)


def _is_plain(column: Column, *, is_unique: bool) -> bool:
    """Tell whether values are whole numbers or texts, no two of which are alike."""
    kinds = set(map(type, column))
    if len(kinds) > 1 or not kinds <= {int, str}:
        return False
    return (is_unique or len(set(column)) == len(column)) and (kinds == {int} or "" not in column)


def _rows_of(ids: Column, parents: Column | None) -> array[int] | None:
    """Give the row of each parent, None unless each has one and stands before its children."""
    if parents is None:
        return array("q", range(NO_ROW, len(ids) - 1))
    rows = dict(zip(ids, range(len(ids)), strict=True))
    rows[None] = rows[""] = NO_ROW
    found = [rows.get(each, len(ids)) for each in parents]
    return array("q", found) if all(map(lt, found, range(len(ids)))) else None


def _joined(columns: Sequence[Column], count: int) -> list[str]:
    if not columns:
        return [f"row@{number}" for number in range(1, count + 1)]
    return ["/".join(map(text_of, values)) for values in zip(*columns, strict=True)]


def _step(value: Value) -> int | None:
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 19:  # noqa: PLR2004 - beyond 64 bits
        value = int(value)
    return value if _is_small(value) else None  # pyright: ignore[reportReturnType] - it is a number then


def _is_small(value: Value) -> bool:
    return isinstance(value, int) and abs(value) < _LARGEST


def breaks(index: Index) -> Iterator[Finding]:
    """Say where the numbers of turns skip or repeat."""
    noun = index.layout.order
    for row, parent in enumerate(index.parents):
        number = index.step(row)
        before = None if parent == NO_ROW else index.step(parent)
        if before is None or number is None or number == before + 1:
            continue
        if number <= before:
            what = f"the {noun} {number} comes again"
        else:
            lost = f"{before + 1}" if number == before + 2 else f"{before + 1} to {number - 1}"
            what = f"the {noun} goes on at {number}: {lost} missing"
        yield finding(
            Code.BROKEN_SEQUENCE,
            f"{index.layout.table}: {what}",
            hint="turns were deleted, or written by two agents at once",
            checkpoint=index.ids[row],
        )
