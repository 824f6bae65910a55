"""A chat of Gemini CLI: a calendar export that is an hour early since the clocks changed.

Writing the time in UTC is tried first, moves the weekly rehearsal, and is rewound; then the zone
is kept by its name. Each call is written twice: as it is made, and with what came of it.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

Body = dict[str, object]
"""A JSON object whose keys keep the order in which they were given."""

BEGIN = datetime(2026, 3, 30, 8, 30, tzinfo=UTC)
MODEL = "gemini-2.5-pro"
EXPORTER = """def to_ics(event):
    start = event["start"].replace(tzinfo=None)
    return f"DTSTART:{start:%Y%m%dT%H%M%S}"
"""
TESTS = "python -m pytest -q"


class Chat:
    """Writes a recording as Gemini CLI does, a record a line."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._answers = 0

    def content(self) -> bytes:
        """All lines of the file."""
        return "".join(f"{line}\n" for line in self._lines).encode()

    def put(self, record: Body) -> None:
        """Write a record."""
        self._lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def user(self, name: str, second: int, text: str) -> None:
        """Write what the user asks."""
        content = [{"text": text}]
        self.put({"id": name, "timestamp": time(second), "type": "user", "content": content})

    def answer(
        self, second: int, text: str, tokens: tuple[int, int, int, int], thought: str = ""
    ) -> Body:
        """Write an answer of the model, and give it, so that it can be written again."""
        self._answers += 1
        subject, _, about = thought.partition(": ")
        thoughts = [{"subject": subject, "description": about, "timestamp": time(second - 2)}]
        fresh, output, cached, thinking = tokens
        answer: Body = {
            "id": f"g-{self._answers}",
            "timestamp": time(second),
            "type": "gemini",
            "content": text,
            "thoughts": thoughts if thought else [],
            "tokens": {
                "input": fresh,
                "output": output,
                "cached": cached,
                "thoughts": thinking,
                "tool": 0,
                "total": fresh + output + thinking,
            },
            "model": MODEL,
        }
        return answer

    def calls(self, answer: Body, name: str, arguments: Body, result: str, status: str) -> None:
        """Write an answer with a call, and then again with what the call gave back."""
        call: Body = {"id": f"{name}-{answer['id']}", "name": name, "args": arguments}
        said = {"output" if status == "success" else "error": result}
        response = {"id": call["id"], "name": name, "response": said}
        self.put({**answer, "toolCalls": [{**call, "status": "executing"}]})
        done: Body = {**call, "status": status, "result": [{"functionResponse": response}]}
        self.put({**answer, "toolCalls": [done]})


def time(second: int) -> str:
    """Give the time so many seconds after the beginning."""
    moment = BEGIN + timedelta(seconds=second)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def gemini_story() -> bytes:
    """Give the chat, a record a line."""
    chat = Chat()
    chat.put(
        {
            "sessionId": "5c1e7a90-2f64-4b0e-9d1d-6a1f0c3b7e52",
            "projectHash": "7d0f3f5b2c",
            "startTime": time(0),
            "lastUpdated": time(0),
            "kind": "main",
            "directories": ["/home/dev/rehearsals"],
        }
    )
    chat.user("u-1", 4, "The choir's calendar export is an hour early since Sunday. Why?")
    chat.put({"$set": {"lastUpdated": time(4)}})
    thought = "Reading the exporter: An hour since Sunday smells of summer time."
    look = chat.answer(11, "I look at how an event is written.", (5210, 64, 0, 180), thought)
    chat.calls(look, "read_file", {"file_path": "export.py"}, EXPORTER, "success")
    chat.put(
        chat.answer(
            19,
            "`replace(tzinfo=None)` keeps the wall clock of UTC, and calendars read a time without"
            " a zone as local. So it is off by the offset, which changed on Sunday.\n\n"
            "Shall I write UTC with a `Z`, or the local zone by its name?",
            (5402, 118, 5120, 96),
        )
    )
    chat.put({"$set": {"lastUpdated": time(19)}})

    chat.user("u-2", 60, "UTC is fine, do that.")
    old = 'event["start"].replace(tzinfo=None)'
    edit: Body = {"file_path": "export.py", "old_string": old}
    edited = "Successfully modified file: export.py (1 replacements)."
    new = 'event["start"].astimezone(UTC)'
    write = chat.answer(70, "", (5560, 140, 5376, 60))
    chat.calls(write, "replace", {**edit, "new_string": new}, edited, "success")
    failed = "1 failed, 6 passed\ntest_weekly_event: the rehearsal moves with summer time"
    run = chat.answer(78, "", (5790, 58, 5560, 40))
    chat.calls(run, "run_shell_command", {"command": TESTS}, failed, "error")
    chat.put(
        chat.answer(
            90,
            "A weekly rehearsal at 19:00 moves to 20:00 in summer if it is written in UTC. The"
            " test is right: a repeating event needs its zone.",
            (6010, 66, 5790, 120),
        )
    )
    chat.put({"$rewindTo": "u-2"})

    chat.user("u-3", 131, "Use the zone by its name, rehearsals repeat every week.")
    thought = "Keeping the zone: DTSTART with TZID keeps 19:00 at 19:00 all year."
    new = 'event["start"].astimezone(zone)'
    write = chat.answer(141, "", (5580, 150, 5376, 88), thought)
    chat.calls(write, "replace", {**edit, "new_string": new}, edited, "success")
    run = chat.answer(150, "", (5900, 40, 5580, 20))
    chat.calls(run, "run_shell_command", {"command": TESTS}, "7 passed", "success")
    limit = "Model usage is at 40 % of the daily limit."
    chat.put({"id": "i-1", "timestamp": time(154), "type": "info", "content": limit})
    chat.put({"$set": {"summary": "Calendar export an hour early", "lastUpdated": time(155)}})
    done = "All seven tests pass. 19:00 now stays 19:00 in summer and winter."
    chat.put(chat.answer(160, done, (6020, 44, 5900, 30)))
    return chat.content()
