"""Answers: by which model each was given, which tools it called, and what those gave back.

An index tells of a message's first call alone and of few models, so this is read from what each
checkpoint put into the state, in one walk over the session.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.arguments import arguments_summary
from tt_debugger.core.calls import COMMANDS, first_text
from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot
from tt_debugger.core.durations import is_answer
from tt_debugger.core.json import as_map, canonical, text_or_none
from tt_debugger.core.messages import Call, Result, messages_in, model_of, read_message
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW

NO_CALL = -1
MOST_UNANSWERED = 64
"""Calls that are looked through for the one that a result without an id answers."""
_MODEL = ("model",)


class ToolCall(msgspec.Struct, gc=False):
    """A call of a tool: in which row, and of which of the things that are called.

    `above` is the call before it on its path, NO_CALL for the first. Without a result yet there
    is no row of it; `result` is a digest of what it said.
    """

    row: int
    thing: int
    above: int
    result_row: int = NO_ROW
    result: bytes = b""
    failed: bool = False


class Thing(msgspec.Struct, frozen=True, gc=False):
    """What calls with the same arguments have in common: the tool, and what it is asked for."""

    tool: str
    arguments: str
    """The arguments in a line; not yet safe to be drawn."""


class Answers(msgspec.Struct, frozen=True):
    """The calls of a session, each behind those above it, and the model of each answer's row."""

    calls: list[ToolCall]
    things: list[Thing]
    models: Mapping[int, str]
    unread: int = 0
    """Checkpoints that cannot be read, of which only the index tells."""

    def tool(self, call: ToolCall) -> str:
        """Give the name of the tool that was called."""
        return self.things[call.thing].tool


def answers_of(
    session: Session, changes: Iterable[tuple[int, Sequence[Change] | None]]
) -> Answers:
    """Give the answers of a session, by the changes of each row, parents first.

    Of a row that cannot be read, those are None.
    """
    reading = _Reading(session)
    for row, done in changes:
        reading.take(row, done)
    return Answers(reading.calls, reading.things, reading.models, reading.unread)


class _Reading:
    """What is known of the rows that were read so far."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.calls: list[ToolCall] = []
        self.things: list[Thing] = []
        self.models: dict[int, str] = {}
        self.unread = 0
        self._numbers: dict[bytes, int] = {}
        self._by_id: dict[str, list[int]] = {}
        # NO_ROW finds the last item: what holds above a root.
        self._last_calls = array("q", (NO_CALL,)) * (len(session) + 1)
        self._models_set: list[str | None] = [None]
        self._model_at = array("q", (0,)) * (len(session) + 1)

    def take(self, row: int, changes: Sequence[Change] | None) -> None:
        """Take in what a row did to the state; its parent was taken before."""
        parent, heads = self._session.parents[row], self._session.heads
        self._last_calls[row] = self._last_calls[parent]
        self._model_at[row] = self._model_at[parent]
        if changes is None:
            self.unread += 1
            if heads.kind(row) is Kind.TOOL_CALL:
                # Its row stands for arguments that no other call has.
                self._add(row, Call(None, heads[row].name, row))
            return
        self._take_model(row, changes)
        again = [each for each in changes if not isinstance(each, Append)]
        if len(again) < len(changes):
            new = messages_in([each for each in changes if isinstance(each, Append)])
            for message in new:
                self._take_parts(row, message, is_new=True)
            if is_answer(heads.kind(row), heads.role(row)):
                self._take_answer(row, new)
        for message in messages_in(again):
            self._take_parts(row, message, is_new=False)

    def _take_parts(self, row: int, message: Mapping[str, Any], *, is_new: bool) -> None:
        """Take the calls and results of a message; of one written anew those not taken yet."""
        parts = read_message(message).parts
        for call in parts:
            if isinstance(call, Call) and (is_new or self._is_missing(row, call)):
                self._add(row, call)
        for result in parts:
            if isinstance(result, Result):
                self._answer(row, result)

    def _is_missing(self, row: int, call: Call) -> bool:
        """Tell whether a call of a message that was written anew is new itself.

        A compaction writes anew what it keeps, and some agents a message with each of its results.
        """
        if call.id is None:
            return self._session.heads.kind(row) is Kind.TOOL_CALL
        return call.id not in self._by_id

    def _take_answer(self, row: int, messages: Sequence[Mapping[str, Any]]) -> None:
        told = next(filter(None, map(model_of, messages)), None)
        model = told or self._models_set[self._model_at[row]]
        if model:
            self.models[row] = model

    def _take_model(self, row: int, changes: Sequence[Change]) -> None:
        """Take in which model the state names from here on."""
        for change in changes:
            match change:
                case Snapshot(value=value):
                    self._set_model(row, as_map(value).get("model"))
                case Put(path=path, value=value) if path == _MODEL:
                    self._set_model(row, value)
                case Drop(path=path) if path == _MODEL:
                    self._set_model(row, None)
                case _:
                    pass

    def _set_model(self, row: int, value: object) -> None:
        model = text_or_none(value)
        if model != self._models_set[self._model_at[row]]:
            self._model_at[row] = len(self._models_set)
            self._models_set.append(model)

    def _add(self, row: int, call: Call) -> None:
        place = len(self.calls)
        self.calls.append(ToolCall(row, self._number(call), self._last_calls[row]))
        self._last_calls[row] = place
        if call.id is not None:
            self._by_id.setdefault(call.id, []).append(place)

    def _number(self, call: Call) -> int:
        """Give the number of what is called: the same for the same arguments."""
        key = _digest((call.name, call.arguments))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self.things.append(Thing(call.name, arguments_line(call.arguments)))
        return number

    def _answer(self, row: int, result: Result) -> None:
        call = self._answered(row, result.call)
        if call is not None and call.result_row == NO_ROW:
            call.result_row, call.result = row, _digest(result.parts)
            call.failed = result.failed

    def _answered(self, row: int, name: str | None) -> ToolCall | None:
        """Give the call that a result answers: of several with its id the last one above it."""
        if name is not None:
            tree = self._session.tree
            places = self._by_id.get(name, ())
            above = (self.calls[each] for each in reversed(places))
            if len(places) == 1:
                return next(above)
            return next((each for each in above if tree.is_ancestor(each.row, row)), None)
        place = self._last_calls[row]
        found = None
        for _ in range(MOST_UNANSWERED):
            if place == NO_CALL or self.calls[place].result_row != NO_ROW:
                break
            # Results without ids come in the order of their calls.
            found = self.calls[place]
            place = found.above
        return found


def arguments_line(arguments: Any) -> str:
    """Give what a tool is asked for in a line; not yet safe to be drawn."""
    if isinstance(arguments, str):
        return summary_line(arguments)
    command = first_text(as_map(arguments), COMMANDS)
    return summary_line(command) if command else arguments_summary(arguments)


def _digest(value: Any) -> bytes:
    """Give what is the same for the same value, of few bytes, however large it is."""
    return hashlib.blake2b(canonical(value), digest_size=16).digest()
