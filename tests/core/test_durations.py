"""How long a step took: an answer since what is above it, a tool since it was called."""

from __future__ import annotations

from builders import session
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.durations import PARALLEL_CALLS, Took, durations, seconds_taken
from tt_debugger.core.model import Head, Kind, Role, Session

USER, CALL, RESULT = (
    (Kind.MESSAGE, Role.USER),
    (Kind.TOOL_CALL, Role.ASSISTANT),
    (Kind.TOOL_RESULT, Role.TOOL),
)


def run(*steps: tuple[tuple[Kind, Role], float | None]) -> Session:
    """Give a session of steps that follow each other, each with its time."""
    names = [f"r{number}" for number in range(len(steps))]
    heads = {
        name: Head(kind, role, time=time)
        for name, ((kind, role), time) in zip(names, steps, strict=True)
    }
    return session(" ".join(names), heads=heads)


def test_what_a_user_took_to_write_is_no_duration_and_a_first_row_took_no_time():
    assert durations(run((USER, 0.0), (USER, 9.0))) == [None, None]
    assert durations(run((CALL, 5.0))) == [None]


def test_what_lies_between_two_commits_is_no_duration():
    commit = Kind.COMMIT, Role.ASSISTANT

    assert durations(run((commit, 0.0), (commit, 9.0))) == [None, None]
    assert seconds_taken(run((commit, 0.0), (commit, 9.0)), 1) is None


def test_tools_that_ran_side_by_side_took_their_own_time_each_but_passed_it_once():
    told = run((USER, 0.0), (CALL, 2.0), (RESULT, 7.0), (RESULT, 5.0), (RESULT, 9.0))

    assert durations(told) == [
        None,
        Took(2.0, 2.0, is_tool=False),
        Took(5.0, 5.0, is_tool=True),
        Took(3.0, 0.0, is_tool=True),
        Took(7.0, 2.0, is_tool=True),
    ]


def test_a_time_that_is_missing_or_runs_backwards_tells_nothing():
    told = run((USER, 4.0), (CALL, None), (RESULT, 5.0), (CALL, 3.0))

    assert durations(told) == [None, None, None, None]


def test_of_very_many_results_the_last_ones_are_measured_from_one_of_them():
    results = [(RESULT, 1.0 + number) for number in range(PARALLEL_CALLS + 2)]
    told = run((CALL, 0.0), *results)

    last = durations(told)[-1]

    assert last == Took(PARALLEL_CALLS + 1.0, 1.0, is_tool=True)


@given(
    st.lists(
        st.tuples(
            st.sampled_from((USER, CALL, RESULT)),
            st.one_of(st.none(), st.integers(0, 20).map(float)),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_one_row_is_measured_as_all_are_and_no_step_waited_longer_than_it_took(steps):
    told = run(*steps)
    found = durations(told)

    assert [seconds_taken(told, row) for row in range(len(told))] == [
        None if each is None else each.seconds for each in found
    ]
    assert all(each is None or 0 <= each.waited <= each.seconds for each in found)
