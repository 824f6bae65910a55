"""Sessions of any size: indexed, opened again, in memory, on the screen, and at a checkpoint.

Every arm is a process of its own; the arms take turns, and a ratio is taken within one round.
The file itself is in the system's cache. A session is opened cold where the index cache is an
empty folder, and kept where an earlier process has opened the same file.
"""

from __future__ import annotations

import compileall
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.claude_session import claude_session
from bench.figures import Figure, median_ratio
from bench.long_session import long_session
from bench.painting import painted, shows_words
from bench.programs import ENVIRONMENT, ROOT

SIZES = (100_000, 1_000_000)
FEW = 10
MOST_MEGABYTES = {1_000_000: 250}
MOST_MEGABYTES_ELSE = 100
LARGEST_FOR_JQ = 200 << 20
"""Bytes of a file beyond which jq takes minutes."""
CLAUDE_LINES, CLAUDE_FORKS, CLAUDE_MEGABYTES = 100_000, 250, 120
REPLAYED = 200_000
"""Rows that are replayed in one round of a session, in all."""
MARKER = re.compile(rb"mk\d{7}")

Taken = dict[str, list[float]]


def size(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure everything that the number of entries could make slow or large."""
    sizes = (20_000,) if quick else SIZES
    compileall.compile_dir(ROOT / "tt_debugger", quiet=1)
    for count in sizes:
        yield from indexed(count, rounds)
    for count in sizes:
        yield from last_messages(count, rounds)
    yield from first_content(
        {f"{count:,} entries": long_session(count) for count in (FEW, *sizes)}, rounds
    )


def claude(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure the same of a session of Claude Code, whose lines are not rows one by one."""
    path = claude_session(5000 if quick else CLAUDE_LINES, CLAUDE_FORKS)
    name = f"Claude Code, {path.stat().st_size / 1e6:,.0f} MB, {CLAUDE_FORKS} forks"
    yield from _indexed(path, name, rounds, None, CLAUDE_MEGABYTES)
    yield from first_content({"Claude Code": path}, rounds)


def indexed(count: int, rounds: int) -> Iterator[Figure]:
    """Time and weigh the index of a session, from its file and from what was kept of it."""
    path = long_session(count)
    name = f"size, {count:,} entries, {path.stat().st_size / 1e6:,.0f} MB"
    goal = MOST_MEGABYTES.get(count, MOST_MEGABYTES_ELSE)
    yield from _indexed(path, name, rounds, count, goal)


def _indexed(
    path: Path, name: str, rounds: int, count: int | None, goal: float
) -> Iterator[Figure]:
    # What a process needs to start is not counted for the other side either.
    started = min(_seconds("wc", "-l", os.devnull) for _ in range(5))
    taken: Taken = defaultdict(list)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for arm in ("pass", "cold", "kept"):
                told = _told(cache, arm, path)
                if count is not None and told["rows"] != count:
                    message = f"{arm} found {told['rows']} rows of {count}"
                    raise AssertionError(message)
                for what, value in told.items():
                    taken[f"{arm} {what}"].append(value)
        taken["wc"].append(_seconds("wc", "-l", str(path)) - started)
        if path.stat().st_size <= LARGEST_FOR_JQ and shutil.which("jq"):
            taken["jq"].append(_seconds("jq", "-c", ".id", str(path)))
    yield from _index_figures(name, taken, has_jq="jq" in taken)
    yield Figure(name, "peak memory, from cold", max(taken["cold megabytes"]), "MB", goal)
    described = max(taken["cold described megabytes"])
    yield Figure(name, "peak memory, every row described", described, "MB")
    yield Figure(name, "peak memory, from the cache", max(taken["kept megabytes"]), "MB")
    # What a closed session leaves behind shows here.
    again = max(taken["kept last megabytes"])
    yield Figure(name, "peak memory, opened some more times", again, "MB")
    yield Figure(name, "peak memory, msgspec pass", max(taken["pass megabytes"]), "MB")


def _index_figures(name: str, taken: Taken, *, has_jq: bool) -> Iterator[Figure]:
    def took(what: str, arm: str) -> Figure:
        return Figure(name, what, median(taken[arm]) * 1000, "ms")

    def beside(what: str, ours: str, theirs: str, goal: float | None = None) -> Figure:
        ratio = median_ratio(taken[ours], taken[theirs]) if taken[theirs] else None
        return Figure(name, what, ratio, "x", goal)

    yield took("one msgspec pass of four columns", "pass seconds")
    yield took("index from cold", "cold seconds")
    yield beside("index from cold, to the pass", "cold seconds", "pass seconds", 1.5)
    # Beside other work this is the one to read: it leaves out what a process waits for a core.
    yield beside("index from cold, to the pass, CPU time", "cold work", "pass work")
    if has_jq:
        yield beside("index from cold, to jq -c .id", "cold seconds", "jq", 0.25)
    yield took("every row described, from cold", "cold described seconds")
    yield beside("every row described, to the pass", "cold described seconds", "pass seconds")
    yield took("wc -l", "wc")
    yield took("from the cache, first of a process", "kept first seconds")
    yield took("from the cache, in process", "kept seconds")
    yield beside("from the cache, to wc -l", "kept seconds", "wc", 0.15)


def last_messages(count: int, rounds: int) -> Iterator[Figure]:
    """Time the last messages of the state at random rows beside a replay from the root."""
    path = long_session(count)
    chance = random.Random(count)  # noqa: S311 - the same rows each time are what is wanted
    taken: Taken = defaultdict(list)
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(rounds):
            rows = chance.sample(range(count), max(REPLAYED // count, 1))
            for what, value in _told(cache, "recent", path, *map(str, rows)).items():
                taken[what].append(value)
    name = f"last messages, {count:,} entries"
    if taken:
        yield Figure(name, "replay from the root", median(taken["replay"]) * 1000, "ms")
        yield Figure(name, "last 50 messages", median(taken["recent"]) * 1000, "ms")
    ratio = median(taken["ratio"]) if taken else None
    yield Figure(name, "last 50 messages, to replay", ratio, "x", 0.01)


def first_content(paths: Mapping[str, Path], rounds: int) -> Iterator[Figure]:
    """Time the start of a program until its first rows are on the screen; ours and others."""
    ours = [sys.executable, "-m", "tt_debugger", "open"]
    others = [each for each in ("less", "lnav") if shutil.which(each)]
    taken: Taken = defaultdict(list)
    with tempfile.TemporaryDirectory() as kept:
        for path in paths.values():
            _told(kept, "cold", path)
        for _ in range(rounds):
            empty = [sys.executable, "-m", "bench.empty_app"]
            taken["empty"].append(painted(empty, kept, shows_words))
            for count, path in paths.items():
                with tempfile.TemporaryDirectory() as cache:
                    taken[f"{count} cold"].append(painted([*ours, str(path)], cache, _shows_rows))
                taken[f"{count} kept"].append(painted([*ours, str(path)], kept, _shows_rows))
                for other in others:
                    taken[f"{count} {other}"].append(
                        painted([other, str(path)], kept, _shows_lines)
                    )
    yield Figure("first content", "empty Textual app", median(taken["empty"]) * 1000, "ms")
    for count in paths:
        name = f"first content, {count}"
        for arm, what in (("cold", "from cold"), ("kept", "from the cache")):
            times = taken[f"{count} {arm}"]
            yield Figure(name, what, median(times) * 1000, "ms")
            ratio = median_ratio(times, taken["empty"])
            yield Figure(name, f"{what}, to the empty app", ratio, "x", 1.5)
        for other in others:
            yield Figure(name, other, median(taken[f"{count} {other}"]) * 1000, "ms")


def _shows_rows(output: bytes) -> bool:
    """Tell whether two rows are shown: one alone might be a title or what the inspector says."""
    return len(set(MARKER.findall(output))) > 1


def _shows_lines(output: bytes) -> bool:
    """Tell whether two lines of the file are shown as they are, cut off or not."""
    return output.count(b"parentId") + output.count(b"parentUuid") > 1


def _told(cache: str, arm: str, path: Path, *rest: str) -> Mapping[str, float]:
    """Run an arm with an index cache of its own and give what it measured."""
    done = subprocess.run(  # noqa: S603 - the command is our own
        [sys.executable, "-m", "bench.indexing", arm, str(path), *rest],
        env=os.environ | ENVIRONMENT | {"XDG_CACHE_HOME": cache},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def _seconds(*command: str) -> float:
    """Run a program whose output nobody wants; give the seconds it took."""
    began = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - our own
    return perf_counter() - began
