"""The tracker: what it works out from what is known already is what a walk from the root gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tui.driving import SAMPLES

from tt_debugger.core.jumps import leaf_of
from tt_debugger.core.model import Session
from tt_debugger.core.tracks import Track
from tt_debugger.core.watch import Watch
from tt_debugger.debugger import Debugger
from tt_debugger.tui import tracker as tracker_module
from tt_debugger.tui.tracker import Asked, ChangeFound, Tracked, Tracker, Tracking

PATHS = ("model", "usage.cost", "messages", "/messages/3", "/messages/3/content", "nothing")
TEXTS = (*PATHS, "length(messages)", "messages[-1].role", "error", "tokens>3k", "tool=bash")


class Desk:
    """Does work at once, and keeps what was posted."""

    def __init__(self) -> None:
        self.posted: list[Any] = []

    def run_worker(self, work: Callable[[], None], **_: Any) -> None:
        work()

    def post_message(self, message: Any) -> None:
        self.posted.append(message)

    @property
    def tracks(self) -> list[Track]:
        return [each.track for each in self.posted if isinstance(each, Tracked)]


@pytest.fixture(scope="module")
def debugger() -> Iterator[Debugger]:
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as opened:
        yield opened


def tracked(debugger: Debugger, watch: Watch, row: int, *known: Track) -> Track:
    """Give the track of a row's branch."""
    desk = Desk()
    Tracker(desk, debugger).want([Asked(debugger.session, watch, row, known)])
    (track,) = desk.tracks
    return track


def told(track: Track) -> tuple[Any, ...]:
    return track.leaf, track.stops, track.rewrites, track.own_from, track.happens


@pytest.mark.parametrize("text", TEXTS)
def test_a_track_continued_from_another_branch_is_that_of_a_walk(debugger, text):
    watch = Watch.parse(text)
    walked = {leaf: tracked(debugger, watch, leaf) for leaf in debugger.session.tree.leaves()}

    for leaf, track in walked.items():
        for other in walked.values():
            assert told(tracked(debugger, watch, leaf, other)) == told(track)


@pytest.mark.parametrize("text", PATHS)
@pytest.mark.parametrize("step", [-1, 1])
def test_a_change_found_without_a_walk_is_the_one_that_the_walk_finds(debugger, text, step):
    session, watch = debugger.session, Watch.parse(text)
    tracker = Tracker(Desk(), debugger)

    for row in range(len(session)):
        track, depth = tracked(debugger, watch, leaf_of(session, row)), session.tree.depth(row)
        stop = track.last(depth) if step < 0 else track.next(depth)
        found = tracker._change(Asked(session, watch, row), step)
        assert isinstance(found, ChangeFound)
        reached = found.reached
        assert (None if reached is None else reached.row) == (None if stop is None else stop.row)
        if reached is not None:
            before = track.last(stop.depth)
            assert (reached.old, reached.new) == (before and before.said, stop.said)


def test_one_branch_after_the_other_is_worked_out_the_first_one_first(debugger):
    desk, session, watch = Desk(), debugger.session, Watch.parse("model")

    Tracker(desk, debugger).want([Asked(session, watch, row) for row in (22, 62, 27)])

    assert [track.leaf for track in desk.tracks] == [22, 62, 27]


def test_how_far_a_walk_is_is_told(debugger, monkeypatch):
    monkeypatch.setattr(tracker_module, "TOLD_EVERY", 10)
    desk, asked = Desk(), Asked(debugger.session, Watch.parse("model"), 62)

    Tracker(desk, debugger).want([asked])

    percents = [each.percent for each in desk.posted if isinstance(each, Tracking)]
    assert percents == [27, 54, 81]


def test_what_is_asked_of_a_session_that_is_another_by_now_is_not_answered(debugger):
    desk, other = Desk(), Debugger.open(str(SAMPLES / "tau.jsonl"))

    with other:
        Tracker(desk, debugger).want([Asked(other.session, Watch.parse("model"), 3)])

    assert desk.posted == []


def asks(session: Session, row: int, text: str = "model") -> Asked:
    return Asked(session, Watch.parse(text), row)


def test_a_step_along_a_branch_leaves_the_walk_that_is_at_work_alone(debugger):
    session = debugger.session
    doing = asks(session, 60)

    assert asks(session, 61).is_answered_with(doing, None)
    assert asks(session, 61).is_answered_with(doing, 62)
    assert not asks(session, 22).is_answered_with(doing, None)
    assert not asks(session, 22).is_answered_with(doing, 62)
    assert not asks(session, 60, "title").is_answered_with(doing, 62)
