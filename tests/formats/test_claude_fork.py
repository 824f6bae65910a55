"""Forks of Claude Code: every point of the recipe that the agent accepts, at every checkpoint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import forks_of_files
import pytest
from builders import FIXTURES, fixture_files
from claude_lines import Claude, calls, says, thinks
from forks_of_files import LATER as NOW
from forks_of_files import drafted_later as drafted
from hypothesis import given, settings
from hypothesis import strategies as st

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Append, Change, Drop, Put, Splice
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import How, MoreLines, NewFile
from tt_debugger.core.model import Kind
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.storage.writing import write

SAMPLES = FIXTURES.parent.parent / "sample_sessions"
FILES = [
    *fixture_files("claude_code"),
    SAMPLES / "claude-code.jsonl",
    *sorted((SAMPLES / "claude-code").rglob("*.jsonl")),
]
NEWEST = "2030-03-17T17:46:40.000Z"
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
ASIDE = ("custom-title", "last-prompt", "file-history-snapshot")


lines_of = partial(forks_of_files.lines_of, kind=NewFile | MoreLines)


def written(draft: Draft, folder: Path) -> Path:
    """Write a draft of a new file into a folder."""
    (made,) = draft.writes
    assert isinstance(made, NewFile)
    path = folder / Path(made.path).name
    write(NewFile(str(path), made.records))
    return path


def calls_and_results(lines: Sequence[dict[str, Any]]) -> tuple[set[str], set[str]]:
    blocks = [
        block
        for line in lines
        if isinstance(line.get("message"), dict) and isinstance(line["message"]["content"], list)
        for block in line["message"]["content"]
    ]
    return (
        {block["id"] for block in blocks if block["type"] == "tool_use"},
        {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"},
    )


def assert_satisfies_the_recipe(debugger: Debugger, draft: Draft) -> None:
    """Hold the lines of a fork against each point of the recipe."""
    session, lines = debugger.session, lines_of(draft)
    original = Path(debugger.location).read_bytes()
    chain = [line for line in lines if line["type"] not in ASIDE]
    *_, title, pin = lines
    new = Path(draft.location).stem
    ids = [line["uuid"] for line in chain]

    assert UUID4.match(new)
    assert Path(draft.location).suffix == ".jsonl"
    # Nothing but lines of the chain, lists of files behind their lines, and the two at the end.
    assert {line["type"] for line in chain} <= {"user", "assistant", "system", "attachment"}
    assert [line["type"] for line in (title, pin)] == ["custom-title", "last-prompt"]
    assert title["customTitle"] == f"{session.title or session.id} (fork)"
    # Ids are new, well formed, and each there once.
    assert all(UUID4.match(each) for each in ids)
    assert len(set(ids)) == len(ids)
    assert not any(each.encode() in original for each in (new, *ids))
    assert {line["sessionId"] for line in (*chain, title, pin)} == {new}
    assert all(line["isSidechain"] is False for line in chain)
    # One line, from the first to the last, but for links that the original lacks too.
    lost = {session.ids[row] for row in session.own.healed}
    for before, line in zip([None, *ids], chain, strict=False):
        if line.get("subtype") == "compact_boundary":
            assert (line["parentUuid"], line["logicalParentUuid"]) == (None, before)
        elif line.get("forkedFrom", {}).get("messageUuid") in lost and before is not None:
            assert line["parentUuid"] not in ids
        else:
            assert line["parentUuid"] == before
    # Where each line comes from.
    for line in chain:
        old = line["forkedFrom"]["messageUuid"]
        assert old.encode() in original
        assert line["forkedFrom"]["sessionId"]
    # Each call is answered that the original answers.
    asked, answered = calls_and_results(chain)
    everywhere = [
        {"message": message}
        for row in session.tree.leaves()
        for message in debugger.state(row, uncompacted=True).get("messages", ())
    ]
    assert not (asked - answered) & calls_and_results(everywhere)[1]
    # The last line is the leaf, the newest, and what the pin names.
    if chain[-1].get("forkedFrom", {}).get("messageUuid") not in lost:
        assert chain[-1]["timestamp"] == max(line["timestamp"] for line in chain) == NEWEST
    assert pin["leafUuid"] == ids[-1]
    assert isinstance(pin["lastPrompt"], str)
    # References lead to lines that are there, or to none that ever was.
    olds = {old.encode() for line in chain for old in [line["forkedFrom"]["messageUuid"]]}
    for line in chain:
        rest = {key: value for key, value in line.items() if key not in ("forkedFrom", "message")}
        text = json.dumps(rest, ensure_ascii=False).encode()
        assert not any(b'"' + old + b'"' in text for old in olds if len(old) == 36)


def points(debugger: Debugger) -> Iterator[int]:
    for row in range(len(debugger.session)):
        if debugger.session.heads.kind(row) not in (Kind.GAP, Kind.UNREADABLE):
            yield row


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_fork_at_any_checkpoint_is_what_the_agent_accepts(path: Path, tmp_path: Path):
    before = hashlib.sha256(path.read_bytes()).digest()
    with Debugger.open(str(path)) as debugger:
        for row in sorted({debugger.safe_row(row) for row in points(debugger)}):
            plan, draft = drafted(debugger, row)
            assert_satisfies_the_recipe(debugger, draft)
            folder = tmp_path / str(row)
            folder.mkdir()
            with Debugger.open(str(written(draft, folder))) as fork:
                end = fork.session.row_of(draft.point)
                assert end is not None
                assert end == fork.session.active
                # The title stands behind all lines.
                assert draft.own == ("title",)
                assert set(keys_between(plan.wanted, fork.state(end))) <= {"title"}
                assert (
                    fork.resumed(end).state["messages"] == debugger.resumed(row).state["messages"]
                )
                codes = {each.code for each in debugger.session.findings}
                assert {each.code for each in fork.session.findings} <= codes
                assert fork.session.forked_from
    assert hashlib.sha256(path.read_bytes()).digest() == before


def test_there_are_files():
    assert len(FILES) == 47


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Debugger]]:
    """Open a session that is told by its lines."""
    debuggers: list[Debugger] = []

    def open_session(story: Claude, folder: str = "s", name: str = "session") -> Debugger:
        path = tmp_path / folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in story.lines))
        debuggers.append(Debugger.open(str(path)))
        return debuggers[-1]

    yield open_session
    for each in debuggers:
        each.close()


def short_talk() -> Claude:
    story = Claude()
    story.user("u1", "Which beans?")
    story.answer("a1", "m1", says("Arabica."))
    story.user("u2", "And how hot?")
    story.answer("a2", "m2", says("93 degrees."))
    return story


def replay(draft: Draft, folder: Path) -> dict[str, Any]:
    """Give the state at the end of a fork."""
    folder.mkdir()
    with Debugger.open(str(written(draft, folder))) as fork:
        active = fork.session.active
        assert active is not None
        assert fork.session.ids[active] == draft.point
        return fork.state(active)


def test_a_fork_is_written_line_by_line(opened: Callable[..., Debugger]):
    debugger = opened(short_talk())

    plan, draft = drafted(debugger, 1, note="another roast")
    first, second, title, pin = lines_of(draft)

    new = Path(draft.location).stem
    around = {
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/shop",
        "sessionId": new,
        "version": "2.1.197",
        "gitBranch": "main",
    }
    assert first == {
        "parentUuid": None,
        **around,
        "type": "user",
        "uuid": first["uuid"],
        "timestamp": "2026-08-31T09:30:01.000Z",
        "message": {"role": "user", "content": "Which beans?"},
        "forkedFrom": {"sessionId": "session", "messageUuid": "u1"},
    }
    assert second == {
        "parentUuid": first["uuid"],
        **around,
        "type": "assistant",
        "uuid": draft.point,
        "timestamp": NEWEST,
        "message": plan.state["messages"][1],
        "forkedFrom": {"sessionId": "session", "messageUuid": "a1"},
    }
    assert title == {
        "type": "custom-title",
        "customTitle": "Which beans? (fork)",
        "sessionId": new,
        "ttdbg": {"origin": plan.origin, "note": "another roast"},
    }
    assert pin == {
        "type": "last-prompt",
        "lastPrompt": "Which beans?",
        "leafUuid": draft.point,
        "sessionId": new,
    }
    assert [each.how for each in draft.writes[0].records] == [  # type: ignore[union-attr]
        How.KEPT,
        How.KEPT,
        How.ADDED,
        How.ADDED,
    ]


def test_what_a_kept_line_says_is_the_same_to_the_byte(tmp_path: Path):
    message = rb'{"role" :"user","content": "\u00e9 \/ 1.0e2", "n":1.50}'
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"uuid": "u1", "parentUuid": null, "sessionId": "s", "type": "user", "timestamp":'
        b' "2026-08-31T09:30:01.000Z", "message": ' + message + b', "later": {"a" : [1.0]}}\n'
    )
    with Debugger.open(str(path)) as debugger:
        _, draft = drafted(debugger, 0)

    (made,) = draft.writes
    assert isinstance(made, NewFile)
    assert message in made.records[0].data
    assert b'{"a" : [1.0]}' in made.records[0].data


def test_in_the_folder_of_a_project_the_agent_finds_a_fork_by_its_id(
    opened: Callable[..., Debugger],
):
    debugger = opened(short_talk(), "projects/-home-dev-shop")

    _, draft = drafted(debugger, 3)

    new = Path(draft.location).stem
    assert Path(draft.location).parent == Path(debugger.location).parent
    assert draft.resume_command == f"cd /home/dev/shop && claude --resume {new}"


def test_elsewhere_the_agent_is_given_the_path_of_a_fork(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(short_talk())
    target = tmp_path / "an other.jsonl"

    _, beside = drafted(debugger, 3)
    _, named = drafted(debugger, 3, target=str(target))

    assert beside.resume_command == f"cd /home/dev/shop && claude --resume {beside.location}"
    assert named.location == str(target)
    assert named.resume_command == f"cd /home/dev/shop && claude --resume '{target}'"


def side_by_side() -> Claude:
    """Give a session in which two tools ran side by side, each result on the line that called."""
    story = Claude()
    story.user("u1", "Look.")
    story.answer("a1", "m1", thinks("Two files."))
    story.answer("a2", "m1", calls("c1"))
    story.answer("a3", "m1", calls("c2"))
    story.line(
        "user",
        "r1",
        parent="a2",
        message={
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}],
        },
        toolUseResult={"stdout": "one"},
        sourceToolAssistantUUID="a2",
    )
    story.line(
        "user",
        "r2",
        parent="a3",
        message={
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "two"}],
        },
    )
    story.answer("a4", "m2", says("Done."))
    return story


def test_tools_that_ran_side_by_side_stand_in_one_line_for_old_versions_too(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(side_by_side())
    row = debugger.session.active
    assert row is not None

    _, draft = drafted(debugger, row)
    lines = lines_of(draft)[:-2]

    assert [line["forkedFrom"]["messageUuid"] for line in lines] == [
        "u1",
        "a1",
        "a2",
        "a3",
        "r1",
        "r2",
        "a4",
    ]
    assert [line["parentUuid"] for line in lines[1:]] == [line["uuid"] for line in lines[:-1]]
    assert lines[4]["sourceToolAssistantUUID"] == lines[2]["uuid"]
    assert [str(each.code) for each in debugger.session.findings] == ["TT412"]
    with Debugger.open(str(written(draft, tmp_path))) as fork:
        assert fork.session.findings == ()


def test_a_message_of_several_lines_becomes_one_line_when_it_is_edited(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(side_by_side())
    row = debugger.session.active
    assert row is not None
    edits = [
        Put(("messages", 1, "content", 1, "input"), {"command": "cat two"}),
        Put(("messages", 2, "content", 0, "content"), "neither"),
    ]

    plan, draft = drafted(debugger, row, edits)
    lines = lines_of(draft)[:-2]

    assert [line["forkedFrom"]["messageUuid"] for line in lines] == ["u1", "a3", "r1", "r2", "a4"]
    assert lines[1]["message"] == plan.wanted["messages"][1]
    assert lines[1]["message"]["content"][0] == thinks("Two files.")
    # What the tool told otherwise would contradict the result.
    assert "toolUseResult" not in lines[2]
    assert lines[2]["sourceToolAssistantUUID"] == lines[1]["uuid"]
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_signed_thinking_is_not_edited_but_can_be_taken_away(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(side_by_side())

    with pytest.raises(UnsupportedError, match="thinking is signed"):
        drafted(debugger, 3, [Put(("messages", 1, "content", 0, "thinking"), "Three files.")])
    plan, draft = drafted(debugger, 3, [Drop(("messages", 1, "content", 0))])

    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def test_a_message_that_is_added_is_told_as_its_neighbours_are(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(short_talk())
    more = debugger.message(debugger.state(1), "And the milk?", NOW)

    plan, draft = drafted(debugger, 1, [more])
    _, before, added, _, pin = lines_of(draft)

    assert added == {
        "parentUuid": before["uuid"],
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/shop",
        "sessionId": Path(draft.location).stem,
        "version": "2.1.197",
        "gitBranch": "main",
        "type": "user",
        "message": {"role": "user", "content": "And the milk?"},
        "uuid": draft.point,
        "timestamp": NEWEST,
    }
    assert pin["lastPrompt"] == "And the milk?"
    assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


def kept_by_compaction() -> Debugger:
    return Debugger.open(str(FIXTURES / "claude_code" / "compacted-kept.jsonl"))


def test_what_a_compaction_kept_is_brought_back_in_the_fork_too(tmp_path: Path):
    with kept_by_compaction() as debugger:
        plan, draft = drafted(debugger, debugger.session.row_of("a4") or 0)
        lines = {line["forkedFrom"]["messageUuid"]: line for line in lines_of(draft)[:-2]}

        assert list(lines) == ["u1", "a1", "u2", "a2", "u3", "a3", "c1", "s1", "u4", "a4"]
        segment = lines["c1"]["compactMetadata"]["preservedSegment"]
        assert segment == {
            "headUuid": lines["u2"]["uuid"],
            "anchorUuid": lines["s1"]["uuid"],
            "tailUuid": lines["a3"]["uuid"],
        }
        assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([Put(("messages", 1, "content"), "Question two?")], id="edited"),
        pytest.param([Drop(("messages", 1))], id="without the first"),
        pytest.param([Drop(("messages", 4))], id="without the last"),
        pytest.param([Drop(("messages", 1))] * 4, id="without any"),
        pytest.param([Put(("messages", 0, "content"), "Shorter.")], id="another summary"),
        pytest.param(
            [Splice(("messages",), 2, 0, ({"role": "user", "content": "Between."},))],
            id="one more between",
        ),
        pytest.param(
            [Splice(("messages",), 0, 0, ({"role": "user", "content": "First."},))],
            id="one more before",
        ),
    ],
)
def test_what_a_compaction_kept_can_be_edited(edits: list[Change], tmp_path: Path):
    with kept_by_compaction() as debugger:
        plan, draft = drafted(debugger, debugger.session.row_of("a4") or 0, edits)

        assert replay(draft, tmp_path / "f")["messages"] == plan.wanted["messages"]


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([Drop(("messages", 0))], "a summary cannot be taken away"),
        (
            [Splice(("messages",), 1, 0, ({"role": "user", "content": "No."},))],
            "between a summary and what it keeps",
        ),
    ],
)
def test_a_summary_stays_before_what_it_keeps(edits: list[Change], why: str):
    with kept_by_compaction() as debugger, pytest.raises(UnsupportedError, match=why):
        drafted(debugger, debugger.session.row_of("a4") or 0, edits)


def test_a_title_is_set_and_other_keys_are_refused(
    opened: Callable[..., Debugger], tmp_path: Path
):
    debugger = opened(short_talk())

    _, draft = drafted(debugger, 3, [Put(("title",), "Coffee")])

    assert lines_of(draft)[-2]["customTitle"] == "Coffee"
    assert draft.own == ()
    assert replay(draft, tmp_path / "f")["title"] == "Coffee"
    _, spread = drafted(debugger, 3, [Put(("title",), "Cof\nfee")])
    assert spread.own == ("title",)
    for key in ("model", "cwd", "usage"):
        with pytest.raises(UnsupportedError, match=f"{key} cannot be set"):
            drafted(debugger, 3, [Put((key,), "other")])
    with pytest.raises(UsageError, match="a title is a text"):
        drafted(debugger, 3, [Put(("title",), 7)])


def test_messages_that_the_agent_does_not_know_are_refused(opened: Callable[..., Debugger]):
    debugger = opened(side_by_side())
    more = {"role": "user", "content": "Wait."}

    for wrong in ("text", {"role": "system", "content": "x"}, {"role": "user"}):
        with pytest.raises(UnsupportedError, match="a message of Claude Code has a role"):
            drafted(debugger, 3, [Append(("messages",), wrong)])
    with pytest.raises(UnsupportedError, match="between a call and its result"):
        drafted(debugger, 3, [Splice(("messages",), 2, 0, (more,))])
    with pytest.raises(UsageError, match="parts a tool call from its result"):
        drafted(debugger, 3, [Drop(("messages", 2))])
    with pytest.raises(UsageError, match="nothing would be left"):
        drafted(debugger, 0, [Drop(("messages", 0))])


def test_lists_of_saved_files_follow_their_lines():
    with Debugger.open(str(FIXTURES / "claude_code" / "asides.jsonl")) as debugger:
        _, draft = drafted(debugger, debugger.session.active or 0)
        lines = lines_of(draft)

    shown = [line for line in lines if line["type"] == "file-history-snapshot"]
    first = lines[0]["uuid"]
    assert shown
    assert {line["messageId"] for line in shown} == {first}
    assert {line["snapshot"]["messageId"] for line in shown} == {first}
    assert lines[1]["type"] == "file-history-snapshot"


def test_a_subagent_becomes_a_session_of_its_own_in_the_folder_of_the_project():
    path = next((FIXTURES / "claude_code" / "with-subagents" / "subagents").glob("*.jsonl"))
    with Debugger.open(str(path)) as debugger:
        row = debugger.session.active or 0
        _, draft = drafted(debugger, row)
        chain = lines_of(draft)[:-2]

        assert Path(draft.location).parent == FIXTURES / "claude_code"
        assert not any("agentId" in line for line in chain)
        assert {line["forkedFrom"]["sessionId"] for line in chain} == {"with-subagents"}
        assert any("becomes a session of its own" in note for note in draft.notes)
        with pytest.raises(UnsupportedError, match="a subagent is not resumed"):
            drafted(debugger, row, in_place=True)


def test_a_link_that_the_agent_mends_by_time_is_mended_in_the_fork(tmp_path: Path):
    path = FIXTURES / "claude_code" / "oracle" / "u2-has-missing-parent.jsonl"
    with Debugger.open(str(path)) as debugger:
        row = debugger.session.active or 0
        _, draft = drafted(debugger, row)

        assert any("mends it by time" in note for note in draft.notes)
        with Debugger.open(str(written(draft, tmp_path))) as fork:
            assert len(fork.state(fork.session.active or 0)["messages"]) == 2
            resumed = fork.resumed(fork.session.active or 0).state["messages"]
    assert [each["role"] for each in resumed] == ["user", "assistant"] * 3


def test_in_place_a_branch_is_a_few_lines_and_a_pin(opened: Callable[..., Debugger]):
    debugger = opened(short_talk())
    before = Path(debugger.location).read_bytes()

    plan, draft = drafted(
        debugger, 2, [Put(("messages", 2, "content"), "How fine?")], in_place=True
    )
    (made,) = draft.writes
    branch, pin = lines_of(draft)

    assert isinstance(made, MoreLines)
    assert (made.size, made.digest) == (len(before), hashlib.sha256(before).hexdigest())
    assert (branch["parentUuid"], branch["sessionId"]) == ("a1", "session")
    assert branch["message"] == {"role": "user", "content": "How fine?"}
    assert "forkedFrom" not in branch
    assert UUID4.match(branch["uuid"])
    assert pin == {
        "type": "last-prompt",
        "lastPrompt": "How fine?",
        "leafUuid": branch["uuid"],
        "sessionId": "session",
    }
    write(made)
    assert Path(debugger.location).read_bytes().startswith(before)
    with Debugger.open(debugger.location) as again:
        assert again.session.ids[again.session.active or 0] == draft.point
        assert again.state(again.session.active or 0)["messages"] == plan.wanted["messages"]


def test_in_place_a_branch_has_no_other_place(opened: Callable[..., Debugger]):
    with pytest.raises(UsageError, match="has no other place to be written to"):
        drafted(opened(short_talk()), 2, in_place=True, target="other.jsonl")


def test_in_place_an_answer_of_the_model_cannot_stand_twice(opened: Callable[..., Debugger]):
    debugger = opened(short_talk())

    with pytest.raises(UnsupportedError, match="no copy of them can stand"):
        drafted(debugger, 1, [Put(("messages", 1, "content", 0, "text"), "x")], in_place=True)
    with pytest.raises(UnsupportedError, match="no copy of them can stand"):
        drafted(debugger, 1, in_place=True)
    with pytest.raises(UnsupportedError, match="lead on to what is taken away"):
        drafted(debugger, 3, [Drop(("messages", 3))], in_place=True)
    with pytest.raises(UnsupportedError, match="has no title"):
        drafted(debugger, 3, [Put(("title",), "Coffee")], in_place=True)


def test_in_place_a_leaf_needs_only_to_be_pinned(opened: Callable[..., Debugger]):
    story = short_talk()
    story.line("user", "u3", parent="a1", message={"role": "user", "content": "Or tea?"})
    debugger = opened(story)

    _, draft = drafted(debugger, 3, in_place=True)

    (pin,) = lines_of(draft)
    assert (pin["leafUuid"], pin["lastPrompt"]) == ("a2", "And how hot?")


EDITED = [
    FIXTURES / "claude_code" / f"{name}.jsonl"
    for name in (
        "compacted",
        "compacted-kept",
        "files",
        "parallel-interleaved",
        "parts",
        "rewound",
    )
]


@st.composite
def some_edits(draw: st.DrawFn, messages: Sequence[Any]) -> list[Change]:
    """Give edits of messages: replaced, removed, added."""
    size = len(messages)
    found: list[Change] = []
    for kind in draw(st.lists(st.sampled_from(["replace", "remove", "add"]), max_size=3)):
        place = draw(st.integers(0, max(size - 1, 0)))
        message = {"role": "user", "content": draw(st.text(min_size=1, max_size=9))}
        if kind == "add":
            found.append(Splice(("messages",), place, 0, (message,)))
            size += 1
        elif size and kind == "remove":
            found.append(Drop(("messages", place)))
            size -= 1
        elif size:
            found.append(Put(("messages", place), message))
    return found


@pytest.mark.parametrize("path", EDITED, ids=lambda path: path.stem)
@settings(max_examples=25)
@given(data=st.data())
def test_edited_messages_are_what_the_fork_replays_to(
    path: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    with Debugger.open(str(path)) as debugger:
        rows = sorted({debugger.safe_row(row) for row in points(debugger)})
        row = data.draw(st.sampled_from(rows))
        edits = data.draw(some_edits(debugger.state(row)["messages"]))
        try:
            plan, draft = drafted(debugger, row, edits)
        except (UnsupportedError, UsageError):
            return
        state = replay(draft, tmp_path_factory.mktemp("fork") / "f")
        assert set(keys_between(plan.wanted, state)) <= set(draft.own)
