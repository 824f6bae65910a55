"""What LangGraph itself says of its databases, held against what is read of them.

`tests/truth/langgraph` has databases that three generations of LangGraph wrote, each with the
answer of its own `get_state_history()`, and some for which there is no answer.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES

from tt_debugger.core.model import SessionId
from tt_debugger.formats.langgraph_sqlite import LangGraphSqlite

HERE = FIXTURES.parent / "truth" / "langgraph"
ANSWERED = sorted(HERE.glob("*/*.json"))
PLAIN = sorted((HERE / "plain").glob("*.sqlite"))
UNKNOWN_NEXT = {("lg1", "error", "1f1ec176-d70c-66ca-8001-800cdc2e5926")}
"""A parallel step that failed: the layout of its day does not say who else was to run."""
TYPES = {
    "uid": "uuid.UUID",
    "dt": "datetime.datetime",
    "td": "datetime.timedelta",
    "tz": "datetime.timezone",
    "t": "datetime.time",
    "st": "builtins.set",
    "dec": "decimal.Decimal",
    "path": "pathlib.PosixPath",
    "rx": "re.Pattern",
    "en": "demo_graphs.Color",
    "dc": "demo_graphs.Point",
    "nt": "demo_graphs.NT",
    "pm": "demo_graphs.Address",
    "msg": "langchain_core.messages.human.HumanMessage",
    "arr": "numpy.ndarray",
    "arrF": "numpy.ndarray",
}


def bare(value: Any) -> Any:
    """Give a value without the names of classes."""
    if isinstance(value, dict):
        if "$value" in value:
            return bare(value["$value"])
        return {key: bare(each) for key, each in value.items() if key != "$type"}
    return [bare(each) for each in value] if isinstance(value, list) else value


def without_defaults(mine: Any, theirs: Any) -> Any:
    """Give their value without what a class adds that nobody wrote down."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return {
            key: without_defaults(mine.get(key), each)
            for key, each in theirs.items()
            if key in mine or each not in (None, False, "", [], {})
        }
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        return [without_defaults(one, other) for one, other in zip(mine, theirs, strict=True)]
    return theirs


def read(path: Path, thread: str) -> tuple[list[str], dict[str, str | None], list[Any]]:
    """Give the ids of a thread, the parent of each, and their states."""
    store = LangGraphSqlite.open(str(path))
    try:
        session = store.load(SessionId(thread)).session
        parents = {each.id: each.parent for each in session}
        return list(session.ids), parents, store.bodies(session, range(len(session)))
    finally:
        store.close()


def check_tasks(mine: list[Any], theirs: list[Any]) -> None:
    known = {each["id"]: each for each in mine}
    for task in theirs:
        result = task["result"] or None
        if task["error"] is None and not task["interrupts"] and result is None:
            continue
        found = known.get(task["id"])
        if found is None:
            # 0.2 kept nothing of a step that had one task.
            continue
        asked = [(each.get("id"), bare(each["value"])) for each in found["interrupts"]]
        assert found["name"] in {task["name"], None}
        assert found["error"] == task["error"]
        assert asked == [(each["id"], each["value"]) for each in task["interrupts"]]
        assert result is None or bare(found["result"]) == result


@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_state_is_what_langgraph_itself_says(path: Path):
    generation, name = path.parent.name, path.stem
    for thread, rows in json.loads(path.read_text()).items():
        ids, parents, states = read(path.with_suffix(".sqlite"), thread)
        mine = dict(zip(ids, states, strict=True))

        assert ids == sorted(row["config"]["checkpoint_id"] for row in rows)
        for row in rows:
            own = row["config"]["checkpoint_id"]
            state, above = mine[own], row["parent_config"]
            values, metadata, known = row["values"], row["metadata"], state["values"]
            if metadata["step"] == -1 and isinstance(known, dict):
                # With what a reducer starts from is not in the file.
                values = {key: each for key, each in values.items() if each or key in known}
            assert parents[own] == (above and above["checkpoint_id"])
            assert bare(state["values"]) == values
            told = bare(state["metadata"])
            assert told == without_defaults(told, metadata)
            if (generation, name, own) in UNKNOWN_NEXT:
                assert state["next"] is None
            else:
                assert sorted(state["next"]) == sorted(row["next"])
            check_tasks(state["tasks"], row["tasks"])


@pytest.mark.parametrize("generation", ["now", "lg2"])
def test_each_object_says_its_class(generation: str):
    _, _, states = read(HERE / generation / "types.sqlite", "all-types")

    held = states[-1]["values"]["v"]

    there = TYPES.keys() & held.keys()
    assert len(there) > 12
    assert {name: held[name]["$type"] for name in there} == {each: TYPES[each] for each in there}


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_where_there_is_no_answer_every_row_is_there_with_its_parent(path: Path):
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        columns = [each[1] for each in database.execute("pragma table_info(checkpoints)")]
        own, above = ("thread_ts", "parent_ts") if "thread_ts" in columns else columns[2:4]
        query = f"select thread_id, {own}, {above} from checkpoints order by 2"  # noqa: S608
        rows = database.execute(query).fetchall()

    for thread in {row[0] for row in rows}:
        ids, parents, states = read(path, thread)
        assert ids == [row[1] for row in rows if row[0] == thread]
        assert parents == {row[1]: row[2] or None for row in rows if row[0] == thread}
        assert all(isinstance(each["values"], dict) for each in states)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("encrypted", ["msgpack+aes"] * 5),
        ("pickle", [None, None, "pickle"]),
        ("js", [None] * 6),
        ("lg0", [None] * 5),
    ],
)
def test_what_is_not_decoded_says_what_it_is(
    name: str, kinds: list[str | None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    path = HERE / "plain" / f"{name}.sqlite"
    store = LangGraphSqlite.open(str(path))
    session = store.load(store.sessions()[-1]).session
    states = store.bodies(session, range(len(session)))

    assert [each["values"].get("$opaque") for each in states] == kinds
    assert [each["next"] is None for each in states] == [kind is not None for kind in kinds]
    assert [str(each.code) for each in session.findings] == ["TT111"] * any(kinds)
    store.close()


def test_messages_of_the_first_layouts_and_of_javascript_are_typed_maps():
    _, _, states = read(HERE / "plain" / "js.sqlite", "js-1")

    assert states[3]["values"] == {
        "topic": {
            "$type": "langchain_core.messages.HumanMessage",
            "content": "hi",
            "additional_kwargs": {},
            "response_metadata": {},
        },
        "steps": ["d:cats", "w"],
    }
    assert [each["next"] for each in states] == [
        ["__start__"],
        ["draft"],
        ["write"],
        [],
        ["write"],
        [],
    ]
