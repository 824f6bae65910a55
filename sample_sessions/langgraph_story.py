#!/usr/bin/env python3
"""The story of `langgraph.sqlite`: a refund that is worked out, branched and waits for a human.

Run with langgraph 1.2 and langgraph-checkpoint-sqlite 3.1 installed, it writes the database anew
through the real graph and saver. What a model and the tools would say is written down here, and
the clock goes by the story, so the rows are the same on every run but for random tails of ids.
"""

# pyright: basic, reportMissingImports=false, reportTypedDictNotRequiredAccess=false
# What it runs is no dependency of ttdbg.
from __future__ import annotations

import operator
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import id as ids
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.pregel import _checkpoint
from langgraph.types import Command, interrupt

HERE = Path(__file__).parent
BEGAN = datetime(2026, 9, 21, 8, 12, 4, 310_000, tzinfo=UTC)
COMPLAINT = (
    "Order 7731 came with a cracked kettle. I would like my money back, and I have thrown the "
    "kettle away already."
)


class Clock:
    """Time that passes by the story alone."""

    now = BEGAN

    @classmethod
    def wait(cls, seconds: float) -> None:
        """Let time pass."""
        cls.now += timedelta(seconds=seconds, microseconds=137)


class _Moment(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        Clock.wait(0.004)
        return Clock.now.astimezone(tz)


def by_the_clock() -> None:
    """Let the checkpoints be numbered and dated by the story."""
    _checkpoint.datetime = _Moment  # type: ignore[attr-defined]

    class Times:
        """Stands for the module `time` where ids are made."""

        @staticmethod
        def time_ns() -> int:
            """Give nanoseconds since 1970."""
            Clock.wait(0.002)
            return int(Clock.now.timestamp() * 1_000_000) * 1000

    ids.time = Times  # type: ignore[assignment]


class Policy(TypedDict, total=False):
    """What the subgraph works on."""

    order: dict[str, Any]
    clause: str
    limit: float


class Refund(TypedDict, total=False):
    """The state of the graph."""

    messages: Annotated[list[AnyMessage], add_messages]
    order: dict[str, Any]
    clause: str
    limit: float
    offer: dict[str, Any]
    decision: str
    log: Annotated[list[str], operator.add]


def triage(_: Refund) -> Refund:
    """Read the complaint, and ask for the order."""
    Clock.wait(2.1)
    call = {"name": "find_order", "args": {"number": 7731}, "id": "call_order"}
    said = AIMessage(
        "A damaged item, refund wanted. The order first.",
        id="ai-triage",
        tool_calls=[call],
        usage_metadata={"input_tokens": 612, "output_tokens": 41, "total_tokens": 653},
    )
    return {"messages": [said], "log": ["triage: damaged item"]}


def find_order(state: Refund) -> Refund:
    """Look the order up; the shop's database is away at the first attempt."""
    Clock.wait(0.8)
    if "lookup: retried" not in state.get("log", []):
        raise ConnectionError("orders.internal:5432 does not answer")
    order = {"number": 7731, "item": "kettle", "price": 49.0, "paid": "card", "age_days": 19}
    said = ToolMessage(
        '{"number": 7731, "item": "kettle", "price": 49.0, "age_days": 19}',
        tool_call_id="call_order",
        name="find_order",
        id="tool-order",
    )
    return {"messages": [said], "order": order, "log": ["lookup: found"]}


def read_clause(state: Policy) -> Policy:
    """Find the clause that holds."""
    Clock.wait(0.5)
    days = state["order"]["age_days"]
    return {"clause": "damaged on arrival, 30 days" if days <= 30 else "none"}  # noqa: PLR2004


def set_limit(state: Policy) -> Policy:
    """Tell how much may be paid back without asking."""
    Clock.wait(0.3)
    return {"limit": 0.0 if state["clause"] == "none" else 25.0}


def offer(state: Refund) -> Refund:
    """Work out what to offer."""
    Clock.wait(3.2)
    price, limit = state["order"]["price"], state["limit"]
    full = price <= limit
    way = "refund" if full else "voucher" if "no refund" in state.get("clause", "") else "refund"
    made = {"way": way, "amount": price, "needs_approval": not full}
    words = (
        f"I would give a {way} of {price:.2f} euros. That is above what I may decide "
        f"({limit:.2f} euros), so a human has to look."
        if not full
        else f"A {way} of {price:.2f} euros is within my limit."
    )
    said = AIMessage(
        words,
        id=f"ai-offer-{way}-{int(limit)}",
        usage_metadata={"input_tokens": 1204, "output_tokens": 58, "total_tokens": 1262},
    )
    return {"messages": [said], "offer": made, "log": [f"offer: {way} {price:.2f}"]}


def approve(state: Refund) -> Refund:
    """Ask a human where the amount needs it."""
    if not state["offer"]["needs_approval"]:
        return {"decision": "within the limit", "log": ["approved by rule"]}
    answer = interrupt({"question": "Approve this refund?", "offer": state["offer"]})
    Clock.wait(0.4)
    return {"decision": answer, "log": [f"human: {answer}"]}


def reply(state: Refund) -> Refund:
    """Write to the customer."""
    Clock.wait(2.7)
    yes = state["decision"] != "no"
    words = (
        "We are sorry about the kettle. You get {amount:.2f} euros back within three days."
        if yes
        else "We are sorry, we cannot refund this order; here is how to claim from the carrier."
    ).format(amount=state["offer"]["amount"])
    said = AIMessage(
        words,
        id="ai-reply" if yes else "ai-reply-no",
        usage_metadata={"input_tokens": 1391, "output_tokens": 64, "total_tokens": 1455},
    )
    return {"messages": [said], "log": ["replied"]}


def graph(saver: SqliteSaver) -> Any:
    """Build the graph, with the policy as a graph of its own."""
    policy = StateGraph(Policy)
    policy.add_node("read_clause", read_clause)
    policy.add_node("set_limit", set_limit)
    policy.add_edge(START, "read_clause")
    policy.add_edge("read_clause", "set_limit")
    whole = StateGraph(Refund)
    for node in (triage, find_order, offer, approve, reply):
        whole.add_node(node.__name__, node)
    whole.add_node("policy", policy.compile())
    for one, next_one in (
        (START, "triage"),
        ("triage", "find_order"),
        ("find_order", "policy"),
        ("policy", "offer"),
        ("offer", "approve"),
        ("approve", "reply"),
        ("reply", END),
    ):
        whole.add_edge(one, next_one)
    return whole.compile(checkpointer=saver)


def at(app: Any, thread: str, following: str) -> Any:
    """Give the config of the newest checkpoint whose next node is a certain one."""
    config = {"configurable": {"thread_id": thread}}
    return next(each for each in app.get_state_history(config) if each.next == (following,)).config


def story(app: Any) -> None:
    """Let it happen: one that waits, then a failure, a retry, and three ways from there."""
    other = {"configurable": {"thread_id": "refund-7802"}, "metadata": {"user": "jonas"}}
    lid = HumanMessage("Order 7802: the lid is missing.", id="human-2")
    app.invoke({"messages": [lid], "log": ["lookup: retried"]}, other)
    Clock.wait(610)
    thread = {"configurable": {"thread_id": "refund-7731"}, "metadata": {"user": "mira"}}
    asked = HumanMessage(COMPLAINT, id="human-1")
    try:
        app.invoke({"messages": [asked], "log": []}, thread)
    except ConnectionError:
        Clock.wait(35)
    app.update_state(thread, {"log": ["lookup: retried"]}, as_node="triage")
    app.invoke(None, thread)
    Clock.wait(420)
    app.invoke(Command(resume="no"), thread)
    # Mira thinks again: back to where the offer was made, with a higher limit.
    Clock.wait(95)
    raised = app.update_state(at(app, "refund-7731", "offer"), {"limit": 60.0})
    app.invoke(None, raised)
    # And once more as it was, which now waits for her.
    Clock.wait(240)
    app.invoke(None, app.update_state(at(app, "refund-7731", "policy"), {"limit": 10.0}))


def main() -> None:
    """Write the database anew."""
    by_the_clock()
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "langgraph.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        connection.execute("PRAGMA page_size = 1024")
        story(graph(SqliteSaver(connection)))
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")


if __name__ == "__main__":
    main()
