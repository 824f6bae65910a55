"""Two databases of home-grown harnesses: a table of states, and a table of turns.

`checkpoints.sqlite` has the states of the agent-state sample as a harness keeps them that saves
the newest under the plain thread id and each earlier one as history. `agent_turns.sqlite` has two
sessions of an agent that books invoices, one turn a row.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid5

from agent_state_story import agent_state_story

THREAD = "letter-2026-09"
CHECKPOINTS = """
CREATE TABLE checkpoints (
    thread_id TEXT PRIMARY KEY,
    state_json TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX idx_updated ON checkpoints(updated_at);
"""
TURNS = """
CREATE TABLE agent_turns (
    turn_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    turn_number INTEGER NOT NULL,
    tool_name TEXT,
    input_hash TEXT,
    output_hash TEXT,
    payload TEXT NOT NULL,
    written_at TEXT NOT NULL,
    UNIQUE (session_id, turn_number)
);
"""
SPACE = UUID("6f1c8a52-0d5e-4a3e-9b51-b1f0a7c7d3aa")


class Turn(NamedTuple):
    """What an agent did in a turn; without a tool it only spoke."""

    said: str
    tool: str | None = None
    given: dict[str, object] | None = None
    answer: object = None
    booked: int = 0


INVOICES = (
    Turn("Three invoices came in over night. I read the first.", "read_mail", {"box": "invoices"},
         {"new": 3, "ids": ["m-201", "m-202", "m-203"]}),
    Turn("m-201 is from the landlord, 1,840.00, due in ten days.", "extract", {"mail": "m-201"},
         {"supplier": "Hafen Immobilien", "amount": 1840.0, "due": "2026-10-11"}),
    Turn("It is the rent, as in every month. Booked.", "book",
         {"account": 4210, "amount": 1840.0}, {"entry": 9911}, 1),
    Turn("m-202 is a reminder for an invoice that I do not know.", "extract", {"mail": "m-202"},
         {"supplier": "Print & Post", "amount": 212.5, "reminder": True}),
    Turn("Is there an invoice to the reminder?", "search", {"supplier": "Print & Post"},
         {"error": "the archive is being rebuilt, try again after 09:00"}, 1),
    Turn("Not now. I put the reminder aside and take the third.", "extract", {"mail": "m-203"},
         {"supplier": "Stadtwerke", "amount": 96.2, "due": "2026-10-04"}, 1),
    Turn("Electricity. Booked.", "book", {"account": 4240, "amount": 96.2}, {"entry": 9912}, 2),
    Turn("Two are booked; the reminder of Print & Post waits for the archive.", booked=2),
)  # fmt: skip
LATER = (
    Turn("The archive is back. Is there an invoice to the reminder?", "search",
         {"supplier": "Print & Post"}, {"found": ["i-1187"]}, 2),
    Turn("i-1187 was never booked. Booked now, and paid today.", "book",
         {"account": 4910, "amount": 212.5}, {"entry": 9913}, 3),
    Turn("All three are booked.", booked=3),
)  # fmt: skip


def write_tables(folder: Path) -> None:
    """Write both databases anew."""
    _write(folder / "checkpoints.sqlite", CHECKPOINTS, "checkpoints", list(_states()))
    rows = [*_turns("invoices-0929", INVOICES, 6), *_turns("invoices-0929-b", LATER, 9)]
    _write(folder / "agent_turns.sqlite", TURNS, "agent_turns", rows)


def _states() -> list[tuple[object, ...]]:
    states = [json.loads(line) for line in agent_state_story().splitlines()]
    rows: list[tuple[object, ...]] = []
    began = states[0]["start_time"]
    for state in states:
        own = f"{THREAD}:history:{state['last_checkpoint']}" if state is not states[-1] else THREAD
        text = json.dumps(state, ensure_ascii=False)
        rows.append((own, text, state["schema_version"], began, state["last_checkpoint"]))
    return rows


def _turns(session: str, turns: tuple[Turn, ...], hour: int) -> list[tuple[object, ...]]:
    now = datetime(2026, 9, 29, hour, 30, 12, tzinfo=UTC)
    rows: list[tuple[object, ...]] = []
    for number, turn in enumerate(turns, 1):
        now += timedelta(seconds=7 + 5 * number % 11)
        payload = {
            "messages": [{"role": "assistant", "content": turn.said}],
            "input": turn.given,
            "output": turn.answer,
            "state": {"booked": turn.booked},
        }
        hashes = (_hash(turn.given), _hash(turn.answer)) if turn.tool else (None, None)
        text = json.dumps(payload, ensure_ascii=False)
        own = str(uuid5(SPACE, f"{session}/{number}"))
        rows.append((own, session, number, turn.tool, *hashes, text, now.isoformat()))
    return rows


def _hash(value: object) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(canonical.encode()).hexdigest()


def _write(path: Path, schema: str, table: str, rows: list[tuple[object, ...]]) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA page_size = 1024")
        database.executescript(schema)
        places = ", ".join("?" for _ in rows[0])
        database.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608 - ours
        database.commit()
