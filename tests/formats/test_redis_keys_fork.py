"""Forks in keys: those of a new thread, each of the kind and with the time of the old one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from builders import FIXTURES, replay_of
from forks_of_rows import NOW, draft
from recorded_keys import RecordedKeys, fill, records_of
from servers import Redis

from tt_debugger.core.changes import Put
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import How, Key, NewKeys
from tt_debugger.core.model import SessionId
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.redis_keys import RedisStore
from tt_debugger.storage.writing import write

RECORDED = records_of(FIXTURES / "redis_keys" / "generic.jsonl.gz")
KINDS = {"json": "ReJSON-RL"}


def stored(name: str, value: Any, kind: str = "string", ttl: int = -1) -> dict[str, Any]:
    return {"key": name, "type": kind, "ttl": ttl, "value": value}


def keys_of(fork: Draft) -> tuple[Key, ...]:
    (new,) = fork.writes
    assert isinstance(new, NewKeys)
    return new.keys


def record_of(key: Key) -> dict[str, Any]:
    """Give a key as one that was recorded."""

    def text(value: Any) -> Any:
        return value.decode() if isinstance(value, bytes) else value

    match key.kind:
        case "hash":
            value: Any = {text(name): text(each) for name, each in key.value.items()}
        case "list":
            value = list(map(text, key.value))
        case "zset":
            value = [(text(member), score) for member, score in key.value]
        case "json":
            value = json.loads(key.value)
        case _:
            value = text(key.value)
    ttl = -1 if key.ttl is None else key.ttl // 1000
    return stored(key.name, value, KINDS.get(key.kind, key.kind), ttl)


def read_again(records: Any, fork: Draft) -> list[tuple[str, Any]]:
    """Give the states of a new thread, with their ids, beside the keys that were there."""
    made = list(map(record_of, keys_of(fork)))
    assert not {each["key"] for each in made} & {each["key"] for each in records}
    store = RedisStore("recorded", RecordedKeys([*records, *made]))
    return states(store, fork)


def states(store: RedisStore, fork: Draft) -> list[tuple[str, Any]]:
    assert fork.session in store.sessions()
    session = store.load(SessionId(fork.session)).session
    assert session.ids[session.active or 0] == fork.point
    replay = replay_of(store, session)
    return [(session.ids[row], replay.state(row)) for row in session.active_path]


def test_a_thread_gets_its_past_with_its_list_of_names_and_the_time_that_is_left():
    store = RedisStore("recorded", RecordedKeys(RECORDED))

    fork = draft(store, "support-1", 2, Put(("state", "status"), "paused"))

    name = "checkpoint:support-1-fork-01010101"
    current, *past, listing = keys_of(fork)
    assert (current.name, current.kind, current.ttl) == (name, "string", 604_799_000)
    assert current.how is How.CHANGED
    old = {each["key"]: each for each in RECORDED}
    for made in past:
        before = old[made.name.replace("-fork-01010101", "")]
        new = before["value"].replace('support-1"', 'support-1-fork-01010101"')
        assert made.value.decode() == new
        assert (made.how, made.ttl) == (How.KEPT, 604_799_000)
    assert (listing.name, listing.kind, listing.ttl) == (f"{name}:history", "zset", None)
    assert [member.decode() for member, _ in listing.value] == [each.name for each in past]
    assert [score for _, score in listing.value] == [
        score for _, score in old["checkpoint:support-1:history"]["value"][:3]
    ]
    assert (fork.session, fork.point) == ("support-1-fork-01010101", name)
    assert fork.own == ("state",)
    assert fork.resume_command == "thread_id = 'support-1-fork-01010101'"
    found = read_again(RECORDED, fork)
    assert len(found) == 4
    assert found[-1][1]["state"]["status"] == "paused"
    assert {each["state"]["thread_id"] for _, each in found} == {fork.session}


@pytest.mark.parametrize("row", [0, 1, 2, 3])
def test_a_past_that_is_a_list_stays_one(row: int):
    store = RedisStore("recorded", RecordedKeys(RECORDED))
    session = store.load(SessionId("list-style")).session
    before = [replay_of(store, session).state(each) for each in range(row + 1)]

    found = read_again(RECORDED, draft(store, "list-style", row))

    # The state that the thread has is that of the point, which may be of the list, too.
    past = before if row < len(session) - 1 else before[:-1]
    wanted = [{**each, "thread_id": "list-style-fork-01010101"} for each in (*past, before[-1])]
    assert [state for _, state in found] == wanted


def test_a_list_that_is_written_to_at_its_front_stays_in_its_order():
    items = [json.dumps({"thread_id": "t", "turn": n, "plan": []}) for n in (3, 2, 1)]
    records = [
        stored("checkpoint:t", items[0]),
        stored("checkpoint:t:history", items, "list", 60),
    ]
    store = RedisStore("recorded", RecordedKeys(records))

    fork = draft(store, "t", 1)

    _, listing = keys_of(fork)
    assert [json.loads(each)["turn"] for each in listing.value] == [2, 1]
    assert listing.ttl == 60_000
    assert [state["turn"] for _, state in read_again(records, fork)] == [1, 2, 2]


def test_a_hash_keeps_its_fields_and_gets_the_time_of_the_fork():
    store = RedisStore("recorded", RecordedKeys(RECORDED))

    fork = draft(store, "hash-style", 0, Put(("status",), "paused"))

    (made,) = keys_of(fork)
    assert made.kind == "hash"
    assert made.value[b"version"] == b"2"
    assert made.value[b"updated_at"] == b"2026-12-23T04:26:40+00:00"
    ((_, state),) = read_again(RECORDED, fork)
    assert (state["status"], state["thread_id"]) == ("paused", "hash-style-fork-01010101")


def test_a_hash_whose_fields_are_the_state_holds_nothing_but_texts():
    records = [stored("checkpoint:t", {"thread_id": "t", "goal": "go"}, "hash")]
    store = RedisStore("recorded", RecordedKeys(records))

    fork = draft(store, "t", 0, Put(("goal",), "stay"))

    assert read_again(records, fork) == [
        ("checkpoint:t-fork-01010101", {"thread_id": "t-fork-01010101", "goal": "stay"})
    ]
    with pytest.raises(UnsupportedError, match="goal can be nothing but a text"):
        draft(store, "t", 0, Put(("goal",), 3))


def test_a_document_stays_one():
    time = "2026-01-01T00:00:00+00:00"
    records = [
        stored("checkpoint:t", {"thread_id": "t", "step": 2}, "ReJSON-RL", 5),
        stored(f"checkpoint:t:history:{time}", {"thread_id": "t", "step": 1}, "ReJSON-RL"),
    ]
    store = RedisStore("recorded", RecordedKeys(records))

    fork = draft(store, "t", 0, Put(("step",), 7))

    assert [(each.name, each.kind, each.ttl) for each in keys_of(fork)] == [
        ("checkpoint:t-fork-01010101", "json", 5000),
        (f"checkpoint:t-fork-01010101:history:{time}", "json", None),
    ]
    assert [state["step"] for _, state in read_again(records, fork)] == [1, 7]


def test_a_thread_of_which_only_the_past_is_left_gets_a_state():
    time = "2026-01-01T00:00:00+00:00"
    records = [stored(f"checkpoint:t:history:{time}", '{"thread_id": "t", "step": 1}')]
    store = RedisStore("recorded", RecordedKeys(records))

    found = read_again(records, draft(store, "t", 0))

    assert [state["step"] for _, state in found] == [1, 1]


def test_one_that_becomes_true_is_an_edit_and_a_fork_stays_at_its_server():
    store = RedisStore("recorded", RecordedKeys([stored("checkpoint:t", '{"n": 1, "step": 2}')]))

    (key,) = keys_of(draft(store, "t", 0, Put(("n",), value=True)))

    assert key.value == b'{"n": true, "step": 2}'
    with pytest.raises(UnsupportedError, match="what is at a server is forked there"):
        draft(store, "t", 0, target="elsewhere")


def test_an_edit_may_name_the_thread_and_nothing_is_done_in_place():
    store = RedisStore("recorded", RecordedKeys(RECORDED))

    fork = draft(store, "support-1", 0, Put(("state", "thread_id"), "mine"))

    assert (fork.session, fork.own) == ("mine", ())
    with pytest.raises(UnsupportedError, match="a thread has no branches"):
        draft(store, "support-1", 0, in_place=True)
    with pytest.raises(UnsupportedError, match="no messages"):
        store.message({}, "hi", NOW)


@pytest.fixture
def served(redis_server: Redis) -> Iterator[RedisStore]:
    with redis_server.client(6) as client:
        client.flushdb()
        fill(client, RECORDED)
        store = RedisStore.open(redis_server.address(6))
        yield store
        store.close()
        client.flushdb()


@pytest.mark.parametrize("name", ["support-1", "list-style", "hash-style", "user:42:chat"])
def test_a_server_gives_a_fork_back_as_it_was_wanted(served: RedisStore, name: str):
    session = served.load(SessionId(name)).session
    wanted = replay_of(served, session).state(len(session) - 1)

    fork = draft(served, name, len(session) - 1)
    for each in fork.writes:
        write(each)

    found = states(served, fork)[-1][1]
    assert found.keys() == wanted.keys()
    assert {key for key in wanted if found[key] != wanted[key]} == set(fork.own)
