"""Commits and the sessions that made them lead to each other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import zstandard
from textual.pilot import Pilot
from tui.driving import SAMPLES, drive, press, said, settled

from tt_debugger.cli.main import main
from tt_debugger.core.refs import parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.discovery.commits import Linked, commits_made, makers_of
from tt_debugger.opening import split_location
from tt_debugger.tui.screens.timeline import TimelineScreen

COMMIT = "add91354866095073e4ec2f1efe239ca7a8a967c"
TOLD = "2e23d6d5"
"""The checkpoint of the session that tells of the commit as made."""
TITLE = "A voucher that is late"


@pytest.fixture(autouse=True)
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the session, and the repository beside it, in which one stands; no home."""
    here = tmp_path / "here"
    for name in ("claude-code.jsonl", "pi.jsonl"):
        here.mkdir(exist_ok=True)
        shutil.copyfile(SAMPLES / name, here / name)
    shutil.copytree(SAMPLES / "shop.git", here / "shop.git")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(here)
    return here


def links(location: str) -> list[Linked]:
    """Give the commits that all of a session tells of."""
    with Debugger.open(location) as debugger:
        return [
            each
            for row in range(len(debugger.session))
            for each in commits_made(debugger.messages_at(row), debugger.session, location)
        ]


def makers(commit: str, time: float | None = None) -> list[Linked]:
    return list(makers_of(commit, time, "shop.git"))


def test_a_session_leads_to_the_commit_that_it_made():
    (link,) = links("claude-code.jsonl")

    assert link == Linked(
        "commit add9135  The voucher test sets the time itself", "shop.git#add9135"
    )
    with Debugger.open(*split_location(link.location or "")[:1]) as debugger:
        row = debugger.point(parse_fragment("add9135"))
        assert debugger.session.ids[row] == COMMIT
        assert debugger.state(row)["files"]["shop/voucher.py"].count("clock") > 0


def test_a_commit_leads_to_the_checkpoint_that_tells_of_it(stage: Path):
    (link,) = makers(COMMIT)

    assert link.name == TITLE
    assert link.location is not None
    assert link.location.startswith(f"claude-code.jsonl#{TOLD}")
    assert makers("72fa57a" + "0" * 33) == []
    assert list(makers_of(COMMIT, None, str(stage / "pi.jsonl"))) == []


def test_a_compressed_session_is_looked_into_too(stage: Path):
    (stage / "claude-code.jsonl").unlink()
    payload = {
        "type": "function_call_output",
        "call_id": "call_made",
        "output": "[main add9135] The voucher test sets the time itself",
    }
    line = {"timestamp": "2026-09-22T09:36:24.971Z", "type": "response_item", "payload": payload}
    content = (SAMPLES / "codex.jsonl").read_bytes() + json.dumps(line).encode() + b"\n"
    (stage / "rollout.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(content))

    (link,) = makers(COMMIT)
    assert (link.location or "").startswith("rollout.jsonl.zst#")


def test_a_session_that_was_written_long_before_a_commit_did_not_make_it():
    later = (Path("claude-code.jsonl").stat().st_mtime) + 10 * 24 * 3600

    assert makers(COMMIT, later) == []
    assert len(makers(COMMIT, later - 11 * 24 * 3600)) == 1


def test_a_commit_has_the_files_as_its_session_knows_them(capsys: pytest.CaptureFixture[str]):
    assert main(["diff", f"shop.git#{COMMIT}", f"claude-code.jsonl#{TOLD}"]) == 0
    told = capsys.readouterr().out
    assert "git_commits and claude_code are compared by what both can say" in told
    assert "4 files of one side" in told

    assert main(["diff", f"shop.git#{COMMIT}~1", f"claude-code.jsonl#{TOLD}", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert sorted(each["path"] for each in answer["edits"]) == [
        "/files/shop~1voucher.py",
        "/files/tests~1test_voucher.py",
    ]
    lines = [line for hunk in answer["edits"][0]["text"] for line in hunk["lines"]]
    assert {"op": "add", "old": None, "new": "class Clock:"} in lines


def test_without_its_repository_a_commit_is_told_and_leads_nowhere():
    shutil.rmtree("shop.git")

    (link,) = links("claude-code.jsonl")
    assert (link.name.split()[1], link.location) == ("add9135", None)


def test_enter_goes_from_the_session_to_the_commit_and_back_to_the_session():
    async def script(pilot: Pilot[None]) -> None:
        await press(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, TimelineScreen)
        session = screen._session
        assert session is not None
        assert session.format == "git_commits"
        assert screen._row is not None
        assert session.ids[screen._row] == COMMIT
        await press(pilot, "enter")
        await settled(pilot)
        back = pilot.app.screen
        assert isinstance(back, TimelineScreen)
        assert back._session is not None
        assert back._session.title == TITLE
        assert back._row is not None
        assert back._session.ids[back._row].startswith(TOLD)

    drive(script, "claude-code.jsonl", TOLD)


def test_a_commit_that_no_session_tells_of_says_so():
    async def script(pilot: Pilot[None]) -> None:
        await press(pilot, "g", "enter")
        await settled(pilot)
        assert said(pilot) == "no session was found that tells of this commit"

    drive(script, "shop.git")
