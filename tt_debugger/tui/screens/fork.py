"""The Fork screen: what is to be otherwise, and the exact records before any is written."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import PurePath
from typing import Any

from rich.text import Text
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, TextArea

from tt_debugger.core.fork.plan import Forked
from tt_debugger.core.fork.told import target_of
from tt_debugger.core.search import Query
from tt_debugger.core.text import counted, safe_line
from tt_debugger.errors import TtdbgError
from tt_debugger.forking import Drafted, Standing, Wish, composing
from tt_debugger.forking.editor import edited_outside
from tt_debugger.tui.edit_texts import DROP, Ground, Way, complaint, is_large
from tt_debugger.tui.forker import (
    DraftFailed,
    DraftMade,
    Forker,
    ForkFailed,
    ForkWritten,
    Grounded,
    GroundFailed,
    Wanted,
)
from tt_debugger.tui.keys import FORK, bindings
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.keyed import KeyedScreen
from tt_debugger.tui.screens.prompt import LineScreen
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.choice_list import Choice
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.word_bar import Word, WordBar
from tt_debugger.views.checkpoint import title_line
from tt_debugger.views.fork import counts_line, draft_lines, rehearsal_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import cut_left, json_text

WIDE = 100
"""Columns from which the preview stands beside what is typed."""
SOUGHT = 40
"""Characters by which what is said is found in the preview."""
MOST_CHECK = 3
"""Lines for what is wrong with what is typed."""
WAYS = tuple(Way)
CANCEL, WRITE = 0, 1
_ASKS = {
    Way.SAY: "what the user says next",
    Way.INSTEAD: "what the user says in place of this message",
    Way.MESSAGE: "the message as it is to be",
    Way.STATE: "the state as it is to be",
    Way.PATHS: f'messages[-1].content="..."   or   {DROP}messages[-1]   one a line',
}


class Work(Container):
    """What is typed and what would be written, below or beside each other."""


class ForkScreen(KeyedScreen[Forked | None]):
    """Forks one checkpoint; gives the fork that was written, None for none."""

    CSS_PATH = "fork.tcss"
    KEYS = FORK
    BINDINGS = bindings(FORK)
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (WIDE, "wide")]  # noqa: RUF012 - typed above

    def __init__(
        self,
        row: int,
        forker: Callable[[Screen[Any]], Forker],
        palette: Palette,
        glyphs: Glyphs,
    ) -> None:
        super().__init__(palette, glyphs)
        self._row = row
        self._forker = forker(self)
        self._ground: Ground | None = None
        self._way = Way.UNCHANGED
        self._typed: dict[Way, str] = {}
        """What was typed in each way, once one has left it."""
        self._outside: dict[Way, str] = {}
        """The texts that are too large to be shown: an editor has them."""
        self._target: str | None = None
        self._in_place = False
        self._agent: str | None = None
        """The format of another agent that is to go on."""
        self._asked = 0
        """The number of the last question; what answers an older one is dropped."""
        self._drafted: Drafted | None = None
        self._is_for_later = False
        """Whether what is drafted is read back only when it is written."""
        self._wrong = ""
        """What is wrong with what is asked for, empty for nothing that is known."""
        self._is_writing = False
        self._is_asked = False
        """Whether it was asked if what is typed is to be dropped."""
        self._button = CANCEL

    def compose(self) -> ComposeResult:
        """Lay out where it forks from, the ways, the text, the preview, the note and buttons."""
        palette, glyphs = self._palette, self._glyphs
        yield TopBar(palette)
        yield _line("from")
        yield WordBar(palette, glyphs, id="ways")
        with Work():
            with Vertical(id="typed"):
                text = TextArea(soft_wrap=True, highlight_cursor_line=False, compact=True)
                text.cursor_blink = False
                yield text
                yield _line("check")
            yield Lines(id="preview")
        with Horizontal(id="note"):
            yield _line("why")
            note = Input(placeholder="kept with the fork", compact=True, select_on_focus=False)
            note.cursor_blink = False
            yield note
        yield _line("where")
        yield WordBar(palette, glyphs, id="buttons")
        yield BottomBar(FORK, palette, glyphs)

    def on_mount(self) -> None:
        """Begin to look what can be done here."""
        session = self._forker.session
        place = f"row {self._row + 1:,}/{len(session):,} "
        name = PurePath(self._forker.location).name
        self.query_one(TopBar).update_from(("fork", name), place)
        self.query_one("#why", Lines).update_from([Text("why", self._palette.dim)])
        self._ways.focus()
        self._draw_from()
        self._draw()
        self._forker.stand(self._row)

    def on_unmount(self) -> None:
        """End what is still being drafted."""
        self.stop()

    def stop(self) -> None:
        """Begin nothing more."""
        self._forker.stop()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        is_answered = self._drafted is not None or bool(self._wrong)
        return self._ground is not None and is_answered and not self._is_writing

    @property
    def _ways(self) -> WordBar:
        return self.query_one("#ways", WordBar)

    @property
    def _buttons(self) -> WordBar:
        return self.query_one("#buttons", WordBar)

    @property
    def _text(self) -> TextArea:
        return self.query_one(TextArea)

    @property
    def _preview(self) -> Lines:
        return self.query_one("#preview", Lines)

    @property
    def _is_typing(self) -> bool:
        return isinstance(self.focused, (TextArea, Input))

    def on_descendant_focus(self) -> None:
        """Give the preview all the room while it is read, where there is little."""
        self.set_class(self.focused is self._preview, "reads")

    # What can be done here

    def on_grounded(self, message: Grounded) -> None:
        """Offer what can be done."""
        self._ground = message.ground
        self._draw_from()
        self._ask()

    def on_ground_failed(self, message: GroundFailed) -> None:
        """Go back and say why it cannot be forked."""
        self.pop_until_active()
        self.dismiss(None)
        self.app.push_screen(ErrorScreen(message.error, self._palette, self._glyphs))

    def _draw_from(self) -> None:
        session, ground = self._forker.session, self._ground
        row = self._row if ground is None else ground.standing(self._way).row
        line = Text.assemble(("from  ", self._palette.dim), no_wrap=True)
        line.append_text(title_line(session, row, self._palette))
        line.append(safe_line(f" · {session.ids[row]}  "), self._palette.dim)
        line.append(safe_line(session.heads[row].summary), self._palette.text)
        line.truncate(max(self.size.width - 4, 0), overflow="ellipsis")
        lines = [line]
        moved = "" if ground is None else _moved(ground.standing(self._way))
        if moved:
            lines.append(Text(f"      {moved}", self._palette.change))
        box = self.query_one("#from", Lines)
        box.styles.height = len(lines)
        box.update_from(lines)

    def action_way(self, name: str) -> None:
        """Take a way, and go where one types."""
        ground, way = self._ground, Way(name)
        if ground is None:
            return
        if way not in ground.texts:
            self._say(_closed(way))
            return
        self._take(way)
        self.action_enter()

    def _take(self, way: Way) -> None:
        ground = self._ground
        if ground is None or way is self._way:
            return
        self._typed[self._way] = self._typed_text
        self._way = way
        self._text.placeholder = _ASKS.get(way, "")
        self._load(self._typed.get(way, ground.texts[way]))
        if way is not Way.STATE and not (way is Way.MESSAGE and ground.said is None):
            # Words are gone on with; JSON is read from its beginning.
            self._text.move_cursor(self._text.document.end)
        self.set_class(way is not Way.UNCHANGED, "types")
        self._draw_from()
        self._ask()

    def _load(self, text: str) -> None:
        """Show a text to be edited; of one that is large say how that is done."""
        self._outside.pop(self._way, None)
        shown = text
        if is_large(text):
            self._outside[self._way] = text
            shown = (
                f"{counted(len(text), 'character')}, too many to be edited here.\n"
                "Ctrl-G opens them in your editor; 6 changes single places of the state."
            )
        self._text.read_only = self._way in self._outside
        with self.prevent(TextArea.Changed):
            self._text.load_text(shown)

    @property
    def _typed_text(self) -> str:
        """The text as it is to be, shown or not."""
        return self._outside.get(self._way, self._text.text)

    @property
    def _has_typed(self) -> bool:
        """Whether anything is typed in any way, or in the note."""
        if self._ground is None:
            return False
        begun = self._ground.texts
        typed = {**self._typed, self._way: self._typed_text}
        is_edited = any(text != begun[way] for way, text in typed.items())
        return is_edited or bool(self.query_one(Input).value)

    def on_word_bar_clicked(self, message: WordBar.Clicked) -> None:
        """Do what was clicked."""
        if message.bar is self._ways:
            self.action_way(WAYS[message.place])
        elif message.place == WRITE:
            self.action_write()
        else:
            self._cancel()

    # What is typed

    def on_text_area_changed(self) -> None:
        """Draft what is typed."""
        self._ask()

    def on_input_changed(self) -> None:
        """Draft it with its note."""
        self._ask()

    def on_input_submitted(self) -> None:
        """Leave the note."""
        self.action_field(1)

    def _ask(self) -> None:
        """Look at what is typed at once, and draft it where nothing is wrong with it."""
        ground = self._ground
        if ground is None:
            return
        self._asked += 1
        self._drafted, self._button, self._is_asked = None, CANCEL, False
        text = self._typed_text if self._way is not Way.UNCHANGED else ""
        # What is large is looked at where it is drafted.
        is_shown = self._way not in self._outside
        self._wrong = complaint(ground, self._way, text) if is_shown else ""
        if not self._wrong:
            note = self.query_one(Input).value.strip() or None
            wish = Wish(note, self._target, self._in_place)
            self._forker.draft(Wanted(self._asked, ground, self._way, text, wish, self._agent))
        self._draw()

    def on_draft_made(self, message: DraftMade) -> None:
        """Show what would be written, if that is still what is asked for."""
        if message.number == self._asked:
            self._drafted, self._wrong = message.drafted, ""
            self._is_for_later = message.is_for_later
            self._draw()
            self._reveal()

    def on_draft_failed(self, message: DraftFailed) -> None:
        """Say why it cannot be made like this."""
        if message.number == self._asked:
            error = message.error
            self._wrong = f"{error.message} ({error.hint})" if error.hint else error.message
            self._draw()

    # What is shown

    def _reveal(self) -> None:
        """Scroll the preview to what was edited, else to what is said."""
        sought = ["~ edited"]
        if self._way in {Way.SAY, Way.INSTEAD}:
            sought.append(safe_line(json_text(self._typed_text)[:SOUGHT]))
        for text in sought:
            if self._preview.show_match(Query.of(text, is_exact=True)):
                return

    def _draw(self) -> None:
        self._draw_ways()
        palette, glyphs = self._palette, self._glyphs
        made = self._drafted
        if self._wrong:
            check = Text(safe_line(f"{glyphs.bad} {self._wrong}"), palette.bad)
        elif made is None:
            check = Text(f"{glyphs.ellipsis} making the draft", palette.dim)
        else:
            check = Text(f"{glyphs.good} this can be written", palette.good)
        told = self.query_one("#check", Lines)
        told.update_from([check])
        told.styles.height = min(max(len(told.plain_lines), 1), MOST_CHECK)
        self._preview.update_from(self._preview_lines(check))
        self.query_one("#where", Lines).update_from([self._where_line()])
        self._draw_buttons()

    def _draw_ways(self) -> None:
        texts: Collection[Way] = () if self._ground is None else self._ground.texts
        words = [
            Word(way, str(number), is_off=way not in texts) for number, way in enumerate(WAYS, 1)
        ]
        self._ways.update_from(words, WAYS.index(self._way))

    def _draw_buttons(self) -> None:
        why = ""
        if self._is_writing:
            why = "reading it back, then writing" if self._is_for_later else "writing"
        elif self._wrong:
            why = "not as it is: see above"
        elif self._drafted is None:
            why = "the draft is being made"
        words = [Word("Cancel", "Esc"), Word("Write it", "Ctrl-S", is_off=bool(why))]
        self._buttons.update_from(words, self._button, why)

    def _preview_lines(self, check: Text) -> Iterator[Text]:
        made = self._drafted
        if made is None:
            yield Text("nothing would be written" if self._wrong else "", self._palette.dim)
            # Where nothing is typed there is no line for it below the text.
            if self._way is Way.UNCHANGED:
                yield check
            return
        yield counts_line(made.draft, self._palette)
        yield rehearsal_line(
            self._palette,
            self._glyphs,
            is_rehearsed=made.is_rehearsed,
            is_for_later=self._is_for_later,
        )
        yield from draft_lines(made.draft, self._palette, self._glyphs, place_is_told=True)

    def _where_line(self) -> Text:
        made = self._drafted
        if made is not None:
            told = target_of(made.draft)[0]
        elif self._target is not None:
            told = f"to {self._target}"
        else:
            told = "in the session itself" if self._in_place else "a session of its own"
        line = Text.assemble(("to    ", self._palette.dim))
        room = max(self.size.width - line.cell_len - 4, 0)
        # Of a path the end tells more than the beginning.
        what, sign, path = safe_line(told).partition(" /")
        if sign:
            line.append(f"{what} ", self._palette.text)
            room -= len(what) + 1
        place = f"/{path}" if sign else what
        return line.append(cut_left(place, room, self._glyphs), self._palette.text)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw_from)
        self.call_after_refresh(self._draw)

    def _say(self, text: str) -> None:
        self.query_one(BottomBar).say(text)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave to the text the keys that move in it and end its lines."""
        if action in {"enter", "scroll"} and self._is_typing:
            return False
        return super().check_action(action, parameters)

    def action_beside(self, step: int) -> None:
        """Go to the way or button beside this one."""
        if self.focused is self._buttons:
            self._button = self._buttons.beside(step)
            self._draw_buttons()
        elif self._ground is not None:
            self._take(WAYS[self._ways.beside(step)])

    def action_field(self, step: int) -> None:
        """Go to the next field, or the one before."""
        if step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_enter(self) -> None:
        """Go into the text, or where there is none to the buttons; there do what is picked."""
        if self.focused is self._buttons:
            if self._button == WRITE:
                self.action_write()
            else:
                self._cancel()
        elif self._way is Way.UNCHANGED or self.focused is self._preview:
            self.set_focus(self._buttons)
        else:
            # Not before it is displayed: what is hidden takes no focus.
            self.call_after_refresh(self.set_focus, self._text)

    def action_scroll(self, lines: int) -> None:
        """Scroll the preview by lines; from the ways go down into it."""
        self._preview.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll the preview by its height."""
        self._preview.move_by(pages * max(self._preview.size.height - 1, 1))

    def action_in_place(self) -> None:
        """Write into the session itself, or into one of its own."""
        self._in_place = not self._in_place
        place = "a branch in the session itself" if self._in_place else "a session of its own"
        self._say(f"the fork is {place}")
        self._ask()

    def action_target(self) -> None:
        """Ask where to write it."""
        asked = LineScreen("write the fork to:", self._palette, self._target or "")
        self.app.push_screen(asked, self._take_target)

    def _take_target(self, target: str | None) -> None:
        if target is not None:
            self._target = target.strip() or None
            self._ask()

    def action_agent(self) -> None:
        """Ask which agent is to go on from the fork."""
        same = Choice("the same", "a session as the original is one", "")
        others = [Choice(each, "a session of that agent's own", each) for each in composing()]
        self.choose("the agent that goes on", [same, *others], self._take_agent)

    def _take_agent(self, agent: str | None) -> None:
        if agent is None:
            return
        self._agent = agent or None
        self._say(f"a session of {agent}" if agent else "a session of the same agent")
        self._ask()

    def action_editor(self) -> None:
        """Let the text be edited in the editor of whoever sits here."""
        if self._way is Way.UNCHANGED:
            self._say("first choose what is to be otherwise")
            return
        text = self._typed_text
        ending = ".json" if text.lstrip()[:1] in {"{", "["} else ".txt"
        try:
            with self.app.suspend():
                edited = edited_outside(text, ending)
        except SuspendNotSupported:
            self._say("this terminal cannot be lent to an editor")
            return
        except TtdbgError as error:
            self._tell(error)
            return
        if edited is None:
            self._say("nothing was saved in the editor")
        else:
            self._load(edited)
            self._ask()

    def action_write(self) -> None:
        """Write what is drafted."""
        made = self._drafted
        if self._is_writing:
            self._say("it is being written")
        elif made is None:
            self._say(
                f"not written: {self._wrong}"
                if self._wrong
                else "not yet: the draft is being made"
            )
        else:
            self._is_writing = True
            self._draw_buttons()
            self._forker.write(made)

    def on_fork_written(self, message: ForkWritten) -> None:
        """Give the fork."""
        self._is_writing = False
        self.pop_until_active()
        self.dismiss(message.forked)

    def on_fork_failed(self, message: ForkFailed) -> None:
        """Say why it is not written, and draft it anew: the original may have changed."""
        self._is_writing = False
        self._tell(message.error)
        self._ask()

    def _tell(self, error: TtdbgError) -> None:
        self.app.push_screen(ErrorScreen(error, self._palette, self._glyphs))

    def action_close(self) -> None:
        """Leave the field; there, write nothing."""
        if self._is_typing or self.focused is self._preview:
            self.set_focus(self._ways)
        else:
            self._cancel()

    def _cancel(self) -> None:
        """Go back; where something was typed, only when that is said once more."""
        if self._is_writing:
            self._say("it is being written")
        elif self._has_typed and not self._is_asked:
            self._is_asked = True
            self._say("once more drops what is typed, and writes nothing")
        else:
            self.dismiss(None)


def _line(name: str) -> Lines:
    line = Lines(id=name)
    line.can_focus = False
    return line


def _moved(at: Standing) -> str:
    """Say why a fork goes on from another row than was asked for, empty where it does not."""
    if at.row == at.asked:
        return ""
    because = f"instead of row {at.asked + 1}: a tool call is kept with its result"
    if at.row > at.asked:
        return because
    return f"{because}, and that one has none"


def _closed(way: Way) -> str:
    match way:
        case Way.SAY:
            return "the state has no messages to which one could be added"
        case Way.INSTEAD:
            return "this is no message of the user that follows another checkpoint"
        case Way.MESSAGE:
            return "this checkpoint has no message, or one that is too large to edit here"
        case _:
            return "the state is too large to be edited as a text; 6 changes places of it"
