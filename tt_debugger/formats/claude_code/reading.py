"""Reading a Claude Code file: lines that have a place in the tree, and those that have none.

The lines of one message become one checkpoint, named by the last of them, at the place of the
first. Progress is passed through: what hangs on it hangs on what it hangs on.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import (
    KIND_NUMBERS,
    Aside,
    Extent,
    Heads,
    Kind,
    Session,
    Span,
)
from tt_debugger.core.placed import finding_at
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import Linked, Links
from tt_debugger.formats.claude_code.entries import (
    AssistantLine,
    Entry,
    Outcome,
    PlainLine,
    ProgressLine,
    UserLine,
    decode_line,
    entry_of,
    text_in,
)
from tt_debugger.formats.claude_code.heads import head_of_lines, is_prompt
from tt_debugger.formats.claude_code.older import older_versions
from tt_debugger.formats.claude_code.tree import Written, active_leaf, drawn
from tt_debugger.formats.claude_code.types import ASIDES, CHAIN, FORMAT
from tt_debugger.formats.shared.promises import unmatched_results
from tt_debugger.formats.shared.reading import Place, PlainEntry, Plainly, Reading, Verdict

_CARRIERS = frozenset(("attachment", "system"))
"""Those of them that hold no message, but others hang on them."""
_LONGEST_NAME = 40
_TITLES = {
    "custom-title": ("customTitle", 3),
    "agent-name": ("agentName", 2),
    "ai-title": ("aiTitle", 2),
    "summary": ("summary", 1),
}
"""Where each of them has a title, and which of them comes before which."""

_VERDICTS = {
    Code.TORN_TAIL: Verdict(
        "it may still be being written; if not, Claude Code glues its next line to it and loses"
        " both"
    ),
    Code.NO_FINAL_NEWLINE: Verdict(
        "Claude Code glues its next line to this one and then loses both: add a newline",
        Severity.WARNING,
    ),
    Code.SEVERAL_ON_LINE: Verdict(
        "two writers, or a torn write; Claude Code loses the whole line when it resumes"
    ),
}


class Title(msgspec.Struct, frozen=True):
    """A title and the number of rows before the line that gives it.

    `leaf` is the id of the line that it is about, None where it is about the session.
    """

    rows: int
    text: str
    rank: int
    leaf: str | None = None


class ClaudeSession(msgspec.Struct, frozen=True):
    """What replay needs to know of a file: its titles, and which links the agent mends."""

    titles: tuple[tuple[int, str], ...]
    """The rows from which each title counts, and the title."""
    healed: Mapping[int, int]
    """By row, the row on which Claude Code hangs what names a parent that is not there."""

    def title_at(self, row: int) -> str | None:
        """Give the title of the session when the line of a row was written."""
        place = bisect_right(self.titles, row, key=itemgetter(0))
        return self.titles[place - 1][1] if place else None


def titles_that_count(titles: Iterable[Title]) -> tuple[tuple[int, str], ...]:
    """Give the title that counts from each row on: of those of the highest rank the last."""
    counting: list[tuple[int, str]] = []
    rank = 0
    for each in titles:
        if each.rank >= rank:
            rank = each.rank
            counting.append((each.rows, each.text))
    return tuple(counting)


class _Notes(TypedDict):
    """What reading a Claude Code file keeps in mind."""

    messages: dict[str, int]
    calls: dict[str, int]
    tools: dict[str, str]
    prompts: dict[str, int]
    results: list[tuple[int, tuple[str, ...]]]
    agents: dict[str, str]
    roots: list[tuple[int, str]]
    sidechain: set[int]
    carriers: set[int]
    strangers: set[int]
    boundaries: set[int]
    preserved: set[int]
    passed_by: set[int]
    leaves: list[str]
    titles: list[Title]
    counting: list[tuple[int, str]]
    called_before: list[tuple[str, int]]
    prompt: str | None
    cwd: str | None
    forked_from: str | None
    unknown: list[str]
    has_times: bool
    healed: dict[int, int]


class ClaudeReading(Reading):
    """A Claude Code file, read line by line."""

    agent: ClassVar[str] = "Claude Code"
    plainly: ClassVar[Plainly | None] = Plainly(decode_line, head_of_lines)
    kept: ClassVar[Any] = _Notes
    verdicts: ClassVar[Mapping[Code, Verdict]] = _VERDICTS

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.messages: dict[str, int] = {}
        """The row of each message of the model, by its id."""
        self.calls: dict[str, int] = {}
        """The row of each call of a tool, by its id."""
        self.tools: dict[str, str] = {}
        """The tool of each call, by the id of the call."""
        self.called_before: list[tuple[str, int]] = []
        """Calls whose id a later one has too."""
        self.prompts: dict[str, int] = {}
        """The row of each call of a subagent, by what that is asked to do."""
        self.results: list[tuple[int, tuple[str, ...]]] = []
        """The rows of results, with the ids of the calls that they answer."""
        self.agents: dict[str, str] = {}
        """The name of the subagent that each call started, by the id of the call."""
        self.roots: list[tuple[int, str]] = []
        """The roots of sidechains, with what the subagent was asked to do."""
        self.sidechain: set[int] = set()
        self.carriers: set[int] = set()
        """The rows of attachments and system lines: no message, but others hang on them."""
        self.strangers: set[int] = set()
        """The rows of lines that Claude Code does not take for checkpoints."""
        self.boundaries: set[int] = set()
        """The rows of compactions, which hang on what they sum up as it is drawn."""
        self.preserved: set[int] = set()
        """Those of them that keep some of what was before."""
        self.passed_by: set[int] = set()
        """Rows that hang on progress."""
        self.leaves: list[str] = []
        """The ids that `last-prompt` lines name as the leaf, in their order."""
        self.titles: list[Title] = []
        self.counting: list[tuple[int, str]] = []
        """Those that count, and from which row on; worked out with the session."""
        self.prompt: str | None = None
        self.cwd: str | None = None
        self.forked_from: str | None = None
        self.unknown: list[str] = []
        self.has_times = False
        self.healed: dict[int, int] = {}
        """What the agent hangs rows on whose parent is missing, in the session given last."""
        self.lost: set[int] = set()
        """All such rows."""
        self.fanned: set[int] = set()
        """Messages on which several results hang side by side, in that session."""

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a line: as a checkpoint, as a part of one, or as an aside."""
        kind = text_or_none(record.get("type")) or ""
        if kind in CHAIN:
            self._take_chained(record, place)
        elif kind == "progress":
            self._take_progress(record, place)
        elif kind not in ASIDES and isinstance(record.get("uuid"), str) and "parentUuid" in record:
            self._note_unknown(kind, place, "kept as custom; others may hang on it")
            self.strangers.add(len(self.heads))
            self._enter(entry_of(record), place.line, place.offset, place.length, place.name)
        else:
            if kind not in ASIDES:
                self._note_unknown(kind, place, "kept beside the tree, in which it has no place")
            self._keep_in_mind(kind, record)
            self.take_aside(kind or "record", place)

    def _take_chained(self, record: dict[str, Any], place: Place) -> None:
        entry = entry_of(record)
        if entry.type in ("user", "assistant") and not isinstance(record.get("message"), dict):
            self.note(Code.WRONG_TYPE, "the message is not an object", place)
        if self.cwd is None:
            self.cwd = text_or_none(record.get("cwd"))
        if self.forked_from is None:
            self.forked_from = text_or_none(as_map(record.get("forkedFrom")).get("sessionId"))
        if self.prompt is None and is_prompt(record):
            self.prompt = summary_line(text_in(as_map(record.get("message")).get("content")))
        row = len(self.heads)
        is_boundary = record.get("subtype") == "compact_boundary"
        if is_boundary:
            if not entry.parent:
                self.boundaries.add(row)
                entry.parent = record.get("logicalParentUuid")
            if as_map(record.get("compactMetadata")).get("preservedSegment"):
                self.preserved.add(row)
        if entry.is_sidechain and entry.parent is None and entry.type == "user":
            self.roots.append((row, text_in(as_map(record.get("message")).get("content"))))
        self._enter(entry, place.line, place.offset, place.length, place.name)
        if is_boundary:
            # What hangs on what it sums up goes on without it.
            self.carriers.discard(row)

    def _note_unknown(self, kind: str, place: Place, hint: str) -> None:
        """Say once of each type that it is not known."""
        if kind in self.unknown:
            return
        self.unknown.append(kind)
        self.note(
            Code.UNKNOWN_RECORD,
            f"the line type {kind!r:.60} is not known",
            place,
            hint=hint,
            severity=Severity.NOTE,
        )

    def _take_progress(self, record: dict[str, Any], place: Place) -> None:
        own = record.get("uuid")
        if isinstance(own, str):
            self.links.passed[own] = text_or_none(record.get("parentUuid"))
        call = text_or_none(record.get("parentToolUseID"))
        self._take_agent(call, text_or_none(as_map(record.get("data")).get("agentId")))
        self.take_aside("progress", place)

    def _take_call(self, name: str, tool: str | None, row: int) -> None:
        before = self.calls.get(name)
        if before is not None and before != row:
            self.called_before.append((name, before))
        self.calls[name] = row
        if tool:
            self.tools[name] = tool

    def _take_answers(self, names: tuple[str, ...], row: int) -> None:
        self.results.append((row, names))
        tool = self.tools.get(names[0])
        if tool is not None:
            self.heads.named[row] = summary_line(tool, _LONGEST_NAME)

    def _take_agent(self, call: str | None, agent: str | None) -> None:
        if call is not None and agent is not None:
            self.agents.setdefault(call, agent)

    def _keep_in_mind(self, kind: str, record: dict[str, Any]) -> None:
        """Keep in mind what a line beside the tree says of the session."""
        if kind == "last-prompt" and isinstance(record.get("leafUuid"), str):
            self.leaves.append(record["leafUuid"])
        elif kind in _TITLES:
            key, rank = _TITLES[kind]
            text = text_or_none(record.get(key)) or text_or_none(record.get("title"))
            if text:
                leaf = str(record.get("leafUuid")) if kind == "summary" else None
                self.titles.append(Title(len(self.heads), summary_line(text), rank, leaf))

    @property
    def reads_plainly(self) -> bool:
        """Whether a line of the common shape says nothing more of the session."""
        return self.prompt is not None and self.cwd is not None

    def _take_run(
        self,
        run: Sequence[PlainEntry],
        number: int,
        offsets: Sequence[int],
        sizes: Sequence[int],
    ) -> None:
        """Take lines of the common shape that follow each other."""
        self.end_gap()
        self.has_times = True
        rows = _Rows(len(self.heads))
        for line, place, offset, size in zip(run, count(number), offsets, sizes, strict=False):
            if isinstance(line, ProgressLine):
                self.links.passed[line.own_id] = line.parent
                self._take_agent(line.call, line.data.agent_id if line.data else None)
                self.asides.append(Aside(rows.next_row - 1, "progress", place, offset, size))
            elif isinstance(line, PlainLine):
                row = self._take_line(line, rows, Span(place, offset, size))
                if self.links.passed and line.parent in self.links.passed:
                    self.passed_by.add(row)
        rows.put_into(self.heads, self.links)

    def _take_line(self, line: PlainLine, rows: _Rows, span: Span) -> int:
        """Add a line to the rows; give the one that it begins or goes on with."""
        if isinstance(line, AssistantLine):
            row = self._take_answer(line, rows, span)
            for block in line.message.content:
                if not isinstance(block, str) and (call := block.call) is not None:
                    self._take_call(call, block.name, row)
                    if block.prompt is not None:
                        self.prompts.setdefault(block.prompt, row)
            return row
        row = rows.add(line, span)
        if isinstance(line, UserLine):
            content = line.message.content
            names = tuple(
                [
                    answer
                    for each in content
                    if not isinstance(each, str) and (answer := each.answer) is not None
                ]
            )
            if names:
                self._take_answers(names, row)
                if isinstance(line.outcome, Outcome):
                    self._take_agent(names[0], line.outcome.agent_id)
        else:
            self.carriers.add(row)
        return row

    def _take_answer(self, line: AssistantLine, rows: _Rows, span: Span) -> int:
        """Add a line of the model: to the message that it is a part of, or as a checkpoint."""
        message, own = line.message.id, line.own_id
        row = None if message is None else self.messages.get(message)
        if row is not None and row >= rows.first:
            if rows.ids[row - rows.first] != own and self.links.aliases.get(own) != row:
                self._keep_between(row, rows.ids[row - rows.first], own, line.parent)
                rows.extend(row, line, span, self.links.aliases)
                return row
        elif row is not None and self._goes_on(row, own):
            self._keep_between(row, self.links.ids[row], own, line.parent)
            self.heads.extend_row(row, span, line.time.timestamp())
            self.links.rename(row, own)
            return row
        row = rows.add(line, span)
        if message is not None:
            self.messages[message] = row
        return row

    def _enter(self, entry: Entry, line: int, offset: int, length: int, name: str) -> None:
        """Add a line to the tree: to the message that it is a part of, or as a checkpoint."""
        time = math.nan if entry.time is None else entry.time
        self.has_times |= entry.time is not None
        row = self._row_to_extend(entry)
        if row is None:
            row = len(self.heads)
            kind = KIND_NUMBERS[Kind.CUSTOM if entry.type in _CARRIERS else Kind.MESSAGE]
            self.heads.extend(bytes((kind,)), (time,), (line,), (offset,), (length,))
            self.links.append(entry.own_id, entry.parent or None, name)
            if entry.message is not None:
                self.messages[_key(entry)] = row
            if entry.is_sidechain:
                self.sidechain.add(row)
            if entry.type in _CARRIERS:
                self.carriers.add(row)
        else:
            own = str(entry.own_id)
            self._keep_between(row, self.links.ids[row], own, entry.parent)
            self.heads.extend_row(row, Span(line, offset, length), time)
            self.links.rename(row, own)
        if isinstance(entry.parent, str) and entry.parent in self.links.passed:
            self.passed_by.add(row)
        for call in entry.calls:
            self._take_call(call.id, call.tool, row)
            if call.prompt is not None:
                self.prompts.setdefault(call.prompt, row)
        if entry.answers:
            self._take_answers(entry.answers, row)
            self._take_agent(entry.answers[0], entry.agent)

    def _keep_between(self, row: int, known: str, own_id: str, parent: object) -> None:
        """Keep in mind on what a part of a message hangs, where that is no part of it."""
        if isinstance(parent, str) and parent != known and self.links.aliases.get(parent) != row:
            self.links.behind[own_id] = row, parent

    def _row_to_extend(self, entry: Entry) -> int | None:
        """Give the row of the message that a line goes on with, None where it begins one."""
        if entry.message is None or not isinstance(entry.own_id, str) or not entry.own_id:
            return None
        row = self.messages.get(_key(entry))
        return row if row is not None and self._goes_on(row, entry.own_id) else None

    def _goes_on(self, row: int, own_id: str) -> bool:
        """Tell whether a line goes on with the message of a row.

        One that comes again with its own id is another checkpoint of that id, not a part.
        """
        known = self.links.ids[row]
        return bool(known) and known != own_id and self.links.aliases.get(own_id) != row

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session: results in line, and the leaf from which Claude Code goes on."""
        written = self._written()
        tree = drawn(linked, written)
        self.healed, self.lost = dict(tree.healed), set(tree.lost)
        self.fanned = set(tree.fanned)
        self.counting = list(titles_that_count(self._own_titles(linked)))
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            tree.parents,
            active=active_leaf(tree, written),
            title=self.counting[-1][1] if self.counting else self.prompt,
            cwd=self.cwd,
            forked_from=self.forked_from,
            extent=extent,
            own=self.facts(),
            aliases=self.links.aliases,
            subsessions=self._subsessions(linked),
        )

    def facts(self) -> ClaudeSession:
        """Give what replay needs to know of the file."""
        return ClaudeSession(tuple(self.counting), self.healed)

    def _own_titles(self, linked: Linked) -> Iterator[Title]:
        """Give the titles without those of leaves that were not written before them.

        Old versions put summaries of other files at the head of a new one.
        """
        leaves = {each.leaf for each in self.titles if each.leaf is not None}
        rows = {name: row for name, row in self.links.aliases.items() if name in leaves}
        rows |= {name: row for row, name in enumerate(linked.ids) if name in leaves}
        for each in self.titles:
            if each.leaf is None or rows.get(each.leaf, each.rows) < each.rows:
                yield each

    def _written(self) -> Written:
        return Written(
            self.links,
            self.heads,
            self.calls,
            self.results,
            self.carriers,
            self.sidechain,
            self.strangers,
            self.boundaries,
            self.leaves,
        )

    def _subsessions(self, linked: Linked) -> dict[int, tuple[str, ...]]:
        """Give the subagents by the row that called them: in files of their own, or in this."""
        started: dict[int, dict[str, None]] = {}
        for call, agent in self.agents.items():
            if call in self.calls:
                started.setdefault(self.calls[call], {})[agent] = None
        for row, prompt in self.roots:
            if prompt in self.prompts:
                started.setdefault(self.prompts[prompt], {})[f"#{quoted(linked.ids[row])}"] = None
        return {row: tuple(names) for row, names in started.items()}

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows: what does not fit, and what versions lose."""
        facts: ClaudeSession = session.own
        answered = [(name, row) for row, names in self.results for name in names]
        found = [*unmatched_results(session, (*self.called_before, *self.calls.items()), answered)]
        if len(session) and not self.has_times:
            why = "no line has a time: Claude Code finds no conversation in the file"
            found.append(finding_at(session, 0, Code.AGENT_REFUSES, why))
        found += older_versions(
            session,
            self._written(),
            facts.healed,
            self.lost,
            self.passed_by,
            self.preserved,
            self.fanned,
        )
        return found


class _Rows:
    """Rows to be added together; to add them one by one costs three times as much."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.ids: list[str] = []
        self._parents: list[str | None] = []
        self._kinds = bytearray()
        self._times: list[float] = []
        self._spans: list[Span] = []
        self._parts: dict[int, tuple[Span, ...]] = {}

    @property
    def next_row(self) -> int:
        """The row that comes next."""
        return self.first + len(self.ids)

    def add(self, line: PlainLine, span: Span) -> int:
        """Add a row that begins with a line, and give it."""
        self.ids.append(line.own_id)
        self._parents.append(line.parent)
        self._kinds.append(line.kind)
        self._times.append(line.time.timestamp())
        self._spans.append(span)
        return self.first + len(self.ids) - 1

    def extend(self, row: int, line: PlainLine, span: Span, aliases: dict[str, int]) -> None:
        """Go on with one of these rows."""
        place = row - self.first
        aliases[self.ids[place]] = row
        self.ids[place] = line.own_id
        self._times[place] = line.time.timestamp()
        self._parts[row] = (*self._parts.get(row, ()), span)

    def put_into(self, heads: Heads, links: Links) -> None:
        """Add the rows, to be described later."""
        spans = self._spans
        heads.extend(
            bytes(self._kinds),
            self._times,
            [each.line for each in spans],
            [each.offset for each in spans],
            [each.length for each in spans],
        )
        heads.parts |= self._parts
        links.extend(self.ids, self._parents)


def _key(entry: Entry) -> str:
    """Give what tells the messages of a file apart: subagents may repeat those of others."""
    return f"{entry.message}~" if entry.is_sidechain else entry.message or ""
