"""Recordings in Redis: as the recorder's log wrote them, as recorded, and damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import FIXTURES, replay_of
from record.backends import EVERY, HEADER, changed, some, start, time_at
from recorded_keys import RecordedKeys, fill, records_of
from servers import Redis

from tt_debugger.core.model import Kind, Session, SessionId
from tt_debugger.core.recording.entries import Header, Labelled, decoded, encoded, encoded_header
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise, recording_redis
from tt_debugger.formats.langgraph_redis import LangGraphRedis
from tt_debugger.formats.recording_redis import RecordingRedis
from tt_debugger.formats.redis_keys import RedisStore
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.redis import RedisLog
from tt_debugger.storage.map_files import MAP
from tt_debugger.storage.probe import MOST_KEYS, RedisProbe, probe

RECORDED = records_of(FIXTURES / "recording_redis" / "keys.jsonl.gz")
NUMBER = 9


def store_of(*records: dict[str, Any]) -> RecordingRedis:
    return RecordingRedis("recorded", RecordedKeys(records))


def key(name: str, value: Any, kind: str = "string", ttl: int = -1) -> dict[str, Any]:
    return {"key": name, "type": kind, "ttl": ttl, "value": value}


def session_keys(entries: list[str], name: str = "main", header: Header = HEADER) -> list[Any]:
    return [
        key(f"checkpoint:{name}:header", encoded_header(header).decode()),
        key(f"checkpoint:{name}:turns", entries, "list"),
    ]


def texts(entries: Any) -> list[str]:
    return [encoded(each).decode() for each in entries]


def of(entries: list[str]) -> tuple[RecordingRedis, Session]:
    store = store_of(*session_keys(entries))
    return store, store.load(SessionId("main")).session


def states(store: RecordingRedis, session: Session) -> list[Any]:
    replay = replay_of(store, session)
    return [replay.state(row) for row in range(len(session))]


def told(session: Session) -> list[str]:
    return [f"{each.code} {each.checkpoint} {each.message}" for each in session.findings]


@pytest.fixture
def location(redis_server: Redis) -> Iterator[str]:
    with redis_server.client(NUMBER) as client:
        client.flushdb()
        fill(client, RECORDED)
        yield redis_server.address(NUMBER)
        client.flushdb()


@pytest.fixture
def served(location: str) -> Iterator[RecordingRedis]:
    store = RecordingRedis.open(location)
    yield store
    store.close()


def test_sessions_of_all_tenants_are_named_the_one_written_last_at_the_end(
    served: RecordingRedis,
):
    assert served.sessions() == ["main", "acme/shop"]
    assert served.sessions_named("acme") == ["acme/shop"]
    assert served.sessions_named("acme/shop") == ["acme/shop"]
    assert served.sessions_named("nobody") == served.sessions_named("a%FF/b") == []


def test_a_session_is_read_as_its_log_tells_it(served: RecordingRedis, location: str):
    log = RedisLog.open(location, Options("shop", "acme"))
    try:
        entries = list(log.newest_first())[::-1]
        assert log.location == f"{served.location}#acme/shop:"
    finally:
        log.close()

    session = served.load(SessionId("acme/shop")).session

    assert (session.id, session.title) == ("acme/shop", "the tea shop")
    assert session.ids == [each.id for each in entries]
    assert [each.parent for each in session] == [each.parent for each in entries]
    assert session.labels == {3: "answered"}
    assert session.active == 9
    assert [each.head.kind for each in session][:4] == [
        Kind.SNAPSHOT,
        Kind.MESSAGE,
        Kind.TOOL_RESULT,
        Kind.MESSAGE,
    ]
    assert [each.head.step for each in session] == list(range(1, 11))
    assert told(session) == [
        "TT416 None the server forgets this session some time after its last entry",
        "TT411 t9 effect mail-7: it was begun, and nothing says whether it happened",
    ]
    for row, entry in enumerate(entries):
        assert served.raw(session, row) == encoded(entry)
        assert served.bodies(session, [row]) == [json.loads(encoded(entry))]


@pytest.mark.parametrize("name", ["main", "acme/shop"])
def test_the_state_at_every_entry_is_the_one_that_a_recorder_goes_on_from(
    served: RecordingRedis, name: str
):
    session = served.load(SessionId(name)).session
    entries = [decoded(served.raw(session, row)) for row in range(len(session))]

    shown = states(served, session)

    for row, entry in enumerate(entries):
        known = restored(reversed(entries), entry.id)
        assert isinstance(known, Restored)
        assert shown[row] == msgspec.to_builtins(known.state)


def test_the_recorded_keys_and_the_server_tell_the_same(served: RecordingRedis):
    recorded = store_of(*RECORDED)

    for name in ("main", "acme/shop"):
        one, other = (each.load(SessionId(name)).session for each in (served, recorded))
        assert (list(one), one.findings) == (list(other), other.findings)
        assert states(served, one) == states(recorded, other)


def test_what_is_written_is_followed_and_only_what_is_new_is_read():
    held = session_keys(texts(some(2)))
    keys = RecordedKeys(held)
    store = RecordingRedis("recorded", keys)
    loaded = store.load(SessionId("main"))
    assert store.follow(loaded.cursor).session is loaded.session

    keys.held["checkpoint:main:turns"]["value"] += texts([changed(2), changed(3)])
    asked: list[tuple[int, int]] = []
    items = keys.items
    keys.items = lambda key, first=0, last=-1: (
        asked.append((first, last))
        or items(  # type: ignore[method-assign]
            key, first, last
        )
    )
    grown = store.follow(loaded.cursor)

    assert (grown.session.ids, grown.kept) == (["e0", "e1", "e2", "e3"], 2)
    assert {first for first, _ in asked} <= {-1, 0, 1, 2}
    assert (2, 3) in asked
    assert store.follow(grown.cursor).session is grown.session
    assert list(grown.session) == list(store_of(*keys.held.values()).load("main").session)


def test_a_list_that_was_thinned_or_begun_anew_is_read_from_its_beginning():
    held = session_keys(texts(some(4)))
    keys = RecordedKeys(held)
    store = RecordingRedis("recorded", keys)
    loaded = store.load(SessionId("main"))

    keys.held["checkpoint:main:turns"]["value"] = texts([start({"n": 2}, "e2"), changed(3)])
    thinned = store.follow(loaded.cursor)
    assert (thinned.session.ids, thinned.kept) == (["e2", "e3"], 0)
    assert states(store, thinned.session) == [{"n": 2}, {"n": 3}]
    # Who still shows the session as it was is not given another entry's state for its own.
    assert store.state(loaded.session, 0).why == (
        "checkpoint:main:turns/1: another entry stands there now"
    )
    with pytest.raises(CannotReadError, match="no longer there"):
        store.raw(loaded.session, 3)

    keys.held.update({each["key"]: each for each in session_keys(texts(some(2)))})
    assert store.follow(thinned.cursor).session.ids == ["e0", "e1"]

    keys.held.clear()
    gone = store.follow(thinned.cursor)
    assert gone.session is thinned.session
    with pytest.raises(CannotReadError, match="there is no session main"):
        store.load(SessionId("main"))
    assert store.sessions() == []


def test_the_recorder_goes_on_past_a_label():
    label = Labelled("e2", "e1", time_at(2), target="e0", label="good")
    _, session = of(texts([*some(2), label]))

    assert (session.active, session.labels) == (1, {0: "good"})


def test_what_is_damaged_is_told_and_all_else_is_shown():
    texts_held = [
        *texts(some(2)),
        "no json",
        "[1]",
        '{"type":"later","id":"x","parent":"e1","time":"2026-01-01T00:00:09Z"}',
        '{"type":"snapshot","id":"y","parent":"x","time":"2026-01-01T00:00:09Z","state":7}',
        '{"type":"change","id":"z","parent":"gone","changes":[{"op":"drop","path":["q"]}]}',
    ]
    store, session = of(texts_held)

    assert [each.id for each in session] == ["e0", "e1", "3", "4", "x", "y", "z"]
    assert [each.head.kind for each in session][2:5] == [
        Kind.UNREADABLE,
        Kind.UNREADABLE,
        Kind.CUSTOM,
    ]
    assert {each.split(" ", 2)[0:2][1] for each in told(session)} >= {"3", "4", "x", "y", "z"}
    assert "TT101 y checkpoint:main:turns/6: its state is no object" in told(session)
    assert len(states(store, session)) == 7
    assert store.raw(session, 2) == b"no json"
    assert len(store.bodies(session, range(7))) == 7


@pytest.mark.parametrize("header", [None, "no json", "[]", '{"schema_version":2,"title":7}'])
def test_a_header_that_is_missing_or_odd_is_told(header: str | None):
    entries = key("checkpoint:main:turns", texts(some(2)), "list")
    given = [] if header is None else [key("checkpoint:main:header", header)]
    store = store_of(entries, *given)

    assert store.sessions() == ["main"]
    session = store.load(SessionId("main")).session
    assert (session.ids, session.title) == (["e0", "e1"], None)
    assert [str(each.code) for each in session.findings] == [
        "TT405" if header and "version" in header else "TT404"
    ]


@pytest.mark.parametrize("kind", ["string", "hash", "zset"])
def test_keys_of_other_kinds_by_these_names_stop_nothing(kind: str):
    store = store_of(
        *session_keys(texts(some(2))),
        key("checkpoint:odd:turns", {} if kind == "hash" else [] if kind == "zset" else "x", kind),
        key("checkpoint:odd:header", ["x"], "list"),
    )

    assert "main" in store.sessions()
    assert store.load(SessionId("main")).session.ids == ["e0", "e1"]
    with pytest.raises(CannotReadError, match="there is no session odd"):
        store.load(SessionId("odd"))


def test_a_session_that_was_only_begun_is_there_and_empty():
    store = store_of(session_keys([])[0])

    assert store.sessions() == ["main"]
    session = store.load(SessionId("main")).session
    assert (len(session), session.active, session.title) == (0, None, "a run")


def test_other_checkpoints_in_the_same_database_are_told_of():
    others = [key("checkpoint:t", "{}"), key("checkpoint:u:__empty__:1", {}, "ReJSON-RL")]
    what = "2 keys that begin with checkpoint: are no part of a recording"
    _, alone = of(texts(some(2)))
    store = store_of(*session_keys(texts(some(2))), *others, key("checkpoint:main", "{}"))
    session = store.load(SessionId("main")).session

    assert told(alone) == []
    assert told(session) == [
        f"TT401 None {what}, and not shown here",
    ]
    assert session.findings[0].hint == ("a map that says how they begin shows these: --map FILE")


def test_a_map_shows_the_other_checkpoints(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "m.toml"
    path.write_text('prefix = "checkpoint:"\n')
    monkeypatch.setenv(MAP, str(path))

    assert recognise(probe(location))[0] is RedisStore


def test_of_many_keys_some_are_looked_at_which_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recording_redis, "KEYS", 4)
    held = [each for n in range(9) for each in session_keys(texts(some(2)), f"s{n}")]
    store = store_of(*held)

    assert store.sessions() == ["s0", "s1"]
    assert store.sessions_named("s8") == ["s8"]
    session = store.load(SessionId("s8")).session
    assert told(session) == ["TT110 None the server has more keys than the 4 that were looked at"]


def test_a_list_that_is_too_large_is_told():
    store = store_of(*session_keys(texts(some(2))))
    keys = store._keys
    assert isinstance(keys, RecordedKeys)
    keys.items = lambda *_: []  # type: ignore[method-assign]
    keys.too_long.add("checkpoint:main:turns")

    session = store.load(SessionId("main")).session

    assert len(session) == 0
    assert told(session) == [
        "TT101 None 2 entries of checkpoint:main:turns cannot be read: too large a list"
    ]


def seen(*keys: tuple[str, str]) -> RedisProbe:
    return RedisProbe("redis://h:6379/0", "0", b"", 1, keys=keys)


def test_recordings_are_claimed_by_a_list_and_the_header_beside_it(location: str):
    ours = (("checkpoint:a:turns", "list"), ("checkpoint:a:header", "string"))
    generic = ("checkpoint:t", "string")
    documents = ("checkpoint:t:__empty__:1", "ReJSON-RL")

    assert recognise(probe(location))[0] is RecordingRedis
    assert recognise(seen(*ours, generic, documents))[0] is RecordingRedis
    assert recognise(seen(*((f"x:{name}", kind) for name, kind in ours)))[0] is RecordingRedis
    assert recognise(seen(ours[0], generic))[0] is RedisStore
    assert recognise(seen(ours[1], generic))[0] is RedisStore
    assert recognise(seen(ours[0], documents))[0] is LangGraphRedis
    assert not RecordingRedis.sniff(seen(("checkpoint:a:turns", "zset"), ours[1]))
    many = [(f"checkpoint:{n}:turns", "list") for n in range(MOST_KEYS)]
    assert RecordingRedis.sniff(seen(*many))


def test_the_state_of_a_recording_is_read_by_whoever_reads_keys(location: str):
    store = RedisStore.open(location)
    try:
        session = store.load(SessionId("main")).session
        assert session.ids == ["checkpoint:main"]
        (first, *_) = EVERY
        assert store.bodies(session, [0]) == [msgspec.to_builtins(first)["state"]]
    finally:
        store.close()
