"""The model: columns that give back what was put in, and what a session says of itself."""

from __future__ import annotations

import msgspec
import pytest
from builders import family, ids_of, session
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.model import (
    Checkpoint,
    CheckpointId,
    Head,
    Heads,
    Kind,
    Role,
    Usage,
    checkpoint_json,
    iso_time,
)
from tt_debugger.core.tree import NO_ROW

counts = st.integers(0, 2**40)
usages = st.builds(Usage, counts, counts, counts, counts, counts, st.floats(0, 100))
places = st.one_of(st.none(), counts, st.just(-1))
times = st.one_of(st.none(), st.floats(-6e10, 2.5e11), st.integers(-(10**10), 10**11).map(float))
heads = st.builds(
    Head,
    st.sampled_from(list(Kind)),
    st.one_of(st.none(), st.sampled_from(list(Role))),
    st.text(max_size=4),
    st.text(max_size=4),
    times,
    places,
    places,
    places,
    places,
    st.one_of(st.none(), usages),
    st.booleans(),
)


@given(st.lists(heads, max_size=6))
def test_columns_give_back_each_head_as_it_was(given_heads: list[Head]):
    columns = Heads()
    for head in given_heads:
        columns.append(head)

    assert [columns[row] for row in range(len(columns))] == given_heads
    assert [columns.kind(row) for row in range(len(columns))] == [h.kind for h in given_heads]
    assert [columns.role(row) for row in range(len(columns))] == [h.role for h in given_heads]
    assert [columns.usage(row) for row in range(len(columns))] == [h.usage for h in given_heads]


@given(st.one_of(st.floats(), st.integers()))
def test_a_time_is_kept_where_iso_text_can_say_it_and_none_elsewhere(seconds: float):
    columns = Heads()
    columns.append(Head(Kind.TURN, time=seconds))

    assert columns[0].time == (None if iso_time(seconds) is None else float(seconds))


def test_a_copy_of_columns_grows_apart():
    columns = Heads()
    columns.append(Head(Kind.TURN))
    twin = columns.copy()
    twin.append(Head(Kind.GAP))

    assert (len(columns), len(twin), twin[0]) == (1, 2, Head(Kind.TURN))


def test_usage_adds_up_and_cents_stay_cents():
    total = Usage(1, 2, 3, 4, 10, 0.1) + Usage(10, 20, 30, 40, 100, 0.2)

    assert total == Usage(11, 22, 33, 44, 110, 0.3)
    assert total.context == 110


def test_a_session_knows_its_rows_paths_and_checkpoints():
    made = session("a b c<a d<b", active="c")

    assert made.rows == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert made.active_path == [0, 2]
    assert bytes(made.on_active_path) == b"\1\0\1\0"
    assert [(each.id, each.parent) for each in made] == family("a b c<a d<b")


def test_the_heir_of_a_row_is_its_child_on_the_active_path_else_the_newest():
    made = session("a b c<a d<b e<b f<b g<c", active="e")

    heirs = [made.heir(row) for row in range(len(made))]

    assert ids_of(made, heirs[:3]) == "b e g"
    assert heirs[3:] == [NO_ROW] * 4


def test_behind_the_active_leaf_the_heir_is_the_newest_child():
    made = session("a b c<b d<b", active="b")

    assert made.heir(1) == 3


def test_a_session_without_an_active_leaf_has_no_active_path():
    made = session("")

    assert (made.active_path, list(made.on_active_path), list(made)) == ([], [], [])


def test_no_checkpoint_is_beyond_the_last():
    with pytest.raises(IndexError):
        session("a").checkpoint(1)


def test_the_context_size_is_the_last_one_measured_on_the_path():
    answered = Head(Kind.MESSAGE, Role.ASSISTANT, usage=Usage(10, 5, 100, 1))
    billed = Head(Kind.TOOL_RESULT, Role.TOOL, usage=Usage(7, 7))
    unmeasured = Head(Kind.MESSAGE, Role.ASSISTANT, usage=Usage())
    again = Head(Kind.MESSAGE, Role.ASSISTANT, usage=Usage(20, 2))
    said = {"b": answered, "c": billed, "d": unmeasured, "e": Head(Kind.COMPACTION), "g": again}

    made = session("a b c d e f g h<b", heads=said)

    assert list(made.context_sizes) == [0, 116, 116, 116, 0, 0, 22, 116]


def test_context_sizes_reach_children_that_stand_before_their_parent():
    made = session("b<a a<", heads={"a": Head(Kind.MESSAGE, Role.ASSISTANT, usage=Usage(3, 4))})

    assert ids_of(made, made.tree.parents_first()) == "a b"
    assert list(made.context_sizes) == [7, 7]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00.000Z"),
        (1767225600.5, "2026-01-01T00:00:00.500Z"),
        (-1.0, "1969-12-31T23:59:59.000Z"),
        (-62135596800, "0001-01-01T00:00:00.000Z"),
        (253402300799.9995, "9999-12-31T23:59:59.999Z"),
        (-62135596800.001, None),
        (253402300800, None),
        (10**400, None),
        (1e15, None),
        (-1e15, None),
        (float("inf"), None),
        (float("nan"), None),
    ],
)
def test_a_time_is_iso_text_in_utc_or_nothing_where_out_of_range(
    seconds: float | None, text: str | None
):
    assert iso_time(seconds) == text


def test_the_json_of_a_checkpoint_counts_rows_from_one_and_has_every_key():
    usage = Usage(1, 2, 3, 4, 10, 0.5)
    head = Head(Kind.TOOL_CALL, Role.ASSISTANT, "bash", "ls", 0.25, 3, 7, 100, 20, usage)

    assert checkpoint_json(Checkpoint(0, CheckpointId("a"), CheckpointId("b"), head)) == {
        "id": "a",
        "parent": "b",
        "kind": "tool_call",
        "role": "assistant",
        "row": 1,
        "step": 3,
        "time": "1970-01-01T00:00:00.250Z",
        "summary": "ls",
        "line": 7,
        "offset": 100,
        "length": 20,
        "usage": {
            "input": 1,
            "output": 2,
            "cache_read": 3,
            "cache_write": 4,
            "total": 10,
            "cost": 0.5,
        },
    }


def test_what_a_checkpoint_has_not_is_null_in_its_json():
    form = checkpoint_json(Checkpoint(4, CheckpointId("a"), None, Head(Kind.GAP)))

    assert {key for key, value in form.items() if value is None} == {
        "parent",
        "role",
        "step",
        "time",
        "line",
        "offset",
        "length",
        "usage",
    }


def test_the_row_before_a_row_is_the_last_that_is_no_gap():
    made = Heads()
    for kind in (Kind.GAP, Kind.MESSAGE, Kind.GAP, Kind.GAP, Kind.MESSAGE):
        made.append(Head(kind))

    assert [made.not_gap_before(row) for row in range(6)] == [NO_ROW, NO_ROW, 1, 1, 1, 4]


def test_a_row_is_found_by_its_id_and_by_the_ids_that_it_had():
    known = msgspec.structs.replace(session("a b"), aliases={"b0": 1})

    assert [known.row_of(name) for name in ("a", "b", "b0", "c")] == [0, 1, 1, None]
