"""Keys of a real server that speaks as Redis does: asked by the page, and never for more."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from recorded_keys import RecordedKeys, records_of
from servers import Redis

from tt_debugger.errors import StoreError
from tt_debugger.storage import redis as storage
from tt_debugger.storage.keys import Keys
from tt_debugger.storage.probe import RedisProbe, probe
from tt_debugger.storage.redis import RedisKeys

KEYS = [
    {"key": "a:text", "type": "string", "ttl": 100, "value": "one"},
    {"key": "a:list", "type": "list", "ttl": -1, "value": [f"{n}" for n in range(1200)]},
    {"key": "a:hash", "type": "hash", "ttl": -1, "value": {f"f{n}": f"{n}" for n in range(1200)}},
    {"key": "b:scores", "type": "zset", "ttl": -1, "value": [["x", 2.5], ["w", 2.5], ["y", 1]]},
    {"key": "b:empty", "type": "string", "ttl": -1, "value": ""},
    {"key": "b:set", "type": "set", "ttl": -1, "value": ["m"]},
    {"key": "c[x]*?", "type": "string", "ttl": -1, "value": "signs"},
]
NONE = "no such key"
SECRET = "s3cret-of-zoe"  # noqa: S105 - it opens nothing


def fill(client: redis.Redis, records: list[dict]) -> None:
    client.flushdb()
    for each in records:
        key, value = each["key"], each["value"]
        match each["type"]:
            case "string":
                client.set(key, value)
            case "list":
                client.rpush(key, *value)
            case "hash":
                client.hset(key, mapping=value)
            case "zset":
                client.zadd(key, dict(value))
            case _:
                client.sadd(key, *value)
        if each["ttl"] >= 0:
            client.expire(key, each["ttl"])


@pytest.fixture(params=["server", "record"])
def keys(request: pytest.FixtureRequest) -> Iterator[Keys]:
    """The same keys in a server and in a record: both must answer alike."""
    if request.param == "record":
        yield RecordedKeys(KEYS)
        return
    server: Redis = request.getfixturevalue("redis_server")
    with server.client(1) as client:
        fill(client, KEYS)
    with RedisKeys(server.address(1)) as opened:
        yield opened


def test_keys_are_found_by_a_pattern_each_once(keys: Keys):
    assert sorted(keys.keys()) == sorted(each["key"] for each in KEYS)
    assert sorted(keys.keys("a:*")) == ["a:hash", "a:list", "a:text"]
    assert list(keys.keys(r"c\[x\]\*\?")) == ["c[x]*?"]
    assert list(keys.keys("[bc]?x*")) == ["c[x]*?"]
    assert list(keys.keys("b:s[c-e]*s")) == ["b:scores"]
    assert len(list(keys.keys(most=2))) == 2
    assert list(keys.keys("nothing*")) == []


def test_kinds_ends_and_lengths_are_told(keys: Keys):
    names = ["a:text", "a:list", "a:hash", "b:scores", "b:set", NONE]

    assert keys.kinds(names) == ["string", "list", "hash", "zset", "set", None]
    assert [keys.length(each) for each in names] == [0, 1200, 1200, 3, 0, 0]
    first, *others = keys.expiries(names)
    assert first is not None
    assert 90_000 < first <= 100_000
    assert others == [None] * 5


def test_values_are_given_for_keys_of_their_kind_alone(keys: Keys):
    assert keys.strings(["a:text", "b:empty", "a:list", NONE]) == [b"one", b"", None, None]
    assert keys.documents(["a:text", NONE]) == [None, None]
    assert keys.strings([]) == []
    assert keys.items("a:text") == []
    assert keys.fields("a:list") == []
    assert keys.members("a:hash") == []
    assert keys.items(NONE) == []


def test_lists_hashes_and_sorted_sets_are_read_in_parts(keys: Keys):
    assert keys.items("a:list") == [str(n).encode() for n in range(1200)]
    assert keys.items("a:list", -2) == [b"1198", b"1199"]
    assert keys.items("a:list", 3, 4) == [b"3", b"4"]
    assert keys.items("a:list", 5, 4) == []
    assert keys.items("a:list", 1199, 5000) == [b"1199"]
    assert keys.last_items(["a:list", "a:text", NONE]) == [b"1199", None, None]
    assert dict(keys.fields("a:hash")) == {f"f{n}".encode(): f"{n}".encode() for n in range(1200)}
    assert keys.members("b:scores") == [(b"y", 1.0), (b"w", 2.5), (b"x", 2.5)]
    assert keys.members("b:scores", -1) == [(b"x", 2.5)]


def test_keys_of_any_bytes_can_be_asked_for(redis_server: Redis):
    with redis_server.client(2) as client:
        client.flushdb()
        client.set(b"\xff\x00*", b"\xfe")
    with RedisKeys(redis_server.address(2)) as keys:
        (key,) = keys.keys()
        assert keys.strings([key]) == [b"\xfe"]
        assert key.encode(errors="surrogateescape") == b"\xff\x00*"


def test_what_is_too_long_is_noted_and_not_fetched(
    redis_server: Redis, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(storage, "LONGEST", 5_000)
    with redis_server.client(2) as client:
        client.flushdb()
        client.set("long", "x" * 5_001)
        client.set("short", "x" * 5_000)
        client.rpush("longer", *["x" * 4_000] * 9)
        client.hset("hash", "f", "x" * 40_000)
    with RedisKeys(redis_server.address(2)) as keys:
        assert keys.strings(["long", "short"]) == [None, b"x" * 5_000]
        assert (keys.items("longer"), keys.fields("hash")) == ([], [])
        assert keys.last_items(["longer"]) == [None]
        assert keys.too_long == {"long", "longer", "hash"}


def test_nothing_but_what_reads_is_ever_sent(redis_server: Redis):
    with redis_server.client(2) as client:
        fill(client, KEYS)
        client.config_resetstat()
        with RedisKeys(redis_server.address(2)) as keys:
            names = list(keys.keys())
            keys.kinds(names)
            keys.expiries(names)
            keys.strings(names)
            keys.documents(names)
            for each in names:
                keys.items(each)
                keys.fields(each)
                keys.members(each)
            for command in (("SET", "a", "b"), ("MEMORY", "PURGE"), ("EVAL", "1"), ("KEYS", "*")):
                with pytest.raises(AssertionError):
                    keys._ask([command])
        sent = {name.removeprefix("cmdstat_") for name in client.info("commandstats")}
    ours = {
        "client|setinfo",
        "config|resetstat",
        "select",
        "info",
        "hello",
        "auth",
        "client|setname",
    }
    allowed = {each.lower().replace(" ", "|") for each in storage._READING}
    assert sent - ours <= allowed
    assert {"scan", "type", "pttl", "get", "lrange", "hscan", "zrange"} <= sent


def test_a_server_without_the_module_for_documents_is_told(redis_server: Redis):
    with RedisKeys(redis_server.address(2)) as keys:
        with pytest.raises(StoreError) as error:
            keys._ask([("JSON.GET", "key")])
        assert error.value.message.endswith("the server lacks the module for JSON documents")


def test_documents_are_asked_for_whole_or_by_their_fields(
    redis_server: Redis, monkeypatch: pytest.MonkeyPatch
):
    asked: list[tuple[str | bytes, ...]] = []
    answers = {
        ("TYPE", b"d"): b"ReJSON-RL",
        ("MEMORY", "USAGE", b"d"): 100,
        ("JSON.GET", b"d"): b'{"a":1,"b":{"c":2}}',
        # As the module answers paths: a list for each, empty where there is nothing.
        ("JSON.GET", b"d", "$.a", "$.z", "$.__ttdbg__"): (
            b'{"$.a":[{"x": 1.50}],"$.z":[],"$.__ttdbg__":[]}'
        ),
        ("TYPE", b"s"): b"string",
    }

    def answer(commands: list[tuple[str | bytes, ...]]) -> list[object]:
        asked.extend(commands)
        return [answers[each] for each in commands]

    with RedisKeys(redis_server.address(2)) as keys:
        monkeypatch.setattr(keys, "_ask", answer)
        assert keys.documents(["d", "s"]) == [b'{"a":1,"b":{"c":2}}', None]
        assert keys.documents(["d"], ["a", "z"]) == [b'{"a":{"x": 1.50}}']
    assert {command for command, *_ in asked} == {"TYPE", "MEMORY", "JSON.GET"}


def test_the_probe_tells_some_keys_with_their_kinds(
    redis_server: Redis, monkeypatch: pytest.MonkeyPatch
):
    with redis_server.client(2) as client:
        fill(client, KEYS)
    seen = probe(redis_server.address(2))
    assert isinstance(seen, RedisProbe)
    assert sorted(seen.keys) == sorted((each["key"], each["type"]) for each in KEYS)
    monkeypatch.setattr("tt_debugger.storage.probe.MOST_KEYS", 2)
    assert len(probe(redis_server.address(2)).keys) == 2  # pyright: ignore[reportAttributeAccessIssue]


def test_the_probe_finds_checkpoints_in_a_large_cache(
    redis_server: Redis, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.storage.probe.MOST_KEYS", 3)
    with redis_server.client(2) as client:
        client.flushdb()
        client.mset({f"cache:{n}": "x" for n in range(5000)})
        client.mset({"checkpoint:a": "{}", "checkpoint_latest:a": "{}"})
    seen = probe(redis_server.address(2))

    assert isinstance(seen, RedisProbe)
    assert len(seen.keys) == 3
    assert {key for key, _ in seen.keys} > {"checkpoint:a", "checkpoint_latest:a"}


def refused(address: str) -> str:
    with pytest.raises(StoreError) as error, RedisKeys(address) as keys:
        keys.strings(["a:text"])
    for each in (error.value, error.value.__cause__):
        assert SECRET not in str(each)
        assert "zoe" not in str(each)
    assert error.value.message.startswith("cannot read redis://127.0.0.1:")
    return error.value.message.rpartition(": ")[2]


def test_logins_rights_and_numbers_that_are_refused_are_told_without_them(redis_server: Redis):
    with redis_server.client() as client:
        fill(client, KEYS)
        client.acl_setuser(
            "zoe",
            enabled=True,
            passwords=[f"+{SECRET}"],
            keys=["b:*"],
            categories=["+@read", "+@connection"],
        )
        client.acl_setuser("eve", enabled=True, passwords=[f"+{SECRET}"], commands=["+ping"])
    refusal = "the server refuses the login"
    assert refused(redis_server.address(login=f"zoe:{SECRET}x@")) == refusal
    assert refused(redis_server.address(login=f"zoe:{SECRET}@")) == (
        "this user may not do what reading takes"
    )
    assert refused(redis_server.address(login=f"eve:{SECRET}@")) == (
        "this user may not do what reading takes"
    )
    assert refused(redis_server.address(99)) == "the server has no database of that number"
    assert refused(f"redis://zoe:{SECRET}@127.0.0.1:1/0") == "no server answers there"


def test_options_in_an_address_do_not_change_what_is_read(redis_server: Redis):
    with redis_server.client(2) as client:
        fill(client, KEYS)
    with RedisKeys(f"{redis_server.address(2)}?decode_responses=True&protocol=3") as keys:
        assert keys.strings(["a:text"]) == [b"one"]
        assert keys.members("b:scores", 0, 0) == [(b"y", 1.0)]


@pytest.mark.parametrize("option", ["foo=bar", "retry=x"])
def test_an_option_that_breaks_the_driver_is_told_without_the_login(
    redis_server: Redis, option: str
):
    address = redis_server.address(2, login=f"zoe:{SECRET}@")
    said = "the driver does not take the options of the address"
    assert refused(f"{address}?{option}") == said


def test_without_its_driver_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreError) as error:
        RedisKeys(f"redis://zoe:{SECRET}@cache")

    assert error.value.message == "cannot read redis://cache:6379/0: its driver is not installed"
    assert error.value.hint == "install it with: pip install 'ttdbg[redis]'"


def test_a_record_is_read_packed_or_not(tmp_path: Path):
    import gzip
    import json

    lines = "".join(f"{json.dumps(each)}\n" for each in KEYS).encode()
    plain, packed = tmp_path / "keys.jsonl", tmp_path / "keys.jsonl.gz"
    plain.write_bytes(lines)
    packed.write_bytes(gzip.compress(lines))

    assert records_of(plain) == records_of(packed) == KEYS
