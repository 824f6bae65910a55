"""Failing calls: whichever call of the system fails, all is as it was and the error is told."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest
import saves
from failing import ERRORS, INTERRUPT, SHORT, failing
from saves import SAVES, Save

from tt_debugger.core.fork.writes import FileWritten, IndexWritten, LinesWritten
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage import appending, locking, publishing
from tt_debugger.storage.file_writing import (
    WrittenToFile,
    must_be_unchanged,
    take_back_file,
    write_file,
)

MATTER = ("open", "write", "fsync", "link", "replace")
"""Calls without which nothing can be written, and so never fail unheard."""

Work = Callable[[], object]


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(locking, "PATIENCE", 0)


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    with saves.quick_folder() as place:
        yield place / "at"


def made(save: Save, folder: Path) -> tuple[WrittenToFile, ...]:
    """Make a save; what was written before something failed is taken back, as a fork does."""
    written: list[WrittenToFile] = []
    with saves.on_file_system(is_named=save.is_named):
        try:
            for each in save.writes(str(folder)):
                written.append(write_file(each))  # noqa: PERF401 - what is there if one fails
        except BaseException:
            for each in reversed(written):
                take_back_file(each)
            raise
    return tuple(written)


def anew(save: Save, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    saves.prepare(save, folder)


def calls_of(save: Save, folder: Path) -> int:
    anew(save, folder)
    with failing(None) as count:
        made(save, folder)
    assert save.stage(saves.state_of(folder)) == len(save.stages) - 1
    return count.calls


def outcome(work: Work, folder: Path) -> str:
    try:
        work()
    except (CannotWriteError, UsageError) as error:
        return "error" if str(folder) in error.message else "error without a path"
    except KeyboardInterrupt:
        return "interrupted"
    return "done"


def flaws(save: Save, folder: Path, how: str) -> list[object]:
    """Let each call fail in turn; give what is not as it has to be then."""
    calls = calls_of(save, folder)
    after = saves.state_of(folder)
    assert calls > 8
    bad: list[object] = []
    for at in range(calls):
        anew(save, folder)
        before = saves.state_of(folder)
        with failing(at, how) as count:
            told = outcome(lambda: made(save, folder), folder)
        state = saves.state_of(folder)
        allowed = {"done": [after], "error": [before], "interrupted": [before, after]}
        is_heard = how == SHORT or count.failed not in MATTER or told != "done"
        is_needless = how == SHORT and told != "done"
        if state not in allowed[told] or not is_heard or is_needless:
            bad.append((at, count.failed, told, state))
    return bad


@pytest.mark.parametrize(
    ("name", "how"),
    [
        (name, how)
        for name in SAVES
        for how in (*ERRORS, SHORT)
        # Between two writes it is the fork that holds interrupts back.
        if not (name.startswith("file and") and how == INTERRUPT)
    ],
)
def test_whichever_call_fails_there_is_all_or_an_error_and_what_was_before(
    folder: Path, name: str, how: str
):
    assert flaws(SAVES[name], folder, how) == []


@pytest.mark.parametrize(
    ("place", "name", "how"),
    [
        (appending, "_cut_back", "an error of the disk"),
        (publishing, "_taking_away", "an error of the disk"),
        (publishing, "sync_folder", "an error of the disk"),
        (publishing, "write_all", SHORT),
    ],
)
def test_a_writer_that_does_not_clean_up_or_does_not_listen_is_found(
    folder: Path, place: ModuleType, name: str, how: str
):
    def careless(*arguments: object) -> object:
        if name == "write_all":
            return os.write(*arguments)  # type: ignore[arg-type]
        if name == "sync_folder":
            with suppress(OSError):
                os.fsync(*arguments)  # type: ignore[arg-type]
        return nullcontext()

    with mock.patch.object(place, name, careless):
        assert any(flaws(save, folder, how) for save in SAVES.values())


@pytest.mark.parametrize(
    ("call", "how"), [("write", "no space left"), ("fsync", "an error of the disk")]
)
@pytest.mark.parametrize("name", SAVES)
def test_a_disk_that_goes_on_failing_leaves_what_was_before(
    folder: Path, name: str, call: str, how: str
):
    save = SAVES[name]
    failed = 0
    for at in range(calls_of(save, folder)):
        anew(save, folder)
        before = saves.state_of(folder)
        with failing(at) as probe:
            made(save, folder)
        if probe.failed != call:
            continue
        anew(save, folder)
        with failing(at, how, for_good=True):
            assert outcome(lambda: made(save, folder), folder) == "error"
        state = saves.state_of(folder)
        # The new file of a fork is taken away though its folder cannot be synced.
        assert state == before
        failed += 1
    assert failed > 0


@pytest.mark.parametrize("how", ERRORS)
@pytest.mark.parametrize("name", SAVES)
def test_whichever_call_fails_while_it_is_taken_back_all_or_nothing_is(
    folder: Path, name: str, how: str
):
    save = SAVES[name]

    def ready() -> WrittenToFile:
        anew(save, folder)
        return made(save, folder)[-1]

    written = ready()
    there = saves.state_of(folder)
    with failing(None) as count:
        take_back_file(written)
    gone = saves.state_of(folder)
    assert gone != there
    for at in range(count.calls):
        written = ready()
        with failing(at, how):
            told = outcome(lambda: take_back_file(written), folder)  # noqa: B023 - called at once
        state = saves.state_of(folder)
        allowed = {"done": [gone], "error": [there], "interrupted": [there, gone]}
        assert state in allowed[told], at


@pytest.mark.parametrize("name", SAVES)
def test_what_cannot_be_read_is_not_said_to_be_as_it_was(folder: Path, name: str):
    save = SAVES[name]
    anew(save, folder)
    written = made(save, folder)[-1]
    assert isinstance(written, FileWritten | LinesWritten | IndexWritten)
    with failing(0, "an error of the disk"), pytest.raises((CannotWriteError, UsageError)):
        must_be_unchanged(written)
    must_be_unchanged(written)
