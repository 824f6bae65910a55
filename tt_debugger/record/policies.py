"""Policies: when a recorder writes what is waiting, beside the events that never wait."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from tt_debugger.core.model import Usage
from tt_debugger.core.recording.entries import (
    EffectNoted,
    Entry,
    Forked,
    HandedOff,
    Labelled,
    Recovered,
    Snapshotted,
)
from tt_debugger.errors import UsageError


class EveryStep(msgspec.Struct, frozen=True):
    """Every step is written before the next one begins."""


class Periodic(msgspec.Struct, frozen=True):
    """What is waiting is written when so many seconds have passed since the last write."""

    seconds: float

    def __post_init__(self) -> None:
        _check_amounts(self)


class OnEvents(msgspec.Struct, frozen=True):
    """What is waiting is written with a step that has, or whose tool has, one of these names."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if isinstance(self.names, str) or not self.names:
            raise UsageError(
                f"the names of OnEvents are {self.names!r}",
                'name steps, tools or events: OnEvents(("plan", "deploy"))',
            )


class Hybrid(msgspec.Struct, frozen=True):
    """A step is written if `least` seconds have passed since the last write.

    One that came sooner waits for a later one, but no longer than until `greatest` seconds after
    the last write.
    """

    least: float
    greatest: float

    def __post_init__(self) -> None:
        _check_amounts(self)
        if self.least > self.greatest:
            raise UsageError(
                f"the least interval of {self.least:g} s is longer than the greatest,"
                f" {self.greatest:g} s",
                "write Hybrid(least, greatest)",
            )


class Thresholds(msgspec.Struct, frozen=True):
    """What is waiting is written when so much was used for it, or with a context so large.

    `tokens` and `cost` are what may be used between two writes. From a context of `context`
    tokens on every step is written that says how large it is.
    """

    tokens: int | None = None
    cost: float | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        if self.tokens is None and self.cost is None and self.context is None:
            raise UsageError(
                "no threshold is given, so nothing would ever be due",
                "name one of tokens, cost and context",
            )
        _check_amounts(self)


Policy = EveryStep | Periodic | OnEvents | Hybrid | Thresholds


def is_due(policy: Policy, waiting: Sequence[Entry], now: float, written: float) -> bool:
    """Tell whether what is waiting must be written now.

    `written` is the time of the last write on the clock of `now`, in seconds.
    """
    if not waiting:
        return False
    if any(is_critical(each) for each in waiting):
        return True
    match policy:
        case EveryStep():
            return True
        case Periodic(seconds=seconds) | Hybrid(least=seconds):
            # A clock that was set back must not stop the writing.
            return not 0 <= now - written < seconds
        case OnEvents(names=names):
            return any(each.name in names or each.tool in names for each in waiting)
        case Thresholds():
            return _is_reached(policy, [each.usage for each in waiting if each.usage])


def deadline(policy: Policy, written: float) -> float | None:
    """Give the time at which what is waiting must be written though no further step comes.

    None where only a further step, or the end, brings that about.
    """
    match policy:
        case Periodic(seconds=seconds) | Hybrid(greatest=seconds):
            return written + seconds
        case EveryStep() | OnEvents() | Thresholds():
            return None


def is_critical(entry: Entry) -> bool:
    """Tell whether an entry is written at once, whatever the policy is."""
    if entry.event is not None or entry.failure is not None:
        return True
    match entry:
        case EffectNoted() | Labelled() | Forked() | HandedOff() | Recovered():
            return True
        case Snapshotted(migration=migration):
            return migration is not None
        case _:
            return False


def _is_reached(limits: Thresholds, used: Sequence[Usage]) -> bool:
    tokens = sum(_tokens(each) for each in used)
    # Sums of decimal fractions: ten times 0.1 is 1.
    cost = round(sum(each.cost for each in used), 10)
    context = used[-1].context if used else 0
    pairs = ((tokens, limits.tokens), (cost, limits.cost), (context, limits.context))
    return any(limit is not None and amount >= limit for amount, limit in pairs)


def _tokens(usage: Usage) -> int:
    """Give the tokens of a step, whose total is 0 where nobody summed them up."""
    return usage.total or usage.context


def _check_amounts(policy: msgspec.Struct) -> None:
    """Raise UsageError where an amount is none that can be reached or waited for."""
    for name, amount in msgspec.structs.asdict(policy).items():
        if amount is not None and not (math.isfinite(amount) and amount > 0):
            raise UsageError(
                f"{name} of {type(policy).__name__} is {amount!r}",
                "it must be a number above 0",
            )
