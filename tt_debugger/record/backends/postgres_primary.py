"""The server that takes writes: one connection to it, and transactions that are kept or told.

What is no acknowledgement: a commit whose answer was lost, and one that standbys have not got
although they are to be waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from tt_debugger.errors import CannotReadError, CannotWriteError, TtdbgError
from tt_debugger.record.backends.options import Consistency
from tt_debugger.record.backends.postgres_commits import STANDBYS, Commits, must_count
from tt_debugger.storage.connections import CATALOGUE, code_of, connected, settings
from tt_debugger.storage.postgres_tables import TENANT
from tt_debugger.storage.refusals import no_driver, refused_by_postgres, unwritten_by_postgres

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

    from tt_debugger.storage.connections import Connection

    Statement = tuple[bytes | sql.Composed, Sequence[Any]]

PATIENCE = 30.0
"""Seconds that standbys are waited for."""

_BEGIN = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_BEGIN_READING = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_FOR_TENANT = f"SELECT pg_catalog.set_config('{TENANT}', %s, true)".encode()
_ABOUT = STANDBYS + b", pg_catalog.current_setting('fsync'), pg_catalog.current_schema()"
_TO_PRIMARY = {"target_session_attrs": "read-write"}
_NOTICED_SOON = {
    # A machine that is gone says nothing: without these one waits for it for hours.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_UTF8 = "UTF8"
_TAKEN = ("23505", "23502")
"""Codes by which a row is refused as another is there, or as the one before it is not."""
_LOST = ("08", "57P0")
"""Codes of a connection that is no more, or soon will not be."""


class Conflict(Exception):  # noqa: N818 - no error yet: it is to be looked what is there
    """A transaction was refused: rows are there, or not there, of which it thought otherwise."""


class LostError(CannotWriteError):
    """The connection was lost: what became of a transaction is not known."""


class Primary:
    """The connection, which is made anew whenever it was lost; one transaction at a time.

    Raises CannotReadError where no server answers, or none that takes writes, and
    CannotWriteError where the server does not keep what the consistency promises.
    """

    def __init__(self, location: str, consistency: Consistency | None, tenant: str) -> None:
        try:
            import_module("psycopg")
        except ImportError as error:
            raise no_driver(location, "postgres") from error
        self.location = location
        self.schema = ""
        """The schema in which tables are made."""
        self._commits = Commits(consistency)
        self._tenant = tenant
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._is_closed = False
        self._has_warned = False
        with self._lock:
            self._connected()

    @property
    def durability(self) -> str:
        """What is promised of a commit, in a sentence."""
        return self._commits.durability

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """Read in one transaction. Raises CannotReadError."""
        import psycopg

        with self._lock:
            connection = self._connected()
            problem: TtdbgError | None = None
            try:
                connection.execute(_BEGIN_READING + b";" + self._settings())
                connection.execute(_FOR_TENANT, (self._tenant,))
                yield connection
            except psycopg.Error as error:
                problem = refused_by_postgres(self.location, "the log", code_of(error))
            finally:
                self._end(connection)
        if problem is not None:
            # Not from the driver's error: that may repeat the address.
            raise problem from None

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """Write in one transaction, which is committed as was promised. Raises as `write` does."""
        with self._lock:
            connection = self._connected_to_write()
            with self._kept(connection):
                connection.execute(_BEGIN + b";" + self._settings())
                connection.execute(_FOR_TENANT, (self._tenant,))
                yield connection
                connection.execute(b"COMMIT")
                self._told(connection.execute(STANDBYS))

    def write(self, statements: Sequence[Statement]) -> None:
        """Do statements in one transaction, for which the server is waited for only once.

        Raises Conflict where one of them is refused for the rows that are there, LostError where
        nobody knows how it ended, CannotWriteError otherwise.
        """
        settings_made: list[Statement] = [
            (_BEGIN, ()),
            (self._settings(), ()),
            (_FOR_TENANT, (self._tenant,)),
        ]
        with self._lock:
            connection = self._connected_to_write()
            with self._kept(connection):
                self._told(
                    _last_of(
                        connection,
                        (*settings_made, *statements, (b"COMMIT", ()), (STANDBYS, ())),
                    )
                )

    def close(self) -> None:
        """Let go of the connection."""
        self._is_closed = True
        with self._lock:
            self._disconnect()

    def _settings(self) -> bytes:
        return settings(
            synchronous_commit=self._commits.setting,
            # A wait for standbys that was cut short is a warning, which must come here.
            client_min_messages="warning",
            # Every statement names its tenant, and where policies do so too, they may.
            row_security="on",
        )

    @contextmanager
    def _kept(self, connection: Connection) -> Generator[None]:
        """Say in our own words why a transaction was not kept; wait no longer than is allowed."""
        import psycopg

        self._has_warned = False
        problem: Exception | None = None
        try:
            with self._patience(connection):
                yield
        except psycopg.Error as error:
            problem = self._why(connection, error)
        finally:
            self._end(connection)
        if problem is not None:
            # Not from the driver's error: that may repeat the address.
            raise problem from None

    def _why(self, connection: Connection, error: psycopg.Error) -> Exception:
        code = code_of(error)
        if code.startswith(_TAKEN):
            return Conflict()
        if connection.closed or code.startswith(_LOST):
            return LostError(
                f"the connection to {self.location} was lost: whether the last entries were"
                " written is not known",
                "write them again: those that are there are not added twice",
            )
        return unwritten_by_postgres(self.location, code)

    def _told(self, standbys: psycopg.Cursor[tuple[Any, ...]]) -> None:
        """Let pass only a commit that counts. Raises CannotWriteError."""
        must_count(self._commits, self.location, has_warned=self._has_warned)
        # Who sets up the server may have changed it since.
        (names,) = standbys.fetchone() or ("",)
        self._commits = msgspec.structs.replace(self._commits, standbys=str(names))
        must_count(self._commits, self.location, has_warned=self._has_warned)

    @contextmanager
    def _patience(self, connection: Connection) -> Generator[None]:
        """Cut the waiting for standbys short where it takes too long: that has no limit else."""
        if not self._commits.wait_for_standbys:
            yield
            return
        import psycopg

        is_over = threading.Event()

        def cut_short() -> None:
            # More than once: a server that has nothing to do yet takes no notice.
            while not is_over.wait(PATIENCE):
                with suppress(psycopg.Error, OSError):
                    connection.cancel_safe(timeout=PATIENCE)

        watcher = threading.Thread(target=cut_short, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            is_over.set()
            # What was asked to be cut short must not be the next transaction.
            watcher.join()

    def _connected_to_write(self) -> Connection:
        try:
            return self._connected()
        except CannotReadError as error:
            why = error.message.replace("cannot read", "cannot write to", 1)
            raise CannotWriteError(why, error.hint) from error

    def _connected(self) -> Connection:
        if self._is_closed:
            raise CannotWriteError(f"{self.location} was closed", "open it again")
        if self._connection is None or self._connection.closed:
            self._connection = self._new()
        return self._connection

    def _new(self) -> Connection:
        import psycopg

        connection = connected(self.location, must=_TO_PRIMARY, **_NOTICED_SOON)
        problem: TtdbgError | None = None
        try:
            connection.add_notice_handler(self._warned)
            self._look_at(connection)
        except psycopg.Error as error:
            problem = refused_by_postgres(self.location, CATALOGUE, code_of(error))
        except TtdbgError as error:
            problem = error
        else:
            return connection
        connection.close()
        raise problem

    def _look_at(self, connection: Connection) -> None:
        """See what the server is set to. Raises CannotWriteError where that is not enough."""
        (standbys, syncs, schema) = connection.execute(_ABOUT).fetchone() or ("", "on", None)
        self._commits = Commits(self._commits.consistency, str(standbys), syncs == "on")
        self.schema = schema or ""
        if connection.info.parameter_status("server_encoding") != _UTF8:
            raise refused(
                self.location,
                "its texts are not UTF-8",
                "make a database for it: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
            )
        if not self.schema:
            raise refused(
                self.location,
                "it has no schema in which tables are made",
                "name one that is there in its search_path",
            )
        must_count(self._commits, self.location)

    def _warned(self, notice: psycopg.errors.Diagnostic) -> None:
        """Hear the server, which warns in a commit of standbys that were not waited for."""
        self._has_warned |= notice.severity_nonlocalized == "WARNING"

    def _end(self, connection: Connection) -> None:
        """Leave nothing open; a connection that failed is not used again."""
        import psycopg

        with suppress(psycopg.Error):
            connection.rollback()
        status = connection.info.transaction_status
        if connection.closed or status != psycopg.pq.TransactionStatus.IDLE:
            self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _last_of(
    connection: Connection, statements: Sequence[Statement]
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Do statements, for which the server is waited for once; give the cursor of the last one."""
    import psycopg

    first: psycopg.Error | None = None
    cursor = connection.cursor()
    try:
        with connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext():
            try:
                for query, values in statements:
                    cursor = connection.execute(query, values)
            except psycopg.Error as error:
                # Raised in here, the driver would tell whoever logs that it has ended for it.
                first = error
    except psycopg.Error as error:
        first = first or error
    if first is not None:
        raise first
    return cursor


def refused(location: str, why: str, hint: str | None) -> CannotWriteError:
    """Say why a database is not recorded to."""
    return CannotWriteError(f"cannot record to {location}: {why}", hint)


def damaged(location: str, why: str) -> CannotReadError:
    """Say what in a log cannot be read."""
    return CannotReadError(
        f"cannot read {location}: {why}", "`ttdbg doctor` says what else is damaged"
    )
