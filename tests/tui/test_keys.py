"""Every key of every table does what its title says.

`CHECKS` has one check for each action of a table. A check is run with each of the action's keys,
presses it, and looks at what came of it; a key without a check is a failure.
"""

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from tui.driving import (
    SAMPLES,
    choices,
    drive,
    inspector,
    place,
    press,
    said,
    seen,
    settled,
    tree,
)

from tt_debugger.core.filters import Filter
from tt_debugger.core.folds import Folding, FoldRule
from tt_debugger.core.listing import Sort
from tt_debugger.discovery import Discovery, read
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.keys import CHOOSER, DIALOG, HELP, SESSIONS, TIMELINE, Key
from tt_debugger.tui.loader import Failed
from tt_debugger.tui.screens.chooser import ChooserScreen
from tt_debugger.tui.screens.compare import CompareScreen
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.export import ExportScreen
from tt_debugger.tui.screens.fork import ForkScreen
from tt_debugger.tui.screens.help import HelpScreen
from tt_debugger.tui.screens.prompt import KeyScreen, LineScreen
from tt_debugger.tui.screens.sessions import SessionsScreen
from tt_debugger.tui.screens.stats import StatsScreen
from tt_debugger.tui.screens.timeline import TimelineScreen
from tt_debugger.tui.screens.undo import UndoScreen
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.choice_list import ChoiceList
from tt_debugger.tui.widgets.inspector import TABS
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.scrubber import Scrubber
from tt_debugger.tui.widgets.session_list import SessionList
from tt_debugger.tui.widgets.state_tree import StateTree

TABLES = {
    "timeline": TIMELINE,
    "sessions": SESSIONS,
    "help": HELP,
    "chooser": CHOOSER,
    "dialog": DIALOG,
}
Check = Callable[[Pilot, str], Awaitable[None]]
CHECKS: dict[tuple[str, str], Check] = {}
NAMES = {
    each.name
    for found in Discovery(str(SAMPLES))
    if found is not None
    for each in read(found).entries
}
ENDING = ("quit", "app.leave")
"""Actions that end the app: their keys are each pressed in an app of their own."""


def does(table: str, *actions: str) -> Callable[[Check], Check]:
    """Enter a check for actions of a table."""

    def enter(check: Check) -> Check:
        CHECKS.update({(table, action): check for action in actions})
        return check

    return enter


def moves(action: str, start: int, end: int, says: str = "") -> None:
    """Enter the check that a key of the Timeline leads from one row to another."""

    async def check(pilot: Pilot, key: str) -> None:
        await at(pilot, start)
        await press(pilot, key)
        assert (tree(pilot).cursor_row, said(pilot)) == (end, says)
        assert inspector(pilot).row == end

    does("timeline", action)(check)


UNFOLDED = Folding(FoldRule.NOTHING)


async def at(pilot: Pilot, row: int, chosen=Filter.ALL, folding=UNFOLDED) -> None:
    """Put the Timeline back to how it opened, the cursor on a row."""
    while not isinstance(pilot.app.screen, TimelineScreen):
        pilot.app.pop_screen()
        await pilot.pause()
    screen = pilot.app.screen
    screen.remove_class("zoom-tree", "zoom-inspector", "scrubbing")
    screen.finder.forget()
    screen.say("")
    screen.inspector.tab = "changes"
    screen._want_lines(chosen, folding, row)
    await settled(pilot)
    screen.set_focus(screen.tree_pane)
    tree(pilot).move_to_row(row)
    await settled(pilot)


# Moving and jumping: rows count from 0

moves("move(1)", 19, 20)
moves("move(-1)", 19, 18)
moves("first", 19, 0)
moves("last", 19, 62)
moves("jump('parent', -1)", 39, 30)
moves("jump('child', 1)", 9, 28)
moves("jump('branch', -1)", 26, 10)
moves("jump('branch', 1)", 15, 23)
moves("jump('fork point', -1)", 45, 30)
moves("jump('fork point', 1)", 3, 9)
moves("jump('error', 1)", 5, 16)
moves("jump('error', -1)", 3, 35, "went around the end of the session")
moves("jump('compaction', 1)", 60, 53, "went around the end of the session")
moves("jump('compaction', -1)", 60, 53)
moves("jump('message of the user', 1)", 3, 12)
moves("jump('message of the user', -1)", 39, 31)
moves("jump('active leaf', 1)", 14, 62)
moves("jump('leaf', 1)", 12, 22)


@does("timeline", "page(1)")
async def _(pilot, key):
    await at(pilot, 10)
    await press(pilot, key)
    assert tree(pilot).cursor_row == 10 + tree(pilot).size.height - 1


@does("timeline", "page(-1)")
async def _(pilot, key):
    await at(pilot, 50)
    await press(pilot, key)
    assert tree(pilot).cursor_row == 50 - (tree(pilot).size.height - 1)


@does("timeline", "go_to")
async def _(pilot, key):
    await at(pilot, 3)
    await press(pilot, key, *"row=21", "enter")
    assert tree(pilot).cursor_row == 20


@does("timeline", "back", "forward")
async def _(pilot, key):
    await at(pilot, 3)
    await press(pilot, "a", "alt+left", *(() if key in {"alt+left", "ctrl+o"} else (key,)))
    if key == "ctrl+o":
        await press(pilot, "alt+right", key)
    assert tree(pilot).cursor_row == (62 if key == "alt+right" else 3)


@does("timeline", "search")
async def _(pilot, key):
    await at(pilot, 3)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, LineScreen)
    await press(pilot, *"changelog", "enter")
    assert tree(pilot).cursor_row == 53


@does("timeline", "found(1)", "found(-1)")
async def _(pilot, key):
    await at(pilot, 3)
    await press(pilot, key)
    assert said(pilot) == "search first: press /"
    await press(pilot, "slash", *"CHANGELOG", "enter", "n")
    assert tree(pilot).cursor_row == 58
    await press(pilot, key)
    assert tree(pilot).cursor_row == {"n": 59, "N": 56}[key]


@does("timeline", "bisect")
async def _(pilot, key):
    await at(pilot, 31)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, LineScreen)
    await press(pilot, "enter")
    assert (tree(pilot).cursor_row, pilot.app.screen.bisecting.is_on) == (38, True)
    await press(pilot, "escape")
    assert not pilot.app.screen.bisecting.is_on


@does("timeline", "judge('bad')", "judge('good')", "judge('skip')")
async def _(pilot, key):
    await at(pilot, 62)
    await press(pilot, key)
    assert said(pilot) == "no bisect is on; B begins one"
    await press(pilot, "B", "enter", key)
    assert tree(pilot).cursor_row == {"plus": 43, "minus": 62, "0": 61}[key]
    assert pilot.app.screen.bisecting.is_on
    await press(pilot, "escape")


@does("timeline", "mark")
async def _(pilot, key):
    await at(pilot, 14)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, KeyScreen)
    await press(pilot, "k")
    assert said(pilot) == "row 15 is marked: ' k leads back to it"


@does("timeline", "to_mark")
async def _(pilot, key):
    await at(pilot, 14)
    await press(pilot, "m", "k", "G", key, "k")
    assert tree(pilot).cursor_row == 14


@does("timeline", "filter")
async def _(pilot, key):
    await at(pilot, 14)
    await press(pilot, key)
    assert [each.value for each in choices(pilot)][:-1] == list(Filter)
    assert choices(pilot)[-1].text == "where a condition holds ..."


@does("timeline", "next_filter")
async def _(pilot, key):
    await at(pilot, 21, Filter.LABELLED)
    await press(pilot, key)
    assert pilot.app.screen._filter is Filter.ERRORS
    assert place(pilot) == "row 21/63 · errors shows 4"


@does("timeline", "fold")
async def _(pilot, key):
    await at(pilot, 14)
    await press(pilot, key)
    assert tree(pilot).cursor_fold.count == 12
    await press(pilot, "tab", key)
    assert inspector(pilot).tab == "raw"


@does("timeline", "unfold")
async def _(pilot, key):
    await at(pilot, 10, folding=Folding())
    await press(pilot, key)
    assert (tree(pilot).cursor_row, tree(pilot).cursor_fold) == (11, None)
    await press(pilot, "tab", key)
    assert inspector(pilot).tab == "message"


@does("timeline", "fold_all", "unfold_all")
async def _(pilot, key):
    folds_all = key == "H"
    await at(pilot, 62, folding=Folding())
    before = len(tree(pilot)._outline)
    await press(pilot, key)
    lines = tree(pilot)._outline
    assert len(lines) < before if folds_all else len(lines) == 63
    assert bool(len(lines.folds)) is folds_all


@does("timeline", *(f"tab('{name}')" for name in TABS))
async def _(pilot, key):
    await at(pilot, 19)
    inspector(pilot).tab = TABS[int(key) % 5]
    await press(pilot, key)
    assert inspector(pilot).tab == TABS[int(key) - 1]
    begins = [
        "20 assistant",
        "this is a call",
        "",
        "id         36bf4203",
        '731 bytes\n{"type":"message"',
    ]
    if key == "3":
        assert inspector(pilot).pane.rows[0].path == ("messages",)
    elif key == "2":
        assert "pytest -q -n 8 --count 100" in "".join(inspector(pilot).pane.plain_lines)
    else:
        text = "\n".join(inspector(pilot).pane.plain_lines)
        assert text.startswith(begins[int(key) - 1])


@does("timeline", "next_tab(-1)", "next_tab(1)")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, "2", key)
    assert inspector(pilot).tab == {"comma": "changes", "full_stop": "state"}[key]


@does("timeline", "switch")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, "5", key)
    pane = inspector(pilot).pane
    assert pilot.app.screen.focused is pane
    await press(pilot, "j", "j", "k")
    assert pane.scroll_offset.y == min(1, pane.max_scroll_y)
    assert tree(pilot).cursor_row == 19
    await press(pilot, key)
    assert isinstance(pilot.app.screen.focused, CheckpointTree)


@does("timeline", "open")
async def _(pilot, key):
    await at(pilot, 11, folding=Folding())
    assert tree(pilot).cursor_fold is not None
    await press(pilot, key)
    assert (tree(pilot).cursor_row, tree(pilot).cursor_fold) == (11, None)
    await press(pilot, "3", key)
    state = inspector(pilot).pane
    assert isinstance(pilot.app.screen.focused, StateTree)
    rows = len(state.rows)
    await press(pilot, "g", key)
    assert len(state.rows) > rows
    await press(pilot, key)
    assert len(state.rows) == rows


@does("timeline", "zoom")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    assert tree(pilot).size.width > 110
    await press(pilot, key)
    assert tree(pilot).size.width < 110
    assert inspector(pilot).size.width > 30


@does("timeline", "copy")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key, "r")
    assert pilot.app.clipboard == f"{SAMPLES / 'pi.jsonl'}#36bf"


@does("timeline", "export")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, ExportScreen)
    await press(pilot, "escape")
    assert said(pilot) == "nothing is written"


@does("timeline", "fork")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, ForkScreen)
    await press(pilot, "escape")
    assert said(pilot) == "no fork is made"


@does("timeline", "stats")
async def _(pilot, key):
    await at(pilot, 20)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, StatsScreen)
    assert "branch, its own part" in seen(pilot)
    await press(pilot, "q")
    assert tree(pilot).cursor_row == 20


@does("timeline", "undo")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, UndoScreen)
    await press(pilot, "escape")
    assert isinstance(pilot.app.screen, TimelineScreen)


@does("timeline", "blame", "origin", "gutter")
async def _(pilot, key):
    await at(pilot, 62)
    await press(pilot, "3", "tab")
    pane = inspector(pilot).state_tree
    if key == "i":
        assert pane._gutter.writers
        await press(pilot, key)
        assert not pane._gutter.writers
        await press(pilot, key)
    else:
        pane.reveal({"b": ("model",), "O": ("messages", 3, "toolCallId")}[key])
        await press(pilot, key)
        assert tree(pilot).cursor_row == {"b": 29, "O": 44}[key]
    await press(pilot, "escape")


@does("timeline", "watch", "watches", "column", "change(-1)", "change(1)")
async def _(pilot, key):
    await at(pilot, 30)
    await press(pilot, "3", "tab", "g", "j", "w")
    watching = pilot.app.screen.watching
    assert [each.name for each in watching.watches] == ["model"]
    await press(pilot, "escape", key)
    if key == "w":
        assert isinstance(pilot.app.screen, ChooserScreen)
        await press(pilot, *"usage.cost", "enter")
        assert [each.name for each in watching.watches] == ["model", "usage.cost"]
    elif key == "W":
        assert [each.text for each in choices(pilot)] == ["model", "watch model no longer"]
        await press(pilot, "escape")
    elif key == "vertical_line":
        assert not watching.shows_column
        await press(pilot, key)
    else:
        assert tree(pilot).cursor_row == {"r": 29, "R": 30}[key]
    for each in [*watching.watches]:
        await press(pilot, "w", *each.name, "enter")
    assert not watching.watches


@does("timeline", "compare_again")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, "d", "@", "n", "n", "enter")
    assert isinstance(pilot.app.screen, TimelineScreen)
    await press(pilot, key)
    compared = pilot.app.screen
    assert isinstance(compared, CompareScreen)
    assert compared.pane.block.change == 2
    await press(pilot, "q")


@does("timeline", "diff")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key, "d")
    assert isinstance(pilot.app.screen, CompareScreen)
    assert [end.row for end in pilot.app.screen._answer.ends] == [18, 19]
    await press(pilot, "q")
    assert tree(pilot).cursor_row == 19


@does("timeline", "follow")
async def _(pilot, key):
    await press(pilot, key)
    assert not pilot.app.screen.follows
    assert said(pilot).startswith("what is written from here on is not shown")
    await press(pilot, key)
    assert pilot.app.screen.follows


@does("timeline", "scrubber")
async def _(pilot, key):
    await at(pilot, 40)
    await press(pilot, key)
    graph = pilot.app.screen.query_one(Scrubber)
    assert pilot.app.screen.focused is graph
    assert graph.note.startswith("row 41")
    await press(pilot, "l")
    assert (tree(pilot).cursor_row, graph.note[:6]) == (53, "row 54")
    await press(pilot, "h", "h")
    assert tree(pilot).cursor_row < 40
    await press(pilot, key)
    assert isinstance(pilot.app.screen.focused, CheckpointTree)


@does("timeline", "tree")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, "slash", *"pytest", "enter", "tab", key)
    assert isinstance(pilot.app.screen.focused, CheckpointTree)
    assert pilot.app.screen.finder.query is not None
    await press(pilot, key)
    assert pilot.app.screen.finder.query is None


@does("timeline", "sessions")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, SessionsScreen)
    names = {each.name for each in pilot.app.screen.query_one(SessionList).entries}
    assert names == NAMES


@does("timeline", "theme")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key, "down", "enter")
    assert pilot.app.theme == "light"
    pilot.app.theme = "dark"


@does("timeline", "palette")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    names = {each.text for each in choices(pilot)}
    assert {each.title for each in TIMELINE if each.action != "palette"} <= names


@does("timeline", "help")
async def _(pilot, key):
    await at(pilot, 19)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, HelpScreen)


@does("timeline", "quit", "app.leave")
@does("sessions", "quit", "app.leave")
async def _(pilot, key):
    await pilot.press(key)
    await pilot.pause()
    assert pilot.app._exit
    assert pilot.app.return_value is None


# Sessions


def listed(pilot: Pilot) -> SessionList:
    return pilot.app.screen.query_one(SessionList)


async def among_sessions(pilot: Pilot) -> None:
    """Put the Sessions back to how they opened."""
    while not isinstance(pilot.app.screen, SessionsScreen):
        pilot.app.pop_screen()
        await pilot.pause()
    screen = pilot.app.screen
    screen.action_clear()
    screen._sort_by(Sort.NEWEST)
    await settled(pilot)
    listed(pilot).to_start()


@does("sessions", "move(1)")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key)
    assert listed(pilot).cursor_place == 1


@does("sessions", "move(-1)")
async def _(pilot, key):
    await among_sessions(pilot)
    listed(pilot).to_end()
    await press(pilot, key)
    assert listed(pilot).cursor_place == len(NAMES) - 2


@does("sessions", "page(1)", "last")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key)
    assert listed(pilot).cursor_place == len(NAMES) - 1


@does("sessions", "page(-1)", "first")
async def _(pilot, key):
    await among_sessions(pilot)
    listed(pilot).to_end()
    await press(pilot, key)
    assert listed(pilot).cursor_place == 0


@does("sessions", "open")
async def _(pilot, key):
    await among_sessions(pilot)
    name = listed(pilot).cursor_entry.name
    await press(pilot, key)
    assert isinstance(pilot.app.screen, TimelineScreen)
    assert name in seen(pilot)


@does("sessions", "filter")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key, *"ledger", "enter")
    assert [each.name for each in listed(pilot).entries] == ["tau.jsonl"]


@does("sessions", "clear")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, "f", *"ledger", key)
    assert len(listed(pilot).entries) == len(NAMES)
    assert listed(pilot).has_focus


@does("sessions", "search")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key, *"ledger.importer", "enter")
    assert [each.name for each in listed(pilot).entries] == ["tau.jsonl"]
    assert "→ " in seen(pilot)


@does("sessions", "group")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key)
    assert "notekeeper · pi  1 session" in seen(pilot)
    await press(pilot, key)
    assert "1 session " not in seen(pilot)


@does("sessions", "sort")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key)
    assert pilot.app.screen._sort is list(Sort)[1]


@does("sessions", "reverse")
async def _(pilot, key):
    await among_sessions(pilot)
    times = [each.time for each in listed(pilot).entries]
    assert (times[0], times[-1]) == (max(times), min(times))
    await press(pilot, key)
    turned = [each.time for each in listed(pilot).entries]
    assert (turned[0], turned[-1]) == (min(times), max(times))


@does("sessions", "rescan")
async def _(pilot, key):
    await among_sessions(pilot)
    searches = pilot.app.screen._search
    await press(pilot, key)
    assert pilot.app.screen._search == searches + 1
    assert len(listed(pilot).entries) == len(NAMES)


@does("sessions", "switch")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key, "j")
    assert pilot.app.screen.preview.has_focus
    assert listed(pilot).cursor_place == 0
    await press(pilot, key)
    assert listed(pilot).has_focus


@does("sessions", "help")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, HelpScreen)


@does("sessions", "theme", "palette")
async def _(pilot, key):
    await among_sessions(pilot)
    await press(pilot, key)
    assert isinstance(pilot.app.screen, ChooserScreen)


# Screens that lie over others


async def over(pilot: Pilot, key: str) -> None:
    """Open a screen over the Timeline by its key."""
    await at(pilot, 19)
    await press(pilot, key)


def scrolled(pilot: Pilot) -> int:
    return pilot.app.screen.query_one(Lines).scroll_offset.y


@does("help", "scroll(1)", "scroll(-1)", "page(1)", "page(-1)")
async def _(pilot, key):
    await over(pilot, "question_mark")
    lines = pilot.app.screen.query_one(Lines)
    a_page = lines.size.height - 1
    lines.move_by(20)
    await settled(pilot)
    await press(pilot, key)
    steps = {"j": 1, "down": 1, "k": -1, "up": -1, "pageup": -a_page}
    assert scrolled(pilot) == max(min(20 + steps.get(key, a_page), lines.max_scroll_y), 0)
    assert scrolled(pilot) != 20


@does("help", "close")
async def _(pilot, key):
    await over(pilot, "question_mark")
    await press(pilot, key)
    assert isinstance(pilot.app.screen, TimelineScreen)


@does("chooser", "move(1)", "move(-1)", "move(10)", "move(-10)")
async def _(pilot, key):
    await over(pilot, "ctrl+p")
    listed = pilot.app.screen.query_one(ChoiceList)
    listed.move_by(12)
    await press(pilot, key)
    steps = {"down": 1, "ctrl+n": 1, "up": -1, "pagedown": 10, "pageup": -10}
    assert listed._cursor == 12 + steps[key]


@does("chooser", "complete")
async def _(pilot, key):
    await over(pilot, "ctrl+p")
    await press(pilot, *"theme: li", key)
    assert pilot.app.screen.query_one(Input).value == choices(pilot)[0].text
    assert "light" in choices(pilot)[0].text.lower()


@does("chooser", "take")
async def _(pilot, key):
    await over(pilot, "ctrl+p")
    await press(pilot, *"active leaf", key)
    assert tree(pilot).cursor_row == 62


@does("chooser", "close")
async def _(pilot, key):
    await over(pilot, "ctrl+p")
    await press(pilot, *"active leaf", key)
    assert (type(pilot.app.screen), tree(pilot).cursor_row) == (TimelineScreen, 19)


@does("dialog", "close")
async def _(pilot, key):
    await at(pilot, 19)
    pilot.app.screen.post_message(Failed(TtdbgError("no room", hint="make some")))
    await settled(pilot)
    assert isinstance(pilot.app.screen, ErrorScreen)
    await press(pilot, key)
    assert (type(pilot.app.screen), tree(pilot).cursor_row) == (TimelineScreen, 19)


# All of them


def entries(table: str) -> list[Key]:
    return [each for each in TABLES[table] if each.action not in ENDING]


def test_every_key_of_every_table_has_a_check():
    assert set(CHECKS) == {(name, key.action) for name, table in TABLES.items() for key in table}


GROUPS = [
    (name, group) for name in TABLES for group in dict.fromkeys(k.group for k in entries(name))
]


@pytest.mark.parametrize(("table", "group"), GROUPS)
def test_each_key_does_what_its_title_says(table, group):
    pressed = []

    async def script(pilot):
        for entry in entries(table):
            for key in entry.keys if entry.group == group else ():
                try:
                    await CHECKS[table, entry.action](pilot, key)
                except AssertionError as error:
                    error.add_note(f"{key}: {entry.title}")
                    raise
                pressed.append(key)

    drive(script, SAMPLES if table == "sessions" else SAMPLES / "pi.jsonl")
    assert pressed


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
@pytest.mark.parametrize("table", ["timeline", "sessions"])
def test_the_keys_that_end_it_end_it(table, key):
    (action,) = (each.action for each in TABLES[table] if key in each.keys)

    async def script(pilot):
        await CHECKS[table, action](pilot, key)

    drive(script, SAMPLES if table == "sessions" else SAMPLES / "pi.jsonl")
