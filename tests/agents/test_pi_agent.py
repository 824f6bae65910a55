"""Pi itself opens our forks: its context is that of the fork point, with what was edited.

TTDBG_PI_PACKAGE names a folder node_modules in which Pi is, TTDBG_NODE a node that can run it
(Pi 1.6.0 wants 22.19, its session manager alone does with 20).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from forks_of_files import Case, cases_of_all, files_of, plan_of, written

from tt_debugger.core.changes import Put
from tt_debugger.debugger import Debugger

PACKAGE = os.environ.get("TTDBG_PI_PACKAGE")
NODE = os.environ.get("TTDBG_NODE") or shutil.which("node") or "node"
SCRIPT = Path(__file__).with_name("pi_contexts.mjs")
NEVER_OPENED = ("edge-cycle",)
"""Files that Pi runs out of memory on, so that nobody asks what it makes of them."""
WITHOUT_IDS = ("edge-v1-linear",)
"""Files whose entries Pi names itself when it opens them: they are told by their place."""
FILES = {path.stem: path for path in files_of("pi")}
IS_OLD = PACKAGE is not None and (Path(PACKAGE) / "@mariozechner").is_dir()
"""Whether it is Pi 0.73."""
NEWER = ("v1x-context-edit", "pi")
"""Files with what only newer ones know: edits of the context, system messages of compactions."""

pytestmark = pytest.mark.skipif(
    PACKAGE is None, reason="TTDBG_PI_PACKAGE names no folder node_modules in which Pi is"
)


class Answered(NamedTuple):
    """A fork, what Pi makes of it, and what it makes of the original at that node."""

    case: Case
    fork: dict[str, Any]
    original: dict[str, Any] | None


def run(home: Path, command: Sequence[str], given: str) -> str:
    """Run a command in a home of its own and give what it says."""
    environ = {"HOME": str(home), "PATH": f"{Path(NODE).parent}:{os.environ['PATH']}"}
    told = subprocess.run(  # noqa: S603 - the agent itself
        command,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env=environ,
        cwd=home,
        timeout=120,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


def ask(jobs: Sequence[dict[str, Any]], home: Path) -> list[dict[str, Any]]:
    """Let Pi's own session manager answer."""
    assert PACKAGE is not None
    return json.loads(run(home, [NODE, str(SCRIPT), PACKAGE], json.dumps(jobs)))


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Answered]]:
    """Give all forks by the names of their files."""
    folder = tmp_path_factory.mktemp("forks")
    files = [path for path in FILES.values() if not (IS_OLD and path.stem in NEWER)]
    cases = cases_of_all(files, folder)
    jobs: list[dict[str, Any]] = []
    for name, own in cases.items():
        for number, each in enumerate(own):
            jobs.append(each.asked())
            if name in NEVER_OPENED:
                continue
            # Pi writes files of old versions anew when it opens them, so each is opened once.
            original = str(shutil.copy(FILES[name], folder / name / f"original-{number}.jsonl"))
            leaf = each.place if name in WITHOUT_IDS else each.node
            jobs.append({"path": original, "leaf": leaf})
    answers = iter(ask(jobs, folder))
    return {
        name: [
            Answered(each, next(answers), None if name in NEVER_OPENED else next(answers))
            for each in own
        ]
        for name, own in cases.items()
    }


@pytest.mark.parametrize("name", FILES)
def test_pi_gives_a_fork_at_any_node_the_context_that_is_wanted(
    name: str, answered: dict[str, list[Answered]]
):
    if name not in answered:
        pytest.skip("Pi 0.73 does not know what this file holds")
    assert answered[name]
    for case, fork, _ in answered[name]:
        assert fork["messages"] == case.state["messages"]
        assert fork["leaf"] == case.point
        assert fork["thinkingLevel"] == case.state["thinking_level"]
        if case.state["model"] is not None:
            model = {"provider": case.state["provider"], "modelId": case.state["model"]}
            assert fork["model"] == model
        assert fork["unchanged"]
        # What Pi adds hangs below the end of the fork.
        assert fork["under"] == case.point
        assert fork["grown"]
        assert fork["after"] == len(case.state["messages"]) + 2


@pytest.mark.parametrize(
    "name", ["linear", "branched", "compacted", "edge-v1-linear", "edge-v2-hook", *NEWER]
)
def test_a_fork_that_edits_nothing_is_what_pi_makes_of_the_original_there(
    name: str, answered: dict[str, list[Answered]]
):
    if name not in answered:
        pytest.skip("Pi 0.73 does not know what this file holds")
    plain = [each for each in answered[name] if not each.case.is_edited]
    assert plain
    for case, fork, original in plain:
        assert original is not None
        told = [fork[key] for key in ("messages", "model", "thinkingLevel")]
        assert told == [original[key] for key in ("messages", "model", "thinkingLevel")]
        if not case.in_place and name not in WITHOUT_IDS:
            labels = original["labels"].items()
            assert fork["labels"] == {key: text for key, text in labels if key in fork["ids"]}


def test_the_resume_command_starts_pi_with_the_fork(tmp_path: Path):
    if IS_OLD:
        pytest.skip("what Pi 0.73 says over RPC is not looked at")
    assert PACKAGE is not None
    version = subprocess.run(  # noqa: S603 - the node that is to run Pi
        [NODE, "--version"], capture_output=True, text=True, check=True
    ).stdout
    if tuple(map(int, version.strip("v\n").split("."))) < (22, 19):
        pytest.skip(f"Pi 1.6 wants node 22.19, this one is {version}")
    project = tmp_path / "a shop"
    project.mkdir()
    original = Path(shutil.copy(FILES["linear"], tmp_path))
    with Debugger.open(str(original)) as debugger:
        row = debugger.session.active
        assert row is not None
        said = debugger.message(debugger.state(row), "And then?", 1767225600)
        plan = plan_of(debugger, row, (Put(("cwd",), str(project)), said))
        draft = debugger.draft(plan)
    written(draft, tmp_path)

    command = draft.resume_command.replace(
        "pi --session", f"{shlex.quote(NODE)} {shlex.quote(cli())} --mode rpc --session"
    )
    assert command != draft.resume_command
    told = run(tmp_path, ["sh", "-c", command], '{"id":"1","type":"get_messages"}\n')
    answers = [json.loads(line) for line in told.splitlines()]
    (found,) = (each for each in answers if each.get("command") == "get_messages")
    assert found["data"]["messages"] == plan.wanted["messages"]


def cli() -> str:
    """Give the path of Pi's program."""
    return str(Path(PACKAGE or "", "@earendil-works/pi-coding-agent/dist/cli.js"))
