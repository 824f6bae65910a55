"""Reading a rollout: which records are checkpoints, and how they hang on each other.

A rollout is a log. What a model is sent, what changes a setting and what replaces or takes back
history are checkpoints, each hanging on the one before, but for rollbacks. The events that Codex
writes for its own screen are asides; what they alone tell (usage, failures, names) is taken from
them.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, ClassVar, Self, TypedDict

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Extent, Head, Kind, Role, Session, SessionId
from tt_debugger.core.response_items import OUTPUTS
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.codex.calls import Calls
from tt_debugger.formats.codex.heads import (
    compaction_head,
    ghost_head,
    item_head,
    settings_head,
    settings_in,
    usage_in,
)
from tt_debugger.formats.codex.lineage import header_of, is_own, parent_of, refusals, source_of
from tt_debugger.formats.codex.origins import Origin, chain_of, origin_in
from tt_debugger.formats.codex.records import (
    DISPLAY_ONLY,
    EVENT,
    FORMAT,
    GHOST,
    ITEM,
    ITEMS,
    META,
    STATE,
    TURN,
    Entry,
    compacts,
    entry_of,
    is_prompt,
    is_spawn,
    name_in,
    texts_in,
    thread_of_file,
)
from tt_debugger.formats.codex.threads import name_of
from tt_debugger.formats.codex.turns import Turns, digest
from tt_debugger.formats.shared.message_heads import record_head
from tt_debugger.formats.shared.promises import unmatched_results
from tt_debugger.formats.shared.reading import Place, Reading, Verdict, moment_of

_CWD = re.compile(r"<cwd>([^<]{1,4096})</cwd>")
_LONGEST_NAME = 40
_VERDICTS = {
    Code.TORN_TAIL: Verdict("it may still be being written; Codex passes over it"),
    Code.UNREADABLE: Verdict("Codex passes over the line in silence"),
    Code.DUPLICATE_ID: Verdict("Codex does not look at the ids of items", Severity.NOTE),
    Code.BYTE_ORDER_MARK: Verdict(
        "remove the first three bytes",
        refuses="Codex cannot read a first line that begins with a byte order mark",
    ),
}


class CodexSession(msgspec.Struct, frozen=True):
    """What replay needs to know of a file beside its records."""

    provider: str | None
    parent_thread: str | None
    origin: Origin | None
    """Where the history before the first record of the file is."""
    turns: tuple[int, ...]
    """The first row of each turn on the path of the active leaf."""
    taken_back: Mapping[int, int]
    """Rows that take turns back from the history before the file: how many are gone by then."""
    passed_over: frozenset[int]
    """Rows whose lines Codex itself cannot read."""


class _Notes(TypedDict):
    """What reading a rollout keeps in mind."""

    meta: dict[str, Any] | None
    meta_place: tuple[int, int]
    has_copy: bool
    last: tuple[int, int, bool]
    gaps: list[int]
    turns: Turns
    calls: Calls
    passed_over: set[int]
    answer: int | None
    counted: str
    name: str | None
    first_prompt: str
    has_own_prompt: bool
    cwd: str | None
    own_from: int | None
    elsewhere: tuple[str | None, str | None]


class CodexReading(Reading):
    """A rollout, read record by record."""

    agent: ClassVar[str] = "Codex"
    kept: ClassVar[Any] = _Notes
    verdicts: ClassVar[Mapping[Code, Verdict]] = _VERDICTS

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.flaw: Callable[[], str | None] = lambda: None
        """Tells what is wrong with the file as a whole, once it was read to its end."""
        self.meta: dict[str, Any] | None = None
        self.meta_place: tuple[int, int] = (0, 0)
        self.has_copy = False
        """Whether a copy of another thread's history may still come."""
        self.last: tuple[int, int, bool] = (0, 0, True)
        """Line and offset of the last record, and whether it has an ordinal; line 0 for none."""
        self.gaps: list[int] = []
        self.turns = Turns()
        self.calls = Calls()
        self.passed_over: set[int] = set()
        self.answer: int | None = None
        """The last row by the model of which nothing was counted yet."""
        self.counted = ""
        self.name: str | None = None
        self.first_prompt = ""
        self.has_own_prompt = False
        self.cwd: str | None = None
        self.own_from: int | None = None
        """The row from which the history is the thread's own, if a copy comes first."""
        self.elsewhere: tuple[str | None, str | None] = (None, None)
        """What other files told: the name of the thread, and why there is no more history."""

    def copied(self) -> Self:
        """Give a copy that can be read on without touching this one."""
        twin = super().copied()
        twin.turns, twin.calls = self.turns.copied(), self.calls.copied()
        return twin

    def take_notes(self, data: bytes | memoryview) -> None:
        """Keep in mind what another reading of the same file did.

        Raises ValueError where other files tell otherwise of the session by now.
        """
        super().take_notes(data)
        if self.elsewhere != self._told_elsewhere():
            raise ValueError("what other files tell of the session has changed")

    def _told_elsewhere(self) -> tuple[str | None, str | None]:
        origin, thread = origin_in(self.header), self.session_id
        lost = None if origin is None else chain_of(self.location, thread, origin).lost
        return name_of(self.location, thread), lost

    @property
    def session_id(self) -> SessionId:
        """The id of the thread; without a header, that in the name of the file."""
        own = text_or_none(self.header.get("id"))
        named = thread_of_file(PurePath(self.location).name)
        return SessionId(own) if own else SessionId(named) if named else super().session_id

    @property
    def has_session_id(self) -> bool:
        """Whether the header was read: whatever follows it is none."""
        return self.meta is not None

    def add(
        self,
        head: Head,
        own_id: object,
        parent: object,
        place: Place,
        time: float | None = None,
        name: str | None = None,
    ) -> None:
        """Add a checkpoint, which hangs on the one before unless it is a rollback."""
        row = len(self.heads)
        super().add(head, own_id, parent, place, time, name)
        # Ids may come again, so no row is linked by the id of another.
        self.links.hung.pop(row, None)
        if head.kind is Kind.GAP:
            self.gaps.append(row)
        else:
            self.turns.run = None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a record as a checkpoint or an aside."""
        entry = entry_of(record)
        if not self.last[0] and (entry.type != META or entry.is_bare):
            self._refuse_beginning(entry, place)
        self.last = (place.line, place.offset, isinstance(record.get("ordinal"), int))
        if self.has_copy and entry.type != META and is_own(self.header, record, entry):
            self.has_copy, self.own_from = False, len(self.heads)
        before = len(self.heads)
        self._take_entry(entry, record, place)
        if not place.is_json and len(self.heads) > before:
            self._pass_over(before, place)

    def _take_entry(self, entry: Entry, record: Mapping[str, Any], place: Place) -> None:
        match entry.type:
            case "response_item":
                self._take_item(entry, place, _time_of(record))
            case "event_msg":
                self._take_event(entry.payload, place, record)
            case "turn_context":
                self._take_turn(entry, place, _time_of(record))
            case "compacted":
                self._take_compacted(entry, place, _time_of(record))
            case "session_meta":
                self._take_meta(entry, place)
            case "inter_agent_communication":
                self._take_inter_agent(entry, place, _time_of(record))
            case kind if kind in DISPLAY_ONLY or kind.startswith(STATE):
                self.take_aside(kind, place)
            case kind:
                self._take_unknown(record, place, kind, _time_of(record))

    def _refuse_beginning(self, entry: Entry, place: Place) -> None:
        why = (
            "Codex does not resume files of this age: for it the rollout is empty"
            if entry.is_bare and entry.type in (META, ITEM)
            else "Codex does not resume a rollout that does not start with session metadata"
        )
        self.note(Code.AGENT_REFUSES, why, place)

    def _pass_over(self, row: int, place: Place) -> None:
        self.passed_over.add(row)
        self.note(
            Code.AGENT_LOSES,
            "this line is no JSON for Codex, which passes over it",
            place,
            hint="the record that it holds is shown; what Codex resumes is without it",
        )

    def _take_meta(self, entry: Entry, place: Place) -> None:
        thread = text_or_none(entry.payload.get("id"))
        if self.meta is not None:
            own = "" if thread == self.meta.get("id") else f" of {(thread or 'nobody')[:8]}"
            self.take_aside(f"{META}{own or ' again'}, copied", place)
            return
        self.take_aside(META, place)
        self.meta = header_of(entry.payload)
        self.has_copy = source_of(self.meta) is not None
        self.meta_place = (place.line, place.offset)
        self.cwd = text_or_none(self.meta.get("cwd"))
        for why in () if entry.is_bare else refusals(self.meta, self.location):
            self.note(Code.AGENT_REFUSES, why, place)

    @property
    def header(self) -> dict[str, Any]:
        """What the header says; nothing where there is none."""
        return self.meta or {}

    def _take_item(self, entry: Entry, place: Place, time: float | None) -> None:
        item, kind = entry.payload, entry.payload.get("type")
        if kind == GHOST:
            self.add(ghost_head(item), None, None, place, time)
            return
        if not isinstance(kind, str) or kind not in ITEMS:
            self._take_unknown(item, place, kind if isinstance(kind, str) else "", time)
            return
        row = len(self.heads)
        head = item_head(item)
        if kind in OUTPUTS:
            head = self.calls.named(head, text_or_none(item.get("call_id")), self.heads)
        if is_prompt(item):
            head = self._begun_turn(head, row)
        self.add(head, item.get("id") or None, None, place, time)
        if head.role is Role.ASSISTANT:
            self.answer = row
        elif self.cwd is None and head.name == "environment":
            found = _CWD.search(" ".join(texts_in(item)))
            self.cwd = found[1].strip() if found else None
        self.calls.take(item, row, self.heads)

    def _begun_turn(self, head: Head, row: int) -> Head:
        """Begin a turn with a prompt."""
        is_own = self.own_from is not None and parent_of(self.header) is not None
        if not self.first_prompt or (is_own and not self.has_own_prompt):
            # What a subagent was asked stands behind the history of the thread that started it.
            self.first_prompt, self.has_own_prompt = head.summary, is_own
        return msgspec.structs.replace(head, step=self.turns.begin(row))

    def _take_compacted(self, entry: Entry, place: Place, time: float | None) -> None:
        if compacts(entry.payload):
            head = compaction_head(entry.payload)
        else:
            self.note(Code.WRONG_TYPE, "the compaction has neither summary nor history", place)
            head = Head(Kind.UNREADABLE, name="compact", failed=True)
        self.add(head, None, None, place, time)
        self.answer = None

    def _take_turn(self, entry: Entry, place: Place, time: float | None) -> None:
        changed = self.turns.changed_by(settings_in(entry.payload))
        if not changed:
            self.take_aside(TURN, place)
            return
        run = self.turns.set_anew(len(self.heads), changed)
        self.add(settings_head(changed), None, None, place, time)
        self.turns.run = run

    def _take_inter_agent(self, entry: Entry, place: Place, time: float | None) -> None:
        said = text_or_none(entry.payload.get("content")) or ""
        step = self.turns.begin(len(self.heads))
        head = Head(Kind.CUSTOM, None, "agents", summary_line(said), step=step)
        self.add(head, None, None, place, time)

    def _take_event(
        self, payload: dict[str, Any], place: Place, record: Mapping[str, Any]
    ) -> None:
        """Take from an event what it alone tells; most only mirror what items say."""
        kind = payload.get("type")
        head: Head | None = None
        match kind:
            case "thread_rolled_back":
                has_base = origin_in(self.header) is not None
                told = payload.get("num_turns")
                head, self.answer = self.turns.take_back(told, self.heads, has_base=has_base), None
            case "thread_name_updated" if self._is_own(payload.get("thread_id")):
                self.name = name_in(payload)
                head = Head(Kind.SETTING, None, "title", summary_line(self.name or ""))
            case "turn_aborted":
                reason = text_or_none(payload.get("reason")) or ""
                head = Head(Kind.INTERRUPT, None, "aborted", summary_line(reason), failed=True)
            case "error":
                said = text_or_none(payload.get("message")) or ""
                head = Head(Kind.CUSTOM, None, "error", summary_line(said), failed=True)
            case "token_count":
                self._count_tokens(payload)
            case "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end":
                self.calls.end(payload, self.heads)
            case "collab_agent_spawn_end":
                threads = [payload.get("new_thread_id")]
                self.calls.end_spawn(payload.get("call_id"), threads, self.heads)
            case "item_completed" if is_spawn(item := as_map(payload.get("item"))):
                threads = as_list(item.get("receiver_thread_ids"))
                self.calls.end_spawn(item.get("id"), threads, self.heads)
            case _:
                pass
        if head is not None:
            self.add(head, None, None, place, _time_of(record))
            return
        name = summary_line(kind, _LONGEST_NAME) if isinstance(kind, str) else EVENT
        self.take_aside(name, place)

    def _is_own(self, thread: object) -> bool:
        """Tell whether an event is of this thread: that of another one was copied."""
        return thread in (None, self.header.get("id"))

    def _take_unknown(
        self, record: Mapping[str, Any], place: Place, kind: str, time: float | None
    ) -> None:
        if kind:
            self.note(
                Code.UNKNOWN_RECORD,
                f"the type {kind!r:.60} is not known",
                place,
                hint="kept as custom; Codex passes over it",
            )
            head = record_head(record)
        else:
            self.note(Code.WRONG_TYPE, "the record has no type", place, hint="shown as unreadable")
            keys = summary_line(" ".join(record))
            head = Head(Kind.UNREADABLE, name="unreadable", summary=keys, failed=True)
        self.add(head, None, None, place, time)

    def _count_tokens(self, payload: Mapping[str, Any]) -> None:
        """Give what an answer used to its row. A count that comes again counts nothing."""
        total = as_map(payload.get("info")).get("total_token_usage")
        told = self.counted if total is None else digest(total)
        usage = usage_in(payload)
        is_new = usage is not None and (total is None or told != self.counted)
        self.counted = told
        if is_new and self.answer is not None:
            self.heads.amend(self.answer, usage)
            self.answer = None

    def facts(self) -> CodexSession:
        """Give what replay needs to know of the file."""
        meta = self.header
        return CodexSession(
            text_or_none(meta.get("model_provider")),
            parent_of(meta),
            origin_in(meta),
            tuple(turn.row for turn in self.turns.begun),
            dict(self.turns.taken_back),
            frozenset(self.passed_over),
        )

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last record of the file is the active leaf."""
        meta, facts = self.header, self.facts()
        active = self.heads.not_gap_before(len(self.heads))
        self.elsewhere = self._told_elsewhere()
        name = self.name or self.elsewhere[0] or self.first_prompt
        origin = facts.origin
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            self._parents(),
            active=None if active < 0 else active,
            title=name or None,
            cwd=self.cwd,
            forked_from=text_or_none(meta.get("forked_from_id")) or (origin and origin.thread),
            extent=extent,
            own=facts,
            subsessions=dict(self.calls.started),
        )

    def _parents(self) -> array[int]:
        parents = array("q", range(NO_ROW, len(self.heads) - 1))
        for row in self.gaps:
            # What follows a gap hangs on what stands before it; so does a gap, until its turn.
            if row + 1 < len(parents):
                parents[row + 1] = parents[row]
            parents[row] = NO_ROW
        for row, parent in self.turns.hung.items():
            parents[row] = parent
        return parents

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole file shows."""
        found = list(unmatched_results(session, self.calls.rows.items(), self.calls.results))
        line, offset, has_ordinal = self.last
        if self.header.get("history_mode") == "paginated" and not has_ordinal:
            why = "Codex does not resume it: the last record of a paginated rollout has no ordinal"
            found.append(finding(Code.AGENT_REFUSES, why, line=line, offset=offset))
        _, lost = self.elsewhere
        if lost is not None:
            hint = "what came before this file is not shown, and Codex does not resume it"
            line, offset = self.meta_place
            found.append(finding(Code.AGENT_REFUSES, lost, hint=hint, line=line, offset=offset))
        flaw = self.flaw()
        if flaw is not None:
            hint = "decompress what is there with zstd -dc, or take a copy that is whole"
            line, offset, _ = self.last
            told = f"{flaw}; what comes before that is shown"
            found.append(finding(Code.TORN_TAIL, told, hint=hint, line=line, offset=offset))
        if self.own_from:
            rows = "row 1" if self.own_from == 1 else f"rows 1 to {self.own_from}"
            found.append(
                finding(
                    Code.HEADER,
                    f"{rows} are a copy of the history of thread {source_of(self.header):.60}",
                    severity=Severity.NOTE,
                    line=session.heads.line(0),
                    offset=session.heads.offset(0),
                )
            )
        return found


def _time_of(record: Mapping[str, Any]) -> float | None:
    time = record.get("timestamp")
    return moment_of(time) if isinstance(time, str) else None
