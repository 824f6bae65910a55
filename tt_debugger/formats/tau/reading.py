"""Reading a Tau file: every line an entry; one that Tau would refuse is shown, and says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Extent, Head, Kind, Session
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import Linked
from tt_debugger.formats.shared.context import kept_entries_missing
from tt_debugger.formats.shared.labels import Label, labels_on_nothing, resolved_labels
from tt_debugger.formats.shared.pi_messages import (
    SHOWN_ID,
    branch_summary_line,
    message_head,
    usage_of,
)
from tt_debugger.formats.shared.reading import Place, Reading, Verdict
from tt_debugger.formats.tau.entries import ENTRIES, migrated, refusal, seconds

FORMAT = "tau"
_REFUSES_ALL = "Tau refuses the whole session for this line"
_VERDICTS = {
    Code.UNREADABLE: Verdict(
        "mend the line or remove it", refuses="Tau refuses a session with an unreadable line"
    ),
    Code.TORN_TAIL: Verdict(
        "it may still be being written; if not, remove it",
        refuses="Tau refuses a session whose last line is not complete",
    ),
    # What Tau appends is glued to such a line, so it matters more than elsewhere.
    Code.NO_FINAL_NEWLINE: Verdict(
        "Tau glues its next entry to this line and then refuses the file: add a newline",
        Code.TORN_TAIL.severity,
    ),
    Code.BYTE_ORDER_MARK: Verdict(
        "remove the first three bytes",
        refuses="Tau refuses a session that begins with a byte order mark",
    ),
    Code.BAD_UTF8: Verdict(
        refuses="Tau refuses a session with bad UTF-8 or with control characters not escaped"
    ),
    Code.SEVERAL_ON_LINE: Verdict(
        "two writers, or a torn write: put a newline between the records",
        refuses="Tau refuses a session with two records on one line",
    ),
    Code.DUPLICATE_ID: Verdict(refuses="Tau refuses a session in which an id is used twice"),
    Code.CYCLE: Verdict(refuses="Tau refuses a session whose parents go in a circle"),
}
_LABEL_TARGETS = ("message", "compaction", "branch_summary")
_NO_LABEL_TARGETS = ("label", "leaf")


class _Notes(TypedDict):
    """What reading a Tau file keeps in mind."""

    labels: list[Label]
    old_labels: list[int]
    branchable: str | None
    ordinary: str | None
    compactions: list[tuple[int, Any]]
    types: list[str]
    info: dict[str, Any]
    leaf: tuple[int, Any, Place] | None


class TauReading(Reading):
    """A Tau file, read entry by entry."""

    agent: ClassVar[str] = "Tau"
    verdicts: ClassVar[Mapping[Code, Verdict]] = _VERDICTS
    line_ends: ClassVar[bytes] = b"\r"
    kept: ClassVar[Any] = _Notes

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.labels: list[Label] = []
        self.old_labels: list[int] = []
        """Places in `labels` of those that name no target; they have a stand-in there."""
        self.branchable: str | None = None
        self.ordinary: str | None = None
        self.compactions: list[tuple[int, object]] = []
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
            self._take_label(record, place)
        elif kind == "session_info":
            self.info = entry
        elif kind == "leaf":
            self.leaf = (len(self.types), entry.get("entry_id"), place)
        elif kind == "compaction" and "replaces_entry_ids" not in entry:
            self.compactions.append((len(self.types), entry.get("first_kept_entry_id")))
        if "id" not in record:
            self.note(
                Code.NO_ID,
                "the entry has no id",
                place,
                hint=f"shown as {place.name}; Tau gives it another id each time it reads the file",
                severity=Severity.NOTE,
            )
        self._take_label_target(record)
        self.types.append(kind)
        time = seconds(entry.get("timestamp"))
        self.add(_head(kind, entry), record.get("id"), record.get("parent_id"), place, time)

    def _take_label(self, entry: Mapping[str, Any], place: Place) -> None:
        text = entry.get("label")
        text = text.strip() if isinstance(text, str) else text
        target = entry.get("target_id")
        if "target_id" not in entry:
            self.old_labels.append(len(self.labels))
            target = entry.get("parent_id") or entry.get("id")
        self.labels.append(Label(target, text, place))

    def _take_label_target(self, record: Mapping[str, Any]) -> None:
        """Remember the first entries that an old label may mark, by their type in the file."""
        kind, own_id = record.get("type"), text_or_none(record.get("id"))
        if self.branchable is None and kind in _LABEL_TARGETS:
            self.branchable = own_id
        if self.ordinary is None and kind not in _NO_LABEL_TARGETS:
            self.ordinary = own_id

    def end_gap(self) -> None:
        """Make an open gap a checkpoint, keeping the types in step with the checkpoints."""
        super().end_gap()
        self.types += [""] * (len(self.heads) - len(self.types))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last entry of the file that is no `leaf` is the active leaf."""
        entries = (row for row in reversed(range(len(self.types))) if self._may_be_active(row))
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            linked.parents,
            resolved_labels(self._targeted_labels(), linked.ids),
            next(entries, None),
            text_or_none(self.info.get("title")),
            text_or_none(self.info.get("cwd")),
            extent=extent,
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows: entries that name nothing, or in vain."""
        return [
            *labels_on_nothing(self._targeted_labels(), session),
            *super().findings_of(session),
            *kept_entries_missing(session, self.compactions, self.agent),
            *self._ignored_leaf(session),
        ]

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
            )
        ]

    def _may_be_active(self, row: int) -> bool:
        return self.types[row] != "leaf" and not self.heads.is_gap(row)

    def _targeted_labels(self) -> list[Label]:
        """Give the labels with their targets; an old one marks the file's first entry with an id.

        A branchable entry comes before others; where there is neither, the stand-in remains.
        """
        target = self.ordinary if self.branchable is None else self.branchable
        labels = list(self.labels)
        for place in self.old_labels if target else ():
            labels[place] = labels[place]._replace(target=target)
        return labels


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
    shown = str(target)[:SHOWN_ID]
    what = f"{label} on {shown}" if label else f"cleared on {shown}"
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
