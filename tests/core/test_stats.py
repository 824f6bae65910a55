"""Statistics: what is told of branches, tools and models is what the rows say, each once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.answers import NO_CALL, Answers, Thing, ToolCall
from tt_debugger.core.model import Head, Heads, Kind, Role, Session, SessionId, Usage
from tt_debugger.core.spending import spending_of
from tt_debugger.core.stats import Branch, ModelTally, Tally, ToolTally, stats_of

USER = Head(Kind.MESSAGE, Role.USER, "user")


def used(*tokens: int, cost: float = 0.0) -> Usage:
    return Usage(*tokens, total=sum(tokens), cost=cost)


def answer(time: float, usage: Usage | None = None, **more: object) -> Head:
    return Head(Kind.MESSAGE, Role.ASSISTANT, "asst", time=time, usage=usage, **more)


def call(time: float, name: str, usage: Usage | None = None) -> Head:
    return Head(Kind.TOOL_CALL, Role.ASSISTANT, name, time=time, usage=usage)


def result(time: float, name: str, *, failed: bool = False) -> Head:
    return Head(Kind.TOOL_RESULT, Role.TOOL, name, time=time, failed=failed)


FORKED = session(
    "u c r a<u b",
    active="b",
    heads={
        "u": Head(Kind.MESSAGE, Role.USER, "user", time=0.0),
        "c": call(2.0, "bash", used(10, 1, cost=0.1)),
        "r": result(5.0, "bash", failed=True),
        "a": answer(20.0, used(20, 2, cost=0.2)),
        "b": answer(21.0, used(30, 3, 4, 5)),
    },
)


def test_each_branch_has_what_is_its_own_and_what_several_share_counts_once():
    stats = stats_of(FORKED)

    assert stats.total == Tally(5, 5, 1, 1, used(60, 6, 4, 5, cost=0.3), 0.3, 23.0, 3.0)
    assert stats.shared == Tally(1, 1)
    own = Tally(2, 2, 0, 0, used(50, 5, 4, 5, cost=0.2), 0.2, 21.0)
    left = Tally(2, 2, 1, 1, used(10, 1, cost=0.1), 0.1, 2.0, 3.0)
    assert stats.branches == (
        Branch(4, 0, True, own + Tally(1, 1), own, 21.0),
        Branch(2, 0, False, left + Tally(1, 1), left, 5.0),
    )
    assert stats.seconds == 21.0


def test_what_a_file_does_not_tell_is_none_and_never_nothing():
    stats = stats_of(session("a b", heads={"a": USER, "b": answer(1.0)}))

    assert stats.total == Tally(2, 2)
    assert (stats.total.tokens, stats.total.cost, stats.total.tool_seconds) == (None, None, None)
    assert stats.models == (ModelTally(None, 1, None, None),)
    assert stats.seconds == 0


def test_a_blank_session_comes_to_nothing():
    heads = Heads()
    stats = stats_of(Session(SessionId("s"), None, heads, [], array("q")), Answers([], [], {}))

    assert (stats.total, stats.shared, stats.seconds) == (Tally(), Tally(), None)
    assert (stats.branches, stats.tools, stats.models, stats.loops) == ((), (), (), ())


def test_by_the_index_a_message_is_one_call_of_the_tool_that_it_is_named_after():
    told = session(
        "c r d s",
        heads={
            "c": call(0.0, "bash"),
            "r": result(4.0, "bash"),
            "d": call(5.0, "read"),
            "s": result(5.5, "read", failed=True),
        },
    )

    stats = stats_of(told)

    assert stats.tools == (
        ToolTally("bash", 1, 0, 4.0, 4.0, 4.0, 1),
        ToolTally("read", 1, 1, 0.5, 0.5, 0.5, 3),
    )
    assert not stats.has_bodies


def test_with_bodies_each_call_counts_with_the_time_and_the_failure_of_its_result():
    told = session(
        "c r s t",
        heads={
            "c": call(0.0, "bash"),
            "r": result(4.0, "tool", failed=True),
            "s": result(6.0, "tool"),
            "t": result(7.0, "tool", failed=True),
        },
    )
    calls = [
        ToolCall(0, 0, NO_CALL, 1, b"", failed=False),
        ToolCall(0, 1, 0, 2, b"", failed=False),
        ToolCall(0, 0, 1, 3, b"", failed=True),
        ToolCall(0, 1, 2, 3, b"", failed=False),
        ToolCall(0, 1, 3),
    ]
    answers = Answers(calls, [Thing("bash", "ls"), Thing("read", "a")], {0: "m"})

    stats = stats_of(told, answers)

    assert stats.tools == (
        ToolTally("read", 3, 0, 13.0, 6.5, 7.0, 3),
        ToolTally("bash", 2, 2, 11.0, 5.5, 7.0, 3),
    )
    assert stats.total.calls == 5
    assert stats.models == (ModelTally("m", 1, None, None),)


def test_of_results_that_took_equally_long_the_first_is_the_longest():
    steps = {"c": call(0.0, "bash"), "r": result(4.0, "bash"), "d": call(5.0, "bash")}
    told = session("c r d s", heads=steps | {"s": result(9.0, "bash")})

    assert stats_of(told).tools == (ToolTally("bash", 2, 0, 8.0, 4.0, 4.0, 1),)


def test_what_was_used_where_no_model_is_told_has_lines_of_its_own_summaries_another():
    told = session(
        "b m a k c",
        heads={
            "b": answer(0.0, used(1)),
            "m": Head(Kind.MODEL_CHANGE, None, "model", "p/small"),
            "a": answer(1.0, used(1, 2, cost=0.5)),
            "k": Head(Kind.COMPACTION, usage=used(7, cost=0.75)),
            "c": Head(Kind.BRANCH_SUMMARY, usage=used(2, cost=0.25)),
        },
    )

    assert stats_of(told).models == (
        ModelTally(None, 0, used(9, cost=1.0), 1.0, is_of_summaries=True),
        ModelTally("p/small", 1, used(1, 2, cost=0.5), 0.5),
        ModelTally(None, 1, used(1), None),
    )


def test_a_commit_of_an_agent_is_no_answer_and_took_no_time():
    commits = {
        name: Head(Kind.COMMIT, Role.ASSISTANT, time=time)
        for name, time in (("a", 0.0), ("b", 9.0))
    }

    stats = stats_of(session("a b", heads=commits))

    assert (stats.total, stats.models, stats.seconds) == (Tally(2), (), 9.0)


@pytest.mark.parametrize(
    ("kinds", "is_of_states"),
    [
        ((Kind.SNAPSHOT, Kind.SNAPSHOT), True),
        ((Kind.COMMIT, Kind.LABEL), True),
        ((Kind.SUPER_STEP, Kind.MESSAGE), False),
        ((Kind.CUSTOM, Kind.SETTING), False),
    ],
)
def test_whole_states_without_messages_are_told_apart(kinds, is_of_states):
    heads = dict(zip("ab", map(Head, kinds), strict=True))

    assert stats_of(session("a b", heads=heads)).is_of_states is is_of_states


def test_the_time_of_a_branch_is_that_between_its_first_and_its_last_time():
    told = session(
        "a b c d<a e<",
        heads={"b": answer(3.0), "c": answer(2.0), "e": answer(9.0)},
    )

    assert {each.leaf: each.seconds for each in stats_of(told).branches} == {
        2: None,
        3: None,
        4: 0,
    }


heads = st.builds(
    Head,
    st.sampled_from(Kind),
    st.sampled_from((None, *Role)),
    name=st.sampled_from(("bash", "read")),
    time=st.one_of(st.none(), st.integers(0, 9).map(float)),
    failed=st.booleans(),
    usage=st.one_of(
        st.none(),
        st.builds(
            used,
            st.integers(0, 9),
            st.integers(0, 9),
            st.integers(0, 9),
            cost=st.integers(0, 9).map(lambda cents: cents / 100),
        ),
    ),
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Give a session of any tree and any heads; a parent may stand behind its child."""
    parents = draw(parent_rows())
    columns = Heads()
    for _ in parents:
        columns.append(draw(heads))
    ids = [f"m{row}" for row in range(len(parents))]
    return Session(SessionId("s"), "memory", columns, ids, array("q", parents))


def counted(told: Session, rows: Iterable[int]) -> tuple[object, ...]:
    """Give what some rows come to, row by row: what one would count by hand."""
    chosen = [told.heads[row] for row in rows]
    usages = [each.usage for each in chosen if each.usage is not None]
    kinds = [each.kind for each in chosen]
    names = ("input", "output", "cache_read", "cache_write")
    return (
        len(chosen),
        sum(each in {Kind.MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT} for each in kinds),
        kinds.count(Kind.TOOL_CALL),
        sum(each.failed for each in chosen),
        [sum(getattr(each, name) for each in usages) for name in names] if usages else None,
        round(sum(each.cost for each in usages), 6) or None,
    )


def told_by(tally: Tally) -> tuple[object, ...]:
    tokens = tally.tokens
    return (
        tally.checkpoints,
        tally.messages,
        tally.calls,
        tally.errors,
        tokens and [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
        tally.cost and round(tally.cost, 6),
    )


@given(sessions())
def test_every_tally_is_the_sum_of_its_rows_and_each_row_counts_once(told):
    stats = stats_of(told)
    paths = {leaf: set(told.tree.path_to(leaf)) for leaf in told.tree.leaves()}
    of_others = {
        leaf: set().union(*(rows for other, rows in paths.items() if other != leaf))
        for leaf in paths
    }

    assert {each.leaf for each in stats.branches} == set(paths)
    for each in stats.branches:
        rows = paths[each.leaf]
        assert told_by(each.whole) == counted(told, rows)
        assert told_by(each.own) == counted(told, rows - of_others[each.leaf])
    everything = range(len(told))
    own = {row for leaf, rows in paths.items() for row in rows - of_others[leaf]}
    assert told_by(stats.total) == counted(told, everything)
    assert told_by(stats.shared) == counted(told, set(everything) - own)


@given(sessions())
def test_all_tallies_together_are_the_total(told):
    stats = stats_of(told)

    together = sum((each.own for each in stats.branches), stats.shared)

    assert together == stats.total
    assert sum(each.calls for each in stats.tools) == stats.total.calls
    tokens = [each.tokens for each in stats.models if each.tokens is not None]
    assert (sum(tokens, Usage()) if tokens else None) == stats.total.tokens


@given(sessions(), st.integers(0, 40))
def test_spending_ends_with_the_total_and_never_falls(told, width):
    spending, total = spending_of(told), stats_of(told).total

    if spending is None:
        assert total.cost is None
        assert total.tokens is None or total.tokens.context == 0
        return
    columns = spending.columns(width)
    assert len(columns) == width
    assert columns == sorted(columns)
    assert columns[-1:] == [spending.total] * bool(width)
    assert total.tokens is not None
    expected = total.cost if spending.is_cost else total.tokens.context
    assert round(spending.total, 6) == round(expected or 0, 6)


def test_without_times_spending_grows_by_rows():
    told = session(
        "a b c",
        heads={
            "a": Head(Kind.MESSAGE, Role.ASSISTANT, usage=used(5), time=4.0),
            "c": Head(Kind.MESSAGE, Role.ASSISTANT, usage=used(7)),
        },
    )

    spending = spending_of(told)

    assert spending is not None
    assert (list(spending.places), list(spending.sums)) == ([0, 2], [5, 12])
    assert (spending.is_timed, spending.is_cost) == (False, False)
    assert spending.columns(4) == [5, 5, 5, 12]
