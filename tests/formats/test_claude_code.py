"""Claude Code: what its lines say, the state that they make, and what the agent would send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, codes, load, replay_of
from claude_lines import Claude, calls, says, thinks

from tt_debugger.core.findings import Code
from tt_debugger.core.model import Kind, Role, Session, Usage
from tt_debugger.core.replay import Replay
from tt_debugger.formats import recognise
from tt_debugger.formats.claude_code import ClaudeCode
from tt_debugger.storage.probe import probe
from tt_debugger.store import HasPlaces, HasSubsessions

FOLDER = FIXTURES / "claude_code"
ANSWERS = sorted(FOLDER.rglob("*.expected.json"))
P = "/home/dev/shop/shop/basket.py"
T = "/home/dev/shop/tests/test_basket.py"


@pytest.fixture
def opened() -> Iterator[Any]:
    """Open a fixture by its name: give its session and replay."""
    stores: list[Any] = []

    def open_fixture(name: str) -> tuple[Session, Replay]:
        store, loaded = load(FOLDER / f"{name}.jsonl", "claude_code")
        stores.append(store)
        return loaded.session, replay_of(store, loaded.session)

    yield open_fixture
    for store in stores:
        store.close()


def at_leaf(session: Session, replay: Replay) -> dict[str, Any]:
    assert session.active is not None
    return replay.state(session.active)


def summed_up(messages: list[Any]) -> Iterator[str]:
    """Give a line for each block, as the recorded requests are summed up."""
    for place, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if isinstance(content, str):
            # The agent turns its first message into blocks.
            yield f"{role}{'.text' if not place and role == 'user' else ''}: {content!r}"
            continue
        for block in content:
            match block["type"]:
                case "tool_use":
                    told = block["id"]
                case "tool_result":
                    told = f"{block['tool_use_id']} -> {json.dumps(block['content'])}"
                case _:
                    told = block["text"]
            yield f"{role}.{block['type']}: {told!r}"


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda path: path.name.split(".")[0])
def test_what_the_agent_sent_is_what_the_resume_reading_gives(answer: Path, opened: Any):
    session, replay = opened(f"oracle/{answer.name.split('.')[0]}")
    assert session.active is not None

    resumed = replay.resumed(session.active)

    expected = json.loads(answer.read_text())
    assert list(summed_up(resumed.state["messages"])) == expected["context_sent"]


def test_there_are_answers():
    assert len(ANSWERS) == 27


def test_a_session_without_times_opens_though_the_agent_finds_no_conversation_in_it(opened: Any):
    session, replay = opened("oracle/only-parentuuid-type-message-uuid")

    assert [(each.code, each.line) for each in session.findings] == [(Code.AGENT_REFUSES, 1)]
    assert at_leaf(session, replay)["messages"]


# --- Messages, calls, and their usage -------------------------------------------------------


def test_the_lines_of_a_message_are_one_checkpoint_with_the_id_of_the_last(opened: Any):
    session, replay = opened("parts")

    assert list(session.ids) == ["u1", "a3", "r1", "a5", "u2", "a6"]
    assert session.aliases == {"a1": 1, "a2": 1, "a4": 3}
    blocks = [block["type"] for block in replay.state(1)["messages"][1]["content"]]
    assert blocks == ["thinking", "text", "tool_use"]
    assert [each.kind for each in map(session.heads.__getitem__, range(4))] == [
        Kind.MESSAGE,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.MESSAGE,
    ]


def test_usage_is_counted_once_for_each_message_as_its_last_line_tells_it(opened: Any):
    session, replay = opened("parts")

    assert session.heads[1].usage == Usage(
        input=40, output=61, cache_read=0, cache_write=200, total=301, cost=0.0
    )
    usage = at_leaf(session, replay)["usage"]
    assert (usage["input"], usage["output"]) == (3 * 40, 61 + 24 + 6)
    assert (usage["cache_read"], usage["cache_write"]) == (240 + 300, 3 * 200)


def test_what_only_an_earlier_line_of_a_message_says_is_not_lost(open_as: Any):
    claude = Claude()
    claude.answer("a1 a2", "msg_1", says("One."), says("Two."))
    claude.lines[0]["message"]["stop_sequence"] = "END"
    del claude.lines[1]["message"]["usage"]
    session, replay = open_as("claude_code", *claude.lines)

    assert replay.state(0)["messages"][0]["stop_sequence"] == "END"
    assert session.heads[0].usage == Usage(
        input=10, output=5, cache_read=0, cache_write=0, total=15, cost=0.0
    )


def test_a_message_of_the_model_is_what_the_api_gave_without_the_envelope(open_as: Any):
    claude = Claude()
    claude.user("u1", "Hi")
    claude.answer("a1 a2", "msg_1", thinks("Hm."), says("Hello."))
    _, replay = open_as("claude_code", *claude.lines)

    assert replay.state(1)["messages"] == [
        {"role": "user", "content": "Hi"},
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [thinks("Hm."), says("Hello.")],
            "stop_reason": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        },
    ]


def test_messages_of_the_user_stay_one_each_and_are_merged_when_it_resumes(open_as: Any):
    claude = Claude()
    claude.user("u1", "One")
    claude.user("u2", [says("Two")])
    session, replay = open_as("claude_code", *claude.lines)

    assert [each["content"] for each in replay.state(1)["messages"]] == ["One", [says("Two")]]
    resumed = replay.resumed(1)
    assert resumed.state["messages"] == [
        {"role": "user", "content": [says("One\n"), says("Two")]},
        {"role": "assistant", "content": [says("No response requested.")]},
    ]
    assert [(each.index, each.kind) for each in resumed.repairs] == [
        (0, "merged_user"),
        (1, "no_response"),
    ]
    assert session.findings == ()


def test_a_call_without_a_result_is_dropped_when_it_resumes_and_the_text_beside_it_stays(
    open_as: Any,
):
    claude = Claude()
    claude.user("u1", "Hi")
    claude.answer("a1 a2", "msg_1", says("I look."), calls("t1"))
    claude.user("u2", "Stop")
    _, replay = open_as("claude_code", *claude.lines)

    resumed = replay.resumed(2)

    assert list(summed_up(resumed.state["messages"])) == [
        "user.text: 'Hi'",
        "assistant.text: 'I look.'",
        "user: 'Stop'",
        "assistant.text: 'No response requested.'",
    ]
    # Where the drop shows: the message that is left of the one it was in.
    assert [(each.index, each.kind) for each in resumed.repairs] == [
        (1, "dropped_call"),
        (3, "no_response"),
    ]


# --- Rows -------------------------------------------------------------------------------------


def test_what_no_person_typed_is_never_shown_as_a_prompt(opened: Any):
    session, _ = opened("commands")

    heads = [(each.id, each.head.kind, each.head.name, each.head.role) for each in session]

    assert heads == [
        ("m1", Kind.MESSAGE, "note", Role.SYSTEM),
        ("m2", Kind.SETTING, "command", Role.SYSTEM),
        ("m3", Kind.MESSAGE, "output", Role.SYSTEM),
        ("y1", Kind.SETTING, "command", Role.SYSTEM),
        ("u1", Kind.MESSAGE, "user", Role.USER),
        ("a1", Kind.TOOL_CALL, "Bash", Role.ASSISTANT),
        ("r1", Kind.TOOL_RESULT, "Bash", Role.TOOL),
        ("u2", Kind.MESSAGE, "stopped", Role.SYSTEM),
        ("u3", Kind.MESSAGE, "user", Role.USER),
        ("y2", Kind.CUSTOM, "api_error", Role.SYSTEM),
        ("e1", Kind.MESSAGE, "asst", Role.ASSISTANT),
        ("u4", Kind.MESSAGE, "user", Role.USER),
        ("a2", Kind.MESSAGE, "asst", Role.ASSISTANT),
        ("y3", Kind.CUSTOM, "stop_hook_summary", Role.SYSTEM),
        ("y4", Kind.CUSTOM, "turn_duration", Role.SYSTEM),
    ]
    assert session.title == "Deploy the shop."
    failed = [each.id for each in session if each.head.failed]
    assert failed == ["r1", "u2", "y2", "e1"]
    summaries = {each.id: each.head.summary for each in session}
    assert (summaries["m2"], summaries["m3"]) == ("/model sonnet", "Set model to sonnet")
    assert (summaries["y2"], summaries["y3"], summaries["y4"]) == (
        "Overloaded",
        "make lint",
        "83.2 s",
    )


def test_the_model_of_a_message_that_the_agent_made_up_is_no_model(opened: Any):
    session, replay = opened("commands")

    assert replay.state(session.rows["e1"])["model"] == "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        ({"stdout": "", "stderr": "", "interrupted": False, "isImage": False}, "Bash"),
        ({"filePath": P, "oldString": "a", "newString": "b", "structuredPatch": []}, "Edit"),
        ({"type": "create", "filePath": P, "content": "", "structuredPatch": []}, "Write"),
        ({"type": "text", "file": {"filePath": P, "content": ""}}, "Read"),
        ({"filePath": P, "edits": [], "structuredPatch": []}, "MultiEdit"),
        ({"oldTodos": [], "newTodos": []}, "TodoWrite"),
        ({"mode": "content", "filenames": [], "numFiles": 0, "content": ""}, "Grep"),
        ({"filenames": [], "durationMs": 1, "numFiles": 0, "truncated": False}, "Glob"),
        ({"agentId": "a1", "status": "completed"}, "Task"),
        ("Error: no such file", "tool"),
        (None, "tool"),
        ([says("of another server")], "tool"),
    ],
)
def test_a_result_without_its_call_is_named_by_what_its_tool_left(
    open_as: Any, outcome: Any, name: str
):
    claude = Claude()
    claude.result("r1", "t1", "x", outcome, parent=None)
    session, _ = open_as("claude_code", *claude.lines)

    assert session.heads[0].name == name


def test_results_are_named_by_their_calls_those_that_failed_too(open_as: Any):
    claude = Claude()
    claude.user("u1", "Look.")
    claude.answer("a1 a2", "msg_1", calls("t1", "Read"), calls("t2", "mcp__shop__orders"))
    claude.result("r2", "t2", "none", parent="a2")
    claude.result("r1", "t1", "no such file", "Error: no such file", parent="a1")
    session, _ = open_as("claude_code", *claude.lines)

    assert [session.heads[row].name for row in (2, 3)] == ["mcp__shop__orders", "Read"]


# --- The state beside the messages -----------------------------------------------------------


def test_the_state_follows_settings_tasks_plan_and_title(opened: Any):
    session, replay = opened("files")

    first, last = replay.state(0), at_leaf(session, replay)

    keys = ("model", "thinking_level", "permission_mode", "plan", "cwd", "git_branch")
    assert {key: first[key] for key in keys} == {
        "model": None,
        "thinking_level": "high",
        "permission_mode": "plan",
        "plan": None,
        "cwd": "/home/dev/shop",
        "git_branch": "main",
    }
    assert {key: last[key] for key in keys} == {
        "model": "claude-sonnet-4-5",
        "thinking_level": "high",
        "permission_mode": "default",
        "plan": "1. Round in `total`\n2. Test it",
        "cwd": "/home/dev/shop/shop",
        "git_branch": "round",
    }
    assert replay.state(3)["plan"] == last["plan"]
    assert first["todos"] is None
    states = [
        [each["status"] for each in replay.state(session.rows[row])["todos"]]
        for row in ("r3", "r7")
    ]
    assert states == [["in_progress", "pending"], ["completed", "completed"]]
    assert (last["provider"], last["title"]) == (None, None)


def test_files_are_what_their_tools_say_of_them(opened: Any):
    session, replay = opened("files")
    rounded = "def total(items):\n    return round(sum(items), 2)\n"

    assert replay.state(0)["files"] == {}
    of_row = {row: replay.state(session.rows[row])["files"] for row in ("r1", "r4", "r5", "r6")}
    assert of_row["r1"] == {P: "def total(items):\n    return sum(items)\n"}
    assert of_row["r4"] == {P: rounded}
    assert of_row["r5"] == {P: rounded.replace("total", "total_of").replace("2)", "ndigits=2)")}
    assert set(of_row["r6"]) == {P, T}
    assert of_row["r6"][T].startswith("from shop.basket import total_of")


def patch(*lines: str, begin: int = 1) -> list[dict[str, Any]]:
    told = {"oldStart": begin, "newStart": begin, "lines": list(lines)}
    return [told | {"oldLines": 1, "newLines": 1}]


@pytest.mark.parametrize(
    ("outcome", "content"),
    [
        # By its texts, then by its patch, where there are none or they do not fit.
        ({"originalFile": "a\nb\n", "structuredPatch": patch("-a", "+A", " b")}, "A\nb\n"),
        ({"originalFile": "a\na\n", "oldString": "a", "newString": "b"}, "b\na\n"),
        (
            {"originalFile": "aa", "oldString": "a", "newString": "b", "replaceAll": True},
            "bb",
        ),
        ({"originalFile": "a", "structuredPatch": patch("-z", "+A")}, None),
        ({"originalFile": "a", "oldString": "z", "newString": "b"}, None),
        ({"oldString": "a", "newString": "b"}, None),
        (
            {
                "originalFile": "a",
                "structuredPatch": patch(
                    "-a", "\\ No newline at end of file", "+b", "\\ No newline at end of file"
                ),
            },
            "b",
        ),
        # That the last line gets an end is all that changes, and that it loses it.
        (
            {
                "originalFile": "a",
                "structuredPatch": patch("-a", "\\ No newline at end of file", "+a"),
            },
            "a\n",
        ),
        (
            {
                "originalFile": "a\n",
                "structuredPatch": patch("-a", "+a", "\\ No newline at end of file"),
            },
            "a",
        ),
        # Two hunks: the second counts lines of the old file.
        (
            {
                "originalFile": "1\n2\n3\n4\n",
                "structuredPatch": patch("-1", "+1", "+1b") + patch("-4", "+four", begin=4),
            },
            "1\n1b\n2\n3\nfour\n",
        ),
        ({"originalFileContents": "a\n", "structuredPatch": patch("-a", "+A")}, "A\n"),
        ({"type": "create", "content": "new\n", "originalFile": None}, "new\n"),
        ({"type": "update", "content": "new\n", "originalFile": "old\n"}, "new\n"),
    ],
)
def test_a_file_after_an_edit(open_as: Any, outcome: dict[str, Any], content: str | None):
    claude = Claude()
    claude.answer("a1", "msg_1", calls("t1", "Edit"))
    claude.result("r1", "t1", "done", {"filePath": P, "structuredPatch": []} | outcome)
    _, replay = open_as("claude_code", *claude.lines)

    assert replay.state(1)["files"] == {P: content}


def test_a_file_of_which_a_part_was_read_is_not_known(open_as: Any):
    claude = Claude()
    claude.answer("a1", "msg_1", calls("t1", "Read"))
    part = {"filePath": P, "content": "b\n", "startLine": 2, "numLines": 1, "totalLines": 9}
    claude.result("r1", "t1", "b", {"type": "text", "file": part})
    _, replay = open_as("claude_code", *claude.lines)

    assert replay.state(1)["files"] == {}


def test_compaction_begins_the_context_anew_and_leaves_the_rest_of_the_state(open_as: Any):
    claude = Claude()
    claude.user("u1", "Write it.")
    claude.answer("a1", "msg_1", calls("t1", "Write"))
    claude.result("r1", "t1", "done", {"type": "create", "filePath": P, "content": "x"})
    claude.compact("c1", "s1", "It was written.")
    session, replay = open_as("claude_code", *claude.lines)

    state = replay.state(session.rows["s1"])

    assert state["messages"] == [{"role": "user", "content": "It was written."}]
    assert state["files"] == {P: "x"}
    assert state["usage"]["output"] == 5


@pytest.mark.parametrize(
    ("name", "leaf", "said"),
    [
        ("compacted", "c1", []),
        ("compacted", "a3", ["Questions 1 and 2", "<local", "Question 3?", "Answer 3."]),
        ("compacted", "a4", ["Questions 1 to 3", "Question 4?", "Answer 4."]),
        ("compacted", "v2", ["Question 1?", "Answer 1.", "Something else", "It depends."]),
        (
            "compacted-kept",
            "a4",
            [
                *("This session", "Question 2?", "Answer 2.", "Question 3?", "Answer 3."),
                *("Question 4?", "Answer 4."),
            ],
        ),
    ],
)
def test_what_is_in_the_context_after_compactions(
    opened: Any, name: str, leaf: str, said: list[str]
):
    session, replay = opened(name)

    messages = replay.state(session.rows[leaf])["messages"]

    texts = [each["content"] for each in messages]
    texts = [each if isinstance(each, str) else each[0]["text"] for each in texts]
    assert len(texts) == len(said)
    assert all(words in text for words, text in zip(said, texts, strict=True))


def test_uncompacted_nothing_that_was_said_is_left_out(opened: Any):
    session, _ = opened("compacted")
    store, loaded = load(FOLDER / "compacted.jsonl", "claude_code")
    replay = replay_of(store, loaded.session, uncompacted=True)

    messages = replay.state(session.rows["a4"])["messages"]

    said = [
        each for each in session.active_path if session.heads.kind(each) is not Kind.COMPACTION
    ]
    assert len(messages) == len(said)
    store.close()


# --- Beside the tree --------------------------------------------------------------------------


def test_lines_beside_the_tree_are_asides_behind_the_row_before_them(opened: Any):
    session, _ = opened("asides")

    assert [(each.row, each.name) for each in session.asides] == [
        (-1, "summary"),
        (-1, "queue-operation"),
        (-1, "queue-operation"),
        (-1, "mode"),
        (-1, "permission-mode"),
        (-1, "file-history-snapshot"),
        (1, "ai-title"),
        (2, "file-history-snapshot"),
        (3, "custom-title"),
        (3, "agent-name"),
        (3, "tag"),
        (3, "pr-link"),
        (3, "last-prompt"),
    ]
    content = (FOLDER / "asides.jsonl").read_bytes()
    for each in session.asides:
        line = content[each.offset : each.offset + each.length]
        assert json.loads(line)["type"] == each.name
        assert line == content.split(b"\n")[each.line - 1] + b"\n"
    assert session.findings == ()


CUSTOM, AI, AGENT, SUMMARY = (
    {"type": "custom-title", "customTitle": "custom"},
    {"type": "ai-title", "aiTitle": "ai"},
    {"type": "agent-name", "agentName": "agent"},
    {"type": "summary", "summary": "summary", "leafUuid": "a1"},
)


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([], "The first prompt"),
        ([SUMMARY], "summary"),
        ([SUMMARY | {"leafUuid": "elsewhere"}], "The first prompt"),
        ([SUMMARY, SUMMARY | {"leafUuid": "elsewhere", "summary": "other"}], "summary"),
        ([AI, SUMMARY], "ai"),
        ([AI, AGENT], "agent"),
        ([AGENT, AI], "ai"),
        ([CUSTOM, AGENT, AI, SUMMARY], "custom"),
        ([CUSTOM, CUSTOM | {"customTitle": "renamed"}], "renamed"),
        ([CUSTOM | {"customTitle": ""}, AI], "ai"),
        ([CUSTOM | {"customTitle": 7}], "The first prompt"),
    ],
)
def test_the_title_is_the_last_of_the_highest_rank(open_as: Any, lines: list[Any], title: str):
    claude = Claude()
    claude.user("m1", "<command-name>/clear</command-name>")
    claude.user("u1", "The first prompt")
    claude.answer("a1", "msg_1", says("Yes."))
    session, _ = open_as("claude_code", *claude.lines, *lines)

    assert session.title == title


def test_the_title_in_the_state_is_the_one_when_the_line_was_written(opened: Any):
    session, replay = opened("asides")

    titles = [replay.state(row)["title"] for row in range(len(session))]

    assert titles == [None, None, "Add a favicon", "Add a favicon"]
    assert session.title == "favicon"


def test_a_session_knows_where_it_was_forked_from(opened: Any):
    session, _ = opened("forked")

    assert session.forked_from == "the-first"
    assert [each.name for each in session.asides] == ["custom-title"]
    assert session.title == "Hello (fork)"


def test_types_that_are_not_known_are_kept_and_told_of_once_each(opened: Any):
    session, replay = opened("unknown")

    assert [(each.id, each.head.kind, each.head.name) for each in session] == [
        ("u1", Kind.MESSAGE, "user"),
        ("x1", Kind.CUSTOM, "hologram"),
        ("a1", Kind.MESSAGE, "asst"),
        ("u2", Kind.MESSAGE, "user"),
        ("t1", Kind.CUSTOM, "teleport"),
        ("y1", Kind.CUSTOM, "moonrise"),
    ]
    assert [each.name for each in session.asides] == ["weather", "weather", "echo", "record"]
    told = [(str(each.severity), each.line) for each in session.findings]
    assert told == [("note", 2), ("note", 4), ("note", 6), ("note", 7)]
    assert session.parents.tolist() == [-1, 0, 1, 2, 3, 4]
    assert len(at_leaf(session, replay)["messages"]) == 3


# --- Subagents --------------------------------------------------------------------------------


def test_subagents_are_found_in_both_layouts_by_the_call_that_started_them():
    store, loaded = load(FOLDER / "with-subagents.jsonl", "claude_code")
    session = loaded.session
    assert isinstance(store, HasSubsessions)

    assert session.subsessions == {1: ("5c90b2d1", "7e31a0c4")}
    places = [store.subsession(session, name) for name in session.subsessions[1]]
    assert places == [
        str(FOLDER / "agent-5c90b2d1.jsonl"),
        str(FOLDER / "with-subagents" / "subagents" / "agent-7e31a0c4.jsonl"),
    ]
    for name in ("gone", "../parts", "", "\ud800", "\0", "x" * 300):
        assert store.subsession(session, name) is None
    store.close()


@pytest.mark.parametrize("name", ["agent-5c90b2d1", "with-subagents/subagents/agent-7e31a0c4"])
def test_the_file_of_a_subagent_is_a_session_of_its_own(opened: Any, name: str):
    session, replay = opened(name)

    assert session.id == Path(name).name
    assert len(session) == 4
    assert session.active == 3
    assert [each["role"] for each in at_leaf(session, replay)["messages"]] == [
        *("user", "assistant", "user", "assistant"),
    ]
    assert session.findings == ()


def test_a_subagent_within_the_file_is_a_tree_of_its_own_that_its_call_leads_to():
    store, loaded = load(FOLDER / "sidechain-inline.jsonl", "claude_code")
    session = loaded.session
    assert isinstance(store, HasSubsessions)

    assert session.subsessions == {1: ("#s1",)}
    assert store.subsession(session, "#s1") == f"{store.location}#s1"
    assert session.parents.tolist() == [-1, 0, -1, 2, 3, 4, 1, 6]
    messages = at_leaf(session, replay_of(store, session))["messages"]
    assert len(messages) == 4
    assert session.findings == ()
    store.close()


def test_a_subagent_within_the_file_is_found_whatever_its_id(open_as: Any):
    claude = Claude()
    claude.user("u1", "Look.")
    claude.answer("a1", "msg_1", calls("t1", "Task", prompt="Look for it."))
    claude.user("x:y~1", "Look for it.", parent=None, isSidechain=True)
    session, _ = open_as("claude_code", *claude.lines)

    assert session.subsessions == {1: ("#x%3Ay%7E1",)}


def test_one_id_may_name_the_calls_of_two_branches(open_as: Any):
    claude = Claude()
    claude.user("u1", "Try.")
    claude.answer("a1", "msg_1", calls("t1"), parent="u1")
    claude.result("r1", "t1")
    claude.answer("b1", "msg_2", calls("t1"), parent="u1")
    claude.result("s1", "t1")
    session, _ = open_as("claude_code", *claude.lines)

    assert "TT408" not in codes(session.findings)


# --- Recognising ------------------------------------------------------------------------------


def test_its_sessions_stand_in_the_projects_of_its_folder(tmp_path: Path):
    assert issubclass(ClaudeCode, HasPlaces)
    assert list(ClaudeCode.places({}, tmp_path)) == [tmp_path / ".claude" / "projects"]
    moved = {"CLAUDE_CONFIG_DIR": "/srv/claude"}
    assert list(ClaudeCode.places(moved, tmp_path)) == [Path("/srv/claude/projects")]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "summary", "summary": "s", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s"},
        {"type": "last-prompt", "lastPrompt": "p", "leafUuid": "x", "sessionId": "s"},
    ],
)
def test_a_file_that_has_no_message_yet_is_recognised_too(tmp_path: Path, line: dict[str, Any]):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(line) + "\n")

    assert recognise(probe(str(path)))[0] is ClaudeCode
    store, loaded = load(path, "claude_code")
    assert (len(loaded.session), loaded.session.active) == (0, None)
    store.close()
