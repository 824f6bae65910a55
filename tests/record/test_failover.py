"""What becomes of a log when the primary is killed under load, and a standby takes over."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import replicated_writer
from replicated import STANDBY, Cluster, Member, replicated, until
from replicated_writer import entry

from tt_debugger.errors import CannotWriteError
from tt_debugger.record.backends import postgres_primary
from tt_debugger.record.backends.options import Consistency, Options
from tt_debugger.record.backends.postgres import PostgresLog
from tt_debugger.storage.postgres import PostgresDatabase

LEAST = 50
"""Entries that are acknowledged before the primary is killed."""
MORE = 20
"""Entries that are acknowledged after another server took over."""


class Writer:
    """A program that writes, and all that it told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.lines: list[tuple[str, str]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            what, _, about = line.rstrip("\n").partition(" ")
            self.lines.append((what, about))

    def told(self, what: str) -> list[str]:
        return [about for each, about in list(self.lines) if each == what]

    def until_acknowledged(self, count: int) -> None:
        until(
            lambda: len(self.told("acknowledged")) >= count or self._process.poll() is not None,
            f"{count} entries are acknowledged",
        )
        assert len(self.told("acknowledged")) >= count, self.lines[-3:]

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(120)
        self._reader.join()
        assert self._process.returncode == 0


@contextmanager
def writing(address: str, consistency: Consistency) -> Iterator[Writer]:
    program = [sys.executable, str(Path(replicated_writer.__file__)), address, consistency]
    with subprocess.Popen(  # noqa: S603 - a program of these tests
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        writer = Writer(process)
        try:
            yield writer
        finally:
            process.kill()
            writer._reader.join()


def numbers(ids: list[str]) -> list[int]:
    return [int(each.removeprefix("e")) for each in ids]


def ids_at(address: str) -> list[str]:
    """Give the ids of what is there, the oldest first, each entry looked at."""
    log = PostgresLog.open(address, Options())
    try:
        found = list(log.newest_first())[::-1]
    finally:
        log.close()
    assert found == [entry(number) for number in range(len(found))]
    return [each.id for each in found]


def test_with_quorum_every_acknowledged_entry_outlives_the_primary():
    with replicated(f"ANY 1 ({STANDBY})") as (cluster, primary, standby):
        address = cluster.address()
        with writing(address, Consistency.QUORUM) as writer:
            writer.until_acknowledged(LEAST)
            primary.kill()
            until(lambda: writer.told("failed"), "the writer is told")
            before = numbers(writer.told("acknowledged"))
            standby.promote()
            here = standby.asked("SELECT array_agg(checkpoint_id) FROM agent_turns")
            assert set(numbers(here)) >= set(before)
            # Alone it confirms nothing; with a standby of its own the writer goes on by itself.
            third = cluster.standby(standby)
            writer.until_acknowledged(len(before) + MORE)
            writer.end()

        acknowledged = numbers(writer.told("acknowledged"))
        assert acknowledged == list(range(len(acknowledged)))
        assert len(before) >= LEAST
        there = numbers(ids_at(address))
        assert there[: len(acknowledged)] == acknowledged
        assert len(there) <= len(acknowledged) + 1
        only_what_a_standby_has_counts(cluster, standby, third, len(there))


def only_what_a_standby_has_counts(
    cluster: Cluster, primary: Member, standby: Member, number: int
) -> None:
    """Append while the standby is away: no way in which the waiting ends is taken for a yes."""
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' LIMIT 1"
    options = Options(consistency=Consistency.QUORUM, reads_from_replicas=True)
    # Who is told of no warnings is told of this one.
    silent = f"{cluster.address()}?options=-cclient_min_messages%3Derror"
    log = PostgresLog.open(silent, options)
    assert "standbys that it waits for (synchronous_commit=on, sync" in log.durability
    with ThreadPoolExecutor(1) as pool:
        standby.stop()
        for way, why in (
            ("cancel", "no standby of .* has confirmed what was written"),
            ("terminate", "the connection to .* was lost"),
        ):
            appended = pool.submit(log.append, [entry(number)])
            pid = until(lambda: primary.asked(waiting), "the server waits for a standby")
            primary.asked(f"SELECT pg_{way}_backend({pid})")
            with pytest.raises(CannotWriteError, match=why):
                appended.result()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(postgres_primary, "PATIENCE", 0.5)
            with pytest.raises(CannotWriteError):
                log.append([entry(number)])
        appended = pool.submit(log.append, [entry(number)])
        until(lambda: primary.asked(waiting), "the server waits for a standby")
        assert not appended.done()
        standby.start()
        appended.result()
    log.append([entry(number + 1)])
    log.close()
    assert ids_at(cluster.address())[number:] == [f"e{number}", f"e{number + 1}"]
    with PostgresDatabase(log.location.partition("#")[0]) as database:
        where = b"SELECT pg_is_in_recovery()"
        assert database._connections.answer("the server", where, ()) == [(1,)]


def test_with_async_it_is_told_how_many_entries_were_lost(
    record_property: pytest.RecordProperty,
):
    with replicated() as (cluster, primary, standby):
        address = cluster.address()
        with writing(address, Consistency.ASYNC) as writer:
            writer.until_acknowledged(LEAST)
            standby.has_what(primary)
            standby.stop()
            writer.until_acknowledged(len(writer.told("acknowledged")) + MORE)
            primary.kill()
            until(lambda: writer.told("failed"), "the writer is told")
            standby.start()
            standby.promote()
            (told,) = until(
                lambda: [each for each in writer.told("failed") if "no longer has" in each][:1],
                "the writer is told what is gone",
            )
            writer.end()

        acknowledged, there = writer.told("acknowledged"), ids_at(address)
        lost = len(acknowledged) - len(there)
        record_property("lost", lost)
        assert there == acknowledged[: len(there)]
        assert len(acknowledged) >= LEAST + MORE
        assert lost >= MORE
        assert f"the last {lost} entries that it had acknowledged" in told

        log = PostgresLog.open(address, Options(consistency=Consistency.ASYNC))
        try:
            log.append([entry(len(there))])
        finally:
            log.close()
        assert ids_at(address) == [*there, f"e{len(there)}"]
