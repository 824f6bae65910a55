"""Alignment: what belongs together is found, whatever stands between."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.diff.align import (
    MOST_COMPARED,
    Level,
    Likeness,
    aligned,
    matched_by_likeness,
    matched_in_order,
)

letters = st.lists(st.sampled_from("abcde"), max_size=9)
NOT_ALIKE = Likeness(lambda _: 0, lambda _one, _other: 0.0, least=1.0)


def longest(old: list[str], new: list[str]) -> int:
    """Give the length of a longest common subsequence, by trying all."""
    for size in range(min(len(old), len(new)), 0, -1):
        ours = {
            tuple(old[each] for each in places) for places in combinations(range(len(old)), size)
        }
        theirs = combinations(range(len(new)), size)
        if any(tuple(new[each] for each in places) in ours for places in theirs):
            return size
    return 0


@given(letters, letters)
def test_items_matched_in_order_are_equal_and_ascend(old: list[str], new: list[str]) -> None:
    pairs = matched_in_order(old, new)

    assert all(old[one] == new[other] for one, other in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))


@given(st.lists(st.sampled_from("aab"), max_size=9), st.lists(st.sampled_from("aab"), max_size=9))
def test_where_nothing_is_unique_as_many_as_can_be_are_matched(
    old: list[str], new: list[str]
) -> None:
    pairs = matched_in_order([*old, *old], [*new, *new])

    assert len(pairs) == longest([*old, *old], [*new, *new])


def test_what_has_no_key_is_matched_with_nothing():
    assert matched_in_order([None, "a", None], [None, None, "a"]) == [(1, 2)]


@given(letters, letters)
def test_every_unique_item_finds_its_twin_wherever_it_stands(
    old: list[str], new: list[str]
) -> None:
    found = aligned(old, new, (Level(list, tells_all=True),), NOT_ALIKE)
    pairs = [*found.kept, *found.moved]

    assert found.equal == set(pairs)
    assert len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs)
    assert all(old[one] == new[other] for one, other in pairs)
    kept = found.kept
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(kept))
    for letter in set(old) & set(new):
        if old.count(letter) == new.count(letter) == 1:
            assert (old.index(letter), new.index(letter)) in pairs


def test_the_fewest_items_are_taken_for_moved():
    found = aligned("abcdef", "fabcde", (Level(list),), NOT_ALIKE)

    assert found.kept == ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    assert found.moved == ((5, 0),)


def test_a_surer_level_goes_before_a_later_one():
    old, new = ["a1", "b2"], ["c1", "a2"]
    by_number = Level(lambda items: [each[1] for each in items])
    by_letter = Level(lambda items: [each[0] for each in items])

    assert aligned(old, new, (by_number, by_letter), NOT_ALIKE).kept == ((0, 0), (1, 1))
    assert aligned(old, new, (by_letter, by_number), NOT_ALIKE).kept == ((0, 1),)


def test_likeness_pairs_what_is_most_alike_in_order():
    alike = Likeness(lambda _: 0, lambda one, other: 1 / (1 + abs(one - other)), least=0.3)

    assert matched_by_likeness([10, 20, 30], [11, 31, 90], alike) == [(0, 0), (2, 1)]


def test_only_items_of_one_kind_are_alike():
    alike = Likeness(lambda item: item[0], lambda _one, _other: 1.0, least=0.5)

    assert matched_by_likeness(["x1", "y1"], ["y2"], alike) == [(1, 0)]


def test_a_gap_too_large_to_compare_each_with_each_is_paired_by_kind():
    compared: list[tuple[int, int]] = []

    def score(one: int, other: int) -> float:
        compared.append((one, other))
        return 1.0

    size = int(MOST_COMPARED**0.5) + 1
    pairs = matched_by_likeness(
        range(size), range(size), Likeness(lambda item: item % 7, score, least=0.5)
    )

    assert pairs == [(place, place) for place in range(size)]
    assert len(compared) == size
