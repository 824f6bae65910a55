"""The JSON of CONTRACT, whole: every key of every answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl
from hostile_files import pi

Ask = Callable[..., Any]


def entry(own: str, parent: str | None, second: int, **more: Any) -> dict[str, Any]:
    time = f"2026-01-01T00:00:0{second}.000Z"
    return {"type": "message", "id": own, "parentId": parent, "timestamp": time} | more


TOKENS = {"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 1, "totalTokens": 19}
HELLO = {"role": "user", "content": "hello"}
CALL = {
    "role": "assistant",
    "content": [{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}],
    "provider": "p",
    "model": "m",
    "usage": TOKENS | {"cost": {"total": 0.3}},
    "stopReason": "toolUse",
}
AGAIN = {"role": "user", "content": "again"}

LINES = [
    b'{"type":"session","version":3,"id":"s1","cwd":"/w","parentSession":"/old.jsonl"}\n',
    jsonl(entry("aaaa1", None, 1, message=HELLO)),
    jsonl(entry("bbbb2", "aaaa1", 2, message=CALL)),
    jsonl(entry("cccc3", "bbbb2", 3, type="label", targetId="aaaa1", label="here")),
    b"{\n",
    jsonl(entry("dddd4", "aaaa1", 4, message=AGAIN)),
    jsonl(entry("eeee5", "dddd4", 5, type="session_info", name="Title")),
]
FILE = b"".join(LINES)


def place(line: int) -> dict[str, int]:
    """Give the place of a record: its line, its first byte, its length with the line end."""
    return {
        "line": line,
        "offset": sum(map(len, LINES[: line - 1])),
        "length": len(LINES[line - 1]),
    }


USAGE = {"input": 10, "output": 5, "cache_read": 3, "cache_write": 1, "total": 19, "cost": 0.3}
FIRST = {
    "id": "aaaa1",
    "parent": None,
    "kind": "message",
    "role": "user",
    "row": 1,
    "step": None,
    "time": "2026-01-01T00:00:01.000Z",
    "summary": "hello",
    **place(2),
    "usage": None,
}
SECOND = {
    "id": "bbbb2",
    "parent": "aaaa1",
    "kind": "tool_call",
    "role": "assistant",
    "row": 2,
    "step": None,
    "time": "2026-01-01T00:00:02.000Z",
    "summary": "ls",
    **place(3),
    "usage": USAGE,
}
THIRD = {
    "id": "cccc3",
    "parent": "bbbb2",
    "kind": "label",
    "role": None,
    "row": 3,
    "step": None,
    "time": "2026-01-01T00:00:03.000Z",
    "summary": "here on aaaa1",
    **place(4),
    "usage": None,
}
GAP = {
    "id": "gap@5",
    "parent": None,
    "kind": "gap",
    "role": None,
    "row": 4,
    "step": None,
    "time": None,
    "summary": "2 bytes that are no record",
    **place(5),
    "usage": None,
}
FIFTH = {
    "id": "dddd4",
    "parent": "aaaa1",
    "kind": "message",
    "role": "user",
    "row": 5,
    "step": None,
    "time": "2026-01-01T00:00:04.000Z",
    "summary": "again",
    **place(6),
    "usage": None,
}
LAST = {
    "id": "eeee5",
    "parent": "dddd4",
    "kind": "setting",
    "role": None,
    "row": 6,
    "step": None,
    "time": "2026-01-01T00:00:05.000Z",
    "summary": "Title",
    **place(7),
    "usage": None,
}
FINDING = {
    "code": "TT101",
    "severity": "error",
    "line": 5,
    "offset": place(5)["offset"],
    "checkpoint": "gap@5",
    "message": (
        "not readable: no JSON at character 2: Expecting property name enclosed in double quotes"
    ),
    "hint": "Pi skips this line in silence; what hangs on it becomes a new root",
}
BYTES = {"shown": len(FILE) - 2, "skipped": 2, "size": len(FILE)}
START = {
    "messages": [],
    "model": None,
    "provider": None,
    "thinking_level": "off",
    "title": None,
    "cwd": "/w",
    "usage": None,
}
BARE = START | {"messages": [HELLO]}
CALLED = BARE | {"messages": [HELLO, CALL], "model": "m", "provider": "p", "usage": USAGE}


def change(op: str, path: str, value: Any = None, **more: int) -> dict[str, Any]:
    return {"op": op, "path": path, "value": value, "index": None, "count": None} | more


CALL_CHANGES = [
    change("append", "/messages", CALL),
    change("put", "/provider", "p"),
    change("put", "/model", "m"),
    change("put", "/usage", USAGE),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "a.jsonl"
    made.write_bytes(FILE)
    return made


def header(location: Path) -> dict[str, Any]:
    return {
        "ttdbg": 1,
        "format": "pi",
        "location": str(location),
        "session": {"id": "s1", "title": "Title", "cwd": "/w", "forked_from": "/old.jsonl"},
        "active_leaf": "eeee5",
        "leaves": ["cccc3", "gap@5", "eeee5"],
        "labels": {"aaaa1": "here"},
        "findings": [FINDING],
        "bytes": BYTES,
    }


def test_log_gives_the_session_its_checkpoints_its_findings_and_its_bytes(
    ttdbg: Ask, file: Path
) -> None:
    assert ttdbg("log", file, "--json").json == header(file) | {
        "checkpoints": [FIRST, SECOND, THIRD, GAP, FIFTH, LAST]
    }


def test_show_gives_the_checkpoint_the_state_after_it_and_what_it_changed(
    ttdbg: Ask, file: Path
) -> None:
    assert ttdbg("show", f"{file}#bbbb2", "--json").json == {
        "ttdbg": 1,
        "checkpoint": SECOND,
        "state": CALLED,
        "changes": CALL_CHANGES,
        "repairs": [],
        "findings": [],
    }


def test_show_resume_gives_what_the_agent_would_send_and_lists_its_repairs(
    ttdbg: Ask, file: Path
) -> None:
    answered = {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "bash",
        "content": [{"type": "text", "text": "No result provided"}],
        "isError": True,
    }
    assert ttdbg("show", f"{file}#bbbb2", "--json", "--resume").json == {
        "ttdbg": 1,
        "checkpoint": SECOND,
        "state": CALLED | {"messages": [HELLO, CALL, answered]},
        "changes": CALL_CHANGES,
        "repairs": [
            {
                "index": 2,
                "kind": "added_result",
                "why": "the call bash has no result; Pi answers it itself",
            }
        ],
        "findings": [],
    }


def test_show_of_a_gap_gives_an_empty_state_no_changes_and_its_finding(
    ttdbg: Ask, file: Path
) -> None:
    for options in ((), ("--resume",), ("--uncompacted",)):
        assert ttdbg("show", f"{file}#gap@5", "--json", *options).json == {
            "ttdbg": 1,
            "checkpoint": GAP,
            "state": {},
            "changes": [],
            "repairs": [],
            "findings": [FINDING],
        }


def test_replay_gives_the_header_of_log_and_then_the_changes_of_each_checkpoint(
    ttdbg: Ask, file: Path
) -> None:
    assert ttdbg("replay", file, "--json").stream == [
        header(file),
        {
            "checkpoint": FIRST,
            "changes": [change("snapshot", "", START), change("append", "/messages", HELLO)],
        },
        {"checkpoint": SECOND, "changes": CALL_CHANGES},
        {"checkpoint": THIRD, "changes": []},
        {"checkpoint": GAP, "changes": []},
        {"checkpoint": FIFTH, "changes": [change("append", "/messages", AGAIN)]},
        {"checkpoint": LAST, "changes": [change("put", "/title", "Title")]},
    ]


def test_replay_of_a_range_gives_its_checkpoints_and_with_states_the_state_after_each(
    ttdbg: Ask, file: Path
) -> None:
    assert ttdbg("replay", f"{file}#root..@", "--json", "--states").stream == [
        header(file),
        {
            "checkpoint": FIRST,
            "changes": [change("snapshot", "", START), change("append", "/messages", HELLO)],
            "state": BARE,
        },
        {
            "checkpoint": FIFTH,
            "changes": [change("append", "/messages", AGAIN)],
            "state": BARE | {"messages": [HELLO, AGAIN]},
        },
        {
            "checkpoint": LAST,
            "changes": [change("put", "/title", "Title")],
            "state": BARE | {"messages": [HELLO, AGAIN], "title": "Title"},
        },
    ]


def test_replay_of_one_point_gives_that_checkpoint(ttdbg: Ask, file: Path) -> None:
    assert ttdbg("replay", f"{file}#cccc3", "--json").stream[1:] == [
        {"checkpoint": THIRD, "changes": []}
    ]


def test_doctor_gives_the_findings_and_the_bytes(ttdbg: Ask, file: Path) -> None:
    answer = ttdbg("doctor", file, "--json")

    assert (answer.code, answer.err) == (1, "")
    assert answer.json == {"ttdbg": 1, "findings": [FINDING], "bytes": BYTES}


def test_formats_gives_the_name_and_the_abilities_of_each(ttdbg: Ask) -> None:
    answer = ttdbg("formats", "--json").json

    assert answer["ttdbg"] == 1
    assert {
        "format": "pi",
        "about": "session trees of the Pi coding agent, versions 1 to 3 (JSONL)",
        "verified": "the agent's own replay at every node (Pi 1.6.0)",
        "follows": True,
    } in answer["formats"]
    assert answer["formats"] == sorted(answer["formats"], key=lambda each: each["format"])


def test_a_compaction_is_undone_with_uncompacted_in_state_and_changes_alike(
    ttdbg: Ask, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    compaction = entry("cccc3", "bbbb2", 3, type="compaction", summary="short")
    compaction |= {"firstKeptEntryId": "bbbb2", "tokensBefore": 9}
    file.write_bytes(
        pi(
            entry("aaaa1", None, 1, message=HELLO),
            entry("bbbb2", "aaaa1", 2, message=AGAIN),
            compaction,
        )
    )

    def roles(*options: str) -> list[str]:
        return [
            each["role"]
            for each in ttdbg("show", file, "--json", *options).json["state"]["messages"]
        ]

    assert roles() == ["compactionSummary", "user"]
    assert [each for each in roles("--uncompacted") if each == "user"] == ["user", "user"]
    for command in ("show", "replay"):
        answer = json.loads(
            ttdbg(command, f"{file}#@", "--json", "--uncompacted").out.splitlines()[-1]
        )
        assert [each["op"] for each in answer["changes"] if each["op"] in ("splice", "drop")] == []


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\t\n\n"])
def test_a_file_that_holds_nothing_is_a_session_of_no_format_without_checkpoints(
    ttdbg: Ask, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)
    empty = {
        "ttdbg": 1,
        "format": None,
        "location": str(file),
        "session": {"id": "", "title": None, "cwd": None, "forked_from": None},
        "active_leaf": None,
        "leaves": [],
        "labels": {},
        "findings": [],
        "bytes": {"shown": len(content), "skipped": 0, "size": len(content)},
    }

    assert ttdbg("log", file, "--json").json == empty | {"checkpoints": []}
    assert ttdbg("replay", file, "--json").stream == [empty]
    assert ttdbg("doctor", file, "--json").json == {
        "ttdbg": 1,
        "findings": [],
        "bytes": empty["bytes"],
    }


def test_the_byte_order_mark_counts_as_shown_and_offsets_count_it(
    ttdbg: Ask, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + FILE)
    answer = ttdbg("log", file, "--json").json

    assert answer["bytes"] == {"shown": len(FILE) + 1, "skipped": 2, "size": len(FILE) + 3}
    assert answer["checkpoints"][0]["offset"] == 3 + FIRST["offset"]


@pytest.mark.parametrize("sample", ["pi.jsonl", "tau.jsonl"])
def test_blank_lines_and_headers_count_as_shown(
    ttdbg: Ask, in_samples: Path, tmp_path: Path, sample: str
) -> None:
    data = (in_samples / sample).read_bytes()
    file = tmp_path / sample
    file.write_bytes(data.replace(b"\n", b"\n\n"))
    size = file.stat().st_size

    assert ttdbg("log", file, "--json").json["bytes"] == {
        "shown": size,
        "skipped": 0,
        "size": size,
    }
