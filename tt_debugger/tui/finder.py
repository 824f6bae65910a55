"""The finder: what is searched for, how far the search is, and whether somebody waits for it."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from tt_debugger.core.outline import Outline
from tt_debugger.core.search import Found, Jump, NoJump, Query, Search
from tt_debugger.tui.loader import Loader, Searched, Sought

WHEN = "when "
"""What a condition begins with where a text may stand too."""


def sought_in(typed: str) -> Sought | None:
    """Read what was typed: a text, or a condition behind `when`; None for nothing.

    Raises ValueError that says what is wrong with a condition.
    """
    if not typed.lstrip().startswith(WHEN):
        return Query.parse(typed)
    # Only who asks for a condition pays for the import.
    from tt_debugger.core.conditions import parse_condition
    from tt_debugger.core.holding import Occasions

    return Occasions(parse_condition(typed.lstrip().removeprefix(WHEN).strip()))


def wrong_in(typed: str) -> str:
    """Tell what is wrong with what was typed, as long as anything is."""
    try:
        sought_in(typed)
    except ValueError as error:
        return str(error)
    return ""


def wrong_in_condition(typed: str) -> str:
    """Tell what is wrong with a condition, where anything is typed at all."""
    return wrong_in(f"{WHEN}{typed}") if typed.strip() else ""


def typed_for(sought: Sought | None) -> str:
    """Give what is typed to look for something."""
    if sought is None:
        return ""
    return sought.text if isinstance(sought, Query) else f"{WHEN}{sought.text}"


class Finder:
    """One search of a session; the loader looks, and tells here what it found."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._sought: Sought | None = None
        self._search: Search | None = None
        self._outline: Outline | None = None
        self._awaited: tuple[int, int] | None = None
        """The row from which somebody wants to go on, and in which direction."""

    @property
    def sought(self) -> Sought | None:
        """What is searched for."""
        return self._sought

    @property
    def query(self) -> Query | None:
        """The text that is searched for, if it is one."""
        return self._sought if isinstance(self._sought, Query) else None

    @property
    def held(self) -> Collection[int]:
        """The rows, so far, at which the condition holds that is searched for."""
        search = self._search
        return () if search is None or self.query is not None else frozenset(search.hits)

    @property
    def is_waiting(self) -> bool:
        """Whether somebody waits for a match."""
        return self._awaited is not None

    @property
    def is_done(self) -> bool:
        """Whether all rows are looked through."""
        return self._search is None or self._search.is_done

    def show_only(self, outline: Outline) -> None:
        """Let only rows count that a filter shows, folded ones too; without any all others do."""
        self._outline = outline
        if self._search is not None:
            self._search.show_only(outline.mask[: self._search.size])
            if self._search.is_done and not self._search.count:
                self._search.show_only(None)

    def grow(self, outline: Outline, kept: int) -> None:
        """Search what is new in a session; all, where some of the rows that were are others."""
        search, before, self._outline = self._search, self._outline, outline
        if search is None or before is None:
            return
        if kept < len(before.mask):
            self._awaited = None
            self._begin(outline, 0)
        elif search.is_done:
            self._go_on(search)

    def _begin(self, outline: Outline, row: int) -> None:
        """Search anew from a row on; what is still told of the search before is not of it."""
        if self._sought is None:
            return
        self._sought = sought = msgspec.structs.replace(self._sought)
        start = row if _begins_anywhere(sought) else 0
        self._search = Search(sought, len(outline.mask), start, outline.mask)
        self._loader.search(sought, start, outline.tree.session)

    def _go_on(self, done: Search) -> None:
        """Search the rows behind those that are searched."""
        outline, begin = self._outline, done.size
        if outline is None or self._sought is None or begin >= len(outline.mask):
            return
        size = len(outline.mask)
        self._sought = sought = msgspec.structs.replace(self._sought)
        begin = begin if _begins_anywhere(sought) else 0
        self._search = Search(sought, size, begin, outline.mask)
        self._search.tell(Found(tuple(done.hits.values()), 0, size))
        self._loader.search(sought, begin, outline.tree.session, size - begin)

    def look_for(self, text: str, row: int) -> None:
        """Begin to search from a row on; the first match is waited for. Nothing forgets.

        Raises ValueError where it is a condition that cannot be read.
        """
        sought, outline = sought_in(text), self._outline
        if sought is None or outline is None:
            self.forget()
            return
        self._sought = sought
        self._awaited = (row, 1)
        self._begin(outline, row)

    def forget(self) -> None:
        """Search for nothing any more."""
        self._sought = self._search = self._awaited = None
        self._loader.stop_search()

    def tell(self, message: Searched) -> Jump | None:
        """Hear what was found; give where to go if somebody waited for that."""
        search = self._search
        if search is None or message.sought is not search.query:
            return None
        search.tell(message.found)
        if search.is_done and not search.count:
            # Better rows that the filter hides than none.
            search.show_only(None)
        jump = None if self._awaited is None else self.beside(*self._awaited)
        if search.is_done:
            self._go_on(search)
        return jump

    def beside(self, row: int, step: int) -> Jump | None:
        """Give the next or previous match; None if there is none yet, which is then waited for."""
        search = self._search
        if search is None:
            return None
        jump = search.next(row) if step > 0 else search.previous(row)
        if jump is NoJump.NOWHERE and not search.count:
            # Better a row that the filter hides than none.
            search.show_only(None)
            jump = search.next(row) if step > 0 else search.previous(row)
        self._awaited = (row, step) if jump is NoJump.NOT_YET else None
        return jump if isinstance(jump, Jump) else None

    def said(self, row: int) -> str:
        """Tell in a line what is found, and how far the search is."""
        search = self._search
        if search is None:
            return ""
        text = typed_for(self._sought)
        if not search.count and search.is_done:
            return f"{text}: not found"
        place = search.place(row)
        count = f"{search.count:,}" if place is None else f"{place:,}/{search.count:,}"
        hit = search.hits.get(row)
        excerpt = f"   {hit.excerpt}" if hit is not None and place is not None else ""
        far = "" if search.is_done else f", {search.percent}% searched"
        return f"{text}: {count} found{far} (n N next, Esc ends){excerpt}"


def _begins_anywhere(sought: Sought) -> bool:
    """Tell whether a search can begin at any row, without those above it."""
    return isinstance(sought, Query) or sought.begins_anywhere
