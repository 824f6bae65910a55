"""The journey: back and forward through the rows one has been at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core import journey as journey_module
from tt_debugger.core.journey import Journey


def after(*rows: int) -> Journey:
    journey = Journey()
    for row in rows:
        journey = journey.visit(row)
    return journey


def test_back_and_forward_lead_through_the_visited_rows():
    journey = after(1, 5, 3)

    assert journey == Journey(3, (1, 5))
    assert journey.back() == Journey(5, (1,), (3,))
    assert journey.back().back() == Journey(1, (), (5, 3))
    assert journey.back().back().forward() == Journey(5, (1,), (3,))


def test_where_nothing_was_there_is_nowhere_to_go():
    assert Journey().back() == Journey().forward() == Journey()
    assert not Journey().can_go_back
    assert not Journey().can_go_forward
    assert after(7).back() == after(7).forward() == Journey(7)


def test_it_tells_where_one_can_go():
    middle = after(1, 2, 3).back()

    assert (middle.can_go_back, middle.can_go_forward) == (True, True)
    assert (middle.back().can_go_back, middle.forward().can_go_forward) == (False, False)


def test_a_visit_after_going_back_drops_what_lay_ahead():
    assert after(1, 2, 3).back().back().visit(9) == Journey(9, (1,))


def test_a_visit_to_where_one_is_changes_nothing():
    middle = after(1, 1, 2, 2, 3).back()

    assert middle == Journey(2, (1,), (3,))
    assert middle.visit(2) == middle


def test_the_farthest_stops_are_forgotten():
    far = after(*range(journey_module.MOST_STOPS + 11))

    assert len(far.behind) == journey_module.MOST_STOPS
    assert far.behind[0] == 10


@given(st.lists(st.one_of(st.integers(0, 3), st.sampled_from(("back", "forward")))))
def test_it_is_a_list_with_a_place_in_it(moves: list[int | str]):
    journey, stops, place = Journey(), list[int](), -1
    for move in moves:
        if isinstance(move, int):
            journey = journey.visit(move)
            if not stops or stops[place] != move:
                stops, place = [*stops[: place + 1], move], place + 1
        elif move == "back":
            journey, place = journey.back(), max(place - 1, min(place, 0))
        else:
            journey, place = journey.forward(), min(place + 1, len(stops) - 1)
        here = stops[place] if stops else None
        behind = tuple(stops[: max(place, 0)])
        assert journey == Journey(here, behind, tuple(stops[place + 1 :]))
