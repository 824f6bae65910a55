"""The export dialog: what, in which form, what was redacted, and how the page looks."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen

from tt_debugger.core.text import counted, safe_line
from tt_debugger.errors import TtdbgError
from tt_debugger.exports.forms import FORMS, What
from tt_debugger.exports.gate import Page
from tt_debugger.exports.telling import redaction_told
from tt_debugger.tui.exporter import (
    Exporter,
    Rendered,
    RenderFailed,
    Wanted,
    WriteFailed,
    Written,
)
from tt_debugger.tui.keys import EXPORT, bindings
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.prompt import LineScreen
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.choice_list import Choice, ChoiceList
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.palette import Glyphs, Palette

if TYPE_CHECKING:
    from tt_debugger.tui.comparer import Aim

MOST_HITS = 3
"""Things that were redacted that are told one by one; all are in the report of the command."""
LONGEST_LINE = 400
"""Characters of a line in the preview."""


class ExportScreen(ModalScreen[str | None]):
    """Exports one or two checkpoints; gives what came of it in a sentence, None for nothing."""

    CSS_PATH = "export.tcss"
    BINDINGS = bindings(EXPORT, types=False)

    def __init__(
        self,
        aims: tuple[Aim, ...],
        exporter: Callable[[Screen[Any]], Exporter],
        palette: Palette,
        glyphs: Glyphs,
        *,
        is_masked: bool = True,
    ) -> None:
        super().__init__()
        self._aims = aims
        self._exporter = exporter(self)
        self._palette = palette
        self._glyphs = glyphs
        self._is_masked = is_masked
        self._structure_only = False
        self._wanted: Wanted | None = None
        """What the cursor is on, None for nothing."""
        self._pages: dict[Wanted, Rendered] = {}
        self._is_writing = False

    def compose(self) -> ComposeResult:
        """Lay out the choices over what was redacted and the page."""
        with Vertical(id="box") as box:
            rows = " and ".join(_named(each) for each in self._aims)
            box.border_title = safe_line(f"export {rows}")
            yield ChoiceList(self._palette, self._glyphs)
            yield Lines(id="redacted")
            yield Lines(id="page")
            yield BottomBar(EXPORT, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Offer all; the first choice is to export nothing."""
        self._list.update_from(self._choices())
        self._show()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        return not self._is_writing and (self._wanted is None or self._wanted in self._pages)

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    def _choices(self) -> Sequence[Choice]:
        told = [Choice("nothing", "back, and nothing is written")]
        whats = (What.DIFF,) if len(self._aims) > 1 else (What.TRANSCRIPT, What.STATE)
        for what in whats:
            told += [
                Choice(f"{what} as {form.name}", form.about, self._want(what, form.name))
                for form in FORMS.values()
                if what is What.DIFF or not form.needs_two
            ]
        about = "all about it in one file, which ttdbg opens again"
        return [*told, Choice("bundle", about, self._want(What.BUNDLE))]

    def _want(self, what: What, form: str = "") -> Wanted:
        return Wanted(self._aims, what, form, is_masked=self._is_masked)

    # What is under the cursor

    def on_choice_list_moved(self) -> None:
        """Show what the choice under the cursor would write."""
        self._show()

    def on_choice_list_taken(self) -> None:
        """Take the choice that was clicked."""
        self.action_take()

    def _show(self) -> None:
        chosen = self._list.chosen
        wanted: Wanted | None = None if chosen is None else chosen.value
        if wanted is not None:
            wanted = msgspec.structs.replace(wanted, structure_only=self._structure_only)
        self._wanted = wanted
        if wanted is not None and wanted not in self._pages:
            self._exporter.render(wanted)
        self._draw()

    def on_rendered(self, message: Rendered) -> None:
        """Show a page, if it is still wanted."""
        self._pages[message.wanted] = message
        if message.wanted == self._wanted:
            self._draw()

    def on_render_failed(self, message: RenderFailed) -> None:
        """Say why there is no page, and go back to where none is wanted."""
        if message.wanted == self._wanted:
            self._list.update_from(self._choices())
            self._show()
            self._tell(message.error)

    def _draw(self) -> None:
        rendered = None if self._wanted is None else self._pages.get(self._wanted)
        told, lines = self._redacted_lines(rendered), self._page_lines(rendered)
        self.query_one("#redacted", Lines).update_from(told)
        self.query_one("#page", Lines).update_from(lines)

    def _redacted_lines(self, rendered: Rendered | None) -> Iterator[Text]:
        """Say what was replaced, by rule and where; never what it was."""
        palette = self._palette
        if rendered is None:
            told = "" if self._wanted is None else "redacting and rendering"
            yield Text(told, palette.dim)
            return
        page = rendered.page
        told = f"{redaction_told(page.redaction)} {counted(rendered.size, 'byte')}"
        yield Text(safe_line(told), palette.strong)
        for hit in islice(page.hits, MOST_HITS):
            line = Text.assemble((safe_line(f"  {hit.placeholder}"), palette.change))
            yield line.append(safe_line(f"  {hit.place}"), palette.dim)
        if len(page.hits) > MOST_HITS:
            more = counted(len(page.hits) - MOST_HITS, "more place")
            yield Text(f"  and {more}", palette.dim)

    def _page_lines(self, rendered: Rendered | None) -> Iterator[Text]:
        for line in () if rendered is None else rendered.page.text.split("\n"):
            yield Text(safe_line(line[:LONGEST_LINE]), self._palette.text)

    # Keys

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self._list.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll the page by its height."""
        page = self.query_one("#page", Lines)
        page.move_by(pages * max(page.size.height - 1, 1))

    def action_structure(self) -> None:
        """Leave all content out, or take it in again."""
        self._structure_only = not self._structure_only
        self._say("all content is left out" if self._structure_only else "content is told")
        self._show()

    def action_take(self) -> None:
        """Ask where to write what is under the cursor; nothing is the way back."""
        if self._wanted is None:
            self.action_close()
            return
        rendered = self._pages.get(self._wanted)
        if rendered is None:
            self._say("not yet: it is still being rendered")
            return
        asked = LineScreen("write to:", self._palette, self._proposed(self._wanted))
        self.app.push_screen(asked, lambda name: self._write(name, rendered.page))

    def _proposed(self, wanted: Wanted) -> str:
        """Give a name for the file."""
        ending = ".ttdbg" if wanted.what is What.BUNDLE else FORMS[wanted.form].ending
        # A ref can hold anything, and is no part of a name.
        rows = (f"{aim + 1}" for aim in wanted.aims if isinstance(aim, int))
        return "-".join((self._exporter.file, wanted.what, *rows)) + ending

    def _write(self, name: str | None, page: Page) -> None:
        if not (name or "").strip():
            self._say("nothing is written")
            return
        self._is_writing = True
        self._exporter.write(name or "", page)

    def on_written(self, message: Written) -> None:
        """Go back, and say what was written."""
        self._is_writing = False
        self.dismiss(f"written: {message.path}")

    def on_write_failed(self, message: WriteFailed) -> None:
        """Say why it is not written; another name may do."""
        self._is_writing = False
        self._tell(message.error)

    def _tell(self, error: TtdbgError) -> None:
        self.app.push_screen(ErrorScreen(error, self._palette, self._glyphs))

    def _say(self, text: str) -> None:
        self.query_one(BottomBar).say(text)

    def on_bottom_bar_pressed(self, message: BottomBar.Pressed) -> None:
        """Do what the key that was clicked does."""
        self.call_later(self.run_action, message.action)

    def action_close(self) -> None:
        """Export nothing."""
        self.dismiss(None)


def _named(aim: Aim) -> str:
    return f"row {aim + 1}" if isinstance(aim, int) else aim
