"""Forks of Codex: a rollout of its own with all that stands before the point.

The fork is a flat rollout of the older kind (`history_mode` "legacy"), which every version reads:
a history that stands in other files is taken in, ordinals are left out, and rollbacks and
compactions stay as they are, so that Codex rebuilds the same history from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tt_debugger.core.changes import Append, Change
from tt_debugger.core.fork.minting import stamp, uuid7
from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.sources import Source
from tt_debugger.core.fork.transcripts import Altered, altered
from tt_debugger.core.fork.writes import How, NewFile, Record
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.codex.base import BaseFile
from tt_debugger.formats.codex.forked_records import (
    ENDS,
    MIRRORS,
    Piece,
    belongs,
    found_again,
    mirror,
    with_edits,
)
from tt_debugger.formats.codex.lineage import parent_of
from tt_debugger.formats.codex.origins import chain_of
from tt_debugger.formats.codex.reading import CodexReading, CodexSession
from tt_debugger.formats.codex.records import (
    COMPACTED,
    EVENT,
    ITEM,
    META,
    Entry,
    entry_of,
    is_prompt,
    message_in,
)
from tt_debugger.formats.codex.replay import Memo, Said
from tt_debugger.formats.codex.rollouts import MADE_BY, file_name, record
from tt_debugger.formats.codex.threads import ARCHIVED, SESSIONS
from tt_debugger.formats.shared import records as shared_records
from tt_debugger.formats.shared.context import MESSAGES, Spine
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    line_of,
    place_for,
    resumed_in,
)
from tt_debugger.formats.shared.fork_origin import OURS, told_origin
from tt_debugger.formats.shared.fork_paths import title_wanted
from tt_debugger.storage.lines import Line

_BEGINS = ("task_started", "turn_started")
_OF_ANOTHER = (
    "agent_nickname",
    "agent_path",
    "agent_role",
    "forked_from_ordinal_exclusive",
    "history_base",
    "parent_thread_id",
    "subagent_history_start_ordinal",
)
"""What the metadata of a thread say of others that it is part of, or goes on from."""

_TOLD_BESIDE = ("cwd", "model", "plan", "settings", "thinking_level")
"""Keys of a state that records beside the messages tell: the last of them may not be the leaf."""

_decode_keys = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.encode


class Holds(Protocol):
    """A file of a rollout."""

    location: str

    def stored(self, offset: int, length: int) -> bytes:
        """Give bytes of the file."""
        ...


def said(text: str) -> Change:
    """Give the edit that adds what the user says."""
    block = {"type": "input_text", "text": text}
    return Append(MESSAGES, {"type": "message", "role": "user", "content": [block]})


def draft(store: Holds, replay: Replay, plan: Plan) -> Draft:
    """Give what a fork would write: a new rollout.

    Raises UnsupportedError, UsageError.
    """
    if plan.in_place:
        raise UnsupportedError(
            "a rollout has no branches: Codex goes on from all of it", WITHOUT_IN_PLACE
        )
    title = title_wanted(other_edits(plan), "Codex")
    return _Fork(store, replay, plan).draft(title)


class _Fork:
    """A fork in the making."""

    def __init__(self, store: Holds, replay: Replay, plan: Plan) -> None:
        self._store = store
        self._replay = replay
        self._session = replay.session
        self._plan = plan
        self._id = uuid7(plan.time, plan.fresh)
        self._notes: list[str] = []
        self._meta: dict[str, Any] = {}
        self._mended = self._lost = 0
        self._has_old = False

    def draft(self, title: str | None) -> Draft:
        """Give all that would be written."""
        pieces = self._history()
        changed = self._alterations(pieces)
        written = list(with_edits(pieces, changed, self._line))
        written = self._with_end(written, title)
        if not any(each.event == MIRRORS["user"] for each in written):
            written = list(self._with_previews(written))
        records = [line_of(self._header()), *(each.record() for each in written)]
        path = self._path()
        self._take_notes(written, path)
        return Draft(
            (NewFile(path, tuple(records)),),
            path,
            self._id,
            _leaf_of(path, records),
            resumed_in(self._cwd, "codex", "resume", self._id),
            tuple(self._notes),
            (
                *("parent_thread", "usage"),
                *(_TOLD_BESIDE if changed.rewritten else ()),
                # A rollout must have one.
                *(() if self._cwd else ("cwd",)),
            ),
        )

    def _history(self) -> list[Piece]:
        """Give the records from the first one to the point, those of other files first."""
        facts: CodexSession = self._session.own
        found: list[Piece] = []
        if facts.origin is not None:
            chain = chain_of(self._store.location, self._session.id, facts.origin)
            if chain.lost is not None:
                self._notes.append(f"{chain.lost}: the fork is without it")
            with ExitStack() as opened_files:
                for link in reversed(chain.links):
                    file = BaseFile(link)
                    opened_files.callback(file.close)
                    found += self._pieces(file, file.session)
        for each in found:
            each.row = None
        self._meta = {}
        return [*found, *self._up_to_point()]

    def _up_to_point(self) -> Iterator[Piece]:
        """Give the records of the file up to the point, and what belongs to the last of them."""
        is_behind = False
        last: Piece | None = None
        for each in self._pieces(self._store, self._session):
            if is_behind and (each.is_row or not belongs(each, last)):
                return
            if each.row is not None and each.row > self._plan.row:
                return
            if each.row == self._plan.row:
                is_behind, last = True, each
            yield each

    def _pieces(self, file: Holds, session: Session) -> Iterator[Piece]:
        heads = session.heads
        rows = [
            (heads.offset(row) or 0, heads.length(row) or 0, row) for row in range(len(session))
        ]
        asides = [(each.offset, each.length, NO_ROW) for each in session.asides]
        for offset, length, row in sorted(rows + asides):
            if row != NO_ROW and heads.is_gap(row):
                self._lost += 1
                continue
            piece = self._piece(file.stored(offset, length))
            if piece is not None:
                piece.is_row = row != NO_ROW
                piece.row = None if row == NO_ROW else row
                yield piece

    def _piece(self, data: bytes) -> Piece | None:
        """Give a record in an envelope without its number; None for one that is left out."""
        own = _record_in(data)
        if own is None:
            return None
        entry = entry_of(own)
        if entry.type == META:
            self._meta = self._meta or entry.payload
            return None
        try:
            fields: dict[str, Any] = _decode_keys(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            fields = dict(own)
            self._mended += 1
        if entry.is_bare:
            self._has_old = True
            if entry.type != ITEM:
                return None
            fields = {
                "timestamp": own.get("timestamp") or stamp(self._plan.time),
                "type": ITEM,
                "payload": fields,
            }
        fields.pop("ordinal", None)
        piece = Piece(entry, fields)
        self._name_anew(piece)
        return piece

    def _name_anew(self, piece: Piece) -> None:
        """Let the name that the thread was given be that of the fork."""
        payload = piece.entry.payload
        is_name = piece.entry.type == EVENT and payload.get("type") == "thread_name_updated"
        if is_name and payload.get("thread_id") == self._session.id:
            piece.rewrite({**payload, "thread_id": self._id})
            piece.how = How.KEPT

    def _alterations(self, pieces: Sequence[Piece]) -> Altered:
        if not self._plan.edits:
            return Altered()
        memo: Memo = self._replay.memo(self._plan.row)
        items: list[Said] = Spine.items(memo.context)
        places = {each.row: place for place, each in enumerate(pieces) if each.row is not None}
        inherited = found_again(memo.inherited, pieces)
        origins = [
            inherited[item.place] if item.row == NO_ROW else Source(places[item.row], item.place)
            for item in items
        ]
        before = as_list(as_map(self._plan.state).get("messages"))
        wanted = as_list(as_map(self._plan.wanted).get("messages"))
        return altered(
            origins,
            before,
            wanted,
            len(pieces) - 1,
            {place for place, each in enumerate(pieces) if each.entry.type == COMPACTED},
        )

    def _line(self, kind: str, payload: dict[str, Any]) -> Piece:
        """Give a record that is new."""
        fields = record(self._plan.time, kind, payload)
        return Piece(Entry(kind, payload), fields, How.ADDED, is_row=kind == ITEM)

    def _with_end(self, written: list[Piece], title: str | None) -> list[Piece]:
        """Close a turn that was left open, before what is added behind it; then give the title."""
        place = len(written)
        while place and written[place - 1].how is How.ADDED:
            place -= 1
        turn = _open_turn(written[:place])
        ends: list[Piece] = []
        if turn is not None:
            # A message that says so would be one more than asked for; Codex needs none.
            told = {"type": "turn_aborted", **turn, "reason": "interrupted"}
            ends.append(self._line(EVENT, told))
        named = {"type": "thread_name_updated", "thread_id": self._id, "thread_name": title}
        names = [] if title is None else [self._line(EVENT, named)]
        return [*written[:place], *ends, *written[place:], *names]

    def _with_previews(self, written: Iterable[Piece]) -> Iterator[Piece]:
        """Give behind each prompt the event without which a thread has no preview."""
        for each in written:
            yield each
            item = message_in(each.entry)
            if item is not None and is_prompt(item):
                yield self._line(EVENT, mirror(item))

    def _header(self) -> dict[str, Any]:
        old = {key: value for key, value in self._meta.items() if key not in _OF_ANOTHER}
        needed = {"cwd": self._cwd or "", **MADE_BY}
        meta = {
            **{key: value for key, value in needed.items() if not isinstance(old.get(key), str)},
            **old,
            "id": self._id,
            "forked_from_id": self._session.id,
            "timestamp": stamp(self._plan.time),
            OURS: told_origin(self._plan),
        }
        meta |= {key: value for key, value in needed.items() if not isinstance(meta[key], str)}
        if "session_id" in meta:
            meta["session_id"] = self._id
        if "history_mode" in meta:
            meta["history_mode"] = "legacy"
        if isinstance(meta.get("source"), dict):
            meta["source"] = "cli"
        return record(self._plan.time, META, meta)

    @property
    def _cwd(self) -> str | None:
        return text_or_none(self._meta.get("cwd")) or self._session.cwd

    def _path(self) -> str:
        location = self._store.location
        folder = Path(location).resolve().parent
        current = folder.with_name(SESSIONS)
        if folder.name == ARCHIVED and current.is_dir():
            location = str(current / Path(location).name)
        return place_for(location, file_name(self._plan.time, self._id), self._plan.target)

    def _take_notes(self, written: Sequence[Piece], path: str) -> None:
        """Say what is otherwise than one may expect."""
        notes = self._notes
        if self._lost:
            notes.append(f"{counted(self._lost, 'stretch')} left out that cannot be read")
        if self._mended:
            notes.append(f"{counted(self._mended, 'record')} mended that Codex itself passes over")
        if self._has_old:
            notes.append(
                "the original is of an age that Codex does not resume; the fork is in today's form"
            )
        if any("encrypted_content" in each.entry.payload for each in written):
            notes.append("encrypted reasoning is kept: only the account that made it can use it")
        if parent_of(self._meta) is not None:
            notes.append("the thread of the subagent becomes one of its own")
        if SESSIONS not in Path(path).parts:
            notes.append("Codex finds a rollout only in its folder of sessions: move it there")


def _record_in(data: bytes) -> dict[str, Any] | None:
    for piece in shared_records.records(data) if data.strip() else ():
        if isinstance(piece, shared_records.Record):
            return piece.value
    return None


def _open_turn(pieces: Iterable[Piece]) -> dict[str, Any] | None:
    """Give what names the turn that is not over at the end of a history, None where none is."""
    turn: dict[str, Any] | None = None
    for each in pieces:
        if each.event in _BEGINS:
            payload = each.entry.payload
            turn = {key: payload[key] for key in ("turn_id",) if key in payload}
        elif each.event in ENDS:
            turn = None
    return turn


def _leaf_of(path: str, records: Iterable[Record]) -> str:
    """Give the id of the checkpoint that Codex goes on from, as it will be read."""
    reading, offset = CodexReading(path), 0
    for number, each in enumerate(records, 1):
        size = len(each.data)
        reading.read(Line(number, offset, size, each.data[:-1], is_whole=True))
        offset += size
    session = reading.finished(offset)
    if session.active is None:
        raise UsageError("nothing would be left of the thread", "keep or add a message")
    return session.ids[session.active]
