"""Reading a file of Qwen Code: each record is a checkpoint, for others may hang on any of them.

Qwen Code writes its title again now and then, so that it stands near the end of the file. Such a
record hangs on the newest one like any other, and nothing hangs on it.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.contents import content_as_message
from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Extent, Head, Kind, Session
from tt_debugger.core.text import counted, summary_line
from tt_debugger.core.tree import Linked
from tt_debugger.formats.qwen.usage import usage_of
from tt_debugger.formats.shared.message_heads import head_of, record_head, time_in
from tt_debugger.formats.shared.promises import answered_in, called_in, unmatched_results
from tt_debugger.formats.shared.reading import Place, Reading

FORMAT = "qwen"
_SPOKEN = frozenset(("user", "assistant", "tool_result"))
_FAILURES = frozenset(("error", "cancelled"))


class _Notes(TypedDict):
    """What reading such a file keeps in mind."""

    title: str | None
    cwd: str | None
    forked_from: str | None
    calls: list[tuple[str, int]]
    results: list[tuple[str, int]]


class QwenReading(Reading):
    """A file of Qwen Code, read record by record."""

    agent: ClassVar[str] = "Qwen Code"
    kept: ClassVar[Any] = _Notes

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.title: str | None = None
        self.cwd: str | None = None
        self.forked_from: str | None = None
        self.calls: list[tuple[str, int]] = []
        self.results: list[tuple[str, int]] = []

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a record as a checkpoint; one that has no place in the tree stands aside."""
        kind, subtype = text_or_none(record.get("type")), text_or_none(record.get("subtype"))
        own_id = record.get("uuid")
        if "uuid" not in record and "parentUuid" not in record and "message" not in record:
            self.take_aside(subtype or kind or "record", place)
            self.note(
                Code.UNKNOWN_RECORD,
                "the record has no uuid and no parentUuid",
                place,
                hint="it has no place in the tree; its bytes are kept",
            )
            return
        if "uuid" not in record:
            self.note(Code.NO_ID, "the record has no uuid", place, hint=f"shown as {place.name}")
        self.cwd = text_or_none(record.get("cwd")) or self.cwd
        source = text_or_none(as_map(record.get("forkedFrom")).get("sessionId"))
        self.forked_from = self.forked_from or source
        if subtype == "custom_title":
            self.title = title_of(record) or self.title
        self.add(
            self._head(record, kind, place),
            own_id,
            record.get("parentUuid"),
            place,
            time_in(record),
        )

    def _head(self, record: dict[str, Any], kind: str | None, place: Place) -> Head:
        if kind == "system":
            return _system_head(record)
        if kind not in _SPOKEN:
            self.note(
                Code.UNKNOWN_RECORD,
                f"the record type {record.get('type')!r:.60} is not known",
                place,
                hint="kept as custom",
            )
            return record_head(record)
        message = content_as_message(as_map(record.get("message")))
        if message is None:
            self.note(Code.WRONG_TYPE, "the message has no list of parts", place)
            return Head(
                Kind.UNREADABLE, name=kind, summary="the message has no parts", failed=True
            )
        head, parts = head_of(message)
        row = len(self.heads)
        self.calls += ((name, row) for name in called_in(parts))
        self.results += ((name, row) for name in answered_in(parts))
        status = as_map(record.get("toolCallResult")).get("status")
        return msgspec.structs.replace(
            head,
            usage=usage_of(record.get("usageMetadata")),
            failed=head.failed or (isinstance(status, str) and status in _FAILURES),
        )

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last record of the file is the active leaf."""
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            linked.parents,
            active=self.last_row,
            title=self.title,
            cwd=self.cwd,
            forked_from=self.forked_from,
            extent=extent,
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows."""
        return [
            *super().findings_of(session),
            *unmatched_results(session, self.calls, self.results),
        ]


def payload_of(record: dict[str, Any]) -> dict[str, Any]:
    """Give what a record of the system says."""
    return as_map(record.get("systemPayload"))


def title_of(record: dict[str, Any]) -> str | None:
    """Give the title that a record sets."""
    return text_or_none(payload_of(record).get("customTitle"))


def model_of(record: dict[str, Any]) -> str | None:
    """Give the model that answered, or that was chosen."""
    chosen = payload_of(record) if record.get("subtype") == "session_model" else record
    return text_or_none(chosen.get("model")) or text_or_none(chosen.get("modelId"))


def _system_head(record: dict[str, Any]) -> Head:
    name = text_or_none(record.get("subtype")) or "system"
    said = payload_of(record)
    if name == "chat_compression":
        kept = counted(len(as_list(said.get("compressedHistory"))), "message")
        return Head(Kind.COMPACTION, None, "compact", f"{kept} stand for what was said before")
    if name == "custom_title":
        return Head(Kind.SETTING, None, "title", summary_line(title_of(record) or ""))
    if name == "session_model":
        return Head(Kind.MODEL_CHANGE, None, "model", summary_line(model_of(record) or ""))
    command = text_or_none(said.get("rawCommand")) if name == "slash_command" else None
    text = command or (msgspec.json.encode(said).decode() if said else "")
    return Head(Kind.CUSTOM, None, summary_line(name, 40), summary_line(text))
