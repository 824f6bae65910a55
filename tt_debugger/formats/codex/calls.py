"""Calls of tools: their outputs, whether they failed, and the threads that they started.

An output names its call. So do events, which may come before the output or after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Head, Heads
from tt_debugger.core.response_items import CALLS, OUTPUTS, outcome_of
from tt_debugger.formats.codex.records import thread_id_or_none, thread_ids_in


class Calls(msgspec.Struct):
    """The calls of a thread, as far as they were read."""

    rows: dict[str, int] = {}
    outputs: dict[str, int] = {}
    """The row of the last output of each call."""
    results: list[tuple[str, int]] = []
    """The call and the row of every output."""
    failed: set[str] = set()
    started: dict[int, tuple[str, ...]] = {}
    """The threads that the call of a row started."""

    def copied(self) -> Calls:
        """Give calls that can be read on apart from these."""
        return Calls(*(each.copy() for each in msgspec.structs.astuple(self)))

    def named(self, head: Head, call: str | None, heads: Heads) -> Head:
        """Give the head of an output with the name of what was called, failed if that is known."""
        row = self.rows.get(call or "")
        name = head.name if row is None else heads[row].name
        return msgspec.structs.replace(head, name=name, failed=head.failed or call in self.failed)

    def take(self, item: Mapping[str, Any], row: int, heads: Heads) -> None:
        """Take in what stands in a row, if it is a call or an output."""
        call = text_or_none(item.get("call_id"))
        if call is None:
            return
        if text_or_none(item.get("type")) in CALLS:
            self.rows[call] = row
        elif text_or_none(item.get("type")) in OUTPUTS:
            self.results.append((call, row))
            self.outputs[call] = row
            called = self.rows.get(call)
            if called is not None and heads[called].name == "spawn_agent":
                content, _ = outcome_of(item)
                text = content if isinstance(content, str) else ""
                self._start(called, thread_ids_in(text)[:1])

    def end(self, payload: Mapping[str, Any], heads: Heads) -> None:
        """Take from the end of a call that it failed; its output comes later, or was before."""
        call = text_or_none(payload.get("call_id"))
        if call is not None and _has_failed(payload):
            self.failed.add(call)
            if call in self.outputs:
                heads.amend(self.outputs[call], failed=True)

    def end_spawn(self, call: object, threads: Iterable[Any], heads: Heads) -> None:
        """Take from the end of a call which threads it started; without its call, the last row."""
        row = self.rows.get(call if isinstance(call, str) else "", len(heads) - 1)
        if row >= 0:
            self._start(row, [each for each in threads if thread_id_or_none(each)])

    def _start(self, row: int, threads: list[str]) -> None:
        known = self.started.get(row, ())
        new = [each for each in threads if each not in known]
        if new:
            self.started[row] = (*known, *new)


def _has_failed(payload: Mapping[str, Any]) -> bool:
    code = payload.get("exit_code")
    failed = isinstance(code, int) and code != 0
    return failed or payload.get("success") is False or "Err" in as_map(payload.get("result"))
