"""A long session of Claude Code, the same in every run.

An answer is written as a line for each block, with tools that run one after the other or side by
side; now and then the user goes back and asks again, and a list of saved files stands between.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from bench.sessions import BEGAN, WORDS, marker

from tt_debugger.core.model import iso_time

SNAPSHOT_EVERY = 40
"""Lines to one that lists saved files."""
PROMPT_EVERY = 10
"""Answers to a message of the user."""
CHARACTERS = 120
"""Of what is said in a line, its envelope apart: with that it has 640 bytes."""


def claude_session(count: int, forks: int) -> Path:
    """Give a file of so many lines, which is written once and kept between runs."""
    folder = Path(tempfile.gettempdir()) / "ttdbg-bench"
    folder.mkdir(exist_ok=True)
    # Named after what writes it, so that a file of an older form is not taken for this one.
    form = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    path = folder / f"claude-{count}-{forks}-{form}.jsonl"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        encoder = msgspec.json.Encoder()
        with unfinished.open("wb") as file:
            for _, line in zip(range(count), _Talk(count, forks).lines(), strict=False):
                file.write(encoder.encode(line) + b"\n")
        unfinished.replace(path)
    return path


class _Talk:
    """What was written so far, as far as the next line depends on it."""

    def __init__(self, count: int, forks: int) -> None:
        self._chance = random.Random(6)  # noqa: S311 - the same file each time is what is wanted
        self._session = self._id()
        self._fork_every = count // (forks + 1) if forks else count + 1
        self._written = 0
        self._last: str | None = None
        self._prompts: list[str] = []

    def lines(self) -> Iterator[dict[str, Any]]:
        """Give lines without end."""
        answers = 0
        while True:
            if self._written // self._fork_every > (self._written - 8) // self._fork_every:
                self._last = self._chance.choice(self._prompts[-6:-1] or [None])
                answers = 0
            if answers % PROMPT_EVERY == 0:
                yield self._line("user", {"role": "user", "content": self._said()})
                self._prompts.append(str(self._last))
            answers += 1
            yield from self._answer()
            if self._written % SNAPSHOT_EVERY < 4:
                self._written += 1
                snapshot: dict[str, Any] = {"messageId": self._last, "trackedFileBackups": {}}
                yield {
                    "type": "file-history-snapshot",
                    "messageId": self._last,
                    "snapshot": snapshot,
                    "isSnapshotUpdate": False,
                }

    def _answer(self) -> Iterator[dict[str, Any]]:
        name = f"msg_{self._chance.getrandbits(96):024x}"
        usage = {
            "input_tokens": self._chance.randrange(10),
            "cache_read_input_tokens": self._chance.randrange(150_000),
            "cache_creation_input_tokens": self._chance.randrange(2000),
            "output_tokens": self._chance.randrange(900),
        }

        def part(block: dict[str, Any]) -> dict[str, Any]:
            message = {"model": "claude-sonnet-4-5", "id": name, "type": "message"}
            message |= {"role": "assistant", "content": [block], "stop_reason": None}
            return self._line("assistant", message | {"usage": usage}, requestId=f"req_{name}")

        yield part({"type": "text", "text": self._said()})
        called: list[tuple[str, str]] = []
        for _ in range(self._chance.choice((1, 1, 1, 2))):
            call = f"toolu_{self._chance.getrandbits(80):020x}"
            command = f"pytest -q {self._said()}"
            yield part(
                {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
            )
            called.append((call, str(self._last)))
        for call, line in called:
            self._last = line
            result = {"tool_use_id": call, "type": "tool_result", "content": self._said()}
            outcome = {"stdout": "ok", "stderr": "", "interrupted": False, "isImage": False}
            message = {"role": "user", "content": [{**result, "is_error": False}]}
            yield self._line("user", message, toolUseResult=outcome)

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        parent, self._last = self._last, self._id()
        self._written += 1
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/shop",
            "sessionId": self._session,
            "version": "2.1.197",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": self._last,
            "timestamp": iso_time(BEGAN + self._written),
            **more,
        }

    def _id(self) -> str:
        return str(UUID(int=self._chance.getrandbits(128), version=4))

    def _said(self) -> str:
        words = " ".join(self._chance.choices(WORDS, k=CHARACTERS // 6))
        return f"{marker(self._written)} {words}"
