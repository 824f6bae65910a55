"""Families: sessions that were forked or copied from each other, and projects that hold them.

A session says itself which one it was forked from, by id or by path, and which ones it started;
where none does, those that begin with the same question, asked at the same time or answered in the
same way, are copies of the one that began first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from tt_debugger.core.listing import Entry, last_part, named_id


class Relative(msgspec.Struct, frozen=True):
    """A session with its place in its family.

    `trail` has one item for each step down from the head of the family: whether a sibling follows
    there. The head has none.
    """

    entry: Entry
    trail: tuple[bool, ...] = ()


class Project(msgspec.Struct, frozen=True):
    """What one agent did in one folder: families, each from its head on."""

    cwd: str
    format: str
    relatives: tuple[Relative, ...]

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return len(self.relatives)


def families(entries: Sequence[Entry]) -> list[list[Relative]]:
    """Give the families of some sessions, in the order in which each comes first.

    A parent stands before its children, which stay in their order.
    """
    parents = _parents(entries)
    children: defaultdict[int | None, list[int]] = defaultdict(list)
    for place, parent in enumerate(parents):
        children[parent].append(place)
    found = [_from_head(entries, head, children) for head in children[None]]
    order = {entry.key: place for place, entry in enumerate(entries)}
    return sorted(found, key=lambda each: min(order[one.entry.key] for one in each))


def projects(entries: Sequence[Entry]) -> list[Project]:
    """Give the projects of some sessions in the order in which each comes first.

    A family stands where its head belongs.
    """
    held: defaultdict[tuple[str, str], list[Relative]] = defaultdict(list)
    for each in families(entries):
        held[_home(each[0].entry)].extend(each)
    return [Project(*key, tuple(relatives)) for key, relatives in held.items()]


def alone(entries: Iterable[Entry]) -> list[Relative]:
    """Give sessions as if none was related to another."""
    return [Relative(each) for each in entries]


def _home(entry: Entry) -> tuple[str, str]:
    """Give the project of a session, as long as that is not known the folder of its file."""
    if entry.facts is None and entry.failed is None:
        return entry.location.replace("\\", "/").rpartition("/")[0], entry.format
    return entry.cwd, entry.format


def _from_head(
    entries: Sequence[Entry], head: int, children: dict[int | None, list[int]]
) -> list[Relative]:
    found: list[Relative] = []
    waiting: list[tuple[int, tuple[bool, ...]]] = [(head, ())]
    while waiting:
        place, trail = waiting.pop()
        found.append(Relative(entries[place], trail))
        own = children.get(place, [])
        waiting += [(each, (*trail, each != own[-1])) for each in reversed(own)]
    return found


def _parents(entries: Sequence[Entry]) -> list[int | None]:
    """Give the place of the parent of each session, None where it has none here."""
    parents = _said_parents(entries)
    sources = set(parents)
    begun = sorted(
        (opening, _age(each, is_source=place in sources), place)
        for place, each in enumerate(entries)
        for opening in (each.facts.openings if each.facts else ())
    )
    for _, group in groupby(begun, key=lambda each: each[0]):
        (_, _, first), *others = group
        for _, _, place in others:
            if parents[place] is None and place not in _ancestors(parents, first):
                parents[place] = first
    return parents


def _said_parents(entries: Sequence[Entry]) -> list[int | None]:
    known: dict[str, int] = {}
    for place, each in enumerate(entries):
        for name in (each.id, each.location, last_part(each.location)):
            known.setdefault(name, place)
    parents: list[int | None] = [None] * len(entries)
    for place, each in enumerate(entries):
        for started in each.facts.started if each.facts else ():
            own = known.get(started)
            # What a session of another agent is named in stays where it belongs.
            is_own = own is not None and entries[own].format == each.format
            if own is not None and is_own and own not in _ancestors(parents, place):
                parents[own] = place
    for place, each in enumerate(entries):
        if parents[place] is not None:
            continue
        said = each.facts.forked_from if each.facts else ""
        names = (said, last_part(said), named_id(said)) if said else ()
        parent = next((known[name] for name in names if name in known), None)
        if parent is not None and place != parent and place not in _ancestors(parents, parent):
            parents[place] = parent
    return parents


def _ancestors(parents: Sequence[int | None], place: int | None) -> Iterator[int]:
    """Give a place and all above it."""
    while place is not None:
        yield place
        place = parents[place]


def _age(entry: Entry, *, is_source: bool) -> tuple[float, bool, float, str, int]:
    """Give what the head of a family has least of: it began first, and others say so."""
    facts = entry.facts
    began = facts.began if facts else None
    return (
        entry.time if began is None else began,
        not is_source,
        entry.time,
        entry.location,
        entry.place,
    )
