"""Large and strange inputs, made at run time, and what it costs to open or refuse them.

`python tests/limits.py` makes all of them, with a line of one gigabyte, and prints what each
command took. Everything is deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hostile_files import pi, said

MIB = 1 << 20
LONGEST_WAIT = 240
HOLE = 1 << 40
COMMANDS = (
    ("log", "--json"),
    ("show", "--json"),
    ("replay", "--json"),
    ("doctor", "--deep", "--json"),
)

MEASURED = """
import gc, json, re, sys, time
from tt_debugger.cli.main import main

for arguments in json.loads(sys.argv[1]):
    gc.collect()
    with open("/proc/self/clear_refs", "w") as peaks:
        peaks.write("5")
    before = time.process_time()
    code = main(arguments)
    sys.stdout.flush()
    seconds = time.process_time() - before
    # Not ru_maxrss: that begins with what the process took that this one was started from.
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    sys.stdout.write(json.dumps([code, seconds, peak]) + "\\0")
    print("\\0", file=sys.stderr)
"""
"""Runs commands one after the other; what each wrote ends with its figures."""


class Cost(NamedTuple):
    """What a command answered, what it said last on stderr, and what it took."""

    code: int
    seconds: float
    peak: int
    out: str
    said: str


def costs(
    folder: Path, location: Path, commands: Sequence[Sequence[str]] = COMMANDS
) -> list[Cost]:
    """Run commands on a location in a process of their own.

    One before them is not counted: it bears the cost of the imports.
    """
    warm = folder / "warm.jsonl"
    warm.write_bytes(pi(said("a", None)))
    asked = [["doctor", str(warm), "--deep", "--json"]]
    asked += [[command, str(location), *options] for command, *options in commands]
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", MEASURED, json.dumps(asked)],
        capture_output=True,
        env=os.environ | {name: str(folder) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")},
        timeout=LONGEST_WAIT,
        check=True,
    )
    answers = ran.stdout.decode().split("\0")[1:-1]
    told = ran.stderr.decode().split("\0\n")[1:-1]
    return [_cost(*each) for each in zip(answers, told, strict=True)]


def _cost(answer: str, told: str) -> Cost:
    place = answer.rindex("[")
    code, seconds, peak = json.loads(answer[place:])
    return Cost(code, seconds, peak, answer[:place], (told.splitlines() or [""])[-1])


# --- Inputs --------------------------------------------------------------------------------------


def long_line(folder: Path, size: int = 200 * MIB) -> Path:
    """Make a session in which one record, in the middle, is far too long."""
    file = folder / "long.jsonl"
    block = b"x" * MIB
    with file.open("wb") as long:
        long.write(pi(said("a", None)))
        long.write(b'{"type":"message","id":"b","parentId":"a","message":{"content":"')
        for _ in range(size // MIB):
            long.write(block)
        long.write(b'"}}\n' + pi(said("c", "a")).split(b"\n", 1)[1])
    return file


def longest_record(folder: Path) -> Path:
    """Make a session with a record of a little less than the limit."""
    file = folder / "longest.jsonl"
    file.write_bytes(pi(said("a", None), said("b", "a", "y" * (63 * MIB)), said("c", "b")))
    return file


def sparse_end(folder: Path) -> Path:
    """Make a session behind which a terabyte was never written."""
    file = folder / "sparse-end.jsonl"
    file.write_bytes(pi(said("a", None), said("b", "a")))
    os.truncate(file, HOLE)
    return file


def sparse_middle(folder: Path) -> Path:
    """Make a session in the middle of which a terabyte was never written."""
    file = folder / "sparse-middle.jsonl"
    file.write_bytes(pi(said("a", None)))
    with file.open("r+b") as sparse:
        sparse.seek(HOLE)
        sparse.write(b"\n" + pi(said("b", "a")).split(b"\n", 1)[1])
    return file


def sparse_only(folder: Path) -> Path:
    """Make a file of a terabyte in which nothing was ever written."""
    file = folder / "sparse.jsonl"
    file.touch()
    os.truncate(file, HOLE)
    return file


def fifo(folder: Path) -> Path:
    """Make a named pipe that nobody writes to."""
    os.mkfifo(folder / "pipe.jsonl")
    return folder / "pipe.jsonl"


def link_to_device(folder: Path) -> Path:
    """Make a link to a device that never ends."""
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    return folder / "zero.jsonl"


def link_loop(folder: Path) -> Path:
    """Make a link to itself."""
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    return folder / "loop.jsonl"


def link_out(folder: Path) -> Path:
    """Make a link that leads out of its folder."""
    inside = folder / "inside"
    inside.mkdir()
    (folder / "outside.jsonl").write_bytes(pi(said("a", None)))
    (inside / "link.jsonl").symlink_to("../outside.jsonl")
    return inside / "link.jsonl"


def memory(folder: Path) -> Path:
    """Make a link to the memory of whatever reads it."""
    (folder / "mem.jsonl").symlink_to("/proc/self/mem")
    return folder / "mem.jsonl"


def dangling_link(folder: Path) -> Path:
    """Make a link to nothing."""
    (folder / "dangling.jsonl").symlink_to("nowhere.jsonl")
    return folder / "dangling.jsonl"


def empty_folder(folder: Path) -> Path:
    """Make a folder."""
    (folder / "empty").mkdir()
    return folder / "empty"


STRANGE: dict[str, Callable[[Path], Path]] = {
    "S01 FIFO": fifo,
    "S02 link to /dev/zero": link_to_device,
    "S03 link loop": link_loop,
    "S04 link out of the folder": link_out,
    "S05 link to /proc/self/mem": memory,
    "S06 dangling link": dangling_link,
    "S07 1 TB, nothing written": sparse_only,
    "S07 1 TB behind a session": sparse_end,
    "S07 1 TB in a session": sparse_middle,
    "S08 folder": empty_folder,
}
LARGE: dict[str, Callable[[Path], Path]] = {
    "B01 line of 1 GB": lambda folder: long_line(folder, 1024 * MIB),
    "record of 63 MB": longest_record,
}


# --- The command ---------------------------------------------------------------------------------


def main() -> int:
    """Open each strange and each large input with several commands; print what that took."""
    asked = argparse.ArgumentParser(description=main.__doc__)
    asked.add_argument("--only", default="", help="what the names of the inputs begin with")
    options = asked.parse_args()
    _say(f"{'input':<28}{'command':<26}{'exit':>5}{'CPU s':>9}{'peak MiB':>10}")
    for name, make in (*STRANGE.items(), *LARGE.items()):
        if not name.startswith(options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            took = costs(Path(folder), make(Path(folder)))
        for command, each in zip(COMMANDS, took, strict=True):
            numbers = f"{each.code:>5}{each.seconds:>9.3f}{each.peak / MIB:>10.0f}"
            _say(f"{name:<28}{' '.join(command):<26}{numbers}  {each.said[-60:]}")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
