"""Recordings as JSONL: what is shown equals what the recorder restores, and nothing raises."""

from __future__ import annotations

import fcntl
import json
import random
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import FIXTURES, facts, jsonl, load, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import bent_files, damaged_files, fixture_lines

from tt_debugger import Recorder
from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, fold
from tt_debugger.core.findings import Code
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import MoreLines, NewFile
from tt_debugger.core.json import as_list
from tt_debugger.core.model import Session
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    Changed,
    Compacted,
    EffectNoted,
    Entry,
    Header,
    Labelled,
    Said,
    Snapshotted,
    decoded,
    encoded,
    encoded_header,
)
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotWriteError, UnsupportedError, UsageError
from tt_debugger.formats.recording.reading import RecordingReading
from tt_debugger.formats.shared.recording import RecordingRules, entry_head
from tt_debugger.storage import locking
from tt_debugger.storage.file_writing import write_file

FOLDER = FIXTURES / "recording"
T = "2026-03-01T09:00:00.000Z"
HEADER = encoded_header(Header("s", T))
START = Snapshotted("a", None, T, state={"messages": [], "plan": []}, why="start")


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def lines_of(*parts: Entry | bytes) -> bytes:
    """Give a file of a header and some entries; bytes stand as they are."""
    return jsonl(HEADER, *(each if isinstance(each, bytes) else encoded(each) for each in parts))


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Read some bytes as a recording."""
    stores: list[Any] = []

    def read_bytes(data: bytes) -> Session:
        path = tmp_path / "run.jsonl"
        path.write_bytes(data)
        store, loaded = load(path, "recording")
        stores.append(store)
        return loaded.session

    yield read_bytes
    for store in stores:
        store.close()


def told(session: Session) -> list[str]:
    """Give the findings of a session in short."""
    return [f"{each.code}:{each.line} {each.severity}" for each in session.findings]


def rows(name: str) -> list[str]:
    """Give how each row of a fixture shows."""
    with Debugger.open(str(FOLDER / f"{name}.jsonl")) as debugger:
        heads = [checkpoint.head for checkpoint in debugger.session]
    return [f"{each.kind} {each.name}{' !' * each.failed}: {each.summary}" for each in heads]


def test_each_entry_of_a_plain_run_shows_what_it_did():
    assert rows("linear") == [
        "snapshot snapshot: start · messages, plan, done, spent",
        "message user: Please mend the parser.",
        "turn plan: plan = [2 items]",
        "tool_call read: parser.py",
        "tool_result read: tool: def parse(text): ...",
        "tool_call mail: intended mail-1",
        "tool_call mail: begun mail-1",
        "tool_result mail: done: {1 key}",
        "tool_result shell !: test: TimeoutError: no answer in 30 s",
        "message asst: The tests did not answer.",
    ]


def test_each_type_of_entry_has_a_kind_of_its_own():
    assert rows("branched")[6:] == [
        "compaction compact: 3 messages: What was said before: three messages.",
        "turn edit: plan = [2 items], plan -1 +1",
        "snapshot snapshot: size · 3 messages",
        "message user: message 6",
        "tool_call post: intended post-1",
        "tool_call post: begun post-1",
        "tool_result post: done: 201",
        "label label: before the edit on m2",
        "custom fork: another way",
        "branch_summary branch: The other branch posted once.",
        "interrupt ask: waiting = Shall I go on?",
        "handoff handoff: Ask again",
        "custom recovered !: 17 bytes of a write that was cut off",
        "snapshot snapshot: migration · version 1 to 2 · 3 messages",
        "label label: retry on f1",
        "label label: now on s2",
    ]


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"type": ["message"]},
        {"type": "mood", "time": 7, "failure": "bad", "usage": "much"},
        {"type": "change", "changes": {"op": "put"}, "tool": 7, "name": []},
        {"type": "change", "changes": [None, 7, {"op": "put", "path": "x", "value": 1}]},
        {"type": "effect", "key": {}, "phase": ["done"]},
        {"type": "compaction", "count": "3", "message": [1]},
        {"type": "label", "target": None, "label": 8},
        {"type": "recovered", "dropped": "many"},
        {"type": "snapshot", "state": [1], "why": 3, "migration": "yes"},
        {"type": "handoff", "next_step": 1, "path": 2},
        {"type": "message", "message": None, "event": "error", "failure": {"type": 1}},
    ],
)
def test_an_entry_of_any_types_has_a_head_and_a_step(entry: dict[str, Any]):
    rules = RecordingRules()
    state, memo = rules.start(None)  # pyright: ignore[reportArgumentType] - not looked at

    step = rules.step(None, 0, entry, memo, lambda _: ())  # pyright: ignore[reportArgumentType]

    assert isinstance(entry_head(entry).summary, str)
    assert isinstance(fold(state, step.changes), dict)


def as_restored(path: Path, leaf: str) -> Any:
    """Give the state at an entry as the recorder makes it of the lines."""
    entries: list[Entry] = []
    for line in path.read_bytes().splitlines()[1:]:
        try:
            entries.append(decoded(line))
        except msgspec.DecodeError:
            continue
    found = restored(reversed(entries), leaf)
    return found.state if isinstance(found, Restored) else None


@pytest.mark.parametrize("name", ["linear", "branched", "continued", "edge-open-effects"])
def test_the_state_at_each_entry_is_the_one_that_the_recorder_restores(name: str):
    path = FOLDER / f"{name}.jsonl"
    with Debugger.open(str(path)) as debugger:
        ids = list(debugger.session.ids)
        states = {name: debugger.state(row) for row, name in enumerate(ids)}

    assert states == {name: as_restored(path, name) for name in ids}


class _Model:
    """Messages and their compactions, each summary with what it stands for."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.entries: list[Entry] = [START]

    def add(self, entry: Entry) -> None:
        self.entries.append(msgspec.structs.replace(entry, parent=self.entries[-1].id))

    @property
    def next_id(self) -> str:
        return f"n{len(self.entries)}"

    def whole(self) -> list[Any]:
        """Give the messages without any compaction."""
        waiting: list[Any] = self.items[::-1]
        found: list[Any] = []
        while waiting:
            each = waiting.pop()
            if isinstance(each, tuple):
                waiting += as_list(each[1])[::-1]
            else:
                found.append(each)
        return found

    def shown(self) -> list[Any]:
        return [each[0] if isinstance(each, tuple) else each for each in self.items]


@st.composite
def modelled(draw: st.DrawFn) -> _Model:
    """Give a run of entries about messages, with what must come of it."""
    model = _Model()
    for _ in range(draw(st.integers(0, 12))):
        name, size = model.next_id, len(model.items)
        index = draw(st.integers(0, size))
        count = draw(st.integers(0, size - index))
        message = said(f"by {name}")
        match draw(st.sampled_from(["say", "say", "compact", "put", "drop", "splice", "whole"])):
            case "say":
                model.items.append(message)
                model.add(Said(name, None, T, message=message))
            case "compact":
                model.items[index : index + count] = [
                    (message, model.items[index : index + count])
                ]
                model.add(Compacted(name, None, T, index=index, count=count, message=message))
            case "put" if index < size:
                change = Put(("messages", index, "content"), name)
                if isinstance(model.items[index], tuple):
                    old, stood = model.items[index]
                    model.items[index] = ({**old, "content": name}, stood)
                else:
                    model.items[index] = {**model.items[index], "content": name}
                model.add(Changed(name, None, T, changes=(change,)))
            case "drop" if index < size:
                del model.items[index]
                model.add(Changed(name, None, T, changes=(Drop(("messages", index)),)))
            case "splice":
                model.items[index : index + count] = [message]
                splice = Splice(("messages",), index, count, (message,))
                model.add(Changed(name, None, T, changes=(splice,)))
            case _:
                state = {"messages": model.shown(), "plan": [name]}
                model.add(Snapshotted(name, None, T, state=state, why="size"))
    return model


def replayed(entries: Sequence[Entry], *, uncompacted: bool = False) -> Any:
    """Give the state after entries that hang on each other."""
    rules = RecordingRules(uncompacted=uncompacted)
    state, memo = rules.start(None)  # pyright: ignore[reportArgumentType] - not looked at
    for entry in entries:
        body = json.loads(encoded(entry))
        step = rules.step(None, 0, body, memo, lambda _: ())  # pyright: ignore[reportArgumentType]
        assert step.memo.flaws == ()
        state, memo = fold(state, step.changes), step.memo
    return state


@given(modelled())
def test_without_compactions_later_changes_still_reach_the_messages_that_they_mean(model: _Model):
    whole = replayed(model.entries, uncompacted=True)

    assert replayed(model.entries)["messages"] == model.shown()
    assert whole["messages"] == model.whole()
    assert whole["plan"] == replayed(model.entries)["plan"]


def test_a_snapshot_of_other_messages_begins_anew_without_compactions():
    entries = [
        START,
        Said("b", "a", T, message=said("one")),
        Compacted("c", "b", T, index=0, count=1, message=said("in short")),
        Snapshotted("d", "c", T, state={"messages": [said("two")]}, why="migration"),
        Changed("e", "d", T, changes=(Put(("messages", 0, "content"), "three"),)),
    ]

    assert replayed(entries, uncompacted=True) == {"messages": [said("three")]}


def test_changes_that_name_no_place_are_left_out_and_found_by_the_doctor():
    with Debugger.open(str(FOLDER / "edge-misfits.jsonl")) as debugger:
        state = debugger.state(len(debugger.session) - 1)
        found = [each for each in debugger.examined() if each.code is Code.AGENT_REFUSES]

    messages = [{"id": "u-hi", "role": "user", "content": "hi"}, "only text"]
    assert state["messages"] == messages
    assert (state["plan"], state["last"]) == (["x"], True)
    assert [(each.line, each.message.partition("out: ")[2]) for each in found] == [
        (4, "put at /nowhere/x: there is no such place"),
        (4, "drop at /messages/7: there is no such place"),
        (4, "splice at /messages: there is no such place"),
        (4, "append at /spent: there is no such place"),
        (6, "splice at /messages: there is no such place"),
        (7, "what it lists is no change"),
        (8, "the state is no object"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        Put((), 1),
        Drop(()),
        Put(("messages", -1), 1),
        Put((3,), 1),
        Drop(("messages", "0")),
        Append(("plan", 0), 1),
        Splice(("messages",), -1, 1, ()),
        Splice(("messages",), 0, -1, ()),
        Splice(("plan", "x"), 0, 0, ()),
        Snapshot([]),
    ],
)
def test_a_change_that_cannot_be_made_changes_nothing(change: Change):
    body = json.loads(encoded(Changed("b", "a", T, changes=(change,))))
    rules = RecordingRules()
    memo = rules.start(None)[1]  # pyright: ignore[reportArgumentType] - not looked at
    start = json.loads(encoded(Snapshotted("a", None, T, state={"messages": [{}], "plan": [1]})))
    memo = rules.step(None, 0, start, memo, lambda _: ()).memo  # pyright: ignore[reportArgumentType]

    step = rules.step(None, 1, body, memo, lambda _: ())  # pyright: ignore[reportArgumentType]

    assert step.changes == ()
    assert len(step.memo.flaws) == 1


def check_all_states(path: Path) -> None:
    """Replay all rows in both ways."""
    store, loaded = load(path, "recording")
    session = loaded.session
    for uncompacted in (False, True):
        replay = replay_of(store, session, uncompacted=uncompacted)
        assert all(isinstance(replay.state(row), dict) for row in range(len(session)))
    session.take_in()
    store.close()


@given(st.data())
def test_fields_of_any_type_leave_every_state_an_object(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    path = tmp_path_factory.mktemp("bent") / "run.jsonl"
    lines = data.draw(st.sampled_from(fixture_lines("recording")))
    path.write_bytes(data.draw(bent_files(b"\n".join(lines) + b"\n")))
    check_all_states(path)


def read_both_ways(path: Path, content: bytes) -> list[dict[str, Any]]:
    path.write_bytes(content)
    seen: list[dict[str, Any]] = []
    for plainly in (RecordingReading.plainly, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RecordingReading, "plainly", plainly)
            store, loaded = load(path, "recording")
            session = loaded.session
            found = [each for each in session.findings if each.code is not Code.ODD_NUMBER]
            seen.append({**facts(session), "own": session.own, "findings": found})
            store.close()
    return seen


@given(st.data())
def test_the_quick_way_of_reading_gives_what_the_careful_one_gives(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    path = tmp_path_factory.mktemp("ways") / "run.jsonl"
    lines = data.draw(st.sampled_from(fixture_lines("recording")))
    bent = bent_files(b"\n".join(lines) + b"\n")
    content = data.draw(st.one_of(damaged_files("recording"), bent))
    quick, careful = read_both_ways(path, content)

    assert quick == careful


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linear", []),
        ("branched", []),
        ("continued", ["TT411:2 warning"]),
        ("edge-open-effects", ["TT411:5 warning", "TT411:6 note"]),
        ("edge-torn-tail", ["TT102:4 note"]),
        ("edge-zero-tail", ["TT102:4 note"]),
        ("edge-no-final-newline", ["TT103:3 note"]),
        ("edge-unknown-type", ["TT401:4 warning"]),
        ("edge-newer-version", ["TT405:1 warning"]),
        ("edge-no-header", ["TT404:1 warning"]),
        ("edge-header-only", []),
        ("edge-misfits", ["TT407:7 warning"]),
        ("edge-no-snapshot", ["TT402:3 error"]),
        ("edge-duplicate-id", ["TT202:3 warning"]),
        ("edge-missing-parent", ["TT201:4 warning", "TT402:5 error"]),
        ("edge-damaged-line", ["TT101:4 error"]),
        ("edge-empty", []),
    ],
)
def test_what_is_wrong_in_a_file_is_found_where_it_is(name: str, expected: list[str]):
    store, loaded = load(FOLDER / f"{name}.jsonl", "recording")

    assert told(loaded.session) == expected
    store.close()


def test_a_snapshot_tells_of_effects_that_stand_in_no_entry(read: Callable[..., Session]):
    effects = (Effect("k1", Status.UNKNOWN, "z"), Effect("k2", Status.DONE, "z"))
    whole = Snapshotted("c", "b", T, state={}, effects=effects)
    begun = EffectNoted("b", "a", T, key="k2", phase="begun")

    assert told(read(lines_of(START, begun))) == ["TT411:3 warning"]
    assert told(read(lines_of(START, begun, whole))) == ["TT411:4 warning"]


def test_an_effect_that_is_done_stays_done(read: Callable[..., Session]):
    phases = ("intended", "begun", "done", "begun")
    entries = [
        EffectNoted(f"e{n}", f"e{n - 1}" if n else "a", T, key="k", phase=phase)
        for n, phase in enumerate(phases)
    ]

    assert told(read(lines_of(START, *entries))) == []


def test_the_recorder_goes_on_from_what_a_last_label_stands_on(read: Callable[..., Session]):
    session = read(
        lines_of(
            START,
            Said("b", "a", T, message=said("b")),
            Said("c", "b", T, message=said("c")),
            Labelled("l1", "b", T, target="c", label="other"),
            Labelled("l2", "l1", T, target="b", label="here"),
        )
    )

    assert session.active is not None
    assert session.ids[session.active] == "b"
    assert dict(session.labels) == {1: "here", 2: "other"}


def test_the_header_names_the_session_its_title_and_what_it_goes_on_from():
    seen: list[tuple[Any, ...]] = []
    for name in ("linear", "continued", "edge-no-header"):
        store, loaded = load(FOLDER / f"{name}.jsonl", "recording")
        session = loaded.session
        seen.append((store.sessions()[0], session.id, session.title, session.forked_from))
        store.close()

    assert seen == [
        ("linear", "linear", "Mend the parser", None),
        ("continued", "continued", None, "run.jsonl"),
        ("edge-no-header", "edge-no-header", None, None),
    ]


def test_a_second_header_and_a_late_one_are_told(read: Callable[..., Session]):
    late = jsonl(encoded(START), HEADER, HEADER)

    assert told(read(late)) == ["TT404:1 warning", "TT404:2 warning", "TT404:3 warning"]


@contextmanager
def forking(path: Path) -> Generator[Callable[..., Draft]]:
    """Give what drafts a fork at an entry, with ids that repeat."""
    with Debugger.open(str(path)) as debugger:

        def draft(at: str, *edits: Change, **more: Any) -> Draft:
            row = debugger.session.row_of(at)
            assert row is not None
            state = debugger.state(row)
            fresh = random.Random(row).randbytes  # noqa: S311 - they are to repeat
            origin = debugger.ref(row)
            plan = Plan(row, state, edited(state, edits), edits, origin, 1.8e9, fresh, **more)
            return debugger.draft(plan)

        yield draft


def copied(name: str, folder: Path) -> Path:
    path = folder / "run.jsonl"
    path.write_bytes((FOLDER / f"{name}.jsonl").read_bytes())
    return path


def written_in(draft: Draft) -> list[bytes]:
    (made,) = draft.writes
    assert isinstance(made, NewFile | MoreLines)
    return [each.data for each in made.records]


def goes_on(draft: Draft) -> Any:
    """Write a draft; give the state and the effects with which a recorder goes on from it."""
    (made,) = draft.writes
    assert isinstance(made, NewFile | MoreLines)
    write_file(made)
    lines = Path(draft.location).read_bytes().splitlines()[1:]
    found = restored(map(decoded, reversed(lines)))
    assert isinstance(found, Restored)
    return found.state, {key: str(each.status) for key, each in found.effects.items()}


def test_a_new_fork_has_the_lines_of_its_path_and_one_change(tmp_path: Path):
    path = copied("linear", tmp_path)
    with forking(path) as draft:
        made = draft("e3", Put(("plan", 0, "status"), "done"), note="on second thought")
    header, *kept, fork, change, _whole = written_in(made)

    assert kept == path.read_bytes().splitlines(keepends=True)[1:4]
    assert json.loads(header) == {
        "type": "recording",
        "session_id": made.session,
        "created_at": "2027-01-15T08:00:00.000Z",
        "title": "Mend the parser",
        "continues": {"location": str(path), "after": "e3"},
        "schema_version": 1,
    }
    assert json.loads(fork)["note"] == "on second thought"
    assert json.loads(change)["changes"] == [
        {"op": "put", "path": ["plan", 0, "status"], "value": "done"}
    ]
    assert made.resume_command == (
        f"from tt_debugger import Recorder\nrecorder = Recorder.open({made.location!r})"
    )


def test_a_fork_knows_what_other_branches_did_to_the_world(tmp_path: Path):
    path = copied("linear", tmp_path)
    with forking(path) as draft:
        made = draft("e3")
        before = json.loads(json.dumps(as_restored(path, "e3")))

    assert json.loads(written_in(made)[-1])["why"] == "moved"
    assert goes_on(made) == (before, {"mail-1": "done"})


def test_a_fork_at_the_end_needs_no_snapshot(tmp_path: Path):
    with forking(copied("linear", tmp_path)) as draft:
        made = draft("e10")

    assert [json.loads(each)["type"] for each in written_in(made)[-2:]] == ["message", "fork"]
    assert made.notes == ()


def test_a_fork_past_changes_that_stop_the_recorder_ends_in_a_snapshot(tmp_path: Path):
    with forking(copied("edge-misfits", tmp_path)) as draft:
        made = draft("e4")
    (header, *lines) = written_in(made)

    assert json.loads(lines[-1])["state"]["messages"][-1] == "only text"
    assert goes_on(made)[0]["plan"] == ["kept"]
    assert json.loads(header)["session_id"] == made.session


@pytest.mark.parametrize(("name", "at"), [("linear", "e3"), ("edge-misfits", "e4")])
def test_the_recorder_goes_on_from_a_fork_with_what_was_wanted(name: str, at: str, tmp_path: Path):
    with forking(copied(name, tmp_path)) as draft:
        made = draft(at, Put(("wanted",), "this"))
        goes_on(made)
    with Debugger.open(made.location) as debugger:
        shown = debugger.state(debugger.session.row_of(made.point) or 0)
    recorder = Recorder.open(made.location)
    try:
        assert (recorder.leaf, recorder.recorded_state) == (made.point, shown)
        assert shown["wanted"] == "this"
    finally:
        recorder.close()


def test_a_branch_in_place_is_a_fork_entry_and_a_change_behind_all_lines(tmp_path: Path):
    path = copied("branched", tmp_path)
    before = path.read_bytes()
    with forking(path) as draft:
        made = draft("m4", Append(("plan",), "again"), in_place=True)
    fork, change = map(json.loads, written_in(made))
    state, effects = goes_on(made)

    assert (fork["type"], fork["parent"]) == ("fork", "m4")
    assert (change["type"], change["parent"], change["id"]) == ("change", fork["id"], made.point)
    assert path.read_bytes().startswith(before)
    assert state["plan"] == ["again"]
    assert effects == {"post-1": "done"}


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("edge-newer-version", "e2"),
        ("edge-no-header", "e2"),
        ("edge-torn-tail", "e2"),
        ("edge-zero-tail", "e2"),
        ("edge-no-final-newline", "e2"),
    ],
)
def test_no_branch_is_added_to_a_file_that_a_recorder_would_not_take_it_in(
    name: str, at: str, tmp_path: Path
):
    with forking(copied(name, tmp_path)) as draft, pytest.raises(UnsupportedError) as refused:
        draft(at, in_place=True)

    assert refused.value.hint == "leave out --in-place: the fork is a file of its own"


def test_no_line_is_added_while_a_recorder_holds_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(locking, "PATIENCE", 0)
    path = copied("linear", tmp_path)
    before = path.read_bytes()
    with forking(path) as draft:
        (lines,) = draft("e3", in_place=True).writes
    assert isinstance(lines, MoreLines)

    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(CannotWriteError, match="another program is writing"):
            write_file(lines)
    assert path.read_bytes() == before


def test_a_label_on_what_is_not_in_the_fork_is_left_out(tmp_path: Path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(
        lines_of(
            START,
            Said("b", "a", T, message=said("b")),
            Labelled("l1", "a", T, target="b", label="off"),
            Said("c", "l1", T, message=said("c")),
            Labelled("l2", "c", T, target="a", label="late"),
        )
    )
    with forking(path) as draft:
        made = [json.loads(each) for each in written_in(draft("c"))[1:]]

    assert [(each["type"], each.get("target")) for each in made] == [
        ("snapshot", None),
        ("message", None),
        ("label", "a"),
        ("fork", None),
    ]
    assert made[1]["parent"] == "a"


def test_the_state_of_a_fork_stays_an_object(tmp_path: Path):
    with Debugger.open(str(copied("linear", tmp_path))) as debugger:
        state = debugger.state(0)
        plan = Plan(0, state, [1], (Snapshot([1]),), "run", 1.8e9, bytes)
        with pytest.raises(UsageError, match="an object"):
            debugger.draft(plan)
