"""Exit codes, and what is said on stderr beside them."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_files import pi, said

from tt_debugger import __version__
from tt_debugger.cli.main import main

Ask = Callable[..., Any]


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    file = tmp_path / "clean.jsonl"
    file.write_bytes(pi(said("a", None)))
    return file


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    file = tmp_path / "damaged.jsonl"
    file.write_bytes(pi(said("a", "missing"), "{"))
    return file


READING = [["log"], ["show"], ["replay"], ["show", "--resume"], ["log", "--json"]]


@pytest.mark.parametrize("command", READING)
def test_reading_a_clean_file_is_0_and_says_nothing_on_stderr(
    ttdbg: Ask, clean: Path, command: list[str]
) -> None:
    answer = ttdbg(*command, clean)

    assert (answer.code, answer.err) == (0, "")
    assert answer.out


@pytest.mark.parametrize("command", READING)
def test_reading_a_damaged_file_is_0_and_says_what_was_found_in_one_line_on_stderr(
    ttdbg: Ask, damaged: Path, command: list[str]
) -> None:
    answer = ttdbg(*command, damaged)

    assert answer.code == 0
    assert answer.err == f"{damaged}: 1 error, 1 warning; see `ttdbg doctor`\n"
    assert answer.out


def test_doctor_is_0_where_nothing_is_wrong(ttdbg: Ask, clean: Path) -> None:
    assert ttdbg("doctor", clean) == (
        0,
        "nothing found: 1 checkpoint, 212 of 212 bytes shown\n",
        "",
    )


def test_doctor_is_0_where_there_are_only_notes(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(pi(said("a", None)).removesuffix(b"\n"))

    assert ttdbg("doctor", file) == (
        0,
        (
            "note TT103  line 2, byte 87  the last record has no line end\n"
            "1 note: 1 checkpoint, 211 of 211 bytes shown\n"
        ),
        "",
    )


def test_doctor_is_1_where_there_is_an_error_or_a_warning(
    ttdbg: Ask, damaged: Path, tmp_path: Path
) -> None:
    warned = tmp_path / "warned.jsonl"
    warned.write_bytes(pi(said("a", "missing")))

    assert [ttdbg("doctor", each).code for each in (damaged, warned)] == [1, 1]
    assert ttdbg("doctor", damaged, "--json").code == 1


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \t\r\n"])
def test_a_file_that_holds_nothing_is_0_but_there_is_no_checkpoint_to_show(
    ttdbg: Ask, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)

    assert ttdbg("log", file) == (0, "", f"{file} holds no checkpoints\n")
    assert ttdbg("replay", file) == (0, "", "")
    assert ttdbg("doctor", file) == (
        0,
        f"nothing found: 0 checkpoints, {len(content)} of {len(content)} bytes shown\n",
        "",
    )
    assert ttdbg("show", file) == (
        2,
        "",
        "ttdbg: there is no active leaf: the session has no checkpoints\n",
    )


@pytest.mark.parametrize("command", ["log", "show", "replay", "doctor", "open"])
def test_a_missing_file_is_3(ttdbg: Ask, tmp_path: Path, command: str) -> None:
    file = tmp_path / "none.jsonl"

    assert ttdbg(command, file) == (
        3,
        "",
        f"ttdbg: cannot read {file}: there is no such file\n",
    )


@pytest.mark.parametrize("command", ["log", "show", "replay", "doctor", "open"])
def test_a_file_of_no_known_format_is_3(ttdbg: Ask, tmp_path: Path, command: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"some text\n")
    answer = ttdbg(command, file)

    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith(
        f"ttdbg: cannot read {file}: no format recognises it\nhint: known formats: "
    )


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["nope"], "No such command 'nope'.", "see `ttdbg --help`"),
        (["--nope"], "No such option '--nope'.", "see `ttdbg --help`"),
        (["log"], "Missing argument 'LOCATION[#SESSION:]'.", "see `ttdbg log --help`"),
        (["log", "a", "b"], "Got unexpected extra argument (b)", "see `ttdbg log --help`"),
        (["show", "a", "--states"], "No such option '--states'.", "see `ttdbg show --help`"),
        (
            ["show", "a", "--resume", "--uncompacted"],
            "--resume and --uncompacted exclude each other",
            None,
        ),
    ],
)
def test_wrong_usage_is_2_with_a_hint(
    ttdbg: Ask, arguments: list[str], message: str, hint: str | None
) -> None:
    answer = ttdbg(*arguments)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [f"ttdbg: {message}", *([f"hint: {hint}"] if hint else [])]


def test_without_a_command_the_help_is_given_on_stderr(ttdbg: Ask) -> None:
    answer = ttdbg()

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Usage: ttdbg [OPTIONS] [COMMAND] [ARGS]...\n\n")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command_on_stdout(ttdbg: Ask, option: str) -> None:
    answer = ttdbg(option)

    assert (answer.code, answer.err) == (0, "")
    listed = answer.out.partition("Commands:\n")[2].splitlines()
    assert [each.split()[0] for each in listed] == [
        "bisect",
        "blame",
        "diff",
        "doctor",
        "export",
        "fork",
        "formats",
        "grep",
        "log",
        "ls",
        "open",
        "replay",
        "show",
        "undo",
        "watch",
    ]
    for command in (each.split()[0] for each in listed):
        assert ttdbg(command, option).code == 0


def test_version_is_given_on_stdout(ttdbg: Ask) -> None:
    assert ttdbg("--version") == (0, f"ttdbg, version {__version__}\n", "")


def test_open_needs_a_terminal(ttdbg: Ask, clean: Path) -> None:
    assert ttdbg("open", clean) == (
        2,
        "",
        (
            "ttdbg: `ttdbg open` needs a terminal\n"
            "hint: for a pipe, use `ttdbg log` or `ttdbg show`\n"
        ),
    )


def test_open_takes_no_range(ttdbg: Ask, clean: Path) -> None:
    assert ttdbg("open", f"{clean}#root..@") == (
        2,
        "",
        "ttdbg: the UI opens at one point, not at a range\n",
    )


def test_an_interrupt_is_130_without_a_word(
    ttdbg: Ask, clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tt_debugger.debugger.Debugger.open", interrupt)

    assert ttdbg("log", clean) == (130, "", "")


def test_what_a_format_raises_is_an_error_that_names_the_format(
    ttdbg: Ask, clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a \x1b[2J surprise")

    monkeypatch.setattr("tt_debugger.formats.pi.Pi.load", fail)

    assert ttdbg("log", clean) == (
        3,
        "",
        (
            "ttdbg: the format pi failed: RuntimeError: a ␛[2J surprise\n"
            "hint: this is a bug; please report it with the output of `ttdbg doctor`\n"
        ),
    )


def test_python_m_tt_debugger_is_ttdbg(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clean: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["ttdbg", "log", str(clean)])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("tt_debugger", run_name="__main__")

    assert left.value.code == 0
    out, _ = capsys.readouterr()
    main(["log", str(clean)])
    assert capsys.readouterr().out == out
