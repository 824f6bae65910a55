"""Chains: the few places that tell a tree say all that its parents say."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.chains import Chains, chains_of
from tt_debugger.core.tree import NO_ROW


@st.composite
def forests(draw: st.DrawFn) -> list[int]:
    """Give the parent of each place; parents stand first, and many hang on the place before."""
    size = draw(st.integers(0, 40))
    return [
        place - 1 if draw(st.booleans()) else draw(st.integers(NO_ROW, place - 1))
        for place in range(size)
    ]


def children(parents: Sequence[int], place: int) -> list[int]:
    return [child for child, parent in enumerate(parents) if parent == place]


def said(chains: Chains) -> list[int]:
    return [chains.parent(place) for place in range(len(chains))]


@given(forests())
def test_chains_say_what_parents_say(parents: list[int]):
    chains = chains_of(parents)
    places = range(len(parents))
    families = {place: children(parents, place) for place in (NO_ROW, *places)}

    assert said(chains) == parents
    assert {each: chains.newest_child(each) for each in families} == {
        each: below[-1] if below else NO_ROW for each, below in families.items()
    }
    assert sorted(chains.older) == sorted(
        child for below in families.values() for child in below[:-1]
    )
    assert {each: bool(chains.forked[each]) for each in families} == {
        each: len(below) > 1 for each, below in families.items()
    }
    assert list(chains.flows) == [families[each] == [each + 1] for each in places]
    assert chains.leaves == [each for each in places if not families[each]]


@given(forests())
def test_a_chain_is_all_that_hangs_on_the_place_before(parents: list[int]):
    chains = chains_of(parents)
    begins = [each for each, parent in enumerate(parents) if not each or parent != each - 1]

    assert chains.begins == begins
    for place in range(len(parents)):
        assert chains.begin_of(place) == max(each for each in begins if each <= place)
        for end in range(place + 1, len(parents) + 1):
            inside = [each for each in begins if place < each < end]
            assert chains.begins_between(place, end) == inside


@given(forests(), st.data())
def test_marked_places_hang_on_their_nearest_marked_ancestors(
    parents: list[int], data: st.DataObject
):
    size = len(parents)
    mask = bytes(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))

    def nearest(place: int) -> int:
        while place != NO_ROW and not mask[place]:
            place = parents[place]
        return NO_ROW if place == NO_ROW else mask[:place].count(1)

    chains = chains_of(parents)
    found = chains.nearest_marked(mask)

    assert found == array("q", [*map(nearest, range(size)), NO_ROW])
    assert said(chains.marked(mask, found)) == [
        nearest(parents[place]) for place in range(size) if mask[place]
    ]
