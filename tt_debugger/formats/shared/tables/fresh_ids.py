"""Ids for rows that a fork adds: each a new one, of the kind that the old one is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tt_debugger.core.fork.minting import uuid4
from tt_debugger.core.fork.plan import Fresh
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.fork_states import is_uuid
from tt_debugger.formats.shared.tables.history import text_of
from tt_debugger.storage.tables import Tables, Value

_HEX = re.compile(r"[0-9a-f]{8,}")
_NUMBER = re.compile(r"-?\d{1,18}")
_SHORTEST_BYTES = 8


class FreshIds:
    """New ids by the old ones, for the columns of one table.

    Numbers go on behind the largest. Where a server counts for itself they go on below zero, so
    that none is taken that it will give; `are_below` tells that there are such.
    """

    def __init__(self, tables: Tables, table: str, names: tuple[str, str], fresh: Fresh) -> None:
        self._tables, self._table, self._fresh = tables, table, fresh
        self._before, self._after = names
        self._suffix = f"-fork-{fresh(4).hex()}"
        self.are_below = False

    def of(self, column: str, values: Sequence[Value], *, is_server: bool) -> dict[Value, Value]:
        """Give a new id for each of some values of a column."""
        different = list(dict.fromkeys(each for each in values if each is not None))
        if different and all(map(_is_number, different)):
            return self._numbers(column, different, is_server=is_server)
        return {each: self._new(column, each) for each in different}

    def _numbers(
        self, column: str, values: Sequence[Value], *, is_server: bool
    ) -> dict[Value, Value]:
        ends = self._tables.rows(
            self._table, (column,), order=[column], most=1, descending=not is_server
        )
        end = next((value for (value,) in ends if _is_number(value)), 0)
        first = min(int(end or 0), 0) - len(values) if is_server else int(end or 0) + 1
        self.are_below |= is_server
        return {
            each: number if isinstance(each, int) else str(number)
            for number, each in enumerate(values, first)
        }

    def _new(self, column: str, value: Value) -> Value:
        match value:
            case str() if is_uuid(value):
                return uuid4(self._fresh)
            case str() if self._before in value:
                return value.replace(self._before, self._after, 1)
            case str() if _HEX.fullmatch(value):
                return self._fresh(len(value) // 2 + 1).hex()[: len(value)]
            case str():
                return value + self._suffix
            case bytes() if len(value) >= _SHORTEST_BYTES:
                return self._fresh(len(value))
            case _:
                raise UnsupportedError(
                    f"no new id can be told for the column {column}: it has {text_of(value):.40}"
                )


def _is_number(value: Value) -> bool:
    return isinstance(value, int) or (
        isinstance(value, str) and _NUMBER.fullmatch(value) is not None
    )
