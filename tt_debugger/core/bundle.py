"""A bundle: what one needs of a session to look into a bug report, in one file of JSON lines.

The first line is a `BundleHead`, each checkpoint an `Entry`, and what was told about them stands
in lines with a `part`. Lines of text can be read in any editor and looked through by any scanner
of secrets, and half of a bundle still opens.

An entry tells what it did to the state key by key of its top level, each key once: a root has the
whole state, all else what was put, dropped, or came into a list and took the place of what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Annotated, Any, cast

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State, fold
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Head, Usage

VERSION = 1
MARK = "ttdbg_bundle"
"""The key of the version, by which a head is known."""
PART = "part"
"""The key by which a line is known that is neither a head nor a checkpoint."""

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

Cut = Annotated[list[Count], msgspec.Meta(min_length=2, max_length=2)]
"""An index in a list, and a number of items from there on."""


class TellsFinding(msgspec.Struct, frozen=True):
    """A finding about the session that the bundle was made of."""

    code: str
    severity: str
    message: str
    hint: str | None = None


class BundleHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line: who wrote the bundle, and which checkpoints it is about."""

    ttdbg_bundle: int
    version: str = ""
    """That of the ttdbg that wrote it."""
    title: str | None = None
    cwd: str | None = None
    fork_point: str | None = None
    findings: tuple[TellsFinding, ...] = ()


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A checkpoint."""

    id: str
    parent: str | None = None
    kind: str = "custom"
    role: str | None = None
    name: str = ""
    summary: str = ""
    time: float | None = None
    step: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] | None = None
    usage: Usage | None = None
    failed: bool = False
    label: str | None = None
    is_a: bool = False
    is_b: bool = False
    """Whether it is one of the points that the bundle is about."""
    row: Count | None = None
    """Its number in the session that the bundle was made of."""
    file: str | None = None
    """The file that it stood in, where there are two."""
    state: dict[str, Any] | None = None
    put: dict[str, Any] = {}
    drop: dict[str, bool] = {}
    at: dict[str, Cut] = {}
    """For each list that items came into: where, and how many they took the place of."""
    insert: dict[str, list[Any]] = {}
    findings: tuple[TellsFinding, ...] = ()


Did = dict[str, Any]
"""What a checkpoint did: the fields of its entry that tell it."""


def entry_of(head: Head, name: str, parent: str | None, did: Did) -> Entry:
    """Give a checkpoint as an entry."""
    return Entry(
        name,
        parent,
        str(head.kind),
        None if head.role is None else str(head.role),
        head.name,
        head.summary,
        head.time,
        head.step,
        head.usage,
        head.failed,
        **did,
    )


def did_between(before: State, after: State) -> Did:
    """Give what made one state into another; all of it where `before` is None, as at a root."""
    did: Did = {"put": {}, "drop": {}, "at": {}, "insert": {}}
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return did | {"state": as_map(after)}
    _tell(did, as_map(before), as_map(after))
    return did


class Course:
    """A state, and what checkpoints one after the other do to it.

    What comes to the end of a list is told without a look at what stands before it: a message of
    a long talk takes no longer than one of a short talk.
    """

    def __init__(self, state: State) -> None:
        self._state = _copied(state)
        self._own: set[str] = set()
        """The keys of those lists in it that no one else has."""

    def did(self, changes: Sequence[Change]) -> Did:
        """Give what the next checkpoint did, by its changes."""
        by_key: dict[str, list[Change]] = {}
        for change in changes:
            key = change.path[0] if change.path else None
            if not isinstance(key, str):
                return self._did_anew(changes)
            by_key.setdefault(key, []).append(change)
        did = did_between({}, {})
        for key, several in by_key.items():
            came = [each.value for each in several if isinstance(each, Append)]
            if len(came) == len(several) and all(each.path == (key,) for each in several):
                items = self._items(key)
                did["at"][key], did["insert"][key] = [len(items), 0], came
                items += came
            else:
                self._fold(key, several, did)
        return did

    def _did_anew(self, changes: Sequence[Change]) -> Did:
        before, after = self._state, fold(self._state, changes)
        self._state, self._own = _copied(after), set()
        return did_between(before, after)

    def _fold(self, key: str, changes: Sequence[Change], did: Did) -> None:
        before = {key: self._state[key]} if key in self._state else {}
        after = fold(before, changes)
        _tell(did, before, after)
        self._own.discard(key)
        self._state.pop(key, None)
        self._state |= after

    def _items(self, key: str) -> list[Any]:
        if key not in self._own:
            self._own.add(key)
            self._state[key] = self._state[key].copy()
        return self._state[key]


def _copied(state: State) -> State:
    return as_map(state).copy() if isinstance(state, dict) else state


def _tell(did: Did, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Add to what a checkpoint did what made some keys of a state into others."""
    did["drop"] |= {key: True for key in before if key not in after}
    for key, new in after.items():
        old = before.get(key, msgspec.UNSET)
        if old is new:
            continue
        if isinstance(old, list) and isinstance(new, list):
            old_items, new_items = cast("list[Any]", old), cast("list[Any]", new)
            begin = _equal_start(old_items, new_items)
            end = _equal_start(old_items[begin:][::-1], new_items[begin:][::-1])
            did["at"][key] = [begin, len(old_items) - end - begin]
            did["insert"][key] = new_items[begin : len(new_items) - end]
        else:
            did["put"][key] = new


def _equal_start(old: list[Any], new: list[Any]) -> int:
    """Give how many items two lists begin with that are one object on both sides."""
    shorter = min(len(old), len(new))
    if all(map(is_, old, new)):
        return shorter
    return next(place for place in range(shorter) if old[place] is not new[place])


Shape = Mapping[str, int | None]
"""Of each key of a state the length of the list there, None for what is no list."""


def changes_of(entry: Entry, shape: Shape) -> tuple[tuple[Change, ...], Shape, bool]:
    """Give the changes of an entry to a state of a shape, the shape then, and whether all fits.

    What does not fit is left out, or put where there is nothing to fit it into: the line that it
    builds upon may be lost.
    """
    changes: list[Change] = []
    after = dict(shape)
    fits = entry.at.keys() == entry.insert.keys()
    if entry.state is not None:
        changes.append(Snapshot(entry.state))
        after = {key: _length(value) for key, value in entry.state.items()}
    for key in entry.drop:
        if key in after:
            changes.append(Drop((key,)))
            del after[key]
        else:
            fits = False
    for key, value in entry.put.items():
        changes.append(Put((key,), value))
        after[key] = _length(value)
    for key, values in entry.insert.items():
        index, count = entry.at.get(key, [0, 0])
        length = after.get(key)
        if length is None:
            fits = False
            changes.append(Put((key,), list(values)))
            after[key] = len(values)
            continue
        fits = fits and index + count <= length
        changes.append(Splice((key,), index, count, tuple(values)))
        taken = min(index + count, length) - min(index, length)
        after[key] = length - taken + len(values)
    return tuple(changes), after, fits


def _length(value: Any) -> int | None:
    return len(as_list(value)) if isinstance(value, list) else None
