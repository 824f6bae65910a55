"""A session that the OpenAI Agents SDK itself opens, adds to and branches, for a test.

It runs in a Python that has the SDK; ttdbg is not there. Each line is a question as JSON: the line
of a program that opens the session, and what to do with it. Each is answered by a line.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from typing import Any

from agents import SQLiteSession
from agents.extensions.memory import AdvancedSQLiteSession, SQLAlchemySession

HI = {"role": "user", "content": "And then?"}
ANSWER = {"role": "assistant", "content": "That was all."}


async def told(session: Any, wish: str) -> Any:
    match wish:
        case "items":
            return await session.get_items()
        case "go on":
            await session.add_items([HI, ANSWER])
            return await session.get_items()
        case "turns":
            return [
                (each["turn"], each["content"]) for each in await session.get_conversation_turns()
            ]
        case "branch":
            await session.add_items([HI, ANSWER])
            last = (await session.get_conversation_turns())[-1]["turn"]
            await session.create_branch_from_turn(last, "again")
            branches = await session.list_branches()
            return [await session.get_items(), sorted(each["branch_id"] for each in branches)]
        case _:
            raise ValueError(wish)


def opened(line: str) -> Any:
    """Open the session as the line says."""
    known: dict[str, Any] = {
        "SQLiteSession": SQLiteSession,
        "AdvancedSQLiteSession": AdvancedSQLiteSession,
    }
    exec(line, known)  # noqa: S102 - it is what ttdbg tells a user to run
    return known["session"]


async def answer(line: str, wish: str) -> Any:
    if wish == "by time":
        name, path = json.loads(line)
        session: Any = SQLAlchemySession.from_url(name, url=f"sqlite+aiosqlite:///{path}")
        try:
            return await session.get_items()
        finally:
            await session.engine.dispose()
    session = opened(line)
    try:
        return await told(session, wish)
    finally:
        session.close()


for question in sys.stdin:
    try:
        found = {"is": asyncio.run(answer(*json.loads(question)))}
    except Exception:  # noqa: BLE001 - whatever it is, the test tells it
        found = {"failed": traceback.format_exc()}
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
