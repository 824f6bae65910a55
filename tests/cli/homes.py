"""A made-up home in which agents keep sessions, for tests of what is found there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from builders import PI_HEADER, assistant, jsonl, pi, user

ALPHA = "11111111-aaaa-4aaa-8aaa-000000000001"
BETA = "11111111-aaaa-4aaa-8aaa-000000000002"
GAMMA = "2222222233334444"
NOW = 1_790_000_000.0


def keep(path: Path, content: bytes, age: float) -> Path:
    """Write a file that is so many seconds old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (NOW - age,) * 2)
    return path


def pi_session(name: str, said: str, cwd: str = "/dev/notes", **header: Any) -> bytes:
    """Give a session of Pi of one question and its answer."""
    rows = [pi("a", None, user(said)), pi("b", "a", assistant(f"done: {said}"))]
    return jsonl(PI_HEADER | {"id": name, "cwd": cwd} | header, *rows)


def tau_session(said: str, cwd: str = "/dev/ledger") -> bytes:
    """Give a session of Tau with a title and a question."""
    message = {"role": "user", "content": said}
    return jsonl(
        {"id": "r", "timestamp": NOW - 90, "type": "session_info", "cwd": cwd, "title": "Books"},
        {
            "id": "m",
            "parent_id": "r",
            "timestamp": NOW - 60,
            "type": "message",
            "message": message,
        },
    )


def furnish(home: Path) -> dict[str, Path]:
    """Put two sessions of Pi, of which one is a fork, and one of Tau into a home."""
    notes = home / ".pi/agent/sessions/--dev-notes--"
    alpha = notes / f"2026-01-01T00-00-00-000Z_{ALPHA}.jsonl"
    ledger = home / ".tau/sessions/home-ledger-a2c445"
    return {
        "alpha": keep(alpha, pi_session(ALPHA, "Water the plants"), 7200),
        "beta": keep(
            notes / f"2026-01-02T00-00-00-000Z_{BETA}.jsonl",
            pi_session(BETA, "Feed the cat", parentSession=str(alpha)),
            3600,
        ),
        "gamma": keep(ledger / f"{GAMMA}.jsonl", tau_session("Add it up"), 60),
        "index": keep(ledger / "index.jsonl", jsonl({"id": GAMMA, "path": "x"}), 60),
    }
