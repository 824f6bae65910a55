"""Kills: a process that makes saves is killed at a random moment, again and again.

Run as a program of its own, as only a process without threads may fork. It prints what it saw.

How long saves take is learnt from each kill, and there are more kills than asked for where too few
told something: a machine may be idle now and busy the next moment.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import saves
from saves import SAVES

LEARNT = 0.05
"""What one kill changes the time by that saves are taken to last."""
MOST = 10
"""How many times more kills than asked for are made at most."""


def main(root: Path, kills: int, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - moments, no secrets
    began = time.monotonic()
    longest = _time_of_all(root)
    flaws: list[str] = []
    made = amid = parts = finished = 0
    while made < kills or ((amid < kills // 3 or finished < kills) and made < MOST * kills):
        order = list(SAVES)
        rng.shuffle(order)
        done, started = _killed(root, order, rng.uniform(0, longest))
        # Where it is right, half of the kills come when half of the saves are done.
        longest *= 1 - LEARNT if 2 * done >= len(order) else 1 + LEARNT
        made += 1
        amid += started > done
        finished += done
        for at, name in enumerate(order):
            found = _flaw(root / str(at), name, is_done=at < done, is_started=at < started)
            parts += found == "part"
            if found not in ("", "part"):
                flaws.append(f"{name}: {found}")
    seconds = time.monotonic() - began
    print(  # noqa: T201 - the answer
        json.dumps(
            {
                "kills": made,
                "amid": amid,
                "finished": finished,
                "parts": parts,
                "flaws": flaws,
                "seconds": round(seconds, 1),
            }
        )
    )


def _prepare(root: Path, order: list[str]) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for at, name in enumerate(order):
        saves.prepare(SAVES[name], root / str(at))


def _time_of_all(root: Path) -> float:
    """Give how long all saves take, the better of some tries."""
    times: list[float] = []
    for _ in range(5):
        _prepare(root, list(SAVES))
        began = time.monotonic()
        for at, name in enumerate(SAVES):
            saves.make(SAVES[name], str(root / str(at)))
        times.append(time.monotonic() - began)
    return sorted(times)[2]


def _killed(root: Path, order: list[str], delay: float) -> tuple[int, int]:
    """Let a process make saves, and kill it; give how many it had done and how many begun."""
    _prepare(root, order)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        for at, name in enumerate(order):
            os.write(writable, b"b")
            saves.make(SAVES[name], str(root / str(at)))
            os.write(writable, b"d")
        signal.pause()
    os.close(writable)
    # The moment counts from when it has begun, however long it took to be there.
    said = os.read(readable, 1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(readable, 100):
        said += more
    os.close(readable)
    return said.count(b"d"), said.count(b"b")


def _flaw(folder: Path, name: str, *, is_done: bool, is_started: bool) -> str:
    save = SAVES[name]
    state = saves.state_of(folder)
    stage = save.stage(state)
    has_part = any(map(saves.is_part, state))
    last = len(save.stages) - 1
    if has_part and (is_done or not (save.is_named or "index" in name)):
        return "an unfinished file stays"
    if stage is None:
        return f"half written: {state}"
    if is_done and stage != last:
        return "lost after it was said to be there"
    if not is_started and stage:
        return "there before it was begun"
    if save.drops_torn_tail and stage not in (0, last) and len(save.stages[0]["s.jsonl"]):
        return "some of the lines" if name == "three more lines" else ""
    return "part" if has_part else ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
