"""Repositories on the command line: what takes one, and what of it can be named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from builders import FIXTURES
from repositories import a_shop

Ask = Callable[..., Any]
SAMPLE = FIXTURES / "git_commits" / "sample.git"


def test_the_commands_take_a_repository_and_its_names(ttdbg: Ask, tmp_path: Path) -> None:
    made = a_shop(tmp_path / "shop")

    for location in (made.folder, made.folder / ".git", SAMPLE):
        logged = ttdbg("log", location, "--json").json
        assert (logged["format"], len(logged["checkpoints"])) == ("git_commits", 9)
    shown_state = ttdbg("show", f"{made.folder}#topic~1", "--json").json["state"]
    assert shown_state["message"] == "Add green tea\n"
    edits = ttdbg("diff", f"{made.folder}#topic~1", "#topic", "--json").json["edits"]
    assert [each["path"] for each in edits if each["text"]][:1] == ["/files/shop.py"]


def test_a_commit_is_compared_with_a_checkpoint_of_a_transcript(
    ttdbg: Ask, tmp_path: Path
) -> None:
    made = a_shop(tmp_path / "shop")
    session = FIXTURES / "claude_code" / "forked.jsonl"

    answer = ttdbg("diff", f"{made.folder}#main", f"{session}#a1", "--json")

    assert answer.code == 1
    # By what both can say: a commit has no messages, and a transcript no files.
    assert {(each["op"], each["path"]) for each in answer.json["edits"]} >= {
        ("add", "/messages/0"),
        ("add", "/messages/1"),
        ("add", "/cwd"),
    }
    plain = ttdbg("diff", f"{made.folder}#main", f"{session}#a1")
    assert plain.code == 1
    assert "git_commits and claude_code are compared by what both can say" in plain.out
