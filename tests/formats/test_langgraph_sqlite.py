"""LangGraph in SQLite: threads, the graphs inside them, growth, damage, and what a row says."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import FIXTURES, codes, facts, load, replay_of
from hostile_databases import DAMAGED
from langgraph_rows import (
    UNKEYED,
    ext,
    identity,
    message,
    metadata,
    packed,
    row,
    stored,
    version,
    write,
)

from tt_debugger.core.changes import Put
from tt_debugger.core.messages import messages_in, read_message
from tt_debugger.core.model import Kind, Role, Session, SessionId
from tt_debugger.core.tree import NO_ROW
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.langgraph_sqlite import A_PAGE, FEW_ROWS, LangGraphSqlite
from tt_debugger.formats.shared.langgraph import LangGraphStore
from tt_debugger.formats.shared.langgraph.moments import moment_of_id
from tt_debugger.formats.shared.langgraph.store import AHEAD, AHEAD_BYTES, MOST_CHECKED
from tt_debugger.store import Loaded

HERE = FIXTURES / "langgraph_sqlite"
CHILD = "child:2e58242a-7a99-49a2-c408-0b99a1f7fef4"
GRANDCHILD = "grandchild:85d293cd-4a6e-0b92-3283-05e4aa8f8ba1"


@pytest.fixture
def opened() -> Iterator[Any]:
    stores: list[Any] = []

    def open_database(path: Path, name: str | None = None) -> tuple[LangGraphSqlite, Loaded]:
        store = LangGraphSqlite.open(str(path))
        stores.append(store)
        return store, store.load(SessionId(name) if name else store.sessions()[-1])

    yield open_database
    for each in stores:
        each.close()


def changed(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement, values)
        database.commit()


def added(path: Path, *rows: Any, into: str = "checkpoints") -> None:
    places = ", ".join("?" for _ in rows[0])
    with closing(sqlite3.connect(path)) as database:
        database.executemany(f"insert into {into} values ({places})", rows)  # noqa: S608
        database.commit()


def thread_of(path: Path, count: int) -> Path:
    """Write a thread whose steps follow each other."""
    parents = [None, *(identity(n) for n in range(count - 1))]
    return stored(path, [row({"n": n}, n, parent=parents[n]) for n in range(count)])


def test_a_row_says_which_nodes_ran_and_what_was_said_last(opened: Any):
    _, loaded = opened(HERE / "react.db")
    heads = loaded.session.heads

    told = [(each.step, each.name, each.role, each.summary) for each in heads]

    assert told == [
        (-1, "input", Role.USER, "2+3 then +10?"),
        (0, "start", Role.USER, "2+3 then +10?"),
        (1, "model", Role.ASSISTANT, 'add: {"a":2,"b":3} (and 1 more)'),
        (2, "tools", Role.TOOL, "{'city': 'Oslo', 'temp_c': 21.5, 'sky': 'clear'}"),
        (3, "model", Role.ASSISTANT, 'add: {"a":5,"b":10}'),
        (4, "tools", Role.TOOL, "15"),
        (5, "model", Role.ASSISTANT, "The answer is 15; Oslo is clear."),
    ]
    assert {each.kind for each in heads} == {Kind.SUPER_STEP}
    assert heads.time(0) == pytest.approx(1795972040.85, abs=1)


def test_the_messages_that_a_step_added_are_its_conversation(opened: Any):
    store, loaded = opened(HERE / "react.db")
    replay = replay_of(store, loaded.session)

    roles = [
        [read_message(each).role for each in messages_in(replay.changes(number))]
        for number in range(len(loaded.session))
    ]

    assert roles == [
        [],
        ["system", "user"],
        ["assistant"],
        ["tool"] * 2,
        ["assistant"],
        ["tool"],
        ["assistant"],
    ]


def test_tasks_are_those_of_the_next_step_and_are_put_as_a_whole(opened: Any):
    store, loaded = opened(HERE / "react.db")
    replay = replay_of(store, loaded.session)

    changes = replay.changes(2)

    assert [each.path for each in changes if each.path[0] == "tasks"] == [("tasks",)]
    assert changes[-1] == Put(("tasks",), replay.state(2)["tasks"])


def test_what_a_checkpoint_waits_for_makes_it_an_interrupt(opened: Any):
    _, loaded = opened(HERE / "pinterrupt.db", "pintr-pending")
    heads = loaded.session.heads

    assert [each.kind for each in heads] == [Kind.SUPER_STEP, Kind.INTERRUPT]
    assert heads[1].summary == 'waits: {"from":"b"}'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Go on?", "waits: Go on?"),
        ({"question": "Go on?", "offer": 1}, "waits: Go on?"),
        ({"query": "", "message": "Go on?"}, "waits: Go on?"),
        ({"question": ["Go on?"]}, 'waits: {"question":["Go on?"]}'),
        ([1, 2], "waits: [1,2]"),
    ],
)
def test_what_an_interrupt_asks_is_said_in_its_own_words(
    value: Any, said: str, tmp_path: Path, opened: Any
):
    asked = packed([ext(2, "langgraph.types", "Interrupt", {"value": value, "id": "i"})])
    path = stored(
        tmp_path / "a.db", [row({"n": 1})], [write(0, "__interrupt__", "msgpack", asked)]
    )
    _, loaded = opened(path)

    assert loaded.session.heads[0].summary == said


def test_a_message_that_came_in_is_said_in_its_words(tmp_path: Path, opened: Any):
    first = ("t", "", identity(0), None, "msgpack", row({}, 0)[5], metadata(-1))
    told = [message("human", "Hello"), message("human", "Are you there?")]
    writes = [
        write(0, "messages", "msgpack", packed(each), idx=place) for place, each in enumerate(told)
    ]
    _, loaded = opened(stored(tmp_path / "a.db", [first], writes))

    head = loaded.session.heads[0]

    assert (head.role, head.name, head.summary) == (Role.USER, "input", "Are you there?")


def test_an_object_is_said_by_the_name_of_its_class(tmp_path: Path, opened: Any):
    point = ext(5, "demo.shapes", "Point", {"x": 1}, "model_validate_json")
    _, loaded = opened(stored(tmp_path / "a.db", [row({"at": point})]))

    assert loaded.session.heads[0].summary == 'at: Point {"x":1}'


def test_a_step_that_failed_is_marked_with_its_error(tmp_path: Path, opened: Any):
    path = stored(
        tmp_path / "a.db",
        [row({"n": 1})],
        [write(0, "__error__", "msgpack", packed("boom"), idx=-1)],
    )
    store, loaded = opened(path)

    assert (loaded.session.heads[0].failed, loaded.session.heads[0].summary) == (True, "boom")
    assert store.bodies(loaded.session, [0])[0]["tasks"][0]["error"] == "boom"


def test_a_graph_inside_a_graph_is_linked_from_the_checkpoint_that_ran_it(opened: Any):
    path = HERE / "sub.db"
    store, loaded = opened(path)
    names = [f"subgraph-done|{CHILD}", f"subgraph-done|{CHILD}|{GRANDCHILD}"]

    assert store.sessions() == ["subgraph-done"]
    assert loaded.session.subsessions == {2: (names[0],)}
    inside = store.load(SessionId(names[0])).session
    assert (inside.id, len(inside), inside.subsessions) == (names[0], 4, {2: (names[1],)})
    with Debugger.open(str(path)) as debugger:
        (location,) = debugger.subsessions(2).values()
    assert location == f"{path}#subgraph-done|{CHILD.replace(':', '%3A')}:"


def test_sessions_are_found_by_the_beginning_of_their_names(opened: Any):
    store, _ = opened(HERE / "sub.db")

    assert store.sessions_named("subgraph-done") == ["subgraph-done"]
    assert store.sessions_named("sub") == ["subgraph-done"]
    assert store.sessions_named("subgraph-done|child:2e") == [
        f"subgraph-done|{CHILD}",
        f"subgraph-done|{CHILD}|{GRANDCHILD}",
    ]
    assert store.sessions_named(f"subgraph-done|{CHILD}|g") == [
        f"subgraph-done|{CHILD}|{GRANDCHILD}"
    ]
    assert store.sessions_named("other|child") == store.sessions_named("t") == []
    with pytest.raises(CannotReadError):
        store.load(SessionId("subgraph-done|child:0"))


def test_a_thread_may_have_the_sign_in_its_name_that_parts_it_from_a_namespace(
    tmp_path: Path, opened: Any
):
    store, _ = opened(stored(tmp_path / "a.db", [row({"n": 1}, thread="a|b")]))

    assert store.sessions() == ["a|b"]
    assert store.load(SessionId("a|b")).session.id == "a|b"


def test_of_very_many_threads_those_written_last_are_listed(tmp_path: Path, opened: Any):
    rows = [row({"n": n}, n, thread=f"t{n:05}") for n in range(FEW_ROWS + 100)]
    store, _ = opened(stored(tmp_path / "a.db", rows))

    assert store.sessions() == [f"t{n:05}" for n in range(FEW_ROWS - 100, FEW_ROWS + 100)]
    assert store.sessions_named("t00007") == ["t00007"]
    assert len(store.load(SessionId("t00007")).session) == 1


def test_a_thread_of_very_many_rows_hides_no_other(tmp_path: Path, opened: Any):
    rows = [row({"n": n}, n, thread=f"a{n % 5}") for n in range(5)]
    rows += [row({"n": n}, n) for n in range(5, FEW_ROWS + 100)]
    store, _ = opened(stored(tmp_path / "a.db", rows))

    assert store.sessions() == ["a0", "a1", "a2", "a3", "a4", "t"]
    assert len(store.sessions()) < A_PAGE


def test_rows_that_came_are_read_and_the_others_stand(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 3)
    store, loaded = opened(path)
    added(path, row({"n": 3}, 3, parent=identity(2)))

    grown = store.follow(loaded.cursor)

    assert (len(grown.session), grown.kept) == (4, 3)
    assert facts(grown.session) == facts(opened(path)[1].session)
    assert store.follow(grown.cursor).session is grown.session


def test_a_write_under_an_old_checkpoint_is_news_of_it(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 3)
    store, loaded = opened(path)
    added(path, write(1, "n", "msgpack", packed(7)), into="writes")

    grown = store.follow(loaded.cursor)

    assert (len(grown.session), grown.kept) == (3, 1)
    task = store.bodies(grown.session, [1])[0]["tasks"][0]
    assert (task["name"], task["result"]) == ("agent", {"n": 7})


def test_a_value_that_was_written_again_is_news_too(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 2)
    added(path, write(1, "__interrupt__", "msgpack", packed(["one"]), idx=-3), into="writes")
    store, loaded = opened(path)
    changed(path, "update writes set value = ?", packed(["two"]))

    grown = store.follow(loaded.cursor)

    assert grown.kept == 1
    assert store.bodies(grown.session, [1])[0]["tasks"][0]["interrupts"] == ["two"]


def test_what_is_written_to_other_threads_is_no_news(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 2)
    store, loaded = opened(path)
    added(path, row({"n": 3}, 3, thread="other"))

    assert store.follow(loaded.cursor).session is loaded.session


def test_where_a_thread_is_gone_the_newest_is_read(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 2)
    added(path, row({"n": 3}, 3, thread="other"))
    store, loaded = opened(path, "t")
    changed(path, "delete from checkpoints where thread_id = 't'")

    assert store.follow(loaded.cursor).session.id == "other"


def test_a_database_that_is_gone_or_none_any_more_changes_nothing(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 2)
    store, loaded = opened(path)
    path.write_bytes(b"no database")

    assert store.follow(loaded.cursor).session is loaded.session


@pytest.mark.parametrize(
    ("statement", "value", "told"),
    [
        ("update checkpoints set checkpoint = ?", b"\x81", "TT101 TT101"),
        ("update checkpoints set metadata = ?", b"{,", "TT407 TT407"),
        ("update checkpoints set type = ?", "pickle", "TT111"),
        ("update checkpoints set type = ?", "marshal", "TT101 TT101"),
        ("update checkpoints set type = ?", None, "TT101 TT101"),
        ("update checkpoints set checkpoint = ?", packed({"channel_values": [1]}), "TT101 TT101"),
        (
            "update checkpoints set checkpoint = ?",
            packed({"channel_values": {}, "channel_versions": [1], "versions_seen": {}}),
            "TT407 TT407",
        ),
        (
            "update checkpoints set checkpoint = ?",
            packed({"channel_values": {}, "versions_seen": 1}),
            "TT407 TT407",
        ),
        ("update checkpoints set parent_checkpoint_id = ?", "gone", "TT201 TT201"),
    ],
)
def test_what_is_damaged_is_there_and_is_told(
    statement: str, value: Any, told: str, tmp_path: Path, opened: Any
):
    path = thread_of(tmp_path / "a.db", 2)
    changed(path, statement, value)
    store, loaded = opened(path)
    session = loaded.session

    assert " ".join(codes(session.findings)) == told
    assert len(store.bodies(session, [0, 1])) == len([each.summary for each in session.heads]) == 2
    assert store.raw(session, 0).startswith(b'{"thread_id":"t"')


def test_a_body_that_is_damaged_is_unreadable_and_hides_no_other(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 3)
    changed(
        path, "update checkpoints set checkpoint = ? where checkpoint_id = ?", b"", identity(1)
    )
    store, loaded = opened(path)

    kinds = [each.kind for each in loaded.session.heads]
    states = store.bodies(loaded.session, [0, 1, 2])

    assert kinds == [Kind.SUPER_STEP, Kind.UNREADABLE, Kind.SUPER_STEP]
    assert [each["values"].get("n") for each in states] == [0, None, 2]


def test_what_the_bodies_of_a_long_thread_show_is_told_when_it_is_examined(
    tmp_path: Path, opened: Any
):
    path = thread_of(tmp_path / "a.db", MOST_CHECKED + 1)
    for column, row_number in (("checkpoint", MOST_CHECKED), ("metadata", 70)):
        statement = f"update checkpoints set {column} = '[' where checkpoint_id = ?"  # noqa: S608
        changed(path, statement, identity(row_number))
    store, loaded = opened(path)

    found = [(each.code, each.checkpoint) for each in store.examined(loaded.session)]

    assert loaded.session.findings == ()
    assert found == [("TT407", identity(70)), ("TT101", identity(MOST_CHECKED))]


def test_what_a_short_thread_told_already_is_not_told_again(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 2)
    changed(path, "update checkpoints set metadata = '['")
    store, loaded = opened(path)

    assert len(loaded.session.findings) == 2
    assert list(store.examined(loaded.session)) == []


@pytest.mark.parametrize("name", ["pages that lead to themselves", "rows that claim a gigabyte"])
def test_a_database_in_which_nothing_is_found_for_its_damage_says_so(name: str, tmp_path: Path):
    path = tmp_path / "a.db"
    DAMAGED[name](path, tmp_path / "canary")
    with closing(LangGraphSqlite.open(str(path))) as store:
        with pytest.raises(CannotReadError, match=r"the database is damaged: [^\n*]+$"):
            store.sessions()
        with pytest.raises(CannotReadError, match="the database is damaged"):
            store.load(SessionId("gone"))


def test_a_body_without_a_type_is_of_an_unknown_kind(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 1)
    changed(path, "update checkpoints set type = null")
    store, loaded = opened(path)

    values = store.bodies(loaded.session, [0])[0]["values"]

    assert values["$opaque"] == "unknown"
    assert values["size"] > 0
    assert loaded.session.heads[0].kind is Kind.UNREADABLE


def test_rows_that_are_their_own_ancestors_are_cut_apart(tmp_path: Path, opened: Any):
    path = thread_of(tmp_path / "a.db", 3)
    changed(
        path,
        "update checkpoints set parent_checkpoint_id = ? where checkpoint_id = ?",
        identity(2),
        identity(0),
    )
    _, loaded = opened(path)

    assert list(loaded.session.parents) == [NO_ROW, 0, 1]
    assert codes(loaded.session.findings) == ["TT203"]


@pytest.mark.parametrize("name", [None, 7, 1.5, b"\xff", ""])
def test_an_id_that_is_no_text_is_the_number_of_its_row(name: Any, tmp_path: Path, opened: Any):
    odd = ("t", "", name, None, "msgpack", row({"n": 9})[5], metadata(9))
    path = stored(tmp_path / "a.db", [row({"n": 0}, 0), odd], tables=UNKEYED)
    changed(path, "update checkpoints set checkpoint_id = ? where checkpoint_id is ?", name, name)
    store, loaded = opened(path)
    session: Session = loaded.session

    values = [each["values"].get("n") for each in store.bodies(session, range(2))]

    assert sorted(values) == [0, 9]
    assert len(session) == len(list(session)) == 2


def test_of_rows_with_one_id_each_has_its_own_state(tmp_path: Path, opened: Any):
    rows = [row({"n": 0}, 0), row({"n": 1}, 0), row({"n": 2}, 2)]
    store, loaded = opened(stored(tmp_path / "a.db", rows, tables=UNKEYED))

    values = [each["values"] for each in store.bodies(loaded.session, range(3))]

    assert values == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert codes(loaded.session.findings) == ["TT202"]


def test_of_very_many_rows_with_one_id_each_has_its_own_state_in_any_order(
    tmp_path: Path, opened: Any
):
    rows = [row({"n": n}, n // 50) for n in range(200)]
    store, loaded = opened(stored(tmp_path / "a.db", rows, tables=UNKEYED))
    session = loaded.session

    back = [store.bodies(session, [each])[0]["values"]["n"] for each in range(200)[::-1]]
    parts = [each["values"]["n"] for each in store.bodies(session, range(30, 130))]
    raw = [msgspec.json.decode(store.raw(session, each)) for each in (0, 49, 77)]

    assert back[::-1] == list(range(200))
    assert parts == list(range(30, 130))
    assert [each["checkpoint"]["channel_values"]["n"] for each in raw] == [0, 49, 77]
    assert session.ids[48:51] == [f"{identity(0)}@49", identity(0), f"{identity(1)}@51"]


def test_threads_of_another_graph_tell_nothing_of_this_one(tmp_path: Path, opened: Any):
    def body(step: int, thread: str, *channels: str, ran: str | None = None) -> Any:
        seen = {ran: {"topic": version(1)}} if ran else {}
        versions = {each: version(2) for each in channels}
        return row(
            dict.fromkeys(channels, "x"), step, thread=thread, v=1,
            channel_versions=versions, versions_seen=seen,
        )  # fmt: skip

    same = [body(1, "t", "topic"), body(2, "same", "topic", "said", ran="agent")]
    other = [body(1, "t", "topic", "mine"), body(2, "other", "topic", "said", ran="agent")]

    def following(path: Path, rows: Any) -> Any:
        store, loaded = opened(stored(path, rows), "t")
        return store.bodies(loaded.session, [0])[0]["next"]

    assert following(tmp_path / "a.db", same) == ["agent"]
    assert following(tmp_path / "b.db", other) == []


def test_a_delta_channel_is_put_together_and_said_to_be_a_guess(opened: Any):
    store, loaded = opened(HERE / "delta.db")
    session = loaded.session
    rows = range(len(session))

    there, back = (
        store.bodies(session, rows),
        [store.bodies(session, [each])[0] for each in rows[::-1]],
    )

    assert there == back[::-1]
    assert there[14]["values"]["log"] == ["start", *(f"e{n}" for n in range(13))]
    assert there[16]["values"]["log"][-2:] == ["forked", "e12"]
    assert codes(session.findings) == ["TT303"]
    assert "'log'" in session.findings[0].message


def test_messages_of_a_delta_channel_replace_and_remove_each_other(tmp_path: Path, opened: Any):
    def written(step: int, *messages: Any) -> Any:
        return write(step, "messages", "msgpack", packed(list(messages)))

    def said(name: str, text: str) -> Any:
        return message("human", text, id=name)

    counted = metadata(9, counters_since_delta_snapshot={"messages": [3, 3]})
    rows = [row({}, n, parent=identity(n - 1) if n else None) for n in range(4)]
    rows[3] = (*rows[3][:6], counted)
    removed = ext(5, "langchain_core.messages.modifier", "RemoveMessage", {
        "content": "", "type": "remove", "id": "a", "additional_kwargs": {},
    })  # fmt: skip
    writes = [
        written(0, said("a", "1"), said("b", "2")),
        written(1, said("b", "3")),
        written(2, removed),
    ]
    store, loaded = opened(stored(tmp_path / "a.db", rows, writes))

    values = [each["values"] for each in store.bodies(loaded.session, range(4))]

    texts = [[each["content"] for each in value.get("messages", [])] for value in values]
    assert texts == [[], ["1", "2"], ["1", "3"], ["3"]]


def test_the_first_layout_has_its_own_names_for_ids(opened: Any):
    store, loaded = opened(HERE / "first.db")
    states = store.bodies(loaded.session, range(len(loaded.session)))

    assert [each["next"] for each in states] == [
        ["__start__"],
        ["plan"],
        ["work"] * 5,
        ["reduce"],
        [],
    ]
    assert states[1]["values"] == {"items": [], "results": []}
    assert states[-1]["values"]["summary"] == "doc0#0,doc1#1,doc2#2,doc3#3,doc4#4"
    assert [each.name for each in loaded.session.heads][2:] == ["plan", "work", "reduce"]


def test_a_database_without_writes_or_types_is_read(tmp_path: Path, opened: Any):
    path = Path(shutil.copy(HERE / "first.db", tmp_path / "a.db"))
    changed(path, "drop table writes")
    store, loaded = opened(path)

    assert [each["tasks"] for each in store.bodies(loaded.session, range(5))] == [[]] * 5
    assert loaded.session.heads[4].name == "reduce"


def test_rows_asked_for_one_after_the_other_are_those_asked_for_at_once(
    tmp_path: Path, opened: Any
):
    path = thread_of(tmp_path / "a.db", 200)
    store, loaded = opened(path)
    session = loaded.session

    at_once = store.bodies(session, range(200))

    assert [store.bodies(session, [each])[0] for each in range(200)] == at_once
    assert store.bodies(session, [150, 3, 151, 3]) == [at_once[each] for each in (150, 3, 151, 3)]
    assert [each["values"] for each in at_once] == [{"n": n} for n in range(200)]


def test_to_look_at_one_row_the_times_of_others_are_not_worked_out(
    tmp_path: Path, opened: Any, monkeypatch: pytest.MonkeyPatch
):
    asked: list[object] = []

    def noted(name: object) -> float:
        asked.append(name)
        return moment_of_id(name)

    monkeypatch.setattr(f"{LangGraphStore.__module__}.moment_of_id", noted)
    _, loaded = opened(thread_of(tmp_path / "a.db", 300))
    heads = loaded.session.heads

    one = heads[200].time

    assert asked == [identity(200)]
    assert heads.latest() == heads[299].time
    assert heads[200].time == one == moment_of_id(identity(200))


def test_long_states_are_not_read_long_before_they_are_asked_for(tmp_path: Path, opened: Any):
    rows = [row({"text": "x" * 100_000}, n) for n in range(200)]
    store, loaded = opened(stored(tmp_path / "a.db", rows))
    read: list[int] = []
    bodies_of = store._states

    def noted(session: Session, first: int, last: int) -> Any:
        read.append(last - first + 1)
        return bodies_of(session, first, last)

    store._states = noted
    for each in range(200):
        store.bodies(loaded.session, [each])

    assert read[0] == AHEAD
    assert set(read[1:-1]) == {AHEAD_BYTES // 100_000}
    assert sum(read) == 200


def test_the_database_is_recognised_by_its_columns(tmp_path: Path):
    with Debugger.open(str(HERE / "first.db")) as debugger:
        assert debugger.session.format == "langgraph_sqlite"
    path = stored(tmp_path / "a.db", [row({"n": 1})])
    store, loaded = load(path, "langgraph_sqlite")
    assert loaded.session.active == 0
    store.close()
