"""What `ttdbg open` decides before the screen is taken over: a session, or a folder of them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from builders import FIXTURES
from hostile_files import SAMPLES

from tt_debugger import formats
from tt_debugger.core.refs import Fragment
from tt_debugger.errors import StoreError
from tt_debugger.store import Match, Probe

Ask = Callable[..., Any]
Opened = list[tuple[str, bool]]
STATES = FIXTURES / "snapshots" / "saved"


class AtTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Photos:
    """An installed format whose sessions are folders."""

    format = "photos"

    @staticmethod
    def sniff(probe: Probe) -> Match | None:
        return Match(50, "photos") if probe.inside is not None else None


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """What the UI was opened with, in its place: the location, and whether it shows sessions."""
    calls: Opened = []

    def run(location: str, _: Fragment, theme: str | None = None, *, shows_sessions: bool) -> None:
        assert theme is None
        calls.append((location, shows_sessions))

    monkeypatch.setattr("tt_debugger.tui.app.run", run)
    streams = SimpleNamespace(stdin=AtTerminal(), stdout=AtTerminal())
    monkeypatch.setattr("tt_debugger.cli.commands.open.sys", streams)
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    return calls


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of one session of ours and of one other file."""
    shutil.copy(SAMPLES / "pi.jsonl", tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n")
    return tmp_path


def test_a_file_is_a_session_and_a_folder_shows_those_in_it(
    ttdbg: Ask, opened: Opened, folder: Path
):
    assert ttdbg("open", folder / "pi.jsonl").code == 0
    assert ttdbg("open", folder).code == 0

    assert opened == [(str(folder / "pi.jsonl"), False), (str(folder), True)]


def test_a_folder_of_states_is_a_session(ttdbg: Ask, opened: Opened):
    ttdbg("open", STATES)

    assert opened == [(str(STATES), False)]


def test_a_folder_may_be_a_session_of_an_installed_format(
    ttdbg: Ask, opened: Opened, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(formats, "installed_formats", lambda: (Photos,))
    ttdbg("open", folder)

    assert opened == [(str(folder), False)]


def test_installed_formats_are_not_looked_for_where_a_folder_is_a_session_of_ours(
    ttdbg: Ask, opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(formats, "installed_formats", lambda: pytest.fail("looked for"))
    ttdbg("open", STATES)

    assert opened == [(str(STATES), False)]


def test_with_a_broken_installed_format_the_sessions_of_a_folder_are_shown_all_the_same(
    ttdbg: Ask, opened: Opened, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken() -> tuple[type[Photos]]:
        raise StoreError("the format 'photos' cannot be loaded")

    monkeypatch.setattr(formats, "installed_formats", broken)
    ttdbg("open", folder)

    assert opened == [(str(folder), True)]


def test_a_file_of_no_format_is_refused_before_the_screen_is_taken_over(
    ttdbg: Ask, opened: Opened, folder: Path
):
    assert ttdbg("open", folder / "notes.md").code == 3
    assert opened == []
