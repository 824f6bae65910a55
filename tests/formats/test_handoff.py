"""Handoffs: Markdown for the next session, linked to the checkpoint that it names."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, PI_HEADER, codes, jsonl, load, pi, replay_of, user

from tt_debugger.core.model import Kind
from tt_debugger.formats import recognise
from tt_debugger.formats.handoff import Handoff
from tt_debugger.formats.handoff.fields import document_of
from tt_debugger.storage.probe import probe
from tt_debugger.store import Probe

HANDOFF = FIXTURES / "handoff" / "HANDOFF.md"


def claimed(text: str, name: str = "notes.md") -> bool:
    data = text.encode()
    return Handoff.sniff(Probe(f"/home/dev/{name}", name, data, len(data))) is not None


def handoff(folder: Path, checkpoint: str, written: str | None = None) -> Path:
    path = folder / "HANDOFF.md"
    when = f"written_at: {written}\n" if written else ""
    path.write_text(
        f"---\ncheckpoint_path: {checkpoint}\n{when}---\n# Handoff\n## Next step\nGo on.\n"
    )
    return path


def session_file(folder: Path, *times: str) -> Path:
    path = folder / "session.jsonl"
    entries = [
        pi(f"{n:04d}", f"{n - 1:04d}" if n else None, user("hi"), timestamp=time)
        for n, time in enumerate(times)
    ]
    path.write_bytes(jsonl(PI_HEADER, *entries))
    return path


def test_a_handoff_is_one_checkpoint_whose_state_is_its_fields():
    store, loaded = load(HANDOFF, "handoff")
    session = loaded.session

    state = replay_of(store, session).state(0)

    assert [(each.id, each.head.kind, each.head.summary) for each in session] == [
        (
            "L1",
            Kind.HANDOFF,
            "Run the migration of the queue on the copy, and compare the counts.",
        )
    ]
    assert state == {
        "title": "Handoff: the printer queue",
        "task": "Jobs must not be printed twice after a power cut.",
        "next_step": "Run the migration of the queue on the copy, and compare the counts.",
        "checkpoint_path": "checkpoint.state",
        "session_id": "0192f1c4-printer",
        "written_at": "2026-05-04T16:30:00Z",
        "blockers": ["Waiting for the password of the staging database (asked Mira on Monday)."],
        "decisions": [
            "A job is marked before it is sent, not after: a lost page is cheaper than two.",
            "The queue stays in SQLite.",
        ],
        "completed_steps": [
            "Reproduced the double print with `kill -9`",
            "Wrote the journal of jobs",
        ],
        "pending_steps": ["Migrate old jobs"],
        "artifacts": ["`queue/journal.py`", "`tests/test_power_cut.py`"],
        "text": HANDOFF.read_text(),
    }
    assert (session.title, session.findings) == ("Handoff: the printer queue", ())
    assert store.raw(session, 0) == HANDOFF.read_bytes()
    store.close()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Next step: mend it", {"next_step": "mend it"}),
        ("**Next step:** mend `it`", {"next_step": "mend `it`"}),
        ("- next_step: mend it", {"next_step": "mend it"}),
        ("Next step\n---------\n\nMend it,\nthen test.", {"next_step": "Mend it,\nthen test."}),
        ("## NEXT STEPS\n1. mend it\n2. test it", {"next_step": "mend it"}),
        ("checkpoint_path: `a/b.json`", {"checkpoint_path": "a/b.json"}),
        ("## Checkpoint\n\n[here](<a b.json>)", {"checkpoint_path": "a b.json"}),
        ("## Blockers\n\nNone.", {}),
        ("## Blockers\n- a\n  - b\n", {"blockers": ["a", "b"]}),
        ("## Blocked by\n\n    a\n", {"blockers": ["a"]}),
        ("## Done\n- [x] a\n- [ ] b", {"completed_steps": ["a"], "pending_steps": ["b"]}),
        ("## Decisions\n### About files\n- keep", {"decisions": ["keep"]}),
        ("## Decisions\n- Session: one a day", {"decisions": ["Session: one a day"]}),
        ("## Decisions\n- a\n## Other\n- b", {"decisions": ["a"]}),
        ("Artifacts: a.py, b.py", {"artifacts": ["a.py", "b.py"]}),
        ("```\nNext step: code\n```", {}),
        (
            "---\nartifacts: [a, 'b']\nblockers:\n  - c\n---\n",
            {"artifacts": ["a", "b"], "blockers": ["c"]},
        ),
    ],
)
def test_fields_are_found_in_headings_lines_and_front_matter(text: str, found: dict[str, Any]):
    document = document_of(text)

    said = {
        key: value for key, value in document.items() if value and key not in {"text", "title"}
    }
    assert said == found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("checkpoint_path: a.json\nnext_step: go on\n", "notes.md"),
        ("# Handoff\n## Next step\ngo\n## Decisions\n- a\n", "notes.md"),
        ("## Next step\ngo\n## Completed\n- a\n", "session-state.md"),
        ("# Notes\n## Next step\ngo\n## Blockers\nnone\n## Decisions\n- a\n", "notes.md"),
        ("# Hand-off\n- Checkpoint: a.json\n- Next step: go\n", "x.markdown"),
    ],
)
def test_markdown_with_the_fields_of_a_handoff_is_one(text: str, name: str):
    assert claimed(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# A project\n## Next steps\n- more tests\n## Done\n- much\n", "ROADMAP.md"),
        ("# Model\nCheckpoint: model.ckpt\n## Next steps\nTrain on.\n", "MODEL.md"),
        ("# Handoff\n## Next step\ngo\n## Decisions\n- a\n", "README.md"),
        ("# Handoff\nWhat a handoff is, and why.\n", "handoff.md"),
        ("# Guide\n```\nnext_step: go\nblockers: a\ncheckpoint_path: b\n```\n", "guide.md"),
        ("next_step: go\nblockers: a\ncheckpoint_path: b\n", "notes.txt"),
        ("", "HANDOFF.md"),
        ("\n\n", "HANDOFF.md"),
    ],
)
def test_other_markdown_is_left_alone(text: str, name: str):
    assert not claimed(text, name)


def test_the_documents_of_this_project_are_no_handoffs():
    root = Path(__file__).parent.parent.parent

    documents = [*root.glob("*.md"), *root.glob("*/README.md")]

    assert root / "README.md" in documents
    assert [each for each in documents if Handoff.sniff(probe(str(each)))] == []


def test_of_a_long_handoff_the_text_is_kept_and_the_beginning_searched(tmp_path: Path):
    path = tmp_path / "HANDOFF.md"
    path.write_text("# Handoff\nNext step: go on\n\n" + "- more\n" * 20_000 + "\nTask: too late\n")
    store, loaded = load(path, "handoff")

    state = replay_of(store, loaded.session).state(0)

    assert (state["next_step"], state["task"]) == ("go on", None)
    assert state["text"].endswith("Task: too late\n")
    assert [(each.code, each.severity) for each in loaded.session.findings] == [("TT401", "note")]
    store.close()


def test_bytes_that_are_no_text_are_told(tmp_path: Path):
    path = tmp_path / "HANDOFF.md"
    path.write_bytes(b"\xef\xbb\xbf# Handoff\nNext step: caf\xe9\n")
    store, loaded = load(path, "handoff")

    assert replay_of(store, loaded.session).state(0)["next_step"] == "caf\ufffd"
    assert codes(loaded.session.findings) == ["TT105"]
    store.close()


def test_a_replacement_character_that_was_written_down_is_text(tmp_path: Path):
    path = tmp_path / "HANDOFF.md"
    path.write_bytes("\ufeff# Handoff\nNext step: caf\ufffd\n".encode())
    store, loaded = load(path, "handoff")

    assert replay_of(store, loaded.session).state(0)["next_step"] == "caf\ufffd"
    assert codes(loaded.session.findings) == []
    store.close()


def test_a_handoff_is_linked_to_the_checkpoint_that_it_names(tmp_path: Path):
    session_file(tmp_path, "2026-05-04T16:00:00Z")
    store, loaded = load(handoff(tmp_path, "session.jsonl#0000"), "handoff")
    assert isinstance(store, Handoff)

    assert loaded.session.subsessions == {0: ("session.jsonl#0000",)}
    assert store.subsession(loaded.session, "session.jsonl#0000") == (
        f"{tmp_path / 'session.jsonl'}#0000"
    )
    store.close()


@pytest.mark.parametrize(
    ("checkpoint", "place"),
    [
        ("session.jsonl", "session.jsonl"),
        ("session.jsonl#@~1", "session.jsonl#@~1"),
        ("./session.jsonl", "session.jsonl"),
        ("gone.jsonl", None),
        ("https://example.org/session.jsonl", None),
        ("//server/share/session.jsonl", None),
        ("\\\\server\\share\\session.jsonl", None),
        ("", None),
        ("\0", None),
    ],
)
def test_only_what_is_there_can_be_opened(tmp_path: Path, checkpoint: str, place: str | None):
    session_file(tmp_path, "2026-05-04T16:00:00Z")
    store, loaded = load(handoff(tmp_path, "session.jsonl"), "handoff")
    assert isinstance(store, Handoff)

    found = store.subsession(loaded.session, checkpoint)

    assert found == (None if place is None else str(tmp_path / place))
    store.close()


def test_a_checkpoint_that_is_not_there_is_told(tmp_path: Path):
    store, loaded = load(handoff(tmp_path, "gone.json"), "handoff")

    (told,) = loaded.session.findings
    assert told.message == "the handoff names the checkpoint 'gone.json', which is not there"
    assert (told.severity, told.checkpoint) == ("warning", "L1")
    store.close()


@pytest.mark.parametrize("checkpoint", ["https://example.org/a.json", "3f9c2ab41d", "//s/a"])
def test_what_is_no_file_of_this_machine_is_not_looked_for(tmp_path: Path, checkpoint: str):
    store, loaded = load(handoff(tmp_path, checkpoint), "handoff")

    assert loaded.session.findings == ()
    store.close()


@pytest.mark.parametrize(
    ("written", "newest", "is_stale"),
    [
        ("2026-05-04T16:00:00Z", "2026-05-04T15:59:00Z", False),
        ("2026-05-04T16:00:00Z", "2026-05-04T16:00:30Z", False),
        ("2026-05-04T16:00:00Z", "2026-05-04T16:02:00Z", True),
        ("2026-05-04T18:00:00+02:00", "2026-05-04T16:02:00Z", True),
        ("2026-05-04", "2026-05-04T23:00:00Z", False),
        ("2026-05-04", "2026-05-05T00:00:30Z", False),
        ("2026-05-04", "2026-05-05T02:00:00Z", True),
    ],
)
def test_a_handoff_older_than_its_session_is_stale(
    tmp_path: Path,
    written: str,
    newest: str,
    is_stale: bool,  # noqa: FBT001 - a column of the table
):
    session_file(tmp_path, "2026-05-04T10:00:00Z", newest)

    store, loaded = load(handoff(tmp_path, "session.jsonl", written), "handoff")

    assert [each.message.partition(":")[0] for each in loaded.session.findings] == (
        ["the handoff is stale"] if is_stale else []
    )
    store.close()


@pytest.mark.parametrize(("later", "told"), [(-3600, []), (3600, ["TT413"])])
def test_without_times_the_files_tell_which_is_older(tmp_path: Path, later: int, told: list[str]):
    (tmp_path / "state.json").write_text(json.dumps({"step": 1, "messages": []}))
    path = handoff(tmp_path, "state.json")
    os.utime(path, (1_780_000_000, 1_780_000_000))
    os.utime(tmp_path / "state.json", (1_780_000_000 + later, 1_780_000_000 + later))

    store, loaded = load(path, "handoff")

    assert codes(loaded.session.findings) == told
    store.close()


def test_a_handoff_becomes_stale_while_it_is_followed(tmp_path: Path):
    session = session_file(tmp_path, "2026-05-04T16:00:00Z")
    store, loaded = load(handoff(tmp_path, "session.jsonl", "2026-05-04T16:00:10Z"), "handoff")
    assert isinstance(store, Handoff)
    entry = pi("0001", "0000", user("more"), timestamp="2026-05-04T17:00:00Z")
    with session.open("ab") as file:
        file.write(jsonl(entry))

    followed = store.follow(loaded.cursor)

    assert codes(loaded.session.findings) == []
    assert codes(followed.session.findings) == ["TT413"]
    assert store.follow(followed.cursor).session is followed.session
    store.close()


def test_handoffs_that_name_each_other_come_to_an_end(tmp_path: Path):
    one = handoff(tmp_path, "other.md")
    two = tmp_path / "other.md"
    two.write_text(one.read_text().replace("other.md", "HANDOFF.md"))

    store, loaded = load(one, "handoff")

    assert codes(loaded.session.findings) == []
    store.close()


@pytest.mark.parametrize(
    ("checkpoint", "why"),
    [
        ("accounts", "is no session"),
        ("accounts#root", "is no session"),
        ("empty", "is no session"),
        ("folder", "is no session"),
        ("other.sqlite", "is no session"),
        ("HANDOFF.md", "is the handoff itself"),
        ("./HANDOFF.md#L1", "is the handoff itself"),
        ("link.md", "is the handoff itself"),
    ],
)
def test_what_is_no_other_session_is_neither_linked_nor_judged(
    tmp_path: Path, checkpoint: str, why: str
):
    (tmp_path / "accounts").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("CREATE TABLE song (name)")
    connection.close()
    (tmp_path / "link.md").symlink_to("HANDOFF.md")
    store, loaded = load(handoff(tmp_path, checkpoint, "2001-01-01"), "handoff")
    assert isinstance(store, Handoff)

    assert [each.message for each in loaded.session.findings] == [
        f"the handoff names the checkpoint {checkpoint!r}, which {why}"
    ]
    assert codes(loaded.session.findings) == ["TT414"]
    assert loaded.session.subsessions == {}
    assert store.subsession(loaded.session, checkpoint) is None
    store.close()


def test_what_becomes_a_session_is_linked_then(tmp_path: Path):
    (tmp_path / "session.jsonl").write_text("soon\n")
    store, loaded = load(handoff(tmp_path, "session.jsonl", "2026-05-05"), "handoff")
    assert isinstance(store, Handoff)
    session_file(tmp_path, "2026-05-04T16:00:00Z")

    followed = store.follow(loaded.cursor).session

    assert codes(loaded.session.findings) == ["TT414"]
    assert (followed.findings, followed.subsessions) == ((), {0: ("session.jsonl",)})
    store.close()


def test_a_pipe_in_the_place_of_a_checkpoint_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")

    store, loaded = load(handoff(tmp_path, "pipe"), "handoff")

    assert codes(loaded.session.findings) == ["TT414"]
    store.close()


def test_a_handoff_is_recognised_as_one():
    assert recognise(probe(str(HANDOFF)))[0] is Handoff
