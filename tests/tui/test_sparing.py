"""Sparing: while there is work no collection of all that is alive holds up a key."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from tt_debugger.tui import sparing as sparing_module
from tt_debugger.tui.sparing import spare_no_longer, sparing, sparingly


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(50, 2, 2)
    # All is collected only where much is new beside what was there: tests before left a lot.
    gc.freeze()
    gc.collect()
    yield gc.get_threshold()
    gc.set_threshold(*before)
    spare_no_longer()


def full_collections() -> int:
    return gc.get_stats()[2]["collections"]


def make_what_stays() -> list[list[int]]:
    return [[each] for each in range(100_000)]


def test_while_there_is_work_what_it_makes_is_not_gone_through():
    before = full_collections()
    kept = [make_what_stays()]
    assert full_collections() > before

    with sparing():
        before = full_collections()
        kept.append(make_what_stays())
        assert full_collections() == before


def test_it_is_collected_as_before_once_the_last_of_several_is_done(thresholds):
    goes_on, is_at_work = Event(), Event()

    def wait() -> None:
        is_at_work.set()
        goes_on.wait()

    other = Thread(target=sparingly(wait))
    other.start()
    is_at_work.wait()
    with sparing():
        pass
    assert gc.get_threshold() != thresholds
    goes_on.set()
    other.join()
    assert gc.get_threshold() == thresholds


def test_it_is_collected_as_before_after_work_that_failed(thresholds):
    def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        sparingly(fail)()
    assert gc.get_threshold() == thresholds


@pytest.mark.parametrize(("much", "is_spared"), [(0.0, True), (60.0, False)])
def test_only_long_work_leaves_what_is_spared(monkeypatch, much, is_spared):
    monkeypatch.setattr(sparing_module, "MUCH", much)
    before = gc.get_freeze_count()
    with sparing():
        kept = make_what_stays()
    assert (gc.get_freeze_count() - before >= len(kept)) is is_spared
