"""Reading a Tau file: every line an entry; one that Tau would refuse is shown, and says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Extent, Head, Kind, Session, SessionId
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import Linked
from tt_debugger.formats.shared.jsonl import Place, Reading, refusals, resolved_labels
from tt_debugger.formats.shared.pi_messages import branch_summary_line, message_head, usage_of
from tt_debugger.formats.tau.entries import ENTRIES, migrated, refusal

FORMAT = "tau"
_REFUSES_ALL = "Tau refuses the whole session for this line"
_REFUSED = {
    Code.DUPLICATE_ID: "Tau refuses a session in which an id is used twice",
    Code.CYCLE: "Tau refuses a session whose parents go in a circle",
}
_LABEL_TARGETS = frozenset(("message", "compaction", "branch_summary"))
_NO_LABEL_TARGETS = frozenset(("label", "leaf"))


class TauReading(Reading):
    """A Tau file, read entry by entry."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.labels: list[tuple[object, object, Place]] = []
        self.types: list[str] = []
        self.info: dict[str, Any] = {}
        self.leaf: tuple[int, object, Place] | None = None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take an entry as a checkpoint."""
        entry = migrated(record)
        kind = text_or_none(entry.get("type")) or ""
        reason = refusal(entry)
        if reason is not None:
            self.note(Code.AGENT_REFUSES, reason, place, hint=_REFUSES_ALL)
        if kind not in ENTRIES:
            self.note(
                Code.UNKNOWN_RECORD,
                f"the entry type {entry.get('type')!r:.60} is not known",
                place,
                hint="kept as custom",
            )
        elif kind == "label":
            self.labels.append((entry.get("target_id"), entry.get("label"), place))
        elif kind == "session_info":
            self.info = entry
        elif kind == "leaf":
            self.leaf = (len(self.types), entry.get("entry_id"), place)
        if "id" not in record:
            self.note(
                Code.NO_ID,
                "the entry has no id",
                place,
                hint=f"shown as {place.name}; Tau gives it another id each time it reads the file",
                severity=Severity.NOTE,
            )
        self.types.append(kind)
        time = _seconds(entry.get("timestamp"))
        self.add(_head(kind, entry), record.get("id"), record.get("parent_id"), place, time)

    def end_gap(self) -> None:
        """Make an open gap a checkpoint, keeping the types in step with the checkpoints."""
        super().end_gap()
        self.types += [""] * (len(self.heads) - len(self.types))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last entry of the file that is no `leaf` is the active leaf."""
        labels, unlabelled = resolved_labels(self._targeted_labels(linked), linked)
        entries = (row for row in reversed(range(len(self.types))) if self._may_be_active(row))
        session = Session(
            SessionId(PurePath(self.location).stem),
            FORMAT,
            self.heads,
            linked.ids,
            linked.parents,
            labels,
            next(entries, None),
            text_or_none(self.info.get("title")),
            text_or_none(self.info.get("cwd")),
            extent=extent,
        )
        findings = [*self.findings, *linked.findings, *unlabelled]
        findings += self.lost_history(session, "Tau") + self._ignored_leaf(session)
        findings += refusals(linked, _REFUSED)
        return msgspec.structs.replace(session, findings=tuple(findings))

    def _ignored_leaf(self, session: Session) -> list[Finding]:
        """Say where an older Tau would go on, if it is elsewhere."""
        if self.leaf is None or session.active is None:
            return []
        row, chosen, place = self.leaf
        active = session.ids[session.active]
        if row < session.active or chosen == active:
            return []
        return [
            finding(
                Code.AGENT_LOSES,
                f"Tau goes on at {active}, though a leaf entry chose {chosen!r:.60}",
                hint="Tau before 0.4 would go on there; since 0.4 it ignores leaf entries",
                line=place.line,
                offset=place.offset,
                checkpoint=session.ids[row],
            )
        ]

    def _may_be_active(self, row: int) -> bool:
        return self.types[row] != "leaf" and self.heads.kind(row) is not Kind.GAP

    def _targeted_labels(self, linked: Linked) -> list[tuple[object, object, Place]]:
        """Give the labels with their targets; one of an old file marks its first own entry."""
        rows = range(len(self.types))
        first = next((row for row in rows if self.types[row] in _LABEL_TARGETS), None)
        if first is None:
            others = (row for row in rows if self.types[row] not in {*_NO_LABEL_TARGETS, ""})
            first = next(others, None)
        by_line = None if first is None else linked.ids[first]
        return [
            (by_line if target is None else target, label, place)
            for target, label, place in self._trimmed_labels()
        ]

    def _trimmed_labels(self) -> list[tuple[object, object, Place]]:
        return [
            (target, label.strip() if isinstance(label, str) else label, place)
            for target, label, place in self.labels
        ]

    def ends_line(self, byte: int) -> bool:
        """Tell that a lone carriage return ends a line for Tau."""
        return byte == ord("\r")

    def found_byte_order_mark(self) -> None:
        """Note that Tau refuses such a file."""
        self.findings.append(
            finding(
                Code.AGENT_REFUSES,
                "the file begins with a byte order mark",
                hint=f"{_REFUSES_ALL}; remove the first three bytes",
                line=1,
                offset=0,
            )
        )

    def found_unreadable(self, place: Place, why: str) -> None:
        """Note that Tau refuses a file with such a line."""
        super().found_unreadable(place, why)
        self.note(Code.AGENT_REFUSES, f"not readable: {why}", place, hint=_REFUSES_ALL)

    def found_further_record(self, place: Place) -> None:
        """Note that Tau refuses a line with two records."""
        super().found_further_record(place)
        self.note(Code.AGENT_REFUSES, "two records on one line", place, hint=_REFUSES_ALL)

    def found_torn_tail(self, place: Place) -> None:
        """Note that Tau refuses a file with a torn last line."""
        super().found_torn_tail(place)
        self.note(
            Code.AGENT_REFUSES,
            "the last line is not complete",
            place,
            hint=f"{_REFUSES_ALL} until the line is complete or removed",
        )

    def found_no_final_newline(self, place: Place) -> None:
        """Note what Tau's next entry does to such a line."""
        self.note(
            Code.NO_FINAL_NEWLINE,
            "the last record has no line end",
            place,
            hint="Tau glues its next entry to this line and then refuses the file: add a newline",
            severity=Code.TORN_TAIL.severity,
        )


def _seconds(value: Any) -> float | None:
    """Give a time in seconds; a text that is a number is one for Tau."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _head(kind: str, entry: dict[str, Any]) -> Head:
    make = _HEADS.get(kind)
    if make is None:
        return Head(Kind.CUSTOM, name=kind or "unknown", summary=summary_line(" ".join(entry)))
    return make(entry)


def _message_entry_head(entry: dict[str, Any]) -> Head:
    if not isinstance(entry.get("message"), dict):
        return Head(
            Kind.UNREADABLE, name="message", summary="the message is no object", failed=True
        )
    return message_head(as_map(entry["message"]))


def _summary(entry: dict[str, Any]) -> str:
    return summary_line(text_or_none(entry.get("summary")) or "")


def _label_head(entry: dict[str, Any]) -> Head:
    label, target = text_or_none(entry.get("label")), entry.get("target_id")
    what = f"{label} on {target}" if label else f"cleared on {target}"
    return Head(Kind.LABEL, None, "label", summary_line(label if label and not target else what))


def _data_summary(entry: dict[str, Any]) -> str:
    data = entry.get("data")
    return "" if data is None else summary_line(msgspec.json.encode(data).decode())


def _model_name(entry: dict[str, Any]) -> str:
    provider = entry.get("provider")
    return f"{provider}/{entry.get('model')}" if provider else str(entry.get("model"))


_HEADS: dict[str, Callable[[dict[str, Any]], Head]] = {
    "message": _message_entry_head,
    "custom_message": lambda entry: message_head(
        {**entry, "role": "custom", "customType": entry.get("custom_type")}
    ),
    "model_change": lambda entry: Head(
        Kind.MODEL_CHANGE, None, "model", summary_line(_model_name(entry))
    ),
    "thinking_level_change": lambda entry: Head(
        Kind.SETTING, None, "thinking", summary_line(str(entry.get("thinking_level")))
    ),
    "compaction": lambda entry: Head(
        Kind.COMPACTION, None, "compact", _summary(entry), usage=usage_of(entry.get("usage"))
    ),
    "branch_summary": lambda entry: Head(
        Kind.BRANCH_SUMMARY,
        None,
        "branch",
        branch_summary_line(entry.get("summary")),
        usage=usage_of(entry.get("usage")),
    ),
    "label": _label_head,
    "leaf": lambda entry: Head(Kind.CUSTOM, None, "leaf", str(entry.get("entry_id"))),
    "session_info": lambda entry: Head(
        Kind.SETTING, None, "session", summary_line(str(entry.get("title") or entry.get("cwd")))
    ),
    "custom": lambda entry: Head(
        Kind.CUSTOM, None, text_or_none(entry.get("namespace")) or "custom", _data_summary(entry)
    ),
}
