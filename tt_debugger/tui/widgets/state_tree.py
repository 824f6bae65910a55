"""The state as a tree that fills as it is opened; what a checkpoint changed is marked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.paths import Path, value_at
from tt_debugger.core.text import safe_text
from tt_debugger.tui.widgets.lines import LinePane
from tt_debugger.views.gutter import Gutter
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.state import Marks, StateRow, StateRows, StateView, places_of
from tt_debugger.views.values import wrapped


class StateTree(LinePane, can_focus=True, inherit_bindings=False):
    """A state, folded to its top; what is open and where the cursor stands is kept by path.

    Whoever owns the tree sets `on_cursor`, which is called when another path is under the cursor.
    """

    class Viewed(Message):
        """Other lines are seen than before."""

        def __init__(self, tree: StateTree) -> None:
            super().__init__()
            self.tree = tree

        def can_replace(self, message: Message) -> bool:
            """Take the place of an older one."""
            return isinstance(message, StateTree.Viewed) and message.tree is self.tree

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._palette = palette
        self._glyphs = glyphs
        self._view = StateView(palette, glyphs)
        self.on_cursor: Callable[[], None] = _nobody
        self._state: Any = None
        self._marks = Marks()
        self._leaves: list[Path] | None = None
        self._open: set[Path] = set()
        self.rows = StateRows(None, self._open, self._marks)
        self._cursor = 0
        self._wanted: tuple[Path, int | None] = ((), None)
        """The path that a person put the cursor on, and which line of it where it is a text."""
        self._said: str | None = None
        self._gutter = Gutter(palette)
        self._drawn_at = 0
        """How far below the top the cursor was drawn when a state was last shown."""

    def update_from(self, state: Any, marks: Marks) -> None:
        """Show another state with what its checkpoint changed in it."""
        self._keep_height()
        self._said = None
        self._state, self._marks, self._leaves = state, marks, None
        self._gutter = self._gutter.cleared()
        self._list_rows()

    @property
    def unwritten(self) -> tuple[Path, ...]:
        """The paths that are seen and of which it is not known who wrote them."""
        if self._said is not None or not self.size.height:
            return ()
        top = self.scroll_offset.y
        places = range(top, min(top + self.size.height, len(self.rows)))
        paths = dict.fromkeys(self.rows[place].path for place in places)
        return tuple(path for path in paths if path not in self._gutter.writers)

    def tell_writers(self, writers: Mapping[Path, int], here: int, width: int) -> None:
        """Draw the numbers of the rows that wrote some paths; `here` is the row that is shown."""
        before = self._gutter.cells(self._whole_room)
        self._gutter = self._gutter.told(writers, here, width)
        if self._gutter.cells(self._whole_room) == before:
            self.refresh()
        else:
            self._keep_height()
            self._list_rows()

    def forget_writers(self) -> None:
        """Draw no numbers of rows any more."""
        self._gutter = Gutter(self._palette)
        self._keep_height()
        self._list_rows()

    @property
    def can_toggle(self) -> bool:
        """Whether there is something to open or close under the cursor."""
        row = self._row
        return row is not None and (row.is_container or row.line is not None)

    def say(self, text: str, name: str = "") -> None:
        """Show a sentence in the place of a state."""
        self._keep_height()
        self._said = text
        self._state, self._marks, self._leaves = {name: text} if text else None, Marks(), None
        self._list_rows()

    def _keep_height(self) -> None:
        if self._said is None and len(self.rows):
            self._drawn_at = self._cursor - self.scroll_offset.y

    def _list_rows(self) -> None:
        opened = self._open if self._said is None else set[Path]()
        self.rows = StateRows(self._state, opened, self._marks, max(self._room, 1))
        self._cursor = self._place_of_wanted() if self._said is None else 0
        self.virtual_size = Size(self.size.width, len(self.rows))
        top = max(self._cursor - min(max(self._drawn_at, 0), max(self.size.height - 1, 0)), 0)
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, immediate=True, force=True)
        self.refresh()
        self.on_cursor()
        self.post_message(self.Viewed(self))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that other lines are seen."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Viewed(self))

    @property
    def _whole_room(self) -> int:
        """The columns of a row, without the sign of the cursor."""
        return self.scrollable_content_region.width - 1

    @property
    def _room(self) -> int:
        """The columns of a row, without the sign of the cursor and the gutter."""
        return self._whole_room - self._gutter.cells(self._whole_room)

    def _place_of_wanted(self) -> int:
        """Give the line of the wanted path, or of the nearest one above it that is shown."""
        path, line = self._wanted
        for size in range(len(path), 0, -1):
            place = self.rows.place_of(path[:size])
            if place is None:
                continue
            if line is not None and size == len(path) and self.rows[place].is_open:
                row = self.rows[min(place + 1 + line, len(self.rows) - 1)]
                return place + 1 + line if row.path == path and row.line == line else place
            return place
        return 0

    @property
    def cursor_path(self) -> Path | None:
        """The path under the cursor, None where there is no state."""
        row = self._row
        return None if row is None or self._said is not None else row.path

    @property
    def cursor_value(self) -> Any:
        """The value under the cursor: of a line of a text the whole text."""
        path = self.cursor_path
        return None if path is None else value_at(self._state, path)

    @property
    def _row(self) -> StateRow | None:
        return self.rows[self._cursor] if len(self.rows) else None

    def toggle(self) -> None:
        """Open or close what is under the cursor; on a line of a text, the text."""
        row = self._row
        if row is None or self._said is not None:
            return
        if row.line is not None:
            self.fold()
            row = self._row
        if row is not None and row.is_container:
            self._keep_height()
            self._open.symmetric_difference_update((row.path,))
            self._list_rows()

    def unfold(self) -> None:
        """Open what is under the cursor, or go into it."""
        row = self._row
        if row is None or row.line is not None:
            return
        if row.is_open:
            self.move_by(1)
        else:
            self.toggle()

    def fold(self) -> None:
        """Close what is under the cursor, or go to what holds it."""
        row = self._row
        if row is None or self._said is not None:
            return
        if row.is_open:
            self.toggle()
            return
        holder = self.rows.place_of(row.path if row.line is not None else row.path[:-1])
        if holder is not None:
            self.move_by(holder - self._cursor)

    def to_next_change(self, step: int) -> bool:
        """Put the cursor on the next changed leaf, or the one before; False where there is none.

        What holds it is opened.
        """
        if self._said is not None:
            return False
        if self._leaves is None:
            self._leaves = self._marks.leaves(self._state)
        here, *places = places_of((self.cursor_path or (), *self._leaves), self._state)
        number = bisect_right(places, here) if step > 0 else bisect_left(places, here) - 1
        if not 0 <= number < len(places):
            return False
        self.reveal(self._leaves[number])
        return True

    def reveal(self, path: Path) -> None:
        """Put the cursor on a path, and open what holds it."""
        self._keep_height()
        self._open.update(path[:size] for size in range(1, len(path)))
        self._wanted = (path, None)
        self._list_rows()
        self._scroll_to_cursor()

    def to_start(self) -> None:
        """Move the cursor to the first line."""
        self.move_by(-self._cursor)

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        self.move_by(len(self.rows))

    def move_by(self, lines: int) -> None:
        """Move the cursor by some lines."""
        if not len(self.rows) or self._said is not None:
            return
        self.refresh_line(self._cursor)
        self._cursor = min(max(self._cursor + lines, 0), len(self.rows) - 1)
        self.refresh_line(self._cursor)
        row = self.rows[self._cursor]
        self._wanted = (row.path, row.line)
        self._scroll_to_cursor()
        self.on_cursor()

    def _scroll_to_cursor(self) -> None:
        self.scroll_to_region(
            Region(0, self._cursor, 1, 1), animate=False, force=True, immediate=True
        )

    def on_resize(self) -> None:
        """List anew: the width tells how texts are broken."""
        self._keep_height()
        self._list_rows()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on what was clicked; on its sign, or a second time, open or close it."""
        place = event.y + self.scroll_offset.y
        if place >= len(self.rows) or self._said is not None:
            return
        # The sign of the cursor takes the first column.
        gutter = self._gutter.cells(self._whole_room)
        on_sign = event.x - 1 - gutter in self._view.fold_columns(self.rows[place])
        if on_sign or place == self._cursor:
            self.move_by(place - self._cursor)
            self.toggle()
        else:
            self.move_by(place - self._cursor)

    def on_focus(self) -> None:
        """Show the cursor as the one that keys move."""
        self.refresh()

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one member of the state, or one line of what is said in its place."""
        place = y + self.first_line
        width = self.room
        if self._said is not None:
            lines = wrapped(safe_text(self._said), max(width - 1, 1))
            line = lines[y] if y < len(lines) else ""
            return self.strip(Text(line, self._palette.dim, end=""), width)
        if place >= len(self.rows):
            return self.blank(width)
        row = self.rows[place]
        gutter = self._gutter.text(row, width - 1)
        line = self._view.text(row, width - 1 - gutter.cell_len)
        line = Text.assemble(gutter, line, no_wrap=True, end="")
        if place != self._cursor:
            return self.strip(Text.assemble(" ", line), width)
        if self.has_focus:
            sign, style = self._glyphs.cursor, self._palette.cursor
        else:
            sign, style = self._glyphs.cursor_far, self._palette.cursor_far
        return self.strip(Text.assemble((sign, self._palette.accent), line), width, style)


def _nobody() -> None:
    """Stand in until somebody owns the tree."""


class PathLine(Widget):
    """The path under the cursor, with the type and size of its value."""

    DEFAULT_CSS = "PathLine { height: 1; }"

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._view = StateView(palette, glyphs)
        self._path: Path | None = None
        self._value: Any = None

    def update_from(self, path: Path | None, value: Any) -> None:
        """Show another path; without one the line is empty."""
        self._path, self._value = path, value
        self.refresh()

    def render(self) -> Text:
        """Draw the path."""
        if self._path is None:
            return Text()
        return self._view.path_line(self._path, self._value, self.size.width)


class StatePane(Vertical):
    """The tree of a state over the path under its cursor."""

    DEFAULT_CSS = "StatePane StateTree { height: 1fr; }"

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.state_tree = StateTree(palette, glyphs)
        self._line = PathLine(palette, glyphs)

    def compose(self) -> ComposeResult:
        """Lay out the tree over the path."""
        self.state_tree.on_cursor = self._tell_path
        yield self.state_tree
        yield self._line

    def _tell_path(self) -> None:
        self._line.update_from(self.state_tree.cursor_path, self.state_tree.cursor_value)
