"""The two streams: data on stdout, all else on stderr, whatever they lead to."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl
from hostile_files import SAMPLES, pi, said, tau_said
from hypothesis import given
from hypothesis import strategies as st
from terminal import LINES, PIPE, plain, run, transgressions

from tt_debugger.cli.main import main

Ask = Callable[..., Any]
PI = str(SAMPLES / "pi.jsonl")
TAU = str(SAMPLES / "tau.jsonl")


def process(
    *arguments: str | bytes, stdout: Any = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run `ttdbg` as a process of its own, warnings being errors."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-m", "tt_debugger", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        check=False,
        timeout=60,
    )


# --- Pipes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["log"], ["replay", "--json", "--states"], ["--help"]])
def test_a_reader_that_goes_away_ends_it_quietly_with_0(command: list[str]) -> None:
    arguments = command if command == ["--help"] else [*command, PI]
    read, write = os.pipe()
    os.close(read)
    try:
        ran = process(*arguments, stdout=write)
    finally:
        os.close(write)

    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_reader_that_goes_away_in_the_middle_ends_it_quietly_with_0() -> None:
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "tt_debugger", "replay", PI, "--json", "--states"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        first = running.stdout.readline()
        running.stdout.close()
        said_on_stderr = running.stderr.read()

    assert json.loads(first)["ttdbg"] == 1
    assert (running.returncode, said_on_stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_an_error_in_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        ran = process("log", PI, stdout=full)

    assert (ran.returncode, ran.stderr) == (
        3,
        b"ttdbg: cannot write the answer: No space left on device\n",
    )


@pytest.mark.parametrize(("closed", "command"), [(1, "log"), (2, "log"), (2, "nope")])
def test_a_stream_that_is_closed_is_written_to_without_complaint(
    closed: int, command: str
) -> None:
    script = f'exec "$0" -m tt_debugger {command} "$1" {closed}>&-'
    ran = subprocess.run(  # noqa: S603 - our own program
        ["sh", "-c", script, sys.executable, PI],  # noqa: S607 - wherever it is
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert (ran.returncode, ran.stderr) == (2 if command == "nope" else 0, b"")


# --- Encodings -----------------------------------------------------------------------------------

ODD = "é → 日本 🙂 ½"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    file = tmp_path / "a.jsonl"
    file.write_bytes(pi(said("a", None, ODD), said("b", "a"), said("c", "a"), said("d", "c")))
    return file


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_any_encoding(ttdbg: Ask, odd: Path, encoding: str) -> None:
    ran = process("show", str(odd), "--json", PYTHONIOENCODING=encoding)

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert json.loads(ran.stdout.decode(encoding)) == ttdbg("show", odd, "--json").json
    assert json.loads(ran.stdout)["state"]["messages"][0]["content"][0]["text"] == ODD


def test_an_ascii_stream_gets_ascii_lanes_and_signs_and_escapes_what_it_cannot_show(
    odd: Path,
) -> None:
    ran = process("log", str(odd), PYTHONIOENCODING="ascii")

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.decode("ascii").splitlines() == [
        r"a 1 * user         \xe9 \u2192 \u65e5\u672c \U0001f642 \xbd Y 2",
        "b 2 |-* user         text",
        "c 3 * user         text",
        "d 4 * user         text @",
    ]


@pytest.mark.parametrize("command", ["log", "show", "replay", "doctor", "formats", "--help"])
def test_every_command_works_in_ascii_on_a_pipe_and_in_a_terminal(command: str) -> None:
    arguments = [command] if command in ("formats", "--help") else [command, PI]
    ran = process(*arguments, PYTHONIOENCODING="ascii")
    code, received = run(arguments, environment={"PYTHONIOENCODING": "ascii"})

    assert (ran.returncode, ran.stderr, code) == (0, b"", 0)
    assert ran.stdout.isascii()
    assert received.isascii()
    assert transgressions(received, LINES) == []


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are Linux's")
@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("content", [pi(said("a", None)), jsonl(tau_said("a", None))])
def test_a_file_name_that_is_no_utf_8_opens(
    ttdbg: Ask, tmp_path: Path, content: bytes, options: list[str]
) -> None:
    file = tmp_path / os.fsdecode(b"a\xff.jsonl")
    file.write_bytes(content)

    for command in ("log", "show", "replay", "doctor"):
        answer = ttdbg(command, file, *options)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.encode()
    answer = ttdbg("log", file, "--json").json
    assert answer["location"] == str(tmp_path / "a\ufffd.jsonl")
    assert ttdbg("show", f"{file}#nope").code == 2


# --- What terminals obey -------------------------------------------------------------------------


def test_a_pipe_gets_no_escape_even_where_colours_are_forced() -> None:
    ran = process("show", PI, FORCE_COLOR="1", CLICOLOR_FORCE="1", TTY_COMPATIBLE="1")

    assert transgressions(ran.stdout, PIPE) == []


def test_json_escapes_what_a_terminal_would_obey_and_reads_back_the_same(
    ttdbg: Ask, tmp_path: Path
) -> None:
    steering = "".join(
        map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x200B, 0x202E, 0x2028, 0xE0049))
    )
    file = tmp_path / "a.jsonl"
    file.write_bytes(pi(said("a", None, steering)))
    answer = ttdbg("show", file, "--json")

    assert transgressions(answer.out.encode(), PIPE) == []
    assert answer.json["state"]["messages"][0]["content"][0]["text"] == steering


ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("\x1b\x9b\x07\r\n\0[]m;\u0301\u202e\u200b\u2028\ufeff\ud83c\U000e0049"),
    ),
    max_size=40,
)


@given(texts=st.lists(ANY_TEXT, min_size=6, max_size=6))
def test_no_text_at_any_place_of_an_entry_acts_on_a_terminal(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    own, label, title, name, key, text = texts
    call = {"type": "toolCall", "id": own, "name": name, "arguments": {key: text, name: [title]}}
    file = tmp_path_factory.getbasetemp() / "any-text.jsonl"
    file.write_bytes(
        pi(
            said(own, None, text),
            said("a", own) | {"message": {"role": "assistant", "content": [call]}},
            {"type": "label", "id": "b", "parentId": "a", "targetId": own, "label": label},
            {"type": "session_info", "id": "c", "parentId": "b", "name": title},
            {"type": name, "id": "d", "parentId": "c", key: text},
            {
                "type": "custom",
                "id": "e",
                "parentId": "d",
                "customType": name,
                "data": {key: text},
            },
        )
    )
    for arguments in (["log"], ["replay", "--states"], ["show", "--resume"], ["doctor"]):
        for location in (f"{file}", f"{file}#a"):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main([arguments[0], location, *arguments[1:]])
            assert transgressions(out.getvalue().encode(), PIPE) == []
            assert transgressions(err.getvalue().encode(), PIPE) == []
            assert "this is a bug" not in err.getvalue()


@pytest.mark.parametrize("columns", [20, 80, 200])
@pytest.mark.parametrize("sample", [PI, TAU])
def test_in_a_terminal_no_row_of_log_is_wider_than_the_terminal(sample: str, columns: int) -> None:
    code, received = run(["log", sample], columns=columns)

    assert code == 0
    assert {len(line) for line in plain(received).splitlines()} == {columns}


def test_in_a_terminal_signs_are_coloured_and_what_was_said_has_the_terminals_own_colour(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(pi(said("a", None, "hello")))
    _, received = run(["log", str(file)], columns=30)

    assert received == (
        b"\x1b[33ma \x1b[0m\x1b[2m1 \x1b[0m\x1b[1;34m\xe2\x97\x8f\x1b[0m \x1b[1;34muser    \x1b[0m"
        b" hello        \x1b[1;34m@ \x1b[0m\r\n"
    )


def test_no_color_leaves_no_colour_and_a_dumb_terminal_gets_no_escape() -> None:
    _, without_colour = run(["log", PI], environment={"NO_COLOR": "1"})
    _, dumb = run(["log", PI], environment={"TERM": "dumb"})

    assert transgressions(without_colour, LINES._replace(csi=(r"[0123]?(;[123])*m",))) == []
    assert transgressions(dumb, PIPE._replace(controls="\r\n")) == []


def test_what_a_pipe_gets_is_what_a_terminal_shows(ttdbg: Ask) -> None:
    asked = (["show", PI], ["replay", f"{PI}#@~9..@", "--states"], ["doctor", PI], ["formats"])
    _, received = run(*asked, columns=300)

    assert plain(received) == "".join(ttdbg(*each).out for each in asked)


def test_a_terminal_gets_narration_without_an_escape_of_its_own(tmp_path: Path) -> None:
    code, received = run(["log", str(tmp_path / "a\x1b]0;P\x07\u202e.jsonl")])

    assert code == 3
    assert transgressions(received, PIPE._replace(controls="\r\n")) == []


# --- Completion ----------------------------------------------------------------------------------


def test_the_shell_completes_commands_and_options() -> None:
    asked = {"_TTDBG_COMPLETE": "bash_complete", "COMP_WORDS": "ttdbg sho", "COMP_CWORD": "1"}
    ran = process(**asked)
    assert ran.stdout.decode().splitlines() == ["plain,show"]

    ran = process(**asked | {"COMP_WORDS": "ttdbg show --re", "COMP_CWORD": "2"})
    assert ran.stdout.decode().splitlines() == ["plain,--resume"]
