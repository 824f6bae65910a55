"""The Sessions screen, driven by keys and mouse."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user
from cli.homes import furnish
from textual.app import App
from textual.widgets import Input, Static

from tt_debugger.core.refs import Fragment, Point
from tt_debugger.core.text import acting
from tt_debugger.discovery import EVERYWHERE
from tt_debugger.storage.folders import SUFFIXES
from tt_debugger.tui import scout
from tt_debugger.tui.safety import SafetyFilter
from tt_debugger.tui.screens.help import HelpScreen
from tt_debugger.tui.screens.sessions import SessionsScreen
from tt_debugger.tui.themes import LOOKS
from tt_debugger.tui.widgets.bars import TopBar
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.session_list import ListHeader, SessionList
from tt_debugger.views.palette import ANSI, ASCII, UNICODE

SAMPLES = Path(__file__).parents[2] / "sample_sessions"
NOW = 1_800_000_000.0


class _Host(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, location: str) -> None:
        self.safety = SafetyFilter()
        super().__init__()
        self.location = location
        self.opened = []
        self.register_theme(LOOKS[0].theme)
        self.theme = LOOKS[0].name

    def get_line_filters(self):
        return (self.safety, *super().get_line_filters())

    def on_mount(self):
        screen = SessionsScreen(self.location, ANSI, UNICODE, self.open, clock=lambda: NOW)
        self.push_screen(screen)

    def open(self, *what):
        self.opened.append(what)


def drive(script, location, size=(120, 36)) -> _Host:
    app = _Host(str(location))

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await script(pilot)

    asyncio.run(run())
    return app


async def settled(pilot) -> None:
    while True:
        await pilot.pause()
        screen = next(s for s in pilot.app.screen_stack if isinstance(s, SessionsScreen))
        if all(worker.is_finished for worker in pilot.app.workers) and screen.is_settled:
            await pilot.pause()
            return


async def press(pilot, *keys) -> None:
    await pilot.press(*keys)
    await settled(pilot)


def titles(pilot) -> list[str]:
    return [each.title for each in sessions(pilot).entries]


def sessions(pilot) -> SessionList:
    return pilot.app.screen.query_one(SessionList)


def preview(pilot) -> str:
    return "\n".join(pilot.app.screen.query_one("#preview", Lines).plain_lines)


def screen_text(pilot) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


@pytest.fixture
def folder(tmp_path):
    """Three sessions of Pi, from the newest to the oldest, and one other file."""
    for age, (name, title) in enumerate([("one", "Alpha"), ("two", "Beta"), ("three", "Gamma")]):
        rows = [pi("a", None, user(f"{title} please")), pi("b", "a", assistant("done"))]
        rows += [pi(f"c{place}", "b", user("more")) for place in range(age)]
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(jsonl(PI_HEADER | {"cwd": f"/dev/{name}-project"}, *rows))
        os.utime(path, (NOW - 3600 * (age + 1),) * 2)
    (tmp_path / "notes.md").write_text("no session")
    return tmp_path


def test_sessions_are_listed_newest_first_with_what_their_index_tells(folder):
    async def script(pilot):
        assert titles(pilot) == ["Alpha please", "Beta please", "Gamma please"]
        lines = screen_text(pilot).split("\n")
        assert "one-project" in lines[2]
        assert lines[2].split("│")[0].split()[-2:] == ["2", "1h"]
        assert lines[4].split("│")[0].split()[-2:] == ["4", "3h"]
        assert "1 other file" in screen_text(pilot)
        assert "Alpha please" in preview(pilot)
        assert "last checkpoints" in preview(pilot)

    drive(script, folder)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 50)])
def test_the_samples_fit_every_size(size):
    async def script(pilot):
        assert all(len(line) <= size[0] for line in screen_text(pilot).split("\n"))
        await press(pilot, "f", *"flaky", "enter")
        assert "Flaky autosave test" in screen_text(pilot)
        assert all(len(line) <= size[0] for line in screen_text(pilot).split("\n"))

    assert drive(script, SAMPLES, size).safety.caught == 0


@pytest.mark.parametrize(
    ("keys", "place"),
    [("j", 1), ("jj", 2), ("jjj", 2), ("jk", 0), ("G", 2), ("Gg", 0), ("k", 0)],
)
def test_keys_move_the_cursor_and_the_preview_follows(folder, keys, place):
    async def script(pilot):
        await press(pilot, *keys)
        assert sessions(pilot).cursor_place == place
        assert preview(pilot).startswith(titles(pilot)[place])
        assert pilot.app.screen.query_one(TopBar)._right == f"{place + 1}/3 "

    drive(script, folder)


def test_a_filter_narrows_as_one_types_is_kept_by_enter_and_cleared_by_escape(folder):
    async def script(pilot):
        await press(pilot, "f", *"gam")
        assert titles(pilot) == ["Gamma please"]
        assert str(pilot.app.screen.query_one("#filter-count", Static).content) == "1/3"
        await press(pilot, "enter")
        assert pilot.app.opened == []
        assert sessions(pilot).has_focus
        assert titles(pilot) == ["Gamma please"]
        await press(pilot, "escape")
        assert len(titles(pilot)) == 3
        assert pilot.app.screen.query_one(Input).value == ""
        assert pilot.app.screen.query_one("#filter").size.height == 0

    drive(script, folder)


def test_a_filter_that_finds_nothing_says_how_to_go_on(folder):
    async def script(pilot):
        await press(pilot, "f", *"zz")
        said = " ".join(preview(pilot).split())
        assert said == "No session here has 'zz'. Esc takes the filter away."

    drive(script, folder)


def test_s_sorts_by_the_next_column_and_capital_s_the_other_way_round(folder):
    async def script(pilot):
        await press(pilot, "s", "S")
        assert titles(pilot) == ["Gamma please", "Beta please", "Alpha please"]
        assert "title ▾" in screen_text(pilot)
        await press(pilot, "s", "s")
        assert titles(pilot)[0] == "Gamma please"
        assert "▾ckpts" in screen_text(pilot)

    drive(script, folder)


def test_a_click_on_a_head_sorts_and_another_turns_it_round(folder):
    async def script(pilot):
        await pilot.click(ListHeader, offset=(20, 0))
        assert "title ▲" in screen_text(pilot)
        await pilot.click(ListHeader, offset=(20, 0))
        assert "title ▾" in screen_text(pilot)

    drive(script, folder)


def test_the_cursor_stays_on_its_session_when_the_order_changes(folder):
    async def script(pilot):
        await press(pilot, "j", "S")
        await press(pilot, "G", "S")
        assert sessions(pilot).cursor_entry.title == "Alpha please"
        assert sessions(pilot).cursor_place == 0

    drive(script, folder)


def test_enter_opens_and_the_session_is_marked_when_one_comes_back(folder):
    async def script(pilot):
        await press(pilot, "j", "enter")
        pilot.app.push_screen(HelpScreen((), ANSI, UNICODE))
        await pilot.pause()
        await press(pilot, "escape")
        assert sessions(pilot).cursor_place == 1
        assert "opened last" in preview(pilot)

    assert drive(script, folder).opened == [(str(folder / "two.jsonl"), Fragment())]


def test_a_double_click_opens_and_a_single_one_selects(folder):
    async def script(pilot):
        await pilot.click(SessionList, offset=(8, 1))
        assert (sessions(pilot).cursor_place, pilot.app.opened) == (1, [])
        await pilot.click(SessionList, offset=(8, 2), times=2)
        await settled(pilot)

    assert drive(script, folder).opened == [(str(folder / "three.jsonl"), Fragment())]


def test_r_finds_what_is_new_and_keeps_the_cursor(folder):
    async def script(pilot):
        await press(pilot, "G")
        shutil.copy(folder / "one.jsonl", folder / "four.jsonl")
        os.utime(folder / "four.jsonl", (NOW, NOW))
        (folder / "two.jsonl").unlink()
        await press(pilot, "r")
        names = [each.name for each in sessions(pilot).entries]
        assert names == ["one.jsonl", "four.jsonl", "three.jsonl"]
        assert sessions(pilot).cursor_entry.name == "three.jsonl"

    drive(script, folder)


def test_a_big_file_is_read_only_when_the_cursor_is_on_it(folder, monkeypatch):
    monkeypatch.setattr(scout, "READ_AT_ONCE", 10)

    async def script(pilot):
        facts = [each.facts is not None for each in sessions(pilot).entries]
        assert facts == [True, False, False]
        assert "Alpha please" in preview(pilot)
        await press(pilot, "j")
        assert sessions(pilot).entries[1].title == "Beta please"

    drive(script, folder)


def test_an_empty_folder_says_what_was_looked_for(tmp_path):
    async def script(pilot):
        said = "\n".join(pilot.app.screen.query_one("#said", Lines).plain_lines)
        assert said.startswith("There are no sessions in ")
        assert all(f" {each}" in said for each in SUFFIXES)
        await press(pilot, "j", "s", "enter", "tab", "G", "slash", "escape")

    assert drive(script, tmp_path).opened == []


def test_a_location_that_is_not_there_is_said_with_its_hint(tmp_path):
    async def script(pilot):
        said = "".join(pilot.app.screen.query_one("#said", Lines).plain_lines)
        assert "there is no such file or" in said
        assert "give a folder" in said

    drive(script, tmp_path / "nothing")


def test_names_and_titles_cannot_act(tmp_path):
    name = "evil\x1b]0;x\x07\u202e"
    row = pi("a", None, user(f"{name}\x9b2J"))
    (tmp_path / f"{name}.jsonl").write_bytes(jsonl(PI_HEADER | {"cwd": f"/{name}"}, row))

    async def script(pilot):
        await press(pilot, "f", *"evil")
        assert acting(screen_text(pilot)) == set()

    assert drive(script, tmp_path).safety.caught == 0


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which two agents keep sessions of two projects, one of them a fork."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return furnish(tmp_path / "home")


def lines(pilot) -> list[str]:
    """Give what the list shows, without its numbers."""
    shown = [line[:40].strip() for line in screen_text(pilot).split("\n")[2:10]]
    return [line for line in shown if line]


@pytest.mark.usefixtures("home")
def test_all_places_are_shown_by_project_and_agent_with_forks_below():
    async def script(pilot):
        first, *_ = lines(pilot)
        assert first.startswith("ledger · tau  1 session")
        shown = [line.strip("▌ ") for line in lines(pilot)]
        assert [shown.index(each) for each in ("Books", "Water the plants", "╰ Feed the cat")] == [
            1,
            3,
            4,
        ]
        assert shown[2].startswith("notes · pi  2 sessions")
        assert "all places" in screen_text(pilot)
        await press(pilot, "j")
        assert sessions(pilot).cursor_entry.title == "Water the plants"
        assert pilot.app.screen.query_one(TopBar)._right == "2/3 "
        await press(pilot, "p")
        assert "ledger · tau" not in screen_text(pilot)
        assert titles(pilot) == ["Books", "Water the plants", "Feed the cat"]

    drive(script, EVERYWHERE, (100, 30))


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_all_places_fit_every_size(size):
    async def script(pilot):
        await press(pilot, "G", "k", "slash", *"the", "enter")
        assert all(len(line) <= size[0] for line in screen_text(pilot).split("\n"))

    assert drive(script, EVERYWHERE, size).safety.caught == 0


def test_a_search_lists_where_something_was_said_and_enter_opens_there(home):
    async def script(pilot):
        await press(pilot, "slash", *"plants", "enter")
        assert titles(pilot) == ["Water the plants"]
        shown = lines(pilot)
        assert shown[1:3] == [
            "→ user       Water the plants",
            "→ assistant  done: Water the plants",
        ]
        assert str(pilot.app.screen.query_one("#filter-count", Static).content) == "in 1"
        await press(pilot, "enter", "j", "j", "enter", "escape")
        assert len(titles(pilot)) == 3
        await press(pilot, "enter")

    def fragment(*points):
        return Fragment(None, tuple(Point(None, each) for each in points))

    assert drive(script, EVERYWHERE).opened == [
        (str(home["alpha"]), fragment("a")),
        (str(home["alpha"]), fragment("b")),
        (str(home["gamma"]), fragment()),
    ]


@pytest.mark.usefixtures("home")
def test_a_search_that_finds_nothing_says_how_to_go_on():
    async def script(pilot):
        await press(pilot, "slash", *"zebra", "enter")
        assert " ".join(preview(pilot).split()) == "Nobody said 'zebra'. Esc ends the search."
        await press(pilot, "f", *"bo", "enter")
        assert titles(pilot) == ["Books"]
        await press(pilot, "slash", *"the", "enter")
        assert len(titles(pilot)) == 2

    drive(script, EVERYWHERE)


@pytest.mark.usefixtures("home")
def test_what_is_no_session_of_its_agent_leaves_the_list_once_it_is_read():
    async def script(pilot):
        assert len(titles(pilot)) == 3
        assert "1 other file" in screen_text(pilot)

    drive(script, EVERYWHERE)


@pytest.mark.usefixtures("home")
def test_without_colour_and_unicode_families_are_drawn_all_the_same(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "UNICODE", ASCII)

    async def script(pilot):
        assert "` Feed the cat" in screen_text(pilot)

    drive(script, EVERYWHERE)
