"""The lines of one path of Claude Code as a fork writes them: in order, edited, unchained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.fork.cuts import open_calls
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.sources import Source
from tt_debugger.core.fork.transcripts import Altered, altered
from tt_debugger.core.fork.writes import How, Record
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.messages import results_in
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.claude_code.entries import entry_of
from tt_debugger.formats.claude_code.heads import message_of, records_of
from tt_debugger.formats.claude_code.reading import ClaudeSession
from tt_debugger.formats.claude_code.replay import Memo
from tt_debugger.formats.claude_code.types import CHAIN
from tt_debugger.formats.shared.fork_files import Holds, as_line
from tt_debugger.formats.shared.fork_paths import origins_in

_ROLES = ("user", "assistant")
_TOLD_BESIDE = (
    "files",
    "git_branch",
    "model",
    "permission_mode",
    "plan",
    "thinking_level",
    "todos",
    "usage",
)
"""Keys of a state that lines tell of beside their message: what goes with a line that goes."""

_decode_keys = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class HoldsBytes(Holds, Protocol):
    """A store that gives records, and any bytes of its file."""

    def stored(self, offset: int, length: int) -> bytes:
        """Give bytes of the file."""
        ...


class Written(msgspec.Struct):
    """A line of a fork: the row that it is of, its keys, and how it came about.

    What is kept stands in the keys as the bytes that it was.
    """

    row: int | None
    fields: dict[str, Any]
    how: How
    number: int = 0
    """Its line in the original, 0 for one that is new."""
    old_ids: tuple[str, ...] = ()
    """The uuids that it had: one, or those of all lines that it was written in."""
    begins_with: str | None = None
    """The parent that is missing in the original, by the time of which the agent mends it."""

    def value(self, key: str) -> Any:
        """Give the value of a key, None where there is none or it cannot be read."""
        value = self.fields.get(key)
        if not isinstance(value, msgspec.Raw):
            return value
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Set a key."""
        self.fields[key] = value

    def drop(self, key: str) -> None:
        """Take a key away, if it is there."""
        self.fields.pop(key, None)

    def record(self) -> Record:
        """Give it as a line."""
        return Record(as_line(msgspec.json.encode(self.fields)), self.how, self.row)


class Way:
    """The path to the point of a plan, as lines in the order in which they are written."""

    def __init__(self, store: HoldsBytes, replay: Replay, plan: Plan) -> None:
        self.store = store
        self.session = replay.session
        self.plan = plan
        self.notes: list[str] = []
        self.records: dict[int, list[dict[str, Any]]] = {}
        """The records of each row, decoded."""
        self.rows = self._known(self.session.tree.path_to(plan.row))
        self.mended: set[int] = set()
        if not plan.in_place:
            self._go_beyond_lost_links(replay)
        self.alterations = self._alterations(replay)
        self._unreadable = 0

    def _known(self, rows: Sequence[int]) -> list[int]:
        """Give those of some rows that Claude Code takes for checkpoints."""
        known: list[int] = []
        for row, body in zip(rows, self.store.bodies(self.session, rows), strict=True):
            records = [] if body is None else records_of(body)
            if records and text_or_none(records[0].get("type")) in CHAIN:
                known.append(row)
                self.records[row] = records
        if len(known) < len(rows):
            left = counted(len(rows) - len(known), "record")
            self.notes.append(f"{left} left out that Claude Code does not take for checkpoints")
        return known

    def _go_beyond_lost_links(self, replay: Replay) -> None:
        """Take in what the agent hangs the beginning on where its parent is missing."""
        facts: ClaudeSession = self.session.own
        row = self.plan.row
        while not replay.memo(row).is_cut:
            root = self.session.tree.root_of(row)
            if root not in facts.healed:
                break
            self.mended.add(root)
            row = facts.healed[root]
            self.rows = [*self._known(self.session.tree.path_to(row)), *self.rows]
        if self.mended:
            self.notes.append(
                "a link that is missing stays so: Claude Code mends it by time, as in the original"
            )

    def _alterations(self, replay: Replay) -> Altered:
        if not self.plan.edits:
            return Altered()
        memo: Memo = replay.memo(self.plan.row)
        origins = origins_in(memo.context)
        places = {row: place for place, row in enumerate(self.rows)}
        before = as_list(as_map(self.plan.state).get("messages"))
        wanted = as_list(as_map(self.plan.wanted).get("messages"))
        found = altered(
            [Source(places[each.row], each.place) for each in origins],
            before,
            wanted,
            len(self.rows) - 1,
        )
        for place in found.new:
            _check_place(wanted, place)
        return found

    def lines(self, first: int = 0) -> Iterator[Written]:
        """Give the lines from a place of the path on.

        Later lines of a message stand where the file has them, behind results of earlier ones.
        """
        lost: str | None = None
        for each in self._in_order(first):
            if isinstance(each, str):
                lost = each
                continue
            each.begins_with, lost = lost, None
            yield each
        if lost is not None:
            raise nothing_left()
        if self._unreadable:
            lines = counted(self._unreadable, "line")
            self.notes.append(f"{lines} mended that the agent itself cannot read")

    def _in_order(self, first: int) -> Iterator[Written | str]:
        """Give the lines, and before what hangs on nothing the parent that is missing."""
        waiting: list[Written] = []
        added = self.alterations.added
        yield from map(self._added, added.get(first - 1 if first else None, ()))
        for place, row in enumerate(self.rows[first:], first):
            own = self._of_row(place, row)
            if row in self.mended:
                yield from waiting
                waiting = []
                yield text_or_none(self.records[row][0].get("parentUuid")) or ""
                yield from map(self._added, added.get(place - 1, ()))
            if own and waiting:
                is_inner = _goes_between(self.records[row][0])
                ready = [each for each in waiting if not is_inner or each.number < own[0].number]
                yield from ready
                waiting = waiting[len(ready) :]
            yield from own[:1]
            waiting = sorted(waiting + own[1:], key=lambda each: each.number)
            if place in added and not self.mended.intersection(self.rows[place + 1 : place + 2]):
                yield from waiting
                waiting = []
                yield from map(self._added, added[place])
        yield from waiting

    def _of_row(self, place: int, row: int) -> list[Written]:
        """Give the lines of a row: as they stand, as one where it was edited, none if it goes."""
        rewritten = self.alterations.rewritten.get(place)
        if rewritten is None:
            found = list(self._stored(row))
        elif rewritten[0] is None:
            return []
        else:
            found = [self._rewritten(row, rewritten[0])]
        return found

    def _stored(self, row: int) -> Iterator[Written]:
        heads = self.session.heads
        spans = [
            (heads.line(row) or 0, heads.offset(row) or 0, heads.length(row) or 0),
            *((part.line, part.offset, part.length) for part in heads.parts.get(row, ())),
        ]
        for (number, offset, length), record in zip(spans, self.records[row], strict=True):
            try:
                fields: dict[str, Any] = _decode_keys(self.store.stored(offset, length))
            except (msgspec.DecodeError, UnicodeDecodeError):
                fields = dict(record)
                self._unreadable += 1
            own = text_or_none(record.get("uuid"))
            old_ids = () if own is None else (own,)
            yield Written(row, fields, How.KEPT, number, old_ids)

    def _rewritten(self, row: int, message: Any) -> Written:
        first, *_, last = (*self.records[row], self.records[row][-1])
        old = message_of(self.records[row])
        _check_signatures(as_map(old), as_map(message))
        fields = {**last, "type": _role_of(message), "message": message}
        if "isCompactSummary" in first:
            fields["isCompactSummary"] = first["isCompactSummary"]
        # It is another telling of the result that was edited.
        fields.pop("toolUseResult", None)
        number = self.session.heads.line(row) or 0
        ids = (text_or_none(each.get("uuid")) for each in self.records[row])
        old_ids = tuple(each for each in ids if each is not None)
        return Written(row, fields, How.CHANGED, number, old_ids)

    def _added(self, message: Any) -> Written:
        fields = {"type": _role_of(message), "message": message}
        return Written(None, fields, How.ADDED)

    def origin_of(self, row: int | None) -> str:
        """Give the session that a line is of: of a subagent's the one that started it."""
        record = {} if row is None else self.records[row][0]
        named = text_or_none(record.get("sessionId"))
        return named if named and record.get("isSidechain") is True else self.session.id

    @property
    def told_otherwise(self) -> tuple[str, ...]:
        """The keys of the state that may be otherwise, as lines are gone that told of them."""
        return _TOLD_BESIDE if self.alterations.rewritten else ()


def nothing_left() -> UsageError:
    """Give the error that says so."""
    return UsageError("nothing would be left of the session", "keep or add a message")


def _goes_between(record: dict[str, Any]) -> bool:
    """Tell whether a line can stand between those of one message: a result, or what hooks left."""
    entry = entry_of(record)
    is_carrier = entry.type not in _ROLES and not is_boundary(record)
    return bool(entry.answers) or is_carrier


def is_boundary(record: Mapping[str, Any]) -> bool:
    """Tell whether a line is one at which a compaction cuts the context."""
    return record.get("subtype") == "compact_boundary"


def _role_of(message: Any) -> str:
    known = as_map(message)
    role = known.get("role")
    if role not in _ROLES or not isinstance(known.get("content"), str | list):
        raise UnsupportedError(
            "a message of Claude Code has a role, user or assistant, and content: text or blocks"
        )
    return role


def _check_place(messages: Sequence[Any], place: int) -> None:
    """Refuse a message between a call and its result: the agent moves it behind them."""
    waiting = open_calls(messages[:place])
    answered = {each.call for message in messages[place:] for each in results_in(message)}
    if waiting & answered and not results_in(messages[place]):
        raise UnsupportedError(
            "a message cannot stand between a call and its result",
            "add it before the call, or behind the last result",
        )


def _check_signatures(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse a thought that was edited: its provider takes only what it has signed."""
    known = {
        each["signature"]: each
        for each in map(as_map, as_list(old.get("content")))
        if isinstance(each.get("signature"), str)
    }
    for each in map(as_map, as_list(new.get("content"))):
        signature = text_or_none(each.get("signature"))
        if signature is not None and not is_same(known.get(signature, each), each):
            raise UnsupportedError(
                "thinking is signed: no provider takes it with another text",
                "take the whole block away instead",
            )
