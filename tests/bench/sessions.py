"""The sessions that are measured: the same ones in every run."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tt_debugger.core.model import Head, Heads, Kind, Role, Session, SessionId, Usage, iso_time
from tt_debugger.core.tree import NO_ROW

WORDS = (
    *("the", "parser", "reads", "each", "line", "once", "and", "keeps", "only", "its", "offset"),
    *("so", "that", "a", "file", "of", "any", "size", "opens", "at", "same", "speed", "tests"),
    *("cover", "empty", "input", "torn", "tails", "repeated", "ids", "before", "we", "change"),
    *("how", "branches", "are", "drawn", "let", "me", "look", "where", "lanes", "given", "back"),
)
BRANCH_EVERY = 50
"""One row in so many hangs on an earlier one than the row before it."""
BEGAN = 1_789_377_124.0
"""Seconds since 1970 of the first row."""


def marker(row: int) -> str:
    """Give the word that the text of a row holds and no other; its summary ends before it."""
    return f"mk{row:07d}"


def closing(row: int) -> str:
    """Give the word on the line below the marker's, too far from it for an excerpt."""
    return f"end{row:07d}"


def entry_id(row: int) -> str:
    """Give the id of a row's record."""
    return f"id{row:07d}"


def write_pi_session(path: Path, count: int, settings: int = 0) -> Path:
    """Write a Pi file of so many messages, about 900 bytes each.

    Behind them so many labels and changes of the model can follow.
    """
    chance = random.Random(count)  # noqa: S311 - the same file each time is what is wanted
    header = {"type": "session", "version": 3, "id": f"bench-{count}", "cwd": "/home/dev/demo"}
    with path.open("w") as file:
        file.write(json.dumps(header) + "\n")
        for row, message in enumerate(_messages(count, chance)):
            entry = {"type": "message", "message": message}
            file.write(_line(row, _parent(row), entry))
        for row in range(count, count + settings):
            label = {"type": "label", "targetId": entry_id(row - count), "label": f"part {row}"}
            change = {"type": "model_change", "provider": "example", "modelId": f"coder-{row}"}
            file.write(_line(row, row - 1, change if row % 2 else label))
    return path


def session_in_memory(count: int) -> Session:
    """Give the index of a session of so many checkpoints, without any file."""
    heads = Heads()
    summaries = [" ".join(WORDS[at : at + 9]) for at in range(len(WORDS) - 9)]
    usages = [Usage(input=900 * each, output=300, total=900 * each + 300) for each in range(100)]
    for row in range(count):
        summary, time = f"{row} {summaries[row % len(summaries)]}", BEGAN + row
        match row % 4:
            case 0:
                head = Head(Kind.MESSAGE, Role.USER, "user", summary, time)
            case 1:
                usage = usages[row % 100]
                head = Head(Kind.MESSAGE, Role.ASSISTANT, "coder", summary, time, usage=usage)
            case 2:
                head = Head(Kind.TOOL_CALL, Role.ASSISTANT, "bash", summary, time)
            case _:
                failed = row % 20 == 3
                head = Head(Kind.TOOL_RESULT, Role.TOOL, "bash", summary, time, failed=failed)
        heads.append(head)
    ids = [entry_id(row) for row in range(count)]
    parents = array("q", map(_parent, range(count)))
    return Session(SessionId("bench"), "pi", heads, ids, parents, active=count - 1)


def state_of(count: int) -> dict[str, Any]:
    """Give a state of so many messages, as Pi replays them."""
    chance = random.Random(count)  # noqa: S311 - the same state each time is what is wanted
    return {"messages": list(_messages(count, chance)), "model": "coder", "thinking": "medium"}


def _messages(count: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    for row in range(count):
        # The first line is longer than any summary, so that the marker stands in none.
        said = (_prose(chance, words) for words in (30, 30, 18))
        text = "{}\n\n{marker} {}\n{closing} {}".format(
            *said, marker=marker(row), closing=closing(row)
        )
        block = {"type": "text", "text": text}
        stamp = {"timestamp": round((BEGAN + row) * 1000)}
        match row % 4:
            case 0:
                yield {"role": "user", "content": [block], **stamp}
            case 3:
                yield {
                    "role": "toolResult",
                    "toolCallId": f"call-{row - 1}",
                    "toolName": "bash",
                    "content": [block],
                    "isError": row % 20 == 3,
                    **stamp,
                }
            case step:
                call = {"type": "toolCall", "id": f"call-{row}", "name": "bash"}
                call |= {"arguments": {"command": f"rg {_prose(chance, 2)} src", "timeout": 60}}
                used = 20 * row % 120_000
                usage = {"input": used, "output": 310, "cacheRead": 0, "cacheWrite": 0}
                yield {
                    "role": "assistant",
                    "content": [block, call] if step == 2 else [block],
                    "provider": "example",
                    "model": "coder-small",
                    "usage": usage | {"totalTokens": used + 310},
                    "stopReason": "toolUse" if step == 2 else "stop",
                    **stamp,
                }


def _line(row: int, parent: int, entry: dict[str, Any]) -> str:
    own = {"id": entry_id(row), "parentId": None if parent == NO_ROW else entry_id(parent)}
    return json.dumps(own | {"timestamp": iso_time(BEGAN + row)} | entry) + "\n"


def _prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def _parent(row: int) -> int:
    if row == 0:
        return NO_ROW
    return row - 4 if row % BRANCH_EVERY == 0 else row - 1
