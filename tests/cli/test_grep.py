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

from tt_debugger.cli import scopes
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

    assert header == {"ttdbg": 1, "pattern": "plants", "condition": None, "location": None}
    assert (first["session"], first["format"]) == (ALPHA, "pi")
    assert first["ref"] == f"{kept['alpha']}#a"
    assert (first["before"], first["found"], first["after"]) == ("Water the ", "plants", "")
    assert [each["checkpoint"]["role"] for each in (first, second)] == ["user", "assistant"]


def test_nothing_found_is_exit_1(ttdbg: Ask):
    answer = ttdbg("grep", "zebra")

    assert (answer.code, answer.out, answer.err) == (1, "", "nothing found in 3 sessions\n")


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

    monkeypatch.setattr(scopes, "Debugger", Failing)
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
        assert ttdbg("grep", "zebra").err == "nothing found in 5 sessions\n"


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


# --- Conditions ----------------------------------------------------------------------------------

SAMPLE, CLAUDE = (
    str(Path(__file__).parents[2] / "sample_sessions" / name)
    for name in ("pi.jsonl", "claude-code.jsonl")
)


def refs_in(out: str) -> list[str]:
    """Give the refs that lines begin with."""
    return re.findall(r"^  (\S+)", out, re.MULTILINE)


def test_a_condition_finds_checkpoints_and_tells_what_they_say(ttdbg: Ask):
    answer = ttdbg("grep", "--when", "error", SAMPLE)

    assert answer.code == 0
    assert answer.err.endswith("found in 1 of 1 session\n")
    for ref in refs_in(answer.out):
        shown = ttdbg("show", ref, "--json").json["checkpoint"]
        assert shown["summary"].split()[0] in answer.out


def test_of_a_tool_that_is_asked_for_that_call_is_told_and_what_it_gave_back(ttdbg: Ask):
    answer = ttdbg("grep", "--when", "tool=Read and row>20", CLAUDE)

    assert (answer.code, answer.err) == (0, "2 found in 1 of 1 session\n")
    assert answer.out == (
        "A voucher that is late\n"
        f"  {CLAUDE}#8c50  assistant  Read /home/dev/shop/tests/test_newsletters.py\n"
        f"  {CLAUDE}#af0e  tool       File does not exist. Did you mean test_newsletter.py?\n"
    )


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (
            "row=43 and (text~nowhere or text~with_suffix)",
            (
                ' fresh = self.path.with_suffix(".tmp") fresh.write_text(json.dumps(self.notes))'
                " fresh.replace(self.pat…"
            ),
        ),
        ("row=43 and not text~nowhere", "notekeeper/store.py"),
    ],
)
def test_of_a_text_that_is_asked_for_it_is_told_what_matched(
    ttdbg: Ask, condition: str, said: str
):
    answer = ttdbg("grep", "--when", condition, SAMPLE)

    assert answer.out == f"Flaky autosave test\n  {SAMPLE}#8b74  assistant  {said}\n"


def test_a_session_where_a_pattern_is_wanted_is_said_to_be_one(ttdbg: Ask):
    answer = ttdbg("grep", SAMPLE, "no match")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        f"ttdbg: {SAMPLE} is a session, where the PATTERN is wanted\n"
        f"hint: `ttdbg grep 'no match' {SAMPLE}`; -e {SAMPLE} looks for the name itself\n"
    )


def test_the_name_of_a_session_is_a_pattern_with_a_place_to_look_in_or_behind_e(ttdbg: Ask):
    own = Path("own.jsonl")
    keep(own, pi_session("own", "see own.jsonl"), 10)

    assert "see own.jsonl" in ttdbg("grep", own, ".").out
    assert ttdbg("grep", "-e", own, "22222222").err == "nothing found in 1 session\n"


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ("--when role=user", 4),
        ("--when role=user --role assistant", 0),
        ("--when role=assistant --role assistant", 3),
        ("--when role=user -m 1", 4),
        ("--when role=user -n 3", 3),
        ("--when error", 0),
        ("water --when role=user ''", 1),
        ("-e water --when role=user", 1),
        ("-e WATER -i --when role=user", 1),
        ("-E -e w.ter --when role=assistant", 1),
        ("-e water --when error", 0),
        ("-e water", 2),
    ],
)
def test_a_text_and_a_condition_are_found_where_both_are(ttdbg: Ask, arguments: str, count: int):
    keep(Path("own.jsonl"), pi_session("own", "Sweep the floor"), 10)
    answer = ttdbg("grep", *shlex.split(arguments), "--json")

    # Three sessions are at home, and one is here.
    assert len(answer.stream) - 1 == count
    assert answer.code == (0 if count else 1)


def test_a_condition_is_asked_in_one_session_a_folder_or_all(ttdbg: Ask, kept: Kept):
    def sessions(*where: object) -> list[str]:
        answers = ttdbg("grep", "--when", "role=user", *where, "--json").stream[1:]
        return [each["session"] for each in answers]

    assert sessions() == [GAMMA, BETA, ALPHA]
    assert sessions(kept["beta"]) == [BETA]
    assert sessions(ALPHA) == [ALPHA]
    assert sessions(kept["alpha"].parent) == [BETA, ALPHA]


def test_a_family_is_the_session_with_its_forks_and_what_it_was_forked_from(
    ttdbg: Ask, kept: Kept
):
    fork = pi_session("third", "Mow the lawn", parentSession=str(kept["beta"]))
    keep(kept["beta"].with_name("third.jsonl"), fork, 30)

    for each in (kept["alpha"], kept["beta"], "third", ALPHA):
        stream = ttdbg("grep", "--family", "--when", "role=user", each, "--json").stream
        assert [one["session"] for one in stream[1:]] == ["third", BETA, ALPHA]
    assert ttdbg("grep", "--family", "--when", "role=user", GAMMA).out.count("#") == 1
    assert ttdbg("grep", "--family", "the", kept["alpha"]).out.count("#") == 6


def test_a_family_needs_a_session(ttdbg: Ask, kept: Kept):
    for where in ([], [kept["alpha"].parent]):
        answer = ttdbg("grep", "--family", "--when", "error", *where)
        assert (answer.code, answer.out) == (2, "")


def test_json_says_the_condition_and_has_the_keys_that_a_text_has(ttdbg: Ask):
    header, first = ttdbg("grep", "--when", "role=user", BETA, "--json").stream
    other = ttdbg("grep", "cat", BETA, "--role", "user", "--json").stream[1]

    assert header == {"ttdbg": 1, "pattern": None, "condition": "role=user", "location": BETA}
    assert list(first) == list(other)
    assert (first["found"], first["checkpoint"]) == ("Feed the cat", other["checkpoint"])


def test_what_stays_true_is_told_where_it_becomes_true_or_with_all_wherever_it_is(ttdbg: Ask):
    condition = "length(messages) >= 4"
    becomes = ttdbg("grep", "--when", condition, SAMPLE, "--json").stream[1:]
    stays = ttdbg("grep", "--all", "--when", condition, SAMPLE, "--json").stream[1:]

    def holds(row: int) -> bool:
        state = ttdbg("show", f"{SAMPLE}#row={row}", "--json").json["state"]
        return len(state.get("messages", [])) >= 4

    log = ttdbg("log", SAMPLE, "--json").json["checkpoints"]
    rows = {each["id"]: each["row"] for each in log}
    held = {each["row"]: holds(each["row"]) for each in log}
    begins = [
        each["row"]
        for each in log
        if held[each["row"]] and not held.get(rows.get(each["parent"]), False)
    ]
    assert [each["checkpoint"]["row"] for each in becomes] == begins
    assert [each["checkpoint"]["row"] for each in stays] == [row for row in held if held[row]]
    assert 0 < len(becomes) < len(stays)


@pytest.mark.parametrize(
    "arguments", ["--when ''", "--when 'messages['", "-e x y z", "", "'' --when error x"]
)
def test_a_condition_that_makes_no_sense_is_refused(ttdbg: Ask, arguments: str):
    answer = ttdbg("grep", *shlex.split(arguments))

    assert (answer.code, answer.out) == (2, "")


def test_that_a_condition_holds_nowhere_is_exit_1(ttdbg: Ask):
    answer = ttdbg("grep", "--when", "tool=nothing")
    found, why = answer.err.splitlines()

    assert (answer.code, answer.out, found) == (1, "", "nothing found in 3 sessions")
    assert why.startswith("hint: in the newest, ")
    assert why.endswith(".jsonl: no tool is called here")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system cannot end it")
@pytest.mark.parametrize("text", [[], ["-e", "x"]])
def test_a_condition_that_would_take_for_ever_is_given_up_with_a_word(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch, text: list[str]
):
    keep(Path("own.jsonl"), pi_session("own", f"{'x' * 60}!"), 10)
    monkeypatch.setattr(grep, "LONGEST", 0.2)
    answer = ttdbg("grep", *text, "--when", "text~'^(x+)+$|plants'")

    assert answer.code == 0
    assert "takes more than 0.2 s in own.jsonl" in answer.err
    assert "1 cannot be read" in answer.err


def test_what_a_condition_finds_cannot_act(ttdbg: Ask):
    evil = "x\x1b]0;t\x07\u202e needle \x9b2J"
    keep(Path("b.jsonl"), pi_session(evil, evil, cwd=f"/{evil}"), 5)

    for each in ([], ["--json"]):
        answer = ttdbg("grep", "--when", "role=user", *each)
        assert (answer.code, acting(answer.out + answer.err)) == (0, set())
