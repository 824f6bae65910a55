"""OpenAI Agents SDK: items are messages, and branches share what is the same from their start."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from builders import FIXTURES, codes, database_of, facts, fixture_database, ids_of, load, replay_of

from tt_debugger.core.model import Kind, SessionId, Usage
from tt_debugger.formats import recognise
from tt_debugger.storage.probe import probe

FORMAT = "openai_agents"
HERE = FIXTURES / FORMAT
made = partial(fixture_database, FORMAT)


def test_the_database_of_the_fixture_is_what_its_statements_make(tmp_path: Path):
    store, loaded = load(HERE / "sessions.db", FORMAT)
    again, same = load(made(tmp_path / "sessions.db"), FORMAT)

    assert facts(same.session) == facts(loaded.session)
    assert store.sessions() == again.sessions() == ["empty", "before", "menu"]
    store.close()
    again.close()


def test_branches_part_where_their_items_do():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    tree = [(each.id, each.parent) for each in session]

    assert tree == [
        ("2", None),
        ("3", "2"),
        ("4", "3"),
        ("5", "4"),
        ("6", "5"),
        ("7", "6"),
        ("8", "7"),
        ("9", "6"),
        ("10", "9"),
        ("11", "10"),
    ]
    named = {session.ids[row]: label for row, label in session.labels.items()}
    assert named == {"8": "main", "10": "mild, bare", "11": "soup"}
    assert ids_of(session, session.active_path) == "2 3 4 5 6 7 8"
    assert session.findings == ()
    store.close()


def test_items_are_the_messages_and_each_kind_is_shown():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    shown = [(each.head.kind, each.head.name, each.head.summary) for each in list(session)[:5]]

    assert shown == [
        (Kind.MESSAGE, "user", "Plan the lunch."),
        (Kind.MESSAGE, "asst", "See what there is."),
        (Kind.TOOL_CALL, "pantry", '{"shelf":2}'),
        (Kind.TOOL_RESULT, "tool", "rice, beans"),
        (Kind.MESSAGE, "asst", "Rice and beans."),
    ]
    messages = replay_of(store, session).state(9)["messages"]
    items = [each["item"] for each in store.bodies(session, [0, 1, 2, 3, 4, 7, 8, 9])]
    assert messages == items
    assert session.heads.time(0) == 1790928000
    store.close()


def test_the_last_item_of_a_turn_has_what_the_turn_used():
    store, loaded = load(HERE / "sessions.db", FORMAT)
    session = loaded.session

    used = {each.id: each.head.usage for each in session if each.head.usage}

    # The turn that a branch copied was used once.
    assert used == {"6": Usage(20, 30, 100, 0, 150), "8": Usage(140, 10, 0, 0, 150)}
    store.close()


@pytest.mark.parametrize(
    ("name", "session", "path"),
    [
        ("plain", "sess-1", "1 2 3 4 5 6"),
        ("plain", "sess-2", "7"),
        ("advanced", "adv-1", "1 2 3 4 5 6 7 8"),
    ],
)
def test_what_the_kit_wrote_is_shown_item_by_item(name: str, session: str, path: str):
    store, _ = load(HERE / f"{name}.db", FORMAT)

    loaded = store.load(SessionId(session)).session

    assert ids_of(loaded, loaded.active_path) == path
    assert loaded.findings == ()
    store.close()


def test_a_branch_that_the_kit_made_goes_on_from_the_turn_before():
    store, loaded = load(HERE / "advanced.db", FORMAT)
    session = loaded.session

    alt = [each.id for each in session if each.parent == "2"]

    assert alt == ["3", "9"]
    messages = replay_of(store, session).state(len(session) - 1)["messages"]
    assert [each["content"] for each in messages[::2]] == ["turn one", "turn two ALT"]
    store.close()


def test_what_is_damaged_or_on_no_branch_is_told(tmp_path: Path):
    path = made(
        tmp_path / "sessions.db",
        "update chat_items set message_data = '[' where id = 3",
        "update message_structure set message_id = 70 where message_id = 7",
        'insert into chat_items values (12, \'menu\', \'{"role":"user","content":"?"}\', \'\')',
    )
    store, loaded = load(path, FORMAT)
    session = loaded.session

    tree = " ".join(f"{each.id}<{each.parent or ''}" for each in session)

    assert tree == "2< gap@3< 4<2 5<4 6<5 8<6 9<6 10<9 11<10 7<6 12<7"
    assert sorted(codes(session.findings)) == ["TT101", "TT201", "TT403", "TT403"]
    assert {each.checkpoint for each in session.findings} == {None, "gap@3", "7", "12"}
    store.close()


def test_a_branch_that_lost_its_beginning_has_the_same_item_once_more(tmp_path: Path):
    path = made(
        tmp_path / "sessions.db",
        "delete from message_structure where branch_id in ('bare', 'soup')",
        "delete from message_structure where branch_id = 'mild' and message_id < 6",
    )
    store, loaded = load(path, FORMAT)

    tree = [(each.id, each.parent) for each in loaded.session][7:]

    assert tree == [("6.2", None), ("9", "6.2"), ("10", "9"), ("11", "8")]
    store.close()


def test_without_a_table_of_sessions_the_items_tell_them(tmp_path: Path):
    script = (HERE / "sessions.sql").read_text()
    path = database_of(tmp_path / "sessions.db", script, "drop table chats")
    store, _ = load(path, FORMAT)

    assert store.sessions() == ["before", "menu"]
    store.close()


def test_a_table_of_items_is_told_by_its_columns(tmp_path: Path):
    path = database_of(tmp_path / "a.db", "create table x (id, session_id, message_data)")

    found, match = recognise(probe(str(path)))

    assert (found.format, match.reason) == (
        FORMAT,
        "the table x has items of the OpenAI Agents SDK",
    )
