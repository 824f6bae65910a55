"""A thread of the Codex CLI: a booking that shows an hour late after the clocks change.

Shifting the hour when it is shown is tried first, breaks the autumn, and is taken back; then the
time is stored with its zone. What was said is compacted before the last turn.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256

Body = dict[str, object]
"""A JSON object whose keys keep the order in which they were given."""

THREAD = "019d3c40-7a10-7b52-9c1e-5d0f4e8a2b61"
BEGIN = datetime(2026, 3, 30, 7, 41, 12, 480_000, tzinfo=UTC)
CWD = "/home/dev/bookings"
WINDOW = 272_000


class Thread:
    """Writes a rollout as Codex does: each record with its time, items beside events."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._now = BEGIN
        self._turns = 0
        self._forgotten = 0
        self._used = (0, 0, 0, 0)

    def content(self) -> bytes:
        """All lines of the file."""
        return "".join(f"{line}\n" for line in self._lines).encode()

    def put(self, kind: str, payload: Body, after: float = 0.2) -> None:
        """Write a record, so many seconds after the one before."""
        self._now += timedelta(seconds=after)
        time = self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"timestamp": time, "type": kind, "payload": payload}
        self._lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def item(self, kind: str, after: float = 0.2, **members: object) -> None:
        """Write an item that the model is sent."""
        self.put("response_item", {"type": kind, **members}, after)

    def event(self, kind: str, after: float = 0.01, **members: object) -> None:
        """Write an event for the screen."""
        self.put("event_msg", {"type": kind, **members}, after)

    def says(self, role: str, text: str, after: float = 0.1, **members: object) -> None:
        """Write a message of words."""
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text}]
        self.item("message", after, role=role, content=content, **members)

    def turn(self, prompt: str, after: float, **settings: object) -> None:
        """Begin a turn with what the user asks."""
        self._turns += 1
        self.event("task_started", after, turn_id=self._turn, model_context_window=WINDOW)
        if self._turns == 1:
            self.says("developer", PERMISSIONS)
            self.says("user", AGENTS)
            self.says("user", ENVIRONMENT)
        self.put("turn_context", {"turn_id": self._turn, **SETTINGS, **settings})
        self.says("user", prompt)
        self.event("user_message", message=prompt, images=[], local_images=[], text_elements=[])

    def end(self, answer: str, after: float) -> None:
        """Give the last answer of a turn."""
        self.event("agent_message", after, message=answer, phase="final_answer")
        self.says("assistant", answer, 0.0, phase="final_answer")

    def done(self) -> None:
        """End the turn."""
        self.event("task_complete", turn_id=self._turn, last_agent_message=None)

    def thinks(self, after: float, summary: str = "") -> None:
        """Write a thought; what is more than its summary only the provider can read."""
        shown = [{"type": "summary_text", "text": summary}] if summary else []
        hidden = sha256(f"{len(self._lines)}".encode()).hexdigest()
        if summary:
            self.event("agent_reasoning", after, text=summary)
        self.item(
            "reasoning", 0.1, summary=shown, content=None, encrypted_content=f"gAAAAABp{hidden}"
        )

    def counts(self, cached: int, fresh: int, output: int, thought: int = 0) -> None:
        """Write what a request used, and all before it."""
        last = (cached + fresh, cached, output, thought)
        self._used = tuple(map(sum, zip(self._used, last, strict=True)))
        info: Body = {
            "total_token_usage": _usage(self._used),
            "last_token_usage": _usage(last),
            "model_context_window": WINDOW,
        }
        self.event("token_count", info=info, rate_limits=None)

    def calls(self, name: str, arguments: Body, after: float = 1.1) -> str:
        """Call a tool, and give the id of the call."""
        call = self._call_id()
        self.item("function_call", after, name=name, arguments=json.dumps(arguments), call_id=call)
        return call

    def runs(self, command: str, output: str, took: float, code: int = 0) -> None:
        """Run a command to its end."""
        call = self.calls("exec_command", {"cmd": command, "workdir": CWD})
        self.counts(*self._next_count(output))
        told = {"call_id": call, "turn_id": self._turn, "exit_code": code, "stderr": ""}
        self.event("exec_command_end", took, stdout=output, **told)
        head = f"Wall time: {took:.4f} seconds\nProcess exited with code {code}\nOutput:\n"
        self.item("function_call_output", call_id=call, output=f"{head}{output}")

    def patches(self, patch: str, *files: str, after: float = 2.4) -> None:
        """Apply a patch."""
        call = self._call_id()
        given = f"*** Begin Patch\n{patch}*** End Patch\n"
        self.item(
            "custom_tool_call",
            after,
            status="completed",
            call_id=call,
            name="apply_patch",
            input=given,
        )
        self.counts(*self._next_count(patch))
        said = "Success. Updated the following files:\n" + "".join(f"{each}\n" for each in files)
        self.event(
            "patch_apply_end", call_id=call, success=True, stdout=said, stderr="", changes={}
        )
        output = {"output": said, "metadata": {"exit_code": 0, "duration_seconds": 0.0}}
        self.item("custom_tool_call_output", call_id=call, output=json.dumps(output))

    def plans(self, explanation: str, *steps: str) -> None:
        """Write down the plan: a step begins with + when it is done, with > while it is done."""
        status = {"+": "completed", ">": "in_progress", "-": "pending"}
        plan = [{"step": each[2:], "status": status[each[0]]} for each in steps]
        call = self.calls("update_plan", {"explanation": explanation, "plan": plan}, 0.9)
        self.item("function_call_output", call_id=call, output="Plan updated")

    def compacts(self, summary: str, *prompts: str) -> None:
        """Leave of all that was said the prompts, and a summary."""
        texts = [*prompts, f"{SUMMARY_OPENING}\n{summary}"]
        history = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            for text in texts
        ]
        self.put("compacted", {"message": summary, "replacement_history": history}, 8.6)
        self.event("context_compacted")
        self._forgotten = len(self._lines)

    @property
    def _turn(self) -> str:
        return f"019d3c4{self._turns}-0000-7000-8000-{self._turns:012d}"

    def _call_id(self) -> str:
        return f"call_{sha256(f'call {len(self._lines)}'.encode()).hexdigest()[:24]}"

    def _next_count(self, text: str) -> tuple[int, int, int]:
        """Make a count up that fits what comes: most of the context was sent before."""
        step = len(self._lines) - self._forgotten
        return 5_120 + 128 * step, 240 + 3 * step, 60 + len(text) // 3


def _usage(counts: tuple[int, ...]) -> Body:
    sent, cached, output, thought = counts
    return {
        "input_tokens": sent,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": thought,
        "total_tokens": sent + output,
    }


PERMISSIONS = (
    "<permissions instructions>\nCommands run in a sandbox that can write to the work tree alone."
    " Ask before you leave it.\n</permissions instructions>"
)
AGENTS = (
    "# AGENTS.md instructions for /home/dev/bookings\n\n<INSTRUCTIONS>\n"
    "Tests: `pytest -q`. No new dependencies; zones come from zoneinfo.\n</INSTRUCTIONS>"
)
ENVIRONMENT = (
    "<environment_context>\n  <cwd>/home/dev/bookings</cwd>\n  <shell>bash</shell>\n"
    "  <current_date>2026-03-30</current_date>\n  <timezone>Europe/Vienna</timezone>\n"
    "</environment_context>"
)
SUMMARY_OPENING = (
    "Another language model started to solve this problem and produced a summary of its thinking"
    " process. Use it to build on the work that has already been done."
)
SETTINGS: Body = {
    "cwd": CWD,
    "approval_policy": "on-request",
    "sandbox_policy": {"type": "workspace-write", "network_access": False},
    "model": "gpt-5.2-codex",
    "effort": "medium",
    "summary": "auto",
}

FIRST = "A booking for 09:00 on 30 March shows as 10:00 since the weekend. Why?"
SHIFT = "Then take the hour off where it is shown."
ZONES = "Store the local time and the zone instead, and move the old rows over."

SHOWN = """\
def shown(booking: Booking) -> str:
    return (booking.at + booking.offset).strftime("%H:%M")
"""
CREATED = """\
    offset = datetime.now(VIENNA).utcoffset()   # of today, not of the day that is booked
    return Booking(at=local - offset, offset=offset)
"""
SHIFT_PATCH = """\
*** Update File: bookings/view.py
@@
-    return (booking.at + booking.offset).strftime("%H:%M")
+    summer = timedelta(hours=1) if is_summer(booking.at) else timedelta()
+    return (booking.at + booking.offset - summer).strftime("%H:%M")
"""
SHIFT_AGAIN = """\
*** Update File: bookings/view.py
@@
-    summer = timedelta(hours=1) if is_summer(booking.at) else timedelta()
+    was_summer = booking.offset == timedelta(hours=2)
+    summer = timedelta(hours=1) if is_summer(booking.at) and not was_summer else timedelta()
"""
ZONES_PATCH = """\
*** Update File: bookings/model.py
@@
-    offset = datetime.now(VIENNA).utcoffset()   # of today, not of the day that is booked
-    return Booking(at=local - offset, offset=offset)
+    return Booking(local=local, zone="Europe/Vienna")
*** Update File: bookings/view.py
@@
-    return (booking.at + booking.offset).strftime("%H:%M")
+    return booking.local.strftime("%H:%M")
*** Add File: bookings/migrations/0007_local_time.py
+def forward(rows):
+    for row in rows:
+        yield row.id, row.at + row.offset, "Europe/Vienna"
"""
FAILED_BEFORE = """\
F..........                                                              [100%]
tests/test_view.py::test_after_the_clocks_change - assert '10:00' == '09:00'
1 failed, 10 passed in 0.41s
"""
FAILED_SHIFT = """\
.F.......F.                                                              [100%]
tests/test_view.py::test_booked_in_summer - assert '08:00' == '09:00'
tests/test_view.py::test_first_sunday_of_winter - assert '10:00' == '09:00'
2 failed, 9 passed in 0.40s
"""
FAILED_AGAIN = """\
.........F.                                                              [100%]
tests/test_view.py::test_first_sunday_of_winter - assert '10:00' == '09:00'
1 failed, 10 passed in 0.40s
"""


def codex_story() -> bytes:
    """The rollout of the thread."""
    thread = Thread()
    meta: Body = {
        "id": THREAD,
        "timestamp": BEGIN.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "cwd": CWD,
        "originator": "codex_cli_rs",
        "cli_version": "0.146.0",
        "source": "cli",
        "model_provider": "openai",
        "git": {"commit_hash": "b41f09c2d7", "branch": "main"},
    }
    thread.put("session_meta", meta, 0.0)
    _find(thread)
    _shift(thread)
    _store_zones(thread)
    _commit(thread)
    return thread.content()


def _find(thread: Thread) -> None:
    thread.turn(FIRST, 0.4)
    thread.thinks(3.1, "**Looking for where times are shown**")
    thread.plans("", "> See how a time is stored", "- Show the fault in a test", "- Mend it")
    thread.runs(
        "rg -n 'offset|strftime' bookings", "bookings/model.py:31\nbookings/view.py:12\n", 0.1
    )
    thread.runs(
        "sed -n 8,14p bookings/view.py; sed -n 29,33p bookings/model.py", f"{SHOWN}{CREATED}", 0.1
    )
    thread.thinks(4.2)
    thread.runs("pytest -q", FAILED_BEFORE, 1.3, 1)
    thread.end(
        "A time is stored with the offset **of the day on which it was booked**. Who booked"
        " before the clocks changed gets an hour too many.\n\nEither take it off where it is"
        " shown, or store the local time with its zone.",
        5.0,
    )
    thread.counts(9_600, 410, 96, 40)
    thread.done()


def _shift(thread: Thread) -> None:
    thread.turn(SHIFT, 64.0)
    thread.thinks(2.8, "**Taking the hour off in the view**")
    thread.patches(SHIFT_PATCH, "M bookings/view.py")
    thread.runs("pytest -q", FAILED_SHIFT, 1.2, 1)
    thread.thinks(6.5)
    thread.patches(SHIFT_AGAIN, "M bookings/view.py")
    thread.runs("pytest -q", FAILED_AGAIN, 1.2, 1)
    thread.event(
        "turn_aborted", 9.0, turn_id="019d3c42-0000-7000-8000-000000000002", reason="interrupted"
    )
    thread.event("thread_rolled_back", 14.0, num_turns=1)


def _store_zones(thread: Thread) -> None:
    thread.turn(ZONES, 31.0, effort="high")
    thread.thinks(
        7.4, "**The local time is what was agreed on**\n\nIt never changes; the offset does."
    )
    thread.plans(
        "The view is as it was",
        "+ See how a time is stored",
        "+ Show the fault in a test",
        "> Store local time and zone",
        "- Move the old rows over",
    )
    thread.runs("git checkout bookings/view.py", "Updated 1 path from the index\n", 0.1)
    thread.patches(
        ZONES_PATCH,
        "M bookings/model.py",
        "M bookings/view.py",
        "A bookings/migrations/0007_local_time.py",
    )
    thread.runs(
        "pytest -q", "...........                                [100%]\n11 passed in 0.42s\n", 1.2
    )
    thread.runs(
        "python -m bookings.migrate --dry-run", "0007_local_time: 1,204 rows, 0 errors\n", 2.9
    )
    thread.end(
        "Bookings keep their local time and zone now. All 11 tests pass; 1,204 rows move over.",
        3.3,
    )
    thread.counts(13_900, 520, 71, 12)
    thread.done()
    thread.event("thread_name_updated", 2.0, thread_id=THREAD, thread_name="Bookings an hour late")


def _commit(thread: Thread) -> None:
    thread.compacts(
        "Bookings stored today's offset; now local time and zone (model, view, migration 0007)."
        " Shifting in the view broke the autumn. Tests pass. Not committed yet.",
        FIRST,
        ZONES,
    )
    thread.turn("Commit it.", 22.0, model="gpt-5.2", effort="low")
    thread.runs(
        "git commit -qam 'Bookings keep their local time and zone' && git log --oneline -1",
        "7d02ce5 Bookings keep their local time and zone\n",
        0.2,
    )
    thread.end("Committed as 7d02ce5.", 1.6)
    thread.counts(5_900, 140, 12)
    thread.done()
