"""Settling: how long after a change another one may have the same time."""

from __future__ import annotations

import pytest

from tt_debugger.storage.settling import SETTLED, has_settled

NOW = 10**18


@pytest.mark.parametrize(
    ("changed", "settled"),
    [
        ((), True),
        ((NOW,), False),
        ((NOW - SETTLED,), False),
        ((NOW - SETTLED - 1,), True),
        # A clock beside ours is not always right to the second.
        ((NOW + SETTLED,), False),
        ((NOW + SETTLED + 1,), True),
        ((0, NOW + 10**15), True),
        # One that is far away says nothing of another.
        ((NOW + 10**15, NOW - 5), False),
        ((0, NOW - 5), False),
    ],
)
def test_a_change_has_settled_once_the_next_one_must_have_another_time(
    changed: tuple[int, ...], *, settled: bool
):
    assert has_settled(NOW, *changed) is settled
