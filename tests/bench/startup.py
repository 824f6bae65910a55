"""Start-up: `ttdbg log` on a file of ten lines, beside a Python that imports what any such needs.

All are run in turns, to a pipe, with the bytecode of every module at hand, as an installed
package has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Figure, median_ratio
from bench.programs import ENVIRONMENT, ROOT

LINES = 10
TURNS = 7
"""Runs of each in a round."""
MOST = 2.5
FLOOR = "import click, msgspec"


def startup(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time whole processes, from their start to their end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        sample = (ROOT / "sample_sessions" / "pi.jsonl").read_bytes()
        path.write_bytes(b"".join(sample.splitlines(keepends=True)[:LINES]))
        floor = ["-c", FLOOR]
        ours = {
            "ttdbg log": ["-m", "tt_debugger", "log", str(path)],
            "ttdbg log --json": ["-m", "tt_debugger", "log", "--json", str(path)],
        }
        environment = os.environ | ENVIRONMENT
        environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        for each in (floor, *ours.values()):
            _milliseconds(each, environment)
        floor_times: list[float] = []
        times: dict[str, list[float]] = {name: [] for name in ours}
        for _ in range(2 if quick else TURNS * rounds):
            floor_times.append(_milliseconds(floor, environment))
            for name, arguments in ours.items():
                times[name].append(_milliseconds(arguments, environment))
    name = f"start-up, {LINES} lines"
    yield Figure(name, f'python -c "{FLOOR}", median', median(floor_times), "ms")
    for what, taken in times.items():
        yield Figure(name, f"{what}, median", median(taken), "ms")
        yield Figure(name, f"{what} to that Python", median_ratio(taken, floor_times), "x", MOST)


def _milliseconds(arguments: list[str], environment: Mapping[str, str]) -> float:
    began = perf_counter()
    subprocess.run(  # noqa: S603 - the command is our own
        [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, check=True
    )
    return (perf_counter() - began) * 1000
