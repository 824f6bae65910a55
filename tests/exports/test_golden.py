"""What is exported of the sample of Pi, as golden files with their true endings.

After a change that is meant to show, make them anew, look at each as what it is, and read the
difference:

    TTDBG_UPDATE_GOLDEN=1 pytest tests/exports/test_golden.py && git diff tests/exports/golden
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from exported import pages
from hostile_files import SAMPLES

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "TTDBG_UPDATE_GOLDEN"
FIRST_TRY, SECOND_TRY = 35, 43
"""The rows at which two branches have tried the same."""

NAMES = (
    *("transcript.md", "transcript.html", "transcript.json", "transcript.svg"),
    *("state.md", "state.html", "state.json", "state.svg"),
    *("diff.md", "diff.html", "diff.json", "diff.svg", "diff.patch.json", "diff.diff"),
    "bundle.jsonl",
)


@cache
def exported() -> dict[str, str]:
    made = pages(SAMPLES / "pi.jsonl", FIRST_TRY, SECOND_TRY)
    return {name: page.text for name, page in made.items()}


@pytest.mark.parametrize("name", NAMES)
def test_exports_look_as_they_did(name: str):
    golden = GOLDEN / name
    shown = exported()[name]
    if os.environ.get(UPDATE):
        golden.write_text(shown, encoding="utf-8", newline="\n")

    assert shown == golden.read_text(encoding="utf-8"), f"see {UPDATE} in {__file__}"


def test_each_export_has_a_golden_file_and_each_of_them_an_export():
    assert set(NAMES) == set(exported()) == {each.name for each in GOLDEN.iterdir()}


def test_exporting_again_gives_the_same_bytes():
    again = pages(SAMPLES / "pi.jsonl", FIRST_TRY, SECOND_TRY)

    assert {name: page.text for name, page in again.items()} == exported()
