"""Forks of git: a branch whose last commit has the files and the message that were asked for."""

from __future__ import annotations

import base64
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from repositories import EPOCH, Made, a_shop

from tt_debugger.core.changes import Change, Drop, Put, State
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import BranchWritten, NewBranch, Written
from tt_debugger.core.model import iso_time
from tt_debugger.core.paths import parse_pointer
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.git_commits import GitCommits, trees
from tt_debugger.storage.writing import take_back, write
from tt_debugger.store import Forks

LATER = EPOCH + 3600.5
OURS = "ttdbg <ttdbg@localhost>"
BY_US = f"the author of the new commit is {OURS}; an edit of /author says another"
NOT_OUT = "nothing is checked out: the work tree is as it was until the command is run"


@pytest.fixture(scope="module")
def a_made_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_shop(tmp_path_factory.mktemp("made") / "tea shop").folder


@pytest.fixture
def shop(tmp_path: Path, a_made_shop: Path) -> Made:
    return at(shutil.copytree(a_made_shop, tmp_path / "tea shop", symlinks=True))


@pytest.fixture
def debugger(shop: Made) -> Iterator[Debugger]:
    with Debugger.open(str(shop.folder)) as opened:
        yield opened


def at(folder: Path) -> Made:
    """Give what runs git in a repository that is there."""
    found = Made.__new__(Made)
    found.folder = folder
    found._time = EPOCH
    return found


def put(path: str, value: Any) -> Change:
    return Put(parse_pointer(path), value)


def drop(path: str) -> Change:
    return Drop(parse_pointer(path))


def plan_of(debugger: Debugger, *edits: Change, row: int | None = None, **more: Any) -> Plan:
    if row is None:
        row = debugger.session.active
    assert row is not None
    state = debugger.state(row)
    told: dict[str, Any] = {
        "row": row,
        "state": state,
        "wanted": edited(state, edits),
        "edits": edits,
        "origin": debugger.ref(row),
        "time": LATER,
        "fresh": lambda count: b"\xab" * count,
    }
    return Plan(**told | more)


def forked(debugger: Debugger, plan: Plan) -> tuple[Draft, Written]:
    draft = debugger.draft(plan)
    (each,) = draft.writes
    return draft, write(each)


def state_at(draft: Draft) -> State:
    """Give the state at the end of a fork, read anew."""
    with Debugger.open(draft.location, draft.session) as opened:
        row = opened.session.row_of(draft.point)
        assert row is not None
        return opened.state(row)


def check_fork(debugger: Debugger, plan: Plan) -> Draft:
    """Check that a fork is what was asked for, but for what the draft says is its own."""
    draft, written = forked(debugger, plan)
    assert isinstance(written, BranchWritten)
    assert written.commit == draft.point
    found, wanted = state_at(draft), plan.wanted
    absent = msgspec.UNSET
    assert (
        tuple(
            sorted(
                key
                for key in {**found, **wanted}
                if found.get(key, absent) != wanted.get(key, absent)
            )
        )
        == draft.own
    )
    return draft


def labelled(debugger: Debugger, name: str) -> int:
    labels = debugger.session.labels.items()
    return next(row for row, label in labels if name in label.split(", "))


def subject(debugger: Debugger, text: str) -> int:
    heads = debugger.session.heads
    return next(row for row in range(len(heads)) if heads[row].summary == text)


def test_an_edited_file_makes_a_commit_after_the_one_that_is_forked(
    shop: Made, debugger: Debugger
):
    base = shop.git("rev-parse", "HEAD")
    plan = plan_of(debugger, put("/files/shop.py", "PRICES = {}\n"), note="fewer prices")

    draft = check_fork(debugger, plan)

    branch = f"ttdbg/fork-{base[:12]}-abababab"
    assert draft == Draft(
        writes=(
            NewBranch(
                repository=str(shop.folder),
                branch=branch,
                base=base,
                files={"shop.py": b"PRICES = {}\n"},
                message="Say what the shop sells\n",
                author="ttdbg",
                email="ttdbg@localhost",
                time=int(LATER),
            ),
        ),
        location=str(shop.folder),
        session="tea shop",
        point=shop.git("rev-parse", branch),
        resume_command=f"git -C '{shop.folder}' switch {branch}",
        notes=(
            BY_US,
            f"the new commit has the message of {base[:12]}; --message gives it its own",
            "the note is kept by ttdbg, and not in the commit",
            NOT_OUT,
        ),
        own=("author", "time"),
        is_read_back=True,
    )
    assert state_at(draft) == plan.wanted | {"author": OURS, "time": iso_time(int(LATER))}
    assert shop.git("rev-parse", f"{branch}^") == base
    assert shop.git("diff", "--name-status", f"{branch}^", branch) == "M\tshop.py"


def test_without_an_edit_the_branch_ends_at_the_commit_itself(shop: Made, debugger: Debugger):
    row = subject(debugger, "Add green tea")
    plan = plan_of(debugger, row=row, target="green again")
    name = debugger.session.ids[row]

    with pytest.raises(UsageError, match="no name of a branch"):
        debugger.draft(plan)
    draft = check_fork(debugger, msgspec.structs.replace(plan, target="green-again"))

    assert (draft.point, draft.own) == (name, ())
    assert draft.notes == (
        f"nothing is edited: the branch ends at {name[:12]}, without a new commit",
        NOT_OUT,
    )
    assert shop.git("rev-parse", "green-again") == name


def test_a_commit_that_is_lost_can_be_forked(shop: Made, debugger: Debugger):
    row = subject(debugger, "Sell coffee too")

    draft = check_fork(debugger, plan_of(debugger, put("/files/a", "a"), row=row))

    assert shop.git("rev-parse", f"{draft.point}^") == debugger.session.ids[row]


def test_a_message_alone_makes_a_commit_and_its_trailers_follow(shop: Made, debugger: Debugger):
    said = debugger.message({}, "Try again\n\nWhy-Not: because", LATER)
    assert said == Put(("message",), "Try again\n\nWhy-Not: because\n")

    draft = check_fork(debugger, plan_of(debugger, said))

    assert draft.own == ("author", "time", "trailers")
    assert draft.notes == (BY_US, NOT_OUT)
    assert state_at(draft)["trailers"] == {"Why-Not": "because"}
    assert shop.git("diff", "HEAD", draft.point) == ""


def test_trailers_may_be_edited_as_the_message_says_them(debugger: Debugger):
    edits = (put("/message", "One\n\nA: b\n"), put("/trailers", {"A": "b"}))

    assert check_fork(debugger, plan_of(debugger, *edits)).own == ("author", "time")


def test_files_are_added_taken_away_and_given_as_bytes(shop: Made, debugger: Debugger):
    data = base64.b64encode(b"\0\xff").decode()
    edits = (
        put("/files/docs~1new.md", "é\n"),
        put("/files/logo.bin", {"$bytes": data}),
        put("/files/README.md", ""),
        drop("/files/shop.py"),
        drop("/files/vendor"),
        drop("/files/link"),
    )

    draft = check_fork(debugger, plan_of(debugger, *edits))

    assert shop.git("diff", "--name-status", "HEAD", draft.point).splitlines() == [
        "M\tREADME.md",
        "A\tdocs/new.md",
        "D\tlink",
        "A\tlogo.bin",
        "D\tshop.py",
        "D\tvendor",
    ]


def test_a_link_may_lead_elsewhere_and_a_program_stays_one(shop: Made, debugger: Debugger):
    edits = (put("/files/link/$value", "README.md"), put("/files/run.sh", "#!/bin/sh\ntrue\n"))

    draft = check_fork(debugger, plan_of(debugger, *edits))

    told = shop.git("ls-tree", draft.point, "link", "run.sh").splitlines()
    assert [line.split()[0] for line in told] == ["120000", "100755"]
    assert shop.git("cat-file", "blob", f"{draft.point}:link") == "README.md"


@pytest.mark.parametrize("is_told", [True, False])
def test_the_mode_of_a_program_goes_with_it(debugger: Debugger, *, is_told: bool):
    edits = (drop("/files/run.sh"), *((drop("/modes"),) if is_told else ()))

    draft = check_fork(debugger, plan_of(debugger, *edits))

    assert "modes" not in state_at(draft)
    assert draft.own == (("author", "time") if is_told else ("author", "modes", "time"))


def test_an_author_may_be_said(shop: Made, debugger: Debugger):
    plan = plan_of(debugger, put("/files/a", "a"), put("/author", "Bo Ré <bo@example.com>"))

    draft = check_fork(debugger, plan)

    assert draft.own == ("time",)
    assert BY_US not in draft.notes
    told = shop.git("log", "-1", "--format=%an <%ae> %cn <%ce>", draft.point)
    assert told == f"Bo Ré <bo@example.com> {OURS}"


def test_after_a_merge_comes_a_commit_that_is_none(shop: Made, debugger: Debugger):
    row = subject(debugger, "Merge black tea")

    draft = check_fork(debugger, plan_of(debugger, put("/files/a", "a"), row=row))

    name = debugger.session.ids[row]
    assert draft.own == ("author", "parents", "time")
    assert f"{name[:12]} is a merge; the new commit comes after it, and is none" in draft.notes
    assert shop.git("rev-list", "--parents", "-1", draft.point) == f"{draft.point} {name}"


@pytest.mark.parametrize(
    ("edits", "error", "message"),
    [
        ([put("/author", "Bo")], UsageError, "is no author"),
        ([put("/author", "Bo <a> <b>")], UsageError, "is no author"),
        ([put("/author", " Bo <a@b>")], UsageError, "is no author"),
        ([put("/author", None)], UsageError, "is no author"),
        ([drop("/author")], UsageError, "is no author"),
        ([put("/message", " \n")], UsageError, "needs a message"),
        ([put("/message", 7)], UsageError, "a message that is a text"),
        ([put("/message", "a\0b")], UsageError, "zero bytes"),
        ([drop("/files")], UsageError, "a map of files"),
        ([put("/files/..~1x", "x")], UsageError, "is no path"),
        ([put("/files/.git~1config", "x")], UsageError, "git's own folder"),
        ([put("/files/~1etc~1passwd", "x")], UsageError, "is no path"),
        ([put("/files/shop.py~1x", "x")], UsageError, "is a file"),
        ([put("/files/a", 7)], UnsupportedError, "would be a value that is no file"),
        ([put("/files/a", None)], UnsupportedError, "would be a value that is no file"),
        ([put("/files/a", {"$bytes": "x"})], UsageError, "neither text nor base64"),
        ([put("/files/a", {"$bytes": 7})], UsageError, "neither text nor base64"),
        ([put("/files/a", "\ud800")], UsageError, "neither text nor base64"),
        ([put("/files/a", {"$bytes": "YQ=="})], UnsupportedError, "would not be shown"),
        ([put("/files/link", "text")], UnsupportedError, "it is a link, and would be a file"),
        ([put("/files/vendor", "x")], UnsupportedError, "commit of another repository"),
        ([put("/files/vendor/$value", "2" * 40)], UnsupportedError, "commit of another"),
        (
            [put("/files/shop.py", {"$type": "git.symlink", "$value": "x"})],
            UnsupportedError,
            "be a",
        ),
        ([put("/files/shop.py", {"$opaque": "blob"})], UnsupportedError, "not shown"),
        ([put("/files/a\\xff", "x")], UnsupportedError, "can show but not write"),
        ([put("/modes/shop.py", "100755")], UnsupportedError, "keeps the modes"),
        ([drop("/modes")], UnsupportedError, "keeps the modes"),
        ([put("/trailers", {"A": "b"})], UnsupportedError, "last lines of a message"),
        ([put("/time", "2026-01-01T00:00:00.000Z")], UnsupportedError, "time of a new commit"),
        ([put("/parents", [])], UnsupportedError, "parents of a new commit"),
        ([put("/usage", 1)], UnsupportedError, "usage of a new commit"),
    ],
)
def test_what_a_commit_cannot_hold_is_refused(
    debugger: Debugger, edits: Sequence[Change], error: type[Exception], message: str
):
    with pytest.raises(error, match=re.escape(message)):
        debugger.draft(plan_of(debugger, *edits))


def test_a_branch_is_always_a_new_one(debugger: Debugger):
    with pytest.raises(UnsupportedError, match="always a new one"):
        debugger.draft(plan_of(debugger, in_place=True))
    with pytest.raises(UsageError, match="the branch topic is there already"):
        debugger.draft(plan_of(debugger, target="topic"))


def test_a_file_that_would_not_be_shown_is_refused_and_one_that_is_not_shown_stays(
    shop: Made, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trees, "MOST_TEXT", 300)
    monkeypatch.setattr(trees, "STEPS", (200, 100, 50, 20))
    shop.git("switch", "-q", "main")
    shop.commit("Much\n", {"much.txt": "m" * 250})
    with Debugger.open(str(shop.folder)) as debugger:
        assert plan_of(debugger).state["files"]["much.txt"]["$opaque"] == "blob"
        with pytest.raises(UnsupportedError, match=r"many\.txt would not be shown"):
            debugger.draft(plan_of(debugger, put("/files/many.txt", "x" * 201)))
        with pytest.raises(UnsupportedError, match=r"much\.txt cannot be edited"):
            debugger.draft(plan_of(debugger, put("/files/much.txt", "less")))

        check_fork(debugger, plan_of(debugger, put("/files/few.txt", "x")))
        check_fork(debugger, plan_of(debugger, drop("/files/much.txt"), target="less"))


def test_names_that_are_no_text_stay_and_cannot_be_edited(shop: Made):
    odd = b"caf\xe9.txt"
    blob = shop.git("hash-object", "-w", "--stdin", given=b"odd")
    tree = shop.git("mktree", "-z", given=b"100644 blob %s\t%s\0" % (blob.encode(), odd))
    base = shop.git("commit-tree", "-m", "Odd", tree)
    shop.git("branch", "odd", base)
    with Debugger.open(str(shop.folder)) as debugger:
        row = labelled(debugger, "odd")
        with pytest.raises(UnsupportedError, match="can show but not write"):
            debugger.draft(plan_of(debugger, put("/files/caf\\xe9.txt", "x"), row=row))

        draft = check_fork(debugger, plan_of(debugger, put("/files/a", "a"), row=row))

    assert odd in subprocess.run(  # noqa: S603 - git, in a repository of ours
        ["git", "ls-tree", "-z", "--name-only", draft.point],  # noqa: S607
        cwd=shop.folder,
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")


def test_to_draft_writes_nothing(shop: Made, debugger: Debugger):
    before = _written_below(shop.folder)

    debugger.draft(plan_of(debugger, put("/files/shop.py", "x"), put("/files/README.md", "y")))

    assert _written_below(shop.folder) == before


def _written_below(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")
    }


def test_a_fork_comes_into_an_open_session_and_goes_out_of_it_again(debugger: Debugger):
    before = debugger.session
    plan = plan_of(debugger, put("/files/shop.py", "x"))

    draft, written = forked(debugger, plan)
    while debugger.follow() is not None:
        pass
    row = debugger.session.row_of(draft.point)
    assert row is not None
    assert debugger.session.parents[row] == plan.row
    assert debugger.session.labels[row] == draft.writes[0].branch
    # What is checked out is where one goes on from, until the command is run.
    assert debugger.session.active == plan.row
    assert debugger.session.findings == before.findings

    take_back(written)
    while debugger.follow() is not None:
        pass
    assert debugger.session.row_of(draft.point) is None
    assert list(debugger.session.ids) == list(before.ids)


def test_the_command_switches_to_the_branch(shop: Made, debugger: Debugger):
    draft, _ = forked(debugger, plan_of(debugger, put("/files/it's.txt", "x"), target="it's"))

    assert shlex.split(draft.resume_command) == ["git", "-C", str(shop.folder), "switch", "it's"]
    subprocess.run(["sh", "-c", draft.resume_command], check=True)  # noqa: S603, S607

    assert shop.git("rev-parse", "HEAD") == draft.point
    assert (shop.folder / "it's.txt").read_text() == "x"
    with Debugger.open(draft.location, draft.session) as opened:
        assert opened.session.active == opened.session.row_of(draft.point)


def test_of_a_bare_repository_the_command_makes_a_work_tree(shop: Made, tmp_path: Path):
    shop.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    with Debugger.open(str(tmp_path / "bare.git")) as debugger:
        draft = check_fork(debugger, plan_of(debugger, put("/files/a", "b"), target="x/y"))

    assert draft.notes[-1] == ("the repository has no work tree: the command makes one beside it")
    subprocess.run(["sh", "-c", draft.resume_command], check=True)  # noqa: S603, S607
    assert (tmp_path / "bare-x-y" / "a").read_text() == "b"


def test_a_further_work_tree_is_gone_on_in(shop: Made, tmp_path: Path):
    shop.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    with Debugger.open(str(tmp_path / "side")) as debugger:
        draft = check_fork(debugger, plan_of(debugger, put("/files/a", "b"), target="x"))

    assert draft.resume_command == f"git -C {tmp_path / 'side'} switch x"
    assert shop.git("rev-parse", "x") == draft.point


def test_a_store_of_commits_can_be_forked_and_cut_anywhere(shop: Made):
    store = GitCommits.open(str(shop.folder))
    try:
        assert isinstance(store, Forks)
        assert not store.keeps_calls_whole
    finally:
        store.close()
