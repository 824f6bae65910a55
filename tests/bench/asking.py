"""Conditions in JMESPath over each state of a walk, beside one evaluation for each message.

The walk has its changes at hand and adds a message at each step, as agents do. What it is told
beside is jmespath itself, which evaluates what is asked of a message once for each. Both take
turns; a ratio is taken within one round.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import jmespath
from bench.figures import Figure, median_ratio
from bench.sessions import marker, session_in_memory

from tt_debugger.core.changes import Append, Change, LiveState, Put, Snapshot
from tt_debugger.core.conditions import At, parse_condition

CHECKPOINTS = 100_000
MOST = 3.0
OF_A_MESSAGE = "role=='toolResult' && isError"
OF_STATES = (
    f"messages[?{OF_A_MESSAGE}]",
    f"length(messages[?{OF_A_MESSAGE}]) > 3",
    "sum(messages[].usage.cost.total) > 1",
    "contains(messages[].role, 'user') and not messages[-1].isError",
)
"""Conditions: the first two ask just this of each message, the others more."""

FAILS_EVERY = 20
Steps = Sequence[tuple[Change, ...]]


def asking(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time each condition along a path, and one evaluation for each message of it."""
    count = CHECKPOINTS // 10 if quick else CHECKPOINTS
    messages = [_message(number) for number in range(count)]
    steps = list(_steps(messages))
    taken: dict[str, list[float]] = defaultdict(list)
    # What one arm has made is not looked through again while another is timed.
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        taken["fold"].append(_seconds(lambda: _fold(steps)))
        taken["each message"].append(_seconds(lambda: _evaluate_each(messages)))
        for text in OF_STATES:
            taken[text].append(_seconds(lambda text=text: _ask_along(steps, text)))
    gc.unfreeze()
    name = f"conditions, {count:,} states"
    for what in ("fold", "each message"):
        yield Figure(name, what, median(taken[what]) * 1000, "ms")
    for text in OF_STATES:
        ratio = median_ratio(taken[text], taken["each message"])
        yield Figure(name, f"{text} / each message", ratio, "x", MOST)


def _message(number: int) -> dict[str, Any]:
    role = ("user", "assistant", "toolResult")[number % 3]
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": marker(number)}]}
    if role == "assistant":
        message["usage"] = {"output": number, "cost": {"total": 0.013}}
    if role == "toolResult":
        message["isError"] = number % FAILS_EVERY == 0
    return message


def _steps(messages: Sequence[Any]) -> Iterator[tuple[Change, ...]]:
    yield (Snapshot({"messages": [], "usage": None}),)
    for number, message in enumerate(messages):
        usage = Put(("usage",), {"input": number})
        yield (Append(("messages",), message), usage)


def _fold(steps: Steps) -> None:
    live = LiveState({})
    for changes in steps:
        live.apply(changes)


def _evaluate_each(messages: Sequence[Any]) -> None:
    search = jmespath.compile(OF_A_MESSAGE).search
    for message in messages:
        search(message)


def _ask_along(steps: Steps, text: str) -> None:
    session, live = session_in_memory(1), LiveState({})
    holds = parse_condition(text).following().holds
    for row, changes in enumerate(steps):
        live.apply(changes)
        holds(At(session, row, changes, live.value, dict))


def _seconds(run: Callable[[], object]) -> float:
    began = perf_counter()
    run()
    return perf_counter() - began
