"""`-` is what was piped in, for every command; nothing of it stays behind."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_files import SAMPLES, pi, said

PI = SAMPLES / "pi.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The current folder, in which temporary files would lie too."""
    made = tmp_path / "here"
    made.mkdir()
    return made


def ran(folder: Path, data: bytes, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tt_debugger", *arguments],
        input=data,
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment(folder),
        start_new_session=True,
        timeout=60,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def environment(folder: Path) -> dict[str, str]:
    state = str(folder.with_name("state"))
    return os.environ | {"TMPDIR": str(folder), "XDG_STATE_HOME": state}


@pytest.mark.parametrize(
    "command",
    [
        ["log"],
        ["log", "--json"],
        ["show"],
        ["show", "--json"],
        ["replay", "--json", "--states"],
        ["doctor"],
        ["doctor", "--json"],
        ["formats"],
        ["formats", "--json"],
    ],
)
def test_what_is_piped_in_is_answered_as_the_file_would_be(
    folder: Path, command: list[str]
) -> None:
    name, *options = command
    (folder / "s.jsonl").write_bytes(PI.read_bytes())
    code, out, err = ran(folder, b"", name, "s.jsonl", *options)

    assert ran(folder, PI.read_bytes(), name, "-", *options) == (
        code,
        out.replace('"location":"s.jsonl"', '"location":"-"'),
        err,
    )
    assert [each.name for each in folder.iterdir()] == ["s.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "row"),
    [
        (["show", "-#row=3", "--json"], 3),
        (["show", "--json", "-#row=3"], 3),
        (["show", "--json", "--", "-#row=3"], 3),
        (["show", "-#@~", "--json"], 62),
    ],
)
def test_a_ref_into_stdin_is_no_option(folder: Path, arguments: list[str], row: int) -> None:
    code, out, _ = ran(folder, PI.read_bytes(), *arguments)

    assert (code, json.loads(out)["checkpoint"]["row"]) == (0, row)


def test_what_is_piped_in_is_compared_with_a_file_and_with_itself(folder: Path) -> None:
    piped = PI.read_bytes()

    assert ran(folder, piped, "diff", str(PI), "-")[0] == 0
    assert ran(folder, piped, "diff", "-", str(PI))[0] == 0
    assert ran(folder, piped, "diff", "-#row=2", "#row=9", "--json")[0] == 1


def test_a_file_named_like_stdin_opens_by_its_path(folder: Path) -> None:
    (folder / "-").write_bytes(pi(said("file", None)))
    piped = pi(said("piped", None))

    assert ids(ran(folder, piped, "log", "./-", "--json")[1]) == ["file"]
    assert ids(ran(folder, piped, "log", "-", "--json")[1]) == ["piped"]
    assert (
        json.loads(ran(folder, piped, "show", "-#@", "--json")[1])["checkpoint"]["id"] == "piped"
    )


def ids(out: str) -> list[str]:
    return [each["id"] for each in json.loads(out)["checkpoints"]]


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"", 0, "- holds no checkpoints"),
        (gzip.compress(PI.read_bytes()), 3, "ttdbg: cannot read -: it is gzip-compressed"),
        (b"# Notes\n", 3, "ttdbg: cannot read -: no format recognises it"),
    ],
)
def test_what_is_no_session_is_said_of_stdin_too(
    folder: Path, data: bytes, code: int, says: str
) -> None:
    ended, out, err = ran(folder, data, "log", "-")

    assert (ended, out, err.splitlines()[0]) == (code, "", says)
    assert list(folder.iterdir()) == []


def test_without_a_terminal_the_ui_does_not_open(folder: Path) -> None:
    assert ran(folder, PI.read_bytes(), "open", "-") == (
        2,
        "",
        (
            "ttdbg: `ttdbg open` needs a terminal\n"
            "hint: for a pipe, use `ttdbg log` or `ttdbg show`\n"
        ),
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_ends_it_while_it_reads_leaves_nothing_behind(
    folder: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tt_debugger", "log", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(folder),
    ) as reading:
        assert reading.stdin is not None
        # More than a pipe holds: when this is written, it is being read.
        reading.stdin.write(b"x" * (1 << 20))
        reading.stdin.flush()
        reading.send_signal(number)
        code = reading.wait(30)

    assert code in {130, -number}
    assert list(folder.iterdir()) == []
