"""The log as commits: a ref of its own, and nothing else of the repository is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from failing import failing
from record.backends import EVERY, HEADER, changed, some, start, time_at
from repositories import EPOCH, Made, a_shop, tampered

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import Changed, Entry, Forked, Header, Said
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, CannotWriteError, UsageError
from tt_debugger.opening import split_location
from tt_debugger.record.backends import git
from tt_debugger.record.backends.git import GitLog
from tt_debugger.record.backends.options import Options
from tt_debugger.storage import git_refs
from tt_debugger.storage.repository import value_of

REF = "refs/agents/main"
HOUR = time_at(9)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = Made(tmp_path / "repository")
    made.commit("First\n", {"a.txt": "a\n"})
    return made


def opened(made: Made, ref: str = REF) -> GitLog:
    return GitLog.open(f"git:{made.folder}#{ref}", Options())


def begun(made: Made, count: int = 0) -> GitLog:
    """Begin a log, and append so many entries one by one."""
    log = opened(made)
    log.begin(HEADER)
    for each in some(count)[:count]:
        log.append([each])
    return log


def oldest_first(log: GitLog) -> list[Entry]:
    return list(log.newest_first())[::-1]


def file_of(made: Made, name: str, commit: str = REF) -> Any:
    return json.loads(made.git("show", f"{commit}:{name}"))


def contents(made: Made) -> dict[str, bytes]:
    """Give all files of a work tree and its repository but for objects, refs and our lock."""
    apart = ("objects/", "refs/agents/", "ttdbg.lock")
    names = {
        str(each.relative_to(made.folder)): each
        for each in made.folder.rglob("*")
        if each.is_file()
    }
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.removeprefix(".git/").startswith(apart)
    }


def test_work_tree_index_head_and_branches_are_as_they_were(made: Made):
    (made.folder / "new.txt").write_text("new")
    (made.folder / "a.txt").write_text("changed")
    made.git("add", "new.txt")
    status, before = made.git("status", "--porcelain"), contents(made)
    assert before.keys() > {"a.txt", ".git/HEAD", ".git/index", ".git/refs/heads/main"}

    with closing(begun(made, 4)) as log:
        log.append(EVERY)

    assert contents(made) == before
    assert made.git("status", "--porcelain") == status == "M a.txt\nA  new.txt"
    assert made.git("for-each-ref", "--format=%(refname)", "refs/agents").startswith(REF)


def test_an_entry_is_a_commit_whose_author_is_the_session(made: Made):
    step = Changed("e1", "e0", time_at(61), name="plan\nit", tool="a b", changes=(Put(("n",), 1),))
    with closing(begun(made, 1)) as log:
        log.append([step])

    asked = "%an|%ae|%cn|%ce|%at|%ct|%B"
    assert made.git("log", f"--format={asked}", "-1", REF) == (
        f"main|main@agents.invalid|main|main@agents.invalid|{EPOCH + 61}|{EPOCH + 61}|plan it\n\n"
        "Entry: e1\nTurn: 2\nSession: main\nTool: a b"
    )
    assert made.git("ls-tree", "--name-only", REF).split() == [
        *("effects.json", "entry.json", "header.json", "state.json")
    ]
    assert file_of(made, "state.json") == {"messages": [], "n": 1}
    assert file_of(made, "entry.json") == {
        "type": "change",
        "id": "e1",
        "parent": "e0",
        "time": "2026-01-01T00:01:01Z",
        "name": "plan\nit",
        "tool": "a b",
        "changes": [{"op": "put", "path": ["n"], "value": 1}],
    }
    assert "state" not in file_of(made, "entry.json", f"{REF}~1")
    assert made.git("log", "--format=%s", REF).split("\n") == ["plan it", "snapshot", "a run"]


def test_git_shows_what_a_step_did_to_the_state_line_by_line(made: Made):
    with closing(begun(made, 3)):
        told = made.git("diff", "-U0", f"{REF}~1", REF, "--", "state.json")

    assert told.split("\n")[-2:] == ['-  "n": 1', '+  "n": 2']


def test_the_tree_of_entries_is_the_graph_of_commits(made: Made):
    with closing(begun(made)) as log:
        log.append(EVERY[:6])
        log.append(EVERY[6:])

    log = "log", "--glob=refs/agents"
    asked = "--format=%H\t%P\t%(trailers:key=Entry,valueonly,separator=%x2C)"
    lines = [f"{each}\t\t".split("\t")[:3] for each in made.git(*log, asked).split("\n")]
    told = {commit: entry for commit, _, entry in lines}
    parents = {entry: told[parent] for _, parent, entry in lines if entry}
    assert parents == {each.id: each.parent or "" for each in EVERY}
    turns = made.git("log", "--glob=refs/agents", "--format=%(trailers:key=Turn,valueonly)")
    assert sorted(map(int, turns.split())) == list(range(len(EVERY) + 1))


def test_the_ledger_of_effects_stands_in_each_commit(made: Made):
    with closing(begun(made)) as log:
        log.append(EVERY)

    told = {each["key"]: each["status"] for each in file_of(made, "effects.json")}
    assert told == {"k0": "done", "k1": "done"}
    by_entry = {
        made.git("log", "-1", "--format=%(trailers:key=Entry,valueonly)", each).strip(): each
        for each in made.git("log", "--glob=refs/agents", "--format=%H").split()
    }
    assert [each["status"] for each in file_of(made, "effects.json", by_entry["s8"])] == [
        *("done", "unknown")
    ]


def test_git_finds_nothing_wrong_and_drops_nothing_however_it_packs(made: Made):
    with closing(begun(made)) as log:
        log.append(EVERY)
        made.git("fsck", "--strict", "--no-dangling")
        made.git("-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
        made.git("pack-refs", "--all")
        assert not (made.folder / ".git" / REF).exists()

        log.append([Said("after", "s13", time_at(20), message="hi")])
        made.git("gc", "-q", "--prune=now")

        assert oldest_first(log)[:-1] == list(EVERY)
    with closing(opened(made)) as log:
        assert [each.id for each in log.newest_first()][:3] == ["after", "s13", "s12"]
        log.append([Said("more", "after", time_at(21), message="hi")])
        assert len(oldest_first(log)) == len(EVERY) + 2
    assert made.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize(
    ("options", "path"), [(("--bare",), ""), (("--object-format=sha256",), ""), ((), ".git")]
)
def test_a_repository_may_be_bare_or_have_long_hashes_or_be_named_itself(
    tmp_path: Path, options: tuple[str, ...], path: str
):
    made = Made(tmp_path / "another", *options)

    with closing(GitLog.open(f"git:{made.folder / path}#{REF}", Options())) as log:
        log.begin(HEADER)
        log.append(EVERY)
    with closing(opened(made)) as log:
        assert oldest_first(log) == list(EVERY)
    assert made.git("fsck", "--strict", "--no-dangling").startswith(("", "notice"))


def test_a_work_tree_beside_the_first_records_to_the_same_refs(made: Made):
    made.git("worktree", "add", "-q", str(made.folder.parent / "second"))

    with closing(GitLog.open(f"git:{made.folder.parent}/second#{REF}", Options())) as log:
        log.begin(HEADER)
        log.append(some(2))
    with closing(opened(made)) as log:
        assert oldest_first(log) == some(2)


def test_a_session_is_a_ref_of_its_name_where_no_ref_is_named(made: Made):
    names = {
        "run": "refs/agents/run",
        "a/b c": "refs/agents/a%2Fb%20c",
        ".x..y.lock": "refs/agents/%2Ex%2E.y%2Elock",
        "main-forks": "refs/agents/main%2Dforks",
    }
    for session, ref in names.items():
        with closing(GitLog.open(f"git:{made.folder}", Options(session))) as log:
            log.begin(Header(session, HEADER.created_at))
            assert log.location == f"git:{made.folder}#{ref}"
    assert made.git("for-each-ref", "--format=%(refname)", "refs/agents").split() == sorted(
        names.values()
    )


def test_where_nothing_can_be_recorded_to_it_is_said_what_can(tmp_path: Path, made: Made):
    with pytest.raises(CannotReadError, match="there is no git repository") as refused:
        GitLog.open(f"git:{tmp_path}", Options())
    assert refused.value.hint is not None
    assert refused.value.hint.startswith(f"`git init {tmp_path}` makes one")
    for ref in ("refs/heads/main", "refs/agents/", "refs/agents/a..b", "refs/agents/a-forks/b"):
        with pytest.raises(UsageError, match="is no ref that is recorded to"):
            opened(made, ref)
    made.git("update-ref", REF, "HEAD")
    with pytest.raises(CannotReadError, match="is no recording"):
        opened(made)


def test_nothing_that_the_repository_says_is_obeyed(tmp_path: Path):
    made = a_shop(tmp_path / "shop")
    canary = tmp_path / "canary"
    tampered(made, canary)

    with closing(begun(made, 3)) as log:
        log.append([Said("x", "e0", time_at(9), message="hi")])
        assert len(oldest_first(log)) == 4
    with closing(opened(made)) as log:
        log.append([changed(3)])
        assert len(oldest_first(log)) == 5

    assert not canary.exists()


def test_whoever_wrote_second_is_refused_and_goes_on_when_it_opens_again(made: Made):
    with closing(begun(made, 2)) as one, closing(opened(made)) as other:
        other.append([changed(2)])
        with pytest.raises(CannotWriteError, match="somebody else has written") as refused:
            one.append([Changed("mine", "e1", time_at(5))])
        assert refused.value.hint == (
            "open it again to go on from there, or fork to a session of its own"
        )
        assert oldest_first(other) == some(3)
    with closing(opened(made)) as again:
        again.append([Changed("mine", "e2", time_at(5))])
        assert [each.id for each in oldest_first(again)] == ["e0", "e1", "e2", "mine"]


def test_a_ref_that_git_moved_is_left_where_it_is(made: Made):
    with closing(begun(made, 2)) as log:
        made.git("update-ref", REF, f"{REF}~1")
        with pytest.raises(CannotWriteError, match="somebody else has written"):
            log.append([changed(2)])

    with closing(opened(made)) as log:
        assert oldest_first(log) == some(1)


def test_two_that_begin_one_log_do_not_both(made: Made):
    with closing(opened(made)) as one, closing(opened(made)) as other:
        one.begin(HEADER)
        with pytest.raises(CannotWriteError, match="somebody else has written"):
            other.begin(Header("main", time_at(9)))
    with closing(opened(made)) as log:
        assert log.header == HEADER


@pytest.mark.parametrize("more", [0, 1])
def test_after_an_outcome_that_is_not_known_the_same_again_adds_nothing_twice(
    made: Made, more: int
):
    new = [Forked("f", "e1", time_at(8)), Changed("g", "f", time_at(9))]
    with closing(begun(made, 4)) as log:
        with (
            mock.patch.object(git_refs, "sync_names_beside", side_effect=OSError(5, "disk")),
            mock.patch.object(git, "add"),
            pytest.raises(CannotWriteError),
        ):
            log.append(new)
        assert oldest_first(log) == some(4)

        again = [*new, Changed("h", "g", time_at(10))][: 2 + more]
        log.append(again)

        assert oldest_first(log) == [*some(4), *again]
    with closing(opened(made)) as log:
        assert oldest_first(log) == [*some(4), *again]


def test_ends_that_a_crash_kept_for_a_commit_that_never_came_count_for_nothing(made: Made):
    with closing(begun(made, 3)) as log:
        lost = [
            Forked("f", "e0", time_at(8)),
            Changed("lost", "e1", time_at(8)),
            Changed("g", "f", time_at(9)),
        ]
        with (
            mock.patch.object(git, "move", side_effect=KeyboardInterrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            log.append(lost)
    assert len(made.git("for-each-ref", "refs/agents").split("\n")) == 3

    with closing(opened(made)) as log:
        assert oldest_first(log) == some(3)
        more = [Changed(f"m{number}", "e2", time_at(number)) for number in range(10, 16)]
        for each in more:
            log.append([each])
        assert oldest_first(log) == [*some(3), *more]
    with closing(opened(made)) as log:
        assert oldest_first(log) == [*some(3), *more]


def test_the_lock_of_a_recorder_that_was_killed_is_in_nobodys_way(made: Made):
    with closing(begun(made, 2)) as log:
        lock = made.folder / ".git" / f"{REF}.lock"
        lock.write_text(made.git("rev-parse", REF) + "\n")

        log.append([changed(2)])

        assert oldest_first(log) == some(3)
        assert not lock.exists()


@pytest.mark.parametrize("held", ["", "HEAD"])
def test_a_lock_of_another_program_is_respected(
    made: Made, monkeypatch: pytest.MonkeyPatch, held: str
):
    monkeypatch.setattr(git_refs, "PATIENCE", 0)
    with closing(begun(made, 2)) as log:
        lock = made.folder / ".git" / f"{REF}.lock"
        lock.write_text(made.git("rev-parse", held) if held else "")
        with pytest.raises(CannotWriteError, match="locked by another program"):
            log.append([changed(2)])
        assert oldest_first(log) == some(2)
        lock.unlink()

        log.append([changed(2)])

        assert oldest_first(log) == some(3)


def test_a_damaged_object_is_told_and_written_over_by_nobody(tmp_path: Path, made: Made):
    begun(made, 2).close()
    twin = Made(tmp_path / "twin")
    shutil.copytree(made.folder, twin.folder, dirs_exist_ok=True)
    with closing(opened(twin)) as log:
        log.append([changed(2)])
    name = twin.git("rev-parse", f"{REF}:entry.json")
    path = made.folder / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"damaged")

    with closing(opened(made)) as log:
        with pytest.raises(CannotWriteError, match="is damaged") as refused:
            log.append([changed(2)])
        assert refused.value.hint == "git fsck tells more"
        assert path.read_bytes() == b"damaged"
        assert oldest_first(log) == some(2)
        path.unlink()
        log.append([changed(2)])
    assert made.git("rev-parse", REF) == twin.git("rev-parse", REF)
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with closing(opened(made)) as log, pytest.raises(CannotReadError, match=r"entry\.json of"):
        list(log.newest_first())


def test_whichever_call_fails_all_is_there_or_an_error_and_the_same_again_adds_all_once(
    made: Made, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the disk is not waited for

    def new(number: int) -> list[Entry]:
        # From the start each time: the end of the branch before has to be kept, too.
        return [Forked(f"f{number}", "e0", time_at(8)), Changed(f"g{number}", f"f{number}", HOUR)]

    expected = some(2)
    told: set[bool] = set()
    with closing(begun(made, 2)) as log:
        # What it goes on from is read by git, whose calls are none of ours.
        log.append(new(-1))
        with failing(None) as count:
            log.append(new(-2))
        assert count.calls > 50
        expected += [*new(-1), *new(-2)]
        for number in range(count.calls):
            before = value_of(log._repository, REF)
            with failing(number, "an error of the disk"), suppress(CannotWriteError):
                log.append(new(number))
            told.add(value_of(log._repository, REF) == before)

            log.append(new(number))

            expected += new(number)
            assert list(islice(log.newest_first(), 3)) == expected[:-4:-1], number
        assert oldest_first(log) == expected
    with closing(opened(made)) as log:
        assert oldest_first(log) == expected
    assert told == {True, False}
    assert made.git("fsck", "--strict", "--no-dangling") == ""


def test_a_path_with_a_hash_in_it_is_told_from_the_ref(tmp_path: Path):
    made = Made(tmp_path / "a#b")
    with closing(begun(made, 2)) as log:
        assert log.location == f"git:{made.folder}#{REF}"
        path, fragment = split_location(f"{log.location}:@~1")
    assert (path, fragment.session) == (f"git:{made.folder}", "main")
    with closing(GitLog.open(f"git:{made.folder}", Options())) as log:
        assert oldest_first(log) == some(2)


@pytest.fixture(name="shown", params=["git:{}#refs/agents/main", "{}#refs/agents/main", "git:{}"])
def _shown(made: Made, request: pytest.FixtureRequest) -> Iterator[Debugger]:
    with closing(begun(made)) as log:
        log.append(EVERY)
    path, fragment = split_location(request.param.format(made.folder))
    with closing(Debugger.open(path, fragment.session)) as debugger:
        yield debugger


def test_ttdbg_shows_the_tree_with_the_ids_and_states_of_the_recorder(made: Made, shown: Debugger):
    session = shown.session
    states = states_in(made)

    assert (session.format, session.id, session.title) == ("recording_git", "main", "a run")
    assert session.ids == [each.id for each in EVERY]
    rows = {name: row for row, name in enumerate(session.ids)}
    assert list(session.parents) == [rows.get(each.parent or "", -1) for each in EVERY]
    assert {name: shown.state(row) for row, name in enumerate(session.ids)} == states
    assert session.active == len(EVERY) - 1


def states_in(made: Made) -> Mapping[str, Any]:
    """Give the states as git has them, by the entries of their commits."""
    asked = "--format=%H %(trailers:key=Entry,valueonly,separator=%x2C)"
    lines = made.git("log", "--glob=refs/agents", asked).split("\n")
    pairs = (each.partition(" ") for each in lines)
    return {entry: file_of(made, "state.json", commit) for commit, _, entry in pairs if entry}


def test_a_recording_is_followed_as_it_grows(made: Made):
    with closing(begun(made, 2)) as log:
        path, fragment = split_location(log.location)
        with closing(Debugger.open(path, fragment.session)) as debugger:
            assert debugger.session.ids == ["e0", "e1"]
            log.append([changed(2)])
            while debugger.follow() is not None:
                pass

            assert debugger.session.ids == ["e0", "e1", "e2"]
            assert debugger.state(2) == {"messages": [], "n": 2}


def test_of_several_recordings_the_one_that_was_written_to_last_is_shown(made: Made):
    for session, second in (("b", 5), ("a", 9), ("c", 7)):
        with closing(GitLog.open(f"git:{made.folder}", Options(session))) as log:
            log.begin(Header(session, time_at(0)))
            log.append([Changed(session, None, time_at(second))])

    with closing(Debugger.open(f"git:{made.folder}")) as debugger:
        assert debugger.session.ids == ["a"]
        assert debugger.others == ("b", "c")


def test_a_commit_whose_entry_is_damaged_is_shown_as_one_that_cannot_be_read(made: Made):
    with closing(begun(made, 3)):
        name = made.git("rev-parse", f"{REF}~1:entry.json")
    (made.folder / ".git" / "objects" / name[:2] / name[2:]).unlink()

    with closing(Debugger.open(f"git:{made.folder}")) as debugger:
        session = debugger.session
        assert session.ids == ["e0", "e1", "e2"]
        assert [each.checkpoint for each in session.findings][:1] == ["e1"]
        assert debugger.state(0) == {"messages": []}


def test_the_log_is_read_while_a_program_holds_the_repository_back(made: Made):
    # What recorders hold is a file of their own: git goes on as if it were not there.
    with closing(begun(made, 2)):
        subprocess.run(  # noqa: S603 - git, in a repository of ours
            ["git", "-C", str(made.folder), "status", "--porcelain"],  # noqa: S607
            check=True,
            capture_output=True,
            env={**os.environ, "HOME": str(made.folder)},
        )
        assert (made.folder / ".git" / "ttdbg.lock").read_bytes() == b""
        assert oldest_first(opened(made)) == [start(), changed(1)]
