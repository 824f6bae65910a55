"""`ttdbg diff`: what it takes, what it answers, and how it exits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_files import pi, said

Ask = Callable[..., Any]
TREE = (("a", None), ("b", "a"), ("c", "b"), ("d", "a"))
EDIT = {"op", "path", "from", "old", "new", "text"}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of four checkpoints in two branches: a, then b and c, or d."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(pi(*(said(name, parent, text=name) for name, parent in TREE)))
    return file


def test_equal_points_exit_with_0_and_different_ones_with_1(ttdbg: Ask, session: Path) -> None:
    assert ttdbg("diff", session, session).code == 0
    assert ttdbg("diff", f"{session}#b", f"{session}#c").code == 1
    assert ttdbg("diff", f"{session}#b", "#c", "--json").code == 1


def test_the_answer_is_that_of_the_contract(ttdbg: Ask, session: Path) -> None:
    answer = ttdbg("diff", f"{session}#c", "#d", "--json").json

    edits, parted, why = (answer.pop(each) for each in ("edits", "divergence", "cause"))
    assert answer == {
        "ttdbg": 1,
        "a": f"{session}#c",
        "b": f"{session}#d",
        "equal": False,
        "fork_point": "a",
        "masked": {},
    }
    assert [(each["op"], each["path"]) for each in edits] == [
        ("remove", "/messages/1"),
        ("remove", "/messages/2"),
        ("add", "/messages/1"),
    ]
    assert all(set(each) == EDIT for each in edits)
    assert parted == {
        "by": "tree",
        "a_point": "a",
        "b_point": "a",
        "a_after": ["b", "c"],
        "b_after": ["d"],
        "again": [],
        "meets": None,
    }
    assert why == {
        "kind": "prompt",
        "certainty": "told",
        "a_checkpoint": "b",
        "b_checkpoint": "d",
        "subject": None,
        "a": "b",
        "b": "d",
        "before": [],
    }


def test_why_two_sides_part_is_said_before_all_else(ttdbg: Ask, session: Path) -> None:
    first, second, why, *_ = ttdbg("diff", f"{session}#c", "#d", "--stat").out.splitlines()

    assert (first[:1], second[:1]) == ("A", "B")
    assert why == "they part at row 2 / row 4: the prompt of the user differs"


def test_sides_that_do_not_part_have_no_cause(ttdbg: Ask, session: Path) -> None:
    answer = ttdbg("diff", f"{session}#b", "#c", "--json").json

    assert answer["cause"] is None
    assert "they part" not in ttdbg("diff", f"{session}#b", "#c").out


def test_what_a_sample_was_told_otherwise_is_why_its_branches_part(
    ttdbg: Ask, in_samples: Path
) -> None:
    points = (f"{in_samples / 'langgraph.sqlite'}#row=9", "#row=13")

    answer = ttdbg("diff", *points, "--json").json

    assert (answer["cause"]["kind"], answer["cause"]["subject"]) == ("edit", "/values/limit")
    assert (answer["cause"]["a"], answer["cause"]["b"]) == (None, 60.0)


def test_what_differs_leads_from_one_side_to_the_other(ttdbg: Ask, session: Path) -> None:
    answer = ttdbg("diff", f"{session}#a", "#b", "--json").json

    (edit,) = answer["edits"]
    assert (edit["op"], edit["path"], edit["from"]) == ("add", "/messages/1", None)
    assert edit["new"] == ttdbg("show", f"{session}#b", "--json").json["state"]["messages"][1]


def test_two_files_are_compared_as_whole_sessions(
    ttdbg: Ask, session: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(session.read_bytes())

    assert ttdbg("diff", session, other).code == 0
    answer = ttdbg("diff", f"{session}#c", f"{other}#d", "--json").json
    assert (answer["divergence"]["by"], answer["fork_point"]) == ("id", "a")


def test_two_formats_are_compared_in_the_normal_form_and_it_is_said(
    ttdbg: Ask, in_samples: Path
) -> None:
    one, other = in_samples / "pi.jsonl", in_samples / "requests.jsonl"

    answer = ttdbg("diff", one, other, "--json").json
    assert answer["normal_form"] == {"left_out": ["temperature", "tools"]}
    assert "pi and messages are compared by what both can say" in ttdbg("diff", one, other).out


def test_a_mask_is_counted_and_can_be_taken_off(ttdbg: Ask, in_samples: Path) -> None:
    points = (f"{in_samples / 'pi.jsonl'}#row=14", "#row=18")
    masked = ttdbg("diff", *points, "--json").json
    bare = ttdbg("diff", *points, "--json", "--no-mask").json

    assert masked["masked"]
    assert bare["masked"] == {}
    assert len(bare["edits"]) >= len(masked["edits"]) + 1


def test_three_ways_name_what_each_side_did(ttdbg: Ask, in_samples: Path) -> None:
    points = (f"{in_samples / 'pi.jsonl'}#row=23", "#row=39")
    against = ttdbg("diff", *points, "--json", "--three-way").json["three_way"]

    assert set(against) == {"a", "b", "both", "conflicts"}
    assert [each["path"] for each in against["both"]] == ["/title"]
    assert against["conflicts"] == []


def test_three_ways_need_a_beginning_in_common(ttdbg: Ask, in_samples: Path) -> None:
    answer = ttdbg("diff", in_samples / "pi.jsonl", in_samples / "tau.jsonl", "--three-way")

    assert answer.code == 2
    assert answer.err.endswith("hint: leave out --three-way\n")


def test_with_all_that_was_said_a_compaction_is_no_difference(
    ttdbg: Ask, in_samples: Path
) -> None:
    points = (f"{in_samples / 'pi.jsonl'}#row=53", "#row=54")
    compacted = ttdbg("diff", *points, "--json").json["edits"]
    whole = ttdbg("diff", *points, "--json", "--uncompacted").json["edits"]

    assert any(each["op"] == "remove" for each in compacted)
    assert all(each["op"] != "remove" for each in whole)


@pytest.mark.parametrize(
    ("points", "code"),
    [
        (("{s}#nope", "{s}"), 2),
        (("{s}", "#nope"), 2),
        (("{s}#a..b", "{s}"), 2),
        (("{s}",), 2),
        (("{s}", "missing.jsonl"), 3),
        (("missing.jsonl", "{s}"), 3),
    ],
)
def test_wrong_requests_are_refused(
    ttdbg: Ask, session: Path, points: tuple[str, ...], code: int
) -> None:
    answer = ttdbg("diff", *(each.format(s=session) for each in points))

    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith("ttdbg: ")
