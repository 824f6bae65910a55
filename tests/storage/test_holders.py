"""Holders: who has a file open, and who works in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tt_debugger.storage import holders as asked
from tt_debugger.storage.holders import Holder, holders, running

IS_LINUX = sys.platform == "linux"
on_linux = pytest.mark.skipif(not IS_LINUX, reason="processes are read from /proc here")

WAITS = (
    "import sys\nheld = [open(each, 'a') for each in sys.argv[1:]]\nprint(flush=True)\ninput()\n"
)


@contextmanager
def process(*command: str, cwd: Path) -> Iterator[int]:
    """Run a program that says when it is ready, and then waits."""
    with subprocess.Popen(  # noqa: S603 - our own programs
        command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        yield running.pid
        running.kill()


@on_linux
def test_a_program_that_has_a_file_open_holds_it_by_whatever_path(tmp_path: Path):
    script = tmp_path / "agent.py"
    script.write_text(WAITS)
    file = tmp_path / "s.jsonl"
    (tmp_path / "link").symlink_to(file)
    with process(sys.executable, str(script), "s.jsonl", cwd=tmp_path) as pid:
        assert holders(str(file)) == holders(f"{tmp_path}/link") == (Holder(pid, "agent"),)
        assert holders(str(script)) == ()
    assert holders(str(file)) == ()


@on_linux
def test_we_do_not_hold_what_we_have_open_ourselves(tmp_path: Path):
    with (tmp_path / "s.jsonl").open("w"):
        assert holders(f"{tmp_path}/s.jsonl") == ()


def test_a_file_that_is_not_there_is_held_by_nobody(tmp_path: Path):
    assert holders(f"{tmp_path}/missing") == ()


@on_linux
@pytest.mark.parametrize(
    ("file", "arguments", "name"),
    [
        ("pi", (), "pi"),
        ("agent.py", (), "agent"),
        ("claude", ("--resume", "pi"), "claude"),
    ],
)
def test_a_program_is_known_by_its_script_where_it_works(
    tmp_path: Path, file: str, arguments: tuple[str, ...], name: str
):
    script = tmp_path / file
    script.write_text("print(flush=True)\ninput()\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(".")
    with process(sys.executable, "-u", str(script), *arguments, cwd=tmp_path) as pid:
        found = (Holder(pid, name),)
        assert running({name, "other"}, str(tmp_path)) == found
        assert running([name], f"{tmp_path}/link") == found
        assert running({"codex"}, str(tmp_path)) == ()
        assert running({name}, f"{tmp_path}/elsewhere") == ()


@on_linux
def test_a_program_is_known_by_what_it_is_called_and_by_its_file(tmp_path: Path):
    (tmp_path / "tau").symlink_to(sys.executable)
    code = "print(flush=True); input()"
    with process(str(tmp_path / "tau"), "-c", code, "pi", cwd=tmp_path) as pid:
        assert running({"tau", "pi"}, str(tmp_path)) == (Holder(pid, "tau"),)
        real = Path(sys.executable).resolve().name
        assert running({real}, str(tmp_path)) == (Holder(pid, real),)


@on_linux
def test_asking_takes_no_time_that_one_would_notice(tmp_path: Path):
    def best(work: object) -> float:
        times: list[float] = []
        for _ in range(5):
            began = time.process_time()
            work()  # type: ignore[operator]
            times.append(time.process_time() - began)
        return min(times)

    assert best(lambda: holders(f"{tmp_path}/s.jsonl")) < 0.05
    assert best(lambda: running({"pi", "claude"}, str(tmp_path))) < 0.05


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/usr/bin/node", "/usr/local/bin/pi"], "pi"),
        (["node", "--no-warnings", "/x/claude.mjs", "tau"], "claude"),
        (["/venv/bin/python3.12", "-m", "tau"], "tau"),
        (["node", "-e", "pi"], "node"),
        (["pi"], "pi"),
        (["claude working on /a/b"], "claude"),
        (["/a/My Agents/pi"], "pi"),
        (["/a/My Agents/node", "/a/My Agents/pi.js"], "pi"),
        (["C:/x/codex.exe"], "codex"),
        ([], "?"),
    ],
)
def test_the_name_that_says_most_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], name: str
):
    (tmp_path / "self" / "fd").mkdir(parents=True)
    (tmp_path / "7" / "fd").mkdir(parents=True)
    (tmp_path / "7" / "cmdline").write_bytes("".join(f"{each}\0" for each in words).encode())
    (tmp_path / "7" / "fd" / "3").symlink_to("/a/s.jsonl")
    monkeypatch.setattr(asked, "_PROCESSES", tmp_path)

    assert holders("/a/s.jsonl") == (Holder(7, name),)


# Where there is no /proc.


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for programs of a system without /proc."""
    monkeypatch.setattr(asked, "_PROCESSES", tmp_path / "no proc")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def install(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.usefixtures("programs")
def test_without_proc_and_lsof_nobody_is_known():
    assert (holders("/a/s.jsonl"), running({"pi"}, "/a")) == ((), ())


def test_without_proc_lsof_and_ps_are_asked(programs: Path):
    own = os.getpid()
    install(programs, "ps", 'case "$4" in 7) echo node /x/bin/pi;; *) echo /x/tau --print;; esac')
    install(
        programs,
        "lsof",
        f"printf 'p{own}\\nf3\\nn/a\\np9\\nfcwd\\nn/a\\np7\\nfcwd\\nn/a\\np8\\nfcwd\\nn/b\\n'",
    )

    assert holders("/a") == (Holder(7, "pi"), Holder(8, "tau"), Holder(9, "tau"))
    assert running({"pi"}, "/a") == (Holder(7, "pi"),)
    assert running({"pi", "tau"}, "/a") == (Holder(7, "pi"), Holder(9, "tau"))


@pytest.mark.parametrize("script", ["exit 1", "echo nonsense; echo px; echo n", "sleep 10"])
def test_an_lsof_that_fails_says_that_nobody_is_known(
    programs: Path, monkeypatch: pytest.MonkeyPatch, script: str
):
    monkeypatch.setattr(asked, "ANSWERED_WITHIN", 0.2)
    install(programs, "lsof", f"PATH=/usr/bin:/bin; {script.replace('sleep', 'exec sleep')}")

    assert running({"pi"}, "/a") == ()
