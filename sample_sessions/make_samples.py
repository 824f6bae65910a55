#!/usr/bin/env python3
"""Writes the sample sessions beside this file: fixed ids, fixed times, the same bytes each run.

First come the two recorders, which know how each agent writes a line, then the two stories, each
told from top to bottom in the order in which its lines were written. The stories that need no such
agent stand in modules of their own.
"""

from __future__ import annotations

import difflib
import json
from collections import deque
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from agent_state_story import agent_state_story
from claude_code_story import claude_code_story
from codex_story import codex_story
from copilot_story import copilot_story
from gemini_story import gemini_story
from git_story import write_repository
from recorded_story import recorded_story
from requests_story import requests_story
from tables_story import write_tables

Body = dict[str, object]
"""A JSON object whose keys keep the order in which they were given."""

Edits = list[tuple[str, str]]
"""Replacements of an edit call: old text, new text."""

HERE = Path(__file__).parent
PROVIDER = "example"
API = "openai-completions"


def main() -> None:
    """Writes the sample files."""
    pi = flaky_test_story()
    pi.save(HERE / "pi.jsonl")
    tau = importer_story()
    tau.save(HERE / "tau.jsonl")
    (HERE / "agent-state.jsonl").write_bytes(agent_state_story())
    (HERE / "requests.jsonl").write_bytes(requests_story())
    (HERE / "codex.jsonl").write_bytes(codex_story())
    for name, content in claude_code_story().items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_bytes(content)
    write_repository(HERE / "shop.git")
    write_tables(HERE)
    (HERE / "copilot.jsonl").write_bytes(copilot_story())
    (HERE / "gemini.jsonl").write_bytes(gemini_story())
    (HERE / "recorded.jsonl").write_bytes(recorded_story())


# --- What both recorders share -----------------------------------------------------------------


class Tokens(NamedTuple):
    """Token counts of one model call."""

    fresh: int
    cached: int
    output: int
    reasoning: int

    def usage(self, cost: Body) -> Body:
        """The `usage` object that both agents write."""
        return {
            "input": self.fresh,
            "output": self.output,
            "cacheRead": self.cached,
            "cacheWrite": 0,
            "reasoning": self.reasoning,
            "totalTokens": self.fresh + self.cached + self.output,
            "cost": cost,
        }

    def prices(self) -> tuple[float, float, float, float]:
        """Dollars for input, output, cached input and all of them."""
        fresh = round(self.fresh * 5e-6, 6)
        output = round(self.output * 25e-6, 6)
        cached = round(self.cached * 0.5e-6, 6)
        return fresh, output, cached, round(fresh + output + cached, 6)


class Meter:
    """Believable token counts: four characters a token, what was sent before comes from cache."""

    def __init__(self, base: int) -> None:
        """Starts from `base` tokens of system prompt and tools."""
        self._base = base
        self._context: dict[str | None, int] = {None: base}
        self._cached: dict[str | None, int] = {None: 0}

    def add(self, entry: str, parent: str | None, content: object = "") -> None:
        """Counts an entry that hangs under `parent`."""
        added = tokens_in(content) if content else 0
        self._context[entry] = self._context[parent] + added
        self._cached[entry] = self._cached[parent]

    def call(self, entry: str, parent: str | None, content: list[Body]) -> Tokens:
        """Counts an answer, and says what its call used."""
        output = tokens_in(content)
        thoughts = [block for block in content if block["type"] == "thinking"]
        prompt = self._context[parent]
        cached = self._cached[parent]
        self._context[entry] = prompt + output
        self._cached[entry] = prompt
        reasoning = tokens_in(thoughts) if thoughts else 0
        return Tokens(prompt - cached, cached, output, reasoning)

    def summary(self, content: str, source: int) -> Tokens:
        """What writing a summary of `source` tokens used."""
        return Tokens(source, 0, tokens_in(content), 0)

    def shrink(self, entry: str, size: int) -> None:
        """Lets the context at `entry` be `size` tokens beside the base, with a cold cache."""
        self._context[entry] = self._base + size
        self._cached[entry] = self._base

    def at(self, entry: str | None) -> int:
        """Size of the context at an entry."""
        return self._context[entry]


def tokens_in(content: object) -> int:
    """A fair guess at the tokens of some content."""
    return 12 + len(json.dumps(content, ensure_ascii=False)) // 4


class Recorder:
    """A session under construction: its lines, its tip and its clock."""

    def __init__(self, seed: str, started: datetime, base_tokens: int) -> None:
        """Begins an empty session."""
        self.lines: list[Body] = []
        self.tip: str | None = None
        self.now: datetime = started
        self.meter = Meter(base_tokens)
        self._seed = seed
        self._calls: deque[Body] = deque()

    def go(self, entry: str | None) -> None:
        """Moves the tip, as choosing an entry in the tree does; writes nothing."""
        self.tip = entry

    def save(self, path: Path) -> None:
        """Writes the lines as compact JSON."""
        rows = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(f"{row}\n" for row in rows).encode())

    def digest(self, what: str) -> str:
        """Hex digits that depend on the story and on how far it has come."""
        return sha256(f"{self._seed}/{len(self.lines)}/{what}".encode()).hexdigest()

    def wait(self, seconds: float) -> None:
        """Lets time pass, never by a whole second."""
        jitter = int(self.digest("clock")[:8], 16) % 997_000
        self.now += timedelta(seconds=seconds, microseconds=1_000 + jitter)

    def number_calls(self, blocks: tuple[Body, ...]) -> list[Body]:
        """Gives the tool calls among the blocks their ids, and expects their results."""
        numbered: list[Body] = []
        for position, block in enumerate(blocks):
            if block["type"] != "toolCall":
                numbered.append(block)
                continue
            call = {"type": "toolCall", "id": f"call_{self.digest(f'call{position}')[:16]}"}
            numbered.append({**call, "name": block["name"], "arguments": block["arguments"]})
            self._calls.append(numbered[-1])
        return numbered

    def next_call(self) -> Body:
        """The oldest tool call without a result."""
        return self._calls.popleft()


def milliseconds(moment: datetime) -> int:
    """Unix time in milliseconds."""
    return int(moment.timestamp() * 1000)


def text(block: str) -> str:
    """A story text without the indentation that it has in this file."""
    return dedent(block).strip("\n")


def source(block: str) -> str:
    """A file of the story, with its final newline."""
    return text(block) + "\n"


def say(block: str) -> Body:
    """A text block."""
    return {"type": "text", "text": text(block)}


def call(name: str, **arguments: object) -> Body:
    """A tool call; its id comes when it is recorded."""
    return {"type": "toolCall", "name": name, "arguments": arguments}


def edit_call(path: str, edits: Edits) -> Body:
    """A call of the edit tool, which both agents spell alike."""
    return call("edit", path=path, edits=[{"oldText": old, "newText": new} for old, new in edits])


def edited(content: str, edits: Edits) -> str:
    """The file after an edit call."""
    for old, new in edits:
        content = content.replace(old, new)
    return content


# --- Pi ----------------------------------------------------------------------------------------


class PiRecorder(Recorder):
    """Writes lines as Pi 1.6.0 does, format version 3."""

    def __init__(self, cwd: str, started: datetime) -> None:
        """Begins with the header and the entries that Pi writes before the first prompt."""
        super().__init__("pi", started, base_tokens=2_900)
        self.stamp = iso(started).replace(":", "-").replace(".", "-")
        self.session_id = uuid7(started, self.digest("session"))
        self.model = ""
        self.level = ""
        self.sections = pi_sections(cwd)
        self.lines.append(
            {
                "type": "session",
                "version": 3,
                "id": self.session_id,
                "timestamp": iso(started),
                "cwd": cwd,
            }
        )

    def append(self, kind: str, own: Body, content: object = "") -> str:
        """Adds an entry under the tip, and makes it the tip."""
        entry = self.digest("id")[:8]
        self._link(entry, {"type": kind, **self._place(entry), **own}, content)
        return entry

    def extension(self, kind: str, own: Body, content: object = "") -> str:
        """Adds an entry of an extension, whose own keys come before its id."""
        self.wait(0.05)
        entry = self.digest("id")[:8]
        self._link(entry, {"type": kind, **own, **self._place(entry)}, content)
        return entry

    def _place(self, entry: str) -> Body:
        return {"id": entry, "parentId": self.tip, "timestamp": iso(self.now)}

    def _link(self, entry: str, line: Body, content: object) -> None:
        self.meter.add(entry, self.tip, content)
        self.lines.append(line)
        self.tip = entry

    def settings(self, model: str, level: str) -> str:
        """Chooses the model and how hard it thinks."""
        self.model, self.level = model, level
        self.append("model_change", {"provider": PROVIDER, "modelId": model})
        return self.append("thinking_level_change", {"thinkingLevel": level})

    def declare(self) -> str:
        """Writes the system prompt and the tools, as the first request does."""
        message: Body = {
            "role": "system",
            "content": "",
            "sections": self.sections,
            "timestamp": milliseconds(self.now),
            "toolsAdded": PI_TOOLS,
        }
        return self.append("message", {"message": message})

    def user(self, block: str, after: float) -> str:
        """Adds what the user typed, `after` seconds."""
        self.wait(after)
        typed = milliseconds(self.now - timedelta(milliseconds=3))
        message: Body = {"role": "user", "content": [say(block)], "timestamp": typed}
        return self.append("message", {"message": message}, text(block))

    def assistant(self, *blocks: Body) -> str:
        """Adds an answer; tool calls in it expect results."""
        content = self.number_calls(blocks)
        used = self.meter.call("answer", self.tip, content)
        started = self.now + timedelta(milliseconds=6)
        self.wait(1.5 + used.output / 45)
        calls = any(block["type"] == "toolCall" for block in content)
        message: Body = {
            "role": "assistant",
            "content": content,
            "api": API,
            "provider": PROVIDER,
            "model": self.model,
            "usage": pi_usage(used),
            "stopReason": "toolUse" if calls else "stop",
            "timestamp": milliseconds(started),
            "responseId": f"resp_{self.digest('response')[:20]}",
            "rawStopReason": "tool_calls" if calls else "stop",
            "durationMs": milliseconds(self.now) - milliseconds(started) - 2,
            "thinkingLevel": self.level,
        }
        parent = self.tip
        entry = self.append("message", {"message": message})
        self.meter.call(entry, parent, content)
        return entry

    def result(
        self, output: str, took: float = 0.01, *, failed: bool = False, details: Body | None = None
    ) -> str:
        """Adds the result of the oldest open call, which ran for `took` seconds."""
        asked = self.next_call()
        self.wait(took)
        message: Body = {
            "role": "toolResult",
            "toolCallId": asked["id"],
            "toolName": asked["name"],
            "content": [{"type": "text", "text": output}],
            **({} if details is None else {"details": details}),
            "isError": failed,
            "durationMs": int(took * 1000) + 3,
            "timestamp": milliseconds(self.now),
        }
        return self.append("message", {"message": message}, output)

    def edit_result(self, path: str, old: str, edits: Edits) -> str:
        """Adds the result of an edit call, with the diffs that Pi keeps."""
        done = f"Successfully replaced {len(edits)} block(s) in {path}."
        return self.result(done, details=pi_edit_details(path, old, edited(old, edits)))

    def label(self, target: str, name: str | None, after: float = 4) -> str:
        """Sets a label, or clears it when there is no name."""
        self.wait(after)
        own: Body = {"targetId": target} if name is None else {"targetId": target, "label": name}
        return self.append("label", own)

    def name(self, title: str, after: float = 60) -> str:
        """Names the session."""
        self.wait(after)
        return self.append("session_info", {"name": title})

    def return_to(self, entry: str, summary: str, touched: tuple[list[str], list[str]]) -> str:
        """Goes back to an entry and leaves a summary of the branch behind."""
        self.wait(120)
        left = self.tip
        used = self.meter.summary(summary, self.meter.at(left) - self.meter.at(entry) + 400)
        self.go(entry)
        preamble = (
            "The user explored a different conversation branch before returning here.\n"
            "Summary of that exploration:\n\n"
        )
        own: Body = {
            "fromId": left,
            "summary": preamble + text(summary) + pi_files(*touched),
            "details": {"readFiles": touched[0], "modifiedFiles": touched[1]},
            "usage": pi_usage(used),
            "fromHook": False,
        }
        return self.append("branch_summary", own, own["summary"])

    def compact(self, kept: str, summary: str, touched: tuple[list[str], list[str]]) -> str:
        """Replaces what lies before `kept` by a summary."""
        self.wait(540)
        before = self.meter.at(self.tip)
        kept_tokens = before - self.meter.at(kept)
        used = self.meter.summary(summary, before - kept_tokens)
        own: Body = {
            "summary": text(summary) + pi_files(*touched),
            "firstKeptEntryId": kept,
            "tokensBefore": before,
            "details": {"readFiles": touched[0], "modifiedFiles": touched[1]},
            "usage": pi_usage(used),
            "fromHook": False,
            "systemMessage": {
                "role": "system",
                "content": "",
                "sections": self.sections,
                "toolsAdded": PI_TOOLS,
                "timestamp": milliseconds(self.now),
            },
        }
        entry = self.append("compaction", own)
        self.meter.shrink(entry, kept_tokens + tokens_in(summary))
        return entry

    def edit_context(self, target: str, replacement: str) -> str:
        """Shortens an earlier message in later contexts only."""
        self.wait(0.1)
        content = {"content": [{"type": "text", "text": replacement}]}
        return self.append("context_edit", {"targetId": target, "replacement": content})

    def warm_cache(self, after: float) -> str:
        """Pays for keeping the prompt in the provider's cache."""
        self.wait(after)
        used = Tokens(24, self.meter.at(self.tip), 4, 0)
        own: Body = {"kind": "cache_warm", "provider": PROVIDER, "model": self.model}
        return self.append("usage", {**own, "usage": pi_usage(used)})


def iso(moment: datetime) -> str:
    """Time as Pi writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def uuid7(moment: datetime, digits: str) -> str:
    """A version 7 UUID of that moment, with the given hex digits for its random part."""
    time = f"{milliseconds(moment):012x}"
    return f"{time[:8]}-{time[8:]}-7{digits[:3]}-a{digits[3:6]}-{digits[6:18]}"


def think(block: str) -> Body:
    """A thinking block as Pi keeps it."""
    return {"type": "thinking", "thinking": text(block), "thinkingSignature": "reasoning_content"}


def exited(output: str, code: int) -> str:
    """What Pi's bash tool returns for a command that failed."""
    return f"{output}\n\nCommand exited with code {code}"


def pi_usage(used: Tokens) -> Body:
    """Usage as Pi writes it: whole zeros, and where the total comes from."""
    fresh, output, cached, total = used.prices()
    cost: Body = {"input": fresh, "output": output, "cacheRead": cached or 0, "cacheWrite": 0}
    return used.usage({**cost, "total": total, "totalFromProvider": False})


def pi_files(read: list[str], modified: list[str]) -> str:
    """The lists of files that Pi adds to a summary."""
    parts = [("read-files", read), ("modified-files", modified)]
    return "".join(
        f"\n\n<{tag}>\n" + "\n".join(files) + f"\n</{tag}>" for tag, files in parts if files
    )


def pi_edit_details(path: str, old: str, new: str) -> Body:
    """The details of an edit: a numbered diff for the screen and a unified one."""
    before, after = old.splitlines(), new.splitlines()
    width = len(str(max(len(before), len(after))))
    skipped = " " * (width + 1) + " ..."
    rows: list[str] = []
    reached = 0
    first_changed = 0
    for group in difflib.SequenceMatcher(None, before, after).get_grouped_opcodes(4):
        if group[0][1] > reached:
            rows.append(skipped)
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                rows += [f" {n + 1:>{width}} {before[n]}" for n in range(start, end)]
                continue
            first_changed = first_changed or new_start + 1
            rows += [f"-{n + 1:>{width}} {before[n]}" for n in range(start, end)]
            rows += [f"+{n + 1:>{width}} {after[n]}" for n in range(new_start, new_end)]
        reached = group[-1][2]
    if reached < len(before):
        rows.append(skipped)
    patch = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), path, path, n=4
    )
    return {
        "diff": "\n".join(rows),
        "patch": "".join(patch),
        "firstChangedLine": first_changed,
    }


def pi_sections(cwd: str) -> Body:
    """A short system prompt, in named sections."""
    return {
        "preamble": "You are a coding assistant. Inspect files, run commands and change code.",
        "tools": "<tools>\n- read\n- bash\n- edit\n- write\n</tools>",
        "rules": "<rules>\n- Be concise\n- Run the tests before you say that they pass\n</rules>",
        "cwd": f"<cwd>\n{cwd}\n</cwd>",
    }


def schema(types: dict[str, str], required: int) -> Body:
    """A JSON schema of which the first `required` keys must be given."""
    return {
        "type": "object",
        "required": list(types)[:required],
        "properties": {key: {"type": kind} for key, kind in types.items()},
    }


def tool(name: str, description: str, parameters: Body) -> Body:
    """A tool declaration."""
    return {"name": name, "description": description, "parameters": parameters}


PI_TOOLS = [
    tool(
        "read",
        "Read a file, or a part of it.",
        schema({"path": "string", "offset": "number", "limit": "number"}, 1),
    ),
    tool(
        "bash",
        "Execute a shell command.",
        schema({"command": "string", "timeout": "number"}, 1),
    ),
    tool(
        "edit",
        "Replace exact pieces of text in one file.",
        {
            "type": "object",
            "required": ["path", "edits"],
            "properties": {
                "path": {"type": "string"},
                "edits": {
                    "type": "array",
                    "items": schema({"oldText": "string", "newText": "string"}, 2),
                },
            },
        },
    ),
    tool(
        "write",
        "Create or overwrite a file.",
        schema({"path": "string", "content": "string"}, 2),
    ),
]


# --- The Pi story: a flaky test ----------------------------------------------------------------

STORE = source('''
    """Notes on disk: one JSON file, written by a background thread."""

    import json
    import threading
    from pathlib import Path


    class NoteStore:
        def __init__(self, path: Path, delay: float = 0.2) -> None:
            self.path = path
            self.delay = delay
            self.notes: dict[str, str] = {}
            self._timer: threading.Timer | None = None

        def put(self, key: str, text: str) -> None:
            self.notes[key] = text
            if self._timer is None:
                self._timer = threading.Timer(self.delay, self._save)
                self._timer.start()

        def _save(self) -> None:
            self._timer = None
            self.path.write_text(json.dumps(self.notes))

        def load(self) -> None:
            self.notes = json.loads(self.path.read_text())
    ''')

IO_TEST = source("""
    import time

    from notekeeper.store import NoteStore


    def test_autosave_roundtrip(tmp_path):
        path = tmp_path / "notes.json"
        store = NoteStore(path)
        store.put("milk", "two bottles")
        time.sleep(0.25)

        again = NoteStore(path)
        again.load()
        assert again.notes == {"milk": "two bottles"}
    """)

POLLING = [
    (
        "    time.sleep(0.25)\n",
        (
            "    deadline = time.monotonic() + 2\n"
            "    while not path.exists() and time.monotonic() < deadline:\n"
            "        time.sleep(0.01)\n"
        ),
    ),
]
LONGER = [("time.monotonic() + 2\n", "time.monotonic() + 10\n")]

OLD_SAVE = "        self.path.write_text(json.dumps(self.notes))\n"

TEMP_ELSEWHERE = [
    (
        OLD_SAVE,
        (
            '        fd, name = tempfile.mkstemp(suffix=".json")\n'
            '        with os.fdopen(fd, "w") as file:\n'
            "            json.dump(self.notes, file)\n"
            "        os.replace(name, self.path)\n"
        ),
    ),
    ("import threading\n", "import os\nimport tempfile\nimport threading\n"),
]

LOAD = "        self.notes = json.loads(self.path.read_text())\n"

TEMP_BESIDE = [
    (
        OLD_SAVE,
        (
            '        fresh = self.path.with_suffix(".tmp")\n'
            "        fresh.write_text(json.dumps(self.notes))\n"
            "        fresh.replace(self.path)\n"
        ),
    ),
    (
        LOAD,
        (
            f"{LOAD}\n"
            "    def flush(self) -> None:\n"
            '        """Writes what is pending before it returns."""\n'
            "        if self._timer is not None:\n"
            "            self._timer.cancel()\n"
            "            self._save()\n"
        ),
    ),
]

USE_FLUSH = [("    time.sleep(0.25)\n", "    store.flush()\n"), ("import time\n\n", "")]

ATOMIC_TEST = source("""
    from notekeeper.store import NoteStore


    def test_save_leaves_no_half_written_file(tmp_path):
        store = NoteStore(tmp_path / "notes.json")
        for number in range(200):
            store.put(str(number), "x" * 500)
            store.flush()
            NoteStore(store.path).load()

        assert [file.name for file in tmp_path.iterdir()] == ["notes.json"]
    """)

CHANGELOG = [
    (
        "- Faster start.\n",
        (
            "- Faster start.\n"
            "- Notes are saved atomically; `NoteStore.flush()` waits for a pending save.\n"
        ),
    ),
]

FIRST_FAILURE = """\
F                                                                        [100%]
=================================== FAILURES ===================================
___________________________ test_autosave_roundtrip ____________________________
tests/test_store_io.py:13: in test_autosave_roundtrip
    again.load()
notekeeper/store.py:26: in load
    self.notes = json.loads(self.path.read_text())
E   FileNotFoundError: [Errno 2] No such file or directory: \
'/tmp/pytest-of-dev/pytest-41/test_autosave_roundtrip0/notes.json'
=========================== short test summary info ============================
FAILED tests/test_store_io.py::test_autosave_roundtrip - FileNotFoundError: [...
1 failed in 0.31s
stopped at run 7
"""

HALF_WRITTEN = """\
................................................F................        [ 65%]
...................................                                      [100%]
=================================== FAILURES ===================================
________________________ test_autosave_roundtrip[48-100] _______________________
[gw5] linux -- Python 3.12.4 /home/dev/notekeeper/.venv/bin/python
tests/test_store_io.py:15: in test_autosave_roundtrip
    again.load()
notekeeper/store.py:26: in load
    self.notes = json.loads(self.path.read_text())
E   json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
=========================== short test summary info ============================
FAILED tests/test_store_io.py::test_autosave_roundtrip[48-100] - json.decoder...
1 failed, 99 passed in 4.87s
"""

CROSS_DEVICE = """\
F                                                                        [100%]
=================================== FAILURES ===================================
___________________________ test_autosave_roundtrip ____________________________
tests/test_store_io.py:13: in test_autosave_roundtrip
    again.load()
notekeeper/store.py:31: in load
    self.notes = json.loads(self.path.read_text())
E   FileNotFoundError: [Errno 2] No such file or directory: \
'/home/dev/notekeeper/.pytest/test_autosave_roundtrip0/notes.json'
=============================== warnings summary ===============================
tests/test_store_io.py::test_autosave_roundtrip
  PytestUnhandledThreadExceptionWarning: Exception in thread Thread-1 (_save)
    File "/home/dev/notekeeper/notekeeper/store.py", line 28, in _save
      os.replace(name, self.path)
  OSError: [Errno 18] Invalid cross-device link: '/tmp/tmpq3v1c7ze.json' -> \
'/home/dev/notekeeper/.pytest/test_autosave_roundtrip0/notes.json'
=========================== short test summary info ============================
FAILED tests/test_store_io.py::test_autosave_roundtrip - FileNotFoundError: [...
1 failed, 1 warning in 0.34s
"""

STORE_PATH = "notekeeper/store.py"
IO_TEST_PATH = "tests/test_store_io.py"
MANY_RUNS = "pytest -q -n 8 --count 100 tests/test_store_io.py"


def flaky_test_story() -> PiRecorder:
    """A flaky test, three ways to fix it, and the one that held."""
    started = datetime(2026, 9, 14, 9, 12, 4, 716_000, tzinfo=UTC)
    pi = PiRecorder("/home/dev/notekeeper", started)
    decision = find_the_cause(pi)
    try_polling(pi, decision)
    try_lock_file(pi, decision)
    replace_atomically(pi, decision)
    check_and_tidy(pi)
    commit(pi)
    return pi


def find_the_cause(pi: PiRecorder) -> str:
    """Reproduces the failure; ends with the three proposals, where the branches begin."""
    pi.settings("coder-small", "medium")
    pi.wait(1)
    pi.declare()
    pi.user(
        """
        `tests/test_store_io.py::test_autosave_roundtrip` fails about one time in ten on CI.
        Please find out why and fix it. No `@flaky` marker, please.
        """,
        after=0,
    )
    pi.assistant(
        think("First make it fail here. A loop that stops at the first failure is enough."),
        say("I will try to reproduce it first."),
        call(
            "bash",
            command="set -o pipefail; for i in $(seq 40); do pytest -q tests/test_store_io.py"
            ' || { echo "stopped at run $i"; exit 1; }; done 2>&1 | tail -n 12',
        ),
    )
    pi.result(exited(FIRST_FAILURE, 1), took=9.4, failed=True)
    pi.assistant(
        think("Run 7. The file is not there yet when the test reads it. Look at both sides."),
        call("read", path=STORE_PATH),
        call("read", path=IO_TEST_PATH),
    )
    pi.result(STORE)
    pi.result(IO_TEST)
    return pi.assistant(
        think(
            """
            The timer fires after 0.2 s, the test sleeps 0.25 s: 50 ms for a thread to start and
            write. And write_text truncates first, so a reader can also see an empty file. That is
            a real bug, not only a bad test.
            """
        ),
        say(
            """
            Reproduced at run 7. There are two causes:

            - The test **guesses**: `sleep(0.25)` against a timer of 0.2 s.
            - `_save()` truncates the file and then writes it, so a reader can see it **empty**.

            Three ways to go on:

            1. **Poll in the test** until the file exists. Smallest change, test only.
            2. **Atomic replace and `flush()`** in the store. Fixes the bug as well.
            3. **A lock file** around save and load.

            I would take 2. Which one do you want?
            """
        ),
    )


def try_polling(pi: PiRecorder, decision: str) -> None:
    """The long dead end: the test waits better, the bug stays."""
    pi.name("Flaky autosave test")
    pi.label(decision, "three ways")
    pi.user("Try 1 first, we are close to a release.", after=420)
    pi.assistant(
        say("Then the test waits for the file, for two seconds at most."),
        edit_call(IO_TEST_PATH, POLLING),
    )
    pi.edit_result(IO_TEST_PATH, IO_TEST, POLLING)
    pi.assistant(
        think("CI runs with eight workers. Do the same here."), call("bash", command=MANY_RUNS)
    )
    pi.result(exited(HALF_WRITTEN, 1), took=5.6, failed=True)
    pi.assistant(
        think("Only one of 100. Perhaps the machine was just slow: give it more time."),
        edit_call(IO_TEST_PATH, LONGER),
    )
    pi.edit_result(IO_TEST_PATH, edited(IO_TEST, POLLING), LONGER)
    pi.assistant(call("bash", command=MANY_RUNS))
    still_failing = HALF_WRITTEN.replace("[48-100]", "[71-100]").replace("4.87s", "5.02s")
    pi.result(exited(still_failing, 1), took=5.8, failed=True)
    verdict = pi.assistant(
        say(
            """
            Still 1 of 100, and more time does not change it. It is the second cause:

            ```
            json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
            ```

            The file exists but is empty. **Polling cannot fix this**; it would only make the
            failure rarer.
            """
        )
    )
    pi.label(verdict, "dead end: polling", after=95)


def try_lock_file(pi: PiRecorder, decision: str) -> None:
    """The short branch, which starts from the summary of the dead end."""
    pi.return_to(
        decision,
        """
        ## Goal
        Make `test_autosave_roundtrip` stable by polling in the test (option 1).

        ## Constraints & Preferences
        - No `@flaky` marker

        ## Progress
        ### Done
        - [x] Replaced `sleep(0.25)` by a loop on `path.exists()`, 2 s, then 10 s

        ### Blocked
        - 1 of 100 runs still fails: `JSONDecodeError: Expecting value: line 1 column 1 (char 0)`

        ## Key Decisions
        - **Polling is a dead end**: the file exists but is still empty

        ## Next Steps
        1. Undo the change of the test
        2. Fix `NoteStore._save()` itself
        """,
        ([], [IO_TEST_PATH]),
    )
    pi.user("What would a lock file (3) look like?", after=260)
    pi.assistant(
        think("Check who else opens the file before I promise anything."),
        call("bash", command='git checkout -q tests && grep -rn "notes.json" --include="*.py" .'),
    )
    pi.result(
        './notekeeper/cli.py:14:DEFAULT = Path.home() / "notes.json"\n'
        './notekeeper/sync.py:31:    shutil.copy(home / "notes.json", target)\n'
        './tests/test_store_io.py:7:    path = tmp_path / "notes.json"\n',
        took=0.1,
    )
    pi.assistant(
        say(
            """
            Every reader would have to take the lock, and `sync.py` copies the file with
            `shutil.copy`. A lock that one reader ignores protects nothing. I advise against 3.
            """
        )
    )


def replace_atomically(pi: PiRecorder, decision: str) -> None:
    """The way that is kept, with a fork inside: a temporary file in the wrong place."""
    pi.return_to(
        decision,
        """
        ## Goal
        Weigh a lock file (option 3) after polling had failed.

        ## Progress
        ### Done
        - [x] Undid the change of the test
        - [x] Found the readers: `cli.py`, `sync.py` (copies with `shutil.copy`)

        ## Key Decisions
        - **No lock file**: `sync.py` would ignore it
        - **No polling**: 1 of 100 runs reads an empty file

        ## Next Steps
        1. Option 2: atomic replace and `flush()`
        """,
        ([], []),
    )
    pi.wait(30)
    fork = pi.settings("coder-large", "high")
    pi.user("Then 2, please.", after=40)
    pi.assistant(
        say("Write to a temporary file, then `os.replace`."),
        edit_call(STORE_PATH, TEMP_ELSEWHERE),
    )
    pi.edit_result(STORE_PATH, STORE, TEMP_ELSEWHERE)
    pi.assistant(call("bash", command="pytest -q --basetemp=.pytest tests/test_store_io.py"))
    failure = pi.result(exited(CROSS_DEVICE, 1), took=0.7, failed=True)
    pi.label(failure, "look here", after=8)
    pi.assistant(
        say(
            """
            `/tmp` is another file system, and a rename cannot cross it. The temporary file must
            lie **beside** the target.
            """
        )
    )
    pi.label(failure, None, after=40)
    pi.go(fork)
    pi.user(
        """
        Then 2, please. Put the temporary file in the folder of the target, add `flush()`, and
        let the test use it.
        """,
        after=420,
    )


def check_and_tidy(pi: PiRecorder) -> None:
    """Makes the change, runs it a hundred times, and makes room in the context."""
    pi.assistant(
        think("with_suffix keeps it in the same folder. Path.replace is atomic there."),
        call("bash", command="git checkout -q notekeeper && git status --short"),
    )
    pi.result("(no output)", took=0.1)
    pi.assistant(edit_call(STORE_PATH, TEMP_BESIDE))
    pi.edit_result(STORE_PATH, STORE, TEMP_BESIDE)
    kept = pi.assistant(
        say("Now the tests: no sleep any more, and one test that would have shown the bug."),
        edit_call(IO_TEST_PATH, USE_FLUSH),
        call("write", path="tests/test_store_atomic.py", content=ATOMIC_TEST),
    )
    pi.edit_result(IO_TEST_PATH, IO_TEST, USE_FLUSH)
    pi.result("Successfully wrote to tests/test_store_atomic.py")
    pi.assistant(call("bash", command="pytest -v -n 8 --count 100 tests/test_store_io.py"))
    runs = pi.result(hundred_runs(), took=2.9)
    pi.assistant(say("**100 of 100** passed with eight workers, in 2.41 s instead of 4.87 s."))
    pi.extension("custom", {"customType": "test-stats", "data": {"runs": 100, "failed": 0}})
    pi.edit_context(runs, "[100 passing runs left out]\n100 passed in 2.41s")
    pi.warm_cache(after=270)
    pi.compact(
        kept,
        """
        ## Goal
        Fix the flaky `tests/test_store_io.py::test_autosave_roundtrip`.

        ## Constraints & Preferences
        - No `@flaky` marker
        - The temporary file lies in the folder of the target

        ## Progress
        ### Done
        - [x] Found both causes: the test guessed with `sleep`, `_save()` truncated before writing
        - [x] `NoteStore._save()` writes `notes.tmp` and replaces; new `NoteStore.flush()`

        ### In Progress
        - [ ] Tests

        ## Key Decisions
        - **Atomic replace**: polling still read an empty file, `sync.py` would ignore a lock
        - **Not in `/tmp`**: `OSError: [Errno 18] Invalid cross-device link`

        ## Next Steps
        1. Run the tests many times
        2. Changelog, commit

        ## Critical Context
        - CI runs `pytest -n 8`
        """,
        ([IO_TEST_PATH], [STORE_PATH]),
    )


def hundred_runs() -> str:
    """The long output that is later left out of the context."""
    rows = [
        f"[gw{number % 8}] [{number:3d}%] PASSED "
        f"tests/test_store_io.py::test_autosave_roundtrip[{number}-100] "
        for number in range(1, 101)
    ]
    line = "=" * 29
    return "\n".join(rows) + f"\n\n{line} 100 passed in 2.41s {line}\n"


def commit(pi: PiRecorder) -> None:
    """The good end: all tests, the changelog, a commit."""
    pi.extension(
        "custom_message",
        {
            "customType": "ci-status",
            "content": "CI: main is red since build 212 (test_autosave_roundtrip).",
            "display": True,
            "details": {"build": 212, "branch": "main"},
        },
        "CI: main is red since build 212 (test_autosave_roundtrip).",
    )
    pi.user("Good. Add a line to the changelog and commit.", after=700)
    pi.assistant(call("read", path="CHANGELOG.md", limit=6))
    top = "# Changelog\n\n## Unreleased\n\n- Faster start.\n"
    rest = "## 0.4.1\n\n- `notekeeper sync` keeps file times.\n"
    pi.result(f"{top}\n\n[4 more lines in file. Use offset=7 to continue.]")
    pi.assistant(edit_call("CHANGELOG.md", CHANGELOG))
    pi.edit_result("CHANGELOG.md", f"{top}\n{rest}", CHANGELOG)
    pi.assistant(
        think("All tests, and only then the commit."),
        call(
            "bash",
            command="pytest -q -n 8 && git add -A && "
            'git commit -qm "Save notes atomically, add NoteStore.flush" && git log --oneline -1',
        ),
    )
    pi.result(
        "...........................................                              [100%]\n"
        "43 passed in 1.96s\n"
        "5d0c7e2 Save notes atomically, add NoteStore.flush\n",
        took=3.1,
    )
    pi.assistant(
        say(
            """
            Done: all 43 tests pass, committed as `5d0c7e2`.

            - `NoteStore._save()` writes `notes.tmp` and replaces the file in one step.
            - `NoteStore.flush()` saves what is pending; the test calls it instead of sleeping.
            - `tests/test_store_atomic.py` reads after each of 200 saves.
            """
        )
    )


# --- Tau ---------------------------------------------------------------------------------------


class TauRecorder(Recorder):
    """Writes lines as Tau 0.4.8 does."""

    def __init__(self, cwd: str, started: datetime) -> None:
        """Begins an empty session in a folder."""
        super().__init__("tau", started, base_tokens=2_300)
        self.session_id = self.digest("session")[:32]
        self.cwd = cwd
        self.model = ""

    def append(self, kind: str, own: Body, content: object = "") -> str:
        """Adds an entry under the tip, and makes it the tip."""
        entry = self.digest("id")[:32]
        parent: Body = {} if self.tip is None else {"parent_id": self.tip}
        moment = round(self.now.timestamp(), 6)
        self.meter.add(entry, self.tip, content)
        self.lines.append({"id": entry, **parent, "timestamp": moment, "type": kind, **own})
        self.tip = entry
        return entry

    def open(self, model: str, level: str) -> None:
        """Writes the three entries that every session begins with."""
        self.model = model
        created = round(self.now.timestamp(), 6)
        self.append("session_info", {"created_at": created, "cwd": self.cwd})
        self.now += timedelta(microseconds=19)
        self.append("model_change", {"model": model, "provider": PROVIDER})
        self.now += timedelta(microseconds=14)
        self.append("thinking_level_change", {"thinking_level": level})

    def change_model(self, model: str) -> str:
        """Chooses another model."""
        self.wait(11)
        self.model = model
        return self.append("model_change", {"model": model, "provider": PROVIDER})

    def user(self, block: str, after: float) -> str:
        """Adds what the user typed, `after` seconds."""
        self.wait(after)
        typed = milliseconds(self.now - timedelta(milliseconds=4))
        message: Body = {"role": "user", "content": text(block), "timestamp": typed}
        return self.append("message", {"message": message}, text(block))

    def assistant(self, *blocks: Body) -> str:
        """Adds an answer; tool calls in it expect results."""
        content = self.number_calls(blocks)
        used = self.meter.call("answer", self.tip, content)
        started = self.now + timedelta(milliseconds=9)
        self.wait(1.2 + used.output / 50)
        took = milliseconds(self.now) - milliseconds(started) - 3
        calls = any(block["type"] == "toolCall" for block in content)
        message: Body = {
            "role": "assistant",
            "content": content,
            "api": API,
            "provider": PROVIDER,
            "model": self.model,
            "usage": tau_usage(used),
            "timing": {"timeToFirstOutputMs": 380 + took % 290, "totalDurationMs": took},
            "stopReason": "toolUse" if calls else "stop",
            "timestamp": milliseconds(started),
        }
        parent = self.tip
        entry = self.append("message", {"message": message})
        self.meter.call(entry, parent, content)
        return entry

    def result(
        self, output: str, details: Body, took: float = 0.01, *, failed: bool = False
    ) -> str:
        """Adds the result of the oldest open call, which ran for `took` seconds."""
        asked = self.next_call()
        self.wait(took)
        message: Body = {
            "role": "toolResult",
            "toolCallId": asked["id"],
            "toolName": asked["name"],
            "content": [{"type": "text", "text": output}],
            "details": details,
            "isError": failed,
            "timestamp": milliseconds(self.now),
        }
        return self.append("message", {"message": message}, output)

    def read_result(self, path: str, content: str, shown: str) -> str:
        """Adds what the read tool says about a file of which `shown` was asked for."""
        details: Body = {"path": f"{self.cwd}/{path}", "truncation": truncation(shown)}
        rest = len(content.splitlines()) - len(shown.splitlines())
        note = f"\n\n[{rest} more lines in file. Use offset={len(shown.splitlines()) + 1} to "
        return self.result(shown + (f"{note}continue.]" if rest else ""), details)

    def edit_result(self, path: str, old: str, edits: Edits) -> str:
        """Adds the result of an edit call, with the diffs that Tau keeps."""
        whole = f"{self.cwd}/{path}"
        return self.result(
            f"Successfully replaced {len(edits)} block(s) in {whole}.",
            tau_edit_details(whole, old, edits),
        )

    def write_result(self, path: str, content: str) -> str:
        """Adds the result of a write call."""
        whole = f"{self.cwd}/{path}"
        return self.result(
            f"Successfully wrote to {whole}.", {"path": whole, "characters": len(content)}
        )

    def bash_result(self, output: str, took: float, code: int = 0) -> str:
        """Adds the result of a command; to Tau one that failed is no error of the tool."""
        asked = self._calls[0]["arguments"]
        details: Body = {
            "command": asked["command"] if isinstance(asked, dict) else "",
            "exit_code": code,
            "timed_out": False,
            "cancelled": False,
            "duration_seconds": took,
            "truncation": truncation(output),
            "full_output_path": None,
            "shell_command_prefix_applied": False,
        }
        status = f"\n\nCommand exited with code {code}" if code else ""
        return self.result(output + status, details, took)

    def label(self, target: str, name: str | None, after: float = 6) -> str:
        """Sets a label, or clears it when there is no name."""
        self.wait(after)
        own: Body = {"target_id": target} if name is None else {"target_id": target, "label": name}
        return self.append("label", own)

    def return_to(self, entry: str, summary: str) -> str:
        """Goes back to an entry and leaves a summary of the branch behind."""
        self.wait(95)
        used = self.meter.summary(summary, self.meter.at(self.tip) - self.meter.at(entry) + 350)
        self.go(entry)
        preamble = (
            "The user explored a different conversation branch before returning here.\n"
            "Summary of that exploration:\n\n"
        )
        own: Body = {
            "summary": preamble + text(summary),
            "branch_root_id": entry,
            "usage": tau_usage(used),
            "provider": PROVIDER,
            "model": self.model,
        }
        return self.append("branch_summary", own, own["summary"])

    def compact(self, kept: str, summary: str) -> str:
        """Replaces what lies before `kept` by a summary."""
        self.wait(60)
        before = self.meter.at(self.tip)
        kept_tokens = before - self.meter.at(kept)
        own: Body = {
            "summary": text(summary),
            "first_kept_entry_id": kept,
            "tokens_before": before,
            "usage": tau_usage(self.meter.summary(summary, before - kept_tokens)),
            "provider": PROVIDER,
            "model": self.model,
        }
        entry = self.append("compaction", own)
        self.meter.shrink(entry, kept_tokens + tokens_in(summary))
        return entry


def ponder(block: str) -> Body:
    """A thinking block as Tau keeps it."""
    return {"type": "thinking", "thinking": text(block), "redacted": False}


def tau_usage(used: Tokens) -> Body:
    """Usage as Tau writes it: all costs are floats."""
    fresh, output, cached, total = used.prices()
    cost: Body = {"input": fresh, "output": output, "cacheRead": cached, "cacheWrite": 0.0}
    return used.usage({**cost, "total": total})


def truncation(content: str) -> Body:
    """What Tau notes about an output that was short enough."""
    lines, size = len(content.splitlines()), len(content.encode())
    return {
        "content": content,
        "truncated": False,
        "truncated_by": None,
        "total_lines": lines,
        "total_bytes": size,
        "output_lines": lines,
        "output_bytes": size,
        "last_line_partial": False,
        "first_line_exceeds_limit": False,
        "max_lines": 2000,
        "max_bytes": 51200,
    }


def tau_edit_details(path: str, old: str, edits: Edits) -> Body:
    """The details of an edit, with both of the diffs that Tau makes."""
    new = edited(old, edits)
    before, after = old.splitlines(), new.splitlines()
    changed = next(
        index for index, line in enumerate(after) if index >= len(before) or line != before[index]
    )
    patch = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), path, path
    )
    return {
        "path": path,
        "edits": len(edits),
        "diff": "\n".join(difflib.ndiff(before, after)),
        "patch": "".join(patch),
        "first_changed_line": changed + 1,
    }


# --- The Tau story: a retry for the importer ---------------------------------------------------

IMPORTER = source('''
    """Reads bank exports (CSV) into the ledger."""

    import csv
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Row = dict[str, str]


    def rows(path: Path) -> Iterator[Row]:
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)


    def import_file(path: Path, add: Callable[[Row], None]) -> int:
        count = 0
        for row in rows(path):
            add(row)
            count += 1
        return count
    ''')

ROW_RETRY = [
    (
        "    for row in rows(path):\n        add(row)\n        count += 1\n    return count\n",
        (
            "    for attempt in range(3):\n"
            "        try:\n"
            "            for row in rows(path):\n"
            "                add(row)\n"
            "                count += 1\n"
            "        except OSError:\n"
            "            continue\n"
            "        break\n"
            "    return count\n"
        ),
    ),
]

WRONG_EDIT = [("def import_file(path, add):\n    count = 0\n", "def import_file(path, add):\n")]

FILE_RETRY = [
    (
        (
            "    count = 0\n"
            "    for row in rows(path):\n"
            "        add(row)\n"
            "        count += 1\n"
            "    return count\n"
        ),
        (
            "    found = read_all(path)\n"
            "    for row in found:\n"
            "        add(row)\n"
            "    return len(found)\n"
            "\n"
            "\n"
            "def read_all(path: Path, attempts: int = 3, pause: float = 0.5) -> list[Row]:\n"
            '    """Reads the whole file before any row is used; tries again if that fails."""\n'
            "    for attempt in range(1, attempts):\n"
            "        try:\n"
            "            return list(rows(path))\n"
            "        except OSError:\n"
            "            time.sleep(pause * 2**attempt)\n"
            "    return list(rows(path))\n"
        ),
    ),
    ("import csv\n", "import csv\nimport time\n"),
]

RETRY_TEST = source("""
    from ledger import importer


    def test_a_stale_handle_is_tried_again_without_doubling_rows(tmp_path, monkeypatch):
        path = tmp_path / "bank.csv"
        path.write_text("date,amount\\n2026-09-01,12.50\\n2026-09-02,7.00\\n")
        monkeypatch.setattr(importer, "rows", failing_once(importer.rows))
        monkeypatch.setattr(importer.time, "sleep", lambda _: None)
        seen = []

        assert importer.import_file(path, seen.append) == 2
        assert [row["amount"] for row in seen] == ["12.50", "7.00"]


    def failing_once(rows):
        calls = []

        def unstable(path):
            calls.append(path)
            for row in rows(path):
                yield row
                if len(calls) == 1:
                    raise OSError(116, "Stale file handle")

        return unstable
    """)

CLI = source("""
    import argparse
    from pathlib import Path

    from ledger.importer import import_file
    from ledger.book import Book


    def main() -> None:
        parser = argparse.ArgumentParser(prog="ledger-import")
        parser.add_argument("file", type=Path)
        options = parser.parse_args()
        print(import_file(options.file, Book.open().add), "rows")
    """)

RETRIES_FLAG = [
    (
        (
            "    options = parser.parse_args()\n"
            '    print(import_file(options.file, Book.open().add), "rows")\n'
        ),
        (
            '    parser.add_argument("--retries", type=int, default=2, metavar="N")\n'
            "    options = parser.parse_args()\n"
            "    attempts = options.retries + 1\n"
            '    print(import_file(options.file, Book.open().add, attempts), "rows")\n'
        ),
    ),
]

DOUBLED_ROWS = """\
.......F..                                                               [100%]
=================================== FAILURES ===================================
_________________ test_import_is_complete_after_a_stale_handle _________________
tests/test_importer.py:41: in test_import_is_complete_after_a_stale_handle
    assert len(seen) == 2
E   assert 3 == 2
E    +  where 3 = len([{'amount': '12.50', 'date': '2026-09-01'}, ...])
=========================== short test summary info ============================
FAILED tests/test_importer.py::test_import_is_complete_after_a_stale_handle - ...
1 failed, 9 passed in 0.22s
"""

IMPORTER_PATH = "ledger/importer.py"


def importer_story() -> TauRecorder:
    """A retry for a CSV importer: once in the wrong place, once in the right one."""
    started = datetime(2026, 9, 15, 14, 3, 21, 402_871, tzinfo=UTC)
    tau = TauRecorder("/home/dev/ledger", started)
    decision = read_the_importer(tau)
    retry_rows(tau, decision)
    retry_file(tau)
    add_flag(tau)
    return tau


def read_the_importer(tau: TauRecorder) -> str:
    """Looks at the code; ends with the two proposals, where the branches begin."""
    tau.open("coder-small", "medium")
    tau.user(
        """
        The nightly import dies when the share is slow:

        ```
        OSError: [Errno 116] Stale file handle: '/mnt/bank/2026-09-14.csv'
        ```

        Please add a retry to the CSV importer.
        """,
        after=1,
    )
    tau.assistant(
        ponder("See how the file is read: all at once or row by row?"),
        call("read", path=IMPORTER_PATH),
    )
    tau.read_result(IMPORTER_PATH, IMPORTER, IMPORTER)
    decision = tau.assistant(
        say(
            """
            `rows()` is a generator, so the error can come **in the middle** of a file, after some
            rows are already in the ledger. Two places for the retry:

            1. Around the loop in `import_file()`.
            2. Around reading: first the whole file into a list, then `add()`.
            """
        )
    )
    tau.label(decision, "where to retry")
    return decision


def retry_rows(tau: TauRecorder, decision: str) -> None:
    """The branch that doubles rows, and the summary it leaves behind."""
    tau.user("1 looks simpler.", after=240)
    tau.assistant(
        say("Three attempts around the loop."),
        edit_call(IMPORTER_PATH, ROW_RETRY),
        call("bash", command="pytest -q", description="Running tests"),
    )
    tau.edit_result(IMPORTER_PATH, IMPORTER, ROW_RETRY)
    tau.bash_result(DOUBLED_ROWS, took=0.871, code=1)
    tau.assistant(
        say(
            """
            `assert 3 == 2`: the second attempt **adds the first row again**. To repair that, the
            importer would have to remember what it has added. Better to go back and take 2.
            """
        )
    )
    tau.return_to(
        decision,
        """
        ## Goal
        Retry around the loop in `import_file()` (option 1).

        ## Constraints & Preferences
        - (none)

        ## Progress
        ### Done
        - [x] Tried three attempts around the loop in `ledger/importer.py`

        ### Blocked
        - `test_import_is_complete_after_a_stale_handle`: `assert 3 == 2`, rows are added twice

        ## Key Decisions
        - **Not around the loop**: a retry must not see rows that are already in the ledger

        ## Next Steps
        1. Undo, read the whole file first (option 2)
        """,
    )


def retry_file(tau: TauRecorder) -> None:
    """The retry in the right place, after an edit that did not match."""
    tau.user("Yes, 2. With a growing pause, and a test.", after=310)
    tau.assistant(
        ponder("Undo first, then the edit."),
        call("bash", command="git checkout -q ledger", description="Undoing the first attempt"),
        edit_call(IMPORTER_PATH, WRONG_EDIT),
    )
    tau.bash_result("(no output)", took=0.034)
    tau.result(
        f"Could not find the exact text in {tau.cwd}/{IMPORTER_PATH}. The old text must match "
        "exactly including all whitespace and newlines.",
        {},
        failed=True,
    )
    kept = tau.assistant(
        ponder("The signature has annotations. Match the body only."),
        edit_call(IMPORTER_PATH, FILE_RETRY),
        call("write", path="tests/test_retry.py", content=RETRY_TEST),
        call("bash", command="pytest -q", description="Running tests"),
    )
    tau.edit_result(IMPORTER_PATH, IMPORTER, FILE_RETRY)
    tau.write_result("tests/test_retry.py", RETRY_TEST)
    tau.bash_result(
        "...........                                                              [100%]\n"
        "11 passed in 0.24s\n",
        took=0.902,
    )
    green = tau.assistant(
        say(
            """
            Green, 11 tests. `read_all()` reads the whole file before any row is used, with pauses
            of 1 s and 2 s. A failed attempt leaves **nothing** in the ledger.
            """
        )
    )
    tau.append("custom", {"namespace": "test.stats", "data": {"passed": 11, "failed": 0}})
    tau.label(green, "green")
    tau.compact(
        kept,
        """
        ## Goal
        Let the nightly CSV import survive `OSError: [Errno 116] Stale file handle`.

        ## Progress
        ### Done
        - [x] Looked at `ledger/importer.py`: `rows()` is a generator, errors come in mid-file

        ### In Progress
        - [ ] `read_all()` with a growing pause, and a test

        ## Key Decisions
        - **Retry around reading, not around adding**: otherwise rows are added twice

        ## Next Steps
        1. Finish the edit, run the tests
        """,
    )


def add_flag(tau: TauRecorder) -> None:
    """A second, small fork: the number of attempts as a variable or as a flag."""
    note = "Operations: the import runs at 02:00 as `ledger-import /mnt/bank/<day>.csv`."
    own: Body = {"custom_type": "deploy-note", "content": note, "display": True}
    tau.wait(2)
    fork = tau.append("custom_message", {**own, "details": {"source": "runbook"}}, note)
    tau.user("Make the number of attempts configurable, by `LEDGER_RETRIES`.", after=400)
    tau.assistant(
        say(
            """
            Possible, but cron passes no environment unless the crontab says so. A flag would be
            visible in the command line. Shall I use `--retries N` instead?
            """
        )
    )
    tau.go(fork)
    tau.user("Make the number of attempts configurable, by a flag `--retries N`.", after=180)
    tau.change_model("coder-large")
    tau.assistant(call("read", path="ledger/cli.py"))
    tau.read_result("ledger/cli.py", CLI, CLI)
    tau.assistant(
        ponder("import_file needs the number too. Default 2 retries: three attempts, as now."),
        edit_call("ledger/cli.py", RETRIES_FLAG),
        call(
            "bash",
            command="sed -i 's/add: Callable\\[\\[Row\\], None\\])/add: Callable[[Row], None], "
            "attempts: int = 3)/; s/read_all(path)$/read_all(path, attempts)/' "
            f"{IMPORTER_PATH} && pytest -q && git add -A && "
            'git commit -q -m "Retry reading when the share fails" && git log --oneline -1',
            description="Running tests and committing",
        ),
    )
    tau.edit_result("ledger/cli.py", CLI, RETRIES_FLAG)
    tau.bash_result(
        "...........                                                              [100%]\n"
        "11 passed in 0.23s\n"
        "c41fa9b Retry reading when the share fails\n",
        took=1.118,
    )
    tau.assistant(
        say(
            """
            Done and committed as `c41fa9b`. `ledger-import --retries 5 file.csv` tries six times;
            without the flag it stays at three attempts.
            """
        )
    )


if __name__ == "__main__":
    main()
