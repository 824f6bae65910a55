"""What hypothesis draws: texts, JSON, trees, sessions and damaged files."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any

from builders import PI_HEADER, assistant, pi, tau, user
from hypothesis import assume
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State, fold
from tt_debugger.core.paths import Path
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.memory import Memory

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
        return Snapshot((), draw(states))
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
def memory_records(draw: st.DrawFn, max_size: int = 10) -> list[Memory]:
    """Give the records of a session whose changes fit, from the empty state on."""
    parents = draw(parent_rows(max_size))
    records: dict[int, Memory] = {}
    after: dict[int, State] = {NO_ROW: {}}
    waiting = list(range(len(parents)))
    while waiting:
        row = next(each for each in waiting if parents[each] in after)
        waiting.remove(row)
        changes = draw(changes_of(after[parents[row]], 2))
        after[row] = fold(after[parents[row]], changes)
        parent = None if parents[row] == NO_ROW else f"m{parents[row]}"
        records[row] = Memory(f"m{row}", parent, tuple(changes))
    return [records[row] for row in range(len(parents))]


_names = st.sampled_from(("a", "b", "c", "d", "e", "f", "gap@2", "L2"))
_parents = st.one_of(st.none(), _names, st.just("gone"))
_messages = st.sampled_from(
    (user("hi"), assistant("yo"), assistant("run", "c1"), {"role": "user", "content": None}, {})
)


@st.composite
def pi_entries(draw: st.DrawFn) -> dict[str, Any]:
    """Give an entry as Pi writes it, or nearly."""
    own = draw(
        st.sampled_from(
            (
                {"type": "model_change", "provider": "p", "modelId": "m2"},
                {"type": "label", "targetId": "a", "label": "here"},
                {"type": "session_info", "name": " named "},
                {"type": "compaction", "summary": "short", "firstKeptEntryId": "b"},
                {"type": "context_edit", "targetId": "a", "replacement": None},
                {"type": "unheard_of"},
                dict(PI_HEADER),
                {},
            )
        )
    )
    if own or draw(st.booleans()):
        return pi(draw(_names), draw(_parents), **own)
    return pi(draw(_names), draw(_parents), draw(_messages))


@st.composite
def tau_entries(draw: st.DrawFn) -> dict[str, Any]:
    """Give an entry as Tau writes it, or nearly."""
    own = draw(
        st.sampled_from(
            (
                {"type": "model_change", "model": "m2"},
                {"type": "label", "label": "here"},
                {"type": "label", "target_id": "a", "label": "there"},
                {"type": "session_info", "created_at": 1.5, "title": "named"},
                {"type": "compaction", "summary": "short", "first_kept_entry_id": "b"},
                {"type": "leaf", "entry_id": "a"},
                {"type": "unheard_of"},
                {},
            )
        )
    )
    if own or draw(st.booleans()):
        return tau(draw(_names), draw(_parents), **own)
    return tau(draw(_names), draw(_parents), draw(_messages))


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


@st.composite
def damaged_files(draw: st.DrawFn, format_name: str) -> bytes:
    """Give a session file with anything that happens to files, line by line."""
    entries = pi_entries() if format_name == "pi" else tau_entries()
    encoded = entries.map(lambda each: json.dumps(each).encode())
    line = st.one_of(encoded, encoded, encoded, _garbage, st.tuples(encoded, encoded).map(_glued))
    parts = draw(st.lists(line, max_size=8))
    if format_name == "pi" and draw(st.integers(0, 3)):
        parts.insert(0, json.dumps(PI_HEADER).encode())
    ends = st.sampled_from((b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\r"))
    data = b"".join(part + draw(ends) for part in parts)
    if draw(st.integers(0, 3)) == 0:
        data = b"\xef\xbb\xbf" + data
    data = data[: len(data) - draw(st.integers(0, 30))] if draw(st.booleans()) else data
    # UTF-16 is refused as a whole, so there is nothing to ask of it.
    assume(data[:2] not in {b"\xff\xfe", b"\xfe\xff"})
    return data


def _glued(parts: Sequence[bytes]) -> bytes:
    return b"".join(parts)


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
            container[draw(st.sampled_from(keys_of))] = draw(json_values)
            lines[place] = json.dumps(record).encode()
    return b"\n".join(lines)
