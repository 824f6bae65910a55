"""`ttdbg grep`: what is found, where, and how that is told."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, PI_HEADER, assistant, jsonl, pi, user
from cli.homes import ALPHA, BETA, GAMMA, keep, pi_session

from tt_debugger.cli.commands import grep
from tt_debugger.core.text import acting
from tt_debugger.discovery import finding

pytestmark = pytest.mark.usefixtures("kept")

Ask = Callable[..., Any]
Kept = dict[str, Path]


def test_each_hit_has_a_ref_under_the_title_of_its_session(ttdbg: Ask):
    answer = ttdbg("grep", "add it")

    assert (answer.code, answer.err) == (0, "1 found in 1 of 3 sessions\n")
    assert answer.out == "Books\n  22222222#m  user       Add it up\n"


def test_refs_can_be_given_to_show(ttdbg: Ask):
    keep(Path("a file.jsonl"), pi_session("own", "Water the lawn"), 10)
    refs = re.findall(r"^  (\S.*?)  ", ttdbg("grep", "water").out, re.MULTILINE)

    assert len(refs) == 4
    for each in refs:
        assert "ater the" in ttdbg("show", each).out
    for each in ttdbg("grep", "water", "--json").stream[1:]:
        assert ttdbg("show", each["ref"], "--json").json["checkpoint"] == each["checkpoint"]


def test_json_is_a_stream_of_hits_behind_a_header(ttdbg: Ask, kept: Kept):
    header, first, second = ttdbg("grep", "plants", "--json").stream

    assert header == {"ttdbg": 1, "pattern": "plants", "location": None}
    assert (first["session"], first["format"]) == (ALPHA, "pi")
    assert first["ref"] == f"{kept['alpha']}#a"
    assert (first["before"], first["found"], first["after"]) == ("Water the ", "plants", "")
    assert [each["checkpoint"]["role"] for each in (first, second)] == ["user", "assistant"]


def test_nothing_found_is_exit_1(ttdbg: Ask):
    answer = ttdbg("grep", "zebra")

    assert (answer.code, answer.out, answer.err) == (1, "", "0 found in 0 of 3 sessions\n")


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ("water", 2),
        ("WATER", 0),
        ("-i WATER", 2),
        ("Water", 2),
        ("w.ter", 0),
        ("-E w.ter", 2),
        ("-E W.TER", 0),
        ("-E -i W.TER", 2),
        ("-E '^(Feed|Add)'", 2),
        ("water --role assistant", 1),
        ("water --role tool", 0),
        ("the", 4),
        ("the -m 1", 2),
        ("the --limit 3", 3),
        ("the -n 1 --role assistant", 1),
    ],
)
def test_options_choose_what_is_found(ttdbg: Ask, arguments: str, count: int):
    answer = ttdbg("grep", *shlex.split(arguments), "--json")

    assert len(answer.stream) - 1 == count
    assert answer.code == (0 if count else 1)


def test_one_session_or_a_folder_can_be_searched_alone(ttdbg: Ask, kept: Kept):
    assert ttdbg("grep", "the", kept["alpha"]).out.count("#") == 2
    assert f"{kept['alpha']}#a  user" in ttdbg("grep", "the", kept["alpha"]).out
    assert ttdbg("grep", "the", BETA).out.count("#") == 2
    assert ttdbg("grep", "the", kept["alpha"].parent).out.count("#") == 4
    assert ttdbg("grep", "the", f"{GAMMA}#").code == 1
    assert ttdbg("grep", "the", "no-such-session").code == 3


def test_a_word_that_json_writes_otherwise_is_found(ttdbg: Ask):
    rows = [pi("a", None, user('the "quoted" caf\u00e9')), pi("b", "a", assistant("\u20ac 5"))]
    content = jsonl(PI_HEADER, *rows)
    keep(Path("own.jsonl"), content.replace("caf\u00e9".encode(), b"caf\\u00e9"), 5)

    for each in ('"quoted"', "caf\u00e9", "\u20ac"):
        assert ttdbg("grep", each).code == 0


def test_a_session_that_cannot_be_read_is_told(
    ttdbg: Ask, kept: Kept, monkeypatch: pytest.MonkeyPatch
):
    from tt_debugger.debugger import Debugger
    from tt_debugger.errors import CannotReadError

    class Failing:
        @staticmethod
        def open(location: str, session: str | None = None) -> Debugger:
            if ALPHA in location:
                raise CannotReadError("cannot read it: it is gone")
            return Debugger.open(location, session)

    monkeypatch.setattr(grep, "Debugger", Failing)
    answer = ttdbg("grep", "the", "--json")

    assert {"location": str(kept["alpha"]), "failed": "cannot read it: it is gone"} in (
        answer.stream
    )
    assert answer.err.splitlines() == [
        "not searched: cannot read it: it is gone",
        "2 found in 1 of 3 sessions; 1 cannot be read",
    ]


@pytest.mark.parametrize(
    "arguments", ["-E (", "''", "-F x", "x --role nobody", "x -m 0", "x -n 0"]
)
def test_what_makes_no_sense_is_refused(ttdbg: Ask, arguments: str):
    assert ttdbg("grep", *shlex.split(arguments)).code == 2


def test_what_is_found_cannot_act(ttdbg: Ask):
    evil = "x\x1b]0;t\x07\u202e needle \x9b2J"
    keep(Path("b.jsonl"), pi_session(evil, evil, cwd=f"/{evil}"), 5)

    for each in (ttdbg("grep", "needle"), ttdbg("grep", "needle", "--json")):
        assert (each.code, acting(each.out + each.err)) == (0, set())


def codex_call(*words: str) -> bytes:
    """Give a session of Codex in which a command was called, each of its words by itself."""
    call = {"type": "function_call", "name": "shell", "call_id": "c"}
    call["arguments"] = json.dumps({"command": words})
    meta = {"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/dev/notes"}
    meta |= {"originator": "codex_cli", "cli_version": "0.120.0"}
    return jsonl(
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": meta},
        {"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": call},
    )


def test_in_a_folder_is_found_what_is_found_in_its_files(ttdbg: Ask):
    file = keep(Path("calls/rollout.jsonl"), codex_call("git", "status"), 10)

    assert ttdbg("grep", "git status", file).code == 0
    for _ in range(2):
        answer = ttdbg("grep", "git status", "calls")
        assert (answer.code, answer.err) == (0, "1 found in 1 of 1 session\n")


def test_what_was_read_is_known_however_the_search_ends(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []
    reading = finding.read

    def counting(entry: Any, *rest: Any) -> Any:
        read.append(entry.id)
        return reading(entry, *rest)

    monkeypatch.setattr(finding, "read", counting)
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))

    ttdbg("grep", "the", "-n", "1")
    first, read[:] = list(read), []
    ttdbg("grep", "the", "-n", "1")

    assert first == [GAMMA, BETA]
    assert read == []


def test_sessions_are_counted_and_not_files(ttdbg: Ask, tmp_path: Path):
    place = tmp_path / "home/.local/share/goose/sessions"
    place.mkdir(parents=True)
    shutil.copy(FIXTURES / "goose/sessions.db", place)

    for _ in range(2):
        assert ttdbg("grep", "zebra").err == "0 found in 0 of 5 sessions\n"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system cannot end it")
def test_an_expression_that_would_take_for_ever_is_given_up_with_a_word(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch
):
    keep(Path("own.jsonl"), pi_session("own", f"{'x' * 60}!"), 10)
    monkeypatch.setattr(grep, "LONGEST", 0.2)
    answer = ttdbg("grep", "-E", "^(x+)+$|plants")

    assert answer.code == 0
    assert "takes more than 0.2 s in own.jsonl" in answer.err
    assert "1 cannot be read" in answer.err


def test_all_sessions_of_a_database_are_searched_the_newest_first(ttdbg: Ask):
    database = Path(__file__).parents[2] / "sample_sessions/agent_turns.sqlite"
    answer = ttdbg("grep", "reminder", database)

    assert answer.code == 0
    assert answer.err.endswith("in 2 of 2 sessions\n")
    scopes = re.findall(r"#(invoices-0929(?:-b)?):", answer.out)
    assert list(dict.fromkeys(scopes)) == ["invoices-0929-b", "invoices-0929"]
    ref = re.findall(r"^  (\S.*?)  ", answer.out, re.MULTILINE)[-1]
    assert ttdbg("show", shlex.split(ref)[0]).code == 0
