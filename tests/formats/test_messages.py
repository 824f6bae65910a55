"""Messages: OpenAI chat and Responses, Anthropic; a line, a list or a request at a time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, jsonl, load, replay_of, said
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values, pieces_of

from tt_debugger.core.changes import fold
from tt_debugger.core.model import Role, Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.storage import index_cache
from tt_debugger.storage.files import RegularFile
from tt_debugger.store import Follows, Loaded, Store

FOLDER = FIXTURES / "messages"
DOCUMENTS = sorted(FOLDER.glob("*.json"))
HI, YO = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}
BYE = {"role": "user", "content": "bye"}


def name_of(parent: str, message: Any) -> str:
    """Give the id of a message, worked out another way than the format does."""
    canonical = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(f"{parent}{canonical}".encode()).hexdigest()[:12]


def names_of(*messages: Any) -> list[str]:
    """Give the ids of messages that follow each other from the first one on."""
    names: list[str] = []
    for message in messages:
        names.append(name_of(names[-1] if names else "", message))
    return names


def opened(content: bytes, folder: Path, name: str = "s.jsonl") -> tuple[Store, Session]:
    path = folder / name
    path.write_bytes(content)
    store, loaded = load(path, "messages")
    return store, loaded.session


def parents_of(session: Session) -> list[str]:
    return ["" if up == NO_ROW else session.ids[up] for up in session.parents]


def spoken(store: Store, session: Session) -> list[Any]:
    """Give the messages of the active leaf, as their texts."""
    assert session.active is not None
    messages = replay_of(store, session).state(session.active)["messages"]
    return [each.get("content") for each in messages]


def test_each_line_is_a_message_below_the_one_before():
    path = FOLDER / "chat.jsonl"
    messages = [json.loads(line) for line in path.read_bytes().splitlines()]
    store, loaded = load(path, "messages")
    session = loaded.session

    assert list(session.ids) == names_of(*messages)
    assert parents_of(session) == ["", *session.ids[:-1]]
    assert [(str(each.head.kind), each.head.role, each.head.name) for each in session] == [
        ("message", Role.SYSTEM, "system"),
        ("message", Role.USER, "user"),
        ("tool_call", Role.ASSISTANT, "lookup"),
        ("tool_result", Role.TOOL, "tool"),
        ("message", Role.ASSISTANT, "asst"),
    ]
    assert replay_of(store, session).state(4) == {"messages": messages}
    assert session.findings == ()
    store.close()


def test_conversations_that_begin_alike_are_one_tree():
    store, loaded = load(FOLDER / "conversations.jsonl", "messages")
    session = loaded.session
    system, hello = {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}
    first, second = names_of(system, hello)
    long = names_of(
        system,
        hello,
        {"role": "assistant", "content": "Hello to you."},
        {"role": "user", "content": "Sing."},
    )
    other = names_of(
        system,
        {"role": "user", "content": "Goodbye"},
        {"role": "assistant", "content": "So soon?"},
    )
    good = names_of(system, hello, {"role": "assistant", "content": "Good day.", "refusal": None})

    assert list(session.ids) == [first, second, *long[2:], *other[1:], good[2]]
    assert parents_of(session) == ["", first, second, long[2], first, other[1], second]
    assert (session.active, said(session)) == (6, "TT102 5")
    store.close()


def test_the_settings_of_a_request_stand_beside_its_messages():
    store, loaded = load(FOLDER / "conversations.jsonl", "messages")
    replay = replay_of(store, loaded.session)
    states = [replay.state(row) for row in (0, 3, 5, 6)]

    assert [{**each, "messages": len(each["messages"])} for each in states] == [
        {"messages": 1, "model": "m-1", "temperature": 0},
        {"messages": 4, "model": "m-1", "temperature": 0},
        {"messages": 3},
        {
            "messages": 3,
            "model": "m-2",
            "temperature": 0,
            "tools": [{"type": "function", "function": {"name": "sing"}}],
        },
    ]
    store.close()


def test_items_of_responses_are_calls_results_and_thoughts():
    store, loaded = load(FOLDER / "responses.jsonl", "messages")
    session = loaded.session

    assert [(str(each.head.kind), each.head.name, each.head.summary) for each in session] == [
        ("message", "user", "Which port?"),
        ("message", "asst", "[hidden thoughts]"),
        ("tool_call", "ports", ""),
        ("tool_result", "tool", "[8080]"),
        ("message", "asst", "8080"),
    ]
    state = replay_of(store, session).state(4)
    assert [each["type"] for each in state.pop("messages")] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert state["instructions"] == "Answer in one word."
    assert (len(session), session.findings) == (5, ())
    store.close()


def test_a_request_over_several_lines_is_read_with_the_place_of_each_message():
    path = FOLDER / "request.json"
    store, loaded = load(path, "messages")
    session = loaded.session
    request = json.loads(path.read_bytes())
    rows = range(len(session))

    assert [session.heads.line(row) for row in rows] == [6, 7, 14]
    assert [json.loads(store.raw(session, row)) for row in rows] == request["messages"]
    assert replay_of(store, session).state(2) == request
    assert session.extent is not None
    assert (session.extent.shown, session.extent.skipped) == (path.stat().st_size, 0)
    store.close()


@pytest.mark.parametrize("path", DOCUMENTS, ids=[path.stem for path in DOCUMENTS])
def test_a_document_keeps_the_laws_of_replay_and_following(path: Path):
    store, loaded = load(path, "messages")
    session = loaded.session
    replay = replay_of(store, session)
    rows = range(len(session))

    for row, parent in enumerate(session.parents):
        before = {} if parent == NO_ROW else replay.state(parent)
        assert replay.state(row) == fold(before, replay.changes(row))
        assert replay.resumed(row).state == replay.state(row)
    assert store.bodies(session, rows[::-1]) == store.bodies(session, rows)[::-1]
    assert isinstance(store, Follows)
    assert store.follow(loaded.cursor).session is session
    store.close()


@pytest.mark.parametrize(
    "content",
    [
        jsonl(HI, YO, BYE),
        jsonl(json.dumps([HI, YO, BYE])),
        jsonl({"messages": [HI, YO, BYE]}),
        json.dumps([HI, YO, BYE]).encode(),
        json.dumps([HI, YO, BYE], indent=2).encode(),
        json.dumps({"messages": [HI, YO, BYE]}, indent=2).encode(),
        json.dumps([{"messages": [HI]}, {"messages": [HI, YO, BYE]}], indent=2).encode(),
        json.dumps({"input": [HI, YO], "output": [BYE]}).encode(),
        b"\xef\xbb\xbf" + jsonl(HI, YO, BYE),
        b"\xef\xbb\xbf" + jsonl(json.dumps([HI, YO, BYE])),
        b"\n \n" + json.dumps([HI, YO, BYE], indent=2).encode(),
        jsonl(json.dumps({"messages": [HI, YO, BYE]}).replace(" ", "  \t")),
        jsonl(
            json.dumps({"messages": ["no", 1]})[:-1]
            + ',"messages":'
            + json.dumps([HI, YO, BYE])
            + "}"
        ),
    ],
)
def test_the_same_messages_have_the_same_ids_however_they_are_written(
    content: bytes, tmp_path: Path
):
    store, session = opened(content, tmp_path)

    assert list(session.ids) == names_of(HI, YO, BYE)
    assert session.active == 2
    assert spoken(store, session) == ["hi", "yo", "bye"]
    assert [json.loads(store.raw(session, row).strip(b"\xef\xbb\xbf")) for row in range(3)] == [
        HI,
        YO,
        BYE,
    ]
    store.close()


def test_the_last_message_of_the_last_conversation_is_the_active_leaf(tmp_path: Path):
    store, session = opened(jsonl({"messages": [HI, YO, BYE]}, {"messages": [HI, YO]}), tmp_path)

    assert (len(session), session.active) == (3, 1)
    store.close()


def test_lines_that_hold_one_message_go_on_behind_a_whole_conversation(tmp_path: Path):
    store, session = opened(jsonl(HI, {"messages": [BYE]}, YO), tmp_path)

    assert list(session.ids) == [*names_of(HI), *names_of(BYE), names_of(HI, YO)[1]]
    store.close()


def test_what_is_lost_between_messages_is_a_gap_and_they_go_on_behind_it():
    store, loaded = load(FOLDER / "damaged.jsonl", "messages")
    session = loaded.session

    assert list(session.ids)[1] == "gap@2"
    assert spoken(store, session) == ["one", "three", "four"]
    assert said(session) == "TT101 2, TT408 4, TT102 5"
    store.close()


def test_a_record_that_is_no_message_is_shown_and_adds_none(tmp_path: Path):
    store, session = opened(jsonl(HI, {"note": 1}, YO), tmp_path)

    assert [str(each.head.kind) for each in session] == ["message", "custom", "message"]
    assert spoken(store, session) == ["hi", "yo"]
    store.close()


def test_a_message_that_is_damaged_in_a_list_leaves_the_others(tmp_path: Path):
    content = json.dumps([HI, YO, BYE], indent=1).replace('"yo"', '"yo').encode()

    for data in (content, content.replace(b"\n", b"")):
        store, session = opened(data, tmp_path)
        assert [session.heads.is_gap(row) for row in range(3)] == [False, True, False]
        assert spoken(store, session) == ["hi", "bye"]
        assert session.extent is not None
        assert session.extent.size == len(data)
        store.close()


def test_a_list_that_was_cut_gives_the_messages_that_are_whole(tmp_path: Path):
    content = json.dumps([HI, YO, BYE], indent=1).encode()

    for data in (content[:-20], content[:-20].replace(b"\n", b""), content[:-1]):
        store, session = opened(data, tmp_path)
        assert spoken(store, session)[:2] == ["hi", "yo"]
        assert [str(each.code) for each in session.findings] == ["TT102"]
        store.close()


def test_a_request_that_was_cut_is_refused_with_the_reason(tmp_path: Path):
    content = json.dumps({"model": "m", "messages": [HI, YO, BYE]}, indent=1).encode()

    with pytest.raises(CannotReadError, match="in the middle"):
        opened(content[:-20], tmp_path)


def test_a_message_in_the_place_of_another_is_no_body_of_it(tmp_path: Path):
    store, session = opened(json.dumps([HI, YO], indent=1).encode(), tmp_path)
    (tmp_path / "s.jsonl").write_bytes(
        json.dumps([{**HI, "content": "ha"}, YO], indent=1).encode()
    )

    with pytest.raises(CannotReadError, match="changed since it was read"):
        store.bodies(session, [0])
    assert store.bodies(session, [1]) == [YO]
    store.close()


values = st.dictionaries(st.sampled_from(("content", "name", "x")), json_values, max_size=3)
messages = st.builds(
    lambda value, role: {"content": "", **value, "role": role}, values, st.just("r")
)
conversations = st.lists(st.lists(messages, min_size=1, max_size=4), min_size=1, max_size=4)


@given(conversations, st.sampled_from((None, 2)))
def test_every_conversation_is_a_path_from_its_first_message_on(
    tmp_path_factory: pytest.TempPathFactory, talks: list[list[Any]], indent: int | None
):
    folder = tmp_path_factory.getbasetemp()
    lines = jsonl(*[json.dumps({"messages": talk}) for talk in talks])
    listed = json.dumps([{"messages": talk} for talk in talks], indent=indent).encode()
    for content in (lines, listed) if indent else (lines,):
        store, session = opened(content, folder)
        replay = replay_of(store, session)
        said_on = [replay.state(row)["messages"] for row in range(len(session))]

        assert all(talk in said_on for talk in talks)
        assert session.active is not None
        assert said_on[session.active] == talks[-1]
        assert all(any(path == talk[: len(path)] for talk in talks) for path in said_on)
        store.close()


@given(st.sampled_from(DOCUMENTS), st.data())
def test_a_list_that_is_written_in_pieces_is_read_as_the_list_that_it_is(
    tmp_path_factory: pytest.TempPathFactory, document: Path, data: st.DataObject
):
    path = tmp_path_factory.getbasetemp() / "pieces.json"
    content = document.read_bytes()
    path.write_bytes(b"")
    store, loaded = load(path, "messages")
    for piece in data.draw(pieces_of(content)):
        with path.open("ab") as file:
            file.write(piece)
        loaded = _followed_or_refused(store, loaded, path)
    assert facts(loaded.session) == facts(load(path, "messages")[1].session)
    store.close()


def _followed_or_refused(store: Store, loaded: Loaded, path: Path) -> Loaded:
    """Follow; while what is being written cannot be read, what was there stays."""
    assert isinstance(store, Follows)
    followed = store.follow(loaded.cursor)
    try:
        anew = load(path, "messages")[1].session
    except CannotReadError:
        assert followed.session is loaded.session
    else:
        assert facts(followed.session) == facts(anew)
    return followed


def test_a_document_that_is_edited_in_its_middle_is_read_anew(tmp_path: Path):
    talk = [{"role": "user", "content": f"{number:05}"} for number in range(1000)]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(talk, indent=1))
    store, loaded = load(path, "messages")
    assert isinstance(store, Follows)
    same = store.follow(loaded.cursor)
    assert same.session is loaded.session

    path.write_text(path.read_text().replace("00500", "edit!"))
    followed = store.follow(same.cursor)

    assert facts(followed.session) == facts(load(path, "messages")[1].session)
    assert followed.session.heads[500].summary == "edit!"
    store.close()


@pytest.mark.parametrize("content", [jsonl(HI, YO), json.dumps([HI, YO], indent=1).encode()])
def test_a_file_that_nobody_touched_is_not_read_when_it_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
):
    path = tmp_path / "s.json"
    path.write_bytes(content)
    monkeypatch.setattr(index_cache, "SETTLED", -(10**15))
    store, loaded = load(path, "messages")
    assert isinstance(store, Follows)

    with monkeypatch.context() as patched:
        patched.setattr(RegularFile, "read", None)
        assert store.follow(loaded.cursor).session is loaded.session

    path.write_bytes(content.replace(b"yo", b"no way"))
    assert spoken(store, store.follow(loaded.cursor).session) == ["hi", "no way"]
    store.close()


def test_each_finding_is_with_its_message_where_an_answer_stands_before_its_question(
    tmp_path: Path,
):
    lone = {"type": "function_call_output", "call_id": "gone", "output": "x"}
    odd = b'{"role": "assistant", "content": "a\tb"}'
    content = b'{"output": [%b, %b], "input": [%b]}\n' % (
        odd,
        json.dumps(lone).encode(),
        json.dumps(HI).encode(),
    )
    store, session = opened(content, tmp_path)

    assert [str(each.head.kind) for each in session] == ["message", "message", "tool_result"]
    assert [session.heads.offset(row) for row in range(3)] == [
        content.index(json.dumps(HI).encode()),
        content.index(odd),
        content.index(json.dumps(lone).encode()),
    ]
    assert [(str(each.code), each.checkpoint) for each in session.findings] == [
        ("TT105", None),
        ("TT105", session.ids[1]),
        ("TT408", session.ids[2]),
    ]
    store.close()


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_without_an_end_is_told_in_the_same_words_on_one_line_or_many(
    tmp_path: Path, indent: int | None
):
    content = json.dumps([HI, YO, BYE], indent=indent).encode()[:-20]
    store, session = opened(content, tmp_path)

    lost = len(content) - content.rindex(b"{")
    assert [each.message for each in session.findings] == [
        f"the list has no end: its last {lost} bytes are not complete"
    ]
    assert session.extent is not None
    assert session.extent.skipped == lost
    store.close()
