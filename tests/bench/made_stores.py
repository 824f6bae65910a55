"""The stores that are measured: a thread, a table of checkpoints, a repository; the same each run.

They are written once and kept between runs, named after what writes them.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import langgraph_rows
from bench.sessions import BEGAN, WORDS
from langgraph_rows import Row, checkpoint, identity, metadata, packed, stored, write

THREAD = "t"
RECENT = 10
"""Values of the thread's longest channel."""
MERGE_EVERY = 50
"""Commits to one that merges a branch."""


def thread(steps: int) -> Path:
    """Give a database with one thread of LangGraph of so many steps and few small values."""

    def rows() -> Iterator[Row]:
        for n in range(steps):
            values = {"n": n, "total": n * n, "recent": [f"step {m}" for m in _last(n)]}
            parent = identity(n - 1) if n else None
            body = checkpoint(identity(n), values, n)
            yield (THREAD, "", identity(n), parent, "msgpack", packed(body), metadata(n))

    def writes() -> Iterator[Row]:
        for n in range(steps - 1):
            yield write(n, "n", "msgpack", packed(n + 1), idx=0)
            yield write(n, "total", "msgpack", packed((n + 1) ** 2), idx=1)
            yield write(n, "recent", "msgpack", packed([f"step {n + 1}"]), idx=2)
            yield write(n, "branch:to:agent", "null", b"", idx=3)

    return _kept(f"thread-{steps}.sqlite", lambda path: stored(path, rows(), writes()))


def table(count: int, size: int) -> Path:
    """Give a database with so many checkpoints of one thread, each of about so many bytes."""

    def rows() -> Iterator[Row]:
        chance = random.Random(1)  # noqa: S311 - the same table each time is what is wanted
        for n in range(count):
            text = " ".join(chance.choices(WORDS, k=size // 5))[:size]
            parent = identity(n - 1) if n else None
            body = checkpoint(identity(n), {"n": n, "text": text}, n)
            yield (THREAD, "", identity(n), parent, "msgpack", packed(body), metadata(n))

    return _kept(f"table-{count}-{size}.sqlite", lambda path: stored(path, rows()))


def repository(commits: int) -> Path:
    """Give a repository with so many commits, now and then a branch that is merged."""
    return _kept(f"repository-{commits}", lambda path: _fast_imported(path, commits))


def _last(n: int) -> range:
    return range(max(n - RECENT + 1, 0), n + 1)


def _fast_imported(path: Path, commits: int) -> None:
    chance = random.Random(2)  # noqa: S311 - the same repository each time is what is wanted
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)  # noqa: S603, S607
    command = ["git", "--git-dir", path, "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as writer:  # noqa: S603
        assert writer.stdin is not None
        for n in range(1, commits + 1):
            is_side = n > 2 and n % MERGE_EVERY == 0
            said = " ".join(chance.choices(WORDS, k=8))
            if n % 3 == 0:
                said += "\n\nCo-Authored-By: Claude <noreply@anthropic.com>"
            parents = f"from :{n - 1}\n" if n > 1 else ""
            if is_side:
                parents = f"from :{n - 1}\nmerge :{n - 3}\n"
            text = f"{n}\n"
            writer.stdin.write(
                f"commit refs/heads/main\nmark :{n}\n"
                f"author Ada <ada@example.com> {int(BEGAN) + n} +0000\n"
                f"committer Ada <ada@example.com> {int(BEGAN) + n} +0000\n"
                f"data {len(said)}\n{said}\n{parents}"
                f"M 100644 inline src/f{n % 100}.txt\ndata {len(text)}\n{text}\n".encode()
            )
    if writer.returncode:
        message = "git fast-import did not take the commits"
        raise AssertionError(message)


def _kept(name: str, make: Callable[[Path], Any]) -> Path:
    folder = Path(tempfile.gettempdir()) / "ttdbg-bench"
    folder.mkdir(exist_ok=True)
    # So that what an older form of this module wrote is not taken for it.
    sources = (Path(__file__), Path(langgraph_rows.__file__))
    form = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:8]
    path = folder / f"{form}-{name}"
    if not path.exists():
        unfinished = folder / f"part-{name}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.unlink(missing_ok=True)
        make(unfinished)
        unfinished.replace(path)
    return path
