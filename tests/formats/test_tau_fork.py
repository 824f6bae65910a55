"""Forks of Tau: what is written, to the byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES
from forks_of_files import TIME, assert_lawful, files_of, plan_of, written

from tt_debugger.core.changes import Append, Change, Drop, Put
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import How, IndexLine, MoreLines, NewFile
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.tau.index import project_folder

Forking = Callable[..., Draft]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a folder that Tau would take for that of a project."""
    folder = tmp_path / "sessions" / "srv-demo-926574"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def fork_of(project: Path) -> Forking:
    """Draft a fork of a copy of a fixture at an id or a row, by edits of its state."""

    def draft(name: str, point: str | int, *edits: Change, **more: Any) -> Draft:
        path = Path(shutil.copy(FIXTURES / "tau" / f"{name}.jsonl", project))
        with Debugger.open(str(path)) as debugger:
            row = point if isinstance(point, int) else debugger.session.row_of(point)
            assert row is not None
            return debugger.draft(plan_of(debugger, row, edits, **more))

    return draft


def records_of(draft: Draft) -> list[Any]:
    write = draft.writes[0]
    assert isinstance(write, NewFile | MoreLines)
    assert all(each.data.endswith(b"\n") for each in write.records)
    return [json.loads(each.data) for each in write.records]


def entries_in(name: str) -> list[Any]:
    lines = (FIXTURES / "tau" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@pytest.mark.parametrize("path", files_of("tau"), ids=lambda path: path.stem)
def test_forks_everywhere_are_lawful(path: Path, tmp_path: Path):
    made = assert_lawful(path, tmp_path)
    assert made["new"]


def test_a_fork_is_the_lines_of_the_path_as_they_are_a_marker_and_a_line_of_the_index(
    fork_of: Forking, project: Path
):
    draft = fork_of("real-codingsession", 5, note="what if")

    file, index = draft.writes
    assert isinstance(file, NewFile)
    assert isinstance(index, IndexLine)
    lines = (project / "real-codingsession.jsonl").read_bytes().splitlines(keepends=True)
    assert [each.data for each in file.records[:-1]] == lines[:6]
    *kept, marker = records_of(draft)
    assert marker == {
        "id": draft.point,
        "parent_id": kept[-1]["id"],
        "timestamp": TIME,
        "type": "custom",
        "namespace": "ttdbg.fork",
        "data": {
            "origin": marker["data"]["origin"],
            "session": "real-codingsession",
            "checkpoint": kept[-1]["id"],
            "note": "what if",
        },
    }
    assert [each.how for each in file.records] == [*[How.KEPT] * 6, How.ADDED]
    assert (len(draft.session), len(draft.point)) == (32, 32)
    assert draft.location == str(project / f"{draft.session}.jsonl")
    assert index.path == str(project / "index.jsonl")
    assert json.loads(index.record.data) == {
        "id": draft.session,
        "path": draft.location,
        "cwd": "/home/dev/tauhome/srv/demo",
        "model": "fake-model",
        "provider_name": "openai",
        "inference_provider": None,
        "inference_provider_mode": "automatic",
        "title": None,
        "created_at": TIME,
        "updated_at": TIME,
    }
    assert draft.resume_command == (
        f"cd /home/dev/tauhome/srv/demo && tau --session {draft.session}"
    )
    assert draft.notes == ()


def test_elsewhere_than_in_a_project_a_note_says_where_the_line_of_the_index_belongs(
    fork_of: Forking, tmp_path: Path
):
    target = tmp_path / "aside"
    target.mkdir()

    draft = fork_of("real-codingsession", 6, target=str(target))
    (file,) = draft.writes
    assert isinstance(file, NewFile)
    assert file.path == str(target / f"{draft.session}.jsonl")
    (note,) = draft.notes
    assert note.startswith("Tau finds a session by its index alone, so add to ~/.tau/sessions/")
    assert f'the line {{"id":"{draft.session}","path":"{file.path}"' in note


def test_without_a_model_or_a_cwd_there_is_no_line_for_the_index(fork_of: Forking):
    draft = fork_of("edge-legacy-tool", 1)
    assert len(draft.writes) == 1
    assert "Tau resumes only what its index names, which needs a model and a cwd" in draft.notes


def test_an_edited_message_has_a_new_id_and_is_in_the_shape_of_tau(fork_of: Forking):
    entries = entries_in("real-codingsession")
    edit = Put(("messages", 0, "content"), "what is in b.txt?")

    *_, changed, below, marker = records_of(fork_of("real-codingsession", 4, edit))
    own = entries[3]
    assert changed == {
        **own,
        "id": changed["id"],
        "message": {**own["message"], "content": "what is in b.txt?"},
    }
    assert changed["id"] not in {each["id"] for each in entries}
    assert below == {**entries[4], "parent_id": changed["id"]}
    assert marker["parent_id"] == below["id"]


def test_an_old_shape_stays_as_it_is_unless_it_is_edited(fork_of: Forking):
    entries = entries_in("edge-legacy-tool")
    plain = records_of(fork_of("edge-legacy-tool", len(entries) - 1))
    assert plain[:-1] == entries

    edit = Put(("messages", 3, "content", 0, "text"), "no boom")
    changed = records_of(fork_of("edge-legacy-tool", len(entries) - 1, edit))[3]
    assert changed["message"] == {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "bash",
        "content": [{"type": "text", "text": "no boom"}],
        "isError": True,
        "timestamp": 4,
    }


def test_an_edited_summary_is_told_without_what_tau_puts_around_it(fork_of: Forking):
    entries = entries_in("compacted")
    row = next(row for row, each in enumerate(entries) if each["type"] == "compaction")
    edit = Put(("messages", 0, "content"), "Previous conversation summary:\nShorter.")

    records = records_of(fork_of("compacted", row, edit))
    (compaction,) = (each for each in records if each["type"] == "compaction")
    own = entries[row]
    assert compaction == {**own, "id": compaction["id"], "summary": "Shorter."}

    with pytest.raises(UnsupportedError, match="cannot say that"):
        fork_of("compacted", row, Put(("messages", 0, "content"), "Shorter."))


def test_the_summary_of_a_compaction_is_not_taken_away(fork_of: Forking):
    entries = entries_in("compacted")
    row = next(row for row, each in enumerate(entries) if each["type"] == "compaction")
    with pytest.raises(UnsupportedError, match="cannot be taken away"):
        fork_of("compacted", row, Drop(("messages", 0)))


def test_a_compaction_keeps_from_the_next_entry_where_its_first_one_is_left_out(
    fork_of: Forking,
):
    entries = entries_in("compacted")
    row = next(row for row, each in enumerate(entries) if "first_kept_entry_id" in each)
    first = entries[row]["first_kept_entry_id"]

    records = records_of(fork_of("compacted", row, Drop(("messages", 1))))
    ids = [each["id"] for each in records]
    (compaction,) = (each for each in records if "first_kept_entry_id" in each)
    assert first not in ids
    assert compaction["first_kept_entry_id"] in ids


def test_what_is_set_is_set_by_entries_without_nulls(fork_of: Forking):
    draft = fork_of(
        "real-codingsession",
        3,
        Put(("model",), "another"),
        Put(("thinking_level",), None),
        Put(("title",), "Tried again"),
    )

    model, level, info, _ = records_of(draft)[-4:]
    assert {key: model[key] for key in ("type", "model")} == {
        "type": "model_change",
        "model": "another",
    }
    assert "provider" not in model
    assert level["type"] == "thinking_level_change"
    assert "thinking_level" not in level
    assert (info["title"], info["cwd"]) == ("Tried again", "/home/dev/tauhome/srv/demo")
    assert info["created_at"] == entries_in("real-codingsession")[0]["created_at"]


def test_an_entry_of_a_type_that_tau_does_not_know_is_left_out(fork_of: Forking):
    draft = fork_of("edge-unknown-type", 2)
    assert "future" not in {each["type"] for each in records_of(draft)}
    assert draft.notes[0].startswith("line 3 is left out, as Tau refuses it: ")


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"role": "user", "content": "hi", "mood": "good"}, "'mood' of the message"),
        ({"role": "assistant", "content": "hi"}, "'content' of the message"),
        ({"role": "narrator", "content": "hi"}, "the message role 'narrator'"),
        ({"role": "assistant", "content": [], "usage": {"cacheWrite1h": 1}}, "'usage'"),
        ({"content": "hi"}, "an object with a role"),
    ],
)
def test_a_message_that_tau_would_refuse_is_not_written(
    fork_of: Forking, message: dict[str, Any], why: str
):
    with pytest.raises(UsageError, match=why):
        fork_of("real-codingsession", 4, Append(("messages",), message))


def test_a_custom_message_is_an_entry_of_its_own(fork_of: Forking):
    message = {"role": "custom", "customType": "note", "content": "hi", "timestamp": 1500}
    entry = records_of(fork_of("real-codingsession", 4, Append(("messages",), message)))[-2]
    assert {key: entry[key] for key in ("type", "custom_type", "content", "timestamp")} == {
        "type": "custom_message",
        "custom_type": "note",
        "content": "hi",
        "timestamp": 1.5,
    }


def test_a_branch_in_place_is_one_line_more_under_the_lock_of_tau(fork_of: Forking, project: Path):
    draft = fork_of("real-codingsession", 4, in_place=True)

    (write,) = draft.writes
    assert isinstance(write, MoreLines)
    assert write.lock == str(project / ".real-codingsession.jsonl.lock")
    (marker,) = records_of(draft)
    assert marker["parent_id"] == entries_in("real-codingsession")[4]["id"]
    assert draft.resume_command.endswith("tau --session real-codingsession")
    before = (project / "real-codingsession.jsonl").read_bytes()
    assert written(draft, project, "grown.jsonl").read_bytes().startswith(before)


def test_a_branch_in_place_has_no_other_place(fork_of: Forking):
    with pytest.raises(UsageError, match="has no other place to be written to"):
        fork_of("real-codingsession", 4, in_place=True, target="other.jsonl")


def test_an_edit_in_place_is_a_sibling_with_copies_of_what_followed(fork_of: Forking):
    entries = entries_in("real-codingsession")
    edit = Put(("messages", 0, "content"), "what is in b.txt?")

    changed, copy, marker = records_of(fork_of("real-codingsession", 4, edit, in_place=True))
    assert changed["parent_id"] == entries[2]["id"]
    assert copy == {**entries[4], "id": copy["id"], "parent_id": changed["id"]}
    assert copy["id"] != entries[4]["id"]
    assert marker["parent_id"] == copy["id"]


@pytest.mark.parametrize(
    "name", ["edge-bom", "edge-unknown-field", "edge-truncated-tail", "edge-no-final-newline"]
)
def test_a_file_that_tau_would_not_go_on_with_has_no_branch_in_place(fork_of: Forking, name: str):
    with pytest.raises(UnsupportedError, match=r"does not open this file|line end"):
        fork_of(name, 0, in_place=True)


def test_projects_have_the_folders_that_tau_gives_them():
    names = [
        project_folder("/root/tauhome/work/demo", "/root/tauhome"),
        project_folder("/srv/demo", "/root"),
        project_folder("/", "/root"),
        project_folder("/" + "/".join(["a-long-name"] * 12), "/root"),
    ]
    digests = [each[-7:] for each in names]
    assert [each[:-7] for each in names] == [
        "home-work-demo",
        "srv-demo",
        "project",
        "-".join(["a-long-name"] * 6),
    ]
    assert all(digest.startswith("-") for digest in digests)


def test_what_the_user_says_has_the_form_of_tau():
    with Debugger.open(str(FIXTURES / "tau" / "linear.jsonl")) as debugger:
        said = debugger.message(debugger.state(0), "Go on.", TIME)
    message = {"role": "user", "content": "Go on.", "timestamp": 1767225600250}
    assert said == Append(("messages",), message)
