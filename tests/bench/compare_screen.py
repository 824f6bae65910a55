"""The Compare screen on ten thousand messages beside an empty screen.

Once pushed over another screen until painted, with nothing else in the process counted; once as
the start of a process is felt: from its start until a terminal shows it, beside the empty app.

python -m bench.compare_screen NAME COUNT
python -m bench.compare_screen STATES
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from bench.differing import planted
from bench.empty_app import WORDS_SHOWN
from bench.figures import Figure, median_ratio
from bench.first_paint import FirstPaint
from bench.painting import painted
from bench.programs import seconds_in
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from tt_debugger.core.diff.comparing import Comparison, compare
from tt_debugger.tui.comparer import Compared, Comparer, End, Question
from tt_debugger.tui.screens.compare import CompareScreen
from tt_debugger.views.palette import ANSI, UNICODE

MESSAGES = 10_000
MOST = 2.0
ENDS = (End("row 1", "asst", 0, "a#1", is_own=True), End("row 2", "asst", 1, "a#2", is_own=True))


class BareScreen(Screen[None]):
    """A screen with a few words."""

    def compose(self) -> ComposeResult:
        yield Static("nothing to show")


class OfBareScreen(FirstPaint):
    """A screen of Textual with nothing of ours."""

    wanted = "nothing to show"

    def fill(self) -> None:
        self.push_screen(BareScreen())


class Known(Comparer):
    """Answers at once: what was compared is known."""

    def __init__(self, screen: Screen[Any], comparison: Comparison) -> None:
        self._screen = screen
        self._comparison = comparison

    def compare(self, question: Question) -> None:
        answer = Compared(question, ENDS, "", self._comparison, is_normal=False)
        self._screen.post_message(answer)

    def close(self) -> None:
        """There is nothing to let go of."""


class Working(Known):
    """Compares first, in a thread."""

    def __init__(self, screen: Screen[Any], states: tuple[Any, Any]) -> None:
        self._screen = screen
        self._states = states

    def compare(self, question: Question) -> None:
        self._screen.run_worker(partial(self._work, question), thread=True)

    def _work(self, question: Question) -> None:
        self._comparison = compare(*self._states)
        super().compare(question)


class OfCompared(FirstPaint):
    """The Compare screen where both states are compared already."""

    wanted = "thing more"

    def prepare(self, count: int) -> None:
        self._comparison = compare(*planted(count, has_ids=True))

    def fill(self) -> None:
        comparer = partial(Known, comparison=self._comparison)
        self.push_screen(CompareScreen(Question(0, 1), comparer, ANSI, UNICODE))


class OfStates(FirstPaint):
    """The Compare screen that has yet to compare them."""

    wanted = "thing more"

    def prepare(self, count: int) -> None:
        self._states = planted(count, has_ids=True)

    def fill(self) -> None:
        comparer = partial(Working, states=self._states)
        self.push_screen(CompareScreen(Question(0, 1), comparer, ANSI, UNICODE))


class OfNothing(OfCompared):
    """The Compare screen with nothing to show: two states without anything in them."""

    wanted = "nothing differs"

    def prepare(self, count: int) -> None:
        self._comparison = compare({}, {})


class OfFrame(OfStates):
    """The first frame of that: what is compared, before it is."""

    wanted = "comparing"


ARMS = {
    "bare": OfBareScreen,
    "nothing": OfNothing,
    "compared": OfCompared,
    "frame": OfFrame,
    "states": OfStates,
}


def compare_screen(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time the Compare screen of states in which sixteen messages differ."""
    count = MESSAGES // 10 if quick else MESSAGES
    taken: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for _ in range(rounds):
        for arm, times in taken.items():
            times.append(seconds_in("bench.compare_screen", arm, str(count)) * 1000)
    told = {
        "bare": "a bare screen of Textual",
        "nothing": "Compare of two empty states",
        "compared": f"Compare of {count:,} messages",
        "frame": "the same, what is seen until they are compared",
        "states": "the same, with the time to compare them",
    }
    for arm, what in told.items():
        yield Figure("compare", f"{what}, painted", median(taken[arm]), "ms")
    for arm in ("compared", "frame"):
        ratio = median_ratio(taken[arm], taken["bare"])
        yield Figure("compare", f"{told[arm]}, to a bare screen", ratio, "x", MOST)
    yield from _started(count, rounds)
    # What the bars and the pane cost by themselves, and what the messages add to that.
    ratio = median_ratio(taken["compared"], taken["nothing"])
    yield Figure("compare", f"{told['compared']}, to Compare of nothing", ratio, "x")


def _started(count: int, rounds: int) -> Iterator[Figure]:
    """Time whole processes: one that reads two states and compares them, and the empty app."""
    taken: dict[str, list[float]] = {"empty": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "states.json"
        path.write_bytes(msgspec.json.encode(planted(count, has_ids=True)))
        for _ in range(rounds):
            empty = [sys.executable, "-m", "bench.empty_app"]
            taken["empty"].append(
                painted(empty, folder, lambda seen: WORDS_SHOWN.encode() in seen)
            )
            ours = [sys.executable, "-m", "bench.compare_screen", str(path)]
            taken["ours"].append(painted(ours, folder, lambda seen: b"1 added" in seen))
    for arm, what in (("empty", "an empty app"), ("ours", "an app that compares")):
        yield Figure("compare", f"{what}, from its start", median(taken[arm]) * 1000, "ms")
    ratio = median_ratio(taken["ours"], taken["empty"])
    yield Figure("compare", "an app that compares, to an empty app", ratio, "x", MOST)


class ComparesAtOnce(App[None]):
    """An app that reads two states and shows how they differ."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def on_mount(self) -> None:
        states = msgspec.json.decode(Path(self._path).read_bytes())
        comparer = partial(Working, states=states)
        self.push_screen(CompareScreen(Question(0, 1), comparer, ANSI, UNICODE))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        ComparesAtOnce(sys.argv[1]).run()
    else:
        seconds = ARMS[sys.argv[1]](int(sys.argv[2])).run(headless=True, size=(160, 50))
        sys.stdout.write(f"{seconds}\n")
