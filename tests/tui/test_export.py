"""The export dialog: what it shows before anything is written, and what it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import pytest
from builders import PI_HEADER, jsonl, pi, user
from textual.widgets import Input
from tui.driving import choices, drive, press, said, seen, settled

from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.exports.exporting import exported
from tt_debugger.exports.gate import Page
from tt_debugger.tui.comparer import Aim
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.export import ExportScreen
from tt_debugger.tui.screens.prompt import LineScreen
from tt_debugger.tui.themes import NAMED
from tt_debugger.tui.widgets.choice_list import ChoiceList
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.palette import UNICODE

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
SIZES = [(40, 12), (80, 24), (120, 36), (160, 50)]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv/app"},
            pi("aaaa", None, user("hello")),
            pi("bbbb", "aaaa", user(f"the key is {TOKEN}")),
            pi("cccc", "aaaa", user("no key here")),
        )
    )
    monkeypatch.chdir(tmp_path)
    return path


class Opened:
    """The dialog over the Timeline, and what it gave."""

    def __init__(self, pilot, *aims: Aim) -> None:
        self.pilot = pilot
        self.gave: list[str | None] = []
        self._aims = aims or (1,)

    async def __aenter__(self) -> Self:
        exporter = self.pilot.app.screen.loader.exporter()
        screen = ExportScreen(self._aims, exporter, NAMED, UNICODE)
        self.pilot.app.push_screen(screen, self.gave.append)
        await settled(self.pilot)
        return self

    async def __aexit__(self, *_: object) -> None: ...

    @property
    def page(self) -> str:
        return self._lines("#page")

    @property
    def redacted(self) -> str:
        return self._lines("#redacted")

    def _lines(self, name: str) -> str:
        return "\n".join(self.pilot.app.screen.query_one(name, Lines).plain_lines)


def test_the_first_choice_is_to_export_nothing(session: Path):
    async def script(pilot):
        async with Opened(pilot) as dialog:
            assert [each.text for each in choices(pilot)] == [
                "nothing",
                *(f"transcript as {form}" for form in ("markdown", "html", "json", "svg")),
                *(f"state as {form}" for form in ("markdown", "html", "json", "svg")),
                "bundle",
            ]
            assert (dialog.page, dialog.redacted.strip()) == ("", "")
            await press(pilot, "enter")
            assert dialog.gave == [None]

    drive(script, session)
    assert [each.name for each in session.parent.iterdir()] == ["talk.jsonl"]


def test_it_shows_the_page_and_what_was_redacted_and_where(session: Path):
    async def script(pilot):
        async with Opened(pilot) as dialog:
            await press(pilot, "j")
            assert dialog.page.startswith("# Session pi-session")
            assert dialog.redacted.splitlines()[0].startswith("Redacted: github-token 1.")
            assert "‹github-token:1›  /turns/1/messages/0" in dialog.redacted
            assert TOKEN not in dialog.page + dialog.redacted + seen(pilot)

    drive(script, session)


def test_what_is_shown_is_written_to_a_name_that_is_asked_for(session: Path):
    async def script(pilot):
        async with Opened(pilot) as dialog:
            await press(pilot, "j", "j")
            shown = dialog.page
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, LineScreen)
            assert pilot.app.screen.query_one(Input).value == "talk-transcript-2.html"
            await press(pilot, "enter")
            assert dialog.gave == ["written: talk-transcript-2.html"]
            written = (session.parent / "talk-transcript-2.html").read_text(encoding="utf-8")
            assert written.startswith("<!doctype html>")
            assert written.split("\n")[0] == shown.split("\n")[0]
            assert TOKEN not in written

    drive(script, session)


def test_a_name_that_is_taken_is_refused_and_another_one_can_be_given(session: Path):
    taken = session.parent / "talk-transcript-2.md"
    taken.write_text("mine")

    async def script(pilot):
        async with Opened(pilot) as dialog:
            await press(pilot, "j")
            await press(pilot, "enter", "enter")
            assert isinstance(pilot.app.screen, ErrorScreen)
            assert "is there already" in seen(pilot)
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, ExportScreen)
            await press(pilot, "enter", *"other", "full_stop", *"md", "enter")
            assert dialog.gave == ["written: other.md"]

    drive(script, session)
    assert taken.read_text() == "mine"


def test_a_name_that_is_left_writes_nothing(session: Path):
    async def script(pilot):
        async with Opened(pilot) as dialog:
            await press(pilot, "j")
            await press(pilot, "enter", "escape")
            assert (dialog.gave, said(pilot)) == ([], "nothing is written")
            await press(pilot, "escape")
            assert dialog.gave == [None]

    drive(script, session)
    assert [each.name for each in session.parent.iterdir()] == ["talk.jsonl"]


def test_two_checkpoints_are_exported_as_what_differs(session: Path):
    async def script(pilot):
        async with Opened(pilot, 1, 2) as dialog:
            forms = ("markdown", "html", "json", "json-patch", "unified", "svg")
            assert [each.text for each in choices(pilot)] == [
                *("nothing", *(f"diff as {form}" for form in forms), "bundle"),
            ]
            await press(pilot, "j")
            assert dialog.page.startswith("# What changed")
            await press(pilot, "k", "k")
            assert '"ttdbg_bundle":1' in dialog.page
            assert TOKEN not in dialog.page

    drive(script, session)


def test_a_checkpoint_may_stand_in_another_file(session: Path, tmp_path: Path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(jsonl(PI_HEADER, pi("x", None, user("elsewhere"))))

    async def script(pilot):
        async with Opened(pilot, 1, f"{other}#x") as dialog:
            await press(pilot, "j")
            await press(pilot, "space", "space")
            assert "other.jsonl" in dialog.page
            assert "elsewhere" in dialog.page

    drive(script, session)


def test_a_ref_alone_is_one_of_the_session_that_is_open(session: Path):
    async def script(pilot):
        async with Opened(pilot, 1, "#cccc") as dialog:
            await press(pilot, "j")
            assert "`talk.jsonl`" in dialog.page
            assert "cccc (row 3" in dialog.page
            await press(pilot, "enter")
            name = pilot.app.screen.query_one(Input).value
            assert name == "talk-diff-2.md"

    drive(script, session)


def test_what_the_cursor_only_passes_is_not_rendered(
    session: Path, monkeypatch: pytest.MonkeyPatch
):
    begun: list[str] = []

    def rendering(points: object, what: str, form: str, *more: object, **rest: object) -> Page:
        begun.append(f"{what} {form}")
        return exported(points, what, form, *more, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr("tt_debugger.tui.exporter.exported", rendering)
    # Long enough for four keys on a busy machine.
    monkeypatch.setattr("tt_debugger.tui.exporter.PAUSE", 1.0)

    async def script(pilot):
        async with Opened(pilot) as dialog:
            await pilot.press("j", "j", "j", "j")
            await settled(pilot)
            assert begun == ["transcript svg"]
            assert dialog.page.startswith("<svg")

    drive(script, session)


def test_the_home_of_nobody_is_refused_and_the_dialog_stays(session: Path):
    async def script(pilot):
        async with Opened(pilot):
            await press(pilot, "j")
            await press(pilot, "enter")
            pilot.app.screen.query_one(Input).value = "~nobody-of-that-name/x.md"
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, ErrorScreen)
            assert "cannot write ~nobody-of-that-name/x.md" in seen(pilot)
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, ExportScreen)

    drive(script, session)


def test_s_leaves_all_content_out(session: Path):
    async def script(pilot):
        async with Opened(pilot) as dialog:
            await press(pilot, "j")
            assert "hello" in dialog.page
            await press(pilot, "s")
            assert said(pilot) == "all content is left out"
            assert "hello" not in dialog.page
            await press(pilot, "s")
            assert "hello" in dialog.page

    drive(script, session)


def test_where_redaction_fails_there_is_no_page(session: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise ValueError(TOKEN)

    monkeypatch.setattr(Redactor, "value", broken)

    async def script(pilot):
        async with Opened(pilot) as dialog:
            await press(pilot, "j")
            assert isinstance(pilot.app.screen, ErrorScreen)
            assert "the export was refused: ValueError" in seen(pilot)
            await press(pilot, "escape")
            assert (dialog.page, pilot.app.screen.query_one(ChoiceList).chosen.value) == ("", None)

    drive(script, session)


@pytest.mark.parametrize("size", SIZES)
def test_it_fits_every_size(size: tuple[int, int]):
    async def script(pilot):
        async with Opened(pilot, 35, 43):
            await press(pilot, "j", "space")
            assert "diff as markdown" in seen(pilot)
            assert "Redacted" in seen(pilot)
            assert "write" in seen(pilot) or size[0] < 80

    drive(script, size=size)
