"""A session of Claude Code: a test in a small web shop that fails once in a while.

The recorder knows how the agent writes a line; the story below is told in the order in which its
lines were written. A subagent has a file of its own.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from textwrap import dedent
from typing import NamedTuple

Body = dict[str, object]
"""A JSON object whose keys keep the order in which they were given."""

CWD = "/home/dev/shop"
MODEL = "claude-sonnet-4-5-20250929"
SMALL_MODEL = "claude-haiku-4-5-20251001"


class Asked(NamedTuple):
    """A call that waits for its result, and the line that made it."""

    tool: str
    call: str
    line: str


class ClaudeRecorder:
    """Writes lines as Claude Code 2.1.197 does: each names the line that it hangs on."""

    def __init__(self, seed: str, started: datetime, *, agent: str | None = None) -> None:
        """Begins an empty session, or that of a subagent."""
        self.lines: list[Body] = []
        self.tip: str | None = None
        self.now = started
        self.session = uuid4(sha256(b"claude-code").hexdigest())
        self.model = SMALL_MODEL if agent else MODEL
        self._seed = seed
        self._agent = agent
        self._asked: list[Asked] = []
        self._base = 2_400 if agent else 16_800
        self._context = self._base
        self._cached = self._base if agent else 0

    def content(self) -> bytes:
        """Gives the file."""
        rows = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines)
        return "".join(f"{row}\n" for row in rows).encode()

    # Lines of any kind

    def digest(self, what: str) -> str:
        """Hex digits that depend on the story and on how far it has come."""
        return sha256(f"{self._seed}/{len(self.lines)}/{what}".encode()).hexdigest()

    def wait(self, seconds: float) -> None:
        """Lets time pass, never by a whole second."""
        jitter = int(self.digest("clock")[:8], 16) % 997
        self.now += timedelta(seconds=seconds, milliseconds=1 + jitter)

    def go(self, line: str) -> None:
        """Goes back to a line, as a rewind does; writes nothing."""
        self.tip = line

    def aside(self, kind: str, **own: object) -> None:
        """Adds a line that has no place in the tree."""
        self.lines.append({"type": kind, **own, "sessionId": self.session})

    def append(self, kind: str, parent: str | None, own: Body) -> str:
        """Adds a line under another, and makes it the tip."""
        name = uuid4(self.digest("uuid"))
        agent: Body = {} if self._agent is None else {"agentId": self._agent}
        self.lines.append(
            {"parentUuid": parent, "isSidechain": self._agent is not None}
            | agent
            | {"type": kind}
            | own
            | {"uuid": name, "timestamp": iso(self.now), "userType": "external"}
            | {"entrypoint": "cli", "cwd": CWD, "sessionId": self.session}
            | {"version": "2.1.197", "gitBranch": "main"}
        )
        self.tip = name
        return name

    # What is said

    def user(self, block: str, after: float = 1) -> str:
        """Adds what the user typed, and what the agent keeps of the files at that moment."""
        self.wait(after)
        self._context += tokens_in(block)
        own: Body = {"promptId": uuid4(self.digest("prompt"))}
        own |= {"message": {"role": "user", "content": text(block)}}
        own["permissionMode"] = "default" if self._agent else "acceptEdits"
        name = self.append("user", self.tip, own)
        self._snapshot(name, {}, is_update=False)
        return name

    def assistant(self, *blocks: Body) -> str:
        """Adds an answer: a line for each block, all with the same usage but for the output."""
        message, request = f"msg_01{base(self.digest('m'), 22)}", base(self.digest("r"), 20)
        fresh, cached = self._context - self._cached, self._cached
        written = 0
        name = ""
        for place, block in enumerate(blocks):
            size = tokens_in(block)
            self.wait(0.4 + size / 60)
            written += size
            given = dict(block)
            if block["type"] == "tool_use":
                given = {"type": "tool_use", "id": f"toolu_01{base(self.digest('t'), 22)}"}
                given |= {key: block[key] for key in ("name", "input")}
            is_last = place == len(blocks) - 1
            said: Body = {
                "model": self.model,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [given],
                "stop_reason": _stop_reason(block) if is_last else None,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": 4,
                    "cache_creation_input_tokens": fresh,
                    "cache_read_input_tokens": cached,
                    "output_tokens": written if is_last else 2,
                    "service_tier": "standard",
                },
            }
            own: Body = {"message": said, "requestId": f"req_011C{request}"}
            name = self.append("assistant", self.tip, own)
            if block["type"] == "tool_use":
                self._asked.append(Asked(str(given["name"]), str(given["id"]), name))
        self._cached = self._context
        self._context += written
        return name

    def result(
        self, content: object, outcome: object, took: float = 0.1, *, failed: bool = False
    ) -> str:
        """Adds the result of the oldest open call, under the line that made it."""
        asked = self._asked.pop(0)
        self.wait(took)
        self._context += tokens_in(content)
        block: Body = {"tool_use_id": asked.call, "type": "tool_result", "content": content}
        if failed:
            block["is_error"] = True
        own: Body = {"message": {"role": "user", "content": [block]}, "toolUseResult": outcome}
        own["sourceToolAssistantUUID"] = asked.line
        return self.append("user", asked.line, own)

    # Results of the tools

    def read(self, path: str, content: str) -> str:
        """Adds the result of reading a file whole."""
        lines = content.split("\n")
        numbered = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, 1))
        file: Body = {"filePath": path, "content": content, "numLines": len(lines)}
        return self.result(
            numbered,
            {"type": "text", "file": {**file, "startLine": 1, "totalLines": len(lines)}},
        )

    def bash(self, output: str, took: float) -> str:
        """Adds the result of a command that went well."""
        outcome: Body = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.result(output, outcome, took)

    def failure(self, output: str, took: float, code: int = 1) -> str:
        """Adds the result of a command that failed."""
        told = f"Exit code {code}\n{output}"
        return self.result(told, f"Error: {told}", took, failed=True)

    def edited(self, path: str, before: str, old: str, new: str) -> str:
        """Adds the result of an edit, and gives the file after it."""
        after = before.replace(old, new, 1)
        outcome: Body = {"filePath": path, "oldString": old, "newString": new}
        outcome |= {"originalFile": before, "structuredPatch": list(hunks(before, after))}
        outcome |= {"userModified": False, "replaceAll": False}
        self.result(f"The file {path} has been updated successfully.", outcome)
        return after

    def wrote(self, path: str, before: str, after: str) -> None:
        """Adds the result of writing a file anew."""
        outcome: Body = {"type": "update", "filePath": path, "content": after}
        outcome |= {"structuredPatch": list(hunks(before, after)), "originalFile": before}
        self.result(f"The file {path} has been updated successfully.", outcome)

    def todos(self, old: list[Body], new: list[Body]) -> None:
        """Adds the result of writing down the tasks."""
        said = "Todos have been modified successfully. Continue with the current tasks."
        self.result(said, {"oldTodos": old, "newTodos": new}, 0.01)

    # What the agent adds itself

    def hook(self, event: str, name: str, output: str) -> str:
        """Adds what a hook said."""
        self.wait(0.3)
        told: Body = {"type": "hook_success", "hookName": f"{event}:{name}", "hookEvent": event}
        told |= {"content": output, "stdout": output, "stderr": "", "exitCode": 0}
        return self.append("attachment", self.tip, {"attachment": told})

    def system(self, subtype: str, **own: object) -> str:
        """Adds a line about the session."""
        return self.append("system", self.tip, {"subtype": subtype, **own, "isMeta": False})

    def backup(self, message: str, **versions: int) -> None:
        """Adds what is kept of the files that a turn changed."""
        files: Body = {
            path.replace("__", "/") + ".py": {
                "backupFileName": f"{sha256(path.encode()).hexdigest()[:16]}@v{version}",
                "version": version,
                "backupTime": iso(self.now),
            }
            for path, version in versions.items()
        }
        self._snapshot(message, files, is_update=True)

    def _snapshot(self, message: str, files: Body, *, is_update: bool) -> None:
        if self._agent is not None:
            return
        kept: Body = {
            "messageId": message,
            "trackedFileBackups": files,
            "timestamp": iso(self.now),
        }
        line: Body = {"type": "file-history-snapshot", "messageId": message}
        self.lines.append({**line, "snapshot": kept, "isSnapshotUpdate": is_update})

    def compact(self, summary: str) -> None:
        """Sums up all that was said, and goes on behind the summary."""
        self.wait(38)
        boundary: Body = {"logicalParentUuid": self.tip, "subtype": "compact_boundary"}
        boundary |= {"content": "Conversation compacted", "isMeta": False, "level": "info"}
        boundary["compactMetadata"] = {"trigger": "manual", "preTokens": self._context}
        self.append("system", None, boundary)
        said = (
            "This session is being continued from a previous conversation that ran out of "
            f"context. The conversation is summarized below:\n{text(summary)}"
        )
        own: Body = {"message": {"role": "user", "content": said}}
        own |= {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        self.append("user", self.tip, own)
        self._context, self._cached = self._base + tokens_in(summary), self._base

    def last_prompt(self, said: str) -> None:
        """Says where the agent goes on."""
        self.aside("last-prompt", lastPrompt=text(said), leafUuid=self.tip)


def _stop_reason(block: Body) -> str:
    return "tool_use" if block["type"] == "tool_use" else "end_turn"


def think(block: str) -> Body:
    """A thinking block; what signs it is made up."""
    signature = sha256(block.encode()).hexdigest()
    return {"type": "thinking", "thinking": text(block), "signature": f"Eo{signature}"}


def say(block: str) -> Body:
    """A text block."""
    return {"type": "text", "text": text(block)}


def call(name: str, **given: object) -> Body:
    """A call of a tool; its id comes when it is recorded."""
    return {"type": "tool_use", "name": name, "input": given}


def edit(path: str, old: str, new: str) -> Body:
    """A call of the edit tool."""
    return call("Edit", file_path=path, old_string=old, new_string=new, replace_all=False)


def bash(command: str, description: str) -> Body:
    """A call of the shell."""
    return call("Bash", command=command, description=description)


def tasks(*states: str) -> list[Body]:
    """The tasks of the story, with how far each of them is."""
    return [
        {"content": content, "status": status, "activeForm": active}
        for (content, active), status in zip(TASKS, states, strict=False)
    ]


def hunks(before: str, after: str) -> Iterator[Body]:
    """The hunks of a patch, with three lines around each change."""
    old, new = before.splitlines(), after.splitlines()
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(3):
        _, old_begin, _, new_begin, _ = group[0]
        _, _, old_end, _, new_end = group[-1]
        lines: list[str] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a:b]]
            else:
                lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
        place: Body = {"oldStart": old_begin + 1, "oldLines": old_end - old_begin}
        place |= {"newStart": new_begin + 1, "newLines": new_end - new_begin}
        yield {**place, "lines": lines}


def tokens_in(content: object) -> int:
    """A fair guess at the tokens of some content."""
    return 9 + len(json.dumps(content, ensure_ascii=False)) // 4


def text(block: str) -> str:
    """A story text without the indentation that it has in this file."""
    return dedent(block).strip("\n")


def source(block: str) -> str:
    """A file of the story, with its final newline."""
    return text(block) + "\n"


def iso(moment: datetime) -> str:
    """A time as the agent writes it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def uuid4(digits: str) -> str:
    """A random-looking id, which is the same each time."""
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def base(digits: str, size: int) -> str:
    """Letters and digits that look like an id of the provider."""
    letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number = int(digits, 16)
    return "".join(letters[number // 58**place % 58] for place in range(size))


# --- The story: a voucher that is late ---------------------------------------------------------

VOUCHER_PATH = f"{CWD}/shop/voucher.py"
TEST_PATH = f"{CWD}/tests/test_voucher.py"
AGENT = "a4c81e7"

VOUCHER = source('''
    """Vouchers: a few percent off, for a while."""

    from dataclasses import dataclass
    from datetime import datetime, timedelta


    @dataclass
    class Voucher:
        code: str
        percent: int
        valid_until: datetime

        @classmethod
        def issue(cls, code: str, percent: int, valid_for: timedelta) -> "Voucher":
            return cls(code, percent, datetime.now() + valid_for)

        def is_valid(self) -> bool:
            return datetime.now() <= self.valid_until
    ''')

TEST = source("""
    from datetime import timedelta

    from shop.voucher import Voucher


    def test_a_voucher_is_valid_to_the_last_moment():
        voucher = Voucher.issue("SPRING", 10, valid_for=timedelta(microseconds=50))

        assert voucher.is_valid()
    """)

TEST_WITH_CLOCK = source("""
    from datetime import datetime, timedelta

    from shop.voucher import Voucher


    class Clock:
        def __init__(self) -> None:
            self.now = datetime(2026, 3, 1, 12, 0)

        def __call__(self) -> datetime:
            return self.now


    def test_a_voucher_is_valid_to_the_last_moment():
        clock = Clock()
        voucher = Voucher.issue("SPRING", 10, valid_for=timedelta(days=7), clock=clock)

        clock.now += timedelta(days=7)
        assert voucher.is_valid()

        clock.now += timedelta(microseconds=1)
        assert not voucher.is_valid()
    """)

MORE_TIME = ("timedelta(microseconds=50)", "timedelta(milliseconds=5)")
CLOCK_TYPE = (
    "from dataclasses import dataclass\nfrom datetime import datetime, timedelta\n",
    (
        "from collections.abc import Callable\n"
        "from dataclasses import dataclass\n"
        "from datetime import datetime, timedelta\n"
        "\n"
        "Clock = Callable[[], datetime]\n"
    ),
)
CLOCK_USED = (
    VOUCHER[VOUCHER.index("    valid_until: datetime\n") :],
    (
        "    valid_until: datetime\n"
        "    clock: Clock = datetime.now\n"
        "\n"
        "    @classmethod\n"
        "    def issue(\n"
        "        cls, code: str, percent: int, valid_for: timedelta, clock: Clock = datetime.now\n"
        '    ) -> "Voucher":\n'
        "        return cls(code, percent, clock() + valid_for, clock)\n"
        "\n"
        "    def is_valid(self) -> bool:\n"
        "        return self.clock() <= self.valid_until\n"
    ),
)

TASKS = (
    ("Make the failure happen here", "Making the failure happen"),
    ("Find out what it depends on", "Finding out what it depends on"),
    ("Fix it and run the test 500 times", "Fixing it"),
)

FLAKY = """\
....................F...............................................    [ 13%]
=================================== FAILURES ===================================
_________ test_a_voucher_is_valid_to_the_last_moment[21-500] __________
tests/test_voucher.py:9: in test_a_voucher_is_valid_to_the_last_moment
    assert voucher.is_valid()
E   AssertionError: assert False
4 failed, 496 passed in 3.21s"""

LOOK = """
    How do the tests in tests/ deal with time? Say for each way that you find: the file, and
    whether the test sets the time itself or waits for it. Read only, change nothing."""

FOUND = """
    Two ways:

    - `tests/test_basket.py` gives the basket a **clock** that the test sets (`Basket(clock=...)`).
    - `tests/test_newsletter.py` **waits** (`time.sleep(0.2)`), in two tests."""

FIRST_PROMPT = """
    test_a_voucher_is_valid_to_the_last_moment fails in CI about once a day. I have never seen it
    fail here. Please find out why, and fix it."""
QUICK_PROMPT = "Give it more time, 5 ms will do."
CLOCK_PROMPT = "More time only makes it rarer. Give the voucher a clock, as the basket has one."
LAST_PROMPT = "Commit it. And is the newsletter test of the same kind?"


def claude_code_story() -> dict[str, bytes]:
    """Gives the files of the session: its own, and that of its subagent."""
    claude = ClaudeRecorder("claude-code", datetime(2026, 9, 22, 8, 41, 7, 212_000, tzinfo=UTC))
    claude.aside("permission-mode", permissionMode="acceptEdits")
    find_out(claude)
    agent = ask_around(claude)
    decision = propose(claude)
    more_time(claude)
    claude.go(decision)
    give_it_a_clock(claude)
    sum_up_and_commit(claude)
    claude.aside("custom-title", customTitle="A voucher that is late")
    claude.last_prompt(LAST_PROMPT)
    return {
        "claude-code.jsonl": claude.content(),
        f"claude-code/subagents/agent-{AGENT}.jsonl": agent.content(),
    }


def find_out(claude: ClaudeRecorder) -> None:
    """Reads the code and makes the test fail."""
    claude.user(FIRST_PROMPT)
    claude.hook("UserPromptSubmit", "notes", "CI runs on 2 cores, with coverage.")
    claude.assistant(
        think(
            """
            A test about the last moment of something: most likely it reads the clock twice.
            Look at both files at once.
            """
        ),
        say("I look at the voucher and its test."),
        call("Read", file_path=VOUCHER_PATH),
        call("Read", file_path=TEST_PATH),
    )
    claude.read(VOUCHER_PATH, VOUCHER)
    claude.read(TEST_PATH, TEST)
    claude.aside("ai-title", aiTitle="Find out why a voucher test is flaky")
    claude.assistant(
        think("`datetime.now()` is read twice, 50 µs apart at most. Make it happen: many runs."),
        call("TodoWrite", todos=tasks("in_progress", "pending", "pending")),
        bash("pytest -q --count 500 tests/test_voucher.py", "Run the test 500 times"),
    )
    claude.todos([], tasks("in_progress", "pending", "pending"))
    claude.failure(FLAKY, 3.9)


def ask_around(claude: ClaudeRecorder) -> ClaudeRecorder:
    """Sends a subagent to look how other tests do it."""
    claude.assistant(
        say("It fails **4 times in 500** here too. I have someone look how other tests do it."),
        call(
            "Task",
            subagent_type="Explore",
            description="How tests deal with time",
            prompt=text(LOOK),
        ),
    )
    agent = ClaudeRecorder("claude-code/agent", claude.now, agent=AGENT)
    agent.user(LOOK, after=0.2)
    agent.assistant(
        say("I search for clocks and for waiting."),
        call("Grep", pattern="clock", path="tests", output_mode="files_with_matches"),
        call("Grep", pattern="sleep", path="tests", output_mode="content", **{"-n": True}),
    )
    agent.result(
        "Found 1 file\ntests/test_basket.py",
        {"mode": "files_with_matches", "filenames": ["tests/test_basket.py"], "numFiles": 1},
    )
    waits = "\n".join(f"tests/test_newsletter.py:{n}:    time.sleep(0.2)" for n in (14, 31))
    agent.result(
        waits,
        {"mode": "content", "filenames": [], "numFiles": 0, "content": waits, "numLines": 2},
    )
    agent.assistant(say(FOUND))
    claude.now = agent.now
    claude.result(
        [say(FOUND)],
        {"status": "completed", "prompt": text(LOOK), "agentId": AGENT, "content": [say(FOUND)]}
        | {"totalDurationMs": 9_412, "totalTokens": 3_127, "totalToolUseCount": 2},
    )
    return agent


def propose(claude: ClaudeRecorder) -> str:
    """Says why it fails; this is where the ways part."""
    claude.assistant(
        call("TodoWrite", todos=tasks("completed", "completed", "pending")),
    )
    claude.todos(
        tasks("in_progress", "pending", "pending"), tasks("completed", "completed", "pending")
    )
    return claude.assistant(
        think("Two ways to fix it. The clock is the right one, but it changes the signature."),
        say(
            """
            The test reads the clock **twice**: once in `issue()`, once in `is_valid()`. If more
            than 50 µs pass in between, the voucher is late. On two busy cores they sometimes do.

            1. Give the test more time.
            2. Give the voucher a clock that the test sets, as `Basket` has one.
            """
        ),
    )


def more_time(claude: ClaudeRecorder) -> None:
    """The way that only makes it rarer; it is left behind."""
    prompt = claude.user(QUICK_PROMPT, after=190)
    claude.assistant(
        edit(TEST_PATH, *MORE_TIME),
        bash("pytest -q --count 500 tests/test_voucher.py", "Run the test 500 times"),
    )
    claude.edited(TEST_PATH, TEST, *MORE_TIME)
    claude.bash("500 passed in 3.18s", 3.8)
    claude.backup(prompt, tests__test_voucher=1)
    claude.assistant(say("500 of 500 are green. It can still fail where a core is busy for 5 ms."))
    claude.last_prompt(QUICK_PROMPT)
    claude.user("CI is red again, the same test.", after=2_900)
    claude.assistant(
        say("Then the pause was longer than 5 ms. Only a clock that the test sets is safe."),
    )


def give_it_a_clock(claude: ClaudeRecorder) -> None:
    """The way that holds."""
    prompt = claude.user(CLOCK_PROMPT, after=75)
    claude.assistant(
        think("Two places in voucher.py, and the test is written anew."),
        say("Two edits, and the test sets the time itself."),
        edit(VOUCHER_PATH, *CLOCK_TYPE),
        edit(VOUCHER_PATH, *CLOCK_USED),
        call("Write", file_path=TEST_PATH, content=TEST_WITH_CLOCK),
    )
    with_type = claude.edited(VOUCHER_PATH, VOUCHER, *CLOCK_TYPE)
    claude.edited(VOUCHER_PATH, with_type, *CLOCK_USED)
    claude.wrote(TEST_PATH, TEST, TEST_WITH_CLOCK)
    claude.hook("PostToolUse", "Write", "ruff: all checks passed")
    claude.assistant(
        bash("pytest -q --count 500 tests/test_voucher.py && pytest -q", "Run all tests"),
    )
    claude.bash("500 passed in 3.02s\n84 passed in 6.40s", 10.8)
    claude.backup(prompt, shop__voucher=1, tests__test_voucher=2)
    claude.assistant(
        call("TodoWrite", todos=tasks("completed", "completed", "completed")),
    )
    claude.todos(
        tasks("completed", "completed", "pending"), tasks("completed", "completed", "completed")
    )
    claude.assistant(
        say(
            """
            Green, 500 of 500. The voucher takes a `clock`, which is `datetime.now` if nothing is
            said. The test now also says that it is **not** valid a microsecond later.
            """
        )
    )
    claude.system("turn_duration", durationMs=37_204)
    claude.last_prompt(CLOCK_PROMPT)


def sum_up_and_commit(claude: ClaudeRecorder) -> None:
    """Sums up, then commits, and looks at the next test."""
    claude.compact(
        """
        1. Request: find out why test_a_voucher_is_valid_to_the_last_moment is flaky; fix it.
        2. Cause: the clock was read twice, with 50 µs in between at most.
        3. Fixed: `Voucher` takes a `clock` (shop/voucher.py); tests/test_voucher.py sets it.
        4. All 84 tests pass, the voucher test 500 times of 500. Nothing is committed yet.
        """
    )
    claude.user(LAST_PROMPT, after=22)
    claude.assistant(
        bash(
            'git commit -am "The voucher test sets the time itself" '
            '-m "Co-Authored-By: Claude <noreply@anthropic.com>"',
            "Commit",
        ),
        call("Read", file_path=f"{CWD}/tests/test_newsletters.py"),
    )
    claude.bash(
        "[main add9135] The voucher test sets the time itself\n"
        " 2 files changed, 24 insertions(+), 5 deletions(-)",
        0.4,
    )
    claude.result(
        "File does not exist. Did you mean test_newsletter.py?",
        "Error: File does not exist. Did you mean test_newsletter.py?",
        failed=True,
    )
    claude.assistant(
        say(
            """
            Committed as `add9135`.

            The newsletter is of the same kind: by what was found earlier, two of its tests
            **sleep** for 0.2 s. Shall I give it a clock too?
            """
        )
    )
    claude.system(
        "stop_hook_summary",
        hookCount=1,
        hookInfos=[{"command": "make lint"}],
        hookErrors=[],
        preventedContinuation=False,
        level="suggestion",
    )
    claude.system("turn_duration", durationMs=12_655)
