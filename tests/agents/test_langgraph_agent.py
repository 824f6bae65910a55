"""Forks that the real LangGraph goes on from: it reads the values that were wanted, and uses them.

A Python with LangGraph and its checkpointers is named by TTDBG_LANGGRAPH_PYTHON.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from tt_debugger.core.changes import Change, Put
from tt_debugger.core.fork.plan import Draft
from tt_debugger.debugger import Debugger
from tt_debugger.forking import Wish, drafted, standing
from tt_debugger.storage.writing import write

PYTHON = os.environ.get("TTDBG_LANGGRAPH_PYTHON")
SCRIPT = Path(__file__).with_name("langgraph_graph.py")
TABLES = {
    "sqlite": ("checkpoints", "writes"),
    "postgres": ("checkpoints", "checkpoint_blobs", "checkpoint_writes"),
}
ANSWER = "certainly"

pytestmark = pytest.mark.skipif(
    PYTHON is None, reason="TTDBG_LANGGRAPH_PYTHON names no Python that has LangGraph"
)

Row = tuple[Any, ...]


@contextmanager
def langgraph(place: str) -> Generator[Callable[..., Any]]:
    """Start LangGraph on a database; give what asks it."""
    quiet = {"LANGSMITH_TRACING": "false", "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(  # noqa: S603 - the interpreter that the developer names
        [str(PYTHON), str(SCRIPT), place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **quiet},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def asked(*question: Any) -> Any:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline() or '{"failed": "it has ended"}')
            assert "is" in answer, answer["failed"]
            return answer["is"]

        yield asked
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def place(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A database in which LangGraph ran one thread to its end, and one to where it waits."""
    if kind == "sqlite":
        place = str(tmp_path / "made.db")
    else:
        place = request.getfixturevalue("postgres").made()
    with langgraph(place) as asked:
        asked("made", "done", "yes")
        asked("made", "waiting", None)
    return place


def test_langgraph_goes_on_from_every_fork_and_uses_its_edit(kind: str, place: str):
    before = rows_in(kind, place)
    forks: list[tuple[Draft, Any]] = []
    with Debugger.open(place, "done") as debugger:
        assert [debugger.state(row)["next"] for row in range(len(debugger.session))] == [
            ["__start__"],
            ["ask"],
            ["tools"],
            ["inner"],
            ["finish"],
            [],
        ]
        for row in range(len(debugger.session)):
            state = debugger.state(row)
            for edits in edits_of(debugger, state):
                for in_place in (False, True):
                    wish = Wish(note="why not", in_place=in_place)
                    made = drafted(debugger, standing(debugger, row), edits, wish)
                    forks.append((made.draft, made.plan.wanted))

    for draft, _ in forks:
        for each in draft.writes:
            write(each)

    assert len(forks) == 36
    with langgraph(place) as asked:
        for draft, wanted in forks:
            told = asked("resumed", draft.resume_command, ANSWER)
            is_first = wanted["next"] == ["__start__"]
            assert without_empty(told["before"]["values"], is_first=is_first) == wanted["values"]
            assert told["before"]["next"] == wanted["next"]
            assert told["before"]["id"] == draft.point
            assert told["waits"] == (wanted["next"] not in (["finish"], []))
            assert told["after"]["values"]["summary"] == summary_after(wanted)
            assert told["after"]["next"] == []
        found = [each["ttdbg"] for each in asked("forks") if "ttdbg" in each]

    assert len(found) == 18
    assert {each["note"] for each in found} == {"why not"}
    assert all("#done:" in each["origin"] for each in found)
    after = rows_in(kind, place)
    for table, rows in before.items():
        assert rows <= after[table], f"a row of {table} has changed"


def test_what_ttdbg_shows_of_a_fork_is_what_langgraph_shows(place: str):
    with Debugger.open(place, "done") as debugger:
        edit = Put(("values", "topic"), "dogs")
        draft = drafted(debugger, standing(debugger, 2), (edit,)).draft
    for each in draft.writes:
        write(each)

    with langgraph(place) as asked:
        told = asked("resumed", draft.resume_command, ANSWER)
    with Debugger.open(draft.location, draft.session) as debugger:
        row = debugger.session.row_of(draft.point)
        last = debugger.session.active
        assert row == 0
        assert last is not None
        assert debugger.state(row)["values"] == told["before"]["values"]
        assert debugger.state(last)["values"] == told["after"]["values"]
        assert debugger.session.findings == ()


def test_a_graph_inside_that_waits_goes_on_from_a_fork_in_place(place: str):
    with Debugger.open(place, "waiting") as debugger:
        ((inner,),) = debugger.session.subsessions.values()
    with Debugger.open(place, inner) as debugger:
        row = debugger.session.active
        assert row is not None
        assert debugger.state(row)["next"] == ["approve"]
        edit = Put(("values", "report"), "a better report")
        wish = Wish(in_place=True)
        draft = drafted(debugger, standing(debugger, row), (edit,), wish).draft
    for each in draft.writes:
        write(each)

    with langgraph(place) as asked:
        told = asked("resumed", draft.resume_command, ANSWER)

    assert told["waits"]
    assert told["after"]["values"]["summary"] == "what is it?; cats; 5; a better report; certainly"


def edits_of(debugger: Debugger, state: Any) -> Iterator[Sequence[Change]]:
    """Go over what is tried at a state: nothing, and an edit of each kind that it allows."""
    values = state["values"]
    yield ()
    if "topic" in values:
        yield (Put(("values", "topic"), "dogs"),)
    if "tags" in values:
        yield (Put(("values", "tags", "$value"), ["forked", "summed"]),)
    if "report" in values:
        yield (Put(("values", "report"), "another report"),)
    if state["next"] == ["ask"]:
        yield (debugger.message(state, "and now?", 0.0),)
    if state["next"] == ["tools"]:
        yield (Put(("values", "messages", 1, "tool_calls", 0, "args", "a"), 40),)


def summary_after(wanted: Any) -> str:
    """Give what the graph sums up if it goes on from these values."""
    values, after = wanted["values"], (wanted["next"] or [None])[0]
    if after is None:
        return values["summary"]
    topic = values.get("topic", "cats")
    messages = values.get("messages", [{"content": "what is it?"}])
    asked = values["asked"] if "asked" in values else messages[-1]["content"]
    total: Any = 5
    if after == "tools":
        total = sum(messages[-1]["tool_calls"][0]["args"].values())
    report, answer = f"a report on {topic}", ANSWER
    if after == "finish":
        report, answer = values["report"], values["approved"]
    return f"{asked}; {topic}; {total}; {report}; {answer}"


def without_empty(values: Mapping[str, Any], *, is_first: bool) -> Any:
    """Give values without what reducers begin with, which no checkpoint holds before the input."""
    return {key: each for key, each in values.items() if each or not is_first}


def rows_in(kind: str, place: str) -> dict[str, set[Row]]:
    """Give all rows of all tables, as they are stored."""
    if kind == "sqlite":
        with closing(sqlite3.connect(place)) as database:
            return {
                table: set(database.execute(f"select * from {table}"))  # noqa: S608 - named above
                for table in TABLES[kind]
            }
    with psycopg.connect(place) as connection:
        return {
            table: {
                tuple(bytes(each) if isinstance(each, memoryview) else _text(each) for each in row)
                for row in connection.execute(f"select ctid, xmin, * from {table}".encode())  # noqa: S608 - named above
            }
            for table in TABLES[kind]
        }


def _text(value: Any) -> Any:
    return msgspec.json.encode(value) if isinstance(value, dict) else value
