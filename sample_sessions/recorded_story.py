"""An agent of one's own that restocks a tea shop: three sessions, one crash, one order.

The first session plans, the second dies amid placing the order and the third finds out that the
order was placed. A way that was tried and left is a branch. All is written by the recorder itself,
with the clock and the ids of the story.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from tt_debugger.record import Recorder, Usage, append, total

BEGIN = 1_793_000_400.0


@dataclass
class Restock:
    """The state of the agent: version 1 of its schema."""

    goal: str = "Keep enough tea for the week"
    plan: list[str] = field(default_factory=list[str])
    stock: dict[str, int] = field(default_factory=dict[str, int])
    messages: Annotated[list[dict[str, str]], append] = field(default_factory=list[dict[str, str]])
    spent: Annotated[float, total] = 0.0


@dataclass
class RestockWithOrders(Restock):
    """Version 2: orders have a place of their own."""

    orders: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def with_orders(state: dict[str, Any]) -> dict[str, Any]:
    """Brings a state of version 1 to version 2."""
    return {**state, "orders": []}


class Chance:
    """Ids that look random and are the same each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, size: int) -> bytes:
        """Gives the next bytes."""
        self.count += 1
        return sha256(f"tea {self.count}".encode()).digest()[:size]


class Clock:
    """A clock that goes on by some seconds each time it is looked at."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        """Gives the seconds since 1970."""
        self.now += 1.5
        return self.now


def recorded_story() -> bytes:
    """Gives the recording."""
    clock, chance = Clock(), Chance()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.jsonl"
        common: dict[str, Any] = {"clock": clock, "fresh": chance}
        with Recorder.open(
            str(path), state=Restock(), title="Restock the tea shop", **common
        ) as recorder:
            _first_session(recorder)
        clock.now += 3600
        newer: dict[str, Any] = {
            "model": RestockWithOrders,
            "version": 2,
            "migrations": {1: with_orders},
            **common,
        }
        with Recorder.open(str(path), **newer) as recorder:
            _second_session(recorder, clock)
        clock.now += 120
        with Recorder.open(str(path), **newer) as recorder:
            _third_session(recorder)
        return path.read_bytes()


def _first_session(recorder: Recorder) -> None:
    """Plans, counts, and tries a supplier that is too dear."""
    recorder.message({"id": "m1", "role": "user", "content": "What do we need for next week?"})
    recorder.record({"plan": ["count the stock", "ask for prices", "order"]}, "plan", event="plan")
    with recorder.step("count the stock", tool="count") as step:
        step.update(stock={"assam": 3, "sencha": 14, "earl grey": 1})
    _answer(recorder, "m2", "Earl Grey is almost out.", Usage(910, 85, cost=0.004))
    counted = recorder.label("counted")
    with recorder.step("ask for prices", tool="quote") as step:
        step.message(
            {"id": "m3", "role": "tool", "content": "Leaf & Co: 20 boxes for 310, in nine days"}
        )
    _answer(recorder, "m4", "That is too late.", Usage(1_240, 60, cost=0.005))
    dear = recorder.leaf
    other = recorder.fork(counted, note="another supplier may be faster")
    with other.step("ask for prices", tool="quote") as step:
        step.message(
            {"id": "m5", "role": "tool", "content": "Harbour Tea: 20 boxes for 240, on Thursday"}
        )
    other.summarise_branch(
        dear,
        {"id": "m6", "role": "user", "content": "Leaf & Co was asked too: dearer, and too late."},
    )
    other.label("chosen")


def _answer(recorder: Recorder, name: str, text: str, usage: Usage) -> None:
    with recorder.step("answer", usage=usage) as step:
        step.update(spent=usage.cost)
        step.message({"id": name, "role": "assistant", "content": text})


def _second_session(recorder: Recorder, clock: Clock) -> None:
    """Begins to order, and dies before it knows whether the order was placed."""
    _answer(recorder, "m7", "I order from Harbour Tea.", Usage(1_480, 30, cost=0.006))
    step = recorder.step("order", tool="order", effect_key="order-2026-43")
    step.__enter__()
    step.begin()
    clock.now += 20


def _third_session(recorder: Recorder) -> None:
    """Asks the supplier, learns that the order is there, and goes on without a second one."""
    with recorder.step(
        "order", tool="order", effect_key="order-2026-43", was_done=lambda: True
    ) as step:
        step.update(
            orders=[{"from": "Harbour Tea", "boxes": 20, "price": 240}],
            plan=["unpack on Thursday"],
        )
    with suppress(TimeoutError), recorder.step("tell the owner", tool="mail"):
        raise TimeoutError("mail.example did not answer")
    with recorder.step("tell the owner", tool="mail", effect_key="mail-12") as step:
        step.perform(dict, to="owner@example.com")
    _answer(recorder, "m8", "20 boxes come on Thursday, for 240.", Usage(1_690, 40, cost=0.006))
    recorder.compact(
        {
            "id": "m8",
            "role": "user",
            "content": "Stock counted; Harbour Tea was the better offer.",
        },
        keep_last=2,
    )
    recorder.label("ordered")
