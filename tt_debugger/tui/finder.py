"""The finder: what is searched for, how far the search is, and whether somebody waits for it."""

from __future__ import annotations

import msgspec

from tt_debugger.core.outline import Outline
from tt_debugger.core.search import Found, Jump, NoJump, Query, Search
from tt_debugger.tui.loader import Loader, Searched


class Finder:
    """One search of a session; the loader looks, and tells here what it found."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._search: Search | None = None
        self._outline: Outline | None = None
        self._awaited: tuple[int, int] | None = None
        """The row from which somebody wants to go on, and in which direction."""

    @property
    def query(self) -> Query | None:
        """What is searched for."""
        return None if self._search is None else self._search.query

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
            query = _again(search.query)
            self._search = Search(query, len(outline.mask), 0, outline.mask)
            self._awaited = None
            self._loader.search(query, 0, outline.tree.session)
        elif search.is_done:
            self._go_on(search)

    def _go_on(self, done: Search) -> None:
        """Search the rows behind those that are searched."""
        outline, begin = self._outline, done.size
        if outline is None or begin >= len(outline.mask):
            return
        query, size = _again(done.query), len(outline.mask)
        self._search = Search(query, size, begin, outline.mask)
        self._search.tell(Found(tuple(done.hits.values()), 0, size))
        self._loader.search(query, begin, outline.tree.session, size - begin)

    def look_for(self, text: str, row: int) -> None:
        """Begin to search from a row on; the first match is waited for. Nothing forgets."""
        query = Query.parse(text)
        outline = self._outline
        if query is None or outline is None:
            self.forget()
            return
        mask = outline.mask
        self._search = Search(query, len(mask), row, mask)
        self._awaited = (row, 1)
        self._loader.search(query, row, outline.tree.session)

    def forget(self) -> None:
        """Search for nothing any more."""
        self._search = self._awaited = None
        self._loader.stop_search()

    def tell(self, message: Searched) -> Jump | None:
        """Hear what was found; give where to go if somebody waited for that."""
        search = self._search
        if search is None or message.query is not search.query:
            return None
        search.tell(message.found)
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
        text = search.query.text
        if not search.count and search.is_done:
            return f"{text}: not found"
        place = search.place(row)
        count = f"{search.count:,}" if place is None else f"{place:,}/{search.count:,}"
        hit = search.hits.get(row)
        excerpt = f"   {hit.excerpt}" if hit is not None and place is not None else ""
        far = "" if search.is_done else f", {search.percent}% searched"
        return f"{text}: {count} found{far} (n N next, Esc ends){excerpt}"


def _again(query: Query) -> Query:
    """Give an equal query that is another one: what is still told of the first is not of it."""
    return msgspec.structs.replace(query)
