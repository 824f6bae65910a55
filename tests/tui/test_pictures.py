"""Pictures of each screen in three sizes: the layout, not the behaviour.

Run pytest with --snapshot-update to take them anew, and look at them before they are committed.
"""

import pytest
from tui.driving import SAMPLES, press, settled

from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.tui.app import TtdbgApp

SIZES = [(80, 24), (120, 36), (160, 50)]


@pytest.fixture
def timeline(snap_compare, monkeypatch):
    """Compare the Timeline of a sample after some keys; the path shown is the same everywhere."""
    monkeypatch.chdir(SAMPLES)

    def compare(sample: str, ref: str, size: tuple[int, int], *keys: str) -> bool:
        async def run_before(pilot):
            await settled(pilot)
            await press(pilot, *keys)

        fragment = parse_fragment(ref) if ref else Fragment()
        return snap_compare(TtdbgApp(sample, fragment), terminal_size=size, run_before=run_before)

    return compare


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_timeline_of_pi(timeline, size):
    assert timeline("pi.jsonl", "row=22", size)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_timeline_of_tau_at_its_leaf(timeline, size):
    assert timeline("tau.jsonl", "", size)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_state_unfolded(timeline, size):
    assert timeline("pi.jsonl", "row=50", size, "3", "tab", "enter")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_help(timeline, size):
    assert timeline("pi.jsonl", "", size, "question_mark")
