"""Snapshots: what is a state, how states hang together, and what a damaged one costs."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, codes, replay_of

from tt_debugger.core.changes import Append, Put
from tt_debugger.core.model import Session, SessionId, iso_time
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import is_session, recognise
from tt_debugger.formats.shared import document as document_module
from tt_debugger.formats.snapshots import Snapshots, folder
from tt_debugger.storage.probe import probe

HERE = FIXTURES / "snapshots"


def state(step: int, **more: Any) -> dict[str, Any]:
    return {"thread_id": "t", "schema_version": 1, "goal": "go", "current_step": step, **more}


def lines(*states: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in states)


@pytest.fixture
def opened() -> Iterator[Callable[..., tuple[Snapshots, Session]]]:
    stores: list[Snapshots] = []

    def open_at(path: Path, session: str | None = None) -> tuple[Snapshots, Session]:
        store = Snapshots.open(str(path))
        stores.append(store)
        wanted = SessionId(session) if session else store.sessions()[-1]
        return store, store.load(wanted).session

    yield open_at
    for store in stores:
        store.close()


def drawn(session: Session) -> list[str]:
    """Give each checkpoint as `id<parent`."""
    return [f"{each.id}<{each.parent or ''}" for each in session]


# --- What is a state -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "score", "reason"),
    [
        ("checkpoint.json", 90, "a checkpoint of work: artifacts, completed_steps"),
        ("states.json", 90, "a checkpoint of work: artifacts, completed_steps"),
        ("branched.jsonl", 90, "a checkpoint of work: artifacts, completed_steps"),
        ("agent-state.jsonl", 90, "an agent's state with a schema version"),
        ("saved", 90, "4 JSON files: an agent's state with a schema version"),
    ],
)
def test_states_are_recognised_with_a_reason(name: str, score: int, reason: str):
    store, match = recognise(probe(str(HERE / name)))

    assert (store.format, match.score) == ("snapshots", score)
    assert match.reason.startswith(reason)


@pytest.mark.parametrize(
    ("name", "data", "score"),
    [
        ("s.json", b'{"plan":["a"],"memory":{}}', 70),
        ("s.json", b'{"plan":["a"],"status":"on","id":"x"}', 70),
        ("s.json", b'{"id":"x","title":"fine"}', 20),
        ("s.json", b'{"lc":2,"args":[]}', 8),
        ("s.json", b'{"a":{"plan":1,"memory":2}}', 8),
        ("s.json", b'{"n":1,"p":{"hist', 8),
        ("s.json", b'[\n {"a":1}\n]', 6),
        ("s.json", b"\0" * 9, 1),
        ("s.jsonl", b'{"plan":["a"],"memory":{}}\n', 70),
        ("s.jsonl", b'{"id":"x","title":"fine"}\n', None),
        ("s.jsonl", b'{"plan":["a"],"memory":{}}\n{"a":1}\n', None),
        ("s.json", b"[1,2]", None),
        ("s.json", b"7", None),
    ],
)
def test_the_vaguer_a_state_the_lower_its_score(
    tmp_path: Path, name: str, data: bytes, score: int | None
):
    (tmp_path / name).write_bytes(data)
    match = Snapshots.sniff(probe(str(tmp_path / name)))

    assert (match and match.score) == score


# --- How states hang together --------------------------------------------------------------------


def test_a_checkpoint_tells_its_task_its_time_and_the_work_done(opened: Any):
    store, session = opened(HERE / "checkpoint.json")
    (head,) = (each.head for each in session)

    assert (session.id, session.title) == ("run-3", "Add a login page")
    assert head.summary == "2 done · 2 to do · Add a login page"
    assert iso_time(head.time) == "2026-03-02T10:12:00.000Z"
    document = json.loads((HERE / "checkpoint.json").read_bytes())
    assert replay_of(store, session).state(0) == document


def test_the_changes_are_what_differs_from_the_state_before(opened: Any):
    store, session = opened(HERE / "states.json")
    steps = json.loads((HERE / "states.json").read_bytes())
    replay = replay_of(store, session)

    assert drawn(session) == ["L2<", "L16<L2", "L38<L16"]
    assert [replay.state(row) for row in range(3)] == steps
    assert [each for each in replay.changes(1) if isinstance(each, Append)] == [
        Append(("completed_steps",), "read the code"),
        Append(("decisions",), steps[1]["decisions"][0]),
        Append(("artifacts",), "src/login.ts"),
    ]


def test_states_with_parents_are_a_tree(opened: Any):
    _, session = opened(HERE / "branched.jsonl")

    assert drawn(session) == ["c0<", "c1<c0", "c2<c1", "c3<c1", "c4<c3"]
    assert session.ids[session.active or 0] == "c4"


def test_an_id_that_all_states_have_is_none_of_their_own(opened: Any, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(state(1, id="agent"), state(2, id="agent"), state(3, id="agent")))

    assert drawn(opened(path)[1]) == ["agent<", "L2<agent", "L3<L2"]


def test_parents_and_order_together_make_no_cycle(opened: Any, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(state(1, id="a", parent_id="b"), state(2, id="b"), state(3, id="c")))

    assert drawn(opened(path)[1]) == ["a<b", "b<", "c<b"]


def test_several_sessions_in_a_file_are_apart_the_newest_last(opened: Any, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        lines(
            state(0, thread_id="b"),
            state(0, thread_id="a"),
            state(1, thread_id="b"),
            {"schema_version": 1, "plan": [], "current_step": 2},
            state(1, thread_id="a"),
        )
    )
    store, session = opened(path)

    assert store.sessions() == ("b", "a")
    assert (session.id, drawn(session)) == ("a", ["L2<", "L5<L2"])
    assert drawn(opened(path, "b")[1]) == ["L1<", "L3<L1", "L4<L3"]


def test_a_session_that_is_followed_stays_the_one_it_is(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(state(0, thread_id="a")))
    store = Snapshots.open(str(path))
    loaded = store.load(store.sessions()[-1])
    with path.open("ab") as file:
        file.write(lines(state(0, thread_id="b"), state(1, thread_id="a")))

    followed = store.follow(loaded.cursor)

    assert (followed.session.id, drawn(followed.session)) == ("a", ["L1<", "L3<L1"])
    path.write_bytes(lines(state(9, thread_id="b")))
    assert store.follow(followed.cursor).session.id == "b"
    store.close()


def test_where_the_schema_changes_a_finding_names_the_fields(opened: Any):
    _, session = opened(HERE / "agent-state.jsonl")

    assert [(each.message, each.checkpoint, each.line) for each in session.findings] == [
        ("schema_version 2 -> 3: added plan; gone long_term_memory", "L3", 3)
    ]


def test_a_schema_is_compared_with_that_of_the_parent(opened: Any, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        lines(
            state(0, id="a", parent_id=None),
            state(1, id="b", parent_id="a", schema_version=2),
            state(1, id="c", parent_id="a"),
            state(2, id="d", parent_id="b", schema_version=2),
        )
    )

    assert [(each.checkpoint, each.message) for each in opened(path)[1].findings] == [
        ("b", "schema_version 1 -> 2: the same fields")
    ]


@pytest.mark.parametrize(
    ("own", "time"),
    [
        ({"written_at": "2026-01-01T00:00:00Z"}, "2026-01-01T00:00:00.000Z"),
        ({"last_checkpoint": 1767225600}, "2026-01-01T00:00:00.000Z"),
        ({"timestamp": 1767225600123}, "2026-01-01T00:00:00.123Z"),
        ({"updated_at": "soon", "created_at": "2026-01-01T00:00:00Z"}, "2026-01-01T00:00:00.000Z"),
        ({"written_at": True}, None),
    ],
)
def test_the_time_is_the_states_own(
    opened: Any, tmp_path: Path, own: dict[str, Any], time: str | None
):
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(state(0, **own)))

    assert iso_time(opened(path)[1].heads.time(0)) == time


def test_a_state_that_says_so_is_a_handoff(opened: Any, tmp_path: Path):
    path = tmp_path / "s.json"
    path.write_text('{"session_id":"s","next_step":"deploy","blockers":["no key"]}')

    (head,) = (each.head for each in opened(path)[1])

    assert (head.kind, head.summary) == ("handoff", "deploy")


# --- Files that are rewritten --------------------------------------------------------------------


def test_a_state_that_is_replaced_is_read_again(tmp_path: Path):
    path, new = tmp_path / "s.json", tmp_path / "s.json.tmp"
    path.write_text(json.dumps(state(1)))
    store = Snapshots.open(str(path))
    loaded = store.load(store.sessions()[-1])
    assert store.follow(loaded.cursor).session is loaded.session

    new.write_text(json.dumps(state(2), indent=1))
    new.replace(path)
    followed = store.follow(loaded.cursor)

    assert [each.head.step for each in followed.session] == [2]
    path.write_text('{"thread_id":"t","curr')
    assert store.follow(followed.cursor).session is followed.session
    store.close()


def test_a_list_that_was_cut_gives_all_states_before_the_cut(opened: Any, tmp_path: Path):
    data = (HERE / "states.json").read_bytes()[:-60]
    path = tmp_path / "s.json"
    path.write_bytes(data)
    _, session = opened(path)

    assert (drawn(session), codes(session.findings)) == (["L2<", "L16<L2"], ["TT102"])
    assert session.extent.size == len(data)
    last = session.heads[1]
    lost = len(data) - data.index(b"{", last.offset + last.length)
    assert session.extent.skipped == lost


def test_a_state_that_was_cut_is_refused(tmp_path: Path):
    path = tmp_path / "s.json"
    path.write_text('{"thread_id":"t","curr')
    store = Snapshots.open(str(path))

    with pytest.raises(CannotReadError, match="ends in the middle of its JSON object"):
        store.load(SessionId("t"))
    store.close()


# --- Folders -------------------------------------------------------------------------------------


def test_the_files_of_a_folder_follow_each_other_by_name(opened: Any):
    store, session = opened(HERE / "saved")

    assert drawn(session) == ["state-1<", "state-2<state-1", "gap@state-3<", "state-10<state-2"]
    assert [each.message for each in session.findings] == [
        "state-3.json: 413 NUL bytes: lost in a crash"
    ]
    assert session.findings[0].checkpoint == "gap@state-3"
    sizes = [path.stat().st_size for path in (HERE / "saved").iterdir()]
    assert (session.extent.size, session.extent.skipped) == (sum(sizes), 413)
    assert (session.heads[0].line, session.heads[0].offset) == (None, None)
    assert store.raw(session, 1) == (HERE / "saved" / "state-2.json").read_bytes()
    assert store.bodies(session, [2, 0])[0] is None


def test_the_files_of_a_folder_follow_each_other_by_time_if_all_have_one(
    opened: Any, tmp_path: Path
):
    for name, time in (("a", 3), ("b", 1), ("d", 2)):
        (tmp_path / f"{name}.json").write_text(json.dumps(state(time, timestamp=time)))
    (tmp_path / "c.json").write_text("")

    assert drawn(opened(tmp_path)[1]) == ["b<", "gap@c<", "d<b", "a<d"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"\0" * 9, "9 NUL bytes: lost in a crash"),
        (b'{"a":', "it ends in the middle of its JSON object, after 5 bytes"),
        (b"[{}]", "it holds a list, not one state"),
        (b"text", "it is neither a JSON object nor a list"),
    ],
)
def test_a_damaged_file_says_what_is_lost_and_hides_no_other(
    opened: Any, tmp_path: Path, content: bytes, why: str
):
    (tmp_path / "1.json").write_text(json.dumps(state(1)))
    (tmp_path / "2.json").write_bytes(content)
    (tmp_path / "3.json").write_text(json.dumps(state(3)))
    _, session = opened(tmp_path)

    assert drawn(session) == ["1<", "gap@2<", "3<1"]
    assert session.heads[1].summary == f"2.json: {why}"
    assert [each.message for each in session.findings] == [f"2.json: {why}"]


def test_what_is_no_file_or_leads_elsewhere_is_passed_by_and_told(opened: Any, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    secret = tmp_path / "outside" / "secret.json"
    secret.write_text(json.dumps(state(9)))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "1.json").write_text(json.dumps(state(1)))
    (inner / "link.json").symlink_to(secret)
    (inner / "loop.json").symlink_to("loop.json")
    (inner / "sub.json").mkdir()
    os.mkfifo(inner / "pipe.json")
    (inner / "notes.txt").write_text("not looked at")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(inner / "socket.json"))
        _, session = opened(inner)

    assert drawn(session) == ["1<"]
    assert [each.message.split(" was passed by")[0] for each in session.findings] == [
        "link.json",
        "loop.json",
        "pipe.json",
        "socket.json",
    ]


def test_of_too_many_files_it_is_told_that_there_are_more(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(folder, "MOST_FILES", 3)
    for step in range(5):
        (tmp_path / f"{step}.json").write_text(json.dumps(state(step)))
    _, session = opened(tmp_path)

    assert len(session) == 3
    assert [each.message for each in session.findings] == [
        "only 3 names of the folder were looked at; there are more"
    ]


def test_a_folder_is_read_again_where_anything_in_it_looks_otherwise(tmp_path: Path):
    (tmp_path / "1.json").write_text(json.dumps(state(1)))
    store = Snapshots.open(str(tmp_path))
    loaded = store.load(store.sessions()[-1])
    assert store.follow(loaded.cursor).session is loaded.session

    (tmp_path / "2.json").write_text(json.dumps(state(2)))

    assert drawn(store.follow(loaded.cursor).session) == ["1<", "2<1"]
    (tmp_path / "1.json").unlink()
    with pytest.raises(CannotReadError):
        store.bodies(loaded.session, [0])


@pytest.mark.parametrize(
    ("names", "content", "is_one"),
    [
        (["1.json", "2.json"], json.dumps(state(1)), True),
        (["1.json", "a.jsonl"], json.dumps(state(1)), False),
        (["package.json"], '{"name":"x","version":"1.0.0","scripts":{}}', False),
        (["a.jsonl"], json.dumps(state(1)), False),
        (["a.txt"], json.dumps(state(1)), False),
        ([], "", False),
    ],
)
def test_a_folder_is_a_session_if_its_files_are_states_and_none_is_a_session(
    tmp_path: Path,
    names: list[str],
    content: str,
    is_one: bool,  # noqa: FBT001 - a column
):
    for name in names:
        (tmp_path / name).write_text(content)

    assert is_session(str(tmp_path)) is is_one


def test_the_first_state_is_put_key_by_key(opened: Any):
    store, session = opened(HERE / "branched.jsonl")

    assert replay_of(store, session).changes(0)[0] == Put(("checkpoint_id",), "c0")


# --- What is asked of a file that has changed ----------------------------------------------------


def test_an_id_that_begins_as_the_name_of_a_line_is_still_an_id(opened: Any, tmp_path: Path):
    one, two = (state(1, checkpoint_id=f"Last-{number}", parent_id=None) for number in (1, 2))
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(one, two))
    store, session = opened(path)
    assert drawn(session) == ["Last-1<", "Last-2<"]
    path.write_bytes(lines(two, one))

    for row in range(2):
        with pytest.raises(CannotReadError, match="the file changed since it was read"):
            store.bodies(session, [row])


def test_another_state_of_the_same_size_in_a_folder_is_no_body(opened: Any, tmp_path: Path):
    path = tmp_path / "1.json"
    path.write_text(json.dumps(state(1)))
    store, session = opened(tmp_path)
    assert store.bodies(session, [0]) == [state(1)]
    path.write_text(json.dumps(state(2)))

    with pytest.raises(CannotReadError, match=r"1\.json changed since it was read"):
        store.bodies(session, [0])


def test_a_file_of_a_folder_that_is_too_large_is_given_up_to_a_bound(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "1.json").write_text(json.dumps(state(1)))
    with (tmp_path / "9.json").open("wb") as file:
        file.truncate(3 << 29)
    store, session = opened(tmp_path)
    monkeypatch.setattr(folder, "LONGEST", 1 << 10)
    assert drawn(session) == ["1<", "gap@9<"]
    assert store.raw(session, 1) == b"\0" * (1 << 10)

    with (tmp_path / "9.json").open("r+b") as file:
        file.truncate(9)
    with pytest.raises(CannotReadError, match=r"9\.json changed since it was read"):
        store.raw(session, 1)


def test_each_file_of_a_folder_is_read_once_and_again_where_it_looks_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for step in range(3):
        (tmp_path / f"{step}.json").write_text(json.dumps(state(step)))
    read: list[str] = []
    decoded: list[int] = []
    document, records = folder.document, document_module.records
    monkeypatch.setattr(
        folder, "document", lambda file: (read.append(Path(file.path).name), document(file))[1]
    )
    monkeypatch.setattr(
        document_module, "records", lambda data: (decoded.append(len(data)), records(data))[1]
    )
    store = Snapshots.open(str(tmp_path))
    loaded = store.load(store.sessions()[-1])
    assert (read, len(decoded)) == (["0.json", "1.json", "2.json"], 3)

    (tmp_path / "1.json").write_text(json.dumps(state(1, more=1)))
    followed = store.follow(loaded.cursor).session

    assert (read[3:], drawn(followed)) == (["1.json"], ["0<", "1<0", "2<1"])
    store.close()
