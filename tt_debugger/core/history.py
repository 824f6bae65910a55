"""The history of a value: where on a path it changed, and where it was written as it was.

A walk folds one live state along the path. Most steps touch nothing of what is watched and cost
only that. Of the others it is decided exactly whether the value is another than before, and never
by going through all of a list that has only grown: what a step can have changed lies within the
places that it wrote, so those are compared, not the whole value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Change, Drop, LiveState, Put, Snapshot, Splice, State
from tt_debugger.core.json import as_list
from tt_debugger.core.paths import Key, Path, parse_pointer, pointer, value_or_unset

if TYPE_CHECKING:
    from tt_debugger.core.expressions import JmesPath

Changes = Sequence[Change]
"""What one checkpoint did."""

_STALE: Any = object()
"""Stands for a value of which it is not known what it was last."""
_encode = msgspec.msgpack.Encoder(order="deterministic", enc_hook=repr).encode


class Watched(msgspec.Struct, frozen=True):
    """What is watched: a place in a state, or what an expression gives of it.

    An expression that does nothing but name a place has both, and is watched as the place.
    """

    text: str
    path: Path | None
    formula: JmesPath | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a JSON Pointer, which begins with a slash or is empty, or else a JMESPath.

        Raises ValueError, which says where the text is wrong.
        """
        if not text or text.startswith("/"):
            return cls(text, parse_pointer(text))
        # JMESPath takes a while to import, and a pointer has no use for it.
        from tt_debugger.core.expressions import JmesPath

        return cls.of(JmesPath.parse(text))

    @classmethod
    def of(cls, expression: JmesPath) -> Self:
        """Give what watches the value of an expression."""
        return cls(expression.text, expression.path, expression)

    @classmethod
    def at(cls, path: Path) -> Self:
        """Give what watches a place."""
        return cls(pointer(path), path)

    def value(self, state: State) -> Any:
        """Give the value in a state, UNSET where there is none; null is none to an expression."""
        if self.path is not None:
            return value_or_unset(state, self.path)
        value = None if self.formula is None else self.formula.value(state)
        return msgspec.UNSET if value is None else value


class Moment(NamedTuple):
    """A row at which a watched value became another, or was written with the value it had.

    The value is live: it is what it is only until the next moment is asked for. Who keeps it
    copies or encodes it. UNSET says that it is not there any more.
    """

    row: int
    value: Any
    is_rewrite: bool
    keys: tuple[Key, ...] = ()
    """Of an object the keys that changed, of a list the items that were written inside.

    None are told where it was no container before, or was only added to.
    """


def history(rows: Sequence[int], changes: Iterable[Changes], watched: Watched) -> Iterator[Moment]:
    """Give the moments of a watched value along a path that begins at a root.

    `changes` are those of each row. Above the root there is no value, so the first moment is where
    it first is there. Only a place can be written; an expression has no rewrites.
    """
    if watched.path is not None:
        return _of_place(rows, changes, watched.path)
    if watched.formula is not None:
        return _of_formula(rows, changes, watched.formula)
    return iter(())


def turns(
    rows: Sequence[int], truths: Iterable[bool], *, happens: bool = False
) -> Iterator[Moment]:
    """Give the moments of a condition that is false above the root, from its truth at each row.

    What `happens` at single checkpoints does not stay: each one where it does is a moment.
    """
    was = False
    for row, holds in zip(rows, truths, strict=True):
        if holds if happens else holds is not was:
            yield Moment(row, holds, is_rewrite=False)
        was = holds


def _of_place(rows: Sequence[int], changes: Iterable[Changes], path: Path) -> Iterator[Moment]:
    place = _Place(path)
    for row, step in zip(rows, changes, strict=True):
        moment = place.after(row, step)
        if moment is not None:
            yield moment


def _of_formula(
    rows: Sequence[int], changes: Iterable[Changes], formula: JmesPath
) -> Iterator[Moment]:
    live, following = LiveState({}), formula.following()
    was: Any = None
    for row, step in zip(rows, changes, strict=True):
        live.apply(step)
        value = following.value(live.value, step)
        if not following.is_changed:
            continue
        now = _kept(value)
        if not _is_kept(was, now):
            yield Moment(row, msgspec.UNSET if value is None else value, is_rewrite=False)
        was = now


class _Place:
    """A place in a state that changes step by step, and what was there after the last one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Numbers in a pointer are indexes of lists and keys of objects alike.
        self._names = tuple(map(str, path))
        self._live = LiveState({})
        self._was: Any = msgspec.UNSET
        """What was there, kept; stale where only parts of it were looked at since."""
        self._is_there = False
        self._is_begun = False

    def after(self, row: int, step: Changes) -> Moment | None:
        """Take a step, and give the moment that it is, if it is one."""
        touching = [each for each in step if self._may_write(each)]
        if not self._is_begun:
            self._is_begun = True
            self._live.apply(step)
            return self._first(row)
        if not touching or (self._is_there and self._only_follow(touching)):
            self._live.apply(step)
            return None
        sites = self._sites(touching)
        before = {site: self._before(site, grows=grows) for site, grows in sites.items()}
        if not self._apply(step):
            return None
        return self._compared(row, before)

    def _first(self, row: int) -> Moment | None:
        """Give the moment of the root, above which there is nothing."""
        value = value_or_unset(self._live.value, self._path)
        self._is_there = value is not msgspec.UNSET
        self._was = _kept_by_keys(value)
        return Moment(row, value, is_rewrite=False) if self._is_there else None

    def _may_write(self, change: Change) -> bool:
        """Tell whether a change may write the place, something in it, or something around it."""
        place = _written(change)
        return all(
            mine == key or mine == str(key) for mine, key in zip(self._names, place, strict=False)
        )

    def _only_follow(self, touching: Changes) -> bool:
        """Tell whether changes only add items behind the one that is, or leads to, the place."""
        size = len(self._path)
        return all(isinstance(each, Append) and len(each.path) < size for each in touching)

    def _sites(self, touching: Changes) -> dict[Path, bool]:
        """Give the highest of the places that changes write, and whether each is a list that grew.

        Outside of them nothing can have changed. What is above the watched place is that place.
        """
        size = len(self._path)
        places: dict[tuple[str, ...], tuple[Path, bool]] = {}
        for change in touching:
            place = _written(change)
            grows = isinstance(change, Append)
            if len(place) < size:
                return {self._path: False}
            name = tuple(map(str, place))
            known = places.get(name)
            places[name] = (place, grows and (known is None or known[1]))
        sites: dict[Path, bool] = {}
        last: tuple[str, ...] | None = None
        # In order, what is inside of a place stands right behind it.
        for name in sorted(places):
            if last is None or name[: len(last)] != last:
                place, grows = places[name]
                sites[place], last = grows, name
        return sites

    def _before(self, site: Path, *, grows: bool) -> Any:
        """Give what is at a site, kept; of a list that will have grown that is not needed."""
        if grows:
            return _STALE
        if len(site) > len(self._path):
            return _kept(value_or_unset(self._live.value, site))
        if self._was is _STALE:
            self._was = _kept_by_keys(value_or_unset(self._live.value, self._path))
        return self._was

    def _apply(self, step: Changes) -> bool:
        """Make the changes of a step; tell whether one of them wrote what is watched."""
        is_written = False
        for change in step:
            is_written = is_written or self._writes(change)
            self._live.apply((change,))
        return is_written

    def _writes(self, change: Change) -> bool:
        """Tell whether a change, made now, writes the place or in it, or moves what is there."""
        if not self._may_write(change):
            return False
        list_path = _written(change)
        is_inside = len(list_path) >= len(self._path)
        match change:
            case Snapshot() | Put() | Drop(path=(*_, str())):
                return True
            case Splice(count=count, values=values) if is_inside:
                return bool(count or values)
            case Append() | Drop() if is_inside:
                return True
            case Append() | Drop() | Splice():
                return self._moves(change, self._path[len(list_path)])

    def _moves(self, change: Append | Drop | Splice, index: Key) -> bool:
        """Tell whether a change to a list puts another item at an index, or takes it away."""
        if isinstance(index, str):
            return False
        match change:
            case Append(path=path):
                return index == len(as_list(value_or_unset(self._live.value, path)))
            case Drop(path=path):
                return index >= cast("int", path[-1])
            case Splice(path=path, index=begin, count=count, values=values):
                # What a damaged file puts beyond the end stands at the end.
                size = len(as_list(value_or_unset(self._live.value, path)))
                begin = min(begin, size)
                count = min(count, size - begin)
                keeps_places = count == len(values)
                return begin <= index and not (keeps_places and index >= begin + count)

    def _compared(self, row: int, before: dict[Path, Any]) -> Moment | None:
        """Give the moment of a step that wrote the place."""
        value = value_or_unset(self._live.value, self._path)
        was_there, self._is_there = self._is_there, value is not msgspec.UNSET
        was = self._was
        if self._path in before and before[self._path] is not _STALE:
            self._was = _kept_by_keys(value)
            has_changed, keys = not _is_kept(was, self._was), _changed_keys(was, self._was)
        else:
            self._was = _STALE
            size = len(self._path)
            changed = [site for site, old in before.items() if self._has_changed(site, old)]
            has_changed = bool(changed)
            keys = tuple(dict.fromkeys(site[size] for site in changed if len(site) > size))
        if not (was_there or self._is_there):
            return None
        return Moment(row, value, not has_changed, keys)

    def _has_changed(self, site: Path, old: Any) -> bool:
        return old is _STALE or not _is_kept(old, _kept(value_or_unset(self._live.value, site)))


def _written(change: Change) -> Path:
    """Give the place within which all lies that a change alters."""
    if isinstance(change, Drop) and isinstance(change.path[-1], int):
        # The items behind it move up.
        return change.path[:-1]
    return change.path


def _kept(value: Any) -> Any:
    """Give a value as it can be kept: a container encoded, so that it stays what it is."""
    if not isinstance(value, (dict, list)):
        return value
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError):
        return _copied(value)


def _kept_by_keys(value: Any) -> Any:
    """Give a value as it can be kept, of an object each of its values."""
    if not isinstance(value, dict):
        return _kept(value)
    return {key: _kept(each) for key, each in cast("dict[str, Any]", value).items()}


def _copied(value: Any) -> Any:
    """Give a container that cannot be encoded as one that is not written to."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in cast("dict[str, Any]", value).items()}
    return [_copied(each) for each in as_list(value)] if isinstance(value, list) else value


def _is_kept(was: Any, now: Any) -> bool:
    """Tell whether two values, kept in one way, are the same."""
    if isinstance(was, bytes) or isinstance(now, bytes):
        return was == now
    if isinstance(was, dict) and isinstance(now, dict):
        mine, theirs = cast("dict[str, Any]", was), cast("dict[str, Any]", now)
        return mine.keys() == theirs.keys() and all(
            _is_kept(each, theirs[key]) for key, each in mine.items()
        )
    return is_same(was, now)


def _changed_keys(was: Any, now: Any) -> tuple[Key, ...]:
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return ()
    mine, theirs = cast("dict[str, Any]", was), cast("dict[str, Any]", now)
    return tuple(
        key
        for key in {**mine, **theirs}
        if key not in mine or key not in theirs or not _is_kept(mine[key], theirs[key])
    )
