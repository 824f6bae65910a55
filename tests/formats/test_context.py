"""The context: a list that shares its beginning with those it was made from."""

from __future__ import annotations

from tt_debugger.formats.shared.context import Spine


def test_a_spine_shares_its_beginning_and_keeps_its_order():
    short = Spine.of("ab")
    long = Spine.added(short, "c")

    assert (Spine.items(short), Spine.items(long), long.length) == (["a", "b"], ["a", "b", "c"], 3)
    assert long.before is short
    assert list(Spine.backwards(long)) == ["c", "b", "a"]
    assert Spine.items(Spine.of([])) == []


def test_a_spine_of_a_million_items_is_freed_without_a_crash():
    spine = Spine.of(range(1_000_000))

    assert spine is not None
    assert (spine.length, spine.item) == (1_000_000, 999_999)
    del spine


def test_spines_over_one_beginning_hold_it_once():
    spine = Spine.of(range(3))

    branches = [Spine.added(spine, each) for each in range(1000)]

    assert all(each.before is spine and each.length == 4 for each in branches)
