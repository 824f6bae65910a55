"""A session opened in a process of its own, which prints what that took as one JSON object.

python -m bench.indexing ARM FILE [ROW ...]
"""

from __future__ import annotations

import gc
import json
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import msgspec
from bench.long_session import long_session

from tt_debugger.debugger import Debugger

CHUNK = 1 << 20
AGAIN = 5
"""How often a session is opened once its index is kept."""
SHOWN = 50
"""Messages at the end of a state that are shown."""

Told = dict[str, float]


class _Entry(msgspec.Struct, gc=False):
    type: str
    id: str | None = None
    timestamp: str | None = None
    parent: str | None = msgspec.field(name="parentId", default=None)


class _ClaudeLine(_Entry, gc=False, rename={"id": "uuid"}):
    parent: str | None = msgspec.field(name="parentUuid", default=None)


def one_pass(path: Path) -> Told:
    """Decode id, parent, type and time of each line, and keep them as columns; nothing else."""
    gc.disable()
    decoder = msgspec.json.Decoder(_ClaudeLine if path.name.startswith("claude") else _Entry)
    ids: list[str | None] = []
    parents: list[str | None] = []
    types: list[str] = []
    times: list[str | None] = []
    began, worked = perf_counter(), process_time()
    rest = b""
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            end = chunk.rfind(b"\n") + 1
            entries = decoder.decode_lines(rest + chunk[:end])
            rest = chunk[end:]
            ids += [entry.id for entry in entries]
            parents += [entry.parent for entry in entries]
            types += [entry.type for entry in entries]
            times += [entry.timestamp for entry in entries]
    took, work = perf_counter() - began, process_time() - worked
    rows = len(ids) - 1
    return {"seconds": took, "work": work, "rows": rows, "megabytes": peak_megabytes()}


def cold(path: Path) -> Told:
    """Open a session of which nothing is kept, then ask for what each row says of itself."""
    began, worked = perf_counter(), process_time()
    with Debugger.open(str(path)) as debugger:
        took, work = perf_counter() - began, process_time() - worked
        peak = peak_megabytes()
        session = debugger.session
        _ = session.traits
        for row in range(len(session)):
            _ = session.heads[row].summary
        described = perf_counter() - began
    return {
        "seconds": took,
        "work": work,
        "rows": len(session),
        "megabytes": peak,
        "described seconds": described,
        "described megabytes": peak_megabytes(),
    }


def kept(path: Path) -> Told:
    """Open a session that another process has opened before; then again in this one."""
    taken: list[float] = []
    peaks: list[float] = []
    rows = 0
    for _ in range(AGAIN + 1):
        began = perf_counter()
        with Debugger.open(str(path)) as debugger:
            taken.append(perf_counter() - began)
            peaks.append(peak_megabytes())
            rows = len(debugger.session)
    first, *others = taken
    return {
        "first seconds": first,
        "seconds": median(others),
        "rows": rows,
        "megabytes": peaks[0],
        "last megabytes": peaks[-1],
    }


def recent(path: Path, *rows: int) -> Told:
    """Give the end of the state at each row from what there is for it, and by a replay anew.

    Raises where the two are not the same. Nothing where there is only the replay.
    """
    fast: list[float] = []
    slow: list[float] = []
    with Debugger.open(str(path)) as debugger:
        ask: Callable[[int, int], Sequence[Any]] | None = getattr(debugger, "recent", None)
        if ask is None:
            return {}
        # What is made once for all rows is there before the first is asked for.
        debugger.state(0)
        for row in rows:
            began = perf_counter()
            shown = list(ask(row, SHOWN))
            fast.append(perf_counter() - began)
            with Debugger.open(str(path)) as other:
                other.state(0)
                began = perf_counter()
                messages = other.state(row)["messages"]
                slow.append(perf_counter() - began)
            if shown != messages[-SHOWN:]:
                message = f"the last messages at row {row} are not those of its state"
                raise AssertionError(message)
    ratios = [one / other for one, other in zip(fast, slow, strict=True)]
    return {"recent": median(fast), "replay": median(slow), "ratio": median(ratios)}


def peak_megabytes() -> float:
    """Give the most memory that this process has had."""
    # On Linux the other number begins at what the parent had when it started this process.
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024 / 1e6
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


ARMS: dict[str, Callable[..., Told]] = {
    "pass": one_pass,
    "cold": cold,
    "kept": kept,
    "recent": recent,
}

if __name__ == "__main__":
    arm, name, *wanted = sys.argv[1:]
    # So that what is imported at the first opening is not counted at the one that is measured.
    Debugger.open(str(long_session(10))).close()
    json.dump(ARMS[arm](Path(name), *map(int, wanted)), sys.stdout)
