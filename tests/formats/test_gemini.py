"""Gemini CLI: logs in which messages are written again and dropped, and old documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from builders import FIXTURES, codes, jsonl, load, replay_of

from tt_debugger.core.model import Kind, Session, Usage
from tt_debugger.formats import recognise
from tt_debugger.formats.gemini import Gemini
from tt_debugger.formats.gemini.reading import GeminiReading
from tt_debugger.formats.shared.reading import Place
from tt_debugger.store import Follows, Probe, Store, Tails

FOLDER = FIXTURES / "gemini"
METADATA = {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00.000Z"}


def message(name: str, kind: str = "user", text: str = "", **more: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, "content": text or name, **more}


def opened(folder: Path, *records: dict[str, Any]) -> tuple[Store, Session]:
    path = folder / "session.jsonl"
    path.write_bytes(jsonl(METADATA, *records))
    store, loaded = load(path, "gemini")
    return store, loaded.session


def contents(store: Store, session: Session, row: int, *, uncompacted: bool = False) -> list[Any]:
    state = replay_of(store, session, uncompacted=uncompacted).state(row)
    return [each["content"] for each in state["messages"]]


def parents(session: Session) -> dict[str, str | None]:
    return {each.id: each.parent for each in session}


def test_a_rewind_hangs_before_what_it_drops_which_stays_as_a_branch():
    store, loaded = load(FOLDER / "rewound.jsonl", "gemini")
    session = loaded.session

    assert parents(session)["m4"] == parents(session)["L9"] == "m3"
    assert parents(session)["m6"] == "L9"
    assert contents(store, session, 6) == contents(store, session, 3)
    assert contents(store, session, session.rows["m8"])[-2:] == ["Make it sleep less.", "Done."]
    assert contents(store, session, session.rows["m5"])[-2:] == [
        "Rewrite it in C.",
        "That is a lot of work.",
    ]
    store.close()


def test_a_message_that_is_written_again_takes_its_own_place_and_is_counted_once():
    store, loaded = load(FOLDER / "rewound.jsonl", "gemini")
    session = loaded.session
    first, again = session.rows["m2@4"], session.rows["m2"]
    replay = replay_of(store, session)

    assert [len(replay.state(row)["messages"]) for row in (first, again)] == [2, 3]
    assert replay.state(again)["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look: the file first"},
                {"type": "text", "text": "I read it."},
                {
                    "type": "tool_use",
                    "id": "read-1",
                    "name": "read_file",
                    "input": {"path": "clock.py"},
                },
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "read-1",
            "name": "read_file",
            "content": [{"type": "text", "text": "import time"}],
        },
    ]
    usages = [session.heads[row].usage for row in (first, again)]
    assert usages == [Usage(500, 42, 400, 0, 942), None]
    assert [session.heads.kind(row) for row in (first, again)] == [
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
    ]
    assert codes(session.findings) == []
    store.close()


def test_messages_behind_one_that_grew_keep_their_places(tmp_path: Path):
    call = {"id": "c", "name": "ls", "args": {}}
    store, session = opened(
        tmp_path,
        message("a", "gemini", "A", toolCalls=[call]),
        message("b"),
        message("a", "gemini", "A2", toolCalls=[{**call, "result": ["x"], "status": "error"}]),
        message("b", text="B2"),
    )

    roles = [each["role"] for each in replay_of(store, session).state(3)["messages"]]
    assert roles == ["assistant", "tool", "user"]
    assert contents(store, session, 3)[-1] == "B2"
    assert replay_of(store, session).state(3)["messages"][1]["is_error"] is True
    store.close()


def test_set_messages_take_the_place_of_all_and_nothing_is_lost_uncompacted(tmp_path: Path):
    listed = [message("s", text="summary"), message("b")]
    store, session = opened(
        tmp_path, message("a"), message("b"), {"$set": {"messages": listed}}, message("c")
    )

    assert contents(store, session, 2) == ["summary", "b"]
    assert contents(store, session, 3) == ["summary", "b", "c"]
    whole = contents(store, session, 3, uncompacted=True)
    assert {"a", "b", "summary", "c"} == set(whole)
    assert session.heads.kind(2) is Kind.COMPACTION
    store.close()


def test_a_rewind_into_set_messages_leaves_those_before_its_target(tmp_path: Path):
    listed = [message("s"), message("t"), message("u")]
    store, session = opened(
        tmp_path,
        message("a"),
        {"$set": {"messages": listed}},
        message("b"),
        {"$rewindTo": "t"},
        message("c"),
    )

    assert contents(store, session, 4) == ["s", "c"]
    assert parents(session) == {"a": None, "L3": "a", "b": "L3", "L5": "L3", "c": "L5"}
    store.close()


def test_a_rewind_to_what_is_not_there_clears_all(tmp_path: Path):
    store, session = opened(tmp_path, message("a"), {"$rewindTo": "gone"}, message("b"))

    assert contents(store, session, 2) == ["b"]
    assert parents(session) == {"a": None, "L3": None, "b": "L3"}
    store.close()


def test_of_messages_with_one_id_the_first_is_gone_back_to(tmp_path: Path):
    twice = [message("u1", text="a"), message("u2", text="b"), message("u1", text="c")]
    store, session = opened(
        tmp_path, {"$set": {"messages": twice}}, {"$rewindTo": "u2"}, {"$rewindTo": "u1"}
    )

    assert [contents(store, session, row) for row in range(3)] == [["a", "b", "c"], ["a"], []]
    store.close()


class Compared(str):
    """A name that counts how often any of its kind is compared."""

    __slots__ = ()
    comparisons: ClassVar[int] = 0

    def __eq__(self, other: object) -> bool:
        Compared.comparisons += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __str__(self) -> str:
        return self


def test_a_message_is_found_without_comparing_it_with_all_others(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(Compared, "comparisons", 0)
    reading = GeminiReading("session.jsonl")
    names = [f"u{n}" for n in range(300)]
    records = [message(Compared(each)) for each in names]
    records += [{"$rewindTo": Compared(each)} for each in reversed(names)]

    for line, record in enumerate(records, 1):
        reading.take(record, Place(line, 1, line, 1))

    assert (len(reading.heads), reading.context) == (600, [])
    assert 300 <= Compared.comparisons <= 2 * 600


def test_a_rewind_at_the_end_is_the_active_leaf(tmp_path: Path):
    store, session = opened(tmp_path, message("a"), message("b"), {"$rewindTo": "b"})

    assert session.active == 2
    assert contents(store, session, 2) == ["a"]
    store.close()


def test_what_the_model_does_not_see_is_no_message_and_metadata_stand_beside(tmp_path: Path):
    store, session = opened(
        tmp_path,
        message("a"),
        message("i", "info", "cancelled"),
        message("e", "error", "quota"),
        {"$set": {"lastUpdated": "2026-01-01T00:00:01.000Z"}},
        {"$set": {"summary": "A title", "directories": ["/work"]}},
    )
    state = replay_of(store, session).state(3)

    assert contents(store, session, 3) == ["a"]
    assert [each.head.failed for each in session] == [False, False, True, False]
    assert [(each.row, each.name) for each in session.asides] == [(-1, "metadata"), (2, "$set")]
    assert (state["title"], session.title, session.cwd) == ("A title", "A title", "/work")
    store.close()


def test_an_old_document_is_read_message_by_message_though_it_is_cut():
    store, loaded = load(FOLDER / "session-2025-10-01T10-00-0c1d2e3f.json", "gemini")
    cut, torn = load(FOLDER / "session-2025-10-01T11-00-cut.json", "gemini")

    assert list(loaded.session.ids) == ["m1", "m2", "m3", "e1"]
    assert loaded.session.id == "0c1d2e3f-aaaa-4bbb-8ccc-000000000001"
    assert (loaded.session.title, loaded.session.cwd) == ("A late clock", "/work/clock")
    assert (list(torn.session.ids), codes(torn.session.findings)) == (["m1"], ["TT102"])
    store.close()
    cut.close()


def test_a_log_that_grows_is_followed_from_where_it_was_read(tmp_path: Path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(METADATA, message("a"), message("b")))
    store, loaded = load(path, "gemini")
    with path.open("ab") as file:
        file.write(jsonl({"$rewindTo": "b"}, message("a", text="again")))

    assert isinstance(store, Follows)
    grown = store.follow(loaded.cursor).session

    assert parents(grown) == {"a@2": None, "b": "a@2", "L4": "a@2", "a": "L4"}
    assert list(loaded.session.ids) == ["a", "b"]
    assert isinstance(store, Tails)
    assert store.tail() is None
    store.close()


@pytest.mark.parametrize(
    "records",
    [
        [METADATA],
        [{"$rewindTo": "a"}],
        [{"$set": {"lastUpdated": "now"}}],
        [message("a", "gemini")],
    ],
)
def test_a_log_is_known_by_its_records(records: list[dict[str, Any]]):
    data = jsonl(*records)

    assert recognise(Probe("s.jsonl", "s.jsonl", data, len(data)))[0] is Gemini


def test_its_place_is_the_folder_of_projects():
    home = Path("/home/dev")

    assert Gemini.places({}, home) == (home / ".gemini" / "tmp",)
    assert Gemini.places({"GEMINI_CLI_HOME": "/g"}, home) == (Path("/g/.gemini/tmp"),)
