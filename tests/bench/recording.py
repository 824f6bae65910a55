"""Recording: a step beside the least that a disk can do, beside LangGraph, and restoring a state.

Arms have their turns within each round. Times of steps are those of a clock, since most of a step
is waiting for the disk; so the folder for temporary files must be on one that syncs. Restoring
reads what the system has in memory still, and its times are the processor's.

* A step: `Recorder.record` of a message pair to a file of lines, beside writing and syncing the
  same bytes to another file, ten steps each in turn.
* A conversation that grows: what a step takes and what is on the disk in the end, in SQLite, both
  sides in WAL mode and synced at each step. Of LangGraph only the time inside of its saver counts
  in the ratio, or that of its graph where that is less, as it saves from several threads.
* Restoring: `Recorder.open` of that conversation, with opening and locking the file and all that
  is needed to go on, beside decoding the JSON of its last state once from memory. The copy of
  the state that `recorder.state` gives is not in it.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import msgspec
from bench.conversation import STEPS, pair
from bench.figures import Figure, median_ratio
from bench.programs import ENVIRONMENT

from tt_debugger.record.recorder import Recorder

APPENDED = 200
"""Steps of a round that are compared with bare writes."""
BLOCK = 10
"""Steps that are taken one after the other."""
RESTORED = 9
"""Times that a state is restored in a round; the median counts."""
MOST_APPENDING, MOST_RESTORING = 1.3, 2.0
LEAST_DISK, LEAST_TIME = 5.0, 3.0
START: dict[str, Any] = {"messages": []}
LANGGRAPH = os.environ.get("TTDBG_LANGGRAPH_PYTHON")


def recording(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure all three."""
    with tempfile.TemporaryDirectory(prefix="ttdbg-bench-") as folder:
        root = Path(folder)
        yield from _appending(root, rounds, APPENDED // 10 if quick else APPENDED)
        steps = STEPS // 10 if quick else STEPS
        yield from _growing(root, rounds, steps)
        yield from _restoring(root, rounds, steps)


def _appending(root: Path, rounds: int, steps: int) -> Iterator[Figure]:
    ours: list[float] = []
    bare: list[float] = []
    for number in range(rounds):
        one, other = _block_by_block(root / f"{number}.jsonl", root / f"{number}.bare", steps)
        ours += one
        bare += other
    name = f"record, {steps:,} steps to jsonl"
    yield Figure(name, "a bare write and fsync of the same bytes", median(bare) * 1000, "ms")
    yield Figure(name, "a step", median(ours) * 1000, "ms")
    yield Figure(name, "a step / bare", median_ratio(ours, bare), "x", MOST_APPENDING)


def _block_by_block(path: Path, bare: Path, steps: int) -> tuple[list[float], list[float]]:
    """Give the seconds of a step in each block, and of bare writes of what the block wrote.

    A sync also waits for what was left by who had the disk before, so that single ones by turns
    would not be alike.
    """
    ours: list[float] = []
    theirs: list[float] = []
    file = os.open(bare, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with Recorder.open(str(path), state=START) as recorder, path.open("rb") as written:
        written.read()
        for first in range(0, steps, BLOCK):
            began = perf_counter()
            for number in range(first, first + BLOCK):
                recorder.record({"messages": pair(number)}, "step")
            ours.append((perf_counter() - began) / BLOCK)
            lines = written.read().splitlines(keepends=True)
            began = perf_counter()
            for line in lines:
                os.write(file, line)
                os.fsync(file)
            theirs.append((perf_counter() - began) / len(lines))
    os.close(file)
    return ours, theirs


def _growing(root: Path, rounds: int, steps: int) -> Iterator[Figure]:
    name = f"record, {steps:,} steps in SQLite"
    ours: list[float] = []
    saving: list[float] = []
    graph: list[float] = []
    disk: list[float] = []
    sizes: list[int] = []
    pythons = platform.python_version()
    for number in range(rounds):
        path = root / f"{number}.db"
        ours.append(_recorded(f"sqlite:///{path}", steps) / steps)
        sizes.append(_size(path))
        if LANGGRAPH is not None:
            other = root / f"{number}.langgraph.db"
            told = _langgraph(other, steps)
            saving.append(min(told["saving"], told["seconds"]) / steps)
            graph.append(told["seconds"] / steps)
            disk.append(_size(other) / sizes[-1])
            other.unlink()
            pythons = f"{pythons} and {told['python']}"
    yield Figure(name, "a step", median(ours) * 1000, "ms")
    yield Figure(name, "on the disk in the end", median(sizes) / 1000, "kB")
    if LANGGRAPH is None:
        what = "LangGraph's saver (TTDBG_LANGGRAPH_PYTHON names no Python that has it)"
        yield Figure(name, what, None, "ms")
        return
    told = f"Python {' and '.join(dict.fromkeys(pythons.split(' and ')))}"
    yield Figure(name, f"a step in LangGraph's saver, {told}", median(saving) * 1000, "ms")
    yield Figure(name, "a step of LangGraph's graph", median(graph) * 1000, "ms")
    yield Figure(
        name, "a step / LangGraph's saver", median_ratio(ours, saving), "x", 1 / LEAST_TIME
    )
    yield Figure(name, "disk / LangGraph's", 1 / median(disk), "x", 1 / LEAST_DISK)


def _recorded(location: str, steps: int) -> float:
    """Record a conversation; give the seconds of its steps."""
    with Recorder.open(location, state=START) as recorder:
        began = perf_counter()
        for number in range(1, steps + 1):
            recorder.record({"messages": pair(number)}, "step")
        return perf_counter() - began


def _langgraph(path: Path, steps: int) -> dict[str, Any]:
    assert LANGGRAPH is not None
    done = subprocess.run(  # noqa: S603 - the command is our own
        [LANGGRAPH, "-m", "bench.langgraph_recording", str(path), str(steps)],
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def _size(path: Path) -> int:
    """Give what is on the disk of a database, its log included."""
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))


def _restoring(root: Path, rounds: int, steps: int) -> Iterator[Figure]:
    locations = {"jsonl": str(root / "last.jsonl"), "SQLite": f"sqlite:///{root / 'last.db'}"}
    for location in locations.values():
        _recorded(location, steps)
    with Recorder.open(locations["jsonl"]) as recorder:
        data = msgspec.json.encode(recorder.state)
    taken: dict[str, list[float]] = {name: [] for name in ("decoding", *locations)}
    for _ in range(rounds):
        taken["decoding"].append(_median_of(lambda: msgspec.json.decode(data)))
        for name, location in locations.items():
            taken[name].append(_median_of(lambda location=location: _opened(location)))
    name = f"restore, a state of {len(data) / 1000:,.0f} kB, {steps:,} steps"
    yield Figure(name, "decoding the state once", median(taken["decoding"]) * 1000, "ms")
    for kind in locations:
        yield Figure(name, f"Recorder.open of {kind}", median(taken[kind]) * 1000, "ms")
        ratio = median_ratio(taken[kind], taken["decoding"])
        yield Figure(name, f"Recorder.open of {kind} / decoding", ratio, "x", MOST_RESTORING)


def _opened(location: str) -> Recorder:
    return Recorder.open(location)


def _median_of(run: Any) -> float:
    """Give the seconds of a run; what it made is let go of outside of the time."""
    seconds: list[float] = []
    for _ in range(RESTORED):
        gc.collect()
        began = process_time()
        made = run()
        seconds.append(process_time() - began)
        if isinstance(made, Recorder):
            made.close()
    return median(seconds)
