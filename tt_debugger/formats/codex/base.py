"""The history before a rollout that goes on from another one: replayed from the files of those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tt_debugger.core.changes import State
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body, Replay
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.codex.origins import Link, Origin, chain_of
from tt_debugger.formats.codex.reading import CodexReading, CodexSession
from tt_debugger.formats.codex.replay import CodexRules, Memo
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.storage.compressed import opened
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import lines


class _PartReading(CodexReading):
    """A rollout read up to where its history counts for another one."""

    def __init__(self, location: str, origin: Origin) -> None:
        super().__init__(location)
        self._origin = origin
        self.is_over = False

    def take(self, record: dict[str, Any], place: Place) -> None:
        end, ordinal = self._origin.ordinal, record.get("ordinal")
        if self.is_over or (end is not None and isinstance(ordinal, int) and ordinal >= end):
            self.is_over = True
            return
        super().take(record, place)


class _Part:
    """The part of a file that is the history of another one."""

    def __init__(self, link: Link) -> None:
        self._file: RegularFile = opened(link.path)
        self.session = self._read(link)
        self.facts: CodexSession = self.session.own

    def _read(self, link: Link) -> Session:
        reading, size, end = _PartReading(link.path, link.origin), 0, link.origin.offset
        for line in lines(self._file):
            if end is not None and line.offset + line.length > end:
                break
            if not line.is_whole:
                reading.read_tail(line)
            else:
                reading.read(line)
            if reading.is_over:
                break
            size += line.length
        return reading.finished(size)

    def bodies(self, rows: Sequence[int]) -> list[Body]:
        heads = self.session.heads
        return [
            None if heads.is_gap(row) else self._body(heads.offset(row), heads.length(row))
            for row in rows
        ]

    def _body(self, offset: int | None, length: int | None) -> Body:
        data = self._file.read(offset or 0, length or 0).removeprefix(BYTE_ORDER_MARK)
        found = (as_map(each.value) for each in records(data) if isinstance(each, Record))
        body = next(found, None)
        if body is None:
            raise CannotReadError(f"{self._file.path} changed since it was read", "open it again")
        return body

    def close(self) -> None:
        self._file.close()


class BaseHistory:
    """The history that a rollout goes on from, as far as its files are there."""

    def __init__(self, links: Sequence[Link], *, uncompacted: bool) -> None:
        self._links = links
        self._uncompacted = uncompacted
        # A rollout that is followed asks again with every record.
        self._known: dict[int, tuple[State, Memo]] = {}

    def before(self, turns: int) -> tuple[State, Memo]:
        """Give the state and memo at the end of the history, or so many turns before.

        Of a history with fewer turns, what stood before the first. Raises CannotReadError.
        """
        if turns not in self._known:
            parts: list[_Part] = []
            try:
                parts += (_Part(link) for link in self._links)
                self._known[turns] = self._replayed(parts, turns)
            finally:
                for part in parts:
                    part.close()
        return self._known[turns]

    def _replayed(self, parts: Sequence[_Part], turns: int) -> tuple[State, Memo]:
        nearest = 0
        while turns > len(parts[nearest].facts.turns) and nearest + 1 < len(parts):
            turns -= len(parts[nearest].facts.turns)
            nearest += 1
        state: State = {}
        memo = Memo()
        for place in range(len(parts) - 1, nearest - 1, -1):
            part = parts[place]
            history = _Replayed(state, memo) if place + 1 < len(parts) else None
            rules = CodexRules(history, uncompacted=self._uncompacted)
            row = part.session.active
            begun = part.facts.turns
            if place == nearest and turns and begun:
                row = part.session.parents[begun[-min(turns, len(begun))]]
            if row is None or row == NO_ROW:
                state, memo = rules.start(part.session)
                continue
            replay = Replay(part.session, rules, part.bodies)
            state, memo = replay.state(row), replay.memo(row)
        return state, memo


class _Replayed:
    """A history that was replayed before."""

    def __init__(self, state: State, memo: Memo) -> None:
        self._state = state
        self._memo = memo

    def before(self, turns: int) -> tuple[State, Memo]:
        """Give its end; what a part takes back of it was looked for where it is."""
        return self._state, self._memo


def history_of(location: str, session: Session, *, uncompacted: bool) -> BaseHistory | None:
    """Give the history that a rollout goes on from, None where it has all of it or none is there.

    What is missing is told by a finding of the session.
    """
    facts: CodexSession = session.own
    if facts.origin is None:
        return None
    chain = chain_of(location, session.id, facts.origin)
    return BaseHistory(chain.links, uncompacted=uncompacted) if chain.links else None
