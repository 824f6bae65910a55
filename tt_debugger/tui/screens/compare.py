"""The Compare screen: two checkpoints beside each other, change by change."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from tt_debugger.core.diff.comparing import EqualRun
from tt_debugger.tui.comparer import (
    Compared,
    CompareFailed,
    Comparer,
    Located,
    LocateFailed,
    Parted,
    Question,
)
from tt_debugger.tui.copying import Copied, command
from tt_debugger.tui.keys import COMPARE, bindings
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.keyed import KeyedScreen
from tt_debugger.tui.screens.prompt import KeyScreen
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.compare_pane import ComparePane
from tt_debugger.tui.widgets.mini_map import MiniMap
from tt_debugger.tui.widgets.side_names import SideNames
from tt_debugger.views.compare import ComparisonView, counts_signs, counts_text
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import json_text

WIDE = 100
"""Columns from which both sides stand beside each other, unless it is wanted otherwise."""
ROOMY = 120
"""Columns from which there is room for all numbers in the bar at the top."""
ASKED = "copy:  y line   a message of A   b message of B   c command   (Esc: nothing)"


class Arrival(msgspec.Struct, frozen=True):
    """Where to go in the session below, what to say of it, and where it was left for that."""

    row: int
    said: str
    question: Question
    block: int


class Compares(Container):
    """Both sides and the mini-map."""

    BLANK = True


class CompareScreen(KeyedScreen[Arrival | None]):
    """Compares two points; gives the row to go to when it is left for one."""

    CSS_PATH = "compare.tcss"
    KEYS = COMPARE
    BINDINGS = bindings(COMPARE, types=False)
    BLANK = True

    def __init__(
        self,
        question: Question,
        comparer: Callable[[Screen[Any]], Comparer],
        palette: Palette,
        glyphs: Glyphs,
        block: int | None = None,
    ) -> None:
        super().__init__(palette, glyphs)
        self._begins_at = block
        self._question = question
        self._comparer = comparer(self)
        self._answer: Compared | None = None
        self._words: tuple[str, ...] = ()
        """Where both ends part, in sentences."""
        self._why: tuple[str, ...] = ()
        self._has_parted: Question | None = None
        """The question for which that is known."""
        self._is_locating = False
        self._is_side_by_side: bool | None = None
        """How it is wanted, None where the width decides."""

    def compose(self) -> ComposeResult:
        """Lay out the bars, the names of both sides, what is compared and the mini-map."""
        yield TopBar(self._palette)
        yield SideNames(self._palette, self._glyphs)
        with Compares(id="compared"):
            yield ComparePane(self._palette, self._glyphs)
            yield MiniMap(self._palette, self._glyphs)
        yield BottomBar(COMPARE, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Begin to compare."""
        self.pane.focus()
        self._lay_out()
        self._ask(self._question)

    def on_resize(self) -> None:
        """Lay out for another width."""
        self._lay_out()

    def on_unmount(self) -> None:
        """Let go of what was opened to compare with."""
        self.stop()

    def stop(self) -> None:
        """Begin nothing more."""
        self._comparer.close()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        answer = self._answer
        is_shown = answer is not None and self._has_parted == answer.question == self._question
        return is_shown and not self._is_locating

    @property
    def pane(self) -> ComparePane:
        """What is compared."""
        return self.query_one(ComparePane)

    def say(self, text: str, *, stays: bool = False) -> None:
        """Say something in the bar at the bottom."""
        self.query_one(BottomBar).say(text, stays=stays)

    # What was asked for arrives

    def _ask(self, question: Question) -> None:
        self._question = question
        if self._answer is None:
            self.pane.update_from(None, "comparing")
        self._tell()
        self._comparer.compare(question)

    def on_compared(self, message: Compared) -> None:
        """Show what was compared, unless something else is wanted by now."""
        if message.question != self._question:
            return
        before, self._answer = self._answer, message
        is_same = before is not None and before.compares_the_same(message)
        if not is_same:
            self._words, self._why = ("looking where they part",), ()
        self._show(keeps_place=is_same)

    def on_parted(self, message: Parted) -> None:
        """Tell where the branches part."""
        if self._answer is not None and self._answer.question == message.question:
            self._words, self._why = message.words, message.why
            self._has_parted = message.question
            self._show(keeps_place=True)

    def _show(self, *, keeps_place: bool) -> None:
        answer = self._answer
        if answer is None:
            return
        view = ComparisonView(
            answer.comparison,
            self._palette,
            self._glyphs,
            "i shows them" if answer.question.mask else "i masks them again",
            self._words,
            self._why,
        )
        self.pane.update_from(view, keeps_place=keeps_place)
        if self._begins_at is not None:
            self.pane.to_block(min(self._begins_at, len(self.pane.blocks) - 1))
            self._begins_at = None
        self._tell()

    def on_compare_failed(self, message: CompareFailed) -> None:
        """Say why it cannot be compared, and go back."""
        if message.question != self._question:
            return
        error = ErrorScreen(message.error, self._palette, self._glyphs)
        if self._answer is not None:
            self._question = self._answer.question
            self._tell()
        else:
            self.dismiss(None)
        self.app.push_screen(error)

    def _tell(self) -> None:
        """Tell what is compared, and how much of it one has seen."""
        answer = self._answer
        if answer is None or answer.question != self._question:
            self.query_one(TopBar).update_from(("compare",), "comparing ")
            if answer is None:
                return
        if answer.question == self._question:
            comparison = answer.comparison
            masked = sum(comparison.masked.values())
            block = self.pane.block
            change = None if block is None else block.change
            place = "" if change is None else f"change {change + 1}/{comparison.counts.total}"
            counts = counts_text(comparison.counts, masked)
            whole = "all that was said" if answer.question.uncompacted else ""
            if self.size.width < ROOMY:
                counts = counts_signs(comparison.counts)
            parts = [place, counts, whole, answer.relation]
            self.query_one(TopBar).update_from(("compare",), " · ".join(filter(None, parts)) + " ")
        old, new = ((end.name, end.about) for end in answer.ends)
        self.query_one(SideNames).update_from(old, new, is_side_by_side=self._is_beside)

    def on_compare_pane_moved(self) -> None:
        """Follow the cursor."""
        self.query_one(MiniMap).update_from(self.pane.blocks, self.pane.blocks_in_view)
        if self._answer is not None:
            self._tell()

    def on_mini_map_chosen(self, message: MiniMap.Chosen) -> None:
        """Go to what was clicked."""
        self.pane.to_block(message.block)

    # Moving and opening

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self.pane.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Move by the height of the pane."""
        self.pane.move_by(pages * max(self.pane.size.height - 1, 1))

    def action_first(self) -> None:
        """Go to the first line."""
        self.pane.to_start()

    def action_last(self) -> None:
        """Go to the last line."""
        self.pane.to_end()

    def action_change(self, step: int) -> None:
        """Go to the next or previous change."""
        if self._answer is not None and not self.pane.to_change(step):
            self.say(f"no change {'above' if step < 0 else 'below'}")

    def action_open(self) -> None:
        """Open what is folded, or go to the checkpoint of the message."""
        self.pane.open()

    def action_unfold(self) -> None:
        """Show all of what is under the cursor."""
        if self.pane.block is not None and not self.pane.unfold(is_open=True):
            self.say("all of it is shown; h folds it")

    def action_fold(self) -> None:
        """Fold what is under the cursor."""
        if self.pane.block is not None and not self.pane.unfold(is_open=False):
            self.say("this is folded already; l unfolds it")

    def on_compare_pane_chosen(self) -> None:
        """Look for the checkpoint of the message under the cursor, to go there."""
        answer, block = self._answer, self.pane.block
        if answer is None or block is None or isinstance(block.what, EqualRun):
            return
        pairs = zip(reversed(answer.ends), reversed(block.places), strict=True)
        there = [(end, place) for end, place in pairs if place is not None]
        own = [(end, place) for end, place in there if end.is_own]
        if own and answer.is_normal:
            self._go(own[0][0].row, f"message {own[0][1] + 1} is in the state here")
        elif own:
            self._is_locating = True
            self.say("looking for its checkpoint", stays=True)
            self._comparer.locate(answer.question, *own[0])
        elif there:
            end, place = there[0]
            self.say(f"message {place + 1} stands in another session: {end.ref}")
        else:
            self.say("only messages lead to a checkpoint; l shows all of this")

    def on_located(self, message: Located) -> None:
        """Go to the checkpoint."""
        self._go(message.row, f"message {message.place + 1} comes from this checkpoint")

    def _go(self, row: int, said: str) -> None:
        self._leave(Arrival(row, said, self._question, self.pane.block_number))

    def on_locate_failed(self, message: LocateFailed) -> None:
        """Say why there is nowhere to go."""
        self._is_locating = False
        self.say("")
        self.app.push_screen(ErrorScreen(message.error, self._palette, self._glyphs))

    # How it is compared and laid out

    def action_masks(self) -> None:
        """Compare what is masked too, or mask it again."""
        if self._answer is not None:
            self._ask(msgspec.structs.replace(self._question, mask=not self._question.mask))

    def action_uncompacted(self) -> None:
        """Compare all that was ever said, or what is in the context again."""
        if self._answer is not None:
            uncompacted = not self._question.uncompacted
            self._ask(msgspec.structs.replace(self._question, uncompacted=uncompacted))

    def action_swap(self) -> None:
        """Compare the other way round."""
        if self._answer is not None:
            old, new = self._question.old, self._question.new
            self._ask(msgspec.structs.replace(self._question, old=new, new=old))

    def action_layout(self) -> None:
        """Show both sides beside each other, or one below the other."""
        self._is_side_by_side = not self._is_beside
        self._lay_out()
        self._tell()

    @property
    def _is_beside(self) -> bool:
        if self._is_side_by_side is None:
            return self.app.size.width >= WIDE
        return self._is_side_by_side

    def _lay_out(self) -> None:
        self.pane.lay_out(is_side_by_side=self._is_beside)

    # Copying and exporting

    def action_copy(self) -> None:
        """Ask what to copy and copy it."""
        if self._answer is not None:
            self.app.push_screen(KeyScreen(ASKED, self._palette), self._copy)

    def _copy(self, key: str | None) -> None:
        answer, block = self._answer, self.pane.block
        if answer is None or block is None:
            return
        copied: Copied | None = None
        match key:
            case "y":
                copied = Copied(self.pane.row_text.strip(), "line", is_short=False)
            case "a" | "b":
                view = ComparisonView(answer.comparison, self._palette, self._glyphs)
                message = view.message(block, is_old=key == "a")
                if message is not msgspec.UNSET:
                    what = f"message of {key.upper()}"
                    copied = Copied(json_text(message), what, is_short=False)
            case "c":
                question = answer.question
                options = " --no-mask" * (not question.mask)
                options += " --uncompacted" * question.uncompacted
                refs = (end.ref for end in answer.ends)
                copied = command("diff", *refs, options=options)
            case _:
                pass
        if copied is None:
            self.say("nothing is copied")
            return
        self.app.copy_to_clipboard(copied.text.encode(errors="replace").decode())
        self.say(copied.said)

    def action_export(self) -> None:
        """Ask how to export what is compared."""
        answer = self._answer
        if answer is not None:
            from tt_debugger.tui.screens.export import ExportScreen

            screen = ExportScreen(
                tuple(end.row if end.is_own else end.ref for end in answer.ends),
                self._comparer.exporter,
                self._palette,
                self._glyphs,
                is_masked=answer.question.mask,
            )
            self.app.push_screen(screen, lambda said: self.say(said or "nothing is written"))

    def action_quit(self) -> None:
        """Go back to the session."""
        self._leave(None)

    def _leave(self, arrival: Arrival | None) -> None:
        self.stop()
        self.dismiss(arrival)
