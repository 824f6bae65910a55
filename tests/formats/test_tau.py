"""Tau: what is particular to its files, beside what the oracles and laws show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import assistant, codes, jsonl, said, session_of, tau, user


@pytest.fixture
def opened(open_as: Callable[..., Any]) -> Any:
    return partial(open_as, "tau")


def texts(state: dict[str, Any]) -> list[str]:
    contents = [each["content"] for each in state["messages"]]
    return [each if isinstance(each, str) else each[0]["text"] for each in contents]


def test_the_session_is_named_by_its_file_and_by_its_last_session_info(opened: Any):
    session, replay = opened(
        tau("a", None, type="session_info", created_at=1.5, title="T", cwd="/home/dev/one"),
        tau("b", "a", type="session_info", created_at=1.5, cwd="/home/dev/two"),
        tau("c", "a", user("hi")),
    )

    assert (session.id, session.title, session.cwd) == ("a-name", None, "/home/dev/two")
    assert (replay.state(2)["title"], replay.state(2)["cwd"]) == ("T", "/home/dev/one")


def test_labels_are_trimmed_and_an_empty_one_clears(opened: Any):
    session, _ = opened(
        tau("a", None, user("hi")),
        tau("b", "a", type="label", target_id="a", label=" x "),
        tau("c", "b", type="label", target_id="b", label="y"),
        tau("d", "c", type="label", target_id="b", label="  "),
    )

    assert session.labels == {0: "x"}


OLD_LABEL = {"type": "label", "label": "L"}


@pytest.mark.parametrize(
    ("records", "labelled"),
    [
        # The type is the one in the file: here not yet a `custom_message`.
        (
            [
                tau("a", None, {"role": "custom", "customType": "k", "content": "x"}),
                tau("b", "a", user("hi")),
                tau("c", "b", **OLD_LABEL),
            ],
            0,
        ),
        # An entry without an id cannot be named.
        (
            [
                {"type": "message", "message": user("hi")},
                tau("b", None, user("ho")),
                tau("c", "b", **OLD_LABEL),
            ],
            1,
        ),
        (
            [
                tau("a", None, type="model_change", model="m"),
                tau("c", "a", **OLD_LABEL),
                tau("b", "c", user("hi")),
            ],
            2,
        ),
        ([tau("a", None, type="model_change", model="m"), tau("c", "a", **OLD_LABEL)], 0),
        ([tau("a", None, type="leaf"), tau("c", "a", **OLD_LABEL)], 0),
        ([tau("c", None, **OLD_LABEL)], 0),
    ],
    ids=["old shape", "no id", "later", "not branchable", "parent", "itself"],
)
def test_a_label_without_target_marks_what_tau_marks(opened: Any, records: Any, labelled: int):
    session, _ = opened(*records)

    assert session.labels == {labelled: "L"}


OLD_RESULT = {"role": "tool", "name": "n", "tool_call_id": "c", "content": "o"}


@pytest.mark.parametrize(
    ("parts", "details"),
    [
        ({"data": {"d": 1}, "details": "text"}, "text"),
        ({"data": {"d": 1}, "details": {"e": 2}}, {"d": 1, "e": 2}),
        ({"data": [1], "details": {"e": 2}}, {"e": 2}),
        ({"data": {"d": 1}, "details": None}, {"d": 1}),
    ],
)
def test_data_of_an_old_result_counts_where_details_do_not(
    opened: Any, parts: dict[str, Any], details: Any
):
    session, replay = opened(tau("a", None, {**OLD_RESULT, **parts}))

    assert replay.state(0)["messages"][0]["details"] == details
    assert not session.findings


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ({**OLD_RESULT, "toolName": "N", "toolCallId": "C"}, ("n", "c")),
        ({"role": "tool", "content": "o", "toolName": "N", "toolCallId": "C"}, ("N", "C")),
        ({"role": "tool", "content": "o"}, ("unknown", "")),
    ],
)
def test_the_old_names_of_an_old_result_come_first(
    opened: Any, message: dict[str, Any], names: tuple[str, str]
):
    _, replay = opened(tau("a", None, message))

    result = replay.state(0)["messages"][0]

    assert (result["toolName"], result["toolCallId"]) == names


def test_the_error_of_an_old_result_is_made_text(opened: Any):
    message = {**OLD_RESULT, "content": "", "ok": False, "error": {"a": 1}}

    session, replay = opened(tau("a", None, message))

    assert texts(replay.state(0)) == ["{'a': 1}"]
    assert not session.findings


@pytest.mark.parametrize(("role", "kind"), [("custom", "new"), ("user", "old")])
def test_an_old_custom_message_with_two_types(opened: Any, role: str, kind: str):
    message = {"role": role, "customType": "new", "custom_type": "old", "content": "x"}

    _, replay = opened(tau("a", None, message))

    assert replay.state(0)["messages"][0]["customType"] == kind


def test_snake_case_is_taken_wherever_an_object_is_taus_own(opened: Any):
    block = {"type": "text", "text": "t", "text_signature": "s"}
    session, replay = opened(
        tau("a", None, type="custom_message", custom_type="c", content=[block]),
        tau("b", "a", {"role": "custom", "customType": "c", "content": [block]}),
        tau("c", "b", type="branch_summary", summary="S", usage={"total_tokens": 4}),
        tau("d", "c", type="compaction", summary="S", usage={"cost": {"cache_read": 1}}),
    )

    camel = [{"type": "text", "text": "t", "textSignature": "s"}]
    assert [each["content"] for each in replay.state(1)["messages"]] == [camel, camel]
    assert session.heads[2].usage is not None
    assert session.heads[2].usage.total == 4
    assert not session.findings


def test_an_interruption_is_known_though_its_text_is_in_pieces(opened: Any):
    pieces = [{"type": "text", "text": each} for each in ("Tool call ", "interrupted by user")]
    call = {"type": "toolCall", "id": "c", "name": "n"}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "n"}
    _, replay = opened(
        tau("a", None, {"role": "assistant", "content": [call]}),
        tau("b", "a", {**result, "content": pieces, "isError": True}),
        tau("c", "b", {**result, "content": "real"}),
    )

    assert texts({"messages": replay.resumed(2).state["messages"][1:]}) == ["real"]


def test_the_summary_of_an_earlier_compaction_stays_where_it_is_kept(opened: Any):
    """Unlike Pi, what was dropped once never comes back."""
    _, replay = opened(
        tau("a", None, user("one")),
        tau("b", "a", user("two")),
        tau("c", "b", type="compaction", summary="S1", first_kept_entry_id="b"),
        tau("d", "c", user("three")),
        tau("e", "d", type="compaction", summary="S2", first_kept_entry_id="a"),
    )

    assert texts(replay.state(4)) == [
        "Previous conversation summary:\nS2",
        "two",
        "Previous conversation summary:\nS1",
        "three",
    ]


def test_an_old_compaction_puts_its_summary_where_the_first_replaced_row_was(opened: Any):
    _, replay = opened(
        tau("a", None, user("one")),
        tau("b", "a", user("two")),
        tau("c", "b", user("three")),
        tau("d", "c", type="compaction", summary="S", replaces_entry_ids=["b", "gone"]),
    )

    assert texts(replay.state(3)) == ["one", "Previous conversation summary:\nS", "three"]


def test_a_model_change_without_a_provider_keeps_the_provider(opened: Any):
    _, replay = opened(
        tau("a", None, type="model_change", model="m1", provider="p1"),
        tau("b", "a", type="model_change", model="m2"),
        tau("c", "b", type="thinking_level_change", thinking_level="high"),
        tau("d", "c", type="thinking_level_change"),
    )

    seen = [replay.state(row) for row in range(4)]

    assert [(each["model"], each["provider"], each["thinking_level"]) for each in seen] == [
        ("m1", "p1", None),
        ("m2", "p1", None),
        ("m2", "p1", "high"),
        ("m2", "p1", None),
    ]


@pytest.mark.parametrize(
    ("time", "seconds"),
    [(7, 7.0), ("7.5", 7.5), ("soon", None), (None, None), (True, None), ([], None)],
)
def test_a_time_may_be_a_text_that_is_a_number(opened: Any, time: Any, seconds: float | None):
    session, _ = opened(tau("a", None, user("hi"), timestamp=time))

    assert session.heads[0].time == seconds


@pytest.mark.parametrize("time", ["inf", "-inf", "nan", 1e308, "1e400"])
def test_a_time_beyond_all_is_none_and_stamps_no_message(opened: Any, time: Any):
    entry = tau("a", None, type="custom_message", custom_type="n", content="x", timestamp=time)

    session, replay = opened(entry)

    assert session.heads[0].time is None
    assert "timestamp" not in replay.state(0)["messages"][0]


def test_a_time_that_is_text_stamps_a_message_as_its_number_would(opened: Any):
    entry = tau("a", None, type="custom_message", custom_type="n", content="x", timestamp="7.5")

    _, replay = opened(entry)

    assert replay.state(0)["messages"][0]["timestamp"] == 7500


WHOLE = ("9", " +9.00\t", "1_0", 9.0, -(2**63), 2**100, True)
NOT_WHOLE = ("1.5", "nan", "1e3", "9.", "1__0", "", "9" * 5000, 9.5, 1e20, None)


@pytest.mark.parametrize(
    ("value", "findings"),
    [*((each, []) for each in WHOLE), *((each, ["TT402"]) for each in NOT_WHOLE)],
)
def test_a_whole_number_is_what_pydantic_takes_for_one(
    opened: Any, value: Any, findings: list[str]
):
    session, _ = opened(tau("a", None, {**user("hi"), "timestamp": value}))

    assert [each for each in codes(session.findings) if each != "TT108"] == findings


@pytest.mark.parametrize("time", ["NaN", "1e400", "-Infinity", '"nan"', '" 7 "', "true"])
def test_a_number_that_json_lacks_is_a_number_for_tau(opened: Any, time: str):
    message = '{"role":"user","content":"x"}'
    session, _ = opened(f'{{"id":"a","type":"message","timestamp":{time},"message":{message}}}')

    assert "TT402" not in codes(session.findings)


def test_a_refusal_names_the_key(opened: Any):
    session, _ = opened(
        tau("a", None, user("hi")),
        tau("b", "a", assistant("yo", usage={"cacheWrite1h": 1})),
    )

    (found,) = session.findings

    assert (codes([found]), found.line) == (["TT402"], 2)
    assert "usage" in found.message


HI, YO = user("hi"), assistant("yo")

# Of each: the file, the ids in storage order, the active leaf, and code and line of each finding.
TAU_TABLE: dict[str, tuple[bytes, str, str, str]] = {
    "a torn last line": (
        jsonl(tau("a", None, HI)) + b'{"id":"b","pare',
        "a",
        "a",
        "TT102 2, TT402 2",
    ),
    "no final newline": (jsonl(tau("a", None, HI))[:-1], "a", "a", "TT103 1"),
    "a garbage line in the middle": (
        jsonl(tau("a", None, HI), "garbage", tau("c", "a", YO)),
        "a gap@2 c",
        "c",
        "TT101 2, TT402 2",
    ),
    "a missing parent": (
        jsonl(tau("a", None, HI), tau("c", "b", YO)),
        "a c",
        "c",
        "TT201 2, TT403 2",
    ),
    "two records on one line": (
        jsonl(jsonl(tau("a", None, HI))[:-1] + jsonl(tau("b", "a", YO))[:-1]),
        "a b",
        "b",
        "TT107 1, TT402 1",
    ),
    "an id used twice": (
        jsonl(tau("a", None, HI), tau("b", "a", YO), tau("a", None, HI)),
        "a@1 b a",
        "a",
        "TT202 1, TT402 1",
    ),
    "an unknown type": (
        jsonl(tau("a", None, HI), tau("b", "a", type="telemetry")),
        "a b",
        "b",
        "TT402 2, TT401 2",
    ),
    "an unknown key": (
        jsonl(tau("a", None, HI), tau("b", "a", YO, extra=1)),
        "a b",
        "b",
        "TT402 2",
    ),
    "an unknown key in a message": (
        jsonl(tau("a", None, {**HI, "extra": 1})),
        "a",
        "a",
        "TT402 1",
    ),
    "a number where a text belongs": (
        jsonl(tau("a", None, HI), tau("b", "a", type="model_change", model=7)),
        "a b",
        "b",
        "TT402 2",
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf" + jsonl(tau("a", None, HI)),
        "a",
        "a",
        "TT104 1, TT402 1",
    ),
    "bytes that are no UTF-8": (
        jsonl(tau("a", None, user("x?"))).replace(b"?", b"\xff"),
        "a",
        "a",
        "TT105 1, TT402 1",
    ),
    "a tab that is not escaped": (
        jsonl(tau("a", None, user("x?"))).replace(b"?", b"\t"),
        "a",
        "a",
        "TT105 1, TT402 1",
    ),
    "an unknown key beside an old custom message": (
        jsonl(tau("a", None, {"role": "custom", "customType": "n", "content": "x"}, extra=1)),
        "a",
        "a",
        "TT402 1",
    ),
    "an unknown key in an old custom message": (
        jsonl(tau("a", None, {"role": "custom", "customType": "n", "content": "x", "extra": 1})),
        "a",
        "a",
        "",
    ),
    "a cycle": (
        jsonl(tau("a", "b", HI), tau("b", "a", YO)),
        "a b",
        "b",
        "TT203 1, TT402 1",
    ),
    "a label on nothing": (
        jsonl(tau("a", None, HI), tau("b", "a", type="label", target_id="x", label="y")),
        "a b",
        "b",
        "TT406 2",
    ),
    "a legacy leaf that points elsewhere": (
        jsonl(tau("a", None, HI), tau("b", "a", YO), tau("l", "b", type="leaf", entry_id="a")),
        "a b l",
        "b",
        "TT403 3",
    ),
    # Nothing is lost here, so nothing is said.
    "blank lines and carriage returns": (
        b"\n" + jsonl(tau("a", None, HI)).replace(b"\n", b"\r\n") + b"\n",
        "a",
        "a",
        "",
    ),
    "a lone carriage return as line end": (
        jsonl(tau("a", None, HI))[:-1] + b"\r" + jsonl(tau("b", "a", YO)),
        "a b",
        "b",
        "",
    ),
    "two roots": (jsonl(tau("a", None, HI), tau("b", None, HI)), "a b", "b", ""),
    "a parent later in the file": (jsonl(tau("b", "a", YO), tau("a", None, HI)), "b a", "a", ""),
    "a legacy leaf at the tip": (
        jsonl(tau("a", None, HI), tau("b", "a", YO), tau("l", "b", type="leaf", entry_id="b")),
        "a b l",
        "b",
        "",
    ),
    "a legacy leaf that was left behind": (
        jsonl(tau("a", None, HI), tau("l", "a", type="leaf", entry_id="a"), tau("b", "a", YO)),
        "a l b",
        "b",
        "",
    ),
    "a custom message in the old shape": (
        jsonl(tau("a", None, {"role": "custom", "customType": "n", "content": "x"})),
        "a",
        "a",
        "",
    ),
    "a line separator inside a text": (jsonl(tau("a", None, user("a\u2028b"))), "a", "a", ""),
}


@pytest.mark.parametrize(
    ("content", "ids", "active", "findings"), TAU_TABLE.values(), ids=TAU_TABLE.keys()
)
def test_what_tau_loses_is_shown_and_said(
    content: bytes, ids: str, active: str, findings: str, tmp_path: Path
):
    session = session_of(content, "tau", tmp_path)

    assert " ".join(session.ids) == ids
    assert session.active is not None
    assert session.ids[session.active] == active
    assert said(session) == findings
