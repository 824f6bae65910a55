"""Safe cuts: where a fork can go on from without parting a call from its result."""

from __future__ import annotations

from typing import Any

import pytest
from builders import memories, memory, replay_of

from tt_debugger.core.changes import Append, Change, Put
from tt_debugger.core.fork.cuts import open_calls, refuse_parted, safe_row
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.messages import messages_in
from tt_debugger.errors import UsageError

USER = {"role": "user", "content": "go"}
SAYS = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}


def calls(*names: str) -> dict[str, Any]:
    blocks = [{"type": "toolCall", "id": name, "name": "bash", "arguments": {}} for name in names]
    return {"role": "assistant", "content": blocks}


def result(name: str) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": name, "toolName": "bash", "content": "ok"}


@pytest.mark.parametrize(
    ("messages", "waiting"),
    [
        ([], set()),
        ([USER], set()),
        ([USER, calls("a", "b")], {"a", "b"}),
        ([USER, calls("a", "b"), result("b")], {"a"}),
        ([USER, calls("a"), calls("b"), result("a"), result("b")], set()),
        # What was broken off long before is the business of the agent that broke it off.
        ([USER, calls("a"), USER, SAYS], set()),
    ],
)
def test_calls_are_open_until_their_results(messages: list[Any], waiting: set[str]):
    assert open_calls(messages) == waiting


def cut_at(text: str, row_id: str, **said: Any) -> str:
    """Give the id of the row at which a tree of messages is cut, asked for a row."""
    changes: dict[str, list[Change]] = {
        name: [Append(("messages",), message)] for name, message in said.items()
    }
    first = text.split(maxsplit=1)[0]
    changes[first] = [Put(("messages",), [said[first]])]
    store, session = memory(memories(text, changes))
    replay = replay_of(store, session)
    row = safe_row(
        session,
        session.rows[row_id],
        lambda each: replay.state(each).get("messages", []),
        lambda each: messages_in(replay.changes(each)),
    )
    return session.ids[row]


def test_a_row_without_an_open_call_is_where_one_asks():
    assert cut_at("u a", "a", u=USER, a=SAYS) == "a"
    assert cut_at("u a", "u", u=USER, a=SAYS) == "u"


def test_a_call_takes_its_results_with_it():
    said = {"u": USER, "c": calls("1", "2"), "r": result("1"), "s": result("2"), "a": SAYS}
    assert cut_at("u c r s a", "c", **said) == "s"
    assert cut_at("u c r s a", "r", **said) == "s"


def test_a_call_without_a_result_is_left_out():
    assert cut_at("u c", "c", u=USER, c=calls("1")) == "u"
    assert cut_at("u c v a", "c", u=USER, c=calls("1"), v=USER, a=SAYS) == "u"


def test_a_path_of_nothing_but_a_call_cannot_be_forked():
    with pytest.raises(UsageError, match="without its result"):
        cut_at("c", "c", c=calls("1"))


def plan_of(before: list[Any], after: list[Any]) -> Plan:
    return Plan(
        row=0,
        state={"messages": before},
        wanted={"messages": after},
        edits=(),
        origin="o#x",
        time=0.0,
        fresh=bytes,
    )


TALK = [USER, calls("a"), result("a"), SAYS]


@pytest.mark.parametrize("left_out", [1, 2])
def test_an_edit_that_parts_a_call_from_its_result_is_refused(left_out: int):
    after = [each for place, each in enumerate(TALK) if place != left_out]

    with pytest.raises(UsageError, match="parts a tool call from its result: a"):
        refuse_parted(plan_of(TALK, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TALK, TALK),
        (TALK, [USER, SAYS]),
        (TALK, [USER]),
        # What was parted in the original stays so.
        ([USER, calls("a"), USER], [USER, calls("a"), USER, SAYS]),
    ],
)
def test_other_edits_pass(before: list[Any], after: list[Any]):
    refuse_parted(plan_of(before, after))
