"""Holding back Ctrl-C where it would part what belongs together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uninterrupted(*others: signal.Signals) -> Generator[None]:
    """Let an interrupt, or another signal, that comes meanwhile count only afterwards.

    Between a write and the knowledge of it there is always a moment. Python interrupts its main
    thread alone, so elsewhere there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in (signal.SIGINT, *others)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)
