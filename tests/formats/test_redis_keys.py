"""Keys of one's own in Redis: as recorded, and at a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, load, replay_of
from recorded_keys import RecordedKeys, fill, records_of
from servers import Redis

from tt_debugger.core.model import Session, SessionId, iso_time
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise
from tt_debugger.formats.redis_keys import RedisStore
from tt_debugger.storage.map_files import MAP
from tt_debugger.storage.probe import RedisProbe, probe

RECORDED = records_of(FIXTURES / "redis_keys" / "generic.jsonl.gz")
TIMES = ("2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00")


def recorded(*records: dict[str, Any]) -> RedisStore:
    return RedisStore("recorded", RecordedKeys(records or RECORDED))


def key(name: str, value: Any, kind: str = "string", ttl: int = -1) -> dict[str, Any]:
    return {"key": name, "type": kind, "ttl": ttl, "value": value}


def newest(store: RedisStore) -> Session:
    return store.load(store.sessions()[-1]).session


def states(store: RedisStore, session: Session) -> list[Any]:
    replay = replay_of(store, session)
    return [replay.state(row) for row in range(len(session))]


def told(session: Session) -> list[str]:
    return [f"{each.code} {each.message}" for each in session.findings]


@pytest.fixture
def served(redis_server: Redis) -> Iterator[RedisStore]:
    """Put what was recorded into a real server."""
    with redis_server.client(5) as client:
        client.flushdb()
        fill(client, RECORDED)
        store = RedisStore.open(redis_server.address(5))
        yield store
        store.close()
        client.flushdb()


def test_threads_are_those_of_which_there_are_keys_the_latest_last():
    store = recorded()

    assert store.sessions() == [
        *("hash-style", "list-style", "user:42:chat", "research-2", "support-1")
    ]
    assert store.sessions_named("user") == ["user:42:chat"]
    assert store.sessions_named("list-style") == ["list-style"]
    assert store.sessions_named("nobody") == []


def test_the_state_at_a_row_is_the_document_that_its_key_holds():
    store = recorded()
    held = {each["key"]: each["value"] for each in RECORDED if each["type"] == "string"}

    for name in ("user:42:chat", "research-2", "support-1"):
        session = store.load(SessionId(name)).session
        assert states(store, session) == [json.loads(held[each]) for each in session.ids]
        assert session.ids[-1] == f"checkpoint:{name}"
        past = [iso_time(session.heads.time(row)) for row in range(len(session))]
        assert past == sorted(past, key=str)
    session = store.load(SessionId("support-1")).session
    assert session.heads[0].summary == (
        "step 1 · running · 2 messages · respond · expires in 7 days"
    )
    assert [each.head.step for each in session] == [1, 2, 3, 4, 5, 6]
    assert told(session) == [
        "TT416 6 keys of 6 will expire, the first in 7 days",
        "TT410 schema_version 1 -> 2: the same fields",
    ]


def test_a_hash_holds_the_state_in_a_field_beside_its_version_and_time():
    store = recorded()
    session = store.load(SessionId("hash-style")).session

    (state,) = states(store, session)
    assert (state["thread_id"], session.findings) == ("hash-style", ())
    assert iso_time(session.heads.time(0)) == "2026-03-01T09:00:00.000Z"
    plain = recorded(key("checkpoint:a", {"plan": "b", "step": "3"}, "hash"))
    assert states(plain, newest(plain)) == [{"plan": "b", "step": "3"}]


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_a_list_is_read_from_its_first_state_on_whichever_end_is_written_to(
    is_newest_first: bool,  # noqa: FBT001 - the two cases
):
    documents = [json.dumps({"step": n}) for n in (1, 2, 3)]
    documents = documents[::-1] if is_newest_first else documents
    store = recorded(
        key("checkpoint:a:history", documents, "list"), key("checkpoint:a", '{"step":4}')
    )
    session = newest(store)

    assert list(session.ids) == [
        *(f"checkpoint:a:history/{n}" for n in (1, 2, 3)),
        "checkpoint:a",
    ]
    assert states(store, session) == [{"step": n} for n in (1, 2, 3, 4)]


def test_the_past_is_found_without_a_sorted_set_too():
    keys = [key(f"checkpoint:a:b:history:{each}", '{"n":1}') for each in reversed(TIMES)]
    store = recorded(*keys, key("checkpoint:a:b:history:x", '{"n":0}'))

    assert list(newest(store).ids) in (
        [f"checkpoint:a:b:history:{each}" for each in TIMES],
        ["checkpoint:a:b:history:x"],
    )
    assert len(store.load(SessionId("a:b")).session) == 2
    assert len(store.load(SessionId("a:b:history:x")).session) == 1


def test_past_states_that_are_gone_are_counted():
    members = [[f"checkpoint:a:history:{each}", 1.0] for each in TIMES]
    store = recorded(
        key("checkpoint:a:history", members, "zset"),
        key(f"checkpoint:a:history:{TIMES[1]}", "{}"),
        key("checkpoint:a", "{}"),
    )
    session = newest(store)

    assert list(session.ids) == [f"checkpoint:a:history:{TIMES[1]}", "checkpoint:a"]
    assert told(session) == ["TT416 1 past state that checkpoint:a:history names: gone"]


def test_neighbours_in_a_list_are_asked_for_at_once(monkeypatch: pytest.MonkeyPatch):
    documents = [json.dumps({"step": n}) for n in range(10)]
    for held in (documents, documents[::-1]):
        store = recorded(key("checkpoint:a:history", held, "list"))
        session = newest(store)
        asked: list[tuple[int, int]] = []
        items = RecordedKeys.items

        def counted(
            self: RecordedKeys, name: str, *ends: int, asked: Any = asked, items: Any = items
        ) -> Any:
            asked.append(ends)  # pyright: ignore[reportArgumentType] - there are two
            return items(self, name, *ends)

        with monkeypatch.context() as patched:
            patched.setattr(RecordedKeys, "items", counted)
            wanted = (9, 3, 4, 5)
            assert store.bodies(session, wanted) == [{"step": n} for n in wanted]
            assert len(asked) == 2


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_of_a_list_that_was_cut_the_states_that_are_left_are_found(
    is_newest_first: bool,  # noqa: FBT001 - the two cases
):
    documents = [json.dumps({"step": n}) for n in range(6)]
    held = documents[::-1] if is_newest_first else documents
    record = key("checkpoint:a:history", held, "list")
    store = recorded(record)
    session = newest(store)
    record["value"] = held[2:] if is_newest_first else held[:4]

    states = store.bodies(session, range(6))
    assert states == [*({"step": n} for n in range(4)), {}, {}]


def test_a_past_state_may_be_a_hash_and_what_can_hold_none_is_counted():
    fields = {"state": '{"n":1}', "version": "1"}
    store = recorded(
        key(f"checkpoint:a:history:{TIMES[0]}", fields, "hash"),
        key(f"checkpoint:a:history:{TIMES[1]}", ["x"], "set"),
        key("checkpoint:a", '{"n":2}'),
    )
    session = newest(store)

    assert states(store, session) == [{"n": 1}, {"n": 2}]
    assert told(session) == [
        f"TT101 1 key with no state, the first a set: checkpoint:a:history:{TIMES[1]}"
    ]


def test_all_keys_are_gone_over_once_to_find_those_that_begin_with_a_text(
    monkeypatch: pytest.MonkeyPatch,
):
    store = recorded(
        key("checkpoint:ab", "{}"), key(f"checkpoint:a:history:{TIMES[0]}", "{}"), key("other", "")
    )
    patterns: list[str] = []
    keys = RecordedKeys.keys

    def counted(self: RecordedKeys, pattern: str = "*", **how: Any) -> Any:
        patterns.append(pattern)
        return keys(self, pattern, **how)

    monkeypatch.setattr(RecordedKeys, "keys", counted)
    assert store.sessions_named("a") == ["a", "ab"]
    assert store.sessions_named("b") == []
    assert patterns == ["checkpoint:a*", "checkpoint:b*"]


def test_keys_that_no_format_reads_are_named_with_what_to_do():
    def refused(*names: str) -> CannotReadError:
        keys = tuple((name, "string") for name in names)
        with pytest.raises(CannotReadError) as error:
            recognise(RedisProbe("redis://h:6379/0", "0", b"", 1, keys=keys))
        return error.value

    begin = "cannot read redis://h:6379/0: it is a database of Redis whose keys no format reads"
    assert refused().message == f"{begin}: it has none"
    assert refused("a\nb", "c").message == f"{begin} (a b, c)"
    seven = refused(*"abcdefg")
    assert seven.message == f"{begin} (a, b, c, d, e, f and 1 more)"
    assert (
        seven.hint == "say with `--map FILE` how keys of checkpoints begin; the README shows how"
    )
    many = refused(*map(str, range(1000)))
    assert many.message == f"{begin} (0, 1, 2, 3, 4, 5 and many more)"


def test_a_value_that_is_no_document_is_told_with_its_key():
    store = recorded(key("checkpoint:a", "no JSON"))
    session = newest(store)

    assert told(session) == ["TT101 keys/checkpoint:a: value: it is no JSON"]
    assert states(store, session) == [{}]


def test_a_key_that_is_no_text_has_a_name_that_can_be_written():
    store = recorded(key("checkpoint:a\udcff", '{"n":1}'))

    assert store.sessions() == ["a\\xff"]
    assert states(store, newest(store)) == [{"n": 1}]
    assert list(newest(store).ids) == ["checkpoint:a\\xff"]


def test_a_real_server_says_what_was_recorded(served: RedisStore):
    before = recorded()

    assert recognise(probe(served.location))[0].format == "redis_keys"
    assert served.sessions() == before.sessions()
    for name in served.sessions():
        mine, theirs = served.load(name), before.load(name).session
        assert states(served, mine.session) == states(before, theirs)
        assert [*map(str, mine.session)] == [*map(str, theirs)]
        assert mine.session.findings == theirs.findings
        assert served.follow(mine.cursor).session is mine.session
    assert served.sessions_named("sup") == ["support-1"]


def test_a_thread_is_followed_by_asking_again(served: RedisStore, redis_server: Redis):
    loaded = served.load(SessionId("hash-style"))
    with redis_server.client(5) as client:
        client.hset("checkpoint:hash-style", "state", '{"n":2}')
        grown = served.follow(loaded.cursor)
        assert states(served, grown.session) == [{"n": 2}]
        client.delete("checkpoint:hash-style")
        gone = served.follow(grown.cursor)
    assert (gone.session.id, gone.kept) == ("support-1", 0)


def test_a_map_says_how_keys_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.toml"
    path.write_text('prefix = "mind*"\n')
    monkeypatch.setenv(MAP, str(path))
    store = recorded(key("mind*a", '{"n":1}'), key("checkpoint:b", "{}"))

    assert store.sessions() == ["a"]
    assert states(store, newest(store)) == [{"n": 1}]
    match = RedisStore.sniff(RedisProbe("redis://h:6379/0", "0", b"", 1, keys=()))
    assert match is not None
    assert match.reason == f"the map {path} says how its keys begin"


@pytest.mark.parametrize(
    ("keys", "score"),
    [
        ((("checkpoint:a", "string"),), 60),
        ((("checkpoint:a", "hash"), ("x", "set")), 60),
        ((("checkpoint:a", "ReJSON-RL"),), 20),
        ((("checkpoint:a:history", "zset"),), None),
        ((("other", "string"),), None),
    ],
)
def test_keys_are_told_by_their_beginning_and_kind(keys: Any, score: int | None):
    match = RedisStore.sniff(RedisProbe("redis://h:6379/0", "0", b"", 1, keys=keys))

    assert (match and match.score) == score


def test_what_is_no_address_is_refused(tmp_path: Path):
    with pytest.raises(CannotReadError, match="no address of a server"):
        load(tmp_path, "redis_keys")
