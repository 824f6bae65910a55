"""`ttdbg ls`: which sessions are found, how they are told, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.homes import ALPHA, BETA, GAMMA, keep, pi_session
from hostile_files import pi, said

from tt_debugger import discovery
from tt_debugger.cli.commands import ls
from tt_debugger.core.text import acting
from tt_debugger.views.row import count_text

pytestmark = pytest.mark.usefixtures("kept")

Ask = Callable[..., Any]
Kept = dict[str, Path]


def test_sessions_stand_by_project_and_agent_the_newest_first_and_forks_below(
    ttdbg: Ask, kept: Kept
):
    answer = ttdbg("ls")

    # How big a fork is depends on how long the path is that it has of its parent.
    alpha, beta, gamma = (
        f"{count_text(kept[name].stat().st_size):>6}" for name in ("alpha", "beta", "gamma")
    )
    assert (answer.code, answer.err) == (0, "not listed: 1 other file\n")
    assert answer.out.splitlines() == [
        "    age  size ckpts branches tokens   cost  session  title",
        "/dev/ledger · tau",
        f"     1m{gamma}     2                         22222222  Books",
        "/dev/notes · pi",
        f"     2h{alpha}     2                         {ALPHA}  Water the plants",
        f"     1h{beta}     2                         {BETA}  ╰ Feed the cat",
    ]


def ids(answer: Any) -> list[str]:
    return [each["id"] for each in answer.json["sessions"]]


def test_json_has_what_is_known_of_each(ttdbg: Ask, kept: Kept):
    answer = ttdbg("ls", "--json")

    assert ids(answer) == [GAMMA, BETA, ALPHA]
    assert answer.json["sessions"][1] == {
        "id": BETA,
        "format": "pi",
        "location": str(kept["beta"]),
        "title": "Feed the cat",
        "cwd": "/dev/notes",
        "time": "2026-09-21T13:13:20.000Z",
        "checkpoints": 2,
        "branches": 1,
        "findings": 0,
        "size": kept["beta"].stat().st_size,
        "tokens": None,
        "cost": None,
        "forked_from": str(kept["alpha"]),
        "failed": None,
    }


def test_a_limit_lists_the_newest_and_says_that_there_are_more(ttdbg: Ask):
    answer = ttdbg("ls", "--limit", "1", "--json")

    assert len(ids(answer)) == 1
    assert "the newest 1 of 4; --all lists all of them" in answer.err
    assert len(ids(ttdbg("ls", "--all", "--json"))) == 3


def test_without_a_word_only_the_newest_are_listed_for_people(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ls, "SHOWN", 2)

    assert "the newest 2 of 4" in ttdbg("ls").err
    assert "the newest" not in ttdbg("ls", "--all").err
    assert len(ids(ttdbg("ls", "--json"))) == 3


def test_pages_show_every_session_once_and_a_project_that_goes_on_says_so(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ls, "PAGE", 1)
    out = ttdbg("ls").out

    assert out.count("/dev/notes · pi\n") == 1
    assert out.count("/dev/notes · pi (more)\n") == 1
    assert out.count("Feed the cat") == out.count("Water the plants") == 1


def test_a_fork_on_another_page_than_its_parent_is_told_of(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))
    monkeypatch.setattr(ls, "PAGE", 1)
    first, second = ttdbg("ls"), ttdbg("ls")

    assert "\u2570 Feed the cat" not in first.out
    assert "1 fork or copy stands apart from the original" in first.err
    assert "\u2570 Feed the cat" in second.out
    assert "apart" not in second.err


def test_where_few_are_not_known_all_are_read_before_the_first_is_shown(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ls, "PAGE", 4)

    assert "\u2570 Feed the cat" in ttdbg("ls").out


def test_this_folder_is_looked_through_too_and_names_its_files_by_path(ttdbg: Ask):
    keep(Path("own.jsonl"), pi_session("own", "Mend the roof"), 10)

    assert re.search(r" own\.jsonl +Mend the roof\n", ttdbg("ls").out)
    assert ids(ttdbg("ls", ".", "--json")) == ["own"]


def test_a_folder_that_is_looked_through_already_is_not_looked_through_again(
    ttdbg: Ask, kept: Kept, monkeypatch: pytest.MonkeyPatch
):
    for folder in (kept["alpha"].parents[4], kept["alpha"].parent):
        monkeypatch.chdir(folder)
        assert ids(ttdbg("ls", "--json")) == [GAMMA, BETA, ALPHA]


def test_variables_move_the_places(ttdbg: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/.pi/other")
    monkeypatch.setenv("TAU_HOME", str(tmp_path / "tau"))
    keep(tmp_path / "home/.pi/other/sessions/x/a.jsonl", pi_session("a", "Moved"), 5)

    assert ids(ttdbg("ls", "--json")) == ["a"]


def test_a_file_or_an_id_is_listed_alone(ttdbg: Ask, kept: Kept):
    assert ids(ttdbg("ls", kept["alpha"], "--json")) == [ALPHA]
    assert ids(ttdbg("ls", BETA, "--json")) == [BETA]


def test_a_location_that_is_not_there_is_refused(ttdbg: Ask, tmp_path: Path):
    assert ttdbg("ls", tmp_path / "none").code == 3


def test_nothing_found_is_said(ttdbg: Ask, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    answer = ttdbg("ls", tmp_path / "empty")

    assert (answer.code, answer.out, answer.err) == (0, "", "no sessions are there\n")
    assert ttdbg("ls", tmp_path / "empty", "--json").json == {"ttdbg": 1, "sessions": []}


def test_the_second_time_nothing_is_opened_but_what_changed(
    ttdbg: Ask, kept: Kept, monkeypatch: pytest.MonkeyPatch
):
    first = ttdbg("ls", "--json").json
    read, reading = [], discovery.finding.read

    def counting(entry: Any, *rest: Any) -> Any:
        read.append(Path(entry.location))
        return reading(entry, *rest)

    monkeypatch.setattr(discovery.finding, "read", counting)
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))
    ttdbg("ls", "--json")
    read.clear()
    assert ttdbg("ls", "--json").json == first
    assert read == []
    keep(kept["alpha"], pi_session(ALPHA, "Water the trees"), 7200)
    titles = [each["title"] for each in ttdbg("ls", "--json").json["sessions"]]
    assert (read, titles) == ([kept["alpha"]], ["Books", "Feed the cat", "Water the trees"])


def test_what_cannot_be_read_is_listed_with_the_reason(ttdbg: Ask, kept: Kept):
    kept["alpha"].chmod(0)
    answer = ttdbg("ls", "--json")
    failed = {each["id"]: each["failed"] for each in answer.json["sessions"]}

    if failed[ALPHA] is None:
        pytest.skip("who runs this may read anything")
    assert "permission is denied" in failed[ALPHA]
    assert failed[BETA] is None


def test_names_and_titles_cannot_act(ttdbg: Ask):
    evil = "x\x1b]0;t\x07\u202e"
    keep(Path(f"{evil}.jsonl"), pi(said("a1", None, text=evil)), 5)
    keep(Path("b.jsonl"), pi_session(evil, evil, cwd=f"/{evil}"), 5)

    for each in (ttdbg("ls"), ttdbg("ls", "--json")):
        assert acting(each.out + each.err) == set()
