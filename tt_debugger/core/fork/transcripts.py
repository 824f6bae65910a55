"""The records of a transcript's fork: which are kept, which are rewritten, what is added.

A transcript holds a message in a record of its own, so an edit of the messages is one of records.
Which record a message of a state is of, its format may know; else its changes tell.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from typing import Any

import msgspec

from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.sources import Source, sources
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import results_in
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError

_encoded = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode
_TELLING = ("role", "type")
"""What a message must have in common with one that takes its place in a record."""


class Kept(msgspec.Struct, frozen=True):
    """A row whose record is kept as it is."""

    row: int


class Rewritten(msgspec.Struct, frozen=True):
    """A row of which some messages are others now, by their place; None for one that is gone."""

    row: int
    messages: dict[int, Any]


class Left(msgspec.Struct, frozen=True):
    """A row whose messages were all taken away."""

    row: int


class Added(msgspec.Struct, frozen=True):
    """A message that no record of the original holds."""

    message: Any


Part = Kept | Rewritten | Left | Added


def parts_of(replay: Replay, plan: Plan) -> tuple[Part, ...]:
    """Give what is to become of each row where messages follow their records.

    Raises UnsupportedError for a message that would have to stand inside of a record.
    """
    path = replay.session.tree.path_to(plan.row)
    origins = sources(path, replay.changes_along(path))
    return tuple(parts_along(replay.session, origins, plan))


def parts_along(session: Session, origins: Sequence[Source], plan: Plan) -> Iterator[Part]:
    """Give what is to become of each row from the root to the point, and what is added where.

    `origins` says of each message of the state which row it is of. Raises
    UnsupportedError for a place where no entry can stand.
    """
    path = session.tree.path_to(plan.row)
    places = {row: place for place, row in enumerate(path)}
    numbered = [Source(places[each.row], each.place) for each in origins]
    given = Counter(each.row for each in numbered)
    before, after = (as_list(each.get("messages")) for each in (plan.state, plan.wanted))
    new = altered(numbered, before, after, len(path) - 1)
    if new.within:
        raise UnsupportedError(
            "a message cannot stand between two that one record holds",
            "it may stand before the first of them, or behind the last",
        )
    if 0 in new.new and origins and session.heads.kind(origins[0].row) is Kind.COMPACTION:
        raise UnsupportedError(
            "no message can stand before the summary of a compaction", "let it stand behind it"
        )
    yield from map(Added, new.added.get(None, ()))
    for place, row in enumerate(path):
        own = new.rewritten.get(place)
        if own is None:
            yield Kept(row)
        elif list(own.values()).count(None) == given[place]:
            yield Left(row)
        else:
            yield Rewritten(row, own)
        yield from map(Added, new.added.get(place, ()))


class Altered(msgspec.Struct, frozen=True):
    """What is otherwise: by record and place the new message, None for one that is gone.

    `added` has what no record holds by the record that it stands behind, None for the beginning;
    `within` what comes before a place among the messages of one record. `new` are the places in
    the wanted list of all these.
    """

    rewritten: dict[int, dict[int, Any]] = {}
    added: dict[int | None, list[Any]] = {}
    within: dict[int, list[tuple[int, Any]]] = {}
    new: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rewritten or self.added or self.within)


def altered(
    origins: Sequence[Source],
    before: Sequence[Any],
    after: Sequence[Any],
    end: int,
    holding_many: AbstractSet[int] = frozenset(),
) -> Altered:
    """Give what becomes of records numbered in their order up to an end, for other messages.

    Some of the records hold lists of messages, to which more can be added. Raises
    UnsupportedError for a place at which no record can stand.
    """
    rewritten: defaultdict[int, dict[int, Any]] = defaultdict(dict)
    added: defaultdict[int | None, list[Any]] = defaultdict(list)
    within: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
    puts = list(_aligned(before, after))
    following = _followers(puts, origins)
    behind: int | None = None
    last: Source | None = None
    for each, ahead in zip(puts, following, strict=True):
        if each.before is not None:
            last = origins[each.before]
            # A message that a later record brought back stands in an earlier one.
            behind = last.row if behind is None else max(behind, last.row)
            if each.is_changed:
                rewritten[last.row][last.place] = each.message
        elif ahead is not None and (
            ahead.row in holding_many if last is None else ahead.row == last.row
        ):
            within[ahead.row].append((ahead.place, each.message))
        elif behind is None or last is None:
            place = end if ahead is None else ahead.row - 1
            added[None if place < 0 else place].append(each.message)
        elif ahead is not None and ahead.row < behind:
            if last.row == behind:
                raise UnsupportedError(
                    "a message cannot stand between a summary and what it keeps",
                    "it may stand before the summary, or behind all that it keeps",
                )
            added[last.row].append(each.message)
        else:
            added[behind].append(each.message)
    kept = {each.before for each in puts}
    for place, source in enumerate(origins):
        if place not in kept:
            rewritten[source.row][source.place] = None
    new = tuple(place for place, each in enumerate(puts) if each.before is None)
    return Altered(dict(rewritten), dict(added), dict(within), new)


class _Put(msgspec.Struct, frozen=True):
    """A message of the wanted list, and the place of the one that it is or replaces."""

    message: Any
    before: int | None = None
    is_changed: bool = False


def _followers(puts: Sequence[_Put], origins: Sequence[Source]) -> list[Source | None]:
    """Give of each message where the next one stands that some record holds."""
    found: list[Source | None] = []
    ahead: Source | None = None
    for each in reversed(puts):
        found.append(ahead)
        if each.before is not None:
            ahead = origins[each.before]
    return found[::-1]


def _aligned(before: Sequence[Any], after: Sequence[Any]) -> Iterator[_Put]:
    """Give the new messages with the places of those that they are, or replace."""
    old, new = list(map(_encoded, before)), list(map(_encoded, after))
    shorter, start, end = min(len(old), len(new)), 0, 0
    while start < shorter and old[start] == new[start]:
        start += 1
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield from (_Put(after[place], place) for place in range(start))
    middle = SequenceMatcher(
        None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False
    )
    for tag, *places in middle.get_opcodes():
        begin, stop, first, last = (each + start for each in places)
        if tag == "equal":
            yield from (_Put(after[first + at], begin + at) for at in range(stop - begin))
        else:
            yield from _replaced(before, range(begin, stop), after[first:last])
    moved = len(before) - len(after)
    yield from (_Put(after[place], place + moved) for place in range(len(after) - end, len(after)))


def _replaced(before: Sequence[Any], places: range, after: Sequence[Any]) -> Iterator[_Put]:
    """Give new messages with the places of old ones of their name, or else of their kind."""
    begin = places.start
    for count, message in enumerate(after, 1):
        same = (at for at in range(begin, places.stop) if _is_same(before[at], message))
        place = next(same, None)
        if place is None and begin < places.stop and _are_alike(before[begin], message):
            others = after[count:]
            is_free = not any(_is_same(before[begin], each) for each in others)
            place = begin if is_free else None
        if place is None:
            yield _Put(message)
        else:
            begin = place + 1
            yield _Put(message, place, is_changed=True)


def _is_same(old: Any, new: Any) -> bool:
    """Tell whether two messages have one name."""
    return any(_name_of(old)) and _are_alike(old, new)


def _are_alike(old: Any, new: Any) -> bool:
    is_of_kind = all(as_map(old).get(key) == as_map(new).get(key) for key in _TELLING)
    return is_of_kind and _name_of(old) == _name_of(new)


def _name_of(message: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """Give by what a message is known again: its own id, and the calls that it answers."""
    known = as_map(message)
    answered = (each.call for each in results_in(message) if each.call is not None)
    return known.get("id"), known.get("call_id"), tuple(answered)
