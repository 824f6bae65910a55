"""Connections to a server of PostgreSQL, on which nothing can be done but read.

Each question is a transaction of its own with settings of its own; nothing of it is left on the
connection, which others may share. What the driver says goes no further than here.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tt_debugger.errors import StoreError
from tt_debugger.storage.refusals import (
    PATIENCE,
    Rows,
    no_connection,
    no_driver,
    refused_by_postgres,
)
from tt_debugger.storage.servers import POSTGRES, address_of

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql
    from psycopg.abc import Buffer

    Connection = psycopg.Connection[tuple[Any, ...]]

CATALOGUE = "the catalogue"
"""What is asked about where it is no table."""
CONNECT_WITHIN = 10
"""Seconds in which a connection must be there, unless the address says otherwise."""

_SETTINGS = {
    "search_path": "pg_catalog",
    "row_security": "off",
    "statement_timeout": f"{PATIENCE}s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10min",
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "bytea_output": "hex",
    "constraint_exclusion": "off",
    "jit": "off",
}
_SECURITY: dict[Rows, dict[str, str]] = {
    # Rows that are hidden are an error, and no policy is run.
    Rows.ALL: {},
    Rows.SOME: {},
    Rows.OF_TENANT: {"row_security": "on"},
}
_BEGIN = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ROLLBACK = b"ROLLBACK"
_SCHEMAS = "SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) s"
_KEPT = frozenset((17, 20, 21, 23, 26, 700, 701))
"""Types whose values the driver gives as bytes and numbers."""
_BOOLEAN = 16
_NAMES = frozenset((18, 19))
_ANY_BYTES = "SQL_ASCII"


class Connections:
    """As many connections to one place as there are questions at once.

    Raises StoreError where no server answers, or it does not let us in.
    """

    def __init__(self, location: str) -> None:
        address_of(location, POSTGRES)
        try:
            import_module("psycopg")
        except ImportError as error:
            raise no_driver(location, "postgres") from error
        self.bad_texts = 0
        self.version = 0
        """The server's, as a number."""
        self._location = location
        self._lock = threading.Lock()
        self._all: set[Connection] = set()
        self._idle: list[Connection] = []
        self._types: frozenset[int] = frozenset()

    def schemas(self) -> list[str]:
        """Give the schemas in which a table is looked for that is named without one."""
        import psycopg

        connection = self._connected()
        try:
            return [name for (name,) in connection.execute(_SCHEMAS)]
        except psycopg.Error as error:
            problem = refused_by_postgres(self._location, CATALOGUE, code_of(error))
        finally:
            self._end(connection)
        raise problem

    def read_as_values(self, types: Iterable[int]) -> None:
        """Have values of some types given as `storage.tables.Value` says from now on."""
        self._types = frozenset(types)
        with self._lock:
            for each in self._all:
                self._adapt(each)

    @contextmanager
    def question(self, about: str, *, rows: Rows = Rows.ALL) -> Generator[Connection]:
        """Ask about something in one transaction. What goes wrong is said in our own words."""
        import psycopg

        connection = self._begun(rows)
        problem: StoreError | None = None
        try:
            yield connection
        except psycopg.Error as error:
            problem = refused_by_postgres(self._location, about, code_of(error), rows)
        finally:
            self._end(connection)
        if problem is not None:
            # Not from the driver's error: that may repeat the address.
            raise problem from None

    def answer(
        self,
        about: str,
        query: bytes | sql.Composed,
        values: Sequence[Any],
        *,
        rows: Rows = Rows.ALL,
    ) -> list[tuple[Any, ...]]:
        """Give a short answer, for which the server is waited for only once."""
        import psycopg

        if not psycopg.Pipeline.is_supported():
            # The client's library is older than 14.
            with self.question(about, rows=rows) as connection, suppress(psycopg.DataError):
                return connection.execute(query, values).fetchall()
            return []
        while True:
            old = self._pop()
            connection = old or self._connected()
            try:
                with connection.pipeline():
                    connection.execute(_BEGIN)
                    connection.execute(settings(**_SECURITY[rows]))
                    cursor = connection.execute(query, values)
                    connection.execute(_ROLLBACK)
                return cursor.fetchall()
            except psycopg.OperationalError as error:
                if old is not None and connection.closed:
                    continue
                problem = refused_by_postgres(self._location, about, code_of(error), rows)
            except psycopg.DataError:
                # What cannot be a value of its column is in none of its rows.
                return []
            except psycopg.Error as error:
                problem = refused_by_postgres(self._location, about, code_of(error), rows)
            finally:
                self._end(connection)
            raise problem

    def close(self) -> None:
        """Let go of all of them."""
        with self._lock:
            every, self._all, self._idle = self._all, set(), []
        for each in every:
            each.close()

    def _begun(self, rows: Rows) -> Connection:
        """Give a connection on which a transaction has begun, an old one if one still works."""
        import psycopg

        while True:
            old = self._pop()
            connection = old or self._connected()
            try:
                connection.execute(_BEGIN + b";" + settings(**_SECURITY[rows]))
            except psycopg.Error as error:
                self._end(connection)
                if old is None:
                    problem = refused_by_postgres(self._location, CATALOGUE, code_of(error))
                    break
            else:
                return connection
        raise problem

    def _pop(self) -> Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _end(self, connection: Connection) -> None:
        """Let a connection wait for the next question, or go if it failed."""
        import psycopg

        with suppress(psycopg.Error):
            connection.rollback()
        is_good = not connection.closed and (
            connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        )
        with self._lock:
            if is_good and connection in self._all:
                self._idle.append(connection)
                return
            self._all.discard(connection)
        connection.close()

    def _connected(self) -> Connection:
        connection = connected(self._location)
        self.version = connection.info.server_version
        self._adapt(connection)
        with self._lock:
            self._all.add(connection)
        return connection

    def _adapt(self, connection: Connection) -> None:
        from psycopg.adapt import Loader
        from psycopg.types.string import TextLoader

        connections = self

        class Truth(Loader):
            def load(self, data: Buffer) -> int:
                return int(bytes(data) == b"t")

        class Lenient(Loader):
            def load(self, data: Buffer) -> str:
                return connections._text(bytes(data))

        types, text = self._types, TextLoader
        if connection.info.parameter_status("server_encoding") == _ANY_BYTES:
            types, text = types | _NAMES, Lenient
        for each in types - _KEPT:
            connection.adapters.register_loader(each, text)
        connection.adapters.register_loader(_BOOLEAN, Truth)

    def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.bad_texts += 1
            return data.decode(errors="replace")


def connected(location: str, *, must: Mapping[str, str] | None = None, **may: str) -> Connection:
    """Connect to an admitted address. Raises StoreError where no server answers there.

    `must` are options that hold whatever the address says, the others where it says nothing.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    address = address_of(location, POSTGRES)
    try:
        mine = {"connect_timeout": CONNECT_WITHIN, "application_name": "ttdbg", **may}
        said = conninfo_to_dict(address.reveal())
        told = {name: value for name, value in mine.items() if name not in said}
        told.update(must or {}, client_encoding="utf8")
        # What is prepared would outlive its transaction where a pool shares connections.
        connection = psycopg.connect(
            make_conninfo(address.reveal(), **told), autocommit=True, prepare_threshold=None
        )
        if connection.info.parameter_status("server_encoding") == _ANY_BYTES:
            # Such a database takes any bytes for text, and would refuse to convert them.
            connection.execute(f"SET client_encoding = '{_ANY_BYTES}'".encode())
    except Exception as error:  # noqa: BLE001 - what is in an address may break the driver
        problem = no_connection(location, str(error))
    else:
        return connection
    raise problem


def settings(**more: str) -> bytes:
    """Give the statement that makes the settings of a transaction."""
    made = ", ".join(
        f"pg_catalog.set_config('{name}', '{value}', true)"
        for name, value in {**_SETTINGS, **more}.items()
    )
    return f"SELECT {made}".encode()


def code_of(error: psycopg.Error) -> str:
    """Give the server's code for an error, or that of a lost connection if it gave none."""
    import psycopg

    is_lost = isinstance(error, psycopg.OperationalError)
    return error.sqlstate or ("08006" if is_lost else "of the driver")
