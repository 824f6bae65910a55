"""Tau itself loads our forks: its context is that of the fork point, with what was edited.

TTDBG_TAU_PYTHON names a Python that has tau-ai, which wants 3.12 or newer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from agreement import as_tau_dumps
from forks_of_files import TIME, Case, cases_of_all, files_of, plan_of, written

from tt_debugger.core.changes import Put
from tt_debugger.debugger import Debugger
from tt_debugger.formats.tau.index import project_folder

PYTHON = os.environ.get("TTDBG_TAU_PYTHON")
SCRIPT = Path(__file__).with_name("tau_contexts.py")
SETTINGS = ("model", "provider", "thinking_level", "title")
LOADED = ("real-codingsession", "tau")
"""Files whose forks are loaded as whole coding sessions too: it takes Tau a while."""
REFUSED = ("edge-unknown-field", "edge-unknown-message-field")
"""Files with a key in a message's record that Tau refuses: the forks have it too, and say so."""
FILES = {path.stem: path for path in files_of("tau")}

pytestmark = pytest.mark.skipif(
    PYTHON is None, reason="TTDBG_TAU_PYTHON names no Python that has tau-ai"
)


def run(home: Path, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a home of its own."""
    assert PYTHON is not None
    environ = {
        "HOME": str(home),
        "PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}",
        "OPENAI_API_KEY": "none",
        "TAU_OFFLINE": "1",
    }
    return subprocess.run(  # noqa: S603 - the agent itself
        command, input=given, capture_output=True, text=True, check=False, env=environ, cwd=home
    )


def ask(jobs: Sequence[dict[str, Any]], home: Path) -> list[dict[str, Any]]:
    """Let Tau's own code answer."""
    assert PYTHON is not None
    told = run(home, PYTHON, str(SCRIPT), given=json.dumps(jobs))
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


class Answered(NamedTuple):
    """A fork, what Tau makes of it, and what it makes of the original at that node."""

    case: Case
    fork: dict[str, Any]
    original: dict[str, Any]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Answered]]:
    """Give all forks by the names of their files; Tau takes seconds to start."""
    folder = tmp_path_factory.mktemp("forks")
    cases = cases_of_all(FILES.values(), folder)
    originals = {name: str(shutil.copy(path, folder)) for name, path in FILES.items()}
    jobs: list[dict[str, Any]] = []
    for name, own in cases.items():
        for each in own:
            is_loaded = name in LOADED and each.is_safe and not each.in_place
            jobs.append(each.asked(load=is_loaded))
            jobs.append({"path": originals[name], "leaf": each.node})
    answers = iter(ask(jobs, folder))
    return {
        name: [Answered(each, next(answers), next(answers)) for each in own]
        for name, own in cases.items()
    }


@pytest.mark.parametrize("name", [name for name in FILES if name not in REFUSED])
def test_tau_replays_a_fork_at_any_node_to_the_state_that_is_wanted(
    name: str, answered: dict[str, list[Answered]]
):
    assert answered[name]
    for case, fork, _ in answered[name]:
        wanted = as_tau_dumps(case.state["messages"])
        assert as_tau_dumps(fork["messages"]) == wanted
        assert fork["leaf"] == case.point
        assert [fork[key] for key in SETTINGS] == [case.state[key] for key in SETTINGS]
        assert as_tau_dumps(fork.get("loaded", fork["messages"])) == wanted
        assert fork["unchanged"]
        # What Tau adds hangs below the end of the fork.
        assert fork["grown"]
        assert fork["tip"]
        assert as_tau_dumps(fork["after"][:-1]) == wanted


@pytest.mark.parametrize("name", ["linear", "compacted", "multileaf", *LOADED])
def test_a_fork_that_edits_nothing_is_what_tau_makes_of_the_original_there(
    name: str, answered: dict[str, list[Answered]]
):
    plain = [each for each in answered[name] if not each.case.is_edited]
    assert len(plain) > 4
    for _, fork, original in plain:
        assert as_tau_dumps(fork["messages"]) == as_tau_dumps(original["messages"])
        assert [fork[key] for key in SETTINGS] == [original[key] for key in SETTINGS]


@pytest.mark.parametrize("name", REFUSED)
def test_what_tau_refuses_in_the_original_it_refuses_in_a_fork_that_keeps_it(
    name: str, answered: dict[str, list[Answered]]
):
    warned = [any("will refuse" in note for note in each.case.notes) for each in answered[name]]
    assert any(warned)
    assert ["refused" in each.fork for each in answered[name]] == warned
    assert all("refused" in each.original for each in answered[name])


@pytest.mark.parametrize("name", LOADED)
def test_whole_coding_sessions_were_loaded_and_mended_nothing(
    name: str, answered: dict[str, list[Answered]]
):
    loaded = [each.fork for each in answered[name] if "loaded" in each.fork]
    assert loaded
    assert all(each["unchanged"] for each in loaded)


def test_tau_finds_a_fork_by_its_index_and_exports_it(tmp_path: Path):
    project = tmp_path / "work" / "shop"
    project.mkdir(parents=True)
    home = tmp_path / ".tau"
    place = home / "sessions" / project_folder(str(project), str(tmp_path))
    place.mkdir(parents=True)
    original = place / "0123456789abcdef0123456789abcdef.jsonl"
    shutil.copy(FILES["real-codingsession"], original)
    with Debugger.open(str(original)) as debugger:
        edits = (
            Put(("cwd",), str(project)),
            Put(("title",), "Tried again"),
            Put(("messages", 0, "content"), "what is in b.txt?"),
        )
        row = debugger.session.active
        assert row is not None
        draft = debugger.draft(plan_of(debugger, row, edits))
    written(draft, place)

    (answer,) = ask([{"index": str(home), "id": draft.session, "cwd": str(project)}], tmp_path)
    assert answer["folder"] == place.name
    assert answer["record"] == {
        "id": draft.session,
        "path": draft.location,
        "cwd": str(project),
        "model": "fake-model",
        "provider_name": "openai",
        "inference_provider": None,
        "inference_provider_mode": "automatic",
        "title": "Tried again",
        "created_at": TIME,
        "updated_at": TIME,
    }
    exported = run(tmp_path, "tau", "export", draft.session, str(tmp_path / "e.jsonl"))
    assert exported.returncode == 0, exported.stderr
    assert "what is in b.txt?" in (tmp_path / "e.jsonl").read_text()
