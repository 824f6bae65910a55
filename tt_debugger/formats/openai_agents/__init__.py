"""OpenAI Agents SDK: sessions whose items are rows, as its SQLite and SQLAlchemy sessions have it.

Its advanced session has branches. A branch copies the rows that say which items it has, up to
the turn from which it goes on, so branches share what is the same from their beginning; where
two part is not written down. The agent itself always begins with the branch `main`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Usage
from tt_debugger.core.replay import Replay
from tt_debugger.formats.shared.message_heads import head_of, record_head, time_in, usage_of
from tt_debugger.formats.shared.renamed import table_in, table_with
from tt_debugger.formats.shared.transcript import Entry, LostFile, Piece, Told, Transcript
from tt_debugger.formats.shared.transcript_rows import Row, TranscriptRows, json_of, lost_row
from tt_debugger.storage.probe import DatabaseProbe
from tt_debugger.storage.sqlite import Database
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan

_MESSAGES = ("id", "session_id", "message_data")
_SESSIONS = ("session_id", "created_at", "updated_at")
_USUAL = "agent_messages"
_MAIN = "main"
_STRUCTURE = ("id", "message_id", "branch_id", "sequence_number", "user_turn_number")
_USED = ("requests", "input_tokens", "output_tokens", "total_tokens", "input_tokens_details")

_Turn = tuple[str, object]
"""A branch and the number of one of its turns."""


class OpenAIAgents(TranscriptRows):
    """The sessions in a database of the SDK."""

    format: ClassVar[str] = "openai_agents"
    about: ClassVar[str] = "sessions of the OpenAI Agents SDK, with their branches (SQLite)"
    verified: ClassVar[str] = "databases that its three kinds of session wrote"
    keeps_calls_whole: ClassVar[bool] = True

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the columns of its table of items, whatever that is called."""
        if not isinstance(probe, DatabaseProbe):
            return None
        table = table_with(dict(probe.tables), _MESSAGES, _USUAL)
        if table is None:
            return None
        return Match(95, f"the table {table:.40} has items of the OpenAI Agents SDK")

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all sessions, the one that was written to last at the end."""
        table = _sessions_table(database)
        order = ["updated_at", "created_at"] if table else ["id"]
        rows = self.rows(database, table or _messages_table(database), ["session_id"], order=order)
        found = (each["session_id"] for each in rows)
        # Where only the items tell of sessions, a session stands where its last item does.
        last_first = reversed([each for each in found if isinstance(each, str)])
        return list(reversed(dict.fromkeys(last_first)))

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give the items of a session in their order, on the branches that they belong to."""
        items = {
            each["id"]: each
            for each in self.rows(
                database,
                _messages_table(database),
                ["id", "message_data", "created_at"],
                order=["id"],
                where={"session_id": wanted},
            )
        }
        rows = self.rows(
            database,
            "message_structure",
            _STRUCTURE,
            order=["sequence_number", "id"],
            where={"session_id": wanted},
        )
        structure = list(rows)
        tree = _Branches(items)
        for row in structure:
            tree.take(row)
        if structure:
            usage = self.rows(
                database,
                "turn_usage",
                ["branch_id", "user_turn_number", *_USED],
                order=["id"],
                where={"session_id": wanted},
            )
            tree.take_usage(usage)
        tree.take_others()
        return Transcript(
            id=wanted,
            pieces=tree.pieces,
            active=tree.active,
            findings=tuple(tree.findings),
        )

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give the rows that a fork would add: a session of its own.

        Raises UnsupportedError for anything but items, and for a branch of the same session.
        """
        from tt_debugger.formats.openai_agents.fork import draft

        session, database = replay.session, self._database
        tables = _sessions_table(database), _messages_table(database)
        bodies = self.bodies(session, range(len(session)))
        return draft(database, tables, bodies, replay, plan)


class _Branches:
    """Makes the tree of a session: what branches have in common from their beginning is one."""

    def __init__(self, items: Mapping[Any, Row]) -> None:
        self.pieces: list[Piece] = []
        self.findings: list[Finding] = []
        self._items = items
        self._entries: list[int] = []
        """Where among the pieces each entry is."""
        self._after: dict[tuple[int | None, object], int | None] = {}
        """What an item became behind an entry: another entry, or itself where it is lost."""
        self._tips: dict[str, int | None] = {}
        self._turns: dict[_Turn, int] = {}
        self._taken: dict[object, int] = {}
        """How often each item became something."""

    @property
    def active(self) -> int | None:
        """The entry with which the agent would go on."""
        return self._tips.get(_MAIN)

    def take(self, row: Row) -> None:
        """Take a row that says that a branch has an item."""
        branch, name = str(row["branch_id"]), row["message_id"]
        if name not in self._items:
            what = f"the branch {branch:.40} has the item {name}, which is not there"
            self.findings.append(finding(Code.MISSING_PARENT, what))
            return
        before = self._tips.get(branch)
        if (before, name) not in self._after:
            self._after[before, name] = self._added(name, before)
        tip = self._tips[branch] = self._after[before, name]
        if tip is not None:
            self._turns[branch, row["user_turn_number"]] = tip

    def take_usage(self, rows: Iterator[Row]) -> None:
        """Take what turns used: the last item of a turn has all of it."""
        for row in rows:
            tip = self._turns.get((str(row["branch_id"]), row["user_turn_number"]))
            used = _usage(row)
            if tip is not None and used is not None:
                entry = self._entry(tip)
                if entry.head.usage is None:
                    head = msgspec.structs.replace(entry.head, usage=used)
                    self._replace(tip, msgspec.structs.replace(entry, head=head))
        tips: dict[int, list[str]] = {}
        for branch, tip in self._tips.items():
            if tip is not None and len(self._tips) > 1:
                tips.setdefault(tip, []).append(branch)
        for tip, branches in tips.items():
            label = ", ".join(branches)
            self._replace(tip, msgspec.structs.replace(self._entry(tip), label=label))

    def take_others(self) -> None:
        """Take the items that no branch has: all of them where there are no branches."""
        has_branches = bool(self._tips)
        before: int | None = None
        for name in self._items:
            if name in self._taken:
                before = self._after.get((before, name), before)
            else:
                before = self._added(name, before, is_alone=has_branches)
        if not has_branches:
            self._tips[_MAIN] = before

    def _added(self, name: object, before: int | None, *, is_alone: bool = False) -> int | None:
        """Add an item behind an entry; one that is lost leaves that the last."""
        again = self._taken.get(name, 0)
        self._taken[name] = again + 1
        piece = _piece(self._items[name], again)
        if isinstance(piece, LostFile):
            self.pieces.append(piece)
            return before
        place = len(self._entries)
        self._entries.append(len(self.pieces))
        if is_alone:
            told = finding(Code.AGENT_LOSES, "no branch has this item: the agent leaves it out")
            piece = msgspec.structs.replace(piece, findings=(*piece.findings, told))
        parent = {"parent": None} if before is None else {"above": before}
        self.pieces.append(msgspec.structs.replace(piece, **parent))
        return place

    def _entry(self, place: int) -> Entry:
        return cast("Entry", self.pieces[self._entries[place]])

    def _replace(self, place: int, entry: Entry) -> None:
        self.pieces[self._entries[place]] = entry


def _piece(row: Row, again: int) -> Entry | LostFile:
    """Give what an item is; `again` counts how often it was before, on other branches."""
    read = json_of(row["message_data"])
    name = f"{row['id']}.{again + 1}" if again else str(row["id"])
    value: object = read.value
    if not isinstance(value, dict):
        why = read.why or "it is no object"
        return lost_row("agent_messages", name, row["message_data"], why)
    item = as_map(read.value)
    is_known = isinstance(item.get("role"), str) or isinstance(item.get("type"), str)
    head = head_of(item)[0] if is_known else record_head(item)
    body = {"id": row["id"], "created_at": row["created_at"], "item": item}
    return Entry(
        head=head,
        body=body,
        told=Told((item,)),
        name=name,
        time=time_in(body),
        findings=read.told,
    )


def _usage(row: Row) -> Usage | None:
    details = json_of(row["input_tokens_details"]).value
    return usage_of({**row, "input_tokens_details": details})


def _messages_table(database: Database) -> str:
    return table_in(database, _MESSAGES, _USUAL)


def _sessions_table(database: Database) -> str | None:
    columns = {name: each.columns for name, each in database.tables.items()}
    return table_with(columns, _SESSIONS, "agent_sessions")


STORE = OpenAIAgents
