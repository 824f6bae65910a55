"""Why two sides part: the nearest cause, what differed before, and what is not made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import PI_HEADER, assistant, jsonl, memories, memory, pi, replay_of, user
from claude_lines import Claude, calls, says
from hostile_files import SAMPLES
from hypothesis import given
from hypothesis import strategies as st
from langgraph_rows import identity, message, metadata, row, stored

from tt_debugger.core.changes import Append, Change, Put
from tt_debugger.core.diff.cause import Cause, CauseKind, Certainty, cause, mirrored
from tt_debugger.core.diff.cause_told import cause_json, cause_sentences
from tt_debugger.core.diff.divergence import divergence
from tt_debugger.core.diff.side import Side
from tt_debugger.core.diff.stage import Differing
from tt_debugger.core.model import Head, Kind, Role
from tt_debugger.debugger import Debugger

UNSET = msgspec.UNSET
GO = user("go on")
LIST = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "npm test"}}


def calling(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "provider": "p", "model": "m", **more}


def called(name: str, **arguments: Any) -> dict[str, Any]:
    return calling({"type": "toolCall", "id": "x", "name": name, "arguments": arguments})


def result(text: str, call: str = "c1", **more: Any) -> dict[str, Any]:
    told = {"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": False}
    return {**told, "content": [{"type": "text", "text": text}], **more}


def switched(model: str, provider: str = "p") -> dict[str, Any]:
    return {"type": "model_change", "provider": provider, "modelId": model}


def level(name: str) -> dict[str, Any]:
    return {"type": "thinking_level_change", "thinkingLevel": name}


def system(rules: str, *tools: str) -> dict[str, Any]:
    added = [{"name": each, "description": each} for each in tools]
    return {"role": "system", "content": "", "sections": {"rules": rules}, "toolsAdded": added}


COMPACTED = {"type": "compaction", "summary": "in short", "firstKeptEntryId": "e0"}
LEFT = {"type": "branch_summary", "summary": "that way did not work", "fromId": "e0"}


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Debugger]]:
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(Debugger.open(str(path)))


@pytest.fixture
def parted(tmp_path: Path, opened: Callable[[Path], Debugger]) -> Callable[..., Cause | None]:
    """Give why two runs of Pi part that begin alike, and then each go on in their own way."""

    def run(name: str, steps: list[dict[str, Any]], **header: Any) -> Side:
        entries: list[Any] = []
        for number, step in enumerate(steps):
            before = f"e{number - 1}" if number else None
            entries.append(
                pi(f"e{number}", before, **step)
                if "type" in step
                else pi(f"e{number}", before, step, **_time(step))
            )
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(jsonl(PI_HEADER | {"id": name} | header, *entries))
        debugger = opened(path)
        return debugger.side(len(debugger.session) - 1)

    def part(
        alike: list[Any], old: list[Any], new: list[Any], *, header: dict[str, Any] | None = None
    ) -> Cause | None:
        a, b = run("one", [*alike, *old]), run("other", [*alike, *new], **(header or {}))
        found = cause(a, b, divergence(a, b))
        there = cause(b, a, divergence(b, a))
        assert found == (None if there is None else mirrored(there))
        return found

    return part


def _time(step: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": step["at"]} if "at" in step else {}


def told(found: Cause | None) -> tuple[str, Any, Any, int, int, str, str]:
    """Give a cause without what differed before."""
    assert found is not None
    rows = found.old_row + 1, found.new_row + 1
    return (str(found.kind), found.old, found.new, *rows, str(found.certainty), found.subject)


CASES: dict[str, tuple[list[Any], list[Any], list[Any], tuple[Any, ...]]] = {
    "the same call had another result": (
        [GO, calling(LIST)],
        [result("12 passed")],
        [result("1 failed")],
        ("result", "12 passed", "1 failed", 3, 3, "told", "bash npm test"),
    ),
    "a result that one side has alone": (
        [GO, calling(LIST)],
        [result("12 passed")],
        [assistant("I will not wait")],
        ("result", "12 passed", UNSET, 3, 3, "told", "bash npm test"),
    ),
    "another prompt": (
        [GO, assistant("done")],
        [user("test it"), assistant("yes")],
        [user("commit it"), assistant("no")],
        ("prompt", "test it", "commit it", 3, 3, "told", ""),
    ),
    "a user who speaks on one side alone": (
        [GO],
        [user("wait")],
        [assistant("done")],
        ("prompt", "wait", UNSET, 2, 2, "told", ""),
    ),
    "another model, and nothing else yet": (
        [GO],
        [switched("small"), user("and now?"), assistant("a")],
        [switched("large"), user("and now?"), assistant("b")],
        ("model", "small", "large", 2, 2, "told", "/model"),
    ),
    "another thinking level": (
        [GO],
        [level("low"), user("and now?"), assistant("a")],
        [user("and now?"), assistant("a")],
        ("thinking_level", "low", "off", 2, 2, "told", "/thinking_level"),
    ),
    "another provider that answers otherwise": (
        [GO],
        [switched("m", "here"), assistant("a", provider="here")],
        [switched("m", "there"), assistant("b", provider="there")],
        ("provider", "here", "there", 3, 3, "likely", "/provider"),
    ),
    "another system text": (
        [],
        [system("be brief"), GO],
        [system("be kind"), GO],
        ("system_text", "be brief", "be kind", 1, 1, "told", ""),
    ),
    "other tools that are offered": (
        [],
        [system("be brief", "read"), GO],
        [system("be brief", "bash"), GO],
        ("tools", "be brief\nread", "be brief\nbash", 1, 1, "told", ""),
    ),
    "another tool": (
        [GO],
        [called("read", path="a.py")],
        [called("bash", command="ls")],
        ("tool", "read", "bash", 2, 2, "open", ""),
    ),
    "a tool on one side and words on the other": (
        [GO],
        [called("read", path="a.py")],
        [assistant("I know it")],
        ("tool", "read", UNSET, 2, 2, "open", ""),
    ),
    "other arguments": (
        [GO],
        [called("read", path="a.py", limit=3)],
        [called("read", limit=3, path="b.py")],
        (
            *("arguments", {"path": "a.py", "limit": 3}, {"limit": 3, "path": "b.py"}),
            *(2, 2, "open", "read"),
        ),
    ),
    "another answer": (
        [GO],
        [assistant("yes")],
        [assistant("no")],
        ("answer", "yes", "no", 2, 2, "open", ""),
    ),
    "an answer that was stopped": (
        [GO],
        [assistant("I will", stopReason="aborted")],
        [assistant("I will do so", stopReason="stop")],
        ("interrupt", "I will", UNSET, 2, 2, "told", ""),
    ),
    "an error of the provider": (
        [GO],
        [assistant("fine", stopReason="stop")],
        [calling(stopReason="error", errorMessage="overloaded")],
        ("error", UNSET, "overloaded", 2, 2, "told", ""),
    ),
    "a compaction": (
        [GO, assistant("done")],
        [COMPACTED, user("more"), assistant("a")],
        [user("more"), assistant("b")],
        ("compaction", "in short", UNSET, 3, 3, "told", ""),
    ),
    "a branch that was summed up": (
        [GO, assistant("done")],
        [user("more")],
        [LEFT, user("more")],
        ("summary", UNSET, "that way did not work", 3, 3, "told", ""),
    ),
    "a message of an extension": (
        [GO],
        [{"type": "custom_message", "customType": "ci", "content": "red"}, assistant("a")],
        [assistant("b")],
        ("message", "red", UNSET, 2, 2, "told", ""),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_nearest_cause_of_two_runs_is_named(parted: Any, case: str) -> None:
    alike, old, new, expected = CASES[case]

    assert told(parted(alike, old, new)) == expected


def test_runs_that_are_equal_or_of_which_one_only_ends_have_no_cause(parted: Any) -> None:
    assert parted([GO, assistant("done")], [], []) is None
    assert parted([GO], [], [assistant("done")]) is None
    assert parted([GO], [{"type": "label", "targetId": "e0", "label": "here"}], [GO]) is None


def test_what_differs_in_no_way_that_is_known_is_not_told(parted: Any) -> None:
    found = parted([GO, calling(LIST)], [result("ok", details=1)], [result("ok", details=2)])

    assert told(found) == ("untold", UNSET, UNSET, 3, 3, "open", "")
    assert [*cause_sentences(found)] == [
        "they part at row 3 / row 3: what is recorded does not tell why"
    ]


def test_masked_noise_is_no_cause_and_not_among_what_differed_before(parted: Any) -> None:
    def run(moment: int, last: str) -> list[Any]:
        return [assistant("hm", timestamp=moment, responseId=f"r-{moment}"), user(last)]

    found = parted([GO], run(1789377638753, "a"), run(1789377999999, "b"))

    assert told(found) == ("prompt", "a", "b", 3, 3, "told", "")
    assert found.before == ()


def test_a_model_that_answers_otherwise_after_another_setting_is_likely_that(parted: Any) -> None:
    found = parted(
        [GO],
        [switched("small"), level("high"), called("read", path="a") | {"model": "small"}],
        [switched("large"), level("low"), called("bash", command="b") | {"model": "large"}],
    )

    assert told(found) == ("model", "small", "large", 4, 4, "likely", "/model")
    assert found.before == (
        Differing(("model",), "small", "large"),
        Differing(("thinking_level",), "high", "low"),
    )
    first = "they part at row 4 / row 4: likely the model, which differs before it"
    assert [*cause_sentences(found)] == [
        f"{first}: small in A, large in B",
        "before it: thinking_level: high in A, low in B",
    ]


def test_a_prompt_is_nearer_than_a_model_that_differed_before_it(parted: Any) -> None:
    found = parted([GO], [switched("small"), user("a")], [switched("large"), user("b")])

    assert told(found) == ("prompt", "a", "b", 3, 3, "told", "")
    assert found.before == (Differing(("model",), "small", "large"),)


def test_where_a_run_was_is_told_and_is_no_cause(parted: Any) -> None:
    found = parted([GO], [assistant("a")], [assistant("b")], header={"cwd": "/elsewhere"})

    assert told(found)[0] == "answer"
    assert [*cause_sentences(found)] == [
        "they part at row 2 / row 2: the model answers otherwise; before it only cwd differed",
        "before it: cwd: /home/dev/demo in A, /elsewhere in B",
    ]


def test_of_results_that_came_in_another_order_those_of_one_call_are_compared(parted: Any) -> None:
    second = {**LIST, "id": "c2", "arguments": {"command": "npm run lint"}}

    found = parted(
        [GO, calling(LIST, second)],
        [result("12 passed"), result("clean", "c2")],
        [result("clean", "c2"), result("1 failed")],
    )

    assert told(found) == ("result", "12 passed", "1 failed", 3, 4, "told", "bash npm test")


def test_results_that_only_came_in_another_order_are_not_told(parted: Any) -> None:
    second = {**LIST, "id": "c2", "arguments": {"command": "npm run lint"}}
    results = [result("12 passed"), result("clean", "c2")]

    assert told(parted([GO, calling(LIST, second)], results, results[::-1]))[0] == "untold"


def test_a_message_that_was_changed_in_a_copy_is_an_edit(parted: Any) -> None:
    moment = {"at": "2026-09-14T09:20:53.344Z"}
    old, new = result("1 failed", **moment), result("all fine", **moment)

    noted = parted([GO, calling(LIST)], [old], [new], header={"parentSession": "/w/one.jsonl"})
    unsaid = parted([GO, calling(LIST)], [old], [new])

    assert told(noted) == ("edit", "1 failed", "all fine", 3, 3, "told", "")
    assert told(unsaid)[5] == "likely"
    assert [*cause_sentences(unsaid)] == [
        "they part at row 3 / row 3: likely a message was changed in a copy"
    ]


def test_what_is_said_in_a_fork_later_is_no_edit(parted: Any) -> None:
    old = user("and now?")
    found = parted([GO], [old], [user("stop")], header={"parentSession": "/w/one.jsonl"})

    assert told(found)[0] == "prompt"


def claude(path: Path, *steps: Callable[[Claude], None]) -> Path:
    session = Claude(path.stem)
    session.user("u1", "run the tests")
    session.answer("a1", "m1", calls("t1", command="npm test"))
    for step in steps:
        step(session)
    path.write_bytes(session.content)
    return path


@pytest.fixture
def claude_parted(
    tmp_path: Path, opened: Callable[[Path], Debugger]
) -> Callable[..., Cause | None]:
    def part(old: list[Any], new: list[Any]) -> Cause | None:
        sides: list[Side] = []
        for name, steps in (("one", old), ("other", new)):
            debugger = opened(claude(tmp_path / f"{name}.jsonl", *steps))
            sides.append(debugger.side(len(debugger.session) - 1))
        return cause(*sides, divergence(*sides))

    return part


def test_runs_of_claude_code_part_at_another_result(claude_parted: Any) -> None:
    found = claude_parted(
        [lambda it: it.result("r1", "t1", "12 passed")],
        [lambda it: it.result("r2", "t1", "1 failed", is_error=True)],
    )

    assert told(found) == ("result", "12 passed", "1 failed", 3, 3, "told", "Bash npm test")


def test_a_human_who_stops_claude_code_is_the_cause(claude_parted: Any) -> None:
    found = claude_parted(
        [lambda it: it.result("r1", "t1", "12 passed")],
        [lambda it: it.user("s1", [says("[Request interrupted by user for tool use]")])],
    )

    assert told(found)[:3] == (
        "interrupt",
        UNSET,
        "[Request interrupted by user for tool use]",
    )


def test_a_compaction_of_claude_code_on_one_side_is_the_cause(claude_parted: Any) -> None:
    def ended(it: Claude) -> None:
        it.result("r1", "t1", "12 passed")

    found = claude_parted(
        [ended, lambda it: it.user("u2", "go on")],
        [ended, lambda it: it.compact("c1", "c2", "in short"), lambda it: it.user("u2", "go on")],
    )

    assert told(found)[0] == "compaction"
    assert [*cause_sentences(found)] == ["they part at row 4 / row 4: it was compacted in B alone"]


def graph(path: Path, *steps: tuple[dict[str, Any], str], moment: int) -> Path:
    rows: list[Any] = []
    for step, (values, source) in enumerate(steps):
        own, above = identity(step, moment), identity(step - 1, moment) if step else None
        thread, _, _, _, kind, body, _ = row(values, step, id=own)
        rows.append((thread, "", own, above, kind, body, metadata(step, source=source)))
    return stored(path, rows)


HUMAN = message("human", "refund it")
ASKS = message("ai", "", tool_calls=[{"name": "order", "args": {"id": 7}, "id": "k"}])


def answer(text: str) -> Any:
    return message("tool", text, tool_call_id="k", name="order")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            ({"messages": [HUMAN, ASKS, answer("paid")]}, "loop"),
            ({"messages": [HUMAN, ASKS, answer("not found")]}, "loop"),
            ("result", "paid", "not found", 3, 3, "told", 'order {"id":7}'),
        ),
        (
            ({"messages": [HUMAN, ASKS], "limit": 60}, "update"),
            ({"messages": [HUMAN, ASKS, answer("paid")]}, "loop"),
            ("edit", 60, UNSET, 3, 3, "told", "/values/limit"),
        ),
        (
            ({"messages": [HUMAN, ASKS], "plan": "a"}, "loop"),
            ({"messages": [HUMAN, ASKS], "plan": "b"}, "loop"),
            ("state", "a", "b", 3, 3, "open", "/values/plan"),
        ),
    ],
)
def test_threads_of_langgraph_part_over_results_edits_and_values(
    tmp_path: Path, opened: Any, old: Any, new: Any, expected: tuple[Any, ...]
) -> None:
    begin = (({"messages": [HUMAN]}, "input"), ({"messages": [HUMAN, ASKS]}, "loop"))
    sides: list[Side] = []
    for moment, last in ((1, old), (2, new)):
        debugger = opened(graph(tmp_path / f"{moment}.sqlite", *begin, last, moment=moment))
        sides.append(debugger.side(2))

    assert told(cause(*sides, divergence(*sides))) == expected


def test_an_edit_of_the_state_is_what_the_branches_of_the_sample_part_over(opened: Any) -> None:
    debugger = opened(SAMPLES / "langgraph.sqlite")
    old, new = debugger.side(8), debugger.side(12)

    assert [*cause_sentences(cause(old, new, divergence(old, new)))] == [
        "they part at row 7 / row 10: the state was edited in B alone, values.limit: 60.0"
    ]


def steps_of(*told: tuple[str, list[Change], Head]) -> Side:
    words = " ".join(name for name, _, _ in told)
    store, session = memory(
        memories(words, {name: each for name, each, _ in told}, {name: h for name, _, h in told})
    )
    replay = replay_of(store, session)
    last = len(session) - 1
    return Side("s", session, last, replay.state(last), replay.changes_along, replay.state)


STEP = Head(Kind.SUPER_STEP, name="agent")
FAILED = Head(Kind.SUPER_STEP, name="agent", summary="no such table", failed=True)
WAITS = Head(Kind.INTERRUPT, name="agent", summary="waits: Approve?")


def wrote(name: str, value: Any, head: Head = STEP) -> tuple[str, list[Change], Head]:
    return name, [Put((name,), value)], head


@pytest.mark.parametrize(
    ("head", "task", "expected"),
    [
        (WAITS, {"interrupts": ["Approve?"]}, ("interrupt", "waits: Approve?")),
        (FAILED, {"error": "no such table"}, ("error", "no such table")),
    ],
)
def test_what_came_of_a_step_on_one_side_alone_is_the_cause(
    head: Head, task: dict[str, Any], expected: tuple[str, str]
) -> None:
    def step(own: dict[str, Any], after: Head) -> tuple[str, list[Change], Head]:
        return "b", [Put(("b",), 2), Put(("tasks",), [own])], after

    old = steps_of(wrote("a", 1), step(task, head), wrote("c", 4))
    new = steps_of(wrote("a", 1), step({}, STEP), wrote("c", 3))

    found = cause(old, new, divergence(old, new))

    assert told(found) == (*expected, UNSET, 2, 2, "told", "")


def test_what_a_human_answered_is_likely_why_two_sides_go_on_otherwise() -> None:
    begin = wrote("a", 1), wrote("b", 2, WAITS)
    old, new = steps_of(*begin, wrote("c", "no")), steps_of(*begin, wrote("c", "yes"))

    found = cause(old, new, divergence(old, new))

    assert told(found) == ("interrupt", UNSET, UNSET, 3, 3, "likely", "")
    assert [*cause_sentences(found)] == [
        "they part at row 3 / row 3: both waited for a human, and go on otherwise"
    ]


def test_a_value_of_the_state_that_differed_before_a_step_is_likely_the_cause() -> None:
    set_by = Head(Kind.SETTING)
    old = steps_of(wrote("a", 1), ("s", [Put(("limit",), 25)], set_by), wrote("c", "no"))
    new = steps_of(wrote("a", 1), ("s", [Put(("limit",), 60)], set_by), wrote("c", "yes"))

    found = cause(old, new, divergence(old, new))

    assert told(found) == ("setting", 25, 60, 3, 3, "likely", "/limit")
    assert next(cause_sentences(found)).endswith(
        "likely `limit`, which differs before it: 25 in A, 60 in B"
    )


def test_two_agents_with_other_models_that_answer_otherwise_part_likely_over_those(
    tmp_path: Path, opened: Any
) -> None:
    ours = tmp_path / "pi.jsonl"
    ours.write_bytes(
        jsonl(
            PI_HEADER,
            pi("a", None, user("run the tests")),
            pi("b", "a", calling({**LIST, "name": "bash"})),
            pi("c", "b", result("12 passed")),
        )
    )
    theirs = claude(tmp_path / "claude.jsonl", lambda it: it.result("r", "t1", "1 failed"))
    old, new = opened(ours).side(2), opened(theirs).side(2)
    found = cause(old, new, divergence(old, new))

    model = ("m", "claude-sonnet-4-5")
    assert told(found) == ("model", *model, 2, 2, "likely", "/model")


def test_a_system_text_that_another_agent_does_not_write_down_is_no_cause(
    tmp_path: Path, opened: Any
) -> None:
    ours = tmp_path / "pi.jsonl"
    entries = [pi("a", None, system("be brief", "bash")), pi("b", "a", user("commit it"))]
    ours.write_bytes(jsonl(PI_HEADER, *entries))
    old, new = opened(ours).side(1), opened(claude(tmp_path / "claude.jsonl")).side(1)

    found = cause(old, new, divergence(old, new))

    assert told(found) == ("prompt", "commit it", "run the tests", 2, 1, "told", "")


def test_of_a_thread_that_begins_as_a_fork_it_is_not_told_what_was_edited(
    tmp_path: Path, opened: Any
) -> None:
    begun = ({"messages": [HUMAN]}, "input"), ({"messages": [HUMAN, ASKS]}, "loop")
    old = opened(graph(tmp_path / "a.sqlite", *begun, moment=1)).side(1)
    fork = ({"messages": [HUMAN, ASKS], "limit": 60}, "fork")
    new = opened(graph(tmp_path / "b.sqlite", fork, moment=2)).side(0)

    assert told(cause(old, new, divergence(old, new)))[0] == "untold"


def test_the_answer_in_json_has_null_for_what_a_side_has_not() -> None:
    one = Debugger.open(str(SAMPLES / "langgraph.sqlite"))
    with one:
        old, new = one.side(8), one.side(12)
        answer = cause_json(cause(old, new, divergence(old, new)), old.session, new.session)

    assert answer == {
        "kind": "edit",
        "certainty": "told",
        "a_checkpoint": old.session.ids[6],
        "b_checkpoint": new.session.ids[9],
        "subject": "/values/limit",
        "a": None,
        "b": 60.0,
        "before": [],
    }


def test_in_an_export_nothing_that_is_quoted_is_cut() -> None:
    secret = "x" * 100
    found = Cause(CauseKind.ERROR, secret, UNSET, 0, 0, Certainty.TOLD)

    assert "…" in "".join(cause_sentences(found))
    assert [*cause_sentences(found, is_whole=True)] == [
        "they part at row 1 / row 1: there is an error in A alone"
    ]


ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
doings = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("user", "assistant")), st.sampled_from("xyz")),
        st.tuples(st.just("call"), st.sampled_from(("ls", "cat"))),
        st.tuples(st.just("result"), st.sampled_from("xyz")),
        st.tuples(st.sampled_from(("model", "cwd", "limit")), st.sampled_from("mn")),
        st.tuples(st.just("step"), st.sampled_from("mn")),
        st.tuples(st.just("waits"), st.sampled_from("mn")),
    ),
    max_size=6,
)


def made_of(done: list[tuple[str, str]]) -> Side:
    """Give a side that does some things one after the other."""
    changes: dict[str, list[Change]] = {"root": [Put(("messages",), [])]}
    heads = {"root": Head(Kind.SETTING)}
    for number, (what, value) in enumerate(done):
        name = f"n{number}"
        heads[name] = Head(Kind.MESSAGE, ROLES.get(what))
        match what:
            case "user" | "assistant":
                changes[name] = [Append(("messages",), {"role": what, "content": value})]
            case "call":
                block = {"type": "toolCall", "id": "c", "name": value, "arguments": {}}
                said = {"role": "assistant", "content": [block]}
                changes[name] = [Append(("messages",), said)]
            case "result":
                changes[name] = [Append(("messages",), result(value, "c"))]
            case "step" | "waits":
                changes[name] = [Put(("value",), value)]
                heads[name] = WAITS if what == "waits" else STEP
            case _:
                changes[name] = [Put((what,), value)]
                heads[name] = Head(Kind.SETTING)
    store, session = memory(memories(" ".join(changes), changes, heads))
    replay = replay_of(store, session)
    last = len(session) - 1
    return Side("s", session, last, replay.state(last), replay.changes_along, replay.state)


@given(doings, doings, doings)
def test_with_the_sides_exchanged_the_cause_is_the_same_mirrored(
    begin: list[Any], one: list[Any], other: list[Any]
) -> None:
    old, new = made_of([*begin, *one]), made_of([*begin, *other])

    there, back = cause(old, new, divergence(old, new)), cause(new, old, divergence(new, old))

    assert there == (None if back is None else mirrored(back))
    assert mirrored(mirrored(there)) == there if there is not None else True
    assert all("they part" in each for each in [*cause_sentences(there)][:1])


@given(doings)
def test_two_runs_that_did_the_same_have_no_cause(done: list[Any]) -> None:
    old, new = made_of(done), made_of(done)

    assert cause(old, new, divergence(old, new)) is None


@given(doings, doings, doings)
def test_the_values_of_a_cause_differ(begin: list[Any], one: list[Any], other: list[Any]) -> None:
    old, new = made_of([*begin, *one]), made_of([*begin, *other])

    found = cause(old, new, divergence(old, new))

    told_apart = {CauseKind.UNTOLD, CauseKind.INTERRUPT, CauseKind.ANSWER}
    if found is not None and found.kind not in told_apart:
        assert found.old != found.new
    if found is not None:
        assert all(each.old != each.new for each in found.before)
