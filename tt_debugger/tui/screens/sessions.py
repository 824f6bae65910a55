"""The Sessions: what lies at a location, found again by a few letters, with a preview."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Input, Static

from tt_debugger.core.families import Relative, alone, families
from tt_debugger.core.listed import Listed, Spot, by_project
from tt_debugger.core.listing import Entry, Key, Sort, filtered, ordered
from tt_debugger.core.refs import Fragment, Point, quoted
from tt_debugger.core.search import Query
from tt_debugger.core.text import counted, safe_line
from tt_debugger.discovery import EVERYWHERE, Left, Read
from tt_debugger.errors import TtdbgError
from tt_debugger.storage.folders import SUFFIXES
from tt_debugger.tui.keys import SESSIONS, bindings
from tt_debugger.tui.scout import (
    FactsRead,
    FileRead,
    Found,
    Previewed,
    Previewing,
    Scout,
    SearchFailed,
    TextFound,
)
from tt_debugger.tui.screens.keyed import KeyedScreen
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.session_list import ListHeader, SessionList
from tt_debugger.views.listing import ListingView, PreviewView, Tail
from tt_debugger.views.palette import Glyphs, Palette

WIDE = 100
"""Columns from which the preview stands beside the list."""
AGES_EVERY = 60
"""Seconds after which the ages are told anew."""


class SessionsScreen(KeyedScreen[None]):
    """The sessions at a location. It stays as it is while one of them is open."""

    CSS_PATH = "sessions.tcss"
    KEYS = SESSIONS
    BINDINGS = bindings(SESSIONS)
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (WIDE, "wide")]  # noqa: RUF012 - typed above
    AUTO_FOCUS = "#sessions"

    def __init__(
        self,
        location: str,
        palette: Palette,
        glyphs: Glyphs,
        on_open: Callable[[str, Fragment], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(palette, glyphs)
        self._location = location
        self._on_open = on_open
        self._clock = clock
        self._sort = Sort.NEWEST
        self._is_reversed = False
        self._query = ""
        self._sought: Query | None = None
        """The text that is looked for, or was, in all that was said."""
        self._spots: dict[Key, tuple[Spot, ...]] = {}
        self._searched = ""
        self._is_searched = True
        self._is_asked = False
        """Whether what is typed is a text to look for; else it is a filter."""
        self._is_by_project = location == EVERYWHERE
        self._entries: dict[Key, Entry] = {}
        self._gathered: list[Entry] = []
        """What a search found that is to replace what an earlier one has found."""
        self._ordered: list[Entry] = []
        self._shown: list[Entry] = []
        self._left = Left()
        self._search = 0
        self._is_found = False
        self._is_read = False
        self._done = ""
        self._previewed: Entry | None = None
        self._end: Tail | str = ""
        self._is_ended = False
        """Whether the end of the previewed session was read, or cannot be."""
        self.scout = Scout(self, location)

    def compose(self) -> ComposeResult:
        """Lay out bars, list, filter and preview."""
        yield TopBar(self._palette)
        with Container(id="found"):
            with Vertical(id="listing"):
                yield ListHeader()
                yield SessionList(id="sessions")
                yield Static(id="notes")
                with Horizontal(id="filter"):
                    yield Static(id="filter-sign")
                    yield Input(compact=True, select_on_focus=False)
                    yield Static(id="filter-count")
            yield Lines(id="preview")
        yield Lines(id="said")
        yield BottomBar(SESSIONS, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Begin to look."""
        self.session_list.on_cursor = self._show
        self.query_one(Input).cursor_blink = False
        self.set_interval(AGES_EVERY, self._refresh)
        self._order()
        self._find()

    def on_unmount(self) -> None:
        """End what is still being read."""
        self.scout.stop()

    def on_screen_resume(self) -> None:
        """Tell the ages anew: another session may have been open for hours."""
        if self.is_mounted:
            self._refresh()

    def on_resize(self) -> None:
        """Draw the preview for its new size, once it has it."""
        self.call_after_refresh(self._draw_preview)

    @property
    def is_settled(self) -> bool:
        """Whether all was found, read and previewed that was asked for."""
        is_done = self._is_read and self._is_searched
        return is_done and (self._previewed is None or self._is_ended)

    @property
    def session_list(self) -> SessionList:
        """The list."""
        return self.query_one(SessionList)

    @property
    def preview(self) -> Lines:
        """The preview."""
        return self.query_one("#preview", Lines)

    def _find(self) -> None:
        self._is_found = self._is_read = False
        self._gathered = []
        self._done = "looking"
        self._search = self.scout.find()
        self._tell()

    def on_found(self, message: Found) -> None:
        """List what was found; what replaces older findings only once it is complete."""
        if message.search != self._search:
            return
        self._left = message.left
        self._gathered += message.entries
        is_first = self._search == 1
        if message.is_all or is_first:
            self._adopt(keep=is_first)
        self._is_found = message.is_all
        self._order()
        self.call_after_refresh(self.scout.be_seen)

    def _adopt(self, *, keep: bool) -> None:
        """Take what was gathered; what is already read of a file that stayed the same stays."""
        before: dict[str, list[Entry]] = {}
        for each in self._entries.values():
            before.setdefault(each.location, []).append(each)
        entries = dict(self._entries) if keep else {}
        for each in self._gathered:
            known = before.get(each.location, [])
            is_same = known and (known[0].size, known[0].modified) == (each.size, each.modified)
            entries.update({one.key: one for one in (known if is_same else [each])})
        self._entries, self._gathered = entries, []

    def on_facts_read(self, message: FactsRead) -> None:
        """Fill in what was read."""
        if message.search != self._search:
            return
        self._take(message.read)
        self._left = message.left
        self._is_read = message.done == message.of
        self._done = "" if self._is_read else f"reading {message.done:,}/{message.of:,}"
        self._order()

    def on_file_read(self, message: FileRead) -> None:
        """Fill in what was read of a big file."""
        if message.search == self._search:
            self._take((message.read,))
            self._order()

    def _take(self, answers: Iterable[Read]) -> None:
        for answer in answers:
            self._entries.pop(answer.of.key, None)
            self._entries.update({each.key: each for each in answer.entries})

    def on_search_failed(self, message: SearchFailed) -> None:
        """Say why there is nothing to list."""
        if message.search != self._search:
            return
        self._is_found = self._is_read = True
        self._entries, self._left, self._done = {}, Left(), ""
        self._order(message.error)

    def _order(self, error: TtdbgError | None = None) -> None:
        """Put all in order anew, then show what the filter lets through."""
        self._ordered = ordered(self._entries.values(), self._sort, reverse=self._is_reversed)
        is_empty = self._is_found and not self._entries
        self.set_class(is_empty, "said")
        if is_empty:
            lines = self._error_lines(error) if error else self._empty_lines()
            self.query_one("#said", Lines).update_from(lines)
        self._filter()

    def _filter(self, *, to_start: bool = False) -> None:
        self._shown = filtered(self._ordered, self._query)
        if self._sought is not None:
            self._shown = [each for each in self._shown if each.key in self._spots]
        self.session_list.update_from(self._lines(), self._view, to_start=to_start)
        if not self._shown:
            self._show(None)
        self._tell()

    def _lines(self) -> list[Listed]:
        """Give what is shown: by project, in families where time is what counts, or as it is."""
        if self._sought is not None:
            return [
                line for each in self._shown for line in (Relative(each), *self._spots[each.key])
            ]
        if self._is_grouped:
            return by_project(self._shown)
        if self._query or self._sort is not Sort.NEWEST:
            return [*alone(self._shown)]
        return [each for family in families(self._shown) for each in family]

    @property
    def _is_grouped(self) -> bool:
        """Whether there are headings: not where a search or another order says what is first."""
        is_found = bool(self._query) or self._sought is not None
        return self._is_by_project and self._sort is Sort.NEWEST and not is_found

    def _refresh(self) -> None:
        """Draw the same sessions at another time or in another order."""
        self.session_list.update_from(self._lines(), self._view)
        self._draw_preview()
        self._tell()

    @property
    def _view(self) -> ListingView:
        return ListingView(
            self._palette,
            self._glyphs,
            self._clock(),
            self._sort,
            self._is_reversed,
            tuple(self._query.split()),
            self._is_grouped,
        )

    def _tell(self) -> None:
        """Tell the count, the order, what is not listed, and where one is."""
        count = counted(len(self._entries), "session")
        if not self._is_found:
            count += " so far"
        place = self.session_list.entry_rank + 1 if self._shown else 0
        right = self._done or f"{place:,}/{len(self._shown):,}"
        where = self._location or "all places"
        self.query_one(TopBar).update_from(("sessions", where, count), f"{right} ")
        self.query_one(ListHeader).update_from(self._view)
        matched = self._searched or f"{len(self._shown):,}/{len(self._entries):,}"
        self.query_one("#filter-count", Static).update(
            Text.assemble((matched, self._palette.label))
        )
        sign = "search" if self._is_asked else "filter"
        self.query_one("#filter-sign", Static).update(
            Text.assemble((f"   {sign} / ", self._palette.accent))
        )
        is_asked = bool(self._query) or self._sought is not None or self._is_typing
        self.query_one("#filter").set_class(is_asked, "shown")
        notes = " · ".join(self._left.texts())
        self.query_one("#notes", Static).update(Text.assemble((f"   {notes}", self._palette.dim)))
        self.query_one("#notes").set_class(bool(notes), "shown")

    def _empty_lines(self) -> Iterator[Text]:
        where = safe_line(self._location) or "the places of agents, nor in this folder"
        yield Text(f"There are no sessions in {where}.", self._palette.strong)
        yield Text()
        *others, last = sorted(SUFFIXES)
        yield Text(f"Looked for files that end in {', '.join(others)} or {last},")
        yield Text("in this folder and in those below it, and found none that an agent known to")
        yield Text("ttdbg has written.")
        for each in self._left.texts():
            yield Text(f"  {self._glyphs.bullet} {each}", self._palette.dim)
        yield Text()
        yield Text("Give the folder in which your agent keeps its sessions, for example")
        yield Text("  ttdbg open ~/.pi/agent/sessions", self._palette.code)
        yield Text("`ttdbg formats` tells which agents are known; r looks again.")

    def _error_lines(self, error: TtdbgError) -> Iterator[Text]:
        yield Text(f"{self._glyphs.bad} {safe_line(error.message)}", self._palette.bad)
        if error.hint:
            yield Text(safe_line(error.hint), self._palette.dim)
        yield Text()
        yield Text("r looks again, q quits.")

    def _show(self, entry: Entry | None) -> None:
        """Preview a session: at once if it is kept, else when it is read."""
        before, self._previewed = self._previewed, entry
        if entry is None:
            self.preview.update_from(self._nothing_lines())
            return
        known = self.scout.known_end(entry)
        is_same = before is not None and before.version == entry.version
        if known is not None:
            self._end, self._is_ended = known, True
        elif not is_same:
            self._end, self._is_ended = f"reading {self._glyphs.ellipsis}", False
            self.scout.preview(entry)
        self._draw_preview()
        self._tell()

    def _nothing_lines(self) -> Iterator[Text]:
        if self._sought is not None:
            state = "" if self._is_searched else " so far"
            said = f"Nobody said {safe_line(self._sought.text)!r}{state}. Esc ends the search."
            yield Text(said, self._palette.dim)
        elif self._query:
            said = f"No session here has {safe_line(self._query)!r}. Esc takes the filter away."
            yield Text(said, self._palette.dim)

    def on_previewing(self, message: Previewing) -> None:
        """Tell how much is read of the session under the cursor."""
        if self._is_previewed(message.key) and not self._is_ended:
            self._end = f"reading {message.percent}%"
            self._draw_preview()

    def on_previewed(self, message: Previewed) -> None:
        """Show the end of a session, if it is still the one under the cursor."""
        if self._is_previewed(message.key):
            self._end, self._is_ended = message.end, True
            self._draw_preview()

    def _is_previewed(self, key: Key) -> bool:
        return self._previewed is not None and self._previewed.key == key

    def _draw_preview(self) -> None:
        entry, pane = self._previewed, self.preview
        if entry is None:
            return
        view = PreviewView(
            self._palette,
            self._glyphs,
            pane.text_width,
            pane.scrollable_content_region.height,
            is_beside=self.has_class("wide"),
            home=str(Path.home()),
        )
        is_marked = self.session_list.is_marked(entry)
        pane.update_from(view.lines(entry, self._end, is_marked=is_marked))

    @property
    def _is_typing(self) -> bool:
        return self.query_one(Input).has_focus

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter as one types; a text to look for is typed to its end first."""
        if not self._is_asked:
            self._query = message.value
            self._filter(to_start=True)

    def on_input_submitted(self) -> None:
        """Keep the filter or begin the search, and go back to the list."""
        self._submit()

    def _submit(self) -> None:
        self.set_focus(self.session_list)
        if self._is_asked:
            self._look_for(Query.parse(self.query_one(Input).value))

    def _look_for(self, query: Query | None) -> None:
        """Begin to look for a text in all sessions, or forget about it."""
        self.scout.forget()
        self._sought, self._spots, self._searched = query, {}, ""
        self._is_searched = query is None or not self._ordered
        if query is not None:
            self._searched = "searching"
            self.scout.look_for(query, self._ordered)
        self._filter(to_start=True)

    def on_text_found(self, message: TextFound) -> None:
        """List the sessions in which a text was found."""
        if message.query is not self._sought:
            return
        self._spots |= {spots[0].entry.key: spots for spots in message.found}
        self._is_searched = message.done == message.of
        found = f"in {len(self._spots):,}"
        if not self._is_searched:
            found += f", {message.done:,}/{message.of:,} searched"
        self._searched = f"{found}, {message.unread:,} unread" if message.unread else found
        if message.found or self._is_searched:
            self._filter()
        else:
            self._tell()

    def on_descendant_focus(self) -> None:
        """Show the filter while one types."""
        self._tell()

    def on_descendant_blur(self) -> None:
        """Hide the filter where there is none."""
        self._tell()

    def on_list_header_sort_chosen(self, message: ListHeader.SortChosen) -> None:
        """Sort by the column, or the other way round where that is so already."""
        if message.sort is self._sort:
            self.action_reverse()
        else:
            self._sort_by(message.sort)

    def on_session_list_chosen(self, message: SessionList.Chosen) -> None:
        """Open what was clicked twice."""
        self._open(message.line)

    @property
    def _pane(self) -> SessionList | Lines:
        """The pane that the keys go to."""
        if self.has_class("said"):
            return self.query_one("#said", Lines)
        return self.preview if self.preview.has_focus else self.session_list

    def action_move(self, lines: int) -> None:
        """Move the cursor, or scroll the preview where it has the focus."""
        self._pane.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Move by the height of the pane."""
        self._pane.move_by(pages * max(self._pane.size.height - 1, 1))

    def action_first(self) -> None:
        """Go to the first session."""
        self._pane.to_start()

    def action_last(self) -> None:
        """Go to the last session."""
        self._pane.to_end()

    def action_switch(self) -> None:
        """Go between list and preview."""
        to_preview = self.session_list.has_focus
        self.set_focus(self.preview if to_preview else self.session_list)

    def action_open(self) -> None:
        """Open the session under the cursor; from the filter go back to the list."""
        if self._is_typing:
            self._submit()
            return
        line = self.session_list.cursor_line
        if line is not None:
            self._open(line)

    def _open(self, line: Relative | Spot) -> None:
        """Open a session: where what is looked for was said first, or where it is looked at."""
        entry = line.entry
        first = self._spots.get(entry.key, ())[:1] if self._sought is not None else ()
        spot = line if isinstance(line, Spot) else next(iter(first), None)
        if entry.failed is not None:
            self.query_one(BottomBar).say(entry.failed, is_error=True)
            return
        self.session_list.mark(entry)
        points = () if spot is None else (Point(None, quoted(spot.point)),)
        self._on_open(entry.location, Fragment(entry.session, points))

    def action_filter(self) -> None:
        """Go to the filter."""
        self._ask(self._query, is_asked=False)

    def action_search(self) -> None:
        """Go to where a text to look for is typed."""
        self._ask("" if self._sought is None else self._sought.text, is_asked=True)

    def _ask(self, text: str, *, is_asked: bool) -> None:
        if is_asked is not self._is_asked:
            # Only one of both is asked for at a time.
            self.action_clear()
            self._is_asked = is_asked
        self.query_one("#filter").add_class("shown")
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)
        # At once, or what is typed next would be keys of the list.
        self.set_focus(line)

    def action_clear(self) -> None:
        """Take filter and search away, and go back to the list."""
        self.query_one(Input).value = ""
        if self._sought is not None:
            self._look_for(None)
        self._is_asked = False
        if self._query:
            self._query = ""
            self._filter(to_start=True)
        self.set_focus(self.session_list)

    def action_group(self) -> None:
        """Show by project and agent, or all in one list."""
        self._is_by_project = not self._is_by_project
        if self._is_by_project:
            self._sort, self._is_reversed = Sort.NEWEST, False
        self._order()

    def action_sort(self) -> None:
        """Sort by the next column."""
        every = list(Sort)
        self._sort_by(every[(every.index(self._sort) + 1) % len(every)])

    def _sort_by(self, sort: Sort) -> None:
        self._sort, self._is_reversed = sort, False
        self._order()

    def action_reverse(self) -> None:
        """Sort the other way round."""
        self._is_reversed = not self._is_reversed
        self._order()

    def action_rescan(self) -> None:
        """Look again."""
        self._find()

    def stop(self) -> None:
        """Begin to look no further."""
        self.scout.stop()

    def action_quit(self) -> None:
        """Go back to the session below; leave where there is none."""
        self.stop()
        if self.is_first:
            self.app.exit()
        else:
            self.dismiss()
