"""LangGraph's checkpoints in SQLite, of every version since 0.0.69, and of LangGraph.js.

Two tables: `checkpoints`, each row with the whole state in it, and `writes`, what the tasks of the
step after a checkpoint wrote. Older ones have fewer columns, other names for the ids, or no writes
at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from time import time_ns
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.errors import CannotReadError, UnsupportedError
from tt_debugger.formats.shared.bad_texts import bad_texts_told
from tt_debugger.formats.shared.column_bytes import bytes_of
from tt_debugger.formats.shared.langgraph import (
    Held,
    IndexRow,
    Kept,
    LangGraphStore,
    Lost,
    NewCheckpoint,
    Serde,
    Threads,
    TreeRow,
    WriteRow,
    gone,
)
from tt_debugger.storage.probe import has_columns
from tt_debugger.storage.settling import has_settled
from tt_debugger.storage.sqlite import Database, Seen, look_at, sides_of
from tt_debugger.storage.tables import Value
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.writes import NewRows

FORMAT = "langgraph_sqlite"
CHECKPOINTS, WRITES = "checkpoints", "writes"
NOW = ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "checkpoint")
FIRST = ("thread_id", "thread_ts", "parent_ts", "checkpoint")
"""The columns before 0.2, when an id was still called a time."""
A_PAGE = 200
"""Threads that are listed where there are more rows than are gone over."""
FEW_ROWS = 2_000
"""Rows of which all threads are listed."""
SOME_WRITES = 256
"""Writes that are looked at together, as many as the database gives at once."""
_LOWEST = -(2**62)


class SqliteThreads:
    """The threads in a private copy of a database."""

    is_live = False

    def __init__(self, location: str, serde: Serde) -> None:
        self.location = location
        self._serde = serde
        begin = time_ns()
        self._database = Database(location)
        self._is_sure = has_settled(begin, *self._database.seen.times)
        self._broken: dict[str, None] = {}
        columns = self._database.tables[CHECKPOINTS].columns
        is_first = "checkpoint_id" not in columns
        self._id = "thread_ts" if is_first else "checkpoint_id"
        self._parent = "parent_ts" if is_first else "parent_checkpoint_id"
        self._has_namespaces = "checkpoint_ns" in columns
        self._has_types = "type" in columns

    def newest(self) -> Sequence[str]:
        """Give all threads where there are few rows, else one page of them."""
        latest: dict[str, str] = {}
        count = 0
        columns = ("thread_id", self._id)
        for count, (thread, name) in enumerate(self._all(columns, FEW_ROWS + 1), 1):
            if isinstance(thread, str):
                latest[thread] = max(str(name), latest.get(thread, ""))
            if count > FEW_ROWS or len(latest) > FEW_ROWS:
                break
        found = sorted(latest, key=lambda thread: (latest[thread], thread))
        if count <= FEW_ROWS:
            return found
        if len(found) < A_PAGE:
            # The newest of them have very many rows: others come first, in the order of names.
            others = self._from("", A_PAGE - len(found))
            found = [*(each for each in others if each not in latest), *found]
        return found[-A_PAGE:]

    def beginning_with(self, text: str, most: int) -> Sequence[str]:
        """Give the ids of threads that begin with a text, the one that is it first."""
        is_there = self._rows(CHECKPOINTS, ("thread_id",), where={"thread_id": text}, most=1)
        found = [text] if any(True for _ in is_there) else []
        for each in self._from(text, most - len(found)):
            if not each.startswith(text):
                break
            found.append(each)
        return found

    def namespaces(self, thread: str) -> Sequence[str]:
        """Give the namespaces in which a thread has checkpoints."""
        if not self._has_namespaces:
            return [""] if any(True for _ in self.index(thread, "", most=1)) else []
        columns, found = ("checkpoint_ns",), list[str]()
        where: dict[str, Value] = {"thread_id": thread}
        after: tuple[Value, ...] = ()
        while True:
            row = next(
                self._rows(CHECKPOINTS, columns, order=columns, where=where, after=after, most=1),
                None,
            )
            if row is None or row[0] is None:
                return found
            after = row
            if isinstance(row[0], str):
                found.append(row[0])

    def index(
        self, thread: str, namespace: str, *, most: int | None = None, descending: bool = False
    ) -> Iterator[IndexRow]:
        """Go over the checkpoints of a namespace by their ids."""
        where = self._where(thread, namespace)
        if where is None:
            return
        columns = (self._id, self._parent, "metadata", "type")
        yield from self._rows(  # pyright: ignore[reportReturnType] - as many as columns
            CHECKPOINTS, columns, order=(self._id,), where=where, most=most, descending=descending
        )

    def tree(self, thread: str, namespace: str) -> Iterator[TreeRow]:
        """Go over the checkpoints of a namespace by their ids, without their metadata."""
        where = self._where(thread, namespace)
        if where is None:
            return iter(())
        columns, order = (self._id, self._parent, "type"), (self._id,)
        try:
            # Of very many rows, each step between here and the database is felt.
            rows = list(self._database.rows(CHECKPOINTS, columns, order=order, where=where))
        except CannotReadError:
            rows = list(self._rows(CHECKPOINTS, columns, order=order, where=where))
        return iter(rows)  # pyright: ignore[reportReturnType] - as many as columns

    def checkpoints(
        self, thread: str, namespace: str, ids: Sequence[Value], passed: int = 0
    ) -> list[tuple[Held | Lost, Value]]:
        """Give the checkpoints of some ids, which stand next to each other in the index."""
        where = self._where(thread, namespace) or {}
        columns, order = (self._id, "type", "checkpoint", "metadata"), (self._id,)
        decode = self._serde.checkpoint
        if passed or None in ids or len(set(ids)) < len(ids):
            return self._one_by_one(where, columns, ids, passed)
        found: dict[Value, tuple[Held | Lost, Value]] = {}
        first = self._rows(CHECKPOINTS, columns, where={**where, self._id: ids[0]}, most=1)
        for name, kind, data, about in first:
            found[name] = decode(kind, data), about
        if len(ids) > 1:
            rest = self._rows(
                CHECKPOINTS, columns, order=order, where=where, after=ids[:1], most=len(ids) - 1
            )
            for name, kind, data, about in rest:
                found[name] = decode(kind, data), about
        return [found.get(each, _GONE) for each in ids]

    def _one_by_one(
        self, where: dict[str, Value], columns: Sequence[str], ids: Sequence[Value], passed: int
    ) -> list[tuple[Held | Lost, Value]]:
        """Give checkpoints of which some have no id, behind which nothing stands, or the same."""
        decode = self._serde.checkpoint
        found: list[tuple[Held | Lost, Value]] = []
        for each, count in Counter(ids).items():
            end = passed + count
            rows = self._rows(CHECKPOINTS, columns, where={**where, self._id: each}, most=end)
            own = [
                (decode(kind, data), about) for _, kind, data, about in islice(rows, passed, end)
            ]
            found += own + [_GONE] * (count - len(own))
            passed = 0
        return found

    def writes(
        self, thread: str, namespace: str, first: Value, last: Value, *, values: bool
    ) -> Iterator[WriteRow]:
        """Go over the writes under the checkpoints from one id to another."""
        where = self._where(thread, namespace)
        if where is None or WRITES not in self._database.tables:
            return
        columns = [self._id, "task_id", "task_path", "idx", "channel"]
        columns += ("type", "value") if values else ("", "")
        order = ("task_id", "idx")
        if first == last:
            where[self._id] = first
            yield from self._rows(WRITES, columns, order=order, where=where)  # pyright: ignore[reportReturnType] - as many as columns
            return
        rows = self._rows(
            WRITES, columns, order=(self._id, *order), where=where, after=(first, "", _LOWEST)
        )
        while some := list(islice(rows, SOME_WRITES)):
            # They ascend: where the last of some is not behind the end, none is.
            if _is_behind(some[-1][0], last):
                yield from takewhile(lambda row: not _is_behind(row[0], last), some)  # pyright: ignore[reportReturnType] - as many as columns
                return
            yield from some  # pyright: ignore[reportReturnType] - as many as columns

    def stored(
        self, thread: str, namespace: str, key: Value, passed: int = 0
    ) -> tuple[str | None, Value]:
        """Give the type and bytes of the body of one checkpoint."""
        where = {**(self._where(thread, namespace) or {}), self._id: key}
        rows = self._rows(CHECKPOINTS, ("type", "checkpoint"), where=where, most=passed + 1)
        kind, data = next(islice(rows, passed, None), (None, None))
        return (kind if isinstance(kind, str) else None), data

    def stamps(self, thread: str, namespace: str) -> Sequence[int]:
        """Give a number for each checkpoint that tells it and what is written under it."""
        where = self._where(thread, namespace)
        if where is None:
            return ()
        columns = (self._id, self._parent, "type", "checkpoint", "metadata")
        rows = self._rows(CHECKPOINTS, columns, order=(self._id,), where=where)
        numbers = {row[0]: hash(row) for row in rows}
        columns = (self._id, "task_id", "task_path", "idx", "channel", "type", "value")
        if WRITES in self._database.tables:
            for row in self._rows(WRITES, columns, where=where):
                if row[0] in numbers:
                    numbers[row[0]] ^= hash(row)
        return list(numbers.values())

    def kept(self, thread: str, namespace: str, key: str) -> Kept:
        """Give a checkpoint as it is kept. Raises UnsupportedError for the first layout."""
        if self._id != "checkpoint_id" or not self._has_namespaces:
            raise UnsupportedError(
                "a database of LangGraph before 0.2 takes no forks",
                "open it with a newer LangGraph first",
            )
        where = {**(self._where(thread, namespace) or {}), self._id: key}
        rows = self._rows(CHECKPOINTS, ("type", "checkpoint", "metadata"), where=where, most=1)
        kind, body, metadata = next(rows, (None, None, None))
        return Kept(kind if isinstance(kind, str) else None, bytes_of(body), bytes_of(metadata))

    def writing(self, new: NewCheckpoint) -> NewRows:
        """Say what is to be written for a new checkpoint: one row."""
        from tt_debugger.core.fork.writes import How, Insert, NewRows

        values = {
            "thread_id": new.thread,
            "checkpoint_ns": new.namespace,
            "checkpoint_id": new.id,
            "parent_checkpoint_id": new.parent,
            "type": new.kept.kind,
            "checkpoint": new.kept.body,
            "metadata": new.kept.metadata,
        }
        fresh = ("thread_id",) if new.parent is None else tuple(values)[:3]
        how = How.CHANGED if new.edited else How.KEPT
        return NewRows(self.location, (Insert(CHECKPOINTS, values, fresh, how, new.row),))

    def findings(self) -> Sequence[Finding]:
        """Give what is wrong with the database."""
        damage = map(_in_one_line, self._database.damage)
        told = [finding(Code.UNREADABLE, each) for each in (*damage, *self._broken)]
        told += bad_texts_told(self._database)
        return told

    def renewed(self) -> Self:
        """Copy the database anew where it looks otherwise, or may have been written to."""
        seen = look_at(self.location)
        is_due = not self._is_sure and _has_settled(seen)
        if seen == self._database.seen and not is_due:
            return self
        return type(self)(self.location, self._serde)

    def watched(self) -> Sequence[str]:
        """Give the database and the files beside it, to which is written first."""
        return (self.location, *map(str, sides_of(self.location)))

    def close(self) -> None:
        """Remove the copy."""
        self._database.close()

    def _where(self, thread: str, namespace: str) -> dict[str, Value] | None:
        """Give what the rows of a namespace have, None where there can be none."""
        if self._has_namespaces:
            return {"thread_id": thread, "checkpoint_ns": namespace}
        return None if namespace else {"thread_id": thread}

    def _all(self, columns: Sequence[str], most: int) -> Iterator[tuple[Value, ...]]:
        return self._noted(self._database.newest(CHECKPOINTS, columns, most), CHECKPOINTS)

    def _from(self, text: str, most: int) -> list[str]:
        """Give the threads whose names stand behind a text, each found by the one before it."""
        found: list[str] = []
        columns = ("thread_id",)
        while len(found) < most:
            row = next(
                self._rows(CHECKPOINTS, columns, order=columns, after=(text,), most=1), None
            )
            if row is None or not isinstance(row[0], str):
                break
            text = row[0]
            found.append(text)
        return found

    def _rows(self, table: str, columns: Sequence[str], **how: Any) -> Iterator[tuple[Value, ...]]:
        return self._noted(self._database.rows(table, columns, **how), table)

    def _noted(self, rows: Iterator[tuple[Value, ...]], table: str) -> Iterator[tuple[Value, ...]]:
        """Go over rows as far as they can be read, and keep in mind where they ended."""
        try:
            yield from rows
        except CannotReadError as error:
            self._broken[f"the rows of {table} end here: {error.message}"] = None


def _is_behind(key: Value, last: Value) -> bool:
    """Tell whether an id is behind another: those of one kind have an order."""
    ids: list[Any] = [key, last]
    return type(key) is type(last) and bool(ids[0] > ids[1])


_GONE = (gone("the row is gone"), None)


def _in_one_line(damage: str) -> str:
    """Say what SQLite says on several lines, without the one that names the database."""
    lines = [each for each in damage.splitlines() if not each.startswith("***")]
    return f"the database is damaged: {'; '.join(lines)}"


def _has_settled(seen: Seen) -> bool:
    return has_settled(time_ns(), *seen.times)


class LangGraphSqlite(LangGraphStore):
    """The threads in a database."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "LangGraph threads in SQLite (also of LangGraph.js)"
    verified: ClassVar[str] = "every state compared with LangGraph's own get_state_history()"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the columns of its table of checkpoints."""
        if has_columns(probe, CHECKPOINTS, *NOW):
            return Match(95, "a table of LangGraph checkpoints")
        if has_columns(probe, CHECKPOINTS, *FIRST):
            return Match(94, "a table of LangGraph checkpoints, before 0.2")
        return None

    @classmethod
    def threads_at(cls, location: str, serde: Serde) -> Threads:
        """Copy the database. Raises CannotReadError."""
        return SqliteThreads(location, serde)


STORE = LangGraphSqlite
