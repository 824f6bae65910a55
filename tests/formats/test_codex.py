"""Codex: the agent's own requests, and what is particular to rollouts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from builders import (
    FIXTURES,
    codes,
    facts,
    fixture_files,
    ids_of,
    jsonl,
    load,
    replay_of,
    said,
    session_of,
)

from tt_debugger.core.findings import Code
from tt_debugger.core.model import BLOCK, Head, Heads, Kind, Role, Usage
from tt_debugger.core.tree import NO_ROW
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.codex import Codex
from tt_debugger.formats.codex import base as base_files
from tt_debugger.formats.codex.origins import MOST_ORIGINS
from tt_debugger.storage import index_cache
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import Line, lines
from tt_debugger.store import Follows, HasPlaces, HasSubsessions, Remembers

FOLDER = FIXTURES / "codex"
REQUESTS = sorted(FOLDER.glob("oracle/*/request.expected.json"))
ALONE = [path for path in fixture_files("codex") if path.parent.name != "paginated"]
"""Rollouts that go on from no other one."""
THREAD = "019cb7f0-7000-7000-8000-0000000000aa"
OTHER = "019cb7f0-7000-7000-8000-0000000000bb"
META = {
    "id": THREAD,
    "timestamp": "2026-03-04T09:00:00.000Z",
    "cwd": "/home/dev/demo",
    "originator": "codex_cli_rs",
    "cli_version": "0.171.0",
}


def record(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-04T09:00:01.000Z", "type": kind, "payload": payload, **more}


def meta(**more: Any) -> dict[str, Any]:
    return record("session_meta", {**META, **more})


def item(kind: str, **more: Any) -> dict[str, Any]:
    return record("response_item", {"type": kind, **more})


def event(kind: str, **more: Any) -> dict[str, Any]:
    return record("event_msg", {"type": kind, **more})


def user(text: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


def answer(text: str) -> dict[str, Any]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}])


def call(name: str, tool: str = "exec_command", **arguments: Any) -> dict[str, Any]:
    return item("function_call", name=tool, arguments=json.dumps(arguments), call_id=name)


def output(name: str, text: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=name, output=text)


def back(turns: Any) -> dict[str, Any]:
    return event("thread_rolled_back", num_turns=turns)


def compacted(message: str, *history: dict[str, Any]) -> dict[str, Any]:
    kept = {"replacement_history": [each["payload"] for each in history]} if history else {}
    return record("compacted", {"message": message, **kept})


def tokens(total: int, **last: int) -> dict[str, Any]:
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return event("token_count", info=info)


def texts(state: dict[str, Any]) -> str:
    """Give what the messages of a state say, without their other items."""
    contents = (each["content"] for each in state["messages"] if "content" in each)
    return " ".join(content[0]["text"] for content in contents)


@pytest.fixture
def opened(open_as: Callable[..., Any]) -> Any:
    return partial(open_as, "codex")


def summed_up(messages: list[Any]) -> Iterator[str]:
    """Give a line for each block, as the requests of the agent were summed up."""
    for each in messages:
        if each["type"] != "message":
            rest = {key: value for key, value in each.items() if key != "type"}
            yield f"{each['type']}: {json.dumps(rest)}"
            continue
        for block in each["content"]:
            # The agent makes it anew for each request.
            if "<environment_context>" not in block["text"]:
                yield f"{each['role']}.{block['type']}: {block['text']!r}"


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.parent.name)
def test_what_the_agent_sent_is_what_resuming_gives_and_what_it_refused_is_said(file: Path):
    expected = json.loads(file.read_text())
    (path,) = file.parent.glob("*.jsonl")
    store, loaded = load(path, "codex")
    session = loaded.session
    assert session.active is not None
    resumed = replay_of(store, session).resumed(session.active)

    refused = any(each.code is Code.AGENT_REFUSES for each in session.findings)
    assert refused == (not expected["accepted"])
    if expected["accepted"]:
        assert list(summed_up(resumed.state["messages"])) == expected["context_sent"]
    store.close()


def test_there_are_requests_of_the_agent():
    assert len(REQUESTS) == 15


@pytest.mark.parametrize("path", fixture_files("codex"), ids=lambda path: path.stem)
def test_rows_asides_blank_lines_and_what_is_skipped_are_all_of_the_file(path: Path):
    store, loaded = load(path, "codex")
    session = loaded.session
    content = path.read_bytes()
    rows = sum(each.head.length or 0 for each in session)
    asides = sum(each.length for each in session.asides)
    blank = sum(len(line) for line in content.splitlines(keepends=True) if not line.strip())
    torn = len(content) - content.rfind(b"\n") - 1

    assert rows + asides + blank + torn == len(content)
    assert all(NO_ROW <= each.row < len(session) for each in session.asides)
    store.close()


def test_turns_that_were_taken_back_are_a_dead_branch(opened: Any):
    session, replay = opened(
        meta(), user("U1"), answer("A1"), user("U2"), answer("A2"), back(1), user("U3")
    )

    assert ids_of(session, session.active_path) == "L2 L3 L6 L7"
    assert ids_of(session, session.tree.path_to(session.rows["L5"])) == "L2 L3 L4 L5"
    assert texts(replay.state(session.rows["L7"])) == "U1 A1 U3"
    assert texts(replay.state(session.rows["L5"])) == "U1 A1 U2 A2"
    assert session.heads[session.rows["L6"]].summary == "1 turn taken back, 2 checkpoints"


@pytest.mark.parametrize(
    ("turns", "left"),
    [
        (0, "<environment_context> U1 A1 U2"),
        (1, "<environment_context> U1 A1"),
        (2, "<environment_context>"),
        (9, "<environment_context>"),
        ("one", "<environment_context> U1 A1 U2"),
        (-1, "<environment_context> U1 A1 U2"),
        (None, "<environment_context> U1 A1 U2"),
    ],
)
def test_a_rollback_drops_so_many_turns_and_keeps_what_stands_before_the_first(
    opened: Any, turns: Any, left: str
):
    session, replay = opened(
        meta(), user("<environment_context>"), user("U1"), answer("A1"), user("U2"), back(turns)
    )

    assert session.active == len(session) - 1
    assert texts(replay.state(session.active)) == left


def test_a_rollback_after_a_rollback_counts_the_turns_that_are_left(opened: Any):
    session, replay = opened(
        meta(), user("U1"), user("U2"), user("U3"), back(1), user("U4"), back(2), user("U5")
    )

    assert texts(replay.state(session.active)) == "U1 U5"


def test_a_compaction_in_turns_that_were_taken_back_counts_no_more(opened: Any):
    session, replay = opened(
        meta(),
        user("U1"),
        answer("A1"),
        user("U2"),
        compacted("S", user("K")),
        user("U3"),
        back(2),
    )

    assert texts(replay.state(session.rows["L6"])) == "K U3"
    assert texts(replay.state(session.active)) == "U1 A1"


def test_a_compaction_before_the_turns_that_were_taken_back_stays(opened: Any):
    session, replay = opened(
        meta(), user("U1"), compacted("S", user("K"), user("S")), user("U2"), back(1)
    )

    assert texts(replay.state(session.active)) == "K S"


def test_a_compaction_without_a_history_keeps_prompts_and_its_summary(opened: Any):
    session, replay = opened(
        meta(),
        user("# AGENTS.md instructions for /x"),
        user("U1"),
        answer("A1"),
        compacted("S1"),
        user("U2"),
        compacted("Another language model started to solve this problem: S2"),
        user("U3"),
        compacted("S3"),
    )

    assert texts(replay.state(session.rows["L5"])) == "U1 S1"
    assert texts(replay.state(session.active)) == "U1 S1 U2 U3 S3"


def test_without_compactions_all_that_was_said_is_there(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        jsonl(
            meta(),
            user("U1"),
            answer("A1"),
            compacted("S1"),
            user("U2"),
            compacted("S2", user("K")),
        )
    )

    assert texts(states_of(path)["L6"]) == "K"
    assert texts(states_of(path, uncompacted=True)["L6"]) == "U1 A1 S1 U2 K"


def test_what_an_answer_used_belongs_to_its_row_and_counts_once(opened: Any):
    session, replay = opened(
        meta(),
        user("U1"),
        tokens(5, total_tokens=5, input_tokens=5),
        item("reasoning", summary=[]),
        call("c", cmd="ls"),
        tokens(100, input_tokens=90, cached_input_tokens=60, output_tokens=10, total_tokens=100),
        tokens(100, input_tokens=90, cached_input_tokens=60, output_tokens=10, total_tokens=100),
        output("c", "ok"),
        tokens(100, input_tokens=90, cached_input_tokens=60, output_tokens=10, total_tokens=100),
        answer("A1"),
        tokens(150, input_tokens=40, output_tokens=10, total_tokens=50),
        event("token_count", info=None),
    )

    used = {session.ids[row]: session.heads.usage(row) for row in range(len(session))}
    assert {name: usage for name, usage in used.items() if usage} == {
        "L5": Usage(30, 10, 60, 0, 100),
        "L10": Usage(40, 10, 0, 0, 50),
    }
    assert replay.state(session.active)["usage"]["total"] == 150


def test_what_is_told_later_of_a_row_is_not_told_to_heads_that_were_copied_before():
    heads = Heads()
    for _ in range(2 * BLOCK):
        heads.append(Head(Kind.MESSAGE))
    copied = heads.copy()

    for row in (3, 2 * BLOCK - 1):
        copied.amend(row, Usage(1), failed=True)
        copied.amend(row)

    assert [copied[row].usage for row in (2, 3, 2 * BLOCK - 1)] == [None, Usage(1), Usage(1)]
    assert [copied[row].failed for row in (2, 3, 2 * BLOCK - 1)] == [False, True, True]
    assert all(heads[row] == Head(Kind.MESSAGE) for row in range(2 * BLOCK))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<environment_context>\n<cwd>/x</cwd></environment_context>", "environment"),
        ("  <user_instructions>be brief</user_instructions>", "instructions"),
        ("# AGENTS.md instructions for /x", "agents.md"),
        ("<TURN_ABORTED>\n</TURN_ABORTED>", "aborted"),
        ("<skill>\n</skill>", "skill"),
        ("<subagent_notification>{}</subagent_notification>", "subagent"),
    ],
)
def test_what_the_agent_puts_among_the_users_texts_is_no_prompt(opened: Any, text: str, name: str):
    session, _ = opened(meta(), user(text), user("a real one"))

    heads = [(head.role, head.name, head.step) for head in (each.head for each in session)]
    assert heads == [(Role.SYSTEM, name, None), (Role.USER, "user", 1)]
    assert session.title == "a real one"


@pytest.mark.parametrize(
    "text",
    [
        '{"output":"no","metadata":{"exit_code":2,"duration_seconds":0.1}}',
        "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno",
        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno",
        {"content": "no", "success": False},
    ],
)
def test_a_command_that_failed_marks_its_result(opened: Any, text: Any):
    session, _ = opened(meta(), call("c", cmd="make"), output("c", text))

    head = session.heads[1]
    assert (head.kind, head.name, head.summary, head.failed) == (
        Kind.TOOL_RESULT,
        "exec_command",
        "no",
        True,
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"output":"yes","metadata":{"exit_code":0,"duration_seconds":0.1}}',
        "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nyes",
        "yes",
        {"content": "yes", "success": True},
    ],
)
def test_a_command_that_did_not_fail_does_not(opened: Any, text: Any):
    session, _ = opened(meta(), call("c", cmd="make"), output("c", text))

    assert (session.heads[1].summary, session.heads[1].failed) == ("yes", False)


def test_what_a_command_printed_is_no_exit_code_of_its_own(opened: Any):
    text = "Exit code: 0\nOutput:\nProcess exited with code 1"
    session, _ = opened(meta(), call("c", cmd="make"), output("c", text))

    assert not session.heads[1].failed


@pytest.mark.parametrize("is_before", [True, False])
def test_an_event_that_tells_of_a_failure_marks_the_result(opened: Any, is_before: bool):  # noqa: FBT001 - a column of the table
    told = event("patch_apply_end", call_id="c", success=False)
    result = output("c", "rejected")
    session, _ = opened(meta(), call("c"), *((told, result) if is_before else (result, told)))

    assert session.heads[1].failed
    assert [each.name for each in session.asides] == ["session_meta", "patch_apply_end"]


def test_the_first_header_counts_and_later_ones_are_copied_history(opened: Any):
    session, _ = opened(
        meta(forked_from_id=OTHER, model_provider="mine"),
        meta(id=OTHER, cwd="/elsewhere", model_provider="theirs"),
        event("thread_name_updated", thread_id=OTHER, thread_name="theirs"),
        user("U1"),
    )

    assert (session.id, session.cwd, session.forked_from) == (THREAD, "/home/dev/demo", OTHER)
    assert session.own.provider == "mine"
    assert [each.name for each in session.asides] == [
        "session_meta",
        "session_meta of 019cb7f0, copied",
        "thread_name_updated",
    ]
    assert session.title == "U1"


def test_a_name_is_the_title_from_where_it_was_given(opened: Any):
    session, replay = opened(
        meta(), user("U1"), event("thread_name_updated", thread_id=THREAD, thread_name=" N ")
    )

    assert session.title == "N"
    assert [replay.state(row)["title"] for row in range(2)] == [None, "N"]


def test_the_context_of_a_turn_is_a_checkpoint_where_it_changes_something(opened: Any):
    first = {"model": "m1", "effort": "low", "cwd": "/a", "approval_policy": "never"}
    session, replay = opened(
        meta(),
        record("turn_context", {**first, "turn_id": "1"}),
        user("U1"),
        record("turn_context", {**first, "turn_id": "2"}),
        user("U2"),
        record("turn_context", {**first, "effort": "high", "cwd": "/b"}),
        user("U3"),
    )

    heads = [session.heads[row] for row in (0, 3)]
    assert [(head.kind, head.summary) for head in heads] == [
        (Kind.MODEL_CHANGE, "m1"),
        (Kind.SETTING, "effort high, cwd /b"),
    ]
    assert len(session) == 5
    state = replay.state(session.active)
    assert (state["model"], state["thinking_level"], state["cwd"]) == ("m1", "high", "/b")
    assert state["settings"] == {"approval_policy": "never"}


def test_a_rollback_takes_the_settings_of_its_turns_back_too(opened: Any):
    session, replay = opened(
        meta(),
        record("turn_context", {"model": "m1"}),
        user("U1"),
        record("turn_context", {"model": "m2"}),
        user("U2"),
        back(1),
        record("turn_context", {"model": "m1"}),
        user("U3"),
    )

    assert ids_of(session, session.active_path) == "L2 L3 L6 L8"
    assert replay.state(session.active)["model"] == "m1"


def test_a_plan_is_in_the_state(opened: Any):
    plan = [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}]
    session, replay = opened(meta(), call("c", "update_plan", plan=plan))

    assert session.heads[0].summary == "1 of 2 done: b"
    assert replay.state(0)["plan"] == plan


def test_resuming_answers_open_calls_and_drops_results_of_none(opened: Any):
    session, replay = opened(
        meta(),
        output("gone", "x"),
        call("c1"),
        item("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
        item("local_shell_call", call_id="c3", action={"type": "exec", "command": ["ls"]}),
        item("custom_tool_call_output", call_id="c1", output="of the wrong kind"),
        item("ghost_snapshot", ghost_commit={"id": "abc"}),
    )
    resumed = replay.resumed(session.active)

    assert [(each.index, each.kind) for each in resumed.repairs] == [
        (0, "dropped_result"),
        (1, "added_result"),
        (3, "added_result"),
        (5, "added_result"),
        (6, "dropped_result"),
    ]
    assert [each["type"] for each in resumed.state["messages"]] == [
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "function_call_output",
    ]
    assert resumed.state["messages"][3] == {
        "type": "custom_tool_call_output",
        "call_id": "c2",
        "output": "aborted",
    }
    assert len(replay.state(session.active)["messages"]) == 5
    assert resumed.state["ghost_commit"] == {"id": "abc"}


def test_a_line_that_the_agent_cannot_read_is_shown_and_not_resumed(tmp_path: Path):
    torn = json.dumps(answer("A1"))
    content = jsonl(meta(), user("U1"), torn[:80] + torn, answer("A2"))
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    store, loaded = load(path, "codex")
    replay = replay_of(store, loaded.session)
    active = loaded.session.active
    assert active is not None

    assert texts(replay.state(active)) == "U1 A1 A2"
    assert texts(replay.resumed(active).state) == "U1 A2"
    assert "TT403 3" in said(loaded.session)
    store.close()


def test_what_follows_gaps_hangs_on_what_stands_before_them(tmp_path: Path):
    gaps = ("torn", "", "torn", "")
    content = jsonl(meta(), *gaps, user("U1"), *gaps, user("U2"), answer("A2"), *gaps)
    session = session_of(content, "codex", tmp_path)

    assert list(session.parents) == [-1, -1, -1, -1, -1, 2, 5, -1, -1]
    assert session.active == 6


def test_of_many_gaps_each_is_asked_for_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[int] = []
    is_gap = Heads.is_gap

    def counting(heads: Heads, row: int) -> bool:
        asked.append(row)
        return is_gap(heads, row)

    monkeypatch.setattr(Heads, "is_gap", counting)
    session = session_of(jsonl(meta(), *("torn", "") * 300), "codex", tmp_path)

    assert len(session) == 300
    assert len(asked) < 10 * len(session)


def refusals(records: list[dict[str, Any]], folder: Path) -> list[str]:
    session = session_of(jsonl(*records), "codex", folder)
    return [each.message for each in session.findings if each.code is Code.AGENT_REFUSES]


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([user("U")], "does not start with session metadata"),
        ([user("U"), meta()], "does not start with session metadata"),
        ([{"id": THREAD, "timestamp": "", "instructions": None}], "for it the rollout is empty"),
        ([record("session_meta", {"id": THREAD}), user("U")], "has no timestamp, cwd, originator"),
        ([meta(history_mode="paginated"), user("U")], "has no ordinal"),
    ],
)
def test_what_the_agent_refuses_is_said_once(
    tmp_path: Path, records: list[dict[str, Any]], why: str
):
    (said_why,) = refusals(records, tmp_path)

    assert why in said_why


def test_what_the_agent_accepts_is_not_said_to_be_refused(tmp_path: Path):
    paginated = [meta(history_mode="paginated"), {**user("U"), "ordinal": 7}]

    assert refusals([meta(), user("U")], tmp_path) == []
    assert refusals(paginated, tmp_path) == []


def test_a_thread_in_a_file_that_is_named_for_another_is_refused(tmp_path: Path):
    path = tmp_path / f"rollout-2026-03-04T10-00-00-{OTHER}.jsonl"
    path.write_bytes(jsonl(meta(), user("U")))
    store, loaded = load(path, "codex")

    assert codes(loaded.session.findings) == ["TT402"]
    assert loaded.session.id == THREAD
    store.close()


def test_the_oldest_files_have_no_envelopes():
    (path,) = FOLDER.glob("rollout-2025-*.jsonl")
    store, loaded = load(path, "codex")
    session = loaded.session
    assert session.active is not None

    assert (session.id, session.cwd) == ("5973b6c0-94b8-487b-a530-2aeb6098ae0e", "/home/dev/old")
    assert [each.head.name for each in session] == [
        "environment",
        "user",
        "think",
        "shell",
        "shell",
        "asst",
    ]
    assert session.heads[3].summary == "wc -l main.c"
    assert session.heads[4].failed
    assert [each.name for each in session.asides].count("record_type state") == 4
    assert len(replay_of(store, session).state(session.active)["messages"]) == 6
    store.close()


def of_thread(folder: str, end: str) -> Path:
    (path,) = (FOLDER / folder).glob(f"*{end}.jsonl")
    return path


def test_a_call_that_started_a_thread_leads_to_its_rollout():
    store, loaded = load(of_thread("subagents", "a"), "codex")
    session = loaded.session
    found = {session.ids[row]: names for row, names in session.subsessions.items()}

    assert found == {
        "L7": ("019cb7b2-2000-7c00-9d00-00000000000b",),
        "L10": ("019cb7b3-3000-7c00-9d00-0000000000ff",),
    }
    assert isinstance(store, HasSubsessions)
    assert store.subsession(session, found["L7"][0]) == str(of_thread("subagents", "b"))
    assert store.subsession(session, found["L10"][0]) is None
    assert store.subsession(session, "../../etc/passwd") is None
    store.close()


@pytest.mark.parametrize(
    "told",
    [
        event("collab_agent_spawn_end", call_id="c", new_thread_id=OTHER),
        event(
            "item_completed",
            item={"id": "c", "tool": "SpawnAgent", "receiver_thread_ids": [OTHER, "no id"]},
        ),
        output("c", json.dumps({"agent_id": OTHER})),
    ],
)
def test_what_tells_of_a_started_thread_names_it_at_its_call(opened: Any, told: Any):
    session, _ = opened(meta(), user("U"), call("c", "spawn_agent"), user("V"), told)

    assert session.subsessions == {1: (OTHER,)}


def test_a_subagent_is_titled_by_what_it_was_asked_itself():
    store, loaded = load(of_thread("subagents", "b"), "codex")
    session = loaded.session

    assert session.title == "Time each step of make."
    assert [each.message for each in session.findings] == [
        "rows 1 to 3 are a copy of the history of thread 019cb7b0-1000-7c00-9d00-00000000000a"
    ]
    assert replay_of(store, session).state(0)["parent_thread"] == session.forked_from
    store.close()


def test_a_thread_is_found_in_the_folder_of_any_day_and_in_the_archive(tmp_path: Path):
    days = [tmp_path / "sessions" / each for each in ("2026/03/04", "2001/01/01")]
    archive = tmp_path / "archived_sessions"
    for folder in (*days, archive):
        folder.mkdir(parents=True)
    here = days[0] / f"rollout-2026-03-04T10-00-00-{THREAD}.jsonl"
    here.write_bytes(jsonl(meta(), user("U")))
    name = f"rollout-2001-01-01T10-00-00-{OTHER}.jsonl"
    store, loaded = load(here, "codex")
    assert isinstance(store, HasSubsessions)

    assert store.subsession(loaded.session, OTHER) is None
    for place in (days[1] / f"{name}.zst", archive / f"{name}.zst", archive / name):
        place.touch()
        assert store.subsession(loaded.session, OTHER) == str(place)
        if place.parent == days[1]:
            place.unlink()
    store.close()


def states_of(path: Path, *, uncompacted: bool = False) -> dict[str, dict[str, Any]]:
    store, loaded = load(path, "codex")
    replay = replay_of(store, loaded.session, uncompacted=uncompacted)
    states = {loaded.session.ids[row]: replay.state(row) for row in range(len(loaded.session))}
    store.close()
    return states


def test_a_rollout_goes_on_from_the_history_of_another_up_to_where_it_says():
    before = "Name three rivers. Rhine, Elbe, Oder. Now three lakes. Como, Garda, Ohrid."
    states = states_of(of_thread("paginated", "1"))

    assert texts(states["L2"]) == before
    assert texts(states["L8"]) == f"{before} Now three islands. Crete, Jura, Hiiumaa."
    assert states["L8"]["model"] == "gpt-5.2-codex"


def test_a_rollback_reaches_into_the_history_before_the_file():
    states = states_of(of_thread("paginated", "1"))

    assert texts(states["L10"]) == "Name three rivers. Rhine, Elbe, Oder."
    assert texts(states["L16"]).endswith("Oder. Which river is longest? Of these, the Rhine.")


def test_a_history_goes_through_several_files_and_compacts_with_them():
    states = states_of(of_thread("paginated", "2"))
    whole = states_of(of_thread("paginated", "2"), uncompacted=True)

    assert texts(states["L2"]) == ""
    assert texts(states["L10"]) == "Name one city. They named places."
    assert texts(whole["L16"]) == "Name one city. Riga. They named places. And another. Brno."


def chain_of_files(folder: Path, *files: list[dict[str, Any]]) -> Path:
    """Write rollouts of which each goes on from the one before, and give the last."""
    path = folder
    for number, records in enumerate(files):
        thread, base = (
            f"019cb7f0-7000-7000-8000-{each:012}" for each in (number, abs(number - 1))
        )
        more = {"history_mode": "paginated", "history_base": {"thread_id": base}} if number else {}
        path = folder / f"rollout-2026-03-04T10-00-00-{thread}.jsonl"
        whole = (meta(id=thread, **more), *records)
        path.write_bytes(jsonl(*({**each, "ordinal": place} for place, each in enumerate(whole))))
    return path


FIRST = [user("U1"), answer("A1"), user("U2"), answer("A2")]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([FIRST, [back(1), user("U3")], [user("U4")]], "U1 A1 U3 U4"),
        ([FIRST, [back(1), user("U3")], [back(2), user("U4")]], "U4"),
        ([FIRST, [user("U3"), back(2), user("U4")], [back(1), user("U5")]], "U1 A1 U5"),
        ([FIRST, [back(1)], [back(1), user("U4")]], "U4"),
        ([FIRST, [back(1), user("U3"), back(2)]], ""),
        ([FIRST, [back(1), back(9), user("U3")]], "U3"),
        ([[user("<skill>"), *FIRST], [back(9), user("U3")]], "<skill> U3"),
        ([FIRST, [user("U3")], [back(2), user("U4")], [user("U5")]], "U1 A1 U4 U5"),
        ([FIRST, [back(1), user("U3")], [compacted("S"), user("U4")]], "U1 U3 S U4"),
        ([FIRST, [], [back(1), user("U3")]], "U1 A1 U3"),
    ],
)
def test_a_rollback_in_any_file_of_a_chain_takes_back_turns_of_those_before(
    tmp_path: Path, files: list[list[dict[str, Any]]], said: str
):
    path = chain_of_files(tmp_path, *files)

    *_, last = states_of(path).values()
    assert texts(last) == said


def test_a_chain_of_as_many_files_as_are_gone_back_through_is_replayed(tmp_path: Path):
    each = [[user(f"U{number}")] for number in range(MOST_ORIGINS + 1)]

    *_, last = states_of(chain_of_files(tmp_path, *each)).values()
    assert texts(last) == " ".join(f"U{number}" for number in range(MOST_ORIGINS + 1))


def test_a_compaction_keeps_what_was_asked_before_the_file(tmp_path: Path):
    base = tmp_path / f"rollout-2026-03-04T10-00-00-{OTHER}.jsonl"
    base.write_bytes(jsonl(meta(id=OTHER), user("U1"), answer("A1"), user("U2")))
    path = tmp_path / f"rollout-2026-03-04T10-00-00-{THREAD}.jsonl"
    more = {"history_mode": "paginated", "history_base": {"thread_id": OTHER}}
    path.write_bytes(jsonl(meta(**more), compacted("S"), {**user("U3"), "ordinal": 2}))

    states = states_of(path)
    assert [texts(each) for each in states.values()] == ["U1 U2 S", "U1 U2 S U3"]


def test_a_history_that_is_not_there_or_goes_in_a_circle_is_said(tmp_path: Path):
    store, loaded = load(of_thread("paginated", "3"), "codex")
    (missing,) = loaded.session.findings
    store.close()
    for own, base in ((THREAD, OTHER), (OTHER, THREAD)):
        path = tmp_path / f"rollout-2026-03-04T10-00-00-{own}.jsonl"
        path.write_bytes(jsonl(meta(id=own, history_base={"thread_id": base}), user("U")))
    store, loaded = load(path, "codex")
    (circle,) = loaded.session.findings

    assert (missing.code, "whose rollout is not there" in missing.message) == ("TT402", True)
    assert (circle.code, "goes in a circle" in circle.message) == ("TT402", True)
    assert [texts(each) for each in states_of(path).values()] == ["U U"]
    store.close()


def test_the_index_of_names_tells_the_title(tmp_path: Path):
    folder = tmp_path / "sessions" / "2026"
    folder.mkdir(parents=True)
    path = folder / f"rollout-2026-03-04T10-00-00-{THREAD}.jsonl"
    path.write_bytes(jsonl(meta(), user("U1")))
    names = [{"id": THREAD, "thread_name": each} for each in ("old", "new")]
    (tmp_path / "session_index.jsonl").write_bytes(jsonl(names[0], "{torn", names[1]))
    store, loaded = load(path, "codex")

    assert loaded.session.title == "new"
    store.close()


@pytest.mark.parametrize("size", [1, 7, 300])
def test_a_rollout_followed_in_pieces_is_the_one_read_whole(tmp_path: Path, size: int):
    (whole,) = FOLDER.glob("rollout-2026-03-04*.jsonl")
    content = whole.read_bytes()
    path = tmp_path / whole.name
    path.write_bytes(b"")
    store, loaded = load(path, "codex")
    assert isinstance(store, Follows)
    step = size * len(content) // 1000
    for end in range(step, len(content) + step, max(step, 1)):
        with path.open("ab") as file:
            file.write(content[end - step : end])
        loaded = store.follow(loaded.cursor)
    again, read = load(whole, "codex")

    assert facts(loaded.session) == facts(read.session)
    assert loaded.session.subsessions == read.session.subsessions
    assert list(loaded.session.asides) == list(read.session.asides)
    again.close()
    store.close()


def compressed(path: Path, folder: Path) -> Path:
    zipped = folder / f"{path.name}.zst"
    zipped.write_bytes(zstandard.compress(path.read_bytes()))
    return zipped


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_a_compressed_rollout_is_the_same_session(tmp_path: Path, path: Path):
    plain, loaded = load(path, "codex")
    zipped, same = load(compressed(path, tmp_path), "codex")

    assert facts(same.session) == facts(loaded.session)
    rows = range(len(loaded.session))
    assert zipped.bodies(same.session, rows) == plain.bodies(loaded.session, rows)
    plain.close()
    zipped.close()


def test_a_compressed_rollout_that_was_cut_shows_what_came_before(tmp_path: Path):
    content = jsonl(meta(), *(user(f"U{number} {hash(number)}") for number in range(2000)))
    path = tmp_path / f"rollout-2026-03-04T10-00-00-{THREAD}.jsonl.zst"
    path.write_bytes(zstandard.compress(content, 1)[:-20])
    store, loaded = load(path, "codex")

    assert 0 < len(loaded.session) < 2000
    messages = [each.message for each in loaded.session.findings]
    assert any("the compressed file ends in the middle" in each for each in messages)
    store.close()


def test_what_is_kept_of_a_rollout_opens_as_it_was_and_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(index_cache, "LEAST", 1)
    (whole,) = FOLDER.glob("rollout-2026-03-04*.jsonl")
    lines = whole.read_bytes().splitlines(keepends=True)
    path = tmp_path / whole.name
    path.write_bytes(b"".join(lines[:40]))
    first, read = load(path, "codex")
    assert isinstance(first, Remembers)
    assert first.remember(read)
    kept, again = load(path, "codex")
    with path.open("ab") as file:
        file.write(b"".join(lines[40:]))
    grown, more = load(path, "codex")
    fresh, all_of_it = load(whole, "codex")

    assert again.session.heads is not read.session.heads
    assert facts(again.session) == facts(read.session)
    assert facts(more.session) == facts(all_of_it.session)
    assert list(more.session.asides) == list(all_of_it.session.asides)
    assert replay_of(grown, more.session).state(36) == replay_of(fresh, all_of_it.session).state(
        36
    )
    for store in (first, kept, grown, fresh):
        store.close()


def test_what_is_kept_of_a_rollout_is_read_anew_where_other_files_tell_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(index_cache, "LEAST", 1)
    monkeypatch.setattr(index_cache, "SETTLED", -1)
    folder = tmp_path / "sessions"
    folder.mkdir()
    path = chain_of_files(folder, FIRST, [user("U3")])
    before = min(folder.iterdir())
    names = tmp_path / "session_index.jsonl"

    def told() -> tuple[bool, str | None, list[str]]:
        """Give whether it came from the cache, and what it tells."""
        store, loaded = load(path, "codex")
        assert isinstance(store, Remembers)
        is_new = store.remember(loaded)
        store.close()
        return not is_new, loaded.session.title, codes(loaded.session.findings)

    assert [told(), told()] == [(False, "U3", []), (True, "U3", [])]
    thread = path.stem[-36:]
    names.write_bytes(jsonl({"id": thread, "thread_name": "new"}))
    assert [told(), told()] == [(False, "new", []), (True, "new", [])]
    assert Codex.consulted(str(path)) == "new"
    assert Codex.consulted(str(before)) == ""
    before.unlink()
    assert [told(), told()] == [(False, "new", ["TT402"]), (True, "new", ["TT402"])]


def test_no_file_stays_open_where_a_base_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store, loaded = load(chain_of_files(tmp_path, FIRST, FIRST, [user("U3")]), "codex")
    read: list[RegularFile] = []

    def failing(file: RegularFile) -> Iterator[Line]:
        read.append(file)
        if len(read) == 2:
            raise CannotReadError("no")
        return lines(file)

    monkeypatch.setattr(base_files, "lines", failing)
    with pytest.raises(CannotReadError, match="no"):
        replay_of(store, loaded.session)
    for each in read:
        with pytest.raises(CannotReadError):
            each.read(0, 1)
    assert len(read) == 2
    store.close()


def test_what_an_answer_used_is_told_to_its_row_where_the_rollout_is_followed(tmp_path: Path):
    path = tmp_path / f"rollout-2026-03-04T10-00-00-{THREAD}.jsonl"
    path.write_bytes(jsonl(meta(), user("U"), call("c"), output("c", "x")))
    debugger = Debugger.open(str(path))
    assert [debugger.state(row)["usage"] for row in range(3)] == [None] * 3

    with path.open("ab") as file:
        file.write(jsonl(tokens(10, input_tokens=5, total_tokens=10), user("V")))
    grown = debugger.follow()

    assert grown is not None
    assert grown.kept == 1
    used = [debugger.state(row)["usage"] for row in range(4)]
    assert used[0] is None
    assert [each["total"] for each in used[1:]] == [10, 10, 10]
    debugger.close()


def test_places_are_the_folders_of_sessions_and_of_the_archive(tmp_path: Path):
    assert issubclass(Codex, HasPlaces)
    own = Codex.places({"CODEX_HOME": "~/agents/codex"}, tmp_path)

    assert Codex.places({}, tmp_path) == (
        tmp_path / ".codex" / "sessions",
        tmp_path / ".codex" / "archived_sessions",
    )
    assert own[0] == tmp_path / "agents" / "codex" / "sessions"


def test_whatever_is_not_known_is_kept(opened: Any):
    session, replay = opened(
        meta(),
        record("tomorrow", {"x": 1}),
        item("mystery_item", z=1),
        record("response_item", None),
        record("world_state", {"full": True}),
        event("of_tomorrow", x=1),
        {"note": "no type"},
    )

    assert [each.head.kind for each in session] == [
        Kind.CUSTOM,
        Kind.CUSTOM,
        Kind.UNREADABLE,
        Kind.UNREADABLE,
    ]
    assert [each.name for each in session.asides] == ["session_meta", "world_state", "of_tomorrow"]
    assert codes(session.findings) == ["TT401", "TT401", "TT407", "TT407"]
    assert replay.state(session.active)["messages"] == []
