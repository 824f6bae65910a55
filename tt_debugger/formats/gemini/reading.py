"""Reading the lines of Gemini CLI: a log in which a message may be written again and again.

A message with an id that is there already takes its place. `$set` changes what is said of the
session; the messages in it take the place of all. `$rewindTo` drops a message and all behind it:
it hangs on what stood before that one, so what it dropped stays as a branch of its own.
"""

from __future__ import annotations

from array import array
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Extent, Head, Kind, Session, SessionId
from tt_debugger.core.replay import Body
from tt_debugger.core.text import counted, summary_line
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.gemini.messages import (
    head_of_record,
    is_message,
    messages_of,
    settings_of,
)
from tt_debugger.formats.shared.message_heads import record_head, time_in
from tt_debugger.formats.shared.reading import Place, Reading
from tt_debugger.formats.shared.transcript import Told

FORMAT = "gemini"


class _Held(msgspec.Struct, frozen=True):
    """A message in the context: where its messages begin, how many they are, and its first row.

    `is_own` is False where it was written with others by one record, which is the row then.
    """

    id: str
    begin: int
    count: int
    row: int
    is_own: bool = True
    is_counted: bool = False
    """Whether it has said what it used."""


class GeminiSession(msgspec.Struct, frozen=True):
    """What replay needs to know: which messages rows take the place of."""

    start: dict[str, Any]
    over: dict[int, tuple[int, int]]
    """By row the place and the number of the messages that it takes the place of."""
    left: dict[int, list[Any]]
    """By row all messages that a rewind leaves, where it is to the middle of a record."""
    added: dict[int, int]
    """By row how many messages of a record that has all were not there before, at its end."""


class GeminiReading(Reading):
    """The records of one session, a line each."""

    agent: ClassVar[str] = "Gemini CLI"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.own_id: str | None = None
        self.start: dict[str, Any] = {}
        self.title: str | None = None
        self.cwd: str | None = None
        self.parents: list[int] = []
        self.names: dict[int, str] = {}
        """The ids of messages by their rows."""
        self.last = NO_ROW
        """The row that the next one hangs on."""
        self.context: list[_Held] = []
        self.places: dict[str, int] = {}
        """The places of messages in the context by their ids; of one id, the first."""
        self.over: dict[int, tuple[int, int]] = {}
        self.left: dict[int, list[Any]] = {}
        self.added: dict[int, int] = {}
        self.whole: dict[int, list[Any]] = {}
        """The messages of the last record that has all of them, by its row."""

    @property
    def session_id(self) -> SessionId:
        """The id that the metadata name, else that of the file's name."""
        return super().session_id if self.own_id is None else SessionId(self.own_id)

    @property
    def has_session_id(self) -> bool:
        """Whether the metadata were read."""
        return self.own_id is not None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a message, a change of the session or a rewind."""
        if "$rewindTo" in record:
            self._rewind(record, place)
        elif is_message(record):
            self._take_message(record, place)
        elif "$set" in record or "id" not in record:
            self._take_patch(record, place)
        else:
            self._add(record_head(record), place, time_in(record))

    def _take_message(self, record: dict[str, Any], place: Place) -> None:
        name, messages = str(record["id"]), messages_of(record)
        where = self.places.get(name)
        head = head_of_record(record, is_update=where is not None)
        row = len(self.heads)
        self.names[row] = name
        if where is None:
            held = _Held(name, self._size, len(messages), row, is_counted=head.usage is not None)
            self._hold(held)
        else:
            old = self.context[where]
            self.over[row] = old.begin, old.count
            if old.is_counted:
                head = msgspec.structs.replace(head, usage=None)
            self._replace(where, old, len(messages), is_counted=head.usage is not None)
        self._add(head, place, time_in(record))

    def _replace(self, where: int, old: _Held, count: int, *, is_counted: bool) -> None:
        """Keep in mind how long a message is now, and where those behind it are."""
        more = count - old.count
        self.context[where] = msgspec.structs.replace(
            old, count=count, is_counted=old.is_counted or is_counted
        )
        if more:
            self.context[where + 1 :] = [
                msgspec.structs.replace(each, begin=each.begin + more)
                for each in self.context[where + 1 :]
            ]

    def _take_patch(self, record: dict[str, Any], place: Place) -> None:
        patch = as_map(record.get("$set")) if "$set" in record else record
        if self.own_id is None:
            self.own_id = text_or_none(patch.get("sessionId")) or None
        directories = as_list(patch.get("directories"))
        if self.cwd is None and directories and isinstance(directories[0], str):
            self.cwd = directories[0]
        title = text_or_none(patch.get("summary"))
        if isinstance(patch.get("messages"), list) and (patch["messages"] or self.context):
            self._take_all(as_list(patch["messages"]), place, title)
        elif title is not None and title != self.title and len(self.heads):
            self._add(Head(Kind.SETTING, None, "title", summary_line(title)), place, None)
        else:
            self.start |= {} if title is None else {"title": title}
            self.take_aside("$set" if "$set" in record else "metadata", place)
        self.title = self.title if title is None else title

    def _take_all(self, listed: list[Any], place: Place, title: str | None) -> None:
        """Take messages that take the place of all that were there."""
        row = len(self.heads)
        before = set(self.places)
        self._drop_from(0)
        messages: list[Any] = []
        for record in map(as_map, listed):
            said = messages_of(record)
            own = record.get("id")
            name = own if isinstance(own, str) else ""
            self._hold(_Held(name, len(messages), len(said), row, is_own=False))
            messages += said
        known = next((n for n, each in enumerate(self.context) if each.id not in before), None)
        begin = len(messages) if known is None else self.context[known].begin
        self.added[row] = len(messages) - begin
        self.whole = {row: messages}
        said = title or counted(len(listed), "message")
        self._add(Head(Kind.COMPACTION, None, "$set", summary_line(said)), place, None)

    def _rewind(self, record: dict[str, Any], place: Place) -> None:
        target = record["$rewindTo"]
        where = self.places.get(target) if isinstance(target, str) else None
        row = len(self.heads)
        if where is None:
            self._drop_from(0)
            self.last = NO_ROW
            said = "to the beginning"
        else:
            held = self.context[where]
            self._drop_from(where)
            said = f"to before {held.id}"
            if held.is_own:
                self.last = self.parents[held.row]
            else:
                self.last = held.row
                self.left[row] = self.whole[held.row][: held.begin]
        self._add(Head(Kind.CUSTOM, None, "rewind", summary_line(said)), place, time_in(record))

    def _hold(self, held: _Held) -> None:
        """Add a message at the end of the context."""
        self.places.setdefault(held.id, len(self.context))
        self.context.append(held)

    def _drop_from(self, where: int) -> None:
        """Drop the messages from a place on, at the cost of those alone."""
        while len(self.context) > where:
            dropped = self.context.pop()
            if self.places[dropped.id] == len(self.context):
                del self.places[dropped.id]

    @property
    def _size(self) -> int:
        """How many messages are in the context."""
        last = self.context[-1] if self.context else None
        return 0 if last is None else last.begin + last.count

    def _add(self, head: Head, place: Place, time: float | None) -> None:
        row = len(self.heads)
        self.parents.append(self.last)
        self.last = row
        self.add(head, None, None, place, time)

    def end_gap(self) -> None:
        """Make an open gap a checkpoint, keeping what is kept for each row in step."""
        super().end_gap()
        self.parents += [NO_ROW] * (len(self.heads) - len(self.parents))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last record is the active leaf."""
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            self._ids(linked),
            array("q", self.parents),
            active=None if self.last == NO_ROW else self.last,
            title=self.title,
            cwd=self.cwd,
            extent=extent,
            own=GeminiSession(
                {**self.start, "cwd": self.cwd}, dict(self.over), dict(self.left), dict(self.added)
            ),
        )

    def _ids(self, linked: Linked) -> list[str]:
        """Give each message its id; of those that were written again, the last one has it."""
        ids = list(linked.ids)
        last = {name: row for row, name in self.names.items()}
        taken = set(ids)
        for row, name in self.names.items():
            wanted = name if last[name] == row else f"{name}@{self.heads.line(row)}"
            while wanted in taken:
                wanted += "'"
            taken.add(wanted)
            ids[row] = wanted
        return ids


def told_of(session: Session, row: int, body: Body) -> Told:
    """Give what a record does to the state."""
    facts: GeminiSession = session.own
    record = as_map(body)
    if row in facts.left:
        return Told(tuple(facts.left[row]), clears=True, added=())
    if row in facts.added:
        patch = as_map(record.get("$set")) or record
        messages = [
            each for one in as_list(patch.get("messages")) for each in messages_of(as_map(one))
        ]
        added = tuple(messages[len(messages) - facts.added[row] :])
        return Told(tuple(messages), _title(patch), clears=True, added=added)
    if is_message(record):
        messages = messages_of(record)
        if row in facts.over:
            begin, count = facts.over[row]
            return Told(tuple(messages), settings_of(record), at=begin, over=count)
        return Told(tuple(messages), settings_of(record))
    return Told((), _title(as_map(record.get("$set"))))


def _title(patch: dict[str, Any]) -> dict[str, Any]:
    title = patch.get("summary")
    return {"title": title} if isinstance(title, str) else {}
