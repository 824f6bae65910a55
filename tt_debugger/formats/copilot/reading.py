"""Reading the events of Copilot CLI: each a checkpoint that hangs on the one it names."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Extent, Session, SessionId
from tt_debugger.core.tree import Linked
from tt_debugger.formats.copilot.events import (
    COMPACTED,
    SHUTDOWN,
    START,
    TRUNCATED,
    USED,
    head_of_event,
    settings_of,
)
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.reading import Place, Reading

_EVENTS = "events"
"""The name of the file that each session has in a folder of its own."""


class CopilotReading(Reading):
    """The events of one session."""

    agent: ClassVar[str] = "Copilot CLI"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.own_id: str | None = None
        self.title: str | None = None
        self.cwd: str | None = None
        self.last: str | None = None
        """The id of the event before."""
        self.tools: dict[str, str] = {}
        """The names of tools by the calls."""
        self.tells_usage = False
        """Whether each call says what it used, which the end says of all of them."""

    @property
    def session_id(self) -> SessionId:
        """The id that the first event names, else the name of the folder or file."""
        if self.own_id is not None:
            return SessionId(self.own_id)
        path = PurePath(self.location)
        own = super().session_id
        return SessionId(path.parent.name or own) if path.stem == _EVENTS else own

    @property
    def has_session_id(self) -> bool:
        """Whether the event that names the session was read."""
        return self.own_id is not None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take an event."""
        kind, data = text_or_none(record.get("type")), as_map(record.get("data"))
        if kind == START and self.own_id is None:
            self.own_id = text_or_none(data.get("sessionId")) or None
        self._learn_tools(data)
        settings = settings_of(record)
        self.cwd = settings.get("cwd", self.cwd)
        self.title = settings.get("title", self.title)
        head = head_of_event(record, self.tools)
        self.tells_usage = self.tells_usage or kind == USED
        if kind == SHUTDOWN and self.tells_usage:
            head = msgspec.structs.replace(head, usage=None)
        if kind in {COMPACTED, TRUNCATED}:
            self.note(
                Code.UNKNOWN_RECORD,
                "which messages the agent kept here is not recorded",
                place,
                hint="from here on the messages of the state are a guess",
                severity=Severity.NOTE,
            )
        own = record.get("id")
        self.add(head, own, record.get("parentId", self.last), place, time_in(record))
        self.last = own if isinstance(own, str) and own else self.last

    def _learn_tools(self, data: dict[str, Any]) -> None:
        requests = [data, *map(as_map, as_list(data.get("toolRequests")))]
        for each in requests:
            call, name = each.get("toolCallId"), each.get("toolName", each.get("name"))
            if isinstance(call, str) and isinstance(name, str):
                self.tools[call] = name

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last event is the active leaf."""
        return Session(
            self.session_id,
            "copilot",
            self.heads,
            linked.ids,
            linked.parents,
            active=self.last_row,
            title=self.title,
            cwd=self.cwd,
            extent=extent,
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Give nothing more: what the agent drops of a broken chain is not known."""
        return []
