"""The Fork screen: what it shows before anything is written, what it writes, and undoing it."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from builders import PI_HEADER, jsonl, pi, user
from hostile_files import SAMPLES
from textual.widgets import Input, TextArea
from tui.driving import choices, drive, inspector_text, press, said, seen, settled, tree

from tt_debugger import forking
from tt_debugger.errors import CannotWriteError, UnsupportedError
from tt_debugger.forking import drafting
from tt_debugger.storage.operations import Operations
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.fork import ForkScreen
from tt_debugger.tui.screens.forked import ForkedScreen
from tt_debugger.tui.screens.help import HelpScreen
from tt_debugger.tui.screens.prompt import KeyScreen, LineScreen
from tt_debugger.tui.screens.timeline import TimelineScreen
from tt_debugger.tui.screens.undo import UndoScreen
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.word_bar import WordBar

SIZES = [(60, 16), (80, 24), (120, 36), (160, 50)]


def assistant(*parts):
    return {"role": "assistant", "content": list(parts), "stopReason": "stop"}


CALL = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}
RESULT = {
    "role": "toolResult",
    "toolCallId": "c1",
    "toolName": "ls",
    "content": [{"type": "text", "text": "a.py"}],
    "isError": False,
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tt_debugger.tui.forker.PAUSE", 0.01)
    folder = tmp_path / "sessions"
    folder.mkdir()
    path = folder / "talk.jsonl"
    path.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv/app"},
            pi("aaaa", None, user("hello")),
            pi("bbbb", "aaaa", assistant(CALL)),
            pi("cccc", "bbbb", RESULT),
            pi("dddd", "cccc", user("and now?")),
        )
    )
    monkeypatch.chdir(folder)
    return path


async def go(pilot, *keys: str) -> None:
    """Press keys, each once all that the one before led to is shown."""
    for key in keys:
        await press(pilot, key)


def lines(pilot, name: str) -> str:
    return "\n".join(pilot.app.screen.query_one(name, Lines).plain_lines)


def preview(pilot) -> str:
    return lines(pilot, "#preview")


def check(pilot) -> str:
    return lines(pilot, "#check")


def text(pilot) -> TextArea:
    return pilot.app.screen.query_one(TextArea)


def buttons(pilot) -> str:
    return pilot.app.screen.query_one("#buttons", WordBar).render().plain


def written(session: Path) -> list[Path]:
    return [each for each in session.parent.iterdir() if each != session]


# What is shown


def test_it_shows_the_exact_records_and_the_target_before_anything_is_written(session: Path):
    async def script(pilot):
        await go(pilot, "f")
        assert isinstance(pilot.app.screen, ForkScreen)
        assert "4 user" in lines(pilot, "#from")
        assert "✓ read back: it ends at this state, exactly" in preview(pilot)
        assert '+   "type": "session",' in preview(pilot)
        assert "= 4 records kept" in preview(pilot)
        assert "new file" in lines(pilot, "#where")
        assert "[Esc Cancel]" in buttons(pilot)

    drive(script, session)
    assert written(session) == []


@pytest.mark.parametrize("keys", [["escape"], ["enter", "enter"], ["tab", "tab", "tab", "enter"]])
def test_to_cancel_is_the_default_and_writes_nothing(session: Path, keys: list[str]):
    async def script(pilot):
        await go(pilot, "f", *keys)
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert said(pilot) == "no fork is made"

    drive(script, session)
    assert (written(session), Operations().all()) == ([], [])


@pytest.mark.parametrize("keys", [["2", "x", "escape"], ["tab", "tab", "x", "escape"]])
def test_what_was_typed_is_dropped_only_when_that_is_said_once_more(
    session: Path, keys: list[str]
):
    async def script(pilot):
        await go(pilot, "f", *keys, "escape")
        assert isinstance(pilot.app.screen, ForkScreen)
        assert said(pilot) == "once more drops what is typed, and writes nothing"
        # Whoever goes on is asked again.
        await go(pilot, *keys, "escape")
        assert isinstance(pilot.app.screen, ForkScreen)
        await go(pilot, "escape")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, session)
    assert written(session) == []


def test_what_was_typed_and_taken_away_again_is_not_asked_for(session: Path):
    async def script(pilot):
        await go(pilot, "f", "4", "x", "backspace", "escape", "escape")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, session)


def test_a_large_session_is_read_back_once_when_it_is_written(
    session: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.tui.forker.LARGEST_READ_BACK", 10)
    read_back: list[object] = []
    rehearse = drafting.rehearse

    def counting(*asked):
        read_back.append(asked)
        return rehearse(*asked)

    monkeypatch.setattr(drafting, "rehearse", counting)

    async def script(pilot):
        await go(pilot, "f", "2", *"more")
        assert "large: it is read back once, when it is to be written" in preview(pilot)
        assert read_back == []
        await go(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, ForkedScreen)

    drive(script, session)
    assert len(read_back) == 1


def test_where_another_row_is_taken_it_says_why(session: Path):
    async def script(pilot):
        await go(pilot, "f")
        told = lines(pilot, "#from").split("\n")
        assert told[0].startswith("from  3 tool · ls")
        assert told[1].strip() == "instead of row 2: a tool call is kept with its result"

    drive(script, session, "row=2")


def test_the_call_of_the_checkpoint_is_edited_where_it_is_kept_with_its_result(session: Path):
    async def script(pilot):
        await go(pilot, "f", "4")
        assert '"name": "ls"' in text(pilot).text
        text(pilot).load_text(text(pilot).text.replace('"arguments": {}', '"arguments": {"a": 1}'))
        await settled(pilot)
        assert "~ edited record, from row 2" in preview(pilot)

    drive(script, session, "row=2")


def test_what_cannot_be_chosen_says_why(session: Path):
    async def script(pilot):
        await go(pilot, "f", "3")
        assert said(pilot) == "this is no message of the user that follows another checkpoint"
        assert "(say instead)" in seen(pilot)

    drive(script, session, "row=3")


@pytest.mark.parametrize("size", SIZES)
def test_all_of_it_is_seen_at_each_size(session: Path, size: tuple[int, int]):
    async def script(pilot):
        await go(pilot, "f", "2", *"more")
        shown = seen(pilot)
        for part in ("from", "2 say more", "more", "this can be written", "why", "to ", "Cancel"):
            assert part in shown
        work = pilot.app.screen.query_one("#typed").region
        below = pilot.app.screen.query_one("#preview").region
        assert (work.x == below.x) is (size[0] < 100)
        assert (work.y == below.y) is (size[0] >= 100)
        assert min(work.height, below.height) >= 3

    drive(script, session, size=size)


# What is typed


def test_what_the_user_says_more_is_added_and_written(session: Path):
    before = session.read_bytes()

    async def script(pilot):
        await go(pilot, "f", "2", *"do", "enter", *"it")
        assert text(pilot).text == "do\nit"
        assert '"do\\nit"' in preview(pilot)
        await go(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, ForkedScreen)
        (path,) = written(session)
        assert str(path) in "".join(lines(pilot, "#told").split())

    drive(script, session)
    assert session.read_bytes() == before
    (path,) = written(session)
    assert path.read_text().count('"do\\nit"') == 1


def test_nothing_said_yet_cannot_be_written(session: Path):
    async def script(pilot):
        await go(pilot, "f", "2")
        assert check(pilot) == "✗ type what is to be said"
        assert "Ctrl-S (Write it)   not as it is: see above" in buttons(pilot)
        await go(pilot, "ctrl+s")
        assert said(pilot) == "not written: type what is to be said"

    drive(script, session)
    assert written(session) == []


def test_another_message_takes_the_place_of_the_users_own(session: Path):
    async def script(pilot):
        await go(pilot, "f", "3")
        assert text(pilot).text == "and now?"
        assert lines(pilot, "#from").startswith("from  3 tool")
        await go(pilot, *" Well?", "ctrl+s")
        assert isinstance(pilot.app.screen, ForkedScreen)

    drive(script, session)
    (path,) = written(session)
    content = path.read_text()
    assert '"and now? Well?"' in content
    assert '"and now?"' not in content


def test_json_is_looked_at_as_one_types(session: Path):
    async def script(pilot):
        await go(pilot, "f", "5")
        whole = text(pilot).text
        await press(pilot, "x")
        assert check(pilot) == "✗ no JSON yet: line 1, column 1: invalid character"
        assert "nothing would be written" in preview(pilot)
        await go(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, ForkScreen)
        await press(pilot, "backspace")
        assert (text(pilot).text, check(pilot)) == (whole, "✓ this can be written")
        text(pilot).load_text(whole.replace("and now?", "and then?"))
        await settled(pilot)
        assert "~ edited record, from row 4" in preview(pilot)
        await go(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, ForkedScreen)

    drive(script, session)
    (path,) = written(session)
    assert '"and then?"' in path.read_text()


def test_places_of_the_state_are_edited_line_by_line(session: Path):
    async def script(pilot):
        await go(pilot, "f", "6", *'messages[-1].content="why"')
        assert "~ edited record, from row 4" in preview(pilot)
        await press(pilot, "x")
        told = " ".join(check(pilot).split())
        assert told.startswith("✗ line 1: the value of messages[-1].content is no JSON (a text")
        assert told in " ".join(seen(pilot).replace("│", " ").split())

    drive(script, session)


def test_what_the_format_refuses_is_told(session: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise UnsupportedError("usage cannot be edited", "leave it")

    monkeypatch.setattr("tt_debugger.tui.forker.drafted", refuse)

    async def script(pilot):
        await go(pilot, "f", "2", "x")
        assert check(pilot) == "✗ usage cannot be edited (leave it)"

    drive(script, session)


def test_what_is_typed_in_one_way_is_there_when_one_comes_back(session: Path):
    async def script(pilot):
        await go(pilot, "f", "2", *"words", "escape", "1")
        assert not pilot.app.screen.query_one("#typed").display
        await press(pilot, "escape", "escape", "f", "2")
        assert text(pilot).text == ""
        await press(pilot, *"words", "escape", "right", "left")
        assert text(pilot).text == "words"

    drive(script, session, "row=3")


def test_the_note_is_kept_with_the_fork(session: Path):
    async def script(pilot):
        await go(pilot, "f", "tab", "tab", *"is it so?")
        assert pilot.app.screen.query_one(Input).value == "is it so?"
        await go(pilot, "ctrl+s")

    drive(script, session)
    (operation,) = Operations().all()
    assert operation.note == "is it so?"
    assert operation.origin == f"{session}#dddd"


def test_a_target_is_asked_for(session: Path, tmp_path: Path):
    target = tmp_path / "mine.jsonl"

    async def script(pilot):
        await go(pilot, "f", "ctrl+t")
        assert isinstance(pilot.app.screen, LineScreen)
        await press(pilot, *str(target), "enter")
        assert lines(pilot, "#where").endswith("/mine.jsonl")
        await go(pilot, "ctrl+s")

    drive(script, session)
    assert target.exists()
    assert written(session) == []


def test_a_branch_in_place_is_off_until_it_is_asked_for(session: Path):
    before = session.read_bytes()

    async def script(pilot):
        await go(pilot, "f", "2", *"more", "ctrl+b")
        assert "added at the end of" in lines(pilot, "#where")
        await press(pilot, "ctrl+b")
        assert "new file" in lines(pilot, "#where")
        await go(pilot, "ctrl+b", "ctrl+s", "escape")
        assert len(pilot.app.screen._session) > 4

    drive(script, session)
    assert session.read_bytes().startswith(before)
    assert written(session) == []


def test_another_agent_can_go_on_from_it(session: Path, tmp_path: Path):
    target = tmp_path / "theirs.jsonl"

    async def script(pilot):
        await go(pilot, "f", "ctrl+t")
        await press(pilot, *str(target), "enter")
        await go(pilot, "ctrl+o")
        offered = [each.text for each in choices(pilot)]
        assert offered[0] == "the same"
        assert {"pi", "tau"} <= set(offered)
        await press(pilot, *"tau", "enter")
        assert said(pilot) == "a session of tau"
        assert "✗" not in check(pilot)
        await go(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, ForkedScreen)
        await go(pilot, "enter")
        assert "tau" in seen(pilot).split("\n")[0]

    drive(script, session)
    assert target.exists()


def test_the_text_can_be_edited_in_the_editor_of_whoever_sits_here(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    editor = tmp_path / "editor.sh"
    # Another time than before: that is by what it is known that something was saved.
    editor.write_text(
        '#!/bin/sh\nstat -c %a "$1" > "$0.mode"\n'
        'echo "from outside" > "$1"\ntouch -d "2030-01-01" "$1"\n'
    )
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))

    async def script(pilot):
        monkeypatch.setattr(pilot.app, "suspend", nullcontext)
        await go(pilot, "f", "2", "ctrl+g")
        assert text(pilot).text == "from outside"
        assert '"from outside"' in preview(pilot)
        monkeypatch.setenv("VISUAL", "false")
        await press(pilot, "ctrl+g")
        assert isinstance(pilot.app.screen, ErrorScreen)

    drive(script, session)
    assert Path(f"{editor}.mode").read_text().strip() == "600"


def test_what_cannot_lend_its_terminal_says_so(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+g")
        assert said(pilot) == "first choose what is to be otherwise"
        await press(pilot, "2", "ctrl+g")
        assert said(pilot) == "this terminal cannot be lent to an editor"

    drive(script, session)


def test_what_is_large_is_left_to_an_editor(session: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tt_debugger.tui.edit_texts.LARGEST", 100)

    async def script(pilot):
        await go(pilot, "f", "5")
        assert text(pilot).read_only
        assert "too many to be edited here" in text(pilot).text
        await press(pilot, "x")
        assert "✓ this can be written" in check(pilot)
        assert "= 4 kept" in preview(pilot)
        await press(pilot, "escape", "2", "y")
        assert text(pilot).text == "y"

    drive(script, session)


def test_an_answer_to_what_was_asked_before_is_dropped(
    session: Path, monkeypatch: pytest.MonkeyPatch
):
    """Two drafts end the other way round than they are shown."""
    is_first, goes_on = threading.Event(), threading.Event()
    drafted = forking.drafted
    asked: list[str] = []

    def slow(debugger, at, edits, wish, *, rehearses):
        asked.append(str(edits))
        if len(asked) == 2:
            is_first.set()
            goes_on.wait(10)
        return drafted(debugger, at, edits, wish, rehearses=rehearses)

    monkeypatch.setattr("tt_debugger.tui.forker.drafted", slow)

    async def script(pilot):
        await go(pilot, "f")
        await pilot.press("2", "a")
        while not is_first.is_set():
            await pilot.pause()
        await pilot.press("b", "c")
        assert "the draft is being made" in buttons(pilot)
        goes_on.set()
        await settled(pilot)
        assert '"abc"' in preview(pilot)
        # What was typed between was not drafted at all.
        assert len(asked) == 3

    drive(script, session)


def test_the_preview_is_scrolled_from_everywhere_and_read_in_all_the_room(session: Path):
    async def script(pilot):
        await go(pilot, "f", "6", "pagedown")
        pane = pilot.app.screen.query_one("#preview", Lines)
        top = pane.scroll_offset.y
        assert top == pane.size.height - 1
        await go(pilot, "pageup")
        assert (pane.scroll_offset.y, text(pilot).text) == (0, "")
        await go(pilot, "tab", "j", "down", "k")
        assert pane.scroll_offset.y == 1
        assert not pilot.app.screen.query_one("#typed").display
        await go(pilot, "shift+tab")
        assert pilot.app.screen.query_one("#typed").display

    drive(script, session, size=(80, 24))


def test_the_preview_begins_at_what_was_edited_or_is_said(session: Path):
    async def script(pilot):
        await go(pilot, "f", "2", *"anew")
        assert '"anew"' in seen(pilot)
        await go(pilot, "escape", "4", "x")
        assert "~ edited record, from row 4" in seen(pilot)

    drive(script, session, size=(80, 24))


def test_keys_are_explained_where_none_is_typed(session: Path):
    async def script(pilot):
        await go(pilot, "f", "2", "question_mark")
        assert text(pilot).text == "?"
        await go(pilot, "escape", "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        assert "edit the text in $EDITOR" in lines(pilot, "#keys")

    drive(script, session)


def test_the_mouse_does_what_keys_do(session: Path):
    async def script(pilot):
        await go(pilot, "f")
        await pilot.click("#ways", offset=(16, 0))
        await settled(pilot)
        await go(pilot, "a")
        assert text(pilot).text == "a"
        await pilot.click("#buttons", offset=(22, 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, ForkedScreen)

    drive(script, session)


# What comes of it


def test_a_fork_is_opened_and_leads_back(session: Path):
    async def script(pilot):
        await go(pilot, "f", "2", *"more", "ctrl+s", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, TimelineScreen)
        (path,) = written(session)
        assert Path(screen._location) == path
        assert tree(pilot).cursor_row == screen._session.active
        await press(pilot, "q")
        assert pilot.app.screen._location == str(session)

    drive(script, session)


def test_the_command_is_copied(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "y")
        (operation,) = Operations().all()
        assert pilot.app.clipboard == operation.resume_command
        assert said(pilot).startswith("copied command: ")
        await press(pilot, "escape")
        assert said(pilot) == "Enter on the row opens the fork; Z lists all forks"

    drive(script, session)


def test_the_row_it_begins_at_is_marked_and_leads_to_it(session: Path):
    async def script(pilot):
        await go(pilot, "f", "tab", "tab", *"hm", "ctrl+s", "escape")
        assert "↳" in seen(pilot)
        await press(pilot, "4")
        (path,) = written(session)
        told = "".join(inspector_text(pilot).split())
        assert "·hm" in told
        assert str(path) in told
        await press(pilot, "enter")
        assert Path(pilot.app.screen._location) == path

    drive(script, session)


def test_of_several_forks_one_is_chosen(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "escape", "f", "ctrl+s", "escape")
        assert "↳ 2" in seen(pilot)
        await press(pilot, "enter")
        assert len(choices(pilot)) == 2
        await press(pilot, "enter")
        assert Path(pilot.app.screen._location) in written(session)

    drive(script, session)


def test_forks_of_rows_that_are_folded_or_hidden_are_marked_where_these_are_told(session: Path):
    session.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv/app"},
            pi("aaaa", None, user("hello")),
            pi("bbbb", "aaaa", user("one way")),
            pi("cccc", "bbbb", user("on it")),
            pi("dddd", "cccc", user("to nowhere")),
            pi("eeee", "aaaa", user("another")),
        )
    )

    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "escape")
        assert "↳" in seen(pilot)
        await press(pilot, "h")
        assert "2 checkpoints" in seen(pilot)
        assert "↳ 1 fork" in seen(pilot)
        await press(pilot, "v", *"labelled", "enter")
        assert "↳" not in seen(pilot)

    drive(script, session, "cccc")


def test_a_fork_of_a_hidden_row_is_marked_at_what_is_shown_above_and_opened_there(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "escape")
        await press(pilot, "v", *"user", "enter", "g")
        (marked,) = (line for line in seen(pilot).split("\n") if "↳" in line)
        assert "hello" in marked
        await press(pilot, "enter")
        assert Path(pilot.app.screen._location) in written(session)

    drive(script, session, "row=3")


def test_forks_made_before_are_marked_when_the_session_is_opened_again(session: Path):
    async def first(pilot):
        await go(pilot, "f", "ctrl+s")

    async def again(pilot):
        assert "↳" in seen(pilot)

    drive(first, session)
    drive(again, session)


def test_why_a_fork_was_not_written_is_told_and_it_can_be_tried_again(
    session: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise CannotWriteError("no room", "make some")

    monkeypatch.setattr("tt_debugger.tui.forker.forked", full)

    async def script(pilot):
        await go(pilot, "f", "ctrl+s")
        assert isinstance(pilot.app.screen, ErrorScreen)
        assert "no room" in seen(pilot)
        await press(pilot, "escape")
        monkeypatch.setattr("tt_debugger.tui.forker.forked", forking.forked)
        await go(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, ForkedScreen)

    drive(script, session)


# Undoing it


def test_a_fork_is_undone_once_that_is_said_again(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "U")
        assert isinstance(pilot.app.screen, UndoScreen)
        assert [each.detail.split()[0] for each in choices(pilot)] == ["done"]
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, KeyScreen)
        await press(pilot, "enter")
        assert said(pilot) == "nothing is undone"
        (path,) = written(session)
        await press(pilot, "enter", "y")
        assert written(session) == []
        assert said(pilot) == f"undone: {path} is not there any more"
        assert [each.detail.split()[0] for each in choices(pilot)] == ["undone"]
        await press(pilot, "enter")
        assert said(pilot) == "it is undone already"
        await press(pilot, "o")
        assert said(pilot) == "it is undone"
        await press(pilot, "escape")
        assert "↳" not in seen(pilot)

    drive(script, session)


def test_a_fork_that_an_agent_went_on_from_is_not_undone(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "escape")
        (path,) = written(session)
        path.write_bytes(path.read_bytes() + b"{}\n")
        await press(pilot, "Z")
        assert choices(pilot)[0].detail.startswith("changed since")
        await press(pilot, "enter", "y")
        assert isinstance(pilot.app.screen, ErrorScreen)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, UndoScreen)

    drive(script, session)
    assert len(written(session)) == 1


def test_a_fork_can_be_opened_from_the_list_and_its_command_copied(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "escape", "Z", "y")
        (operation,) = Operations().all()
        assert pilot.app.clipboard == operation.resume_command
        await press(pilot, "o")
        assert Path(pilot.app.screen._location) == written(session)[0]

    drive(script, session)


def test_a_fork_that_is_gone_can_be_opened_no_more(session: Path):
    async def script(pilot):
        await go(pilot, "f", "ctrl+s", "escape")
        written(session)[0].unlink()
        await press(pilot, "Z")
        assert choices(pilot)[0].detail.startswith("gone")
        await press(pilot, "o")
        assert said(pilot) == "it is gone"
        await press(pilot, "escape")
        assert "↳" not in seen(pilot)

    drive(script, session)


def test_lines_of_the_log_that_cannot_be_read_are_told(session: Path, tmp_path: Path):
    log = tmp_path / "state" / "ttdbg" / "operations.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"broken\n{}\n")

    async def script(pilot):
        await press(pilot, "Z")
        assert "2 lines of the operation log cannot be read" in lines(pilot, "#told")
        await go(pilot, "escape", "f", "ctrl+s", "escape", "Z")
        assert "2 lines of the operation log cannot be read" in lines(pilot, "#told")

    drive(script, session)


def test_where_no_fork_was_made_that_is_said(session: Path):
    async def script(pilot):
        await press(pilot, "Z")
        assert "ttdbg has made no fork yet" in seen(pilot)
        await press(pilot, "enter", "o", "y", "escape")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, session)


# What cannot be forked


def test_a_format_that_cannot_be_forked_says_so():
    async def script(pilot):
        assert "f (fork)" in seen(pilot)
        await go(pilot, "f")
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert said(pilot) == "ttdbg cannot fork sessions of the format gemini"
        told = "(fork from here: a new branch that the agent resumes)"
        await press(pilot, "ctrl+p")
        assert told in [each.text for each in choices(pilot)]
        await press(pilot, "escape", "question_mark")
        assert told in lines(pilot, "#keys")

    drive(script, SAMPLES / "gemini.jsonl", size=(160, 50))


def test_the_key_is_named_where_there_is_little_room(session: Path):
    async def script(pilot):
        assert " f fork " in seen(pilot)

    drive(script, session, size=(80, 24))


def test_a_checkpoint_that_nothing_is_known_of_is_told(session: Path):
    session.write_bytes(jsonl(PI_HEADER, pi("aaaa", None, user("hello"))) + b"{broken\n")

    async def script(pilot):
        await go(pilot, "f")
        assert isinstance(pilot.app.screen, ErrorScreen)
        assert "nothing is known there" in seen(pilot)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, session, "row=2")


def test_hostile_content_is_shown_in_no_place_as_it_is(session: Path):
    hostile = "a\x1b]52;c;eA==\x07b\u202ec"
    session.write_bytes(
        jsonl(PI_HEADER, pi("aaaa", None, user("hi")), pi("bbbb", "aaaa", user(hostile)))
    )

    async def script(pilot):
        for way in "123456":
            await go(pilot, "f", way)
            assert "\x1b" not in seen(pilot)
            assert "\u202e" not in seen(pilot)
            await press(pilot, "escape", "escape")
        # The second wall had nothing to do: the first held.
        assert pilot.app.safety.caught == 0

    drive(script, session)
