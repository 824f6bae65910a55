"""The threads in a database of a server: three tables, of which only what is looked at is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_map
from tt_debugger.errors import CannotReadError, UnsupportedError
from tt_debugger.formats.langgraph_postgres.bodies import body_of
from tt_debugger.formats.langgraph_postgres.values import SharedValues
from tt_debugger.formats.shared.bad_texts import bad_texts_told
from tt_debugger.formats.shared.column_bytes import bytes_of
from tt_debugger.formats.shared.langgraph import (
    Held,
    IndexRow,
    Kept,
    Lost,
    NewCheckpoint,
    Serde,
    WriteRow,
    gone,
)
from tt_debugger.storage.postgres import ROW_VERSION, PostgresDatabase
from tt_debugger.storage.tables import Value

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.writes import NewRows

CHECKPOINTS, BLOBS, WRITES = "checkpoints", "checkpoint_blobs", "checkpoint_writes"
OF_CHECKPOINTS = frozenset(("thread_id", "checkpoint_ns", "checkpoint", "metadata"))
OF_BLOBS = frozenset(("thread_id", "checkpoint_ns", "channel", "type", "blob"))
A_PAGE = 200
"""Threads that are listed where there are more rows than are gone over."""
FEW_ROWS = 20_000
"""Rows of which all threads are listed."""
FEW_NAMESPACES = 20
"""Namespaces of a thread that are found one by the other."""
MOST_PASSED = 50
"""Names that may stand between two that begin alike, as the server puts names in order."""
SENDS = "__pregel_tasks"
WITH_SENDS = 4
"""The first layout in which what was sent to nodes is a channel like others."""

_LOWEST = -(2**31)

_Body = tuple[Held | Lost, Value]
_Rows = Iterator[tuple[Value, ...]]


def schemas_of(tables: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Give what stands before the names of the tables of a checkpointer, for each that is there.

    That is nothing for the one whose tables are searched by their own names, which comes first.
    """
    found: list[str] = []
    for name, columns in tables.items():
        schema, is_one, rest = name.rpartition(CHECKPOINTS)
        if is_one and not rest and (not schema or schema.endswith(".")):
            blobs = tables.get(schema + BLOBS, ())
            if set(columns) >= OF_CHECKPOINTS and set(blobs) >= OF_BLOBS:
                found.append(schema)
    return tuple(sorted(found))


class PostgresThreads:
    """The threads in a database; each question is answered with what is there now."""

    is_live = True

    def __init__(self, location: str, serde: Serde) -> None:
        self.location = location
        self._serde = serde
        self._database = PostgresDatabase(location)
        tables = {name: each.columns for name, each in self._database.tables.items()}
        self._schemas = schemas_of(tables)
        if not self._schemas:
            self.close()
            raise CannotReadError(f"cannot read {location}: it has no checkpoints of LangGraph")
        self._stamps: dict[tuple[str, str], tuple[str, Sequence[int]]] = {}
        self._is_shallow = "checkpoint_id" not in tables[self._table(CHECKPOINTS)]
        self._values = SharedValues(
            self._database, self._table(BLOBS), serde, is_shallow=self._is_shallow
        )

    def newest(self) -> Sequence[str]:
        """Give all threads where there are few rows, else one page of them."""
        latest: dict[str, str] = {}
        count = 0
        for count, (thread, name) in enumerate(self._stored_last(FEW_ROWS + 1), 1):
            if isinstance(thread, str):
                # A shallow saver has no ids: its rows are in the order of writing.
                mark = f"{FEW_ROWS + 1 - count:09}" if name is None else str(name)
                latest[thread] = max(mark, latest.get(thread, ""))
        found = sorted(latest, key=lambda thread: (latest[thread], thread))
        if count <= FEW_ROWS:
            return found
        if len(found) < A_PAGE:
            # The newest of them have very many rows: others come first, in the order of names.
            others = self._each("thread_id", {}, "", A_PAGE)
            found = [*(each for each in others if each not in latest), *found]
        return found[-A_PAGE:]

    def beginning_with(self, text: str, most: int) -> Sequence[str]:
        """Give the ids of threads that begin with a text, the one that is it first."""
        is_there = self._rows(CHECKPOINTS, ("thread_id",), where={"thread_id": text}, most=1)
        found = [text] if any(True for _ in is_there) else []
        if len(found) < most:
            # The order is that of a language, in which others may stand between them.
            behind = self._each("thread_id", {}, text, most + MOST_PASSED)
            found += (each for each in behind if each.startswith(text))
        return found[:most]

    def namespaces(self, thread: str) -> Sequence[str]:
        """Give the namespaces in which a thread has checkpoints."""
        column, where = "checkpoint_ns", {"thread_id": thread}
        found = self._each(column, where, None, FEW_NAMESPACES)
        if len(found) == FEW_NAMESPACES:
            # So many are found sooner by going over the thread.
            rows = self._rows(CHECKPOINTS, (column,), where=where)
            found = list({str(namespace) for (namespace,) in rows})
        return sorted(found)

    def index(
        self, thread: str, namespace: str, *, most: int | None = None, descending: bool = False
    ) -> Iterator[IndexRow]:
        """Go over the checkpoints of a namespace by their ids."""
        where = _where(thread, namespace)
        if self._is_shallow:
            for name, (_, metadata) in self._only(where):
                yield name, None, metadata, None
            return
        columns = ("checkpoint_id", "parent_checkpoint_id", "metadata")
        order = ("checkpoint_id",)
        found = self._rows(
            CHECKPOINTS, columns, where=where, order=order, most=most, descending=descending
        )
        if most is None:
            # By the text itself, whatever language the server sorts by.
            found = iter(sorted(found, key=_first, reverse=descending))
        for name, parent, metadata in found:
            yield name, parent, metadata, None

    def checkpoints(
        self, thread: str, namespace: str, ids: Sequence[Value], passed: int = 0
    ) -> list[_Body]:
        """Give the checkpoints of some ids, with the values that they share with others."""
        where = _where(thread, namespace)
        if self._is_shallow:
            found: dict[Value, _Body] = dict(self._only(where))
            parents: dict[Value, Value] = {}
        else:
            columns = ("checkpoint_id", "parent_checkpoint_id", "checkpoint", "metadata")
            rows = self._next_to_each_other(columns, ids, where)
            found = {row[0]: (body_of(row[2], self._serde), row[3]) for row in rows}
            parents = {row[0]: row[1] for row in rows}
        whole = {name: body for name, (body, _) in found.items() if not isinstance(body, Lost)}
        self._values.add_to(where, list(whole.values()))
        self._add_sends(where, whole, parents)
        return [found.get(each, _GONE) for each in ids]

    def writes(
        self, thread: str, namespace: str, first: Value, last: Value, *, values: bool
    ) -> Iterator[WriteRow]:
        """Go over the writes under the checkpoints from one id to another."""
        columns = ["checkpoint_id", "task_id", "task_path", "idx", "channel"]
        columns += ("type", "blob") if values else ("", "")
        order = ("checkpoint_id", "task_id", "idx")
        where: dict[str, Value] = {**_where(thread, namespace)}
        after: tuple[Value, ...] = ()
        if first == last:
            where["checkpoint_id"] = first
        else:
            after = (first, "", _LOWEST)
        rows = self._rows(WRITES, columns, where=where, order=order, after=after)
        end = str(last)
        yield from takewhile(lambda row: str(row[0]) <= end, rows)  # pyright: ignore[reportReturnType] - as many as columns

    def stored(
        self, thread: str, namespace: str, key: Value, passed: int = 0
    ) -> tuple[str | None, Value]:
        """Give the body of one checkpoint, without the values that it shares."""
        where: dict[str, Value] = {**_where(thread, namespace)}
        if not self._is_shallow:
            where["checkpoint_id"] = key
        return "json", next(
            self._rows(CHECKPOINTS, ("checkpoint",), where=where, most=1), (None,)
        )[0]

    def stamps(self, thread: str, namespace: str) -> Sequence[int]:
        """Give a number for each checkpoint, by which versions of its rows there are."""
        moment = self._database.moment()
        known = self._stamps.get((thread, namespace))
        if known is None or known[0] != moment:
            known = self._stamps[thread, namespace] = (
                moment,
                self._read_stamps(_where(thread, namespace)),
            )
        return known[1]

    def kept(self, thread: str, namespace: str, key: str) -> Kept:
        """Give a checkpoint as it is kept, with the values that it shares with others.

        Raises UnsupportedError for a shallow saver.
        """
        if self._is_shallow:
            raise UnsupportedError(
                "a shallow checkpointer keeps one checkpoint of a thread, and takes no forks",
                "let the graph write with PostgresSaver",
            )
        columns = ("checkpoint", "metadata")
        where = {**_where(thread, namespace), "checkpoint_id": key}
        body, metadata = next(self._rows(CHECKPOINTS, columns, where=where, most=1), (None, None))
        versions = as_map(as_map(self._serde.json(body)).get("channel_versions"))
        wanted = [(channel, str(version)) for channel, version in versions.items()]
        columns = ("channel", "type", "blob")
        name, where = self._table(BLOBS), _where(thread, namespace)
        found = self._database.among(name, columns, ("channel", "version"), wanted, where)
        apart = {str(channel): (str(kind), bytes_of(data)) for channel, kind, data in found}
        return Kept("json", bytes_of(body), bytes_of(metadata), apart)

    def writing(self, new: NewCheckpoint) -> NewRows:
        """Say what is to be written for a new checkpoint: a row, and the values apart from it.

        In a thread of its own it needs all of these, as they are found by the thread.
        """
        from tt_debugger.formats.langgraph_postgres.writing import writing

        return writing(self.location, self._schemas[0], new)

    def findings(self) -> Sequence[Finding]:
        """Give what is not read, what is no text, and where there is more."""
        told = [finding(Code.UNREADABLE, each) for each in self._database.damage]
        told += bad_texts_told(self._database)
        if others := [each.rstrip(".") for each in self._schemas[1:]]:
            told.append(
                finding(
                    Code.UNKNOWN_RECORD,
                    f"there are checkpoints in other schemas too: {', '.join(others):.200}",
                    hint="name one in the address: ?options=-csearch_path%3DNAME",
                )
            )
        return told

    def renewed(self) -> Self:
        """Give the same: it answers with what is there now."""
        return self

    def watched(self) -> Sequence[str]:
        """Give nothing: a server must be asked."""
        return ()

    def close(self) -> None:
        """Let go of the connections."""
        self._database.close()

    def _read_stamps(self, where: Mapping[str, str]) -> Sequence[int]:
        numbers: dict[Value, int] = {}
        columns = ("checkpoint_id", ROW_VERSION)
        for row in sorted(self._rows(CHECKPOINTS, columns, where=where), key=_first):
            numbers[row[0]] = hash(row)
        for row in self._rows(WRITES, columns, where=where):
            under = None if self._is_shallow else row[0]
            if under in numbers:
                # Not by `^`: one transaction may have written several, which are then alike.
                numbers[under] += hash(row)
        return list(numbers.values())

    def _only(self, where: Mapping[str, Value]) -> Iterator[tuple[str, _Body]]:
        """Give the one checkpoint that a shallow saver keeps, with the id that it has inside."""
        columns = ("checkpoint", "metadata")
        for body, metadata in self._rows(CHECKPOINTS, columns, where=where, most=1):
            own = as_map(self._serde.json(body)).get("id")
            name = own if isinstance(own, str) and own else "latest"
            yield name, (body_of(body, self._serde), metadata)

    def _next_to_each_other(
        self, columns: Sequence[str], ids: Sequence[Value], where: Mapping[str, str]
    ) -> list[tuple[Value, ...]]:
        """Give the rows of checkpoints that follow each other, the id of each first."""
        first, count = str(ids[0]), len(ids)
        if count > 1:
            # What is shorter by a sign stands before it, and nearly always nothing between them.
            order, after = columns[:1], (first[:-1],)
            found = list(
                self._rows(CHECKPOINTS, columns, where=where, order=order, after=after, most=count)
            )
            if sorted(map(_first, found)) == sorted(map(str, ids)):
                return found
        return list(self._among(CHECKPOINTS, columns, columns[0], ids, where))

    def _add_sends(
        self,
        where: Mapping[str, str],
        bodies: Mapping[Value, Held],
        parents: Mapping[Value, Value],
    ) -> None:
        """Put into old checkpoints what was sent to nodes: it is written under their parents."""
        old = [name for name, body in bodies.items() if body.version < WITH_SENDS]
        above = {name: name if self._is_shallow else parents.get(name) for name in old}
        wanted = list(dict.fromkeys(each for each in above.values() if each is not None))
        sent: dict[Value, list[tuple[Value, ...]]] = {}
        columns = ("checkpoint_id", "task_path", "task_id", "idx", "type", "blob")
        of_sends = {**where, "channel": SENDS}
        for row in self._among(WRITES, columns, "checkpoint_id", wanted, of_sends):
            sent.setdefault(row[0], []).append(row[1:])
        for name in old:
            rows = sorted(sent.get(above[name], ()), key=_in_order)
            if rows:
                bodies[name].pending_sends = [
                    self._serde.value(kind, data) for *_, kind, data in rows
                ]

    def _stored_last(self, most: int) -> _Rows:
        columns = ("thread_id", "checkpoint_id")
        name = self._table(CHECKPOINTS)
        return self._database.newest(name, columns, most)

    def _each(
        self,
        column: str,
        where: Mapping[str, Value],
        after: str | None,
        most: int,
    ) -> list[str]:
        """Give some values of a column of the key, each found by the one before it."""
        found: list[str] = []
        while len(found) < most:
            row = next(
                self._rows(
                    CHECKPOINTS,
                    (column,),
                    where=where,
                    order=(column,),
                    after=() if after is None else (after,),
                    most=1,
                ),
                None,
            )
            if row is None or not isinstance(row[0], str):
                break
            after = row[0]
            found.append(after)
        return found

    def _table(self, name: str) -> str:
        return self._schemas[0] + name

    def _rows(self, table: str, columns: Sequence[str], **how: Any) -> _Rows:
        name = self._table(table)
        is_there = name in self._database.tables
        return self._database.rows(name, columns, **how) if is_there else iter(())

    def _among(
        self,
        table: str,
        columns: Sequence[str],
        key: str,
        values: Sequence[Value],
        where: Mapping[str, str],
    ) -> _Rows:
        name, wanted = self._table(table), [(str(each),) for each in values]
        is_there = name in self._database.tables
        return self._database.among(name, columns, (key,), wanted, where) if is_there else iter(())


_GONE: _Body = (gone("the row is gone"), None)


def _where(thread: str, namespace: str) -> dict[str, str]:
    return {"thread_id": thread, "checkpoint_ns": namespace}


def _first(row: tuple[Value, ...]) -> str:
    return str(row[0])


def _in_order(row: tuple[Value, ...]) -> tuple[str, str, int]:
    path, task, place = row[:3]
    return str(path or ""), str(task), place if isinstance(place, int) else 0
