"""Forks of Pi: what is written, to the byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES
from forks_of_files import TIME, assert_lawful, files_of, plan_of, written

from tt_debugger.core.changes import Append, Change, Drop, Put
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.transcripts import Source, altered
from tt_debugger.core.fork.writes import How, MoreLines, NewFile
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError, UsageError

GONE = "the summary is taken away by an edit that Pi before 1.0 does not know"
STAMP = "2026-01-01T00:00:00.250Z"
Forking = Callable[..., Draft]


@pytest.fixture
def fork_of(tmp_path: Path) -> Forking:
    """Draft a fork of a copy of a fixture at an id, by edits of its state."""

    def draft(name: str, point: str, *edits: Change, **more: Any) -> Draft:
        path = Path(shutil.copy(FIXTURES / "pi" / f"{name}.jsonl", tmp_path))
        with Debugger.open(str(path)) as debugger:
            row = debugger.session.row_of(point)
            assert row is not None
            return debugger.draft(plan_of(debugger, row, edits, **more))

    return draft


def records_of(draft: Draft) -> list[Any]:
    (write,) = draft.writes
    assert isinstance(write, NewFile | MoreLines)
    assert all(each.data.endswith(b"\n") for each in write.records)
    return [json.loads(each.data) for each in write.records]


def hows_of(draft: Draft) -> list[How]:
    (write,) = draft.writes
    assert isinstance(write, NewFile | MoreLines)
    return [each.how for each in write.records]


def chain_of(records: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Give the parent and the type of each entry, the parent by its place."""
    places = {each["id"]: place for place, each in enumerate(records)}
    return [(places.get(each["parentId"], each["parentId"]), each["type"]) for each in records]


def lines_in(name: str) -> list[bytes]:
    return (FIXTURES / "pi" / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("path", files_of("pi"), ids=lambda path: path.stem)
def test_forks_everywhere_are_lawful(path: Path, tmp_path: Path):
    made = assert_lawful(path, tmp_path)
    assert made["new"]


def test_a_fork_is_a_header_the_lines_of_the_path_as_they_are_and_a_marker(
    fork_of: Forking, tmp_path: Path
):
    draft = fork_of("linear", _id_in("linear", 3), note="what if")

    (write,) = draft.writes
    assert isinstance(write, NewFile)
    header, *kept, marker = records_of(draft)
    assert header == {
        "type": "session",
        "version": 3,
        "id": draft.session,
        "timestamp": STAMP,
        "cwd": "/home/dev/demo-project",
        "parentSession": str(tmp_path / "linear.jsonl"),
    }
    assert [each.data for each in write.records[1:-1]] == lines_in("linear")[1:4]
    assert marker == {
        "type": "custom",
        "id": draft.point,
        "parentId": kept[-1]["id"],
        "timestamp": STAMP,
        "customType": "ttdbg.fork",
        "data": {
            "origin": marker["data"]["origin"],
            "session": _id_in("linear", 0),
            "checkpoint": _id_in("linear", 3),
            "note": "what if",
        },
    }
    assert hows_of(draft) == [How.ADDED, *[How.KEPT] * 3, How.ADDED]
    stamp = "2026-01-01T00-00-00-250Z"
    assert draft.location == str(tmp_path / f"{stamp}_{draft.session}.jsonl")
    assert draft.resume_command == (f"cd /home/dev/demo-project && pi --session {draft.location}")


def _id_in(name: str, line: int) -> str:
    return json.loads(lines_in(name)[line])["id"]


def test_labels_are_left_out_of_the_path_and_said_once_more_behind_it(fork_of: Forking):
    draft = fork_of("branched", "25613580")

    records = records_of(draft)[1:]
    assert [each["type"] for each in records] == [
        *["message"] * 4,
        "custom",
        "custom_message",
        "label",
        "custom",
    ]
    assert [each["parentId"] for each in records[1:]] == [each["id"] for each in records[:-1]]
    label = records[-2]
    assert (label["targetId"], label["label"]) == ("05e91aec", "decision")
    assert label["timestamp"] == "2026-11-29T17:21:03.811Z"
    assert label["id"] != "8993044c"


def test_an_edited_message_has_a_new_id_and_all_below_it_hangs_on_that(fork_of: Forking):
    edit = Put(("messages", 1, "content", 0, "text"), "LFU?")

    records = records_of(fork_of("branched", "827c1c8e", edit))
    kept, changed, below, last, label, marker = records[1:]
    assert (kept["id"], last["id"]) == ("f1326b26", "827c1c8e")
    assert changed["id"] != "05e91aec"
    assert changed["parentId"] == kept["id"]
    assert changed["message"]["content"] == [{"type": "text", "text": "LFU?"}]
    assert changed["timestamp"] == "2026-11-29T17:21:03.810Z"
    assert below["parentId"] == changed["id"]
    assert (label["targetId"], label["parentId"]) == (changed["id"], last["id"])
    assert marker["parentId"] == label["id"]


def test_a_dropped_message_is_left_out_and_a_compaction_keeps_from_the_next_one(
    fork_of: Forking,
):
    # The summary, then q2 from which the compaction keeps.
    draft = fork_of("compacted", "1decd698", Drop(("messages", 1)))

    records = records_of(draft)[1:]
    assert "9d37d855" not in {each["id"] for each in records}
    (compaction,) = (each for each in records if each["type"] == "compaction")
    assert compaction["firstKeptEntryId"] == "18772762"


def test_a_summary_that_is_taken_away_stays_with_an_edit_of_the_context_behind_it(
    fork_of: Forking,
):
    draft = fork_of("compacted", "1decd698", Drop(("messages", 0)))

    *_, compaction, edit, _ = records_of(draft)
    assert compaction["id"] == "1decd698"
    assert (edit["type"], edit["targetId"], edit["replacement"]) == (
        "context_edit",
        "1decd698",
        None,
    )
    assert draft.notes == (
        "the summary is taken away by an edit that Pi before 1.0 does not know",
    )


def test_an_edit_of_what_pi_itself_had_edited_leaves_that_edit_out(fork_of: Forking):
    # A tool result of which Pi elided the text.
    edit = Put(("messages", 3, "content", 0, "text"), "short")

    records = records_of(fork_of("v1x-context-edit", "ecc41a3a", edit))[1:]
    assert [each["type"] for each in records] == [*["message"] * 5, "custom"]
    assert records[3]["message"]["content"] == [{"type": "text", "text": "short"}]


def test_settings_and_title_are_set_by_entries_before_the_marker(fork_of: Forking):
    draft = fork_of(
        "linear",
        _id_in("linear", 2),
        Put(("model",), "another"),
        Put(("thinking_level",), "low"),
        Put(("title",), "Tried again"),
        Put(("cwd",), "/srv/b c"),
    )

    header, *_, model, level, title, _ = records_of(draft)
    assert header["cwd"] == "/srv/b c"
    assert (model["type"], model["modelId"]) == ("model_change", "another")
    assert (level["type"], level["thinkingLevel"]) == ("thinking_level_change", "low")
    assert (title["type"], title["name"]) == ("session_info", "Tried again")
    assert draft.resume_command.startswith("cd '/srv/b c' && pi --session ")


def test_a_file_of_version_1_is_given_in_the_shape_of_version_3(fork_of: Forking):
    draft = fork_of("edge-v1-linear", "L5")

    header, *records = records_of(draft)
    assert header["version"] == 3
    *_, compaction, _marker = records
    assert chain_of(records) == [
        (None, "message"),
        (0, "message"),
        (1, "message"),
        (2, "compaction"),
        (3, "custom"),
    ]
    assert all(len(each["id"]) == 8 and int(each["id"], 16) >= 0 for each in records)
    assert compaction["firstKeptEntryId"] == records[2]["id"]
    assert "firstKeptEntryIndex" not in compaction
    assert draft.notes[0] == "the entries, which have no ids in version 1, are given some"


def test_a_hook_of_version_2_is_given_as_a_custom_message(fork_of: Forking):
    records = records_of(fork_of("edge-v2-hook", "a0000002"))
    assert records[0]["version"] == 3
    assert records[2]["message"]["role"] == "custom"
    assert records[2]["id"] == "a0000002"


def test_a_root_whose_parent_is_missing_is_a_root_in_the_fork(fork_of: Forking):
    known = {json.loads(line)["id"] for line in lines_in("edge-missing-parent")}
    orphan = next(
        entry
        for entry in map(json.loads, lines_in("edge-missing-parent")[1:])
        if entry["parentId"] not in {None, *known}
    )

    records = records_of(fork_of("edge-missing-parent", orphan["id"]))
    assert records[1] == {**orphan, "parentId": None}


def test_a_branch_in_place_is_one_line_more(fork_of: Forking, tmp_path: Path):
    draft = fork_of("branched", "827c1c8e", in_place=True, note="the other way")

    (write,) = draft.writes
    assert isinstance(write, MoreLines)
    before = (tmp_path / "branched.jsonl").read_bytes()
    assert (write.size, write.lock) == (len(before), None)
    (marker,) = records_of(draft)
    assert (marker["id"], marker["parentId"]) == (draft.point, "827c1c8e")
    assert marker["data"]["note"] == "the other way"
    assert draft.location == str(tmp_path / "branched.jsonl")
    grown = written(draft, tmp_path, "grown.jsonl").read_bytes()
    assert grown.startswith(before)


def test_a_branch_in_place_has_no_other_place(fork_of: Forking):
    with pytest.raises(UsageError) as refused:
        fork_of("branched", "827c1c8e", in_place=True, target="other.jsonl")
    assert refused.value.message == "a branch in the original has no other place to be written to"
    assert refused.value.hint == "leave out --to, or --in-place"


def test_a_number_that_is_written_otherwise_is_an_edit(fork_of: Forking):
    records = [json.loads(each) for each in lines_in("linear")]
    time = next(each["message"]["timestamp"] for each in records if "message" in each)

    edit = Put(("messages", 0, "timestamp"), float(time))
    made = records_of(fork_of("linear", _id_in("linear", 3), edit))

    said = next(each["message"] for each in made if "message" in each)
    assert (said["timestamp"], type(said["timestamp"])) == (time, float)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("toolCallId", {"role": "toolResult"}),
        ("tool_call_id", {"type": "tool", "additional_kwargs": ""}),
    ],
    ids=["pi", "langchain"],
)
def test_a_result_is_known_again_by_the_call_that_it_answers(key: str, kind: dict[str, str]):
    one, other = ({**kind, key: each, "content": each} for each in ("c1", "c2"))
    edited = {**other, "content": "edited"}

    found = altered([Source(0, 0), Source(1, 0)], [one, other], [edited], 1)

    assert found.rewritten == {0: {0: None}, 1: {0: edited}}


def test_an_edit_in_place_is_a_sibling_with_copies_of_what_followed(fork_of: Forking):
    edit = Put(("messages", 1, "content", 0, "text"), "LFU?")

    records = records_of(fork_of("branched", "827c1c8e", edit, in_place=True))
    assert chain_of(records) == [
        ("f1326b26", "message"),
        (0, "message"),
        (1, "message"),
        (2, "custom"),
    ]
    assert records[1]["message"]["content"] == [{"type": "text", "text": "yes LRU"}]
    kept = {json.loads(line)["id"] for line in lines_in("branched")}
    assert not kept & {each["id"] for each in records}


@pytest.mark.parametrize(
    ("name", "point", "why"),
    [
        ("edge-v1-linear", "L3", "version 1"),
        ("edge-v2-hook", "a0000001", "version 2"),
        ("edge-bom", None, "does not open this file"),
        ("edge-truncated-tail", None, "line end"),
        ("edge-no-final-newline", None, "line end"),
    ],
)
def test_a_file_that_pi_would_not_go_on_with_has_no_branch_in_place(
    fork_of: Forking, name: str, point: str | None, why: str
):
    with pytest.raises(UnsupportedError, match=why):
        fork_of(name, point or _first(name), in_place=True)


def _first(name: str) -> str:
    with Debugger.open(str(FIXTURES / "pi" / f"{name}.jsonl")) as debugger:
        return debugger.session.ids[0]


@pytest.mark.parametrize("key", ["usage", "mood"])
def test_what_no_entry_could_say_is_refused(fork_of: Forking, key: str):
    with pytest.raises(UnsupportedError, match=f"no entry that could set {key}"):
        fork_of("linear", _id_in("linear", 2), Put((key,), {"input": 1}))


def test_a_message_without_a_role_is_refused(fork_of: Forking):
    with pytest.raises(UsageError, match="an object with a role"):
        fork_of("linear", _id_in("linear", 2), Append(("messages",), {"content": "hi"}))


def test_the_same_plan_gives_the_same_bytes(fork_of: Forking):
    one, other = (fork_of("branched", "b3fec825") for _ in range(2))
    assert one == other


def test_what_the_user_says_has_the_form_of_pi():
    with Debugger.open(str(FIXTURES / "pi" / "linear.jsonl")) as debugger:
        said = debugger.message(debugger.state(0), "Go on.", TIME)
    assert said == Append(
        ("messages",),
        {
            "role": "user",
            "content": [{"type": "text", "text": "Go on."}],
            "timestamp": 1767225600250,
        },
    )
