"""Every hostile file on every screen: a terminal gets our own sequences only, the files stay."""

from __future__ import annotations

import os

import pytest
from hostile_files import write_hostile_files
from terminal import FULL_SCREEN, transgressions
from test_hostile import ATTACKS, READABLE
from tui.test_terminal import Browsing, opened

SHOWN = sorted([*ATTACKS, *(name for name, seen in READABLE.items() if seen.tree)])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that hold checkpoints, each older than the one before."""
    folder = tmp_path_factory.mktemp("hostile")
    for file in write_hostile_files(folder):
        if file.name in SHOWN:
            os.utime(file, (1_800_000_000 - 60 * SHOWN.index(file.name),) * 2)
        else:
            file.unlink()
    return folder


def state_of(folder):
    return {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


def test_each_hostile_file_is_browsed_without_a_byte_that_acts(files, tmp_path):
    before = state_of(files)
    kept = {name: str(tmp_path) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    with opened(files, (120, 36), **kept) as terminal:
        browsing = Browsing(terminal)
        browsing.until(f"1/{len(SHOWN)}")
        for number in range(1, len(SHOWN) + 1):
            browsing.press(b"\r", "Changes]")
            for tab, shows in zip(b"2345", ("Message", "State", "Meta", "Raw"), strict=True):
                browsing.press(bytes([tab]), f"{shows}]")
            browsing.press(b"gk1", "Changes]")
            browsing.press(b"q", f"{number}/{len(SHOWN)}")
            if number < len(SHOWN):
                browsing.press(b"j", f"{number + 1}/{len(SHOWN)}")
        terminal.send(b"q")
        assert terminal.wait() == 0
        assert transgressions(terminal.output, FULL_SCREEN) == []
    assert state_of(files) == before
