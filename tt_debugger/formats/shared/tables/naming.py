"""The names of sessions in tables: the newest ones, those that begin with a text, and which one.

No table is gone over for it as a whole: of many sessions those are named that were written last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from tt_debugger.core.model import SessionId
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.tables.history import (
    HISTORY,
    NO_NAME,
    is_near,
    past_of,
    split_history,
    text_of,
)
from tt_debugger.formats.shared.tables.layouts import Form, Layout
from tt_debugger.storage.tables import Tables, Value

NEWEST = 200
"""Sessions that are named."""
ROWS = 20_000
"""Rows that are looked at in each table to find them."""
A_FEW = 20
"""Sessions that are named of those which begin with a text."""
_AFTER_HISTORY = f"{HISTORY}zzzz"
"""What comes behind the past of a thread, whatever order texts have."""
_NEIGHBOURS = 16
"""Rows that may stand among those of a thread's past, where the order of texts knows no signs."""

Place = tuple[Layout, Value]
"""Where the rows of a session are: in which table, and by which name."""


class Names:
    """The places of the sessions that were met, by their ids.

    Where two tables have a session of one name, that of the second is called after its table too.
    """

    def __init__(self) -> None:
        self._places: dict[SessionId, Place] = {}

    def newest(self, tables: Tables, layouts: Sequence[Layout]) -> list[SessionId]:
        """Give the ids of the sessions that were written last, newest last."""
        self._places = {}
        found: list[tuple[float, int, SessionId]] = []
        for layout in layouts:
            for place, (name, time) in enumerate(_newest_in(tables, layout)):
                moment = float("-inf") if time is None else time
                found.append((moment, -place, self._met(layout, name)))
        found.sort(key=lambda each: each[:2])
        return [name for _, _, name in found[-NEWEST:]]

    def beginning(self, tables: Tables, layouts: Sequence[Layout], text: str) -> list[SessionId]:
        """Give the ids that are or begin with a text, the one that is it first."""
        exact = SessionId(text)
        is_known = self.known(layouts, exact) or self.place(tables, layouts, exact)
        found = [exact] if is_known else []
        # Where they are looked for without an index that may take too long: then there are none.
        for layout in layouts:
            with suppress(CannotReadError):
                found += (self._met(layout, name) for name in _beginning(tables, layout, text))
        return list(dict.fromkeys(found))[:A_FEW]

    def known(self, layouts: Sequence[Layout], session: SessionId) -> Place | None:
        """Give the place that a session had when it was met, None for one that was not."""
        place = self._places.get(session)
        return place if place is not None and place[0] in layouts else None

    def place(self, tables: Tables, layouts: Sequence[Layout], session: SessionId) -> Place | None:
        """Give the place of a session, None where there is no such session."""
        known = self.known(layouts, session)
        if known is not None and _is_there(tables, *known):
            return known
        for place in _candidates(layouts, session):
            if _is_there(tables, *place):
                self._places[session] = place
                return place
        return None

    def _met(self, layout: Layout, name: Value) -> SessionId:
        text = layout.table if layout.session is None else text_of(name)
        session = SessionId(text)
        known = self._places.get(session)
        if known is not None and known[0] != layout:
            session = SessionId(f"{layout.table}/{text}")
        self._places[session] = layout, name
        return session


def last_stored(
    tables: Tables, layout: Layout, columns: Sequence[str], most: int
) -> Iterator[tuple[Value, ...]]:
    """Give rows that were stored last; where these are damaged, those that can be read."""
    given = 0
    with suppress(CannotReadError):
        for row in tables.newest(layout.table, columns, most):
            given += 1
            yield row
        return
    if not given:
        with suppress(CannotReadError):
            yield from tables.rows(layout.table, columns, most=most)


def _newest_in(tables: Tables, layout: Layout) -> Iterator[tuple[Value, float | None]]:
    """Give the sessions of a table, the one written last first, with the time of that row."""
    if layout.session is None:
        if _is_there(tables, layout, None):
            yield None, None
        return
    met: set[Value] = set()
    for name, *times in last_stored(tables, layout, (layout.session, *layout.times), ROWS):
        thread: Value = name
        past = None
        if layout.form is Form.HISTORY:
            thread, past = split_history(name)
        if thread in met:
            continue
        met.add(thread)
        told = (past, *(time_in({"time": each}) for each in times if each is not None))
        yield thread, next((each for each in told if each is not None), None)
        if len(met) == NEWEST:
            return


def _beginning(tables: Tables, layout: Layout, text: str) -> Iterator[Value]:
    """Give a few sessions of a table whose names begin with a text, each found from the last."""
    if layout.session is None or not text:
        return
    after, met = text, set[Value]()
    # A thread may come again behind another that its history encloses.
    for _ in range(2 * A_FEW):
        rows = tables.rows(
            layout.table, (layout.session,), order=[layout.session], after=[after], most=1
        )
        row = next(rows, None)
        if row is None or not isinstance(row[0], str) or not is_near(row[0], text):
            return
        after = name = row[0]
        if layout.form is Form.HISTORY:
            name, past = split_history(name)
            after = after if past is None else f"{name}{_AFTER_HISTORY}"
        if name not in met and name.startswith(text):
            met.add(name)
            yield name


def _candidates(layouts: Sequence[Layout], session: str) -> Iterator[Place]:
    """Give where a session may be, by its own name, or with that of its table before it."""
    yield from ((layout, name) for layout in layouts for name in _values(layout, session))
    for layout in layouts:
        table, sign, inner = session.partition(f"{layout.table}/")
        if sign and not table:
            yield from ((layout, name) for name in _values(layout, inner))


def _values(layout: Layout, text: str) -> Iterator[Value]:
    """Give what the rows of a session may have in their column, by what it is called."""
    if layout.session is None:
        if text == layout.table:
            yield None
        return
    yield text
    if text.removeprefix("-").isdecimal():
        yield int(text)
    if text == NO_NAME:
        yield None
    try:
        yield bytes.fromhex(text)
    except ValueError:
        return


def _is_there(tables: Tables, layout: Layout, name: Value) -> bool:
    if layout.session is None:
        return (
            next(tables.rows(layout.table, layout.key[:1] or (layout.state,), most=1), None)
            is not None
        )
    column = (layout.session,)
    if next(tables.rows(layout.table, column, where={layout.session: name}, most=1), None):
        return True
    if layout.form is not Form.HISTORY:
        return False
    past = past_of(tables, layout.table, column, text_of(name), most=_NEIGHBOURS)
    keys = (split_history(key) for part in past for (key,) in part)
    return any(thread == text_of(name) and time is not None for thread, time in keys)
