"""Grep: a text looked for in one long session, beside what `grep -c` takes for its file.

Each search is a whole process of its own, started as an installed command is, with its bytecode
at hand; and the search alone, in a process that has imported all it needs. All take turns.

python -m bench.grepping FILE TEXT prints the seconds of a search alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Figure, median_ratio
from bench.long_session import long_session
from bench.programs import ENVIRONMENT
from bench.sessions import marker

from tt_debugger.core.search import Query
from tt_debugger.debugger import Debugger

CHECKPOINTS = 100_000
MOST = 3.0
NOBODY_SAID, LONGER, ANY_CASE = "Zzebra", "Zzebra Crossing", "zzebra"


def grepping(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time what is found nowhere, what is found once, and what is looked for whatever its case.

    The longer a text, the more of a file `grep` leaps over. Without capitals case does not matter.
    """
    count = CHECKPOINTS // 10 if quick else CHECKPOINTS
    path = long_session(count)
    name = f"grep, {count:,} rows"
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        ours = [sys.executable, "-m", "tt_debugger", "grep"]
        cold = _seconds([*ours, NOBODY_SAID, str(path)], environment)
        start = [
            _seconds([*ours, NOBODY_SAID, str(long_session(10))], environment)
            for _ in range(rounds + 1)
        ]
        yield Figure(name, "the first time, nothing known of it", cold * 1000, "ms")
        yield Figure(name, "of a session of 10 rows", median(start[1:]) * 1000, "ms")
        for what, text, option in (
            ("nobody said it", NOBODY_SAID, "-c"),
            ("nor two words", LONGER, "-c"),
            ("said once", marker(count // 2), "-ci"),
            ("whatever its case", ANY_CASE, "-ci"),
        ):
            theirs: list[float] = []
            whole: list[float] = []
            alone: list[float] = []
            for _ in range(rounds):
                theirs.append(_seconds(["grep", option, text, str(path)], environment))
                whole.append(_seconds([*ours, text, str(path)], environment))
                alone.append(_alone(path, text, environment))
            yield Figure(name, f"{what}: grep {option}", median(theirs) * 1000, "ms")
            for taken, arm in ((alone, "search alone"), (whole, "whole process")):
                yield Figure(name, f"{what}: {arm}", median(taken) * 1000, "ms")
                ratio = median_ratio(taken, theirs)
                yield Figure(name, f"{what}: {arm} to grep {option}", ratio, "x", MOST)


def _environment(folder: str) -> Mapping[str, str]:
    own = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    own |= {"XDG_CACHE_HOME": f"{folder}/cache", "XDG_STATE_HOME": f"{folder}/state"}
    return os.environ | ENVIRONMENT | own | {"HOME": folder}


def _seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    began = perf_counter()
    # To a pipe: where nobody reads, some stop at the first that they find.
    subprocess.run(command, env=environment, capture_output=True, check=False)  # noqa: S603 - our own
    return perf_counter() - began


def _alone(path: Path, text: str, environment: Mapping[str, str]) -> float:
    command = [sys.executable, "-m", "bench.grepping", str(path), text]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)  # noqa: S603 - our own
    return float(done.stdout)


def search_alone(path: str, text: str) -> float:
    """Open a session and look for a text; give the seconds that took."""
    # What is imported at the first opening is not counted.
    Debugger.open(str(long_session(10))).close()
    query = Query.of(text, is_exact=text != text.lower())
    began = perf_counter()
    with Debugger.open(path) as debugger:
        for found in debugger.search(query):
            _ = found.hits
    return perf_counter() - began


if __name__ == "__main__":
    sys.stdout.write(f"{search_alone(*sys.argv[1:])}\n")
