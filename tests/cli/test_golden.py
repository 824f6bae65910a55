"""What people read on a pipe, as golden files: read them in review like code.

After a change that is meant to show, make them anew and read the difference:

    TTDBG_UPDATE_GOLDEN=1 pytest tests/cli/test_golden.py && git diff tests/cli/golden
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_files import write_hostile_files

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "TTDBG_UPDATE_GOLDEN"

ON_SAMPLES = {
    "log-pi.txt": "log pi.jsonl",
    "log-tau.txt": "log tau.jsonl",
    "log-snapshots.txt": "log agent-state.jsonl",
    "log-messages.txt": "log requests.jsonl",
    "show-pi-active-leaf.txt": "show pi.jsonl",
    "show-pi-tool-call.txt": "show pi.jsonl#row=14",
    "show-pi-failed-result.txt": "show pi.jsonl#row=17",
    "show-pi-label.txt": "show pi.jsonl#row=12",
    "show-pi-branch-summary.txt": "show pi.jsonl#row=24",
    "show-pi-compaction.txt": "show pi.jsonl#row=54",
    "show-pi-uncompacted.txt": "show pi.jsonl#row=54 --uncompacted",
    "show-pi-resume.txt": "show pi.jsonl#row=14 --resume",
    "show-tau-compaction.txt": "show tau.jsonl#row=26",
    "show-tau-resume.txt": "show tau.jsonl#row=5 --resume",
    "show-snapshots-plan-change.txt": "show agent-state.jsonl#row=9",
    "show-snapshots-migration.txt": "show agent-state.jsonl#row=6",
    "show-messages-fork.txt": "show requests.jsonl#row=7",
    "show-messages-tool-calls.txt": "show requests.jsonl#row=10",
    "replay-pi.txt": "replay pi.jsonl",
    "replay-pi-range-states.txt": "replay pi.jsonl#@~3..@ --states",
    "replay-tau.txt": "replay tau.jsonl",
    "doctor-pi.txt": "doctor pi.jsonl",
    "doctor-snapshots.txt": "doctor agent-state.jsonl",
    "diff-pi-branches.txt": "diff pi.jsonl#row=39 #@",
    "diff-pi-stat.txt": "diff pi.jsonl#row=39 pi.jsonl --stat",
    "diff-pi-three-way.txt": "diff pi.jsonl#row=23 #row=39 --three-way",
    "diff-pi-step-no-mask.txt": "diff pi.jsonl#row=18 #row=14 --no-mask",
    "diff-pi-and-tau.txt": "diff pi.jsonl tau.jsonl --stat",
    "diff-snapshots.txt": "diff agent-state.jsonl#row=5 #row=9",
    "diff-requests.txt": "diff requests.jsonl#row=7 #row=12",
    "watch-pi-usage.txt": "watch pi.jsonl /usage",
    "watch-pi-messages.txt": "watch pi.jsonl /messages",
    "watch-pi-when.txt": "watch pi.jsonl --when tokens>4k",
    "watch-pi.json": "watch pi.jsonl /model --json",
    "watch-tau-message.txt": "watch tau.jsonl /messages/0",
    "watch-snapshots-step.txt": "watch agent-state.jsonl /current_step",
    "blame-pi-usage.txt": "blame pi.jsonl /usage",
    "blame-pi-compaction.txt": "blame pi.jsonl#row=54 /messages",
    "blame-pi.json": "blame pi.jsonl#row=14 /usage --json",
    "log-pi-stat.txt": "log pi.jsonl --stat",
    "diff-pi.json": "diff pi.jsonl#row=12 #row=14 --json",
    "formats.txt": "formats",
    "formats.json": "formats --json",
    "show-pi.json": "show pi.jsonl#row=5 --json",
    "replay-tau-range.jsonl": "replay tau.jsonl#root..root+3 --json",
}
ON_DAMAGED = {
    "log-cycle.txt": "log H34_parent_cycle.jsonl",
    "log-gap.txt": "log R01_pi.jsonl",
    "log-names-that-attack.txt": "log E03_every_name_pi.jsonl",
    "show-gap.txt": "show R01_pi.jsonl#gap@4",
    "show-duplicate.txt": "show R17_pi.jsonl#u2@3",
    "show-unreadable.txt": "show H35_wrong_types.jsonl#L2",
    "doctor-cycle.txt": "doctor H34_parent_cycle.jsonl",
    "doctor-names-that-attack.txt": "doctor E03_every_name_pi.jsonl",
    "doctor-tau.txt": "doctor R01_tau.jsonl",
}


def compare(name: str, shown: str) -> None:
    golden = GOLDEN / name
    if os.environ.get(UPDATE):
        golden.write_text(shown, encoding="utf-8", newline="\n")
    assert shown == golden.read_text(encoding="utf-8"), f"see {UPDATE} in {__file__}"


def told_aside(command: str) -> tuple[int, str]:
    """Give the exit code of a command on a sample, and what it says on stderr of findings."""
    name, _, rest = command.partition(" ")
    if not rest.startswith("agent-state.jsonl"):
        return int(name == "diff"), ""
    if name == "doctor":
        return 1, ""
    return int(name == "diff"), "agent-state.jsonl: 1 warning; see `ttdbg doctor`\n"


@pytest.mark.parametrize("name", ON_SAMPLES)
def test_samples_look_as_they_did(
    name: str,
    ttdbg: Callable[..., Any],
    in_samples: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(in_samples)
    answer = ttdbg(*ON_SAMPLES[name].split())

    assert (answer.code, answer.err) == told_aside(ON_SAMPLES[name])
    compare(name, answer.out)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    write_hostile_files(folder)
    return folder


@pytest.mark.parametrize("name", ON_DAMAGED)
def test_damaged_files_look_as_they_did(
    name: str, ttdbg: Callable[..., Any], damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(damaged)

    compare(name, ttdbg(*shlex.split(ON_DAMAGED[name])).out)


def test_there_is_no_golden_file_that_nothing_compares() -> None:
    assert {each.name for each in GOLDEN.iterdir()} == {*ON_SAMPLES, *ON_DAMAGED}
