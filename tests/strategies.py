"""What hypothesis draws: texts, JSON, trees, sessions and damaged files."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

from builders import fixture_files
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State, fold
from tt_debugger.core.paths import Path
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.shared.memory import MemoryRecord

any_text = st.text(st.characters(exclude_categories=()))
"""Any text at all, surrogates and unassigned characters included."""

nasty_ids = st.one_of(
    st.text("ab", min_size=1, max_size=6),
    st.text("abc@:~+.#%=/ 0123\u00e9\u2028\t", min_size=1, max_size=8),
    st.sampled_from(("@", "root", "row=1", "line=1", "..", "a..b", "a~1", "b+", "a%b", "a%25b")),
    st.sampled_from(("abcd.", ".abcd", "abc.def", "root.", "a%41", "aA", "L1", "s:a")),
)
"""Ids that look like other parts of a ref."""

keys = st.one_of(st.sampled_from(("a", "b", "messages", "~1", "x/y", "")), st.text(max_size=3))

numbers = st.one_of(st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False))

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=8,
)

states = st.dictionaries(keys, json_values, max_size=4)


@st.composite
def parent_rows(draw: st.DrawFn, max_size: int = 24) -> array[int]:
    """Give the parent row of each row of a forest; a parent may stand behind its child."""
    size = draw(st.integers(1, max_size))
    parents = [draw(st.integers(NO_ROW, row - 1)) for row in range(size)]
    if draw(st.booleans()):
        return array("q", parents)
    places = draw(st.permutations(range(size)))
    moved = array("q", [NO_ROW]) * size
    for row, parent in enumerate(parents):
        moved[places[row]] = NO_ROW if parent == NO_ROW else places[parent]
    return moved


def containers(state: State, path: Path = ()) -> list[tuple[Path, Any]]:
    """Give every object and list of a state with its path, the state itself first."""
    found: list[tuple[Path, Any]] = []
    if isinstance(state, dict):
        found.append((path, state))
        for key, value in state.items():
            found += containers(value, (*path, key))
    elif isinstance(state, list):
        found.append((path, state))
        for index, value in enumerate(state):
            found += containers(value, (*path, index))
    return found


@st.composite
def change_of(draw: st.DrawFn, state: State) -> Change:
    """Give a change that fits a state."""
    path, container = draw(st.sampled_from(containers(state) or [((), None)]))
    if container is None or draw(st.integers(0, 20)) == 0:
        return Snapshot(draw(states))
    if isinstance(container, dict):
        if container and draw(st.booleans()):
            return Drop((*path, draw(st.sampled_from(sorted(container)))))
        return Put((*path, draw(keys)), draw(json_values))
    begin = draw(st.integers(0, len(container)))
    end = draw(st.integers(begin, len(container)))
    values = tuple(draw(st.lists(json_values, max_size=2)))
    fitting: list[Change] = [Append(path, draw(json_values))]
    fitting.append(Splice(path, begin, end - begin, values))
    if begin < len(container):
        fitting += [Put((*path, begin), draw(json_values)), Drop((*path, begin))]
    return draw(st.sampled_from(fitting))


@st.composite
def changes_of(draw: st.DrawFn, state: State, max_size: int = 4) -> list[Change]:
    """Give a run of changes that fits a state."""
    changes: list[Change] = []
    for _ in range(draw(st.integers(0, max_size))):
        change = draw(change_of(state))
        state = fold(state, [change])
        changes.append(change)
    return changes


@st.composite
def memory_records(draw: st.DrawFn, max_size: int = 10) -> list[MemoryRecord]:
    """Give the records of a session whose changes fit, from the empty state on."""
    parents = draw(parent_rows(max_size))
    records: dict[int, MemoryRecord] = {}
    after: dict[int, State] = {NO_ROW: {}}
    waiting = list(range(len(parents)))
    while waiting:
        row = next(each for each in waiting if parents[each] in after)
        waiting.remove(row)
        changes = draw(changes_of(after[parents[row]], 2))
        after[row] = fold(after[parents[row]], changes)
        parent = None if parents[row] == NO_ROW else f"m{parents[row]}"
        records[row] = MemoryRecord(f"m{row}", parent, tuple(changes))
    return [records[row] for row in range(len(parents))]


_garbage = st.one_of(
    st.sampled_from(
        (
            b"",
            b"  ",
            b"{",
            b"null",
            b"[1]",
            b"}{",
            b"\0\0\0",
            b"\xff\xfe",
            b'{"a": "\xe9"}',
            b'{"n": NaN}',
            b'{"n": 123456789012345678901234567890}',
            b"[" * 300,
        )
    ),
    st.binary(max_size=12),
)


odd_times = st.sampled_from(
    (
        *("inf", "-inf", "nan", "1e308", "-1e18", "1_0", "soon", ""),
        *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999Z", "2026-13-45T00:00:00Z"),
        *(0, -1, 1.5e300, -1.5e300, 1e18, 253_402_300_800, 2**63, None, True, [], {}),
    )
)
"""Times that are none, or as far away as a number can say."""


@st.composite
def damaged_files(draw: st.DrawFn, format_name: str) -> bytes:
    """Give a session file with anything that happens to files, made of its fixtures' own lines."""
    whole = draw(st.sampled_from(fixture_lines(format_name)))
    first = draw(st.sampled_from((0, 0, draw(st.integers(0, len(whole) - 1)))))
    lines = whole[first : first + 8]
    hurts = (_repeated, _swapped, _glued, _garbled, _renamed, _at_odd_time)
    for hurt in draw(st.lists(st.sampled_from(hurts), max_size=4)):
        lines = hurt(draw, lines)
    ends = st.sampled_from((b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\r"))
    data = b"".join(line + draw(ends) for line in lines)
    if draw(st.integers(0, 7)) == 0:
        data = b"\xef\xbb\xbf" + data
    return data[: len(data) - draw(st.integers(0, 30))] if draw(st.booleans()) else data


@cache
def fixture_lines(format_name: str) -> list[list[bytes]]:
    """Give the lines of each fixture that has any; a very long one is none to draw from."""
    files = (path.read_bytes().splitlines() for path in fixture_files(format_name))
    return [lines for lines in files if lines and max(map(len, lines)) < LONGEST_DRAWN]


LONGEST_DRAWN = 20_000


def _place(draw: st.DrawFn, lines: Sequence[bytes]) -> int:
    return draw(st.integers(0, len(lines) - 1))


def _repeated(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    again, place = lines[_place(draw, lines)], _place(draw, lines)
    return [*lines[:place], again, *lines[place:]]


def _swapped(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    one, other = _place(draw, lines), _place(draw, lines)
    swapped = list(lines)
    swapped[one], swapped[other] = lines[other], lines[one]
    return swapped


def _glued(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    place = _place(draw, lines)
    return [*lines[:place], b"".join(lines[place : place + 2]), *lines[place + 2 :]]


def _garbled(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    place = _place(draw, lines)
    behind = place + draw(st.integers(0, 1))
    return [*lines[:place], draw(_garbage), *lines[behind:]]


def _renamed(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    """Give a text of one record to another: its id, its parent, its type or what it names."""
    records = [_record(line) for line in lines]
    texts = [each for record in records for each in record.values() if isinstance(each, str)]
    place = _place(draw, lines)
    keys = [key for key, value in records[place].items() if isinstance(value, (str, type(None)))]
    if not keys or not texts:
        return lines
    renamed = {**records[place], draw(st.sampled_from(keys)): draw(st.sampled_from(texts))}
    return [*lines[:place], json.dumps(renamed).encode(), *lines[place + 1 :]]


def _at_odd_time(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    place = _place(draw, lines)
    record = _record(lines[place])
    objects = [each for _, each in containers(record) if isinstance(each, dict)]
    timed = [(each, key) for each in objects for key in each if "time" in key]
    if not timed:
        return lines
    container, key = draw(st.sampled_from(timed))
    container[key] = draw(odd_times)
    return [*lines[:place], json.dumps(record).encode(), *lines[place + 1 :]]


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


@st.composite
def pieces_of(draw: st.DrawFn, data: bytes, most: int = 5) -> list[bytes]:
    """Give a split of some bytes into pieces, which may be empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=most)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def bent_files(draw: st.DrawFn, content: bytes) -> bytes:
    """Give a session file in which a few values, at any depth, are of any other type."""
    lines = content.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        try:
            record = json.loads(lines[place])
        except ValueError:
            continue
        _, container = draw(st.sampled_from(containers(record)))
        keys_of = list(container) if isinstance(container, dict) else list(range(len(container)))
        if keys_of:
            container[draw(st.sampled_from(keys_of))] = draw(st.one_of(json_values, odd_times))
            lines[place] = json.dumps(record).encode()
    return b"\n".join(lines)
