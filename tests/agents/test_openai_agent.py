"""Forks that the OpenAI Agents SDK itself goes on from, as a Python that has it tells.

A Python with the SDK is named by TTDBG_OPENAI_PYTHON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES

from tt_debugger.core.changes import Change, Put
from tt_debugger.debugger import Debugger
from tt_debugger.forking import Drafted, drafted, standing
from tt_debugger.storage.writing import write

PYTHON = os.environ.get("TTDBG_OPENAI_PYTHON")
SCRIPT = Path(__file__).with_name("openai_session.py")
HERE = FIXTURES / "openai_agents"
MORE = [
    {"role": "user", "content": "And then?"},
    {"role": "assistant", "content": "That was all."},
]
CASES = [
    *(("plain.db", "sess-1", row) for row in (1, 3, 5)),
    *(("advanced.db", "adv-1", row) for row in (0, 4, 9)),
    ("sessions.db", "before", 0),
]

pytestmark = pytest.mark.skipif(
    PYTHON is None, reason="TTDBG_OPENAI_PYTHON names no Python that has the OpenAI Agents SDK"
)


@pytest.fixture(scope="module")
def asked() -> Iterator[Callable[[str, str], Any]]:
    """Start a Python that has the SDK, once: it is slow to import. Give what asks it."""
    with subprocess.Popen(  # noqa: S603 - the interpreter that the developer names
        [str(PYTHON), str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_AGENTS_DISABLE_TRACING": "1"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(line: str, wish: str) -> Any:
            questions.write(json.dumps([line, wish]) + "\n")
            questions.flush()
            answer = json.loads(answers.readline() or '{"failed": "it has ended"}')
            assert "is" in answer, answer["failed"]
            return answer["is"]

        yield ask
        process.stdin.close()


def forked(folder: Path, name: str, session: str, row: int, *, edit: bool = True) -> Drafted:
    """Fork a session of a fixture, its first item edited, and a question asked at its end."""
    path = shutil.copyfile(HERE / name, folder / name)
    with Debugger.open(str(path), session) as debugger:
        at = standing(debugger, row)
        first = {**at.state["messages"][0], "content": "Something else, please."}
        edits: list[Change] = [Put(("messages", 0), first)] if edit else []
        said = [debugger.message(at.state, "What now?", 0.0)] if edit else []
        made = drafted(debugger, at, [*edits, *said])
    for each in made.draft.writes:
        write(each)
    return made


@pytest.mark.parametrize(("name", "session", "row"), CASES)
@pytest.mark.parametrize("edit", [True, False])
def test_the_sdk_has_the_items_of_the_wanted_state_and_goes_on_from_them(
    asked: Any, tmp_path: Path, name: str, session: str, row: int, *, edit: bool
):
    made = forked(tmp_path, name, session, row, edit=edit)
    wanted = made.plan.wanted["messages"]

    assert asked(made.draft.resume_command, "items") == wanted
    assert asked(made.draft.resume_command, "go on") == [*wanted, *MORE]


@pytest.mark.parametrize("row", [4, 9])
def test_the_sdk_counts_the_turns_of_a_fork_and_branches_from_them(
    asked: Any, tmp_path: Path, row: int
):
    made = forked(tmp_path, "advanced.db", "adv-1", row)
    wanted = made.plan.wanted["messages"]
    said = [each["content"] for each in wanted if each.get("role") == "user"]

    turns = asked(made.draft.resume_command, "turns")
    assert [number for number, _ in turns] == list(range(1, len(said) + 1))
    assert turns[-1][1] == "What now?"
    items, branches = asked(made.draft.resume_command, "branch")
    assert items == wanted
    assert branches == ["again", "main"]


@pytest.mark.parametrize("row", [1, 5])
def test_a_session_that_reads_by_time_has_the_same_items(asked: Any, tmp_path: Path, row: int):
    made = forked(tmp_path, "plain.db", "sess-1", row)
    place = json.dumps([made.draft.session, made.draft.location])

    assert asked(place, "by time") == made.plan.wanted["messages"]
