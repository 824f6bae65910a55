"""Failing calls: whichever call of the system fails, a recorder tells it and loses nothing."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from unittest import mock

import pytest
from failing import ERRORS, INTERRUPT, SHORT, failing
from saves import quick_folder

from tt_debugger.core.recording.entries import Said
from tt_debugger.errors import CannotWriteError, TtdbgError
from tt_debugger.record.backends import jsonl, jsonl_end
from tt_debugger.record.backends.jsonl import JsonlLog
from tt_debugger.record.backends.options import Options
from tt_debugger.record.policies import OnEvents
from tt_debugger.record.recorder import Recorder

STEPS = ("one", "two", "three")
HOWS = (*ERRORS, SHORT)
TOLD = {SHORT: set[str](), INTERRUPT: {"KeyboardInterrupt", "LogOverError"}}
"""The errors that one may meet; where nothing is said, that it cannot be read or written."""


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place / "at"


class Attempt:
    """A session that is recorded while something fails: what was told, and what is in the log."""

    def __init__(self, folder: Path, *, is_torn: bool = False) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.path = folder / "run.jsonl"
        self.errors: list[BaseException] = []
        self.acknowledged: list[str] = []
        self.unsaved: list[str] = []
        self.location = ""
        if is_torn:
            with self._opened():
                pass
            with self.path.open("ab") as file:
                file.write(b'{"type":"change","id":"torn')

    def record(self, *, is_given_up: bool = False) -> None:
        """Record all steps, whatever fails; or end without a word where the first one does."""
        recorder = self._tried_twice()
        if recorder is None:
            return
        for text in STEPS:
            try:
                recorder.message({"role": "user", "content": text})
            except (TtdbgError, KeyboardInterrupt) as error:
                self.errors.append(error)
                if is_given_up:
                    _end_at_once(recorder)
                    return
            else:
                self.acknowledged = list(STEPS[: STEPS.index(text) + 1])
        self.unsaved = [
            each.message["content"] for each in recorder.unsaved if isinstance(each, Said)
        ]
        self.location = recorder.location
        self._close(recorder)

    def texts(self) -> list[str]:
        """Give what is found when the session is opened again."""
        with self._opened() as recorder:
            return [each["content"] for each in recorder.state["messages"]]

    def ids(self) -> list[str]:
        """Give the ids of the entries in the last file of the log."""
        with closing(JsonlLog.open(str(self.path), Options())) as log:
            return [each.id for each in log.newest_first()]

    def _opened(self) -> Recorder:
        return Recorder.open(str(self.path), state={"messages": []}, session="s")

    def _tried_twice(self) -> Recorder | None:
        for _ in range(2):
            try:
                return self._opened()
            except (TtdbgError, KeyboardInterrupt) as error:
                self.errors.append(error)
        return None

    def _close(self, recorder: Recorder) -> None:
        try:
            recorder.close()
        except (TtdbgError, KeyboardInterrupt) as error:
            self.errors.append(error)


def _end_at_once(recorder: Recorder) -> None:
    """Let go of the log as the end of a process does, without writing what is not written."""
    recorder._journal._waiting.clear()
    recorder.close()


def calls_of(folder: Path, *, is_torn: bool = False) -> int:
    attempt = Attempt(folder, is_torn=is_torn)
    with failing(None) as count:
        attempt.record()
    assert attempt.errors == []
    assert attempt.texts() == [*STEPS]
    return count.calls


def flaws(folder: Path, how: str, *, is_torn: bool = False) -> list[object]:
    """Let each call fail in turn; give what is not as it has to be then."""
    bad: list[object] = []
    calls = calls_of(folder, is_torn=is_torn)
    assert calls > 20
    for at in range(calls):
        attempt = Attempt(folder, is_torn=is_torn)
        with failing(at, how) as count, syncs() as (synced, failures):
            attempt.record()
        told = {type(each).__name__ for each in attempt.errors}
        is_ours = told <= TOLD.get(how, {"CannotWriteError", "CannotReadError"})
        # What failed to be synced is not told where the log went on by itself.
        is_over = bool(failures) and not told
        is_left_alone = not any(synced[each] in synced[each + 1 :] for each in failures)
        is_heard = attempt.location.endswith(".2.jsonl") is is_over
        ids = attempt.ids()
        is_there = attempt.texts() == [*STEPS] and len(ids) == len({*ids})
        if not (is_ours and is_heard and is_there and (is_left_alone or not is_over)):
            bad.append((at, count.failed, attempt.errors, attempt.texts(), ids))
    return bad


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("end", ["new", "torn"])
def test_whichever_call_fails_all_steps_are_there_once_in_the_end(
    folder: Path, how: str, end: str
):
    assert flaws(folder, how, is_torn=end == "torn") == []


@pytest.mark.parametrize("how", HOWS)
def test_whichever_call_fails_what_was_acknowledged_is_there_though_the_process_ends(
    folder: Path, how: str
):
    failed = 0
    for at in range(calls_of(folder)):
        attempt = Attempt(folder)
        with failing(at, how):
            attempt.record(is_given_up=True)
        texts = attempt.texts()
        assert texts[: len(attempt.acknowledged)] == attempt.acknowledged, at
        assert texts == [*STEPS[: len(texts)]], at
        failed += bool(attempt.errors)

    assert (failed > 0) is (how != SHORT)


@pytest.mark.parametrize("call", ["write", "fsync", "fstat"])
def test_while_a_disk_goes_on_failing_what_is_not_written_is_known_and_written_afterwards(
    folder: Path, call: str
):
    failed = 0
    for at in range(calls_of(folder)):
        probe = Attempt(folder)
        with failing(at) as count:
            probe.record()
        if count.failed != call:
            continue
        attempt = Attempt(folder)
        recorder = None
        with failing(at, "an error of the disk", for_good=True):
            recorder = attempt._tried_twice()
            if recorder is not None:
                for text in STEPS:
                    try:
                        recorder.message({"role": "user", "content": text})
                    except CannotWriteError as error:
                        attempt.errors.append(error)
                waiting = [*recorder.unsaved]
                assert bool(waiting) is bool(attempt.errors)
        if recorder is not None:
            recorder.flush()
            assert recorder.unsaved == ()
            recorder.close()
            assert attempt.texts() == [*STEPS]
        failed += bool(attempt.errors)

    assert failed > 0


def test_a_file_whose_sync_failed_is_never_synced_again_and_the_log_goes_on_in_a_new_one(
    folder: Path,
):
    moved = 0
    for at in range(calls_of(folder)):
        attempt = Attempt(folder)
        with failing(at, "an error of the disk") as count, syncs() as (synced, failures):
            attempt.record()
        if count.failed != "fsync" or attempt.errors:
            continue
        # A failing sync that was not told was no loss: the log went on by itself.
        (failure,) = failures
        assert synced[failure] not in synced[failure + 1 :]
        assert attempt.location == str(folder / "run.2.jsonl")
        assert attempt.unsaved == []
        assert attempt.texts() == [*STEPS]
        moved += 1

    assert moved == 1 + len(STEPS)  # the state at the start is an entry too


_fstat = os.fstat
"""What is asked of a file without being counted as a call."""


@contextmanager
def syncs() -> Generator[tuple[list[int], list[int]]]:
    """Give the inodes that are synced meanwhile, and which of these syncs failed."""
    real = os.fsync
    synced: list[int] = []
    failures: list[int] = []

    def fsync(file: int) -> None:
        synced.append(_fstat(file).st_ino)
        try:
            real(file)
        except OSError:
            failures.append(len(synced) - 1)
            raise

    with mock.patch.object(os, "fsync", fsync):
        yield synced, failures


def test_a_log_goes_on_twice_and_is_found_by_its_first_name(folder: Path):
    attempt = Attempt(folder)
    with attempt._opened() as recorder:
        for text in STEPS:
            with failing_nth("fsync"):
                recorder.message({"role": "user", "content": text})
        assert recorder.location == str(folder / "run.4.jsonl")

    assert attempt.texts() == [*STEPS]
    assert sorted(each.name for each in folder.iterdir()) == [
        "run.2.jsonl",
        "run.3.jsonl",
        "run.4.jsonl",
        "run.jsonl",
    ]


def test_a_name_that_is_taken_is_passed_over_by_what_goes_on(folder: Path):
    attempt = Attempt(folder)
    (folder / "run.2.jsonl").write_bytes(b"another's\n")
    with attempt._opened() as recorder, failing_nth("fsync"):
        recorder.message({"role": "user", "content": "one"})
        assert recorder.location == str(folder / "run.3.jsonl")

    assert attempt.texts() == ["one"]
    assert (folder / "run.2.jsonl").read_bytes() == b"another's\n"


@contextmanager
def failing_nth(call: str, number: int = 1) -> Generator[None]:
    """Let the n-th call of a name fail."""
    real = getattr(os, call)
    numbers = itertools.count(1)

    def called(*arguments: object) -> object:
        if next(numbers) == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*arguments)

    with mock.patch.object(os, call, called):
        yield


def test_a_file_that_was_replaced_is_written_to_no_more(folder: Path):
    attempt = Attempt(folder)
    with attempt._opened() as recorder:
        recorder.message({"role": "user", "content": "one"})
        copy = folder / "copy"
        shutil.copy(attempt.path, copy)
        copy.replace(attempt.path)
        recorder.message({"role": "user", "content": "two"})
        assert recorder.location == str(folder / "run.2.jsonl")

    assert attempt.texts() == ["one", "two"]


def test_lines_that_another_program_adds_are_neither_cut_off_nor_written_behind(folder: Path):
    attempt = Attempt(folder)
    recorder = attempt._opened()
    with attempt.path.open("ab") as file:
        file.write(b'{"hello":1}\n')
    with pytest.raises(CannotWriteError) as caught:
        recorder.message({"role": "user", "content": "one"})
    assert type(caught.value) is CannotWriteError
    _end_at_once(recorder)

    assert attempt.path.read_bytes().endswith(b'{"hello":1}\n')


def _sync_unheard(file: int) -> None:
    with suppress(OSError):
        os.fsync(file)


def _sync_again(file: int) -> None:
    try:
        os.fsync(file)
    except OSError:
        os.fsync(file)


def _written_once(file: int, data: bytes) -> None:
    os.write(file, data)


BUGS: dict[str, tuple[object, str, object]] = {
    "not cut back": (JsonlLog, "_cut_back", lambda _log, _file, _error: None),
    "sync unheard": (jsonl, "sync", _sync_unheard),
    "sync again": (jsonl, "sync", _sync_again),
    "left open": (JsonlLog, "close", lambda _log: None),
    "not all written": (jsonl, "write_all", _written_once),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_log_with_a_bug_is_found_by_failing_calls(folder: Path, bug: str):
    with mock.patch.object(*BUGS[bug]):
        assert any(_is_flawed(folder, how) for how in HOWS)


def _is_flawed(folder: Path, how: str) -> bool:
    try:
        return flaws(folder, how) != []
    except (TtdbgError, AssertionError):
        return True


def test_entries_of_which_some_are_written_are_given_again_and_are_there_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jsonl_end, "TOGETHER", 300)
    attempt = Attempt(folder)
    recorder = Recorder.open(
        str(attempt.path), state={"messages": []}, session="s", when=OnEvents(("never",))
    )
    for text in STEPS:
        recorder.message({"role": "user", "content": text * 20})
    with failing_nth("write", 2), pytest.raises(CannotWriteError):
        recorder.flush()
    assert len(recorder.unsaved) == len(STEPS)
    recorder.close()

    assert attempt.texts() == [text * 20 for text in STEPS]
    assert len(attempt.ids()) == 1 + len(STEPS)
