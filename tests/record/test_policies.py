from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record.backends import EVERY

from tt_debugger.core.model import Usage
from tt_debugger.core.recording.entries import Changed, Failure, Migration, Snapshotted
from tt_debugger.errors import UsageError
from tt_debugger.record.policies import (
    EveryStep,
    Hybrid,
    OnEvents,
    Periodic,
    Thresholds,
    deadline,
    is_critical,
    is_due,
)

POLICIES = (
    EveryStep(),
    Periodic(30),
    OnEvents(("plan", "deploy")),
    Hybrid(10, 300),
    Thresholds(tokens=100),
)
NOON = 43_200.0


def step(name: str = "", **more) -> Changed:
    return Changed("b", "a", "2026-01-01T12:00:00Z", name, **more)


def used(tokens: int = 0, cost: float = 0.0, **more) -> Changed:
    return step(usage=Usage(total=tokens, cost=cost, **more))


def is_due_after(policy, seconds: float, *waiting) -> bool:
    return is_due(policy, waiting or (step(),), NOON + seconds, NOON)


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_due_where_nothing_waits(policy):
    assert not is_due(policy, (), NOON + 10_000, NOON)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_critical_is_due_at_once_under_every_policy(policy):
    assert is_due_after(policy, 0, step(), step(event="interrupt"), step())


def test_every_step_is_due_at_once():
    assert is_due_after(EveryStep(), 0)


def test_a_periodic_write_is_due_when_its_seconds_have_passed():
    assert not is_due_after(Periodic(30), 29.9)
    assert is_due_after(Periodic(30), 30)


def test_a_step_with_a_name_or_tool_that_is_waited_for_is_due():
    policy = OnEvents(("plan", "deploy"))
    assert not is_due_after(policy, 10_000, step("think"), step("act", tool="search"))
    assert is_due_after(policy, 0, step("plan"), step("think"))
    assert is_due_after(policy, 0, step("act", tool="deploy"))


def test_a_hybrid_policy_writes_no_sooner_than_its_least_interval():
    assert not is_due_after(Hybrid(10, 300), 9.9)
    assert is_due_after(Hybrid(10, 300), 10)


def test_a_clock_that_was_set_back_does_not_stop_the_writing():
    assert is_due_after(Periodic(30), -1)
    assert is_due_after(Hybrid(10, 300), -1)


def test_what_waits_is_due_when_its_tokens_reach_the_threshold():
    policy = Thresholds(tokens=100)
    assert not is_due_after(policy, 0, used(60), step(), used(39))
    assert is_due_after(policy, 0, used(60), step(), used(40))


def test_tokens_that_nobody_summed_up_are_summed_up():
    parts = {"input": 50, "output": 10, "cache_read": 30, "cache_write": 10}
    assert is_due_after(Thresholds(tokens=100), 0, used(**parts))
    assert not is_due_after(Thresholds(tokens=101), 0, used(**parts))


def test_what_waits_is_due_when_its_cost_reaches_the_threshold():
    policy = Thresholds(cost=1.0)
    assert not is_due_after(policy, 0, *[used(cost=0.1)] * 9)
    assert is_due_after(policy, 0, *[used(cost=0.1)] * 10)


def test_every_step_is_due_while_the_context_is_large():
    policy = Thresholds(context=1000)
    assert is_due_after(policy, 0, used(input=900, output=100), step())
    assert not is_due_after(policy, 0, used(input=900, output=100), used(input=100))


def test_only_policies_of_time_have_a_deadline():
    assert [deadline(each, NOON) for each in POLICIES] == [
        None,
        NOON + 30,
        None,
        NOON + 300,
        None,
    ]


@given(
    st.sampled_from([each for each in POLICIES if deadline(each, 0.0) is not None]),
    st.floats(0, 1e9),
)
def test_what_waits_is_due_at_the_deadline(policy, written):
    assert is_due(policy, (step(),), deadline(policy, written), written)


def test_errors_and_events_are_critical():
    assert is_critical(step(event="error"))
    assert is_critical(step(event="plan"))
    assert is_critical(step(failure=Failure("ValueError", "no")))
    assert not is_critical(step("plan", tool="deploy"))


def test_critical_are_effects_labels_forks_handoffs_and_what_was_recovered():
    plain = [
        msgspec.structs.replace(each, event=None, failure=None)
        for each in EVERY
        if getattr(each, "migration", None) is None
    ]
    critical = {type(each).__name__ for each in plain if is_critical(each)}
    others = {type(each).__name__ for each in plain} - critical
    assert critical == {"EffectNoted", "Labelled", "Forked", "HandedOff", "Recovered"}
    assert others <= {"Changed", "Said", "Compacted", "BranchSummarised", "Snapshotted"}


def test_a_snapshot_is_critical_where_the_state_was_migrated():
    plain = Snapshotted("a", None, "2026-01-01T12:00:00Z", state={})
    assert not is_critical(plain)
    assert is_critical(msgspec.structs.replace(plain, migration=Migration(1, 2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Periodic(0), "seconds of Periodic is 0"),
        (lambda: Periodic(float("nan")), "seconds of Periodic is nan"),
        (lambda: Hybrid(300, 10), "the least interval of 300 s is longer than the greatest, 10 s"),
        (Thresholds, "no threshold is given, so nothing would ever be due"),
        (lambda: Thresholds(cost=-1), "cost of Thresholds is -1"),
        (lambda: OnEvents("plan"), "the names of OnEvents are 'plan'"),
        (lambda: OnEvents(()), "the names of OnEvents are ()"),
    ],
)
def test_a_policy_that_could_not_work_is_refused(make, message):
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.message == message
