"""Sparing the garbage collector: what long work makes is not gone through while keys wait.

To go through all that is alive takes as long as a second where that is the messages of a long
session, and meanwhile no thread does anything.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

MUCH = 0.25
"""Seconds of work after which there is much that stays."""
_NEVER = 1_000_000_000
"""Collections of the younger generations, more than there will be, before one of all."""


class _Workers:
    """Those that are at work now."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.before = gc.get_threshold()
        """How often it is collected while nobody is at work."""


_workers = _Workers()


def spare() -> None:
    """Let what is there be no matter of the collector, until the session is let go of."""
    gc.freeze()


def spare_no_longer() -> None:
    """Let the collector find what is left of a session that is let go of."""
    gc.unfreeze()


@contextmanager
def sparing() -> Generator[None]:
    """Hold back collections of all that is alive while there is work, and spare what it leaves.

    Work of a moment leaves little, which the collector may go through.
    """
    with _workers.lock:
        if not _workers.count:
            _workers.before = gc.get_threshold()
            gc.set_threshold(*_workers.before[:2], _NEVER)
        _workers.count += 1
    began = monotonic()
    try:
        yield
    finally:
        with _workers.lock:
            _workers.count -= 1
            if monotonic() - began > MUCH:
                spare()
            if not _workers.count:
                gc.set_threshold(*_workers.before)


def sparingly(work: Callable[[], None]) -> Callable[[], None]:
    """Give work that spares the collector while it is done."""

    def spared() -> None:
        with sparing():
            work()

    return spared
