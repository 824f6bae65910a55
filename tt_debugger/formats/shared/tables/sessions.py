"""Stores of documents: sessions of which an index is read first, and states when asked for.

Only of a short session all states are read at once, to say what is wrong in them.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Head, Heads, Kind, Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.shapes import drift_between, drift_text
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.column_bytes import bytes_of
from tt_debugger.formats.shared.states import time_of, title_of
from tt_debugger.formats.shared.tables.documents import (
    Document,
    document_of,
    state_head,
    turn_head,
    version_of,
)
from tt_debugger.formats.shared.tables.index import Index, breaks
from tt_debugger.formats.shared.tables.layouts import Form
from tt_debugger.formats.shared.tables.turns import HashCheck, TurnRules
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.storage.tables import Value
from tt_debugger.store import Cursor, Loaded, Progress, unheard

SHORT = 1000
"""Rows of a session of which all states are read as it is loaded."""
MOST_DRIFTS = 64
"""Changes of the schema of which each field is told; of more, the versions alone."""
_BATCH = 64


class Own(msgspec.Struct, frozen=True):
    """What the format keeps of a session."""

    index: Index
    told: tuple[bytes, ...] | None
    """What each document was, by its digest, where all were read."""


class Position(msgspec.Struct, frozen=True):
    """A cursor: the session, and how the store looked when it was read."""

    stamp: Any
    session: Session


class DocumentStore(ABC):
    """A store whose rows hold documents; a format says which rows there are."""

    format: ClassVar[str]
    about: ClassVar[str]
    verified: ClassVar[str] = "no agent to compare with: a state is what its row says"
    short: ClassVar[int] = SHORT

    def __init__(self, location: str) -> None:
        self.location = location

    @abstractmethod
    def look(self) -> object:
        """Look at the store anew; what it gives is another when there may be news.

        None where that cannot be told. Raises CannotReadError.
        """

    @abstractmethod
    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of the sessions that were written last, newest last."""

    @abstractmethod
    def index(self, session: SessionId) -> Index:
        """Read the index of a session. Raises CannotReadError where there is none."""

    @abstractmethod
    def values(self, index: Index, rows: Sequence[int]) -> list[Value | LookupError]:
        """Give what rows hold, an error for one that holds nothing any more."""

    def damage(self) -> Iterator[Finding]:
        """Say what is wrong with the store, as far as it was read."""
        yield from ()

    def told_of_row(self, index: Index, row: int) -> str:
        """Give what else the summary of a row should say."""
        return ""

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the index of a session. Raises CannotReadError where there is none."""
        stamp = self.look()
        made = self._made(session, self.index(session), progress)
        progress(len(made), len(made))
        return Loaded(made, Cursor(Position(stamp, made)))

    def follow(self, since: Cursor) -> Loaded:
        """Ask again where there may be news; what cannot be read now is as it was."""
        position: Position = since.position
        before = position.session
        try:
            stamp = self.look()
            if stamp is not None and stamp == position.stamp:
                return Loaded(before, since)
            loaded = self._loaded_again(before.id)
        except CannotReadError:
            return Loaded(before, since)
        now = loaded.session
        kept = _kept(before.own, now.own) if now.id == before.id else 0
        if kept == len(before) == len(now) and _told(before) == _told(now):
            return Loaded(before, Cursor(Position(stamp, before)))
        return Loaded(now, Cursor(Position(stamp, now)), kept)

    def _loaded_again(self, session: SessionId) -> Loaded:
        """Load a session; where it is gone, the newest one is what there is now."""
        try:
            return self.load(session)
        except CannotReadError:
            ids = self.sessions()
            if not ids or session in ids:
                raise
            return self.load(ids[-1])

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: a row holds a state, or adds a turn."""
        index = index_held(session)
        return TurnRules(index) if index.layout.form is Form.TURNS else WholeStates(_held)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the documents of some rows, those of turns with their row; {} for none."""
        index = index_held(session)
        documents = self._documents(index, rows)
        if index.layout.form is Form.TURNS:
            return [[row, each.value] for row, each in zip(rows, documents, strict=True)]
        return [each.value for each in documents]

    def raw(self, session: Session, row: int) -> bytes:
        """Give what a row holds, as it is stored. Raises CannotReadError."""
        (value,) = self.values(index_held(session), (row,))
        if isinstance(value, LookupError):
            raise CannotReadError(f"cannot read {self.location}: {value}")
        return _bytes(value)

    def examined(self, session: Session) -> Iterator[Finding]:
        """Read all documents of a session; say what is wrong in them that its findings do not.

        Of a short session these tell all of it already.
        """
        own: Own = session.own
        index, check = own.index, HashCheck(own.index)
        for begin in range(0, len(index) if own.told is None else 0, _BATCH):
            rows = range(begin, min(begin + _BATCH, len(index)))
            for row, document in zip(rows, self._documents(index, rows), strict=True):
                check.look_at(row, document)
                yield from _flaws(index, row, document)
        yield from check.findings()

    def _made(self, name: SessionId, index: Index, progress: Progress) -> Session:
        findings = list(index.findings)
        if index.layout.form is Form.TURNS:
            findings += breaks(index)
        if len(index) <= self.short:
            heads, told, more = self._read_whole(index, progress)
        else:
            heads, told = self._lazy_heads(index), None
            more = list(
                self._drifts(
                    index, _versions(index), lambda row: self._documents(index, (row,))[0]
                )
            )
        return Session(
            name,
            self.format,
            heads,
            index.ids,
            index.parents,
            active=len(index) - 1 if len(index) else None,
            title=self._title(index),
            findings=(*self.damage(), *findings, *more),
            own=Own(index, told),
        )

    def _title(self, index: Index) -> str | None:
        """Give what the agent was to do, as its last state says."""
        if not len(index) or index.layout.form is Form.TURNS:
            return None
        state = self._documents(index, (len(index) - 1,))[0].value
        return title_of(state) or title_of(as_map(state.get("state")))

    def _read_whole(
        self, index: Index, progress: Progress
    ) -> tuple[Heads, tuple[bytes, ...], list[Finding]]:
        """Read all documents of a session; give its heads, their digests and what is wrong."""
        heads, findings = Heads(), list[Finding]()
        told: list[bytes] = []
        documents: list[Document] = []
        for begin in range(0, len(index), _BATCH):
            rows = range(begin, min(begin + _BATCH, len(index)))
            values = self.values(index, rows)
            told += (hashlib.sha256(_bytes(each)).digest() for each in values)
            documents += map(_document, values)
            progress(begin, len(index))
        versions = [version_of(index, row, each) for row, each in enumerate(documents)]
        for row, document in enumerate(documents):
            heads.append(self._head(index, versions, row, document))
            findings += _flaws(index, row, document)
        findings += self._drifts(index, versions, documents.__getitem__)
        check = HashCheck(index)
        for row, document in enumerate(documents):
            check.look_at(row, document)
        findings += check.findings()
        return heads, tuple(told), findings

    def _lazy_heads(self, index: Index) -> Heads:
        """Give heads that are described when they are looked at."""
        versions = _versions(index)

        def described(_heads: Heads, rows: Sequence[int]) -> Iterator[Head]:
            documents = self._documents(index, rows)
            for row, document in zip(rows, documents, strict=True):
                yield self._head(index, versions, row, document)

        return heads_of(index, described)

    def _documents(self, index: Index, rows: Sequence[int]) -> list[Document]:
        return list(map(_document, self.values(index, rows)))

    def _head(
        self, index: Index, versions: Sequence[str | None], row: int, document: Document
    ) -> Head:
        is_turn = index.layout.form is Form.TURNS
        head = turn_head(index, row, document) if is_turn else state_head(document)
        told = (_step_up(index, versions, row), head.summary, self.told_of_row(index, row))
        step, time = index.step(row), index.time(row)
        return msgspec.structs.replace(
            head,
            summary=summary_line(" · ".join(filter(None, told))),
            time=time_of(document.value) if time is None else time,
            step=head.step if step is None else step,
        )

    def _drifts(
        self, index: Index, versions: Sequence[str | None], document: Callable[[int], Document]
    ) -> Iterator[Finding]:
        """Say where the version of the schema is another than that of the parent, and how."""
        if index.layout.form is Form.TURNS:
            return
        told = 0
        for row, after in enumerate(versions):
            before = None if (parent := index.parents[row]) == NO_ROW else versions[parent]
            if before is None or after is None or before == after:
                continue
            what = f"schema_version {before} -> {after}"
            told += 1
            if told <= MOST_DRIFTS:
                drift = drift_between(document(parent).value, document(row).value)
                what = f"{what}: {drift_text(drift)}"
            yield finding(
                Code.SCHEMA_DRIFT,
                what,
                hint="an agent that reads only one of the two versions cannot resume across this",
                checkpoint=index.ids[row],
            )


def heads_of(index: Index, described: Any) -> Heads:
    """Give heads of which only what the index says is known, each column when it is asked for."""
    one = Heads()
    one.append(Head(Kind.SNAPSHOT))
    count, columns = len(index), one.columns()

    def column(name: str) -> bytes:
        match name:
            case "_waiting":
                return b"\1" * count
            case "_times":
                return index.moments().tobytes()
            case "_steps":
                return array("q", chain.from_iterable(index.steps())).tobytes()
            case "_line_rows" | "_line_numbers":
                return columns[name]
            case _:
                return columns[name] * count

    return Heads.restored(column, lambda _block: b"", described)


def _step_up(index: Index, versions: Sequence[str | None], row: int) -> str:
    """Say that the version of a row's schema is another than that of its parent."""
    parent = index.parents[row]
    before = None if parent == NO_ROW or not versions else versions[parent]
    after = versions[row] if versions else None
    is_other = before is not None and after is not None and before != after
    return f"schema {before} -> {after}" if is_other else ""


def _versions(index: Index) -> Sequence[str | None]:
    """Give the version of each row's schema, as far as a column says it."""
    none = Document({})
    if not index.versions:
        return ()
    if len(set(index.versions)) == 1:
        return ()
    return [version_of(index, row, none) for row in range(len(index))]


def _flaws(index: Index, row: int, document: Document) -> Iterator[Finding]:
    """Say why a row holds no document, or what was forgiven to read it."""
    layout, name = index.layout, index.ids[row]
    where = f"{layout.table}/{name}: {layout.state}"
    if document.why:
        hint = "the row is shown with an empty state; its bytes are kept"
        yield finding(Code.UNREADABLE, f"{where}: {document.why}", hint=hint, checkpoint=name)
    for each in document.told:
        yield msgspec.structs.replace(each, message=f"{where}: {each.message}", checkpoint=name)


def _told(session: Session) -> list[Finding]:
    """Give what is wrong with a session, without what is another each time one looks."""
    return [each for each in session.findings if each.code is not Code.EXPIRES]


def _kept(before: Own, now: Own) -> int:
    """Give how many rows, from the first on, are as they were."""
    count = before.index.has_first(now.index)
    if before.told is None or now.told is None:
        return count
    same = zip(before.told, now.told, strict=False)
    return next((n for n, (one, other) in enumerate(same) if n == count or one != other), count)


def index_held(session: Session) -> Index:
    """Give the index that a session was made of."""
    own: Own = session.own
    return own.index


def _held(body: Body) -> dict[str, Any]:
    return body


def _document(value: Value | LookupError) -> Document:
    return Document({}, str(value)) if isinstance(value, LookupError) else document_of(value)


def _bytes(value: Value | LookupError) -> bytes:
    return b"" if isinstance(value, LookupError) else bytes_of(value)
