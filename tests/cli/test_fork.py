"""`ttdbg fork` and `ttdbg undo`: what they write, say and refuse."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user
from hostile_files import SAMPLES

from tt_debugger.core.fork.operation import Operation
from tt_debugger.storage.operations import Operations

Ask = Callable[..., Any]
README = (SAMPLES.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\$ (ttdbg fork .*)$", README, re.MULTILINE)
RESUMED_BY = {
    "pi.jsonl": "cd /home/dev/notekeeper && pi --session ",
    "tau.jsonl": "cd /home/dev/ledger && tau --session ",
    "claude-code.jsonl": "cd /home/dev/shop && claude --resume ",
    "codex.jsonl": "cd /home/dev/bookings && codex resume ",
    "langgraph.sqlite": "config = ",
    "checkpoints.sqlite": "thread_id = ",
    "shop.git": "git -C ",
}
"""How what is typed to go on begins, by the sample of an example."""


@pytest.fixture(autouse=True)
def _own_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sessions"
    made.mkdir()
    return made


@pytest.fixture
def session(folder: Path) -> Path:
    path = folder / "talk.jsonl"
    path.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv/app"},
            pi("aaaa", None, user("hello")),
            pi("bbbb", "aaaa", assistant("I look.", "c1")),
            pi("cccc", "bbbb", result("c1", "found")),
            pi("dddd", "cccc", assistant("It is there.")),
        )
    )
    return path


def result(call: str, text: str) -> dict[str, Any]:
    block = {"type": "text", "text": text}
    return {"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": [block]}


def texts(ttdbg: Ask, ref: str) -> list[str]:
    """Give what the messages of a state say."""
    messages = ttdbg("show", ref, "--json").json["state"]["messages"]
    contents = (each["content"] for each in messages)
    return [
        each if isinstance(each, str) else " ".join(block.get("text", "*") for block in each)
        for each in contents
    ]


def test_a_fork_says_where_it_is_and_how_to_go_on(ttdbg: Ask, session: Path):
    before = session.read_bytes()

    answer = ttdbg("fork", session, "--message", "and now?")

    ref, command = answer.out.splitlines()
    path = ref.partition("#")[0]
    assert (answer.code, command) == (0, f"cd /srv/app && pi --session {path}")
    assert texts(ttdbg, ref) == ["hello", "I look. *", "found", "It is there.", "and now?"]
    assert session.read_bytes() == before
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert re.search(r"`ttdbg undo [0-9a-f]{8}` takes it back", answer.err)


def test_json_gives_the_records_and_a_ref_that_show_takes(ttdbg: Ask, session: Path):
    given = ttdbg("fork", f"{session}#aaaa", "--json", "--note", "why not").json

    written = [json.loads(line) for line in Path(given["location"]).read_text().splitlines()]
    assert given["ttdbg"] == 1
    assert given["records"] == written
    assert given["how"][1] == "kept"
    assert written[-1]["data"]["note"] == "why not"
    assert texts(ttdbg, given["ref"]) == ["hello"]
    assert shlex.split(given["resume_command"])[-1] == given["location"]


def test_a_dry_run_shows_the_records_and_writes_nothing(ttdbg: Ask, session: Path, folder: Path):
    told = ttdbg("fork", session, "--dry-run", "--message", "and now?")
    given = ttdbg("fork", session, "--dry-run", "--json").json

    assert told.code == 0
    assert "and now?" in told.out
    assert "new file" in told.out
    assert given["operation"] is None
    assert list(folder.iterdir()) == [session]
    assert ttdbg("undo").code == 2


def test_edits_are_made_one_after_the_other(ttdbg: Ask, session: Path):
    given = ttdbg(
        *("fork", session, "--json"),
        *("--set", 'messages[0].content="good day"'),
        *("--set", f"messages[-]={json.dumps(user('more'))}"),
        *("--drop", "messages[2]", "--drop", "messages[1]"),
    ).json

    assert texts(ttdbg, given["ref"]) == ["good day", "It is there.", "more"]


def test_a_call_is_kept_with_its_result(ttdbg: Ask, session: Path):
    answer = ttdbg("fork", f"{session}#bbbb", "--json")

    assert (
        "a tool call is kept with its result: forking at cccc instead of bbbb; bbbb~ is before"
        in answer.err
    )
    assert texts(ttdbg, answer.json["ref"]) == ["hello", "I look. *", "found"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--set", "messages[0]"], 2, "has no ="),
        (["--set", "messages[0]=x"], 2, "is no JSON"),
        (["--set", "messages[9].content=1"], 2, "there is no 9 in messages: it has 4 items"),
        (["--drop", "nowhere"], 2, "there is no nowhere in the state"),
        (["--drop", "messages[1]"], 2, "parts a tool call from its result"),
        (["--set", 'usage="none"'], 4, "usage"),
        (["--set", "messges=[]"], 4, "messges"),
        (["--drop", 'messages["\\q"]'], 2, "is no path"),
        (["--drop", f"messages[{'9' * 5000}]"], 2, "is no path"),
        (["--drop", f"/messages/{'9' * 5000}"], 2, "in messages"),
        (["--to", "postgresql://me:geheim@127.0.0.1:1/db"], 2, "cannot be written to a server"),
        (["--as", "pi", "--to", "redis://:geheim@h/0"], 2, "cannot be written to a server"),
        (["--to", ""], 2, "has no name"),
        (["--message", "\udcff"], 2, "half a character"),
        (["--note", "\udcff"], 2, "half a character"),
        (["--to", "x\udcff.jsonl"], 2, "half a character"),
        (["--drop", "model"], 4, "model"),
        (["--drop", "messages"], 2, "taken away as a whole"),
        (["--to", "a" * 300], 2, "no file can stand at"),
        (["--to", "x.jsonl.zst"], 2, "is not compressed"),
        (["--edit"], 2, "needs a terminal"),
        (["--as", "emacs"], 2, "cannot be written as 'emacs'"),
        (["--as", "tau", "--in-place"], 2, "cannot be a branch in this one"),
        (["--to", "."], 0, ""),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_written(
    ttdbg: Ask,
    session: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
):
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for each in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(each, raising=False)

    answer = ttdbg("fork", session, *arguments)

    assert (answer.code, said in answer.err) == (code, True)
    assert "geheim" not in answer.err + answer.out
    assert list(folder.iterdir()) == [session]
    assert len(list(elsewhere.iterdir())) == (1 if code == 0 else 0)


def test_a_name_that_is_taken_stays_what_it_is(ttdbg: Ask, session: Path, folder: Path):
    taken = folder / "taken.jsonl"
    taken.write_text("mine\n")

    answer = ttdbg("fork", session, "--to", taken)

    assert (answer.code, taken.read_text()) == (2, "mine\n")
    assert "is there already" in answer.err


def test_formats_without_forks_say_so(ttdbg: Ask):
    answer = ttdbg("fork", SAMPLES / "gemini.jsonl")

    assert answer.code == 4
    assert "cannot fork sessions of the format gemini" in answer.err


def test_a_state_that_would_name_another_session_is_refused(ttdbg: Ask, folder: Path):
    path = folder / "state.json"
    path.write_text('{"iterations": 1, "status": "running", "short_term_memory": {}}')

    answer = ttdbg("fork", path, "--set", 'session_id="x"', "--to", folder / "other.json")

    assert answer.code == 4
    assert "would be read as those of another session" in answer.err
    assert list(folder.iterdir()) == [path]


def test_a_branch_in_place_is_a_branch_of_the_session(ttdbg: Ask, session: Path):
    before = session.read_bytes()

    given = ttdbg("fork", f"{session}#cccc", "--in-place", "--message", "no", "--json").json

    assert session.read_bytes().startswith(before)
    log = ttdbg("log", session, "--json").json
    assert len(log["leaves"]) == 2
    assert given["ref"].endswith(log["active_leaf"])
    ttdbg("undo")
    assert session.read_bytes() == before


def test_undo_takes_back_the_last_fork_or_the_one_named(ttdbg: Ask, session: Path, folder: Path):
    first, second = (ttdbg("fork", session, "--json").json for _ in range(2))

    undone = ttdbg("undo", "--json").json
    assert undone["undone"] == second["operation"]
    assert {each.name for each in folder.iterdir()} == {
        session.name,
        Path(first["location"]).name,
    }
    assert ttdbg("undo", first["operation"][:4]).code == 0
    assert list(folder.iterdir()) == [session]
    assert ttdbg("undo", first["operation"]).code == 2
    states = [each["state"] for each in ttdbg("undo", "--list", "--json").json["operations"]]
    assert states == ["undone", "undone"]


def test_undo_refuses_what_an_agent_went_on_from(ttdbg: Ask, session: Path):
    fork = Path(ttdbg("fork", session, "--json").json["location"])
    with fork.open("ab") as file:
        file.write(b'{"type":"message","id":"eeee"}\n')

    answer = ttdbg("undo")

    assert answer.code == 2
    assert "has changed since" in answer.err
    assert fork.exists()


def test_what_is_said_to_another_agent_needs_no_form_of_this_one(ttdbg: Ask, tmp_path: Path):
    given = ttdbg(
        *("fork", SAMPLES / "gemini.jsonl", "--as", "claude", "--to", f"{tmp_path}/"),
        *("--message", "go on, please", "--json"),
    ).json

    assert texts(ttdbg, given["ref"])[-1] == "go on, please"


def test_no_byte_of_content_reaches_the_terminal_raw(ttdbg: Ask, folder: Path):
    path = folder / "s.jsonl"
    path.write_bytes(
        jsonl(PI_HEADER | {"cwd": "/x\x1b[31my\nz\u202e"}, pi("aaaa", None, user("hi")))
    )

    for more in ([], ["--dry-run"], ["--json"], ["--as", "tau", "--to", f"{folder}/"]):
        answer = ttdbg("fork", path, *more)
        assert answer.code == 0
        assert not set("\x1b\u202e") & set(answer.out + answer.err)


def test_another_agent_is_told_what_was_said(ttdbg: Ask, session: Path, folder: Path):
    given = ttdbg("fork", session, "--as", "claude", "--to", f"{folder}/", "--json").json

    log = ttdbg("log", given["location"], "--json").json
    assert log["format"] == "claude_code"
    assert texts(ttdbg, given["ref"])[-1] == "It is there."


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes an editor of a sed script."""

    def make(script: str) -> None:
        program = tmp_path / "editor"
        program.write_text(f'#!/bin/sh\nsleep 0.01; sed -i {shlex.quote(script)} "$1"\n')
        program.chmod(0o755)
        monkeypatch.setenv("VISUAL", str(program))

    return make


@pytest.mark.skipif(shutil.which("sed") is None, reason="the editor of the test is sed")
def test_an_editor_edits_the_message_of_the_checkpoint(
    ttdbg: Ask, session: Path, editor: Callable[[str], None]
):
    editor("s/hello/good morning/")

    given = ttdbg("fork", f"{session}#aaaa", "--edit", "--json").json

    assert texts(ttdbg, given["ref"]) == ["good morning"]


@pytest.mark.skipif(shutil.which("sed") is None, reason="the editor of the test is sed")
def test_what_an_editor_breaks_is_not_written(
    ttdbg: Ask, session: Path, folder: Path, editor: Callable[[str], None]
):
    editor("s/{/(/")

    answer = ttdbg("fork", f"{session}#aaaa", "--edit")

    assert (answer.code, list(folder.iterdir())) == (2, [session])
    assert "no JSON" in answer.err


def samples(folder: Path) -> Iterator[tuple[str, bytes]]:
    for each in sorted(folder.rglob("*")):
        if each.is_file():
            yield str(each.relative_to(folder)), each.read_bytes()


@pytest.mark.parametrize("line", EXAMPLES, ids=[each.split()[2] for each in EXAMPLES])
def test_the_examples_of_readme_do_what_it_says(
    ttdbg: Ask, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(SAMPLES, tmp_path / "sample_sessions", ignore=shutil.ignore_patterns("*.py"))
    monkeypatch.chdir(tmp_path)
    before = dict(samples(tmp_path / "sample_sessions"))
    words = shlex.split(line)
    (name,) = (each for each in RESUMED_BY if f"/{each}" in words[2])

    answer = ttdbg(*words[1:])

    assert answer.code == 0, answer.err
    ref, command = answer.out.splitlines()[:2]
    assert command.startswith(RESUMED_BY[name])
    assert ttdbg("show", ref).code == 0
    after = dict(samples(tmp_path / "sample_sessions"))
    same = {each for each in before if after.get(each) == before[each]}
    # Rows come into the database itself; all else is as it was.
    assert set(before) - same <= {name}
    assert ttdbg("undo").code == 0
    if not name.endswith((".git", ".sqlite")):
        assert dict(samples(tmp_path / "sample_sessions")) == before


def test_readme_has_an_example_for_each_agent_that_can_be_resumed():
    assert {name for name in RESUMED_BY for line in EXAMPLES if f"/{name}" in line} == set(
        RESUMED_BY
    )


@pytest.mark.skipif(shutil.which("sh") is None, reason="commands are for a shell")
@pytest.mark.parametrize(
    "cwd", ["/a b", "/\x1b[1m\u202e\n/x", "/$(touch x)", "/it's", "-n", "/a;b", "/b`ls`"]
)
def test_a_command_to_resume_is_one_line_that_a_shell_takes_as_meant(
    ttdbg: Ask, folder: Path, tmp_path: Path, cwd: str
):
    path = folder / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER | {"cwd": cwd}, pi("aaaa", None, user("hi"))))

    command = ttdbg("fork", path, "--json").json["resume_command"]

    assert command.isascii()
    assert command.isprintable()
    # `cd` and the agent are stood in for by what says what it was given.
    told = 'printf "%s\\0" "$@"'
    script = f"cd() {{ {told}; }}; pi() {{ {told}; }}; {command}"
    said = subprocess.run(  # noqa: S603 - the line under test
        ["/bin/sh", "-c", script], capture_output=True, check=True, cwd=tmp_path
    )
    words = said.stdout.decode().split("\0")
    assert [each for each in words if each != "--"][:2] == [cwd, "--session"]
    assert not (tmp_path / "x").exists()


def test_undo_says_which_later_forks_it_passes_over(ttdbg: Ask, session: Path, folder: Path):
    made = ttdbg("fork", session, "--json").json
    unfinished = Operation(
        id="abcdef01",
        time=4e9,
        origin=f"{session}#dddd",
        location=str(folder / "half.jsonl"),
        session="half",
        point="p",
        resume_command="pi",
    )
    Operations().begin(unfinished)

    answer = ttdbg("undo", "--json")

    assert answer.json["undone"] == made["operation"]
    assert "abcdef01 was made later but never finished" in answer.err
    assert ttdbg("undo", "abcdef01").code == 2


def test_lines_of_the_log_that_cannot_be_read_are_counted(
    ttdbg: Ask, session: Path, tmp_path: Path
):
    ttdbg("fork", session)
    (log,) = (tmp_path / "state").rglob("operations.jsonl")
    with log.open("ab") as file:
        file.write(b"{broken\n")

    answer = ttdbg("undo", "--list")

    assert "1 line of the operation log cannot be read" in answer.err
