"""Tables whose texts are in the order of a language, which passes over signs: all is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pytest

from tt_debugger.core.model import SessionId
from tt_debugger.formats.shared.tables.index import index_of
from tt_debugger.formats.shared.tables.layouts import layouts_of
from tt_debugger.formats.shared.tables.naming import Names
from tt_debugger.storage.tables import Table, Value

COLUMNS = ("thread_id", "state_json", "schema_version")
THREADS = ("a-1", "a1", "A-1", "a-1:x")


def by_bytes(text: Any) -> Any:
    return text.encode()


def by_language(text: Any) -> Any:
    letters = "".join(filter(str.isalnum, text))
    return letters.casefold(), letters.swapcase(), text


class InOrder:
    """Rows of threads in memory, in an order of texts."""

    location = "memory"
    damage: tuple[str, ...] = ()
    bad_texts = 0

    def __init__(self, keys: Sequence[str], order: Callable[[Any], Any]) -> None:
        self.tables: Mapping[str, Table] = {
            "checkpoints": Table("checkpoints", COLUMNS, ("thread_id",))
        }
        self._order = order
        self._keys = sorted(keys, key=order)

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        order: Sequence[str] = (),
        where: Mapping[str, Value] | None = None,
        after: Sequence[Value] = (),
        most: int | None = None,
        descending: bool = False,
    ) -> Iterator[tuple[Value, ...]]:
        found = iter(self._keys)
        if where:
            found = (each for each in found if each == where["thread_id"])
        if after:
            found = (each for each in found if self._order(each) > self._order(after[0]))
        for each in islice(found, most):
            row = {"thread_id": each, "state_json": "{}", "schema_version": 1}
            yield tuple(row[name] for name in columns)

    def newest(self, table: str, columns: Sequence[str], most: int) -> Iterator[tuple[Value, ...]]:
        return self.rows(table, columns, most=most)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("order", [by_bytes, by_language])
def test_the_past_of_a_thread_is_whole_and_its_own_in_any_order_of_texts(
    order: Callable[[Any], Any],
):
    past = [f"{thread}:history:2026-01-{day:02}" for thread in THREADS for day in range(1, 29)]
    tables = InOrder([*past, "a-1", "a1-history-2026-01-02", "b"], order)
    (layout,) = layouts_of(tables.tables.values())
    names = Names()

    for thread in THREADS:
        index = index_of(tables, layout, thread)
        own = [each for each in past if each.rpartition(":history:")[0] == thread]
        assert list(index.ids) == [*own, *(["a-1"] if thread == "a-1" else [])]
        assert names.place(tables, [layout], SessionId(thread)) == (layout, thread)
    assert set(names.newest(tables, [layout])) == {*THREADS, "a1-history-2026-01-02", "b"}
    assert set(names.beginning(tables, [layout], "a-1")) >= {"a-1", "a-1:x"}
    assert names.beginning(tables, [layout], "b") == ["b"]
