"""A store opened in a process of its own, which prints what that took as one JSON object.

python -m bench.opening_stores ARM LOCATION [ARGUMENT ...]
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from statistics import median
from time import perf_counter, process_time
from typing import Any

from tt_debugger.debugger import Debugger
from tt_debugger.opening import tail_of
from tt_debugger.storage.sqlite import Database

Told = dict[str, Any]

KEYS = ("thread_id", "checkpoint_ns", "checkpoint_id")
TREE = (*KEYS, "parent_checkpoint_id")
SHOWN = (*TREE, "type")
PAGE = 50
AGAIN = 9
"""Pages that are asked for at each depth, and first screens: they take so little time."""
SCREEN = 100
"""Commits of a first screen."""
FIELDS = "--format=%H%x00%P%x00%at%x00%an%x00%ae%x00%s"


def history(location: str) -> Told:
    """Open a session, and give the state at each of its rows."""
    began, worked = perf_counter(), process_time()
    with Debugger.open(location) as debugger:
        tree = perf_counter() - began
        states = [debugger.state(row) for row in range(len(debugger.session))]
        took, work = perf_counter() - began, process_time() - worked
    last: Any = states[-1]
    return {
        "seconds": took,
        "work": work,
        "tree": tree,
        "rows": len(states),
        "last": last["values"],
        "next": last["next"],
    }


def tree(location: str) -> Told:
    """Open a session; its states are not asked for."""
    began = perf_counter()
    with Debugger.open(location) as debugger:
        return {"seconds": perf_counter() - began, "rows": len(debugger.session)}


def described(location: str) -> Told:
    """Open a session, and ask for what each row says of itself."""
    began = perf_counter()
    with Debugger.open(location) as debugger:
        session = debugger.session
        debugger.describe()
        for row in range(len(session)):
            _ = session.heads[row].summary
        return {"seconds": perf_counter() - began, "rows": len(session)}


def scan(location: str) -> Told:
    """Read the key columns of a table of checkpoints into Python, and do nothing with them."""
    began = perf_counter()
    with _raw(location) as database:
        found = database.execute(f"select {', '.join(TREE)} from checkpoints").fetchall()  # noqa: S608 - our own
    return {"seconds": perf_counter() - began, "rows": len(found)}


def pages(location: str, *depths: int) -> Told:
    """Give pages at some depths of a table, a few at each: behind a key, and by counting."""
    behind: list[float] = []
    counted: list[float] = []
    order = f"from checkpoints order by {', '.join(KEYS)}"
    with _raw(location) as raw, Database(location) as database:

        def by_key(after: Sequence[Any]) -> list[Any]:
            return list(database.rows("checkpoints", SHOWN, order=KEYS, after=after, most=PAGE))

        def by_count(place: int) -> list[Any]:
            query = f"select {', '.join(SHOWN)} {order} limit {PAGE} offset {place}"
            return raw.execute(query).fetchall()

        for depth in depths:
            taken: list[tuple[float, float]] = []
            for place in range(depth, depth + AGAIN * PAGE, PAGE):
                key = f"select {', '.join(KEYS)} {order} limit 1 offset {place - 1}"
                after = raw.execute(key).fetchone()
                # Both read what is in the system's cache.
                if by_key(after) != by_count(place):
                    message = f"the page at {place} is not the same"
                    raise AssertionError(message)
                taken.append((_seconds(by_key, after), _seconds(by_count, place)))
            behind.append(median(one for one, _ in taken))
            counted.append(median(other for _, other in taken))
    return {"behind": behind, "counted": counted}


def _seconds(function: Callable[[Any], object], argument: Any) -> float:
    began = perf_counter()
    function(argument)
    return perf_counter() - began


def first_screen(location: str) -> Told:
    """Give the newest rows of a location, as they are first shown."""
    began = perf_counter()
    shown = tail_of(location)
    if shown is None:
        with Debugger.open(location) as debugger:
            shown = debugger.session
            summaries = [shown.heads[row].summary for row in range(len(shown))[-SCREEN:]]
    else:
        summaries = [shown.heads[row].summary for row in range(len(shown))[-SCREEN:]]
    return {"seconds": perf_counter() - began, "rows": len(summaries)}


def first_commits(location: str) -> Told:
    """Give the first screen of a repository, and let git print as many, a few times in turn."""
    taken = [
        (first_screen(location)["seconds"], git_log(location, "-n", str(SCREEN))["seconds"])
        for _ in range(AGAIN)
    ]
    ours, theirs = zip(*taken, strict=True)
    return {"ours": ours, "theirs": theirs}


def git_log(location: str, *options: str) -> Told:
    """Let git print commits, and read what it prints."""
    command = ["git", "--git-dir", location, "log", FIELDS, *options]
    began = perf_counter()
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout  # noqa: S603
    return {"seconds": perf_counter() - began, "rows": printed.count(b"\n")}


def _raw(location: str) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"file:{location}?mode=ro&immutable=1", uri=True))


ARMS: dict[str, Callable[..., Told]] = {
    "history": history,
    "tree": tree,
    "described": described,
    "scan": scan,
    "pages": pages,
    "screen": first_screen,
    "commits": first_commits,
    "git": git_log,
}


if __name__ == "__main__":
    arm, given, *rest = sys.argv[1:]
    arguments = list(map(int, rest)) if arm == "pages" else rest
    # What is brought in at the first opening is not counted at the one that is measured.
    ARMS[arm](given, *arguments)
    json.dump(ARMS[arm](given, *arguments), sys.stdout)
