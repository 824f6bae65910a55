"""Who has a session open: the processes of this machine, as far as it tells of them.

Linux is asked in `/proc`, and other systems by `lsof` where that is installed. Elsewhere nothing
is known: that nobody is named does not say that there is nobody, and processes of other users are
seen by their owners alone. Some agents open their file only while they add to it; they are known
by their program and the folder that they work in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

ANSWERED_WITHIN = 5
"""Seconds that `lsof` and `ps` are waited for."""

_PROCESSES = Path("/proc")
_INTERPRETERS = frozenset(("node", "bun", "deno", "python", "pypy"))
_GIVEN_CODE = frozenset(("-c", "-e", "--eval", "-p", "--print", "-"))
_SCRIPT_ENDINGS = frozenset((".js", ".mjs", ".cjs", ".ts", ".py", ".exe"))


class Holder(msgspec.Struct, frozen=True, order=True):
    """A process, and the name of the program that it runs."""

    pid: int
    program: str


def holders(path: str) -> tuple[Holder, ...]:
    """Give the processes that have a file open, without this one."""
    real = os.path.realpath(path)
    if _tells():
        found = [pid for pid in _pids() if real in _open_files(pid)]
    else:
        found = [pid for pid, _ in _lsof("--", real)]
    return tuple(Holder(pid, next(iter(_names(pid)), "?")) for pid in _others(found))


def running(programs: Collection[str], cwd: str) -> tuple[Holder, ...]:
    """Give the processes of some programs that work in a folder, without this one."""
    real = os.path.realpath(cwd)
    if _tells():
        found = [pid for pid in _pids() if _link(f"{_PROCESSES}/{pid}/cwd") == real]
    else:
        found = [pid for pid, folder in _lsof("-d", "cwd") if folder == real]
    names = (
        (pid, next((name for name in _names(pid) if name in programs), None))
        for pid in _others(found)
    )
    return tuple(Holder(pid, name) for pid, name in names if name)


def _tells() -> bool:
    return (_PROCESSES / "self" / "fd").is_dir()


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROCESSES) if name.isdecimal()]  # noqa: PTH208 - names are enough, and cheaper


def _others(pids: list[int]) -> list[int]:
    return sorted({*pids} - {os.getpid()})


def _open_files(pid: int) -> Iterator[str]:
    folder = f"{_PROCESSES}/{pid}/fd"
    # A process ends, or is another user's: it is passed over.
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - names are enough, and cheaper
            yield _link(f"{folder}/{name}")


def _link(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - there are thousands
    except OSError:
        return ""


def _names(pid: int) -> list[str]:
    """Give the names that a process may be known by, the one that says most first."""
    folder = _PROCESSES / str(pid)
    words = _words(pid)
    called = _name(_without_title(words[0])) if words else ""
    names = [called, _name(_link(f"{folder}/exe"))]
    with suppress(OSError):
        names.append((folder / "comm").read_text(errors="replace").strip())
    if called.rstrip("0123456789.") in _INTERPRETERS:
        names.insert(0, _script(words[1:]))
    return [name for name in dict.fromkeys(names) if name]


def _words(pid: int) -> list[str]:
    """Give the command of a process."""
    if not _tells():
        return _said("ps", "-o", "args=", "-p", str(pid)).split()
    with suppress(OSError):
        command = (_PROCESSES / str(pid) / "cmdline").read_bytes()
        return command.decode(errors="replace").split("\0")
    return []


def _without_title(called: str) -> str:
    """Give what a program is called without the words that it shows behind its name."""
    return called if called.startswith("/") else next(iter(called.split()), "")


def _script(words: list[str]) -> str:
    """Give the name of what an interpreter runs, empty where that is no file or module."""
    for word in words:
        if word in _GIVEN_CODE:
            return ""
        if word[:1] != "-":
            return _name(word)
    return ""


def _name(path: str) -> str:
    """Give the last part of a path, without what tells only of its language."""
    stem, ending = os.path.splitext(Path(path).name)  # noqa: PTH122 - a name, not a path
    return stem if ending in _SCRIPT_ENDINGS else Path(path).name


def _lsof(*what: str) -> Iterator[tuple[int, str]]:
    """Give the process and the name of each open file that is asked for."""
    pid = 0
    for line in _said("lsof", "-w", "-n", "-P", "-F", "pn", *what).split("\n"):
        if line.startswith("p") and line[1:].isdecimal():
            pid = int(line[1:])
        elif line.startswith("n"):
            yield pid, line[1:]


def _said(name: str, *arguments: str) -> str:
    """Give what a program of the system says, nothing where it is not there."""
    program = shutil.which(name)
    if program is None:
        return ""
    try:
        answer = subprocess.run(  # noqa: S603 - lsof and ps alone, with arguments of ours
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWERED_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace")
