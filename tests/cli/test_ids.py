"""The id of a session that an agent keeps is a location, and so is its beginning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.homes import ALPHA, BETA, GAMMA, keep, pi_session

Ask = Callable[..., Any]
Kept = dict[str, Path]

pytestmark = pytest.mark.usefixtures("kept")


def session_at(ttdbg: Ask, location: str) -> str:
    answer = ttdbg("log", location, "--json")
    assert answer.code == 0, answer.err
    return answer.json["session"]["id"]


@pytest.mark.parametrize("text", [ALPHA, GAMMA, "2222", GAMMA[:-1]])
def test_an_id_or_a_beginning_that_no_other_has_is_a_location(ttdbg: Ask, text: str):
    assert session_at(ttdbg, text).startswith(text)
    assert ttdbg("show", f"{text}#root").code == 0


def test_every_command_takes_one(ttdbg: Ask):
    for command in ("show", "log", "replay", "doctor", "formats", "ls"):
        assert ttdbg(command, ALPHA).code == 0, command
    assert ttdbg("diff", ALPHA, BETA).code == 1
    assert ttdbg("diff", f"{ALPHA}#a", "#b").code == 1
    assert ttdbg("grep", "water", ALPHA).code == 0
    assert ttdbg("export", ALPHA).code == 0


def test_a_path_that_is_there_goes_before_an_id(ttdbg: Ask):
    keep(Path(ALPHA), pi_session("own", "Mend the roof"), 10)

    assert session_at(ttdbg, ALPHA) == "own"


def test_a_beginning_that_two_have_is_refused_with_both(ttdbg: Ask):
    answer = ttdbg("show", ALPHA[:-1])

    assert answer.code == 2
    assert answer.err.startswith(f"ttdbg: {ALPHA[:-1]!r} names 2 sessions\nhint: there are: ")
    assert ALPHA in answer.err
    assert BETA in answer.err


def test_an_id_that_is_the_beginning_of_another_names_its_own(ttdbg: Ask, kept: Kept):
    keep(kept["alpha"].with_name(f"{ALPHA}0.jsonl"), pi_session(f"{ALPHA}0", "longer"), 5)

    assert session_at(ttdbg, ALPHA) == ALPHA


def test_of_a_session_that_cannot_be_read_its_id_leads_to_the_reason(ttdbg: Ask, kept: Kept):
    kept["alpha"].with_name("77777777.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")

    answer = ttdbg("log", "7777")

    assert answer.code == 3
    assert "77777777.jsonl.zst" in answer.err
    assert "no such file" not in answer.err


def test_a_copy_in_this_folder_does_not_hide_what_the_agent_keeps(ttdbg: Ask, kept: Kept):
    keep(Path("copy.jsonl"), kept["alpha"].read_bytes(), 5)

    assert ttdbg("log", ALPHA, "--json").json["location"] == str(kept["alpha"])


def test_an_id_that_no_name_tells_is_looked_for_in_the_files(ttdbg: Ask, kept: Kept):
    keep(kept["alpha"].with_name("renamed.jsonl"), pi_session("feedbeef", "hidden"), 5)

    assert session_at(ttdbg, "feedbeef") == "feedbeef"
    assert session_at(ttdbg, "feed") == "feedbeef"
    ttdbg("ls")
    assert session_at(ttdbg, "feed") == "feedbeef"


def test_a_name_that_tells_another_id_than_its_file_does_not_count(ttdbg: Ask, kept: Kept):
    keep(kept["alpha"].with_name("feedbeef.jsonl"), pi_session("cafebabe", "other"), 5)

    assert ttdbg("show", "feedbeef").code == 3


@pytest.mark.parametrize("text", ["zzzz", "00000000-0000"])
def test_an_unknown_id_is_refused_with_a_way_to_find_it(ttdbg: Ask, text: str):
    answer = ttdbg("show", text)

    assert answer.code == 3
    assert "no session whose id begins so" in answer.err
    assert "ttdbg ls" in answer.err


@pytest.mark.parametrize("text", ["222", "./2222", "2222.jsonl", "x/2222"])
def test_what_is_short_or_a_path_is_no_id(ttdbg: Ask, text: str):
    answer = ttdbg("show", text)

    assert (answer.code, answer.err.splitlines()[0]) == (
        3,
        f"ttdbg: cannot read {text}: there is no such file",
    )


def test_a_path_loads_nothing_that_looks_for_ids(
    ttdbg: Ask, kept: Kept, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(__import__("sys").modules, "tt_debugger.discovery.naming", None)

    assert ttdbg("show", kept["alpha"]).code == 0
