"""A session of Copilot CLI: a start page that takes four seconds.

A wrong path costs a call, the model is changed, one query takes the place of 213, and what was
said is compacted before the page is timed again.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

Body = dict[str, object]
"""A JSON object whose keys keep the order in which they were given."""

BEGIN = datetime(2026, 3, 14, 8, 30, tzinfo=UTC)
CWD = "/home/dev/museum"
FIRST, SECOND = "claude-sonnet-4.5", "gpt-5.2"
TIMING: Body = {"command": "curl -so /dev/null -w '%{time_starttransfer}' localhost:8000/"}
VIEW = """def start_page(request):
    rooms = Room.objects.all()
    counts = [(room, room.pictures.count()) for room in rooms]
    return render(request, 'start.html', {'rooms': counts})
"""


class Events:
    """Writes events as Copilot CLI does: each hangs on the one before."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._last: str | None = None
        self._second = 0
        self._turns = 0
        self._calls = 0

    def content(self) -> bytes:
        """All lines of the file."""
        return "".join(f"{line}\n" for line in self._lines).encode()

    def put(self, kind: str, data: Body, after: int = 1) -> None:
        """Write an event, so many seconds after the one before."""
        self._second += after
        own = f"{0x3A00 + len(self._lines):08x}-7b1c-4e55-8a90-0c5d2e9f7d31"
        moment = BEGIN + timedelta(seconds=self._second)
        event = {
            "type": kind,
            "data": data,
            "id": own,
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "parentId": self._last,
        }
        self._last = own
        self._lines.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")))

    def says(self, text: str, **more: object) -> None:
        """Write an answer of the model."""
        self._turns += 1
        message: Body = {"messageId": f"msg-{self._turns}", "content": text, "toolRequests": []}
        self.put("assistant.message", message | more, 4)

    def calls(self, name: str, arguments: Body, outcome: Body, text: str = "") -> None:
        """Write a turn in which the model calls a tool, and what came of it."""
        self._calls += 1
        call = f"call_{self._calls:02d}"
        turn: Body = {"turnId": str(self._turns)}
        self.put("assistant.turn_start", turn)
        request = {"toolCallId": call, "name": name, "arguments": arguments, "type": "function"}
        self.says(text, toolRequests=[request])
        started: Body = {"toolCallId": call, "toolName": name, "arguments": arguments}
        self.put("tool.execution_start", started)
        self.put("tool.execution_complete", {"toolCallId": call} | outcome)
        self.put("assistant.turn_end", turn)


def gave(text: str) -> Body:
    """Give the outcome of a tool that worked."""
    return {"success": True, "result": {"content": text}}


def failed(text: str) -> Body:
    """Give the outcome of a tool that failed."""
    return {"success": False, "error": {"message": text, "code": "failure"}}


def used(calls: int, fresh: int, output: int, cached: int) -> Body:
    """Give what the calls of one model used."""
    usage = {"inputTokens": fresh, "outputTokens": output, "cacheReadTokens": cached}
    return {"requests": {"count": calls, "cost": 1}, "usage": usage | {"cacheWriteTokens": 0}}


def copilot_story() -> bytes:
    """Give the session, an event a line."""
    events = Events()
    context = {"cwd": CWD, "gitRoot": CWD, "branch": "main", "repository": "example/museum"}
    events.put(
        "session.start",
        {
            "sessionId": "9e4b2c6d-51aa-4c3f-b7d4-2f8e6a1b0c77",
            "version": 1,
            "producer": "copilot-agent",
            "copilotVersion": "0.0.407",
            "startTime": "2026-03-14T08:30:00.000Z",
            "selectedModel": FIRST,
            "context": context,
        },
        0,
    )
    asked = "The start page takes four seconds. Where does the time go?"
    sent = f"<current_datetime>2026-03-14T08:30:05Z</current_datetime>\n\n{asked}"
    events.put("user.message", {"content": asked, "transformedContent": sent}, 5)
    first = "I time the first byte, then look at what the view asks the database."
    events.calls("bash", TIMING, gave("3.871\n<exited with exit code 0>"), first)
    find: Body = {"pattern": "def start_page", "path": "museum"}
    events.calls("grep", find, gave("museum/views.py:12:def start_page(request):"))
    missing = failed("Path does not exist: museum/view.py")
    events.calls("view", {"path": "museum/view.py"}, missing)
    events.calls("view", {"path": "museum/views.py"}, gave(VIEW))

    change: Body = {"previousModel": FIRST, "newModel": SECOND}
    events.put("session.model_change", change, 20)
    events.put("user.message", {"content": "Fix it."}, 4)
    edit: Body = {
        "path": "museum/views.py",
        "old_str": "Room.objects.all()",
        "new_str": "Room.objects.annotate(count=Count('pictures'))",
    }
    why = "It counts the pictures of 212 rooms by a query each. One query can count them all."
    events.calls("edit", edit, gave("File museum/views.py updated with changes."), why)

    events.put("session.compaction_start", {}, 6)
    summary = (
        "The start page of the museum counted pictures with one query for each of 212 rooms."
        " The view now counts them in one query. Left to do: time it again."
    )
    compacted: Body = {"success": True, "preCompactionTokens": 61_240, "summaryContent": summary}
    events.put("session.compaction_complete", compacted, 12)
    events.calls("bash", TIMING, gave("0.094\n<exited with exit code 0>"))
    events.says("From 3.9 seconds to 0.09: one query in the place of 213.")
    models = {FIRST: used(4, 48_200, 610, 41_900), SECOND: used(3, 66_300, 540, 60_100)}
    events.put("session.shutdown", {"shutdownType": "routine", "modelMetrics": models}, 40)
    return events.content()
