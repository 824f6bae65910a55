"""A home of 5,000 sessions: the first rows of the picker, and the list of all of them.

The sessions are of four agents and forty projects; one in twenty is a fork. The picker is beside
an empty app, the list beside a Python that asks the system for each file of the same tree and
nothing more. The programs are run in an empty folder, in turns.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.figures import Figure, median_ratio
from bench.painting import environment, painted, shows_words
from bench.programs import ROOT
from bench.sessions import BEGAN, WORDS

from tt_debugger.core.model import iso_time

SESSIONS = 5000
PROJECTS = 40
FORK_EVERY = 20
MOST_OF_EMPTY = 1.5
MOST_MILLISECONDS = 2000.0
LONGEST = 120.0
"""Seconds after which a program is taken not to show anything."""
WALK = """
import os, sys
waiting = [sys.argv[1]]
while waiting:
    with os.scandir(waiting.pop()) as inside:
        for each in inside:
            each.stat(follow_symlinks=False)
            if each.is_dir(follow_symlinks=False):
                waiting.append(each.path)
"""


def home(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure what somebody waits for who has worked with agents for years."""
    count = SESSIONS // 10 if quick else SESSIONS
    compileall.compile_dir(ROOT / "tt_debugger", quiet=1)
    made = furnished(count)
    taken: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as here:
        ours = ["-m", "tt_debugger"]
        every = [*ours, "ls", "--all"]
        cold = _took(every, made, kept, here)
        for _ in range(rounds):
            taken["empty"].append(
                _painted(["-m", "bench.empty_app"], made, kept, here, shows_words)
            )
            with tempfile.TemporaryDirectory() as cache:
                taken["cold"].append(_painted(ours, made, cache, here, _has_rows))
            taken["kept"].append(_painted(ours, made, kept, here, _has_rows))
            taken["walk"].append(_took(["-c", WALK, str(made)], made, kept, here))
            taken["list"].append(_took(every, made, kept, here))
            taken["newest"].append(_took([*ours, "ls"], made, kept, here))
            taken["text"].append(_took([*ours, "grep", "no such words"], made, kept, here))
    name = f"home of {count:,}"
    yield Figure(name, "empty Textual app", median(taken["empty"]), "ms")
    for arm, what in (("cold", "from cold"), ("kept", "from the cache")):
        yield Figure(name, f"first rows, {what}", median(taken[arm]), "ms")
        ratio = median_ratio(taken[arm], taken["empty"])
        yield Figure(name, f"first rows, {what}, to the empty app", ratio, "x", MOST_OF_EMPTY)
    yield Figure(name, "os.scandir and stat", median(taken["walk"]), "ms")
    yield Figure(name, "ttdbg ls --all, from cold", cold, "ms")
    most = MOST_MILLISECONDS * count / SESSIONS if count > SESSIONS else MOST_MILLISECONDS
    yield Figure(name, "ttdbg ls --all, from the cache", median(taken["list"]), "ms", most)
    yield Figure(name, "ttdbg ls, from the cache", median(taken["newest"]), "ms")
    yield Figure(name, "ttdbg grep of what nobody said", median(taken["text"]), "ms")


def furnished(count: int) -> Path:
    """Give a home with so many sessions, which is written once and kept between runs."""
    form = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    made = Path(tempfile.gettempdir()) / "ttdbg-bench" / f"home-{count}-{form}"
    if made.exists():
        return made
    unfinished = made.with_suffix(f".{os.getpid()}")
    chance = random.Random(5)  # noqa: S311 - the same home each time is what is wanted
    sources: list[Path] = []
    writers: Sequence[Callable[[_Made], tuple[str, list[Any]]]] = (_pi, _claude, _codex, _tau)
    for number in range(count):
        one = _Made(chance, number, sources)
        name, records = writers[number % len(writers)](one)
        path = unfinished / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
        os.utime(path, (one.began, one.began))
        if number % len(writers) == 0:
            sources.append(made / name)
    return unfinished.rename(made)


class _Made:
    """A session that is made up: what it is about, and which one it was forked from."""

    def __init__(self, chance: random.Random, number: int, sources: Sequence[Path]) -> None:
        self.id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        self.project = f"/home/dev/project-{chance.randrange(PROJECTS)}"
        self.slug = self.project.replace("/", "-")
        self.began = BEGAN + 600 * number
        self.said = [" ".join(chance.choices(WORDS, k=9)) for _ in range(chance.randint(4, 24))]
        self.source = chance.choice(sources) if sources and not number % FORK_EVERY else None

    def time(self, place: int) -> str | None:
        """Give the time of a message."""
        return iso_time(self.began + 30 * place)


def _pi(one: _Made) -> tuple[str, list[Any]]:
    header = {"type": "session", "version": 3, "id": one.id, "timestamp": one.time(0)}
    header |= {"cwd": one.project} | ({"parentSession": str(one.source)} if one.source else {})
    records: list[Any] = [header]
    for place, text in enumerate(one.said):
        message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": text}]}
        if place % 2:
            usage = {"input": 900, "output": 80, "totalTokens": 980, "cost": {"total": 0.01}}
            message |= {"role": "assistant", "provider": "p", "model": "m", "usage": usage}
        parent = f"{place - 1:08x}" if place else None
        own = {"id": f"{place:08x}", "parentId": parent, "timestamp": one.time(place)}
        records.append({"type": "message", **own, "message": message})
    stamp = (one.time(0) or "").replace(":", "-").replace(".", "-")
    return f".pi/agent/sessions/-{one.slug}--/{stamp}_{one.id}.jsonl", records


def _tau(one: _Made) -> tuple[str, list[Any]]:
    info = {"type": "session_info", "cwd": one.project, "title": one.said[0]}
    records: list[Any] = [{"id": "0", "timestamp": one.began, **info, "created_at": one.began}]
    for place, text in enumerate(one.said, 1):
        message = {"role": "user" if place % 2 else "assistant", "content": text}
        own = {"id": str(place), "parent_id": str(place - 1), "timestamp": one.began + place}
        records.append({**own, "type": "message", "message": message})
    return f".tau/sessions/home{one.slug}-a2c445/{one.id.replace('-', '')}.jsonl", records


def _claude(one: _Made) -> tuple[str, list[Any]]:
    records: list[Any] = []
    for place, text in enumerate(one.said):
        role = "assistant" if place % 2 else "user"
        message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
        if place % 2:
            usage = {"input_tokens": 900, "output_tokens": 80}
            message |= {"id": f"m{place}", "type": "message", "model": "m", "usage": usage}
        own = {"uuid": f"{place:08x}-{one.id[9:]}", "timestamp": one.time(place)}
        parent = f"{place - 1:08x}-{one.id[9:]}" if place else None
        where = {"sessionId": one.id, "cwd": one.project, "version": "2.1.197"}
        records.append(
            {"type": role, "parentUuid": parent, "isSidechain": False, **own, **where}
            | {"message": message}
        )
    return f".claude/projects/{one.slug}/{one.id}.jsonl", records


def _codex(one: _Made) -> tuple[str, list[Any]]:
    meta = {"id": one.id, "timestamp": one.time(0), "cwd": one.project, "originator": "codex_cli"}
    meta |= {"cli_version": "0.120.0", "source": "cli", "model_provider": "openai"}
    records: list[Any] = [{"timestamp": one.time(0), "type": "session_meta", "payload": meta}]
    for place, text in enumerate(one.said):
        role, kind = ("assistant", "output_text") if place % 2 else ("user", "input_text")
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        line = {"timestamp": one.time(place), "type": "response_item", "payload": payload}
        records.append(line)
        if role == "user":
            told = {"type": "user_message", "message": text}
            records.append({"timestamp": one.time(place), "type": "event_msg", "payload": told})
    day, stamp = (one.time(0) or "")[:10], (one.time(0) or "")[:19].replace(":", "-")
    folder = f".codex/sessions/{day.replace('-', '/')}"
    return f"{folder}/rollout-{stamp}-{one.id}.jsonl", records


def _has_rows(output: bytes) -> bool:
    """Tell whether there are rows: under the heading of a project, of which not all is read."""
    return output.count(b"session") > 2 and b"project-" in output


def _painted(
    arguments: Sequence[str], made: Path, cache: str, here: str, shows: Callable[[bytes], bool]
) -> float:
    """Start a program in a terminal; give the milliseconds until it shows what is waited for."""
    command = ["env", "-C", here, sys.executable, *arguments]
    return painted(command, cache, shows, home=str(made), longest=LONGEST) * 1000


def _took(arguments: Sequence[str], made: Path, cache: str, here: str) -> float:
    """Run a program to its end; give the milliseconds that took."""
    began = perf_counter()
    subprocess.run(  # noqa: S603 - the command is our own
        [sys.executable, *arguments],
        cwd=here,
        env=os.environ | environment(str(made), cache),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check="grep" not in arguments,
    )
    return (perf_counter() - began) * 1000
