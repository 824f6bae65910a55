"""Forks of Codex: flat rollouts that the agent accepts, from every checkpoint."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard
from builders import FIXTURES, fixture_files
from forks_of_files import LATER as NOW
from forks_of_files import drafted_later as drafted
from forks_of_files import lines_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Append, Change, Drop, Put, Splice
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.core.model import Kind
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.storage.writing import write

FOLDER = FIXTURES / "codex"
FILES = [*fixture_files("codex"), FIXTURES.parent.parent / "sample_sessions" / "codex.jsonl"]
STAMP = "2030-03-17T17:46:40.000Z"
NAME = re.compile(
    r"rollout-2030-03-1[678]T\d\d-\d\d-\d\d-"
    r"(01ba60d3-3800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\.jsonl\Z"
)
THREAD = "019cb7f0-7000-7000-8000-0000000000aa"


def replay(draft: Draft, folder: Path) -> dict[str, Any]:
    """Write a fork into a folder, and give the state at its end."""
    folder.mkdir(exist_ok=True)
    (made,) = draft.writes
    assert isinstance(made, NewFile)
    path = folder / Path(made.path).name
    write(NewFile(str(path), made.records))
    with Debugger.open(str(path)) as fork:
        active = fork.session.active
        assert active is not None
        assert fork.session.ids[active] == draft.point
        assert fork.session.id == draft.session
        return fork.state(active)


def points(debugger: Debugger) -> list[int]:
    rows = [
        debugger.safe_row(row)
        for row in range(len(debugger.session))
        if debugger.session.heads.kind(row) not in (Kind.GAP, Kind.UNREADABLE)
    ]
    return sorted(set(rows))


def assert_satisfies_the_recipe(debugger: Debugger, draft: Draft) -> None:
    """Hold the lines of a fork against each point of the recipe."""
    head, *lines = lines_of(draft)
    meta = head["payload"]
    named = NAME.match(Path(draft.location).name)

    # Its name has the time and an id of version 7, which the metadata has too.
    assert named
    assert meta["id"] == named[1] == draft.session
    assert named[1].encode() not in Path(debugger.location).read_bytes()
    assert meta.get("session_id", named[1]) == named[1]
    # Line 1 is metadata, the only ones, with all that the agent needs.
    assert (head["type"], head["timestamp"], meta["timestamp"]) == ("session_meta", STAMP, STAMP)
    assert all(isinstance(meta[key], str) for key in ("cwd", "originator", "cli_version"))
    assert meta["forked_from_id"] == debugger.session.id
    assert not any(line["type"] == "session_meta" for line in lines)
    # Flat: nothing counts on another file or on numbers.
    assert meta.get("history_mode", "legacy") == "legacy"
    assert not {"history_base", "forked_from_ordinal_exclusive", "parent_thread_id"} & meta.keys()
    assert isinstance(meta.get("source", "cli"), str)
    assert not any("ordinal" in line for line in (head, *lines))
    # Each line has an envelope.
    assert all({"timestamp", "type", "payload"} <= line.keys() for line in lines)
    # No turn is left open.
    is_open = False
    for line in lines:
        kind = line["payload"].get("type") if line["type"] == "event_msg" else None
        is_open = kind == "task_started" or (
            is_open and kind not in ("task_complete", "turn_aborted")
        )
    assert not is_open
    # What is asked is shown, else the thread has no preview.
    items = [line["payload"] for line in lines if line["type"] == "response_item"]
    asked = [
        item
        for item in items
        if item.get("role") == "user" and item["content"][0]["text"][:1] not in "<#"
    ]
    assert not asked or any(line["payload"].get("type") == "user_message" for line in lines)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-20:])
def test_a_fork_at_any_checkpoint_is_what_the_agent_accepts(path: Path, tmp_path: Path):
    before = {
        each: hashlib.sha256(each.read_bytes()).digest() for each in path.parent.glob("*.js*")
    }
    with Debugger.open(str(path)) as debugger:
        for row in points(debugger):
            plan, draft = drafted(debugger, row)
            assert_satisfies_the_recipe(debugger, draft)
            state = replay(draft, tmp_path / str(row))
            assert set(keys_between(plan.wanted, state)) <= set(draft.own)
            with Debugger.open(str(tmp_path / str(row) / Path(draft.location).name)) as fork:
                active = fork.session.active
                assert active is not None
                resumed = debugger.resumed(row).state["messages"]
                assert fork.resumed(active).state["messages"] == resumed
                codes = {each.code for each in debugger.session.findings}
                assert {each.code for each in fork.session.findings} <= codes
    assert {each: hashlib.sha256(each.read_bytes()).digest() for each in before} == before


def test_there_are_files():
    assert len(FILES) == 27


def record(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-04T09:00:01.000Z", "type": kind, "payload": payload, **more}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return record("event_msg", {"type": kind, **more})


def user(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


def answer(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


META = {
    "id": THREAD,
    "session_id": THREAD,
    "timestamp": "2026-03-04T09:00:00.000Z",
    "cwd": "/home/dev/my shop",
    "originator": "codex_cli_rs",
    "cli_version": "0.171.0",
    "history_mode": "legacy",
}
TALK = [
    record("session_meta", META),
    event("task_started", turn_id="t1"),
    record("response_item", user("Which beans?")),
    event("user_message", message="Which beans?", images=[]),
    event("agent_message", message="Arabica."),
    record("response_item", answer("Arabica.")),
    event("task_complete", turn_id="t1", last_agent_message="Arabica."),
    event("task_started", turn_id="t2"),
    record("response_item", user("How hot?")),
    event("user_message", message="How hot?", images=[]),
    record("response_item", answer("93 degrees.")),
    event("task_complete", turn_id="t2", last_agent_message="93 degrees."),
]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Debugger]]:
    """Open a rollout that is told by its lines."""
    debuggers: list[Debugger] = []

    def open_rollout(lines: Sequence[Any], folder: str = "s", packed: str = "") -> Debugger:
        path = tmp_path / folder / f"rollout-2026-03-04T10-00-00-{THREAD}.jsonl{packed}"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        path.write_bytes(zstandard.compress(data) if packed else data)
        debuggers.append(Debugger.open(str(path)))
        return debuggers[-1]

    yield open_rollout
    for each in debuggers:
        each.close()


def test_a_fork_is_written_line_by_line(opened: Callable[..., Debugger]):
    debugger = opened(TALK)

    plan, draft = drafted(debugger, 1, note="hotter")
    head, *rest = lines_of(draft)

    assert head == record(
        "session_meta",
        META
        | {"id": draft.session, "session_id": draft.session, "timestamp": STAMP}
        | {"forked_from_id": THREAD, "ttdbg": {"origin": plan.origin, "note": "hotter"}},
    ) | {"timestamp": STAMP}
    assert rest == TALK[1:7]
    assert draft.resume_command == f"cd '/home/dev/my shop' && codex resume {draft.session}"


def test_a_turn_that_is_cut_is_closed_by_an_event_not_by_a_message(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(TALK)

    plan, draft = drafted(debugger, 2)

    assert lines_of(draft)[-1] == record(
        "event_msg", {"type": "turn_aborted", "turn_id": "t2", "reason": "interrupted"}
    ) | {"timestamp": STAMP}
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_what_the_screen_shows_of_a_message_is_edited_with_it(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(TALK)
    edits = [
        Put(("messages", 0, "content", 0, "text"), "Which tea?"),
        Put(("messages", 1, "content", 0, "text"), "Oolong."),
    ]

    plan, draft = drafted(debugger, 1, edits)
    _, *lines = lines_of(draft)

    assert lines == [
        TALK[1],
        record("response_item", user("Which tea?")),
        event("user_message", message="Which tea?", images=[]),
        event("agent_message", message="Oolong."),
        record("response_item", answer("Oolong.")),
        event("task_complete", turn_id="t1", last_agent_message="Oolong."),
    ]
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_what_the_screen_shows_of_a_message_goes_with_it(opened: Callable[..., Debugger]):
    debugger = opened(TALK)

    _, draft = drafted(debugger, 1, [Drop(("messages", 1))])

    assert lines_of(draft)[1:] == [
        *TALK[1:4],
        event("task_complete", turn_id="t1", last_agent_message=None),
    ]


def test_a_message_that_is_added_is_shown_too(opened: Callable[..., Debugger], tmp_path: Path):
    debugger = opened(TALK)
    more = debugger.message(debugger.state(1), "And the milk?", NOW)

    plan, draft = drafted(debugger, 1, [more])

    assert more == Append(("messages",), user("And the milk?"))
    assert [line["payload"] for line in lines_of(draft)[-2:]] == [
        user("And the milk?"),
        {"type": "user_message", "message": "And the milk?"},
    ]
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_a_title_names_the_thread_and_other_keys_are_refused(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(TALK)

    _, draft = drafted(debugger, 3, [Put(("title",), "Coffee")])

    assert replay(draft, tmp_path / "f")["title"] == "Coffee"
    for key in ("model", "cwd", "usage", "settings"):
        with pytest.raises(UnsupportedError, match=f"{key} cannot be set"):
            drafted(debugger, 3, [Put((key,), "other")])
    with pytest.raises(UsageError, match="a title is a text"):
        drafted(debugger, 3, [Put(("title",), 7)])


def test_what_a_rollout_cannot_hold_is_refused(opened: Callable[..., Debugger]):
    debugger = opened(TALK)

    with pytest.raises(UnsupportedError, match="a rollout has no branches"):
        drafted(debugger, 3, in_place=True)
    for wrong in ("text", {"role": "user", "content": "x"}, {"type": "message", "role": "user"}):
        with pytest.raises(UnsupportedError, match="a message of Codex"):
            drafted(debugger, 3, [Append(("messages",), wrong)])
    with pytest.raises(UsageError, match="nothing would be left"):
        drafted(opened([TALK[0], TALK[2]], "t"), 0, [Drop(("messages", 0))])


def compacted(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [*TALK[:7], record("compacted", payload), *TALK[7:]]


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([Put(("messages", 0), user("Any tea?"))], id="edited"),
        pytest.param([Drop(("messages", 0))], id="left out"),
        pytest.param([Splice(("messages",), 1, 0, (user("Between."),))], id="added within"),
        pytest.param([Splice(("messages",), 0, 0, (user("First."),))], id="added before"),
        pytest.param([Splice(("messages",), 2, 0, (user("Behind."),))], id="added behind"),
    ],
)
def test_what_a_compaction_left_can_be_edited(
    edits: list[Change], opened: Callable[..., Debugger], tmp_path: Path
):
    left = [user("Which beans?"), user("Summary: Arabica.")]
    debugger = opened(compacted({"message": "", "replacement_history": left}))
    row = debugger.session.active
    assert row is not None

    plan, draft = drafted(debugger, row, edits)

    assert len(plan.wanted["messages"]) != 0
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_a_summary_alone_is_a_text(opened: Callable[..., Debugger], tmp_path: Path):
    debugger = opened(compacted({"message": "Arabica it is."}))
    row = debugger.session.active
    assert row is not None

    plan, draft = drafted(debugger, row, [Put(("messages", 1, "content", 0, "text"), "Robusta.")])

    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]
    with pytest.raises(UnsupportedError, match="the summary of this compaction is one text"):
        drafted(debugger, row, [Drop(("messages", 1))])


def test_turns_that_were_taken_back_stay_a_dead_branch_of_the_fork(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened([*TALK, event("thread_rolled_back", num_turns=1)])
    row = debugger.session.active
    assert row is not None

    plan, draft = drafted(debugger, row, [Append(("messages",), user("How fine?"))])

    assert [line["payload"].get("num_turns") for line in lines_of(draft)].count(1) == 1
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]
    assert len(plan.wanted["messages"]) == 3


def test_a_history_in_other_files_is_taken_in(tmp_path: Path):
    home = tmp_path / "home"
    shutil.copytree(FOLDER / "paginated", home)
    (path,) = home.glob("*000000000002.jsonl")
    with Debugger.open(str(path)) as debugger:
        row = debugger.session.active
        assert row is not None
        place = next(
            place
            for place, each in enumerate(debugger.state(row)["messages"])
            if each.get("role") == "user"
        )

        plan, draft = drafted(debugger, row, [Put(("messages", place), user("Otherwise."))])

    assert len(lines_of(draft)) > len(path.read_bytes().splitlines())
    shutil.rmtree(home)
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_the_thread_of_a_subagent_becomes_one_of_its_own():
    (path,) = (FOLDER / "subagents").glob("*00000000000b.jsonl")
    with Debugger.open(str(path)) as debugger:
        _, draft = drafted(debugger, debugger.session.active or 0)

    meta = lines_of(draft)[0]["payload"]
    assert (meta["source"], meta["session_id"]) == ("cli", draft.session)
    assert "agent_nickname" not in meta
    assert any("becomes one of its own" in note for note in draft.notes)


def test_an_old_rollout_is_written_in_the_form_of_today():
    (path,) = FOLDER.glob("rollout-2025-*.jsonl")
    with Debugger.open(str(path)) as debugger:
        assert any("does not resume" in each.message for each in debugger.session.findings)

        _, draft = drafted(debugger, debugger.session.active or 0)

    assert {line["type"] for line in lines_of(draft)} == {
        "session_meta",
        "response_item",
        "event_msg",
    }
    assert any("in today's form" in note for note in draft.notes)


def test_a_compressed_rollout_is_forked_into_a_plain_one(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(TALK, packed=".zst")

    plan, draft = drafted(debugger, 3)

    assert NAME.match(Path(draft.location).name)
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_the_fork_of_an_archived_thread_stands_where_the_agent_looks(
    opened: Callable[..., Debugger], tmp_path: Path
):
    (tmp_path / "sessions").mkdir()
    debugger = opened(TALK, "archived_sessions")

    _, draft = drafted(debugger, 3)

    assert Path(draft.location).parent == tmp_path / "sessions"
    assert draft.notes == ()


def test_the_name_that_a_thread_was_given_is_that_of_the_fork(
    opened: Callable[..., Debugger], tmp_path: Path
):
    named = event("thread_name_updated", thread_id=THREAD, thread_name="Coffee")
    debugger = opened([*TALK, named])

    _, draft = drafted(debugger, debugger.session.active or 0)

    assert lines_of(draft)[-1]["payload"]["thread_id"] == draft.session
    assert replay(draft, tmp_path / "f")["title"] == "Coffee"


EDITED = [path for path in FILES if path.stem[-2:] in ("01", "0b") or path.parent.name != "codex"][
    ::3
]


@st.composite
def some_edits(draw: st.DrawFn, messages: Sequence[Any]) -> list[Change]:
    """Give edits of messages: replaced, removed, added."""
    size = len(messages)
    found: list[Change] = []
    for kind in draw(st.lists(st.sampled_from(["replace", "remove", "add"]), max_size=3)):
        place = draw(st.integers(0, max(size - 1, 0)))
        message = user(draw(st.text(min_size=1, max_size=9)))
        if kind == "add":
            found.append(Splice(("messages",), place, 0, (message,)))
            size += 1
        elif size and kind == "remove":
            found.append(Drop(("messages", place)))
            size -= 1
        elif size:
            found.append(Put(("messages", place), message))
    return found


@pytest.mark.parametrize("path", EDITED, ids=lambda path: path.stem[-20:])
@settings(max_examples=25)
@given(data=st.data())
def test_edited_messages_are_what_the_fork_replays_to(
    path: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    with Debugger.open(str(path)) as debugger:
        row = data.draw(st.sampled_from(points(debugger)))
        edits = data.draw(some_edits(debugger.state(row)["messages"]))
        try:
            plan, draft = drafted(debugger, row, edits)
        except (UnsupportedError, UsageError):
            return
        state = replay(draft, tmp_path_factory.mktemp("fork"))
        assert set(keys_between(plan.wanted, state)) <= set(draft.own)
