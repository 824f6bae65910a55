"""Interrupts that are held back: they count, but only afterwards."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tt_debugger.storage.uninterrupted import uninterrupted


def test_an_interrupt_counts_once_what_belongs_together_is_done():
    done: list[str] = []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all")
        done.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_fails_meanwhile_fails_and_later_interrupts_are_as_ever():
    with pytest.raises(ValueError, match="own"), uninterrupted():
        raise ValueError("own")
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_in_another_thread_there_is_nothing_to_hold_back():
    def handler() -> object:
        with uninterrupted():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(handler).result() is signal.default_int_handler


def test_another_signal_that_comes_meanwhile_counts_afterwards_too():
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    try:
        with uninterrupted(signal.SIGTERM):
            signal.raise_signal(signal.SIGTERM)
            assert heard == []
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
