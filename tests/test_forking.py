"""Forking: drafts are read back, written whole or not at all, noted, and taken back."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tt_debugger.core.changes import Put
from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import BranchWritten, How, NewFile, Record, Written
from tt_debugger.core.model import SessionId
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, CannotWriteError, TtdbgError, UsageError
from tt_debugger.forking import (
    Drafted,
    Wish,
    composed,
    drafted,
    drafting,
    forked,
    rehearsed,
    standing,
    undo,
    undoing,
)
from tt_debugger.formats.pi import Pi
from tt_debugger.storage import writing
from tt_debugger.storage.operations import Operations

SAMPLE = Path(__file__).parent.parent / "sample_sessions" / "pi.jsonl"
TITLE = (Put(("title",), "Tried again"),)
WAITS = "import sys\nheld = [open(each) for each in sys.argv[1:]]\nprint(flush=True)\ninput()\n"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc here")


class Forgetful(Pi):
    """A format that forgets what is edited."""

    def draft(self, replay: Any, plan: Plan) -> Draft:
        return super().draft(replay, msgspec.structs.replace(plan, wanted=plan.state))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the operation log."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session that its agent works on in a folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    header, *lines = SAMPLE.read_bytes().splitlines(keepends=True)
    own = json.dumps({**json.loads(header), "cwd": str(folder)}).encode() + b"\n"
    path = folder / "s.jsonl"
    path.write_bytes(own + b"".join(lines))
    return path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def draft_of(path: Path, *, store: type[Pi] = Pi, **more: Any) -> Drafted:
    """Draft a fork of the active leaf, with another title."""
    opened = store.open(str(path))
    loaded = opened.load(opened.sessions()[-1])
    with Debugger(opened, loaded, str(path)) as debugger:
        assert debugger.session.active is not None
        wish = more.pop("wish", None)
        return drafted(debugger, standing(debugger, debugger.session.active), TITLE, wish, **more)


def made_of(*paths: Path) -> Drafted:
    """Give a draft of files that is written as it is."""
    plan = Plan(0, {}, {}, (), "there#s:x", 1.5, lambda count: b"\x07" * count)
    writes = tuple(NewFile(str(path), (Record(b"{}\n", How.ADDED),)) for path in paths)
    draft = Draft(writes, str(paths[0]), SessionId("s"), "x", "agent --resume s")
    return Drafted(plan, draft, is_rehearsed=True)


def inside(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@contextmanager
def process(*command: str, cwd: Path) -> Iterator[int]:
    """Run a program that says when it is ready, and then waits."""
    with subprocess.Popen(  # noqa: S603 - our own programs
        command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        yield running.pid
        running.kill()


def test_a_second_write_that_fails_takes_the_first_back(tmp_path: Path):
    folder = tmp_path / "forks"
    folder.mkdir()
    (folder / "b").write_bytes(b"theirs")
    with pytest.raises(UsageError, match="b is there already"):
        forked(made_of(folder / "a", folder / "b"))

    assert inside(folder) == ["b"]
    assert (folder / "b").read_bytes() == b"theirs"
    assert Operations().all() == []


def test_a_log_that_cannot_be_begun_lets_nothing_be_written(tmp_path: Path, state: Path):
    state.write_bytes(b"")
    with pytest.raises(CannotWriteError, match="cannot note what is written"):
        forked(made_of(tmp_path / "a"))
    assert inside(tmp_path) == ["state"]


def test_a_log_that_cannot_be_finished_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(_log: Operations, _id: str, written: tuple[Written, ...]) -> None:
        assert len(written) == 2
        raise CannotWriteError("cannot note what is written")

    monkeypatch.setattr(Operations, "finish", full)
    with pytest.raises(CannotWriteError, match="cannot note"):
        forked(made_of(tmp_path / "a", tmp_path / "b"))
    assert inside(tmp_path) == ["state"]
    assert Operations().all() == []


@on_linux
def test_in_place_is_refused_while_a_process_has_the_file_open(session: Path):
    before = session.read_bytes()
    with (
        process(sys.executable, "-c", WAITS, str(session), cwd=Path("/")) as pid,
        pytest.raises(UsageError, match=rf"may be open in python\S* \({pid}\)"),
    ):
        draft_of(session, wish=Wish(in_place=True))
    assert session.read_bytes() == before


@on_linux
def test_in_place_is_refused_while_the_agent_runs_in_its_folder(session: Path, tmp_path: Path):
    program = tmp_path / "pi"
    program.write_text(WAITS)
    with (
        process(sys.executable, str(program), cwd=session.parent) as pid,
        pytest.raises(UsageError, match=rf"may be open in pi \({pid}\)"),
    ):
        draft_of(session, wish=Wish(in_place=True))
    assert draft_of(session, wish=Wish(in_place=True)).is_rehearsed


def test_a_draft_that_would_not_replay_is_refused_with_nothing_written(
    session: Path, temporary: Path
):
    with pytest.raises(TtdbgError, match="would not replay to the state that is asked for: title"):
        draft_of(session, store=Forgetful)
    assert inside(session.parent) == ["s.jsonl"]
    assert inside(temporary) == []


def test_a_draft_that_was_not_read_back_is_before_it_is_written(session: Path):
    draft = draft_of(session, store=Forgetful, rehearses=False)
    assert not draft.is_rehearsed
    with pytest.raises(TtdbgError, match="would not replay"):
        forked(draft)
    assert inside(session.parent) == ["s.jsonl"]
    assert Operations().all() == []


def test_what_is_drafted_for_another_agent_can_be_read_back_later(session: Path, tmp_path: Path):
    wish = Wish(target=f"{tmp_path}/")
    with Debugger.open(str(session)) as debugger:
        assert debugger.session.active is not None
        at = standing(debugger, debugger.session.active, for_another_agent=True)
        draft = composed(debugger, at, "tau", (), wish, rehearses=False)
    assert (draft.is_rehearsed, rehearsed(draft).is_rehearsed) == (False, True)
    other = msgspec.structs.replace(draft.talk, turns=draft.talk.turns[:-1])
    with pytest.raises(TtdbgError, match="would not be told what was said"):
        rehearsed(msgspec.structs.replace(draft, talk=other))


def test_a_rehearsal_leaves_nothing(session: Path, temporary: Path):
    assert draft_of(session).is_rehearsed
    assert draft_of(session, wish=Wish(in_place=True)).is_rehearsed
    assert inside(temporary) == []
    assert inside(session.parent) == ["s.jsonl"]


def test_a_rehearsal_without_room_says_where_there_may_be_some(session: Path, temporary: Path):
    temporary.rmdir()
    with pytest.raises(CannotWriteError, match="cannot read the fork back") as refused:
        draft_of(session)
    assert "TMPDIR" in str(refused.value.hint)


def test_a_file_that_is_gone_before_the_rehearsal_is_told_as_such(session: Path, temporary: Path):
    draft = draft_of(session, wish=Wish(in_place=True), rehearses=False)
    session.unlink()
    with pytest.raises(CannotWriteError, match="No such file"):
        forked(draft)
    assert inside(temporary) == []


@pytest.mark.parametrize(("before", "after"), [(1, True), (1, 1.0), ([0], [False])])
def test_values_of_other_types_are_not_the_state_that_was_asked_for(before: Any, after: Any):
    with pytest.raises(TtdbgError, match="stream"):
        drafting._compare({"stream": after}, set(), {"stream": before})
    drafting._compare({"stream": after}, {"stream"}, {"stream": before})


def test_an_operation_that_was_not_finished_is_not_undone():
    begun = Operation("ab", 1.5, "there", "/a/s.jsonl", "s", "x", "agent")
    with pytest.raises(UsageError, match="was never finished"):
        undo(begun)


def test_what_was_taken_back_in_part_can_be_taken_back_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first, second = tmp_path / "a", tmp_path / "b"
    fork = forked(made_of(first, second))
    real = undoing.take_back

    def failing(written: Written) -> None:
        if written == Operations().all()[0].written[0]:
            raise CannotWriteError("the disk fails", "look after it")
        real(written)

    monkeypatch.setattr(undoing, "take_back", failing)
    with pytest.raises(CannotWriteError, match=r"a part of 07070707 was taken back.*disk fails"):
        undo(Operations().named(fork.operation))
    assert (first.exists(), second.exists()) == (True, False)
    rest = Operations().named(fork.operation)
    assert (rest.can_be_undone, len(rest.written)) == (True, 1)

    monkeypatch.setattr(undoing, "take_back", real)
    undo(rest)
    assert inside(tmp_path) == ["state"]
    assert not Operations().named(fork.operation).can_be_undone


def test_nothing_is_taken_back_where_a_part_has_changed(tmp_path: Path):
    first, second = tmp_path / "a", tmp_path / "b"
    fork = forked(made_of(first, second))
    first.write_bytes(b"{}\n{}\n")
    with pytest.raises(UsageError, match="has changed"):
        undo(Operations().named(fork.operation))
    assert second.exists()
    assert Operations().named(fork.operation).can_be_undone


def test_whether_a_branch_is_as_it_was_is_told_beforehand(tmp_path: Path):
    with pytest.raises(CannotReadError, match="no git repository"):
        writing.must_be_unchanged(BranchWritten(str(tmp_path), "topic", "c0ffee"))
