"""Exchanges: a call and its result find each other, whichever is looked at."""

from builders import assistant, jsonl, pi, user

from tt_debugger.core.inspection import FARTHEST, Exchange
from tt_debugger.core.messages import Call, Result, Said
from tt_debugger.debugger import Debugger

HEADER = {"type": "session", "version": 3, "id": "s", "cwd": "/"}


def result(call, text="ok", **more):
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call, "content": content, **more}


def at(second):
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z"}


def exchanges(folder, row, *entries):
    path = folder / "s.jsonl"
    path.write_bytes(jsonl(HEADER, *entries))
    with Debugger.open(str(path)) as debugger:
        return debugger.inspect(row).exchanges


def call(name):
    return Call(name, "bash", {})


def gave(name, text="ok", *, failed=False):
    return Result(name, "", (Said(text),), failed)


def test_a_call_finds_its_result_and_a_result_its_call(tmp_path):
    entries = [
        pi("u", None, user("go"), **at(0)),
        pi("a", "u", assistant("x", "c1", "c2"), **at(1)),
        pi("r1", "a", result("c1"), **at(3)),
        pi("r2", "r1", result("c2", "no", isError=True), **at(7)),
        pi("b", "r2", assistant("done"), **at(8)),
    ]
    first = Exchange(call("c1"), 1, gave("c1"), 2, 2.0)
    second = Exchange(call("c2"), 1, gave("c2", "no", failed=True), 3, 6.0)

    assert [exchanges(tmp_path, row, *entries) for row in range(5)] == [
        (),
        (first, second),
        (first,),
        (second,),
        (),
    ]


def test_what_has_no_other_half_says_so(tmp_path):
    entries = [
        pi("a", None, assistant("x", "c1")),
        pi("r", "a", result("c2")),
        pi("b", "r", user("next")),
    ]

    assert exchanges(tmp_path, 0, *entries) == (Exchange(call("c1"), 0, None, None),)
    assert exchanges(tmp_path, 1, *entries) == (Exchange(None, None, gave("c2"), 1),)


def test_a_result_behind_the_next_turn_is_not_the_one(tmp_path):
    entries = [
        pi("a", None, assistant("x", "c1")),
        pi("u", "a", user("next")),
        pi("r", "u", result("c1")),
    ]

    assert exchanges(tmp_path, 0, *entries) == (Exchange(call("c1"), 0, None, None),)


def test_settings_between_the_halves_are_passed_over(tmp_path):
    entries = [
        pi("a", None, assistant("x", "c1")),
        pi("s", "a", type="thinking_level_change", thinkingLevel="high"),
        pi("r", "s", result("c1")),
    ]

    assert exchanges(tmp_path, 0, *entries) == (Exchange(call("c1"), 0, gave("c1"), 2),)


def test_the_result_of_the_heir_comes_before_that_of_another_branch(tmp_path):
    entries = [
        pi("a", None, assistant("x", "c1", "c2")),
        pi("r1", "a", result("c1", "given up")),
        pi("r2", "r1", result("c2", "only here")),
        pi("r3", "a", result("c1", "active")),
        pi("u", "r3", user("next")),
    ]

    assert exchanges(tmp_path, 0, *entries) == (
        Exchange(call("c1"), 0, gave("c1", "active"), 3),
        Exchange(call("c2"), 0, gave("c2", "only here"), 2),
    )


def test_the_nearest_call_of_an_id_that_is_used_again_is_the_one(tmp_path):
    entries = [
        pi("a", None, assistant("x", "c1")),
        pi("r1", "a", result("c1", "old")),
        pi("b", "r1", assistant("y", "c1")),
        pi("r2", "b", result("c1", "new")),
    ]

    assert exchanges(tmp_path, 3, *entries) == (Exchange(call("c1"), 2, gave("c1", "new"), 3),)
    assert exchanges(tmp_path, 0, *entries) == (Exchange(call("c1"), 0, gave("c1", "old"), 1),)


def test_a_time_that_runs_backwards_gives_no_seconds(tmp_path):
    entries = [
        pi("a", None, assistant("x", "c1"), **at(9)),
        pi("r", "a", result("c1"), **at(3)),
    ]

    assert exchanges(tmp_path, 0, *entries) == (Exchange(call("c1"), 0, gave("c1"), 1, None),)


def test_the_search_for_the_other_half_ends(tmp_path):
    entries = [pi("a", None, assistant("x", "c1"))]
    for number in range(FARTHEST):
        entries.append(pi(f"r{number}", entries[-1]["id"], result("other")))
    entries.append(pi("r", entries[-1]["id"], result("c1")))

    assert exchanges(tmp_path, 0, *entries) == (Exchange(call("c1"), 0, None, None),)
    assert exchanges(tmp_path, len(entries) - 1, *entries) == (
        Exchange(None, None, gave("c1"), len(entries) - 1),
    )
