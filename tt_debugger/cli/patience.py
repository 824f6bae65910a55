"""Patience: work that may never end is ended after a while, where the system can do that."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TypeVar

from tt_debugger.errors import TtdbgError

T = TypeVar("T")

LONGEST = 10.0
"""Seconds that an expression has for a megabyte of a session, or one checkpoint of it."""


def each_within(seconds: float, items: Iterator[T], late: TtdbgError) -> Iterator[T]:
    """Give items, each of which may take so many seconds to come; else raises `late`."""
    while True:
        with _bounded(seconds, late):
            item = next(items, None)
        if item is None:
            return
        yield item


def answers_within(seconds: float, answers: Iterator[bool], asked: str) -> Iterator[bool]:
    """Give whether a condition holds at each row; one that takes too long at one is an error."""
    late = TtdbgError(
        f"{asked!r} takes more than {seconds:g} s for one checkpoint",
        "repeat less within what is repeated",
    )
    return each_within(seconds, answers, late)


@contextmanager
def _bounded(seconds: float, late: TtdbgError) -> Generator[None]:
    """Bound the work of the main thread; an expression that is matched hears signals too."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
