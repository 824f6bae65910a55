"""Watching: a look now and then is the truth, hints only make it come sooner."""

from __future__ import annotations

import os
import queue
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from watchfiles import Change

from tt_debugger.storage import watch as watching
from tt_debugger.storage.settling import has_settled
from tt_debugger.storage.watch import Watch, written_at

OLD = 1_000_000_000
PATIENCE = 60.0
HOUR = 3600.0


def aged(path: Path) -> Path:
    """Let a file be written long ago: nothing may still happen to it unseen."""
    os.utime(path, (OLD, OLD))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"{}\n")
    return aged(file)


def seconds_until_told(watch: Watch) -> float:
    began = time.perf_counter()
    assert watch.wait()
    return time.perf_counter() - began


def looks_until_told(watch: Watch) -> int:
    """Give with which look it is told, counted from now on: the first is as soon as can be."""
    looks = 0
    look_at = watching._look_at

    def counted_look(paths: tuple[str, ...]) -> Any:
        nonlocal looks
        looks += 1
        return look_at(paths)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watching, "_look_at", counted_look)
        assert watch.wait()
    return looks


class Waiter(threading.Thread):
    """Waits, and notes how often it was told."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(daemon=True)
        self.watch, self.told = watch, 0
        self.start()

    def run(self) -> None:
        while self.watch.wait():
            self.told += 1


def test_the_first_time_is_at_once_and_then_nothing_is_told_of_what_does_not_change(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    looks = threading.Semaphore(0)
    look_at = watching._look_at

    def counted_look(paths: tuple[str, ...]) -> Any:
        looks.release()
        return look_at(paths)

    monkeypatch.setattr(watching, "_look_at", counted_look)
    waiter = Waiter(Watch(str(path), every=0.02, takes_hints=False))
    for _ in range(6):
        assert looks.acquire(timeout=PATIENCE)

    assert waiter.told == 1
    waiter.watch.stop()
    waiter.join(PATIENCE)
    assert not waiter.is_alive()


def written(path: Path) -> None:
    aged_later = OLD + 5
    with path.open("ab") as file:
        file.write(b"{}\n")
    os.utime(path, (aged_later, aged_later))


def of_the_same_size(path: Path) -> None:
    path.write_bytes(b"[]\n")
    os.utime(path, (OLD, OLD))


def renamed_over(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(b"{}\n")
    aged(other).replace(path)


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("happens", [written, of_the_same_size, renamed_over, removed])
@pytest.mark.parametrize("takes_hints", [False, True])
def test_each_change_is_told(path: Path, happens: Any, *, takes_hints: bool):
    watch = Watch(str(path), every=0.05, takes_hints=takes_hints)
    assert watch.wait()
    happens(path)

    assert looks_until_told(watch) == 1
    watch.stop()


def test_a_hint_comes_long_before_the_next_look(path: Path):
    watch = Watch(str(path), every=HOUR)
    assert watch.wait()
    # Until the system tells; that takes the import of what listens to it.
    end = time.monotonic() + PATIENCE
    told = threading.Event()
    threading.Thread(target=lambda: watch.wait() and told.set(), daemon=True).start()
    while not told.wait(0.05) and time.monotonic() < end:
        written(path)

    assert told.is_set()
    watch.stop()


class Hints(threading.Thread):
    """Gathers the changes that the system tells of."""

    def __init__(self, *paths: Path) -> None:
        super().__init__(daemon=True)
        self.paths, self.stopped = tuple(map(str, paths)), threading.Event()
        self.told: queue.Queue[set[tuple[Change, str]]] = queue.Queue()
        self.start()

    def run(self) -> None:
        for changes in watching._hints(self.paths, self.stopped):
            self.told.put(changes)

    def until(self, change: Change, path: Path) -> set[str]:
        """Give the names of all that were told of until one of them is changed in this way."""
        names: set[str] = set()
        while True:
            changes = self.told.get(timeout=PATIENCE)
            names |= {Path(where).name for _, where in changes}
            if (change, str(path)) in changes:
                return names

    def begin(self, path: Path) -> None:
        """Write to a path until that is told: from then on everything is."""
        end = time.monotonic() + PATIENCE
        while self.told.empty() and time.monotonic() < end:
            written(path)
            time.sleep(0.05)


def test_what_happens_to_others_in_the_folder_is_no_hint(path: Path):
    hints = Hints(path)
    hints.begin(path)
    # Changes are told in their order: this one is before that of the path, or never.
    (path.parent / "other").write_bytes(b"x")
    path.unlink()

    assert hints.until(Change.deleted, path) == {path.name}
    hints.stopped.set()


def test_a_file_that_comes_beside_another_is_a_hint_if_it_is_watched_too(path: Path):
    beside = path.with_name(f"{path.name}-wal")
    hints = Hints(path, beside)
    hints.begin(path)
    beside.write_bytes(b"x")

    assert hints.until(Change.added, beside) == {path.name, beside.name}
    hints.stopped.set()


@pytest.mark.parametrize("error", [OSError("no more watches"), RuntimeError, ImportError])
def test_without_hints_looks_go_on(path: Path, monkeypatch: pytest.MonkeyPatch, error: Any):
    def hints(*_: object) -> None:
        raise error

    monkeypatch.setattr(watching, "_hints", hints)
    watch = Watch(str(path), every=0.05)
    assert watch.wait()
    written(path)

    assert looks_until_told(watch) == 1
    watch.stop()


def test_a_change_right_after_another_is_told_though_it_looks_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    # However long a busy machine takes from one look to the next.
    within_an_hour = partial(has_settled, within=int(HOUR * 1e9))
    monkeypatch.setattr(watching, "has_settled", within_an_hour)
    watch = Watch(str(path), every=0.02, takes_hints=False)
    path.write_bytes(b"{}\n")
    assert watch.wait()

    assert looks_until_told(watch) == 1
    watch.stop()


def test_a_time_to_come_is_no_reason_to_look_again_and_again(path: Path):
    later = time.time() + HOUR
    os.utime(path, (later, later))
    watch = Watch(str(path), every=0.02, takes_hints=False)
    assert watch.wait()
    threading.Timer(0.5, watch.stop).start()

    assert not watch.wait()


def test_it_says_when_the_last_of_its_paths_was_written_to(path: Path, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    inside, coming = tmp_path / "folder" / "1.json", tmp_path / "coming"
    for file, at in ((inside, OLD + 5), (coming, time.time() + HOUR)):
        file.write_bytes(b"{}")
        os.utime(file, (at, at))
    os.utime(inside.parent, (OLD + 3, OLD + 3))
    paths = [str(path), str(inside.parent), str(coming), str(tmp_path / "none")]
    watch = Watch(*paths, takes_hints=False)

    assert (watch.written, written_at([]), written_at(paths)) == (0, 0, OLD + 5)
    assert watch.wait()
    assert watch.written == OLD + 5


def test_it_is_stopped_at_once_from_another_thread(path: Path):
    waiter = Waiter(Watch(str(path), every=HOUR, takes_hints=False))
    end = time.monotonic() + PATIENCE
    while not waiter.told and time.monotonic() < end:
        time.sleep(0.01)
    waiter.watch.stop()
    waiter.join(PATIENCE)

    assert (waiter.told, waiter.is_alive()) == (1, False)
    assert not waiter.watch.wait()


@pytest.mark.parametrize("takes_hints", [False, True])
def test_of_a_folder_all_that_is_in_it_is_watched(tmp_path: Path, *, takes_hints: bool):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    file = inner / "1.json"
    file.write_bytes(b"{}")
    watch = Watch(str(tmp_path), every=0.05, takes_hints=takes_hints)
    assert watch.wait()
    file.write_bytes(b"{} ")
    assert looks_until_told(watch) == 1
    (inner / "2.json").write_bytes(b"{}")
    assert looks_until_told(watch) == 1
    watch.stop()


def test_of_several_paths_each_is_watched_and_one_that_is_not_there_may_come(
    path: Path, tmp_path: Path
):
    other = tmp_path / "later" / "t.jsonl"
    watch = Watch(str(path), str(other), every=0.05, takes_hints=False)
    assert watch.wait()
    other.parent.mkdir()
    aged_file = other
    aged_file.write_bytes(b"{}\n")

    assert looks_until_told(watch) == 1
    written(path)
    assert looks_until_told(watch) == 1
    watch.stop()


def test_what_has_no_path_is_asked_every_now_and_then():
    watch = Watch(every=0.05)
    assert seconds_until_told(watch) < PATIENCE
    assert seconds_until_told(watch) >= 0.04
    assert watch.written == 0.0
    watch.stop()
    assert not watch.wait()
