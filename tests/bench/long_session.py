"""Long sessions: what Pi leaves behind where an agent works for weeks, the same in every run.

An entry has about a kilobyte; now and then a tool gives back a hundred of them. There are turns
of tool calls and results, forks, labels, compactions and changes of the model.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
from array import array
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from bench.sessions import BEGAN, WORDS, marker

from tt_debugger.core.model import iso_time
from tt_debugger.core.tree import NO_ROW

FORK_EVERY = 400
COMPACTION_EVERY = 2000
LABEL_EVERY = 500
MODEL_EVERY = 1000
LARGE_EVERY = 1000
"""Entries to one of `LARGE` characters."""
LARGE = 100_000
KEPT = 40
"""Entries before a compaction that it keeps."""
TURN = 10
"""Messages of a turn: what the user says, four calls with their results, the answer."""
MOST_BYTES = 1400
"""Bytes of an entry that the disk must have room for."""


def long_session(count: int) -> Path:
    """Give a file of so many entries, which is written once and kept between runs."""
    folder = Path(tempfile.gettempdir()) / "ttdbg-bench"
    folder.mkdir(exist_ok=True)
    # Named after what writes it, so that a file of an older form is not taken for this one.
    form = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    path = folder / f"pi-{count}-{form}.jsonl"
    if path.exists():
        return path
    for older in folder.glob(f"pi-{count}-*"):
        older.unlink()
    free = shutil.disk_usage(folder).free
    if free < 2 * count * MOST_BYTES:
        message = f"{folder} has room for {free} bytes; {count} entries need a good part of it"
        raise OSError(message)
    unfinished = path.with_suffix(".part")
    history = _History()
    encoder = msgspec.json.Encoder()
    header = {"type": "session", "version": 3, "id": f"long-{count}", "cwd": "/home/dev/demo"}
    with unfinished.open("wb") as file:
        file.write(encoder.encode(header) + b"\n")
        entries = map(history.entry, range(count))
        while batch := list(islice(entries, 1000)):
            file.write(encoder.encode_lines(batch))
    return unfinished.replace(path)


def long_id(row: int) -> str:
    """Give the id of a row's entry: eight hexadecimal digits in no order, as Pi draws them."""
    return f"{row * 2_654_435_761 & 0xFFFF_FFFF:08x}"


class _History:
    """What was written so far, as far as the next entry depends on it."""

    def __init__(self) -> None:
        self._chance = random.Random(4)  # noqa: S311 - the same file each time is what is wanted
        self._said = [" ".join(self._chance.choices(WORDS, k=18)) for _ in range(2000)]
        self._parents = array("q")
        self._turns: list[int] = []
        """The rows at which the user spoke."""
        self._step = 0
        """The messages of the turn so far."""
        self._context = 8000
        """The tokens of the context."""
        self._owes_large = False

    def entry(self, row: int) -> dict[str, Any]:
        """Give the entry of the next row."""
        parent = self._parent(row)
        self._parents.append(parent)
        self._owes_large |= row % LARGE_EVERY == LARGE_EVERY // 3
        own = {
            "id": long_id(row),
            "parentId": None if parent == NO_ROW else long_id(parent),
            "timestamp": iso_time(BEGAN + row),
        }
        if row % COMPACTION_EVERY == 1300:
            return {"type": "compaction", **own, **self._compaction(row)}
        if row % LABEL_EVERY == 250:
            label = {"targetId": long_id(self._turns[-1]), "label": f"part {row // LABEL_EVERY}"}
            return {"type": "label", **own, **label}
        if row % MODEL_EVERY == 700:
            model = {"provider": "example", "modelId": self._model(row)}
            return {"type": "model_change", **own, **model}
        stamp = {"timestamp": round((BEGAN + row) * 1000)}
        return {"type": "message", **own, "message": self._message(row) | stamp}

    def _parent(self, row: int) -> int:
        """Give the row before, or where a fork begins, the end of an earlier turn."""
        if row and row % FORK_EVERY == 0:
            self._step = 0
            return self._parents[self._turns[-self._chance.randint(2, 6)]]
        return row - 1 if row else NO_ROW

    def _compaction(self, row: int) -> dict[str, Any]:
        kept = row
        for _ in range(KEPT):
            kept = self._parents[kept]
        before, self._context = self._context, 12_000
        return {
            "summary": f"{marker(row)} {self._prose(12)}",
            "firstKeptEntryId": long_id(kept),
            "tokensBefore": before,
            "details": {"readFiles": ["src/parser.py"], "modifiedFiles": ["src/lines.py"]},
        }

    def _message(self, row: int) -> dict[str, Any]:
        step = self._step
        self._step = (step + 1) % TURN
        if step == 0:
            self._turns.append(row)
            return {"role": "user", "content": [_text(f"{marker(row)} {self._prose(4)}")]}
        if step % 2 == 0:
            return self._result(row)
        content = [self._thinking(), _text(f"{marker(row)} {self._prose(1)}")]
        if step < TURN - 1:
            command = f"rg --json '{marker(row)}' src && pytest -q {self._prose(1)}"
            arguments = {"command": command, "timeout": 60}
            call = {"type": "toolCall", "id": f"call_{row}", "name": "bash"}
            content.append(call | {"arguments": arguments})
        return self._answer(row, content)

    def _answer(self, row: int, content: list[Any]) -> dict[str, Any]:
        usage = {"input": 4, "output": 180, "cacheRead": self._context, "cacheWrite": 420}
        self._context += 600
        cost = {"input": 0.00001, "output": 0.0027, "cacheRead": 0.009, "cacheWrite": 0.0016}
        return {
            "role": "assistant",
            "content": content,
            "api": "example-messages",
            "provider": "example",
            "model": self._model(row),
            "usage": usage | {"totalTokens": sum(usage.values()), "cost": cost | {"total": 0.013}},
            "stopReason": "toolUse" if content[-1]["type"] == "toolCall" else "stop",
        }

    def _result(self, row: int) -> dict[str, Any]:
        text = f"{marker(row)} {self._prose(6)}"
        if self._owes_large:
            self._owes_large = False
            text += "\n" + self._prose(LARGE // 90)
        return {
            "role": "toolResult",
            "toolCallId": f"call_{row - 1}",
            "toolName": "bash",
            "content": [_text(text)],
            "details": {"exitCode": int(row % 20 == 4), "truncation": None},
            "isError": row % 20 == 4,
        }

    def _thinking(self) -> dict[str, Any]:
        signature = f"{self._chance.getrandbits(480):0120x}"
        thinking = self._prose(2)
        return {"type": "thinking", "thinking": thinking, "thinkingSignature": signature}

    def _prose(self, lines: int) -> str:
        return "\n\t→ ".join(self._chance.choices(self._said, k=lines))

    def _model(self, row: int) -> str:
        return f"coder-{(row + 300) // MODEL_EVERY % 3}"


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
