"""The tree of a Claude Code session: one line where nobody took a branch, and where it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from builders import FIXTURES, codes, ids_of, load
from claude_lines import Claude, calls, says, thinks

from tt_debugger.core.findings import Code
from tt_debugger.core.model import Session
from tt_debugger.core.refs import Resolver, parse_fragment
from tt_debugger.core.tree import NO_ROW

FOLDER = FIXTURES / "claude_code"


@pytest.fixture
def opened() -> Iterator[Any]:
    """Open a fixture by its name: give its session."""
    stores: list[Any] = []

    def open_fixture(name: str) -> Session:
        store, loaded = load(FOLDER / f"{name}.jsonl", "claude_code")
        stores.append(store)
        return loaded.session

    yield open_fixture
    for store in stores:
        store.close()


def shape(session: Session) -> str:
    """Give the tree as a text: each id with that of its parent, where it is not the one before."""
    words: list[str] = []
    for row, parent in enumerate(session.parents):
        name = session.ids[row]
        if parent == row - 1 and row:
            words.append(name)
        else:
            words.append(f"{name}<{'' if parent == NO_ROW else session.ids[parent]}")
    return " ".join(words)


# --- No false forks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("parts", "u1< a3 r1 a5 u2 a6"),
        ("parallel-interleaved", "u1< a2 r1 h1 r2 h2 b1 u2 b2"),
        ("parallel-grouped", "u1< a3 h0 r2 h1 r1 h2 b1 u2 b2"),
        ("progress", "u1< a1 r1 a2"),
        ("with-subagents", "u1< a2 r1 r2 a3"),
        ("files", "u1< a1 r1 a2 r2 a3 r3 a4 r4 a5 r5 a7 r6 r7 a8 r8"),
    ],
)
def test_what_ran_side_by_side_is_drawn_as_one_line(opened: Any, name: str, tree: str):
    session = opened(name)

    assert shape(session) == tree
    assert session.active == len(session) - 1


@pytest.mark.parametrize(
    ("lines", "tree"),
    [
        # Each result on the part that called it; the next answer on one or the other.
        ([("r1", "t1", "a1"), ("r2", "t2", "a2")], "u1< a2 r1 r2 b1"),
        ([("r2", "t2", "a2"), ("r1", "t1", "a1")], "u1< a2 r2 r1 b1"),
        # All on the last part.
        ([("r1", "t1", "a2"), ("r2", "t2", "a2")], "u1< a2 r1 r2 b1"),
        # One after the other.
        ([("r1", "t1", "a2"), ("r2", "t2", "r1")], "u1< a2 r1 r2 b1"),
    ],
)
@pytest.mark.parametrize("last", ["r1", "r2"])
def test_results_may_hang_on_any_part_of_the_message(
    open_as: Any, lines: list[tuple[str, str, str]], tree: str, last: str
):
    claude = Claude()
    claude.user("u1", "Both.")
    claude.answer("a1 a2", "msg_1", calls("t1"), calls("t2"))
    for name, call, parent in lines:
        claude.result(name, call, parent=parent)
    claude.answer("b1", "msg_2", says("Done."), parent=last)
    session, replay = open_as("claude_code", *claude.lines)

    assert shape(session) == tree
    assert len(replay.state(session.rows["b1"])["messages"]) == 5
    sent = replay.resumed(session.rows["b1"]).state["messages"]
    assert [each["role"] for each in sent] == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize(
    ("lines", "tree"),
    [
        # Hooks before the first answer, after it, and on both of two branches.
        ([("h1", "u1"), ("h2", "u1"), ("a1", "u1")], "u1< h1 h2 a1"),
        ([("h1", "u1"), ("a1", "u1"), ("b1", "u1")], "u1< h1 a1 b1<h1"),
        ([("a1", "u1"), ("h1", "u1")], "u1< a1 h1<u1"),
        ([("a1", "u1"), ("h1", "a1"), ("h2", "a1"), ("u2", "a1")], "u1< a1 h1 h2 u2"),
    ],
)
def test_what_hooks_left_is_part_of_the_way_where_it_stands_before_what_goes_on(
    open_as: Any, lines: list[tuple[str, str]], tree: str
):
    claude = Claude()
    claude.user("u1", "Go.")
    for name, parent in lines:
        if name.startswith("h"):
            claude.hook(name, parent=parent)
        else:
            claude.user(name, "On.", parent=parent)
    session, _ = open_as("claude_code", *claude.lines)

    assert shape(session) == tree


def test_a_branch_from_before_a_compaction_does_not_hang_on_it(open_as: Any):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1", "msg_1", calls("t1"))
    claude.result("r1", "t1")
    claude.compact("c1", "s1", "Gone.")
    claude.user("v1", "Other.", parent="r1")
    session, replay = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< a1 r1 c1 s1 v1<r1"
    assert len(replay.state(5)["messages"]) == 4


def test_a_thousand_results_side_by_side_are_one_line(open_as: Any):
    count = 1000
    claude = Claude()
    claude.user("u1", "All.")
    names = [f"a{n}" for n in range(count)]
    claude.answer(" ".join(names), "msg_1", *(calls(f"t{n}") for n in range(count)))
    for n in reversed(range(count)):
        claude.result(f"r{n}", f"t{n}", parent=f"a{n}")
        claude.hook(f"h{n}", parent=f"r{n}")
    claude.answer("b1", "msg_2", says("Done."), parent="h7")
    session, _ = open_as("claude_code", *claude.lines)

    assert session.parents.tolist() == list(range(-1, len(session) - 1))
    assert len(session) == 2 * count + 3


def test_the_ids_of_all_parts_lead_to_the_checkpoint(opened: Any):
    session = opened("parts")
    resolver = Resolver(session)

    points = [parse_fragment(name).points[0] for name in ("a1", "a2", "a3", "a4", "a5")]
    assert list(map(resolver.row, points)) == [1, 1, 1, 3, 3]


# --- Real forks -------------------------------------------------------------------------------


def test_a_rewind_and_a_retry_are_branches(opened: Any):
    session = opened("rewound")

    assert shape(session) == "u1< a2 u2 a3 u3 a4 v2<a2 b1 b2<v2"
    assert ids_of(session, session.active_path) == "u1 a2 v2 b2"
    assert codes(session.findings) == []


def test_a_branch_off_a_part_in_the_middle_of_a_message_is_a_branch_off_the_message(open_as: Any):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1 a2", "msg_1", thinks("Hm."), says("Gone."))
    claude.user("u2", "Back.")
    claude.user("v2", "Away.", parent="a1")
    session, replay = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< a2 u2 v2<a2"
    assert len(replay.state(session.rows["v2"])["messages"]) == 3


def test_what_the_user_said_between_the_parts_of_a_message_stays_on_the_way(open_as: Any):
    claude = Claude()
    claude.user("u1", "Begin.")
    claude.answer("p1", "msg_1", says("One."))
    claude.user("u2", "Wait.")
    claude.answer("p2", "msg_1", says("Two."))
    claude.user("u4", "Go on.")
    session, replay = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< p2 u2 u4"
    assert [each["content"] for each in replay.state(3)["messages"]] == [
        "Begin.",
        [says("One."), says("Two.")],
        "Wait.",
        "Go on.",
    ]


def test_a_second_result_of_a_call_is_another_try(open_as: Any):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1", "msg_1", calls("t1"))
    claude.result("r1", "t1", "one", parent="a1")
    claude.answer("b1", "msg_2", says("One."))
    claude.result("r2", "t1", "two", parent="a1")
    claude.answer("b2", "msg_3", says("Two."))
    session, _ = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< a1 r1 b1 r2<a1 b2"


def test_a_compaction_hangs_on_what_it_sums_up(opened: Any):
    session = opened("compacted")

    assert shape(session) == "u1< a1 u2 a2 c1 s1 k1 u3 a3 c2 s2 u4 a4 v1<a1 v2"
    assert ids_of(session, session.tree.leaves()) == "a4 v2"


# --- The active leaf --------------------------------------------------------------------------


def branched() -> Claude:
    """Give `u1 a1 u2 a2` with a branch `v2 b2` off a1, which is written last."""
    claude = Claude()
    claude.user("u1", "One.")
    claude.answer("a1", "msg_1", says("1."))
    claude.user("u2", "Two.")
    claude.answer("a2", "msg_2", says("2."))
    claude.user("v2", "Other two.", parent="a1")
    claude.answer("b2", "msg_3", says("2'."))
    return claude


@pytest.mark.parametrize(
    ("named", "leaf"),
    [
        ([], "b2"),
        (["a2"], "a2"),
        (["u2"], "a2"),
        (["a1"], "b2"),
        (["u1"], "b2"),
        (["a2", "b2"], "b2"),
        (["b2", "a2"], "a2"),
        (["a2", "nobody"], "a2"),
        (["nobody"], "b2"),
    ],
)
def test_the_agent_goes_on_at_the_newest_row_below_the_one_that_was_last_named(
    open_as: Any, named: list[str], leaf: str
):
    claude = branched()
    for each in named:
        claude.last_prompt(each)
    session, _ = open_as("claude_code", *claude.lines)

    assert session.ids[session.active] == leaf


def test_a_leaf_may_be_named_by_any_part_of_a_message(open_as: Any):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1 a2", "msg_1", thinks("Hm."), says("Gone."))
    claude.user("v1", "Other.", parent=None)
    claude.last_prompt("a1")
    session, _ = open_as("claude_code", *claude.lines)

    assert session.ids[session.active] == "a2"


def test_what_comes_after_the_leaf_was_named_counts_where_it_hangs_below(open_as: Any):
    claude = branched()
    claude.last_prompt("a2")
    claude.user("u3", "Three.", parent="a2")
    claude.user("v3", "Other three.", parent="b2")
    session, _ = open_as("claude_code", *claude.lines)

    assert session.ids[session.active] == "u3"


@pytest.mark.parametrize(
    ("line", "leaf"),
    [
        ({"type": "system", "subtype": "turn_duration", "parentUuid": "a2"}, "x"),
        ({"type": "attachment", "attachment": {"type": "file"}, "parentUuid": "a2"}, "x"),
        ({"type": "progress", "data": {"type": "hook_progress"}, "parentUuid": "a2"}, "b2"),
        ({"type": "user", "message": {}, "parentUuid": "a2", "isSidechain": True}, "b2"),
        ({"type": "hologram", "parentUuid": "a2"}, "b2"),
    ],
)
def test_which_last_lines_are_gone_on_from(open_as: Any, line: dict[str, Any], leaf: str):
    claude = branched()
    last = {"uuid": "x", "timestamp": "2026-08-31T09:40:00.000Z", "sessionId": "s"} | line
    session, _ = open_as("claude_code", *claude.lines, last)

    assert session.ids[session.active] == leaf


def test_the_last_line_counts_not_the_newest_time_and_older_versions_go_on_elsewhere(
    open_as: Any,
):
    claude = branched()
    claude.lines[3]["timestamp"] = "2026-08-31T10:00:00.000Z"
    session, _ = open_as("claude_code", *claude.lines)

    assert session.ids[session.active] == "b2"
    assert [(each.code, each.checkpoint) for each in session.findings] == [
        (Code.VERSIONS_DIFFER, "a2")
    ]


# --- Links that are broken, and mended --------------------------------------------------------


def broken(gap: float) -> Claude:
    """Give a session in which u2 hangs on a line that is not there, so many seconds after a1."""
    claude = Claude()
    claude.user("u1", "One.")
    claude.answer("a1", "msg_1", says("1."))
    claude.user("u2", "Two.", parent="never-written", after=gap)
    claude.answer("a2", "msg_2", says("2."))
    return claude


@pytest.mark.parametrize(("gap", "is_healed"), [(0, True), (4, True), (5, True), (6, False)])
def test_a_missing_parent_is_mended_only_when_it_resumes(
    open_as: Any,
    gap: float,
    is_healed: bool,  # noqa: FBT001 - a column of the table
):
    session, replay = open_as("claude_code", *broken(gap).lines)

    assert shape(session) == "u1< a1 u2< a2"
    assert len(replay.state(3)["messages"]) == 2
    assert len(replay.resumed(3).state["messages"]) == (4 if is_healed else 2)
    about = [(each.code, each.checkpoint) for each in session.findings]
    lost = Code.VERSIONS_DIFFER if is_healed else Code.AGENT_LOSES
    assert about == [(Code.MISSING_PARENT, "u2"), (lost, "u2")]


def test_a_broken_link_off_the_way_to_the_active_leaf_is_not_said_to_cost_anything(open_as: Any):
    claude = broken(60)
    claude.user("u3", "Three.", parent="a1", after=60)
    session, _ = open_as("claude_code", *claude.lines)

    assert codes(session.findings) == [str(Code.MISSING_PARENT)]


def test_a_chain_of_broken_links_is_mended_link_by_link(open_as: Any):
    claude = broken(2)
    claude.user("u3", "Three.", parent="gone-too", after=2)
    session, replay = open_as("claude_code", *claude.lines)

    said = replay.resumed(4).state["messages"]
    assert [each["role"] for each in said] == [*("user", "assistant") * 2, "user", "assistant"]
    assert len(replay.state(4)["messages"]) == 1
    assert shape(session) == "u1< a1 u2< a2 u3<"


def test_a_link_is_never_mended_into_a_circle(open_as: Any):
    claude = Claude()
    claude.user("u1", "One.", parent="gone")
    claude.answer("a1", "msg_1", says("1."), after=0)
    claude.user("u2", "Two.", parent="gone-too", after=0)
    session, replay = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< a1 u2<"
    for row in range(len(session)):
        assert replay.resumed(row).state["messages"]


def test_progress_that_hangs_on_nothing_that_is_there_breaks_the_chain(open_as: Any):
    claude = Claude()
    claude.user("u1", "One.")
    claude.line("progress", "p1", parent="gone", data={})
    claude.answer("a1", "msg_1", says("1."), after=60)
    session, _ = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< a1<"
    assert str(Code.MISSING_PARENT) in codes(session.findings)


def test_progress_in_a_ring_does_not_hold_the_reading_up(open_as: Any):
    claude = Claude()
    claude.line("progress", "p1", parent="p2", data={})
    claude.line("progress", "p2", parent="p1", data={})
    claude.user("u1", "One.", parent="p2")
    session, _ = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1<"


def test_a_long_chain_of_progress_is_passed_over(open_as: Any):
    claude = Claude()
    claude.user("u1", "Wait for it.")
    for n in range(20_000):
        claude.line("progress", f"p{n}", data={"type": "bash_progress"}, after=0.1)
    claude.answer("a1", "msg_1", says("There."))
    session, replay = open_as("claude_code", *claude.lines)

    assert shape(session) == "u1< a1"
    assert len(session.asides) == 20_000
    assert len(replay.state(1)["messages"]) == 2


# --- What versions lose -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "checkpoint", "words"),
    [
        ("parallel-grouped", "a3", "several tools ran side by side"),
        ("parallel-interleaved", "a2", "several tools ran side by side"),
        ("progress", "r1", "2 rows on this path hang on lines of progress"),
        ("compacted-kept", "c1", "names messages that stay"),
        ("compacted", "v2", "though this is newer"),
    ],
)
def test_what_older_versions_would_do_is_said_once(
    opened: Any, name: str, checkpoint: str, words: str
):
    session = opened(name)

    assert [(each.code, each.checkpoint) for each in session.findings] == [
        (Code.VERSIONS_DIFFER, checkpoint)
    ]
    assert words in session.findings[0].message
    assert session.findings[0].hint
