"""Unmet: what is said of a condition that holds nowhere is true of all that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import memory_records

from tt_debugger.core.changes import Append, Change, LiveState, Put, Snapshot
from tt_debugger.core.conditions import At, parse_condition
from tt_debugger.core.conditions.unmet import Unmet
from tt_debugger.core.model import Head, Kind, Role, Session, Usage
from tt_debugger.core.paths import jmespath_of, parse_pointer, value_or_unset
from tt_debugger.formats.shared.memory import MemoryRecord

M = ("messages",)
CALL: Any = {
    "role": "assistant",
    "model": "opus-4",
    "content": [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}],
}
CHANGES: dict[str, list[Change]] = {
    "u": [
        Snapshot({"messages": [], "model": "opus-4", "plan": {"status": "todo"}, "cost_usd": 2}),
        Append(M, {"role": "user", "content": "Find it"}),
    ],
    "a": [Append(M, CALL), Put(("usage",), {"tokens_used": 9})],
    "b": [Put(("found",), [1])],
}
HEADS = {
    "u": Head(Kind.MESSAGE, Role.USER, time=10.0),
    "a": Head(Kind.TOOL_CALL, Role.ASSISTANT, "Bash", time=14.5),
    "b": Head(Kind.SNAPSHOT, usage=Usage(input=1000, output=20, cost=0.25), time=20.0),
}
ROWS = "u a b<u"


def reasons(text: str, path: str) -> tuple[str, ...]:
    """Say why a condition holds nowhere on a path, whose last state offers what was meant."""
    _, session = memory(memories(ROWS, CHANGES, HEADS))
    unmet = Unmet(parse_condition(text))
    live, following = LiveState({}), unmet.looking.following()
    for name in path:
        live.apply(CHANGES[name])
        at = At(session, session.rows[name], CHANGES[name], live.value, lambda: {"kept": 1})
        assert not following.holds(at)
    return unmet.reasons(live.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tool=bush", ["no tool bush here; there is Bash"]),
        ("tool=bash and error", []),
        ("tool=as", ["no tool as here; there is Bash; did you mean 'tool=*as*'?"]),
        ("not tool=bush", []),
        ("not (not tool=bush)", ["no tool bush here; there is Bash"]),
        ("model=opus", ["no model opus here; there is opus-4; did you mean 'model=*opus*'?"]),
        ("label=x", ["no checkpoint here has a label"]),
        ("kind=gap", ["no kind gap here; there are message, tool_call"]),
        ("role=tool", ["no role tool here; there are assistant, user"]),
        ("cost>1", ["no checkpoint here tells a cost; did you mean 'jmes:cost_usd > 1'?"]),
        ("cost=1", ["no checkpoint here tells a cost; did you mean 'jmes:cost_usd == 1'?"]),
        (
            "tokens>100k",
            [
                (
                    "no checkpoint here tells its tokens;"
                    " did you mean 'jmes:usage.tokens_used > 100000'?"
                )
            ],
        ),
        ("output>1", ["no checkpoint here tells tokens of output"]),
        ("took>9s", ["took is 4.5s here"]),
        ("row>9", ["row is 1 to 2 here"]),
        ("row>1", []),
        ("messages>9", ["messages is 1 to 2 here"]),
        ("step=1", ["no checkpoint here has a step"]),
        (
            "time>2030-01-01",
            ["time is 1970-01-01T00:00:10.000Z to 1970-01-01T00:00:14.500Z here"],
        ),
        ("errors", ["no state here has errors; did you mean the condition error?"]),
        ("coast > 3", ["no state here has coast; did you mean the condition cost?"]),
        ("length(nosuch) > 3", ["no state here has nosuch"]),
        ("found", ["no state here has found"]),
        ("plan.sttus == 'x'", ["no state here has plan.sttus; did you mean plan.status?"]),
        ("plan.status == 'x'", []),
        (
            "messages.content",
            ["no state here has messages.content; messages is a list: messages[].content"],
        ),
        ("messages[9]", ["no state here has messages[9]; did you mean messages[1]?"]),
        ("messages[?rool == 'x']", ["no state here has a field rool; did you mean role?"]),
        ("messages[-1].contnt", ["no state here has a field contnt; did you mean content?"]),
        ("messages[?role == 'x']", []),
        ("{mine: plan.status}.mine == 'x'", []),
        (
            'plan.status == "done"',
            [
                (
                    '"done" is a field in JMESPath, and no state here has it; '
                    "a text is written 'done'"
                )
            ],
        ),
        (
            "plan.status==done",
            ["done is a field in JMESPath, and no state here has it; a text is written 'done'"],
        ),
        (
            'messages[?role == "tool"]',
            [
                (
                    '"tool" is a field in JMESPath, and no state here has it; '
                    "a text is written 'tool'"
                )
            ],
        ),
        ("'x' == done", ["no state here has done"]),
        ("plan.status == model", []),
        (
            "done == model",
            ["done is a field in JMESPath, and no state here has it; a text is written 'done'"],
        ),
        ("plan == [2]", ["no state here has [2]"]),
        ("done == [2]", ["no state here has done", "no state here has [2]"]),
        ("entry: sumary", ["no checkpoint here has sumary; did you mean summary?"]),
        ("entry: record.kep", ["no checkpoint here has record.kep; did you mean record.kept?"]),
        ("entry: record.kept > 1", []),
        ("entry: messages[?rool]", ["no checkpoint here has a field rool; did you mean role?"]),
        (
            "tool=x or nosuch",
            ["no tool x here; there is Bash", "no state here has nosuch"],
        ),
    ],
)
def test_what_is_asked_for_and_nowhere_is_said(text: str, said: list[str]):
    assert reasons(text, "ua") == tuple(said)


@pytest.mark.parametrize(
    ("text", "here", "there"),
    [
        ("found[0] == `2`", ["no state here has found"], []),
        ("cost>1", ["no checkpoint here tells a cost; did you mean 'jmes:cost_usd > 1'?"], None),
        ("tool=x", ["no tool x here; there is Bash"], ["no tool is called here"]),
    ],
)
def test_only_the_checkpoints_that_were_asked_count(
    text: str, here: list[str], there: list[str] | None
):
    assert reasons(text, "ua") == tuple(here)
    assert reasons(text, "ub") == tuple(["cost is 0 to 0.25 here"] if there is None else there)


def test_of_many_names_the_first_are_told():
    changes: dict[str, list[Change]] = {"u": [Snapshot({}), Put(("model",), "m")]}
    _, session = memory(memories("u", changes))
    labels = [f"l{place:02}" for place in range(12)]
    unmet = Unmet(parse_condition("label=x"))
    for label in labels:
        at = At(_labelled(session, label), 0, (), {}, dict)
        unmet.looking.holds(at)

    told = ", ".join(labels[:10])
    assert unmet.reasons({}) == (f"no label x here; there are {told} and 2 more",)


def _labelled(session: Session, label: str) -> Session:
    return msgspec.structs.replace(session, labels={0: label})


PLACES = ("/a", "/b", "/a/a", "/b/a", "/a/0", "/messages/0/a", "/nosuch")


@given(memory_records(), st.sampled_from(PLACES))
def test_of_a_place_it_is_said_that_it_is_nowhere_exactly_if_it_is(
    records: Sequence[MemoryRecord], place: str
):
    path = parse_pointer(place)
    store, session = memory(records)
    replay = replay_of(store, session)
    unmet = Unmet(parse_condition(f"jmes: {jmespath_of(path)}"))
    is_there = False
    for row in range(len(session)):
        state = replay.state(row)
        is_there |= value_or_unset(state, path) is not msgspec.UNSET
        unmet.looking.holds(At(session, row, replay.changes(row), state, dict))

    assert bool(unmet.reasons({})) is not is_there
