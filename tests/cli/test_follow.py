"""`ttdbg log --follow` and `ttdbg replay --follow`, as processes of their own beside a writer."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from builders import FIXTURES, PI_HEADER, jsonl, pi, user
from writers import append, in_place, renamed_over

PATIENCE = 60.0
INTERRUPTED = 130


def entry(row: int) -> bytes:
    return jsonl(pi(f"entry-{row}", f"entry-{row - 1}" if row else None, user(f"said {row}")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER) + entry(0) + entry(1))
    return path


class Running:
    """A command that runs, and what it has written so far, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._out = _lines_of(process.stdout)
        self._err = _lines_of(process.stderr)

    def line(self) -> str:
        return self._out.get(timeout=PATIENCE)

    def lines(self, count: int) -> list[str]:
        return [self.line() for _ in range(count)]

    def objects(self, count: int) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines(count)]

    def said(self) -> str:
        return self._err.get(timeout=PATIENCE)

    def interrupted(self) -> int:
        """Press Ctrl-C; give the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    @property
    def is_silent(self) -> bool:
        return self._out.empty() and self._err.empty()


def _lines_of(stream: IO[bytes] | None) -> queue.Queue[str]:
    assert stream is not None
    found: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in stream:
            found.put(line.decode().rstrip("\n"))
        stream.close()

    threading.Thread(target=read, daemon=True).start()
    return found


@contextmanager
def running(*arguments: object, stdin: int = subprocess.DEVNULL) -> Iterator[Running]:
    command = [sys.executable, "-W", "error", "-m", "tt_debugger", *map(str, arguments)]
    with subprocess.Popen(  # noqa: S603 - our own program
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    ) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def ids(answers: list[dict[str, Any]]) -> list[str]:
    return [each["checkpoint"]["id"] for each in answers]


def test_log_adds_a_line_for_each_checkpoint_and_ends_with_ctrl_c(path: Path):
    with running("log", path, "--follow") as log:
        assert ["said 0" in log.line(), "said 1" in log.line()] == [True, True]
        for row in (2, 3):
            append(path, entry(row))
            assert f"said {row}" in log.line()
        assert log.interrupted() == INTERRUPTED
        assert log.is_silent


def test_replay_is_a_stream_that_goes_on_as_the_file_grows(path: Path):
    with running("replay", path, "--follow", "--json", "--states") as replay:
        header, *first = replay.objects(3)
        assert (header["ttdbg"], header["format"], header["from_row"]) == (1, "pi", 1)
        assert ids(first) == ["entry-0", "entry-1"]
        append(path, entry(2) + entry(3))
        more = replay.objects(2)
        assert ids(more) == ["entry-2", "entry-3"]
        assert [each["checkpoint"]["row"] for each in more] == [3, 4]
        assert len(more[1]["state"]["messages"]) == 4
        assert replay.interrupted() == INTERRUPTED
        assert replay.is_silent


def test_a_torn_line_is_told_once_it_is_whole_and_once_only(path: Path):
    whole = entry(2)
    with running("replay", path, "--follow", "--json") as replay:
        replay.lines(3)
        for begin in range(0, len(whole), 9):
            append(path, whole[begin : begin + 9])
        append(path, entry(3))
        assert ids(replay.objects(2)) == ["entry-2", "entry-3"]
        assert replay.interrupted() == INTERRUPTED
        assert replay.is_silent


@pytest.mark.parametrize("how", [in_place, renamed_over])
def test_a_file_that_was_cut_or_replaced_begins_anew_with_a_header(
    path: Path, how: Callable[[Path, bytes], None]
):
    with running("replay", path, "--follow", "--json") as replay:
        replay.lines(3)
        how(path, jsonl(PI_HEADER | {"id": "other"}) + entry(0))
        header, again = replay.objects(2)
        assert (header["session"]["id"], header["from_row"]) == ("other", 1)
        assert ids([again]) == ["entry-0"]
        assert replay.said() == f"{path}: the session was cut or replaced, and is told anew"


def test_what_was_told_of_a_last_row_that_changes_is_taken_back_by_a_header(path: Path):
    with running("replay", path, "--follow", "--json") as replay:
        replay.lines(3)
        append(path, entry(1))
        header, *rows = replay.objects(3)
        assert (header["from_row"], ids(rows)) == (2, ["entry-1@3", "entry-1"])
        assert replay.said() == f"{path}: what was told from row 2 on has changed"


def test_log_draws_anew_what_was_cut(path: Path):
    with running("log", path, "--follow") as log:
        log.lines(2)
        path.write_bytes(jsonl(PI_HEADER) + entry(0))
        assert "said 0" in log.line()
        assert log.said() == f"{path}: the session was cut or replaced, and is told anew"


def test_a_blank_file_is_followed_from_its_first_line_on(path: Path):
    path.write_bytes(b"")
    with running("replay", path, "--follow", "--json") as replay:
        assert json.loads(replay.line())["format"] is None
        append(path, jsonl(PI_HEADER)[:20])
        append(path, jsonl(PI_HEADER)[20:] + entry(0))
        header, first = replay.objects(2)
        assert (header["format"], header["from_row"]) == ("pi", 1)
        assert ids([first]) == ["entry-0"]


def test_what_is_written_beside_a_database_is_told(tmp_path: Path):
    path = tmp_path / "g.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.executescript((FIXTURES / "goose" / "sessions.sql").read_text())
        writer.execute("pragma journal_mode = wal")
        # What is told at the beginning is in the database itself.
        writer.execute("pragma wal_checkpoint(truncate)")
        for file in tmp_path.iterdir():
            os.utime(file, (1_000_000_000, 1_000_000_000))
        with running("replay", path, "--follow", "--json") as replay:
            header, *_ = replay.objects(9)
            assert header["format"] == "goose"
            for text in ("first", "second"):
                writer.execute(
                    "insert into messages (session_id, role, content_json, created_timestamp)"
                    " values ('20260901_2', 'user', ?, 1788250000)",
                    (json.dumps([{"type": "text", "text": text}]),),
                )
                writer.commit()
                (told,) = replay.objects(1)
                assert told["checkpoint"]["summary"] == text
            assert path.stat().st_mtime == 1_000_000_000


def test_a_folder_that_was_opened_by_a_file_in_it_is_followed(tmp_path: Path):
    shutil.copytree(FIXTURES / "openhands" / "3f0c", tmp_path / "talk")
    events = tmp_path / "talk" / "events"
    for file in tmp_path.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    with running("replay", events / "event-00001-ev-1.json", "--follow", "--json") as replay:
        replay.lines(10)
        # The first may be there before the first look.
        for number in (9, 10):
            event = {"id": f"new-{number}", "kind": "PauseEvent", "source": "user"}
            (events / f"event-{number:05d}-new.json").write_text(json.dumps(event))
            assert ids(replay.objects(1)) == [f"new-{number}"]


def test_a_file_that_is_gone_for_a_while_is_followed_when_it_is_back(path: Path):
    with running("replay", path, "--follow", "--json") as replay:
        replay.lines(3)
        content = path.read_bytes()
        path.unlink()
        renamed_over(path, content + entry(2))
        assert ids(replay.objects(1)) == ["entry-2"]


def test_a_pipe_is_read_to_its_end_and_that_is_all(path: Path):
    with path.open("rb") as file, running("log", "-", "--follow", stdin=file.fileno()) as log:
        assert "said 1" in log.lines(2)[1]
        assert log.said() == "- is read to its end, behind which nothing comes"
        assert log.process.wait(PATIENCE) == 0


def test_a_reader_that_goes_away_ends_it_in_peace(path: Path):
    with running("replay", path, "--follow", "--json") as replay:
        replay.lines(3)
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "tt_debugger", "replay", str(path), "--follow", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        append(path, entry(2))
        assert (process.wait(PATIENCE), process.stderr.read()) == (0, b"")


def test_one_object_cannot_be_followed_and_the_stream_is_named(ttdbg: Callable, path: Path):
    answer = ttdbg("log", path, "--follow", "--json")

    assert (answer.code, answer.out) == (2, "")
    assert f"ttdbg replay {path} --follow --json" in answer.err


@pytest.mark.parametrize("ref", ["#root..@", "#@"])
def test_a_point_or_a_range_cannot_be_followed(ttdbg: Callable, path: Path, ref: str):
    answer = ttdbg("replay", f"{path}{ref}", "--follow", "--json")

    assert (answer.code, answer.out) == (2, "")
    assert "a point or a range does not grow" in answer.err
