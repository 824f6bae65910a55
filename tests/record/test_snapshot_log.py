"""The log of whole states: a file that outsiders read, and its history, which is the truth."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import replay_of
from failing import ERRORS, INTERRUPT, SHORT, failing
from record.backends import EVERY, HEADER, changed, some, start, time_at
from record.snapshot_runs import files_of
from saves import quick_folder

from tt_debugger.core.changes import Append, Put
from tt_debugger.core.recording.entries import Changed, Forked, Said, Snapshotted
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, CannotWriteError
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.snapshot import SnapshotLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


def opened(path: Path) -> SnapshotLog:
    return SnapshotLog.open(str(path), Options())


def begun(path: Path, count: int = 0) -> SnapshotLog:
    """Begin a log, and append so many entries one by one."""
    log = opened(path)
    log.begin(HEADER)
    for each in some(count)[:count]:
        log.append([each])
    return log


def history_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.history")


def names_in(path: Path) -> list[str]:
    return sorted(files_of(history_of(path)))


def oldest_first(log: SnapshotLog) -> list[Any]:
    return list(log.newest_first())[::-1]


def test_an_entry_is_a_document_by_its_number_and_id_and_the_newest_is_the_file(path: Path):
    with closing(begun(path, 3)):
        assert names_in(path) == [
            *("000000.json", "000001-e0.json", "000002-e1.json", "000003-e2.json")
        ]
        newest = path.read_bytes()
        assert newest == (history_of(path) / "000003-e2.json").read_bytes()
        assert json.loads(newest) == {
            "schema_version": 1,
            "session_id": "main",
            "checkpoint_id": "e2",
            "parent_id": "e1",
            "written_at": "2026-01-01T00:00:02Z",
            "title": "a run",
            "entry": {
                "type": "change",
                "id": "e2",
                "parent": "e1",
                "time": "2026-01-01T00:00:02Z",
                "changes": [{"op": "put", "path": ["n"], "value": 2}],
            },
            "effects": [],
            "state": {"messages": [], "n": 2},
        }
        assert newest.count(b"\n") > 20  # for people, and for tools that compare lines


def test_each_document_has_the_state_that_its_own_branch_came_to(path: Path):
    with closing(begun(path, 3)) as log:
        log.append([Forked("f", "e1", time_at(9)), Changed("g", "f", time_at(10))])
        log.append([changed(3)])
        log.append([Said("h", "g", time_at(11), message="hi")])

        states = {name: json.loads(data)["state"] for name, data in documents(path).items()}

    assert states == {
        "000001-e0.json": {"messages": []},
        "000002-e1.json": {"messages": [], "n": 1},
        "000003-e2.json": {"messages": [], "n": 2},
        "000004-f.json": {"messages": [], "n": 1},
        "000005-g.json": {"messages": [], "n": 1},
        "000006-e3.json": {"messages": [], "n": 3},
        "000007-h.json": {"messages": ["hi"], "n": 1},
    }


def documents(path: Path) -> dict[str, bytes]:
    return {name: data for name, data in files_of(history_of(path)).items() if "-" in name}


def test_effects_are_known_of_the_whole_session_on_whatever_branch(path: Path):
    with closing(begun(path)) as log:
        log.append(EVERY)
        ledger = json.loads(path.read_bytes())["effects"]

    assert ledger == [
        {
            "key": "k0",
            "status": "done",
            "entry": "before",
            "tool": "mail",
            "input_hash": "ab",
            "result": {"sent": True},
        },
        {
            "key": "k1",
            "status": "done",
            "entry": "s9",
            "tool": "mail",
            "input_hash": "0c",
            "result": {"b": 1, "a": "ü"},
        },
    ]


def test_what_cannot_be_done_to_a_state_is_left_out_of_it_and_kept_in_the_entry(path: Path):
    odd = Changed("e1", "e0", time_at(1), changes=(Append(("no",), 1), Put(("n",), 2)))
    with closing(begun(path, 1)) as log:
        log.append([odd])

        assert json.loads(path.read_bytes())["state"] == {"messages": [], "n": 2}
        assert oldest_first(log) == [start(), odd]


def test_ids_of_any_kind_name_files_and_are_told_apart(path: Path):
    ids = ["a/b", "..", "a" * 500, "a" * 501, "\0", "ü", "A", "a", "%2F"]
    entries = [Changed(each, None, time_at(0)) for each in ids]
    with closing(begun(path)) as log:
        log.append(entries)
        log.append(entries[3:])
    with closing(opened(path)) as log:
        log.append(entries)

        assert oldest_first(log) == entries


def test_a_file_that_is_no_state_of_a_recorder_is_not_written_over(path: Path):
    path.write_text("{}")
    with closing(opened(path)) as log:
        with pytest.raises(CannotWriteError, match="is there already") as refused:
            log.begin(HEADER)

        assert refused.value.hint == "choose another name, or move it away"
    assert [each.name for each in path.parent.iterdir()] == ["state.json"]
    assert path.read_text() == "{}"


def test_a_history_without_a_header_is_none_of_ours(path: Path):
    history_of(path).mkdir()
    (history_of(path) / "000001-a.json").write_text("{}")

    with pytest.raises(CannotReadError, match="no history of a recorder"):
        opened(path)


@pytest.mark.parametrize("name", ["state.json", "snapshot:state.json", "state.json.history"])
def test_a_log_is_named_by_its_file_or_by_its_history(path: Path, name: str):
    begun(path, 1).close()
    scheme, colon, rest = name.rpartition(":")

    with closing(SnapshotLog.open(f"{scheme}{colon}{path.parent}/{rest}", Options())) as log:
        assert log.location == str(history_of(path))
        assert oldest_first(log) == [start()]


def test_a_second_recorder_is_refused_while_one_has_the_log_open(path: Path):
    log = begun(path, 1)
    with pytest.raises(CannotWriteError, match="another recorder") as refused:
        opened(path)
    assert refused.value.hint
    log.append([changed(1)])
    log.close()
    with pytest.raises(CannotWriteError, match="not open for writing"):
        log.append([changed(2)])

    with closing(opened(path)) as again:
        assert oldest_first(again) == some(2)


def test_two_that_begin_one_log_do_not_both(path: Path):
    with closing(opened(path)) as one, closing(opened(path)) as other:
        one.begin(HEADER)
        for _ in range(2):
            with pytest.raises(CannotWriteError):
                other.begin(HEADER)
        one.append([start()])

        assert oldest_first(one) == [start()]
    assert names_in(path) == ["000000.json", "000001-e0.json"]


@pytest.mark.parametrize("held", [None, b"", b"{}", "older"])
def test_a_file_that_is_not_what_the_history_says_is_mended_when_the_log_is_opened(
    path: Path, held: bytes | str | None
):
    begun(path, 3).close()
    newest = path.read_bytes()
    if held is None:
        path.unlink()
    else:
        older = (history_of(path) / "000002-e1.json").read_bytes()
        path.write_bytes(older if isinstance(held, str) else held)

    opened(path).close()

    assert path.read_bytes() == newest


def test_what_was_to_be_more_entries_at_once_and_was_cut_off_counts_for_nothing(path: Path):
    with closing(begun(path, 1)) as log:
        log.append([changed(number) for number in range(1, 4)])
    (history_of(path) / "000004-e3.json").unlink()
    assert names_in(path)[2:] == ["000002-e1.json", "000003-e2.json"]

    with closing(opened(path)) as log:
        assert oldest_first(log) == [start()]
        assert names_in(path) == ["000000.json", "000001-e0.json"]
        assert path.read_bytes() == (history_of(path) / "000001-e0.json").read_bytes()
        log.append(some(3)[1:])
        assert oldest_first(log) == some(3)


def test_a_damaged_document_is_passed_over_and_nothing_takes_its_place(path: Path):
    begun(path, 3).close()
    (history_of(path) / "000003-e2.json").write_bytes(b'{"entry": ')

    with closing(opened(path)) as log:
        assert oldest_first(log) == some(2)
        assert path.read_bytes() == (history_of(path) / "000002-e1.json").read_bytes()
        log.append([Changed("x", "e1", time_at(5), changes=(Put(("x",), 1),))])
        assert [each.id for each in log.newest_first()] == ["x", "e1", "e0"]

    assert names_in(path)[3:] == ["000003-e2.json", "000004-x.json"]
    assert (history_of(path) / "000003-e2.json").read_bytes() == b'{"entry": '
    assert json.loads(path.read_bytes())["state"] == {"messages": [], "n": 1, "x": 1}


@pytest.fixture(name="quick")
def _quick() -> Iterator[Path]:
    with quick_folder() as place:
        yield place / "at" / "state.json"


def anew(path: Path) -> SnapshotLog:
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir()
    log = begun(path, 2)
    log.append([])
    return log


TWO = [changed(2), changed(3)]


def outcome(log: SnapshotLog, path: Path) -> str:
    try:
        log.append(TWO)
    except CannotWriteError as error:
        return "error" if str(path.parent) in error.message else "error without a path"
    except KeyboardInterrupt:
        return "interrupted"
    return "done"


@pytest.mark.parametrize("how", [*ERRORS, SHORT])
def test_whichever_call_fails_all_is_there_or_an_error_and_the_same_again_adds_all_once(
    quick: Path, how: str
):
    with closing(anew(quick)) as log, failing(None) as count:
        log.append(TWO)
    assert count.calls > 20
    told: set[str] = set()
    for at in range(count.calls):
        with closing(anew(quick)) as log:
            with failing(at, how):
                told.add(outcome(log, quick))
            # What is read then is old or new, and never a part of what was to be added.
            assert oldest_first(log) in (some(2), some(4)), at
            assert json.loads(quick.read_bytes())["checkpoint_id"] in ("e1", "e3")

            log.append(TWO)

            assert oldest_first(log) == some(4), at
        with closing(opened(quick)) as log:
            assert oldest_first(log) == some(4), at
        assert json.loads(quick.read_bytes())["checkpoint_id"] == "e3"
        assert names_in(quick)[3:] == ["000003-e2.json", "000004-e3.json"]
    assert told - {"done"} == {SHORT: set(), INTERRUPT: {"interrupted"}}.get(how, {"error"})


@pytest.mark.parametrize("call", ["open", "fsync", "link"])
def test_a_disk_that_goes_on_failing_leaves_what_was_before(quick: Path, call: str):
    with closing(anew(quick)) as log, failing(None) as count:
        log.append(TWO)
    failed = 0
    for at in range(count.calls):
        with closing(anew(quick)) as log:
            with failing(at) as probe:
                log.append(TWO)
            if probe.failed != call:
                continue
        with closing(anew(quick)) as log:
            with failing(at, "an error of the disk", for_good=True):
                with pytest.raises(CannotWriteError):
                    log.append(TWO)
                failed += 1
            log.append(TWO)
            assert oldest_first(log) == some(4), at
    assert failed > 0


def test_a_sync_that_failed_is_never_tried_again_on_what_it_failed_for(
    quick: Path, monkeypatch: pytest.MonkeyPatch
):
    failed: list[tuple[int, int]] = []
    real = os.fsync

    def fsync(file: int) -> None:
        status = os.fstat(file)
        name = status.st_dev, status.st_ino
        assert name not in failed
        if not failed:
            failed.append(name)
            raise OSError(5, "Input/output error")
        real(file)

    with closing(anew(quick)) as log:
        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(CannotWriteError):
            log.append(TWO)
        log.append(TWO)

        assert oldest_first(log) == some(4)
    assert len(failed) == 1


@pytest.mark.parametrize("name", ["state.json", "state.json.history"])
def test_ttdbg_shows_the_tree_with_the_ids_and_states_of_the_recorder(path: Path, name: str):
    with closing(begun(path)) as log:
        log.append(EVERY)
    states = [json.loads(data)["state"] for _, data in sorted(documents(path).items())]

    with closing(Debugger.open(str(path.parent / name))) as debugger:
        session = debugger.session
        assert (session.format, session.id, session.title) == (
            *("recording_snapshots", "main"),
            "a run",
        )
        assert session.ids == [each.id for each in EVERY]
        rows = {name: row for row, name in enumerate(session.ids)}
        assert list(session.parents) == [rows.get(each.parent or "", -1) for each in EVERY]
        assert [debugger.state(row) for row in range(len(session))] == states
        assert session.extent is not None
        shown = sum(map(len, files_of(history_of(path)).values()))
        assert (session.extent.size, session.extent.skipped) == (shown, 0)


def test_a_document_whose_history_is_elsewhere_is_shown_with_its_state(path: Path):
    begun(path, 3).close()
    alone = path.with_name("alone.json")
    path.rename(alone)

    with closing(Debugger.open(str(alone))) as debugger:
        assert debugger.session.ids == ["e2"]
        assert debugger.state(0) == {"messages": [], "n": 2}
        assert [each.message for each in debugger.session.findings] == [
            "alone.json.history is not there: one document alone is shown"
        ]


def test_a_history_is_followed_as_it_grows(path: Path):
    with closing(begun(path, 2)) as log, closing(Debugger.open(log.location)) as debugger:
        assert debugger.session.ids == ["e0", "e1"]
        log.append([changed(2)])
        while debugger.follow() is not None:
            pass

        assert debugger.session.ids == ["e0", "e1", "e2"]
        assert debugger.state(2) == {"messages": [], "n": 2}


def test_what_was_cut_off_is_told_and_not_shown_as_entries(path: Path):
    with closing(begun(path, 1)) as log:
        log.append(some(4)[1:])
    (history_of(path) / "000004-e3.json").unlink()

    with closing(Debugger.open(str(history_of(path)))) as debugger:
        assert debugger.session.ids == ["e0"]
        assert [each.message for each in debugger.session.findings] == [
            "2 entries at the end of what was to be more at once"
        ]


def test_a_damaged_document_is_a_gap_that_hides_no_other(path: Path):
    begun(path, 3).close()
    (history_of(path) / "000002-e1.json").write_bytes(b"\0" * 9)

    with closing(Debugger.open(str(history_of(path)))) as debugger:
        session = debugger.session
        assert session.ids == ["e0", "gap@000002-e1", "e2"]
        assert session.extent is not None
        assert session.extent.skipped == 9
        store = debugger._store
        assert store is not None
        assert replay_of(store, session).state(2) == {"n": 2}


def test_a_snapshot_with_a_state_that_is_no_object_comes_back_as_it_was(path: Path):
    odd = Snapshotted("e0", None, time_at(0), state=[1])
    with closing(begun(path)) as log:
        log.append([odd])
    with closing(opened(path)) as log:
        assert oldest_first(log) == [odd]
