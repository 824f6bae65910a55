"""Forks of LangGraph's threads: what is written for them, and how that reads back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import langgraph_rows as rows
import msgspec
import pytest
from builders import FIXTURES
from langgraph_rows import ext, message, packed
from recorded_keys import RecordedKeys, records_of
from servers import Postgres

from tt_debugger.core.changes import Append, Change, Drop, Put
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, Key, NewKeys, NewRows
from tt_debugger.core.replay import Replay
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError
from tt_debugger.forking import Drafted, Wish, drafted, standing
from tt_debugger.formats.langgraph_redis import STORE as REDIS
from tt_debugger.formats.langgraph_redis.threads import RedisThreads
from tt_debugger.formats.langgraph_sqlite import STORE
from tt_debugger.formats.shared.langgraph.identities import checkpoint_id, next_version
from tt_debugger.storage.writing import write

SQLITE = FIXTURES / "langgraph_sqlite"
TIME = 1_800_000_000.25
IN_PLACE = Wish(in_place=True)


def zeros(count: int) -> bytes:
    return bytes(count)


def copied(path: Path, folder: Path) -> str:
    return str(shutil.copy(path, folder))


def fork(place: str, thread: str, row: int, *edits: Change, wish: Wish | None = None) -> Drafted:
    """Draft a fork, which is read back before it is given."""
    with Debugger.open(place, thread) as debugger:
        return drafted(debugger, standing(debugger, row), edits, wish)


def planned(place: str, row: int, *edits: Change, in_place: bool = False) -> Draft:
    """Draft a fork of the only thread of a database, at a known time and without chance."""
    store = STORE.open(place)
    (thread,) = store.sessions()
    session = store.load(thread).session
    (state,) = store.bodies(session, [row])
    plan = Plan(
        row=row,
        state=state,
        wanted=edited(state, edits),
        edits=edits,
        origin=f"made.db#{thread}:{session.ids[row]}",
        time=TIME,
        fresh=zeros,
        note="why\0 not",
        in_place=in_place,
    )
    replay = Replay(session, store.rules(session), lambda own: store.bodies(session, own))
    try:
        return store.draft(replay, plan)
    finally:
        store.close()


def row_of(draft: Draft) -> dict[str, Any]:
    """Give the values of the only row of a draft, its body and metadata decoded."""
    (each,) = draft.writes
    assert isinstance(each, NewRows)
    (insert,) = each.inserts
    values = dict(insert.values)
    decode = msgspec.msgpack.decode if values["type"] == "msgpack" else msgspec.json.decode
    decoded: Any = decode(values["checkpoint"])
    return {**values, "checkpoint": decoded, "metadata": json.loads(values["metadata"])}


def all_rows(place: str) -> dict[str, set[Any]]:
    with closing(sqlite3.connect(place)) as database:
        return {
            table: set(database.execute(f"select rowid, * from {table}"))  # noqa: S608 - the two
            for table in ("checkpoints", "writes")
        }


def edits_of(state: Any) -> Iterator[Sequence[Change]]:
    """Go over nothing, and an edit of each value."""
    yield ()
    for name, value in state["values"].items():
        path = ("values", name)
        match value:
            case bool() | None:
                yield (Put(path, "told"),)
            case int():
                yield (Put(path, value + 1),)
            case str():
                yield (Put(path, f"{value}!"),)
            case [*_, {"content": _}]:
                yield (Put((*path, len(value) - 1, "content"), "edited"),)
                yield (Drop((*path, 0)),)
            case list():
                yield (Append(path, {"added": [1, None]}),)
            case _:
                pass


@pytest.mark.parametrize(
    ("name", "count"), [("react", 48), ("sub", 39), ("pinterrupt", 12), ("delta", 32)]
)
def test_each_fork_reads_back_and_leaves_all_rows_alone(name: str, count: int, tmp_path: Path):
    place = copied(SQLITE / f"{name}.db", tmp_path)
    before = all_rows(place)
    made: list[Drafted] = []
    with closing(STORE.open(place)) as store:
        threads = list(store.sessions())
    for thread in threads:
        with Debugger.open(place, thread) as debugger:
            findings = {each.code for each in debugger.session.findings}
            inner = [each for some in debugger.session.subsessions.values() for each in some]
            threads.extend(each for each in inner if each not in threads)
            for row in range(len(debugger.session)):
                for edits in edits_of(debugger.state(row)):
                    for in_place in (True, False):
                        if name == "delta" and not any(
                            each.path[1:2] == ("log",) for each in edits
                        ):
                            continue
                        if "|" in thread and not in_place:
                            continue
                        wish = Wish(in_place=in_place)
                        made.append(drafted(debugger, standing(debugger, row), edits, wish))
    for each in made:
        assert each.is_rehearsed
        write(each.draft.writes[0])

    assert len(made) == count
    after = all_rows(place)
    assert all(before[table] <= after[table] for table in before)
    assert len(after["checkpoints"]) == len(before["checkpoints"]) + len(made)
    assert after["writes"] == before["writes"]
    for each in made:
        with Debugger.open(place, each.draft.session) as debugger:
            row = debugger.session.row_of(each.draft.point)
            assert row is not None
            state = debugger.state(row)
            assert state["values"] == each.plan.wanted["values"]
            assert state["next"] == each.plan.wanted["next"]
            assert {found.code for found in debugger.session.findings} <= findings


def test_a_fork_is_one_row_of_a_new_thread(tmp_path: Path):
    answer = message("ai", "", id="a", tool_calls=[{"name": "add", "args": {"a": 2, "b": 3}}])
    question = message("human", "add", id="q")
    place = rows.stored(
        tmp_path / "made.db", [rows.row({"messages": [question, answer], "topic": "cats"}, 4)]
    )
    path = ("values", "messages", 1, "tool_calls", 0, "args", "a")

    draft = planned(str(place), 0, Put(path, 40))

    own = draft.point
    (written,) = draft.writes
    assert isinstance(written, NewRows)
    assert (written.location, written.copy) == (str(place), None)
    assert (written.inserts[0].fresh, written.inserts[0].how) == (("thread_id",), How.CHANGED)
    before = rows.checkpoint(rows.identity(4), {"messages": [], "topic": "cats"}, 4)
    calls = [{"name": "add", "args": {"a": 40, "b": 3}}]
    assert row_of(draft) == {
        "thread_id": "t-fork-00000000",
        "checkpoint_ns": "",
        "checkpoint_id": own,
        "parent_checkpoint_id": None,
        "type": "msgpack",
        "checkpoint": before
        | {
            "id": own,
            "ts": "2027-01-15T08:00:00.250000+00:00",
            "channel_values": {
                "messages": [question, message("ai", "", id="a", tool_calls=calls)],
                "topic": "cats",
                "branch:to:agent": None,
            },
            "channel_versions": before["channel_versions"]
            | {"messages": f"{7:032}.00000000000000.0"},
            "updated_channels": None,
        },
        "metadata": {
            "source": "fork",
            "step": 5,
            "parents": {},
            "ttdbg": {
                "origin": f"made.db#t:{rows.identity(4)}",
                "thread": "t",
                "note": "why not",
            },
        },
    }
    assert (draft.location, draft.session, draft.own) == (
        str(place),
        "t-fork-00000000",
        ("metadata", "tasks"),
    )
    assert draft.resume_command == (
        'config = {"configurable": {"thread_id": "t-fork-00000000", "checkpoint_ns": "", '
        f'"checkpoint_id": "{own}"}}}}\n'
        "graph.invoke(None, config)"
    )


def test_in_place_a_fork_is_a_child_of_its_checkpoint_and_the_newest_of_the_thread(tmp_path: Path):
    later = rows.row({"topic": "dogs"}, 9, parent=rows.identity(4))
    place = rows.stored(tmp_path / "made.db", [rows.row({"topic": "cats"}, 4), later])

    draft = planned(str(place), 0, in_place=True)

    row = row_of(draft)
    assert row["thread_id"] == "t"
    assert row["parent_checkpoint_id"] == rows.identity(4)
    assert row["checkpoint_id"] == row["checkpoint"]["id"] > rows.identity(9)
    assert row["metadata"]["source"] == "update"
    assert row["checkpoint"]["channel_versions"]["topic"] == rows.version(6)
    assert draft.notes == (
        "it is the newest of the thread now: whoever goes on without an id goes on from it",
    )


OBJECTS: Mapping[str, tuple[Any, Any, Any]] = {
    "a set": (
        ext(0, "builtins", "set", ["a", "b"]),
        ["a", "c"],
        ext(0, "builtins", "set", ["a", "c"]),
    ),
    "a UUID": (
        ext(0, "uuid", "UUID", "0" * 32),
        "00000000-0000-0000-0000-00000000000f",
        ext(0, "uuid", "UUID", f"{15:032x}"),
    ),
    "a number of cents": (
        ext(0, "decimal", "Decimal", "1.5"),
        "2.5",
        ext(0, "decimal", "Decimal", "2.5"),
    ),
    "a time": (
        ext(3, "datetime", "datetime", "2026-01-01T00:00:00", "fromisoformat"),
        "2027-01-01T00:00:00",
        ext(3, "datetime", "datetime", "2027-01-01T00:00:00", "fromisoformat"),
    ),
    "a day": (
        ext(1, "datetime", "date", [2026, 1, 2]),
        "2027-03-04",
        ext(1, "datetime", "date", [2027, 3, 4]),
    ),
    "a while": (
        ext(1, "datetime", "timedelta", [1, 2, 3]),
        [4, 5, 6],
        ext(1, "datetime", "timedelta", [4, 5, 6]),
    ),
    "a path": (
        ext(1, "pathlib", "PosixPath", ["/", "a"]),
        "/b/c",
        ext(1, "pathlib", "PosixPath", ["/", "b", "c"]),
    ),
    "a pattern": (
        ext(1, "re", "compile", ["a+", 2]),
        "b+",
        ext(1, "re", "compile", ["b+", 2]),
    ),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_written_as_it_was_stored(name: str, tmp_path: Path):
    stored, value, wanted = OBJECTS[name]
    place = rows.stored(tmp_path / "made.db", [rows.row({"held": {"in": [stored]}})])

    draft = planned(str(place), 0, Put(("values", "held", "in", 0, "$value"), value))

    assert row_of(draft)["checkpoint"]["channel_values"]["held"] == {"in": [wanted]}


@pytest.mark.parametrize("value", [True, 1.0])
def test_one_that_is_written_otherwise_is_an_edit(value: object, tmp_path: Path):
    place = rows.stored(tmp_path / "made.db", [rows.row({"n": 1, "other": [1]})])

    draft = planned(str(place), 0, Put(("values", "n"), value), Put(("values", "other", 0), value))

    held = row_of(draft)["checkpoint"]["channel_values"]
    assert [repr(each) for each in (held["n"], *held["other"])] == [repr(value)] * 2
    with pytest.raises(UnsupportedError, match="metadata cannot be edited"):
        planned(str(place), 0, Put(("metadata", "step"), value))


def test_of_a_new_channel_it_is_said_that_a_graph_may_not_know_it(tmp_path: Path):
    place = rows.stored(tmp_path / "made.db", [rows.row({"n": 1})])

    draft = planned(str(place), 0, Put(("values", "mood"), "good"), Put(("values", "n"), 2))

    assert [each for each in draft.notes if "channel" in each] == [
        "values.mood has no value there: a graph without such a channel ignores it"
    ]


def test_what_came_through_stdin_is_forked_into_a_copy_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place, copy = rows.stored(tmp_path / "made.db", [rows.row({"n": 1})]), tmp_path / "copy.db"
    with place.open("rb") as file:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(file))
        with Debugger.open("-") as debugger:
            state = debugger.state(0)
            plan = Plan(0, state, state, (), "-", TIME, zeros)
            with pytest.raises(UnsupportedError) as refused:
                debugger.draft(plan)
            made = debugger.draft(msgspec.structs.replace(plan, target=str(copy)))

    assert refused.value.message == "what came through stdin has no place to add to"
    assert made.location == str(copy)
    (new,) = made.writes
    assert isinstance(new, NewRows)
    assert (new.location, new.copy) == ("-", str(copy))


def test_a_new_object_is_written_like_one_of_its_class(tmp_path: Path):
    first = ext(5, "app", "Point", {"x": 1}, "model_validate_json")
    place = rows.stored(tmp_path / "made.db", [rows.row({"points": [first], "other": 1})])
    points = [{"$type": "app.Point", "x": 2}, {"$type": "builtins.set", "$value": [1]}]

    draft = planned(str(place), 0, Put(("values", "other"), points))

    assert row_of(draft)["checkpoint"]["channel_values"]["other"] == [
        ext(5, "app", "Point", {"x": 2}, "model_validate_json"),
        ext(0, "builtins", "set", [1]),
    ]


def test_what_is_not_edited_in_a_list_keeps_its_bytes(tmp_path: Path):
    # A number that a decoder would write in fewer bytes.
    odd = msgspec.msgpack.Ext(5, packed(["app", "Odd", {"x": 1}]) + b"")
    unknown = msgspec.msgpack.Ext(77, b"\x01\x02")
    place = rows.stored(tmp_path / "made.db", [rows.row({"held": [odd, unknown, 3], "top": odd})])

    draft = planned(str(place), 0, Put(("values", "held", 2), 4), Drop(("values", "held", 0)))

    assert row_of(draft)["checkpoint"]["channel_values"] == {
        "held": [unknown, 4],
        "top": odd,
        "branch:to:agent": None,
    }


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Put(("next",), ["other"]), "next cannot be edited: only the values of a graph can"),
        (Drop(("metadata",)), "metadata cannot be edited: only the values of a graph can"),
        (
            Put(("values", "held"), {"$type": "app.Unknown"}),
            "values.held cannot be written as LangGraph stores it: nothing shows how a app.Unk",
        ),
        (
            Put(("values", "held"), [{"$opaque": "x", "size": 1}]),
            "values.held[0] cannot be written as LangGraph stores it: it stands for bytes",
        ),
        (
            Put(("values", "held"), 1 << 70),
            "values.held cannot be encoded: ",
        ),
        (Put(("values", "held"), "\ud800"), "values.held cannot be encoded: "),
        (
            Put(("values", "__start__"), 1),
            "the values would not read back as they are wanted",
        ),
        (
            Put(("values", "branch:to:other"), None),
            "the values would not read back as they are wanted",
        ),
        (Put(("values",), 3), "the values of a graph are a map of its channels"),
    ],
)
def test_what_cannot_be_held_is_refused(edit: Change, message: str, tmp_path: Path):
    place = rows.stored(tmp_path / "made.db", [rows.row({"held": [1]})])

    with pytest.raises(UnsupportedError) as refused:
        planned(str(place), 0, edit)
    assert refused.value.message.startswith(message)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("pickle", "it is a pickle, which is never loaded"),
        ("msgpack+aes", "it is encrypted and LANGGRAPH_AES_KEY is not set"),
    ],
)
def test_a_body_that_is_not_decoded_cannot_be_forked(
    kind: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    body = ("t", "", rows.identity(0), None, kind, b"\x80\x04.", rows.metadata(0))
    place = rows.stored(tmp_path / "made.db", [body])

    with pytest.raises(UnsupportedError) as refused:
        planned(str(place), 0)
    assert refused.value.message == (
        f"the body of {rows.identity(0)} is not decoded, so it cannot be written anew: {why}"
    )


def test_a_guess_is_not_written_as_if_it_were_known(tmp_path: Path):
    place = copied(SQLITE / "delta.db", tmp_path)

    with pytest.raises(UnsupportedError) as refused:
        fork(place, "delta-channel", 8)
    made = fork(place, "delta-channel", 8, Put(("values", "log"), ["told"]))

    assert refused.value.message.startswith("the value of the delta channel 'log' is a guess")
    assert refused.value.hint == "say what it is: --set 'values.log=...'"
    row = row_of(made.draft)
    whole = msgspec.msgpack.Ext(7, packed(["told"]))
    assert row["checkpoint"]["channel_values"]["log"] == whole
    assert "log" not in row["metadata"].get("counters_since_delta_snapshot", {})


def test_a_graph_inside_is_forked_in_place_alone(tmp_path: Path):
    place = copied(SQLITE / "sub.db", tmp_path)
    inner = "subgraph-done|child:2e58242a-7a99-49a2-c408-0b99a1f7fef4"

    with pytest.raises(UnsupportedError) as refused:
        fork(place, inner, 1)
    made = fork(place, inner, 1, wish=IN_PLACE)

    assert refused.value.hint is not None
    assert refused.value.hint.startswith("fork the thread subgraph-done where it starts")
    assert made.draft.session == inner
    assert row_of(made.draft)["metadata"]["parents"] != {}
    assert made.draft.resume_command == (
        'config = {"configurable": {"thread_id": "subgraph-done"}}\ngraph.invoke(None, config)'
    )


def test_a_database_of_before_takes_no_forks():
    place = str(SQLITE / "first.db")
    store = STORE.open(place)
    thread = store.sessions()[-1]
    store.close()

    with pytest.raises(UnsupportedError) as refused:
        fork(place, thread, 1)
    assert refused.value.message == "a database of LangGraph before 0.2 takes no forks"


def test_a_fork_can_be_written_to_a_copy_of_the_database(tmp_path: Path):
    place = copied(SQLITE / "react.db", tmp_path)
    copy = str(tmp_path / "copy.db")
    before = Path(place).read_bytes()

    made = fork(place, "react-loop", 2, wish=Wish(target=copy))
    write(made.draft.writes[0])

    assert made.draft.location == copy
    assert Path(place).read_bytes() == before
    with Debugger.open(copy, made.draft.session) as debugger:
        assert debugger.state(0)["values"] == made.plan.wanted["values"]


def test_a_thread_that_is_named_by_a_uuid_gives_its_fork_another_one(tmp_path: Path):
    name = "3f2b8c1e-0d4a-4c57-9b1e-2a6d5e8f7c90"
    place = rows.stored(tmp_path / "made.db", [rows.row({"n": 1})])
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("update checkpoints set thread_id = ?", (name,))

    assert planned(str(place), 0).session == "00000000-0000-4000-8000-000000000000"


def test_what_the_user_says_is_a_message_like_the_others(tmp_path: Path):
    place = copied(SQLITE / "react.db", tmp_path)
    with Debugger.open(place, "react-loop") as debugger:
        state = debugger.state(2)
        said = debugger.message(state, "and then?", TIME)
    made = fork(place, "react-loop", 2, said)

    assert isinstance(said, Append)
    assert said.path == ("values", "messages")
    assert said.value == {
        "$type": "langchain_core.messages.human.HumanMessage",
        "content": "and then?",
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "human",
        "name": None,
        "id": None,
    }
    held = row_of(made.draft)["checkpoint"]["channel_values"]["messages"][-1]
    assert held.code == 5
    assert msgspec.msgpack.decode(held.data)[1::2] == ["HumanMessage", "model_validate_json"]


def test_a_graph_without_messages_is_told_nothing(tmp_path: Path):
    place = rows.stored(tmp_path / "made.db", [rows.row({"topic": "cats"})])
    store = STORE.open(str(place))
    with pytest.raises(UnsupportedError) as refused:
        store.message({"values": {"topic": "cats"}}, "and then?", TIME)
    store.close()
    assert refused.value.message == "the state has no values.messages to add to"


def test_a_thread_of_langgraph_js_keeps_its_json_and_its_numbers(tmp_path: Path):
    said = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain_core", "messages", "HumanMessage"],
        "kwargs": {"content": "hi", "id": "q"},
    }
    body = rows.checkpoint(rows.identity(1), {"messages": [said], "n": 1}, 1) | {
        "ts": "2026-01-01T00:00:00.000Z",
        "channel_versions": {"messages": 2, "n": 3, "branch:to:agent": 3},
        "versions_seen": {"agent": {"branch:to:agent": 2}},
    }
    del body["updated_channels"]
    row = ("t", "", rows.identity(1), None, "json", json.dumps(body).encode(), rows.metadata(1))
    place = rows.stored(tmp_path / "made.db", [row])
    kind = "langchain_core.messages.HumanMessage"

    draft = planned(
        str(place), 0, Append(("values", "messages"), {"$type": kind, "content": "more"})
    )

    again = {**said, "kwargs": {"content": "more"}}
    assert row_of(draft)["checkpoint"] == body | {
        "id": draft.point,
        "ts": "2027-01-15T08:00:00.250Z",
        "channel_values": {"messages": [said, again], "n": 1, "branch:to:agent": None},
        "channel_versions": {"messages": 4, "n": 3, "branch:to:agent": 3},
    }
    assert draft.resume_command == (
        'const config = { configurable: { thread_id: "t-fork-00000000", checkpoint_ns: "", '
        f'checkpoint_id: "{draft.point}" }} }};\n'
        "await graph.invoke(null, config);"
    )


def test_an_id_tells_its_time_and_its_step_and_is_behind_the_newest():
    first = checkpoint_id(TIME, -1, zeros, "")
    second = checkpoint_id(TIME, 2, zeros, first)
    late = checkpoint_id(TIME, 2, zeros, "ffffffff-0000-6000-8000-000000000000")

    assert first[14] == second[14] == "6"
    assert first[19:] == "bfff-000000000000"
    assert second[19:] == "8002-000000000000"
    assert second > first
    assert late == "ffffffff-0000-6001-8002-000000000000"


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ([], f"{1:032}.00000000000000.0"),
        ([rows.version(3), rows.version(12)], f"{13:032}.00000000000000.0"),
        (["00000000000000000000000000000002.6b1d"], f"{3:032}.00000000000000.0"),
        ([1, 4], 5),
        ([1.5], None),
        (["one"], None),
    ],
)
def test_a_version_is_behind_all_others_and_of_their_form(known: list[Any], wanted: Any):
    assert next_version(known, zeros) == wanted


@pytest.mark.parametrize("generation", ["0.2", "0.6", "1.2"])
def test_a_fork_in_postgres_has_all_values_of_its_own(generation: str, postgres: Postgres):
    place = postgres.loaded(FIXTURES / "langgraph_postgres" / f"{generation}.sql.gz")
    before = stored_in(postgres, place)
    made: list[Drafted] = []
    with Debugger.open(place, "react-loop") as debugger:
        for row in (0, 3):
            for edits in islice(edits_of(debugger.state(row)), 2):
                for in_place in (True, False):
                    wish = Wish(in_place=in_place)
                    made.append(drafted(debugger, standing(debugger, row), edits, wish))
    for each in made:
        write(each.draft.writes[0])

    assert len(made) == 6
    after = stored_in(postgres, place)
    assert all(before[table] <= after[table] for table in before)
    for each in made:
        with Debugger.open(place, each.draft.session) as debugger:
            row = debugger.session.row_of(each.draft.point)
            assert row is not None
            state = debugger.state(row)
            assert state["values"] == each.plan.wanted["values"]
            assert state["next"] == each.plan.wanted["next"]
            assert debugger.session.findings == ()


def test_only_edited_values_are_new_in_the_thread_of_the_original(postgres: Postgres):
    place = postgres.loaded(FIXTURES / "langgraph_postgres" / "1.2.sql.gz")
    with Debugger.open(place, "react-loop") as debugger:
        row = len(debugger.session) - 1
        edit = Put(("values", "messages", 0, "content"), "edited")
        made = drafted(debugger, standing(debugger, row), (edit,), IN_PLACE)

    (each,) = made.draft.writes
    assert isinstance(each, NewRows)
    assert [insert.table for insert in each.inserts] == ["checkpoints", "checkpoint_blobs"]
    body = json.loads(each.inserts[0].values["checkpoint"])
    blob = each.inserts[1].values
    assert "messages" not in body["channel_values"]
    assert blob["channel"] == "messages"
    assert blob["version"] == body["channel_versions"]["messages"]
    assert blob["type"] == "msgpack"


def test_a_fork_of_a_server_is_written_to_it(postgres: Postgres):
    place = postgres.loaded(FIXTURES / "langgraph_postgres" / "1.2.sql.gz")
    with pytest.raises(UnsupportedError) as refused:
        fork(place, "react-loop", 0, wish=Wish(target="elsewhere"))
    assert refused.value.message == (
        "what is at a server is forked there, under a name of its own"
    )


def stored_in(postgres: Postgres, place: str) -> dict[str, set[str]]:
    """Give all rows, with where they stand and by which transaction."""
    with postgres.connected(place) as connection:
        return {
            table: {
                row[0]
                for row in connection.execute(
                    f"select md5(concat(ctid::text, xmin::text, t::text)) from {table} t".encode()  # noqa: S608 - named below
                )
            }
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
        }


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> RecordedKeys:
    keys = RecordedKeys(records_of(FIXTURES / "langgraph_redis" / "keys.jsonl.gz"))
    monkeypatch.setattr(
        REDIS, "threads_at", classmethod(lambda _, __, serde: RedisThreads(keys, serde))
    )
    return keys


def redis_draft(
    thread: str, row: int, *edits: Change, in_place: bool = False
) -> tuple[Draft, Any]:
    store = REDIS.open("redis://recorded")
    session = store.load(thread).session  # pyright: ignore[reportArgumentType]
    (state,) = store.bodies(session, [row])
    wanted = edited(state, edits)
    plan = Plan(row, state, wanted, edits, "made", TIME, zeros, None, None, in_place)
    replay = Replay(session, store.rules(session), lambda own: store.bodies(session, own))
    return store.draft(replay, plan), wanted


def test_a_fork_in_redis_is_a_document_that_is_the_latest_of_a_new_thread(recorded: RecordedKeys):
    for held in recorded.held.values():
        held["ttl"] = 60
    before = dict(recorded.held)

    draft, wanted = redis_draft("react-loop", 3, Put(("values", "messages", 0, "content"), "hm"))

    (each,) = draft.writes
    assert isinstance(each, NewKeys)
    document, latest = each.keys
    name = f"checkpoint:react-loop-fork-00000000:__empty__:{draft.point}"
    assert latest == Key(
        "checkpoint_latest:react-loop-fork-00000000:__empty__", "string", name.encode(), 60_000
    )
    assert (document.name, document.kind, document.ttl) == (name, "json", 60_000)
    told = json.loads(document.value)
    assert {key: told[key] for key in told if key not in ("checkpoint", "metadata")} == {
        "thread_id": "react-loop-fork-00000000",
        "run_id": "",
        "checkpoint_ns": "__empty__",
        "checkpoint_id": draft.point,
        "parent_checkpoint_id": "",
        "checkpoint_ts": TIME * 1000,
        "has_writes": False,
        "source": "fork",
        "step": 3,
    }
    assert json.loads(told["metadata"])["ttdbg"] == {"origin": "made", "thread": "react-loop"}
    assert told["checkpoint"]["id"] == draft.point

    recorded.held[name] = {"key": name, "type": "ReJSON-RL", "ttl": -1, "value": told}
    store = REDIS.open("redis://recorded")
    session = store.load(draft.session).session  # pyright: ignore[reportArgumentType]
    (state,) = store.bodies(session, [0])
    assert (state["values"], state["next"]) == (wanted["values"], wanted["next"])
    assert session.findings == ()
    assert all(recorded.held[key] == value for key, value in before.items())


def test_a_thread_in_redis_is_not_forked_in_place(recorded: RecordedKeys):
    with pytest.raises(UnsupportedError) as refused:
        redis_draft("react-loop", 3, in_place=True)
    assert recorded.held
    assert refused.value.hint == "leave out --in-place: the fork becomes a thread of its own"
