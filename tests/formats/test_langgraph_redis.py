"""LangGraph's threads in Redis, from the keys that its saver wrote to a server with modules.

The server that tests have holds no documents. What is asked of one is tried on it all the same.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from builders import FIXTURES
from langgraph_truth import count, differences, truth_of
from recorded_keys import RecordedKeys, records_of
from servers import Redis

from tt_debugger.core.model import SessionId
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise
from tt_debugger.formats.langgraph_redis import STORE, threads
from tt_debugger.formats.langgraph_redis.threads import RedisThreads
from tt_debugger.formats.shared.langgraph import Serde
from tt_debugger.storage.probe import RedisProbe
from tt_debugger.store import Store

FOLDER = FIXTURES / "langgraph_redis"
UNTOLD = {
    # get_state_history() takes what was sent to nodes for something else, and drops it.
    "send-mapreduce at step 1: next",
    "send-mapreduce at step 1: tasks",
}


@pytest.fixture
def keys() -> RecordedKeys:
    return RecordedKeys(records_of(FOLDER / "keys.jsonl.gz"))


@pytest.fixture
def open_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    stores: list[Store] = []

    def opened(keys: RecordedKeys) -> Store:
        def threads_at(_: Any, __: str, serde: Serde) -> RedisThreads:
            return RedisThreads(keys, serde)

        monkeypatch.setattr(STORE, "threads_at", classmethod(threads_at))
        stores.append(STORE.open("redis://recorded"))
        return stores[-1]

    yield opened
    for each in stores:
        each.close()


def test_every_checkpoint_is_as_langgraph_tells_it(keys: RecordedKeys, open_store: Any):
    truth = truth_of(FOLDER / "truth.json.gz")
    store = open_store(keys)

    assert count(truth) == 103
    assert set(differences(store, truth, only_root=True)) <= UNTOLD
    assert set(truth) <= set(store.sessions())


def test_every_document_is_shown_in_its_thread_and_namespace(keys: RecordedKeys, open_store: Any):
    store = open_store(keys)
    counts: dict[str, int] = {}
    for each in keys.held.values():
        if each["key"].startswith("checkpoint:"):
            told = each["value"]
            namespace = told["checkpoint_ns"].replace("__empty__", "")
            name = f"{told['thread_id']}|{namespace}" if namespace else told["thread_id"]
            counts[name] = counts.get(name, 0) + 1

    shown = {name: store.load(SessionId(name)).session for name in counts}
    assert {name: len(session) for name, session in shown.items()} == counts
    assert sum(counts.values()) == 107
    started = {
        each
        for session in shown.values()
        for names in session.subsessions.values()
        for each in names
    }
    assert started == {name for name in counts if "|" in name}
    for session in shown.values():
        assert all(store.bodies(session, range(len(session))))
        assert store.raw(session, 0).startswith(b"{")


def document(thread: str, own: str, parent: str = "", **channels: Any) -> dict[str, Any]:
    checkpoint = {
        "v": 4,
        "id": own,
        "channel_values": channels,
        "channel_versions": dict.fromkeys(channels, "1.0"),
        "versions_seen": {},
    }
    value = {
        "thread_id": thread,
        "checkpoint_ns": "__empty__",
        "checkpoint_id": own,
        "parent_checkpoint_id": parent,
        "checkpoint": checkpoint,
        "metadata": '{"step":1}',
    }
    return recorded(f"checkpoint:{thread}:__empty__:{own}", "ReJSON-RL", value)


def recorded(key: str, kind: str, value: Any) -> dict[str, Any]:
    return {"key": key, "type": kind, "ttl": -1, "value": value}


def written(thread: str, own: str, place: int, value: bytes) -> list[dict[str, Any]]:
    key = f"checkpoint_write:{thread}:__empty__:{own}:task:{place}"
    blob = base64.b64encode(value).decode()
    told = {
        "thread_id": thread,
        "checkpoint_ns": "__empty__",
        "checkpoint_id": own,
        "task_id": "task",
        "task_path": "~__pregel_pull, node",
        "idx": place,
        "channel": "n",
        "type": "json",
        "blob": blob,
    }
    pointers = [[f"{key.rpartition(':')[0]}:{each}", each] for each in range(place + 1)]
    return [
        recorded(key, "ReJSON-RL", told),
        recorded(f"write_keys_zset:{thread}:__empty__:{own}", "zset", pointers),
    ]


def latest(thread: str, own: str) -> dict[str, Any]:
    key = f"checkpoint:{thread}:__empty__:{own}"
    return recorded(f"checkpoint_latest:{thread}:__empty__", "string", key)


def test_threads_whose_names_begin_alike_and_have_signs_are_told_by_their_documents(
    open_store: Any,
):
    names = ["a", "a:b", "a:__empty__", "a*", "[a]", "a:b:c"]
    keys = RecordedKeys([document(name, f"1f{n}", n=n) for n, name in enumerate(names)])
    store = open_store(keys)

    assert store.sessions() == names
    for n, name in enumerate(names):
        session = store.load(SessionId(name)).session
        assert session.ids == [f"1f{n}"]
        assert store.bodies(session, [0])[0]["values"] == {"n": n}
    assert store.sessions_named("a:b") == ["a:b", "a:b:c"]
    with pytest.raises(CannotReadError):
        store.load(SessionId("nobody"))


def test_what_is_written_to_a_thread_is_followed(open_store: Any):
    keys = RecordedKeys([document("t", "1f1", n=1), latest("t", "1f1")])
    store = open_store(keys)
    loaded = store.load(SessionId("t"))
    assert store.follow(loaded.cursor).session is loaded.session

    add(keys, [document("t", "1f2", "1f1", n=2), latest("t", "1f2")])
    grown = store.follow(loaded.cursor)
    assert (grown.session.ids, grown.kept) == (["1f1", "1f2"], 1)
    assert store.follow(grown.cursor).session is grown.session

    add(keys, written("t", "1f2", 0, b"7"))
    told = store.follow(grown.cursor)
    (task,) = store.bodies(told.session, [1])[0]["tasks"]
    assert (task["name"], task["result"]) == ("node", {"n": 7})
    assert told.kept == 1


def add(keys: RecordedKeys, records: Sequence[dict[str, Any]]) -> None:
    keys.held.update({each["key"]: each for each in records})


def test_writes_are_in_the_order_in_which_their_task_made_them(open_store: Any):
    keys = RecordedKeys([document("t", "1f1", n=1)])
    for place in (10, 2, 1):
        add(keys, written("t", "1f1", place, str(place).encode()))
    store = open_store(keys)
    session = store.load(SessionId("t")).session

    (task,) = store.bodies(session, [0])[0]["tasks"]
    assert task["result"] == {"n": {"$writes": [1, 2, 10]}}
    told = msgspec.json.decode(store.raw(session, 0))
    assert [each["idx"] for each in told["writes"]] == [1, 2, 10]


def test_a_thread_without_pointers_is_followed_by_its_keys(open_store: Any):
    keys = RecordedKeys([document("t", "1f1", n=1)])
    store = open_store(keys)
    loaded = store.load(SessionId("t"))
    assert store.follow(loaded.cursor).session is loaded.session

    add(keys, [document("t", "1f2", "1f1", n=2)])
    assert store.follow(loaded.cursor).session.ids == ["1f1", "1f2"]


def test_a_saver_that_keeps_one_checkpoint_a_thread_is_read(open_store: Any):
    one = document("t", "1f1", n=1)
    store = open_store(RecordedKeys([one | {"key": "checkpoint:t:__empty__"}]))

    assert store.sessions() == ["t"]
    assert store.load(SessionId("t")).session.ids == ["1f1"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"thread_id": 7},
        {"thread_id": "t"},
        {"thread_id": "t", "checkpoint_id": 7, "checkpoint": [], "metadata": 3},
        {"thread_id": "t", "checkpoint_id": "1", "checkpoint": '{"channel_values": {"n": 1}}'},
        {"thread_id": "t", "checkpoint_id": "1", "checkpoint": "no json", "metadata": "no json"},
        {"thread_id": "t", "checkpoint_ns": {}, "parent_checkpoint_id": [], "checkpoint": None},
    ],
)
def test_a_document_of_another_form_stops_nothing(value: Any, open_store: Any):
    odd = recorded("checkpoint:t:__empty__:1", "ReJSON-RL", value)
    store = open_store(RecordedKeys([odd, document("sound", "1f1", n=1)]))

    assert "sound" in store.sessions()
    for name in store.sessions():
        session = store.load(name).session
        assert len(store.bodies(session, range(len(session)))) == len(session)


def test_of_many_threads_some_are_listed_which_is_told(
    open_store: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(threads, "FEW_KEYS", 100)
    monkeypatch.setattr(threads, "A_PAGE", 10)
    keys = RecordedKeys(
        [
            each
            for n in range(100)
            for each in (document(f"t{n}", f"1f{n:03}", n=n), latest(f"t{n}", f"1f{n:03}"))
        ]
    )
    store = open_store(keys)

    assert store.sessions() == [f"t{n}" for n in range(90, 100)]
    found = store.load(SessionId("t5")).session.findings
    assert [each.message for each in found] == [
        "the server has more threads than the 100 that were looked at"
    ]


def test_a_value_that_is_too_long_is_told(open_store: Any):
    keys = RecordedKeys([document("t", "1f1", n=1)])
    store = open_store(keys)
    session = store.load(SessionId("t")).session
    (key,) = keys.held
    del keys.held[key]
    keys.too_long.add(key)

    assert store.bodies(session, [0])[0]["values"]["$opaque"]
    assert "too long" in store._threads.findings()[0].message


def test_documents_are_claimed_and_strings_of_the_same_names_are_not():
    def seen(*keys: tuple[str, str]) -> RedisProbe:
        return RedisProbe("redis://h:6379/0", "0", b"", 1, keys=keys)

    assert STORE.sniff(seen(("checkpoint:t:__empty__:1", "ReJSON-RL")))
    assert not STORE.sniff(seen(("checkpoint:t", "string"), ("other", "ReJSON-RL")))
    assert recognise(seen(("checkpoint:t:__empty__:1", "ReJSON-RL")))[0] is STORE


def test_a_server_without_documents_has_no_threads(redis_server: Redis):
    with redis_server.client(5) as client:
        client.flushdb()
        client.set("checkpoint:t", "{}")
    store = STORE.open(redis_server.address(5))
    try:
        assert store.sessions() == []
        with pytest.raises(CannotReadError):
            store.load(SessionId("t"))
    finally:
        store.close()
