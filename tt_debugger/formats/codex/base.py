"""The history before a rollout that goes on from another one: replayed from the files of those."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from tt_debugger.core.changes import State
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.codex import Codex
from tt_debugger.formats.codex.origins import Link, Origin, chain_of
from tt_debugger.formats.codex.reading import CodexReading, CodexSession
from tt_debugger.formats.codex.replay import Before, CodexRules, Memo
from tt_debugger.formats.shared.reading import Place
from tt_debugger.storage.lines import lines


class _BaseReading(CodexReading):
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

    def _told_elsewhere(self) -> tuple[str | None, str | None]:
        # The chain of files is known by now.
        return None, None


class BaseFile(Codex):
    """A file of which the beginning is the history of another one."""

    def __init__(self, link: Link) -> None:
        super().__init__(link.path)
        try:
            self.session = self._up_to(link)
        except BaseException:
            self.close()
            raise

    def _up_to(self, link: Link) -> Session:
        reading, size, end = _BaseReading(link.path, link.origin), 0, link.origin.offset
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

    def end_before(self, turns: int) -> tuple[int, int]:
        """Give the row so many turns before the end, and how many it is short of before the file.

        The row is NO_ROW where that is before the first one.
        """
        session, facts = self.session, self._facts
        row = NO_ROW if session.active is None else session.active
        short = 0 if row == NO_ROW else facts.taken_back.get(session.tree.root_of(row), 0)
        if turns > len(facts.turns) and facts.origin is not None:
            return NO_ROW, short + turns - len(facts.turns)
        if turns and facts.turns:
            row = session.parents[facts.turns[-min(turns, len(facts.turns))]]
        return row, short

    @property
    def _facts(self) -> CodexSession:
        return self.session.own


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
            with ExitStack() as opened_files:
                files: list[BaseFile] = []
                for link in self._links:
                    files.append(BaseFile(link))
                    opened_files.callback(files[-1].close)
                self._known[turns] = self._replayed(files, turns)
        return self._known[turns]

    def _replayed(self, files: Sequence[BaseFile], turns: int) -> tuple[State, Memo]:
        rows: list[int] = []
        for file in files:
            row, turns = file.end_before(turns)
            rows.append(row)
        before: Before | None = None
        end: tuple[State, Memo] = {}, Memo()
        for file, row in zip(reversed(files), reversed(rows), strict=True):
            end = _at(row, file, CodexRules(before, uncompacted=self._uncompacted))
            # How much the path to that row takes back from before its file is counted above.
            before = partial(_whatever_is_taken_back, end)
        return end


def _at(row: int, file: BaseFile, rules: CodexRules) -> tuple[State, Memo]:
    if row == NO_ROW:
        return rules.start(file.session)
    replay = Replay(file.session, rules, partial(file.bodies, file.session))
    return replay.state(row), replay.memo(row)


def _whatever_is_taken_back(end: tuple[State, Memo], _turns: int) -> tuple[State, Memo]:
    return end


def history_of(location: str, session: Session, *, uncompacted: bool) -> Before | None:
    """Give what tells the history before a rollout, None where it has all of it or none is there.

    What is missing is told by a finding of the session.
    """
    facts: CodexSession = session.own
    if facts.origin is None:
        return None
    chain = chain_of(location, session.id, facts.origin)
    return BaseHistory(chain.links, uncompacted=uncompacted).before if chain.links else None
