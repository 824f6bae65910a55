"""Google ADK: the state is what events set, and what was rewound is a dead branch."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from builders import (
    FIXTURES,
    codes,
    database_of,
    facts,
    fixture_database,
    ids_of,
    load,
    replay_of,
)
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.model import Kind, SessionId, Usage
from tt_debugger.formats.google_adk.line import SCOPES, Line
from tt_debugger.formats.shared.transcript import Entry

FORMAT = "google_adk"
HERE = FIXTURES / FORMAT
made = partial(fixture_database, FORMAT)

OLD = """
create table sessions (app_name, user_id, id, state, create_time, update_time);
create table app_states (app_name, state, update_time);
create table events (
    id, app_name, user_id, session_id, invocation_id, author, actions blob, branch, timestamp,
    content text, usage_metadata text, partial, turn_complete, error_code, error_message
);
insert into sessions values ('a', 'u', 's', '{"n":2}', '2025-06-01', '2025-06-02');
insert into events values
    ('x1', 'a', 'u', 's', 'i1', 'user', x'80049500', null, '2025-06-01 08:00:00',
     '{"role":"user","parts":[{"text":"hi"}]}', null, null, null, null, null),
    ('x2', 'a', 'u', 's', 'i1', 'bot', x'8004952e', null, '2025-06-01 08:00:01',
     '{"role":"model","parts":[{"text":"yo"}]}', '{"prompt_token_count":', 0, 1, null, null);
"""


KEYS = st.sampled_from(["a", "b", "user:u", "app:v"])
EVENTS = st.lists(
    st.tuples(
        st.sampled_from("ijk"),
        st.dictionaries(KEYS, st.integers(0, 3), max_size=2),
        st.none() | st.sampled_from("ijk"),
    ),
    max_size=12,
)


@given(EVENTS)
def test_after_any_rewinds_the_line_is_what_was_not_dropped(events: list[Any]):
    line = Line({"a": 9})
    kept: list[tuple[int, str, dict[str, int]]] = []
    parents: list[int | None] = []
    for place, (invocation, delta, before) in enumerate(events):
        firsts = [n for n, (_, name, _) in enumerate(kept) if name == before]
        if firsts:
            dropped, kept = kept[firsts[0] :], kept[: firsts[0]]
            shared = [pair for _, _, each in dropped for pair in each.items()]
            carried = {key: each for key, each in shared if key.startswith(SCOPES)}
            delta = {**carried, **delta}  # noqa: PLW2901 - what the event sets in all
        parents.append(kept[-1][0] if kept else None)
        kept.append((place, invocation, delta))
        actions = {"state_delta": events[place][1], "rewind_before_invocation_id": before}
        event = {"id": f"e{place}", "invocation_id": invocation, "actions": actions}
        line.take(event, event, ())

    expected = {"a": 9}
    for _, _, delta in kept:
        expected |= delta
    assert line.state == expected
    assert [each.above for each in line.pieces if isinstance(each, Entry)] == parents


def texts(messages: list[Any]) -> list[str]:
    return [block.get("text", block["type"]) for each in messages for block in each["content"]]


def test_the_database_of_the_fixture_is_what_its_statements_make(tmp_path: Path):
    store, loaded = load(HERE / "sessions.db", FORMAT)
    again, same = load(made(tmp_path / "sessions.db"), FORMAT)

    assert facts(same.session) == facts(loaded.session)
    store.close()
    again.close()


def test_a_session_whose_id_others_have_is_called_by_app_and_user_too():
    store, _ = load(HERE / "sessions.db", FORMAT)

    assert store.sessions() == ["s2", "garden/ben/s1", "garden/ana/s1"]
    loaded = store.load(SessionId("garden/ben/s1")).session
    assert (len(loaded), loaded.title) == (1, "garden of ben")
    store.close()


def test_what_was_rewound_is_a_dead_branch():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    tree = " ".join(f"{each.id}<{each.parent or ''}" for each in session)

    assert tree == "e1< e2<e1 e3<e2 e4<e3 e5<e4 e6<e3 e7<e6 e8<e7 e9<e8"
    assert ids_of(session, session.active_path) == "e1 e2 e3 e6 e7 e8 e9"
    heads = [(each.head.kind, each.head.name, each.head.failed) for each in session]
    assert heads == [
        (Kind.MESSAGE, "user", False),
        (Kind.TOOL_CALL, "look", False),
        (Kind.TOOL_RESULT, "look", False),
        (Kind.MESSAGE, "user", False),
        (Kind.MESSAGE, "asst", False),
        (Kind.CUSTOM, "rewind", False),
        (Kind.MESSAGE, "user", False),
        (Kind.CUSTOM, "error", True),
        (Kind.COMPACTION, "compact", False),
    ]
    assert session.heads.usage(1) == Usage(50, 20, 40, 0, 110)
    store.close()


def test_the_state_is_what_events_set_in_the_scope_that_they_name():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    replay = replay_of(store, loaded.session)

    states = [replay.state(row)["state"] for row in range(6)]

    known = {"bed": "north", "app:season": "autumn"}
    assert states[0] == known
    assert states[1] == states[3] == {**known, "seeds": 3}
    assert states[4] == {**known, "seeds": 0, "user:unit": "m"}
    # A rewind leaves what is of the user as it was set.
    assert states[5] == {**known, "seeds": 3, "user:unit": "m"}
    assert replay.state(2)["artifacts"] == {"map.png": 0}
    assert [str(each.message) for each in loaded.session.findings] == [
        "no event of the session sets app:season: shown as it is now"
    ]
    store.close()


def test_messages_are_blocks_and_a_summary_takes_the_place_of_those_that_it_covers():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    assert replay.state(2)["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look first."},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"bed": "north"}},
            ],
            "author": "planner",
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "name": "look",
                    "content": '{"soil":"wet"}',
                    "is_error": False,
                }
            ],
            "author": "planner",
        },
    ]
    assert texts(replay.state(session.active)["messages"]) == [
        "The north bed is wet.",
        "Wait for the sun.",
    ]
    whole = replay_of(store, session, uncompacted=True).state(session.active)["messages"]
    assert len(whole) == 5
    store.close()


def test_a_summary_gives_way_only_to_one_that_tells_of_all_that_it_does():
    def event(time: float, text: str, *span: int) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": text}]}
        if not span:
            return {"id": text, "timestamp": time, "content": content}
        names = ("start_timestamp", "end_timestamp")
        compaction = dict(zip(names, span, strict=True)) | {"compacted_content": content}
        return {"id": text, "timestamp": time, "actions": {"compaction": compaction}}

    line = Line({})
    said: list[str] = []
    found: list[list[str]] = []
    for each in (
        event(1, "a"),
        event(2, "b"),
        event(3, "A", 1, 2),
        event(4, "c"),
        event(5, "d"),
        event(6, "B", 2, 4),
        event(7, "C", 1, 4),
        event(8, "D", 2, 3),
    ):
        line.take(each, each, ())
        told = line.pieces[-1].told
        at = len(said) if told.at is None else told.at
        said[at : at + (0 if told.at is None else told.over)] = texts(list(told.messages))
        found.append(list(said))

    assert ["".join(each) for each in found] == ["a", "ab", "A", "Ac", "Acd", "ABd", "Cd", "Cd"]


def test_a_rewind_of_the_agent_itself_restores_the_state():
    store, loaded = load(HERE / "rewound.db", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    assert [len(session), session.active_path] == [7, [0, 1, 6]]
    assert [replay.state(row)["state"].get("k") for row in range(7)] == [None, 1, 1, 1, 2, 2, 1]
    assert replay.state(6)["state"] == {"app:v": 1, "k": 1, "user:lang": "no"}
    assert texts(replay.state(6)["messages"]) == ["hi", "hello"]
    store.close()


def test_what_does_not_fit_is_told(tmp_path: Path):
    path = made(
        tmp_path / "sessions.db",
        "update events set event_data = '{' where id = 'e3'",
        "update events set event_data = replace(event_data, 'n_id\":\"i2', 'n_id\":\"i9')"
        " where id = 'e6'",
        "update sessions set state = '{\"seeds\":9}' where user_id = 'ana'",
    )
    store, loaded = load(path, FORMAT)
    session = loaded.session

    assert ids_of(session, range(4)) == "e1 e2 gap@e3 e4"
    assert sorted(codes(session.findings)) == ["TT101", "TT301", "TT303", "TT303"]
    assert session.findings[1].message == (
        "the events set seeds to something else than the session has"
    )
    store.close()


def test_an_older_database_keeps_its_pickles_closed(tmp_path: Path):
    store, loaded = load(database_of(tmp_path / "old.db", OLD), FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    assert ids_of(session, session.active_path) == "x1 x2"
    assert store.bodies(session, [0])[0] == {
        "timestamp": "2025-06-01 08:00:00",
        "id": "x1",
        "invocation_id": "i1",
        "author": "user",
        "content": {"role": "user", "parts": [{"text": "hi"}]},
        "actions": {
            "$opaque": "pickle",
            "size": 4,
            "sha256": "9c1e725b5a5315338b4cd42403edb6afd1a7d584a311578cf5988b5d52acf62a",
        },
    }
    assert [replay.state(row)["state"] for row in (0, 1)] == [{}, {"n": 2}]
    assert sorted(codes(session.findings)) == ["TT101", "TT111"]
    store.close()
