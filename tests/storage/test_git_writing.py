"""Writing to git: a branch is made and removed as git would, and nothing else is otherwise."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import ANN, EPOCH, Made, a_shop, tampered

from tt_debugger.core.fork.writes import BranchWritten, NewBranch
from tt_debugger.errors import CannotWriteError, TtdbgError, UnsupportedError, UsageError
from tt_debugger.storage.git_making import MOST_DEEP, made, parts_of
from tt_debugger.storage.git_refs import ref_of
from tt_debugger.storage.git_writing import make_branch, must_be_unchanged, remove_branch

LATER = EPOCH + 3600
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture(scope="module")
def a_made_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_shop(tmp_path_factory.mktemp("made") / "shop").folder


@pytest.fixture
def shop(tmp_path: Path, a_made_shop: Path) -> Made:
    return at(shutil.copytree(a_made_shop, tmp_path / "shop", symlinks=True))


def at(folder: Path) -> Made:
    """Give what runs git in a repository that is there."""
    found = Made.__new__(Made)
    found.folder = folder
    found._time = EPOCH
    return found


def branch_of(
    made: Made,
    name: str = "fork/one",
    files: Mapping[str, bytes | None] | None = None,
    **more: Any,
) -> NewBranch:
    """Give a branch on what is checked out, by default with a file that is another there."""
    files = {"shop.py": b"PRICES = {}\n"} if files is None else files
    told = {"message": "Empty the shop\n" if files else "", "time": LATER} | more
    base = more.pop("base", None) or made.git("rev-parse", "HEAD")
    return NewBranch(
        **{"repository": str(made.folder), "branch": name, "base": base, "files": files}
        | {"author": "Bo", "email": "bo@example.com"}
        | told
    )


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Give all files below a folder: mode, time and content of each; of a link where it leads."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            data = os.fsencode(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            data = path.read_bytes()
        else:
            continue
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, data)
    return found


def refs_in(made: Made) -> str:
    return made.git("for-each-ref")


def left_behind(made: Made) -> list[str]:
    """Give what a writer that was stopped would leave: locks and unfinished objects."""
    own = made.folder / ".git"
    return [str(each) for name in ("*.lock", "tmp_*", ".ttdbg*") for each in own.rglob(name)]


def said_by(made: Made, *arguments: str) -> bytes:
    """Give what git says, to the byte."""
    return subprocess.run(  # noqa: S603 - git, in a repository of ours
        ["git", *arguments],  # noqa: S607 - whichever git there is
        cwd=made.folder,
        capture_output=True,
        check=True,
    ).stdout


def is_sound(made: Made) -> bool:
    return "error" not in made.git("fsck", "--strict", "--full", "--no-dangling")


def test_a_branch_ends_in_a_new_commit_on_its_base_and_nothing_else_is_otherwise(shop: Made):
    before, base = everything(shop.folder), shop.git("rev-parse", "HEAD")
    old_objects = shop.git("rev-list", "--objects", "--all")

    written = make_branch(branch_of(shop, files={"shop.py": b"new\n", "a/b/c.txt": b"c\0"}))

    tip = written.commit
    assert written == BranchWritten(str(shop.folder), "fork/one", tip)
    after = everything(shop.folder)
    assert {path: after[path] for path in before} == before
    new = after.keys() - before.keys()
    assert {path for path in new if not path.startswith(".git/objects/")} == {
        ".git/refs/heads/fork/one"
    }
    # Two files, three folders, a commit.
    assert len(new) == 1 + 2 + 3 + 1
    assert shop.git("cat-file", "commit", tip) == (
        f"tree {shop.git('rev-parse', f'{tip}^{{tree}}')}\n"
        f"parent {base}\n"
        f"author Bo <bo@example.com> {LATER} +0000\n"
        f"committer ttdbg <ttdbg@localhost> {LATER} +0000\n"
        "\nEmpty the shop"
    )
    assert shop.git("diff", "--name-status", base, tip) == "A\ta/b/c.txt\nM\tshop.py"
    assert shop.git("show", f"{tip}:shop.py") == "new"
    assert shop.git("log", "--format=%s", "-1", "fork/one") == "Empty the shop"
    assert shop.git("rev-list", "--objects", "--all", "--exclude=fork/one", "--branches")
    assert set(old_objects.splitlines()) < set(
        shop.git("rev-list", "--objects", "--all").splitlines()
    )
    assert shop.git("status", "--porcelain") == ""
    assert is_sound(shop)


def test_kept_files_keep_their_modes_and_new_ones_are_no_programs(tmp_path: Path):
    odd = Made(tmp_path / "odd")
    odd.commit("One\n", {"a": "a"})
    blob = odd.git("rev-parse", "HEAD:a")
    entries = "".join(
        f"{mode} {kind} {blob if kind == 'blob' else '1' * 40}\t{name}\0"
        for mode, kind, name in (
            # As git wrote it long ago.
            ("100664", "blob", "group"),
            ("120000", "blob", "link"),
            ("100755", "blob", "run"),
            ("160000", "commit", "vendor"),
        )
    )
    tree = odd.git("mktree", "-z", "--missing", given=entries.encode())
    base = odd.git("commit-tree", "-m", "Odd", tree)

    files = {"group": b"g", "run": b"r", "link": b"elsewhere", "new": b"n", "vendor": None}
    written = make_branch(branch_of(odd, files=files, base=base))

    # `git ls-tree` would show some of the modes otherwise than they are.
    assert said_by(odd, "cat-file", "tree", f"{written.commit}^{{tree}}") == b"".join(
        b"%s %s\0" % (mode, name) + _sha1_of(content)
        for name, mode, content in (
            (b"group", b"100664", b"g"),
            (b"link", b"120000", b"elsewhere"),
            (b"new", b"100644", b"n"),
            (b"run", b"100755", b"r"),
        )
    )


def _sha1_of(content: bytes) -> bytes:
    data = b"blob %d\0" % len(content) + content
    return hashlib.sha1(data, usedforsecurity=False).digest()


def test_a_message_and_a_file_are_kept_to_the_byte(shop: Made):
    message = "\n  Odd \n\n\n# no comment\ttrailing  \n\nKey: value"
    content = b"a\r\nb\0\xff no end"
    (shop.folder / ".gitattributes").write_text("* text=auto eol=lf\n")

    written = make_branch(branch_of(shop, files={"x.txt": content}, message=message))

    commit = said_by(shop, "cat-file", "commit", written.commit)
    assert commit.partition(b"\n\n")[2] == message.encode()
    assert said_by(shop, "cat-file", "blob", f"{written.commit}:x.txt") == content


def test_a_message_alone_makes_a_commit_with_the_same_files(shop: Made):
    written = make_branch(branch_of(shop, files={}, message="Say more\n"))

    assert shop.git("rev-parse", f"{written.commit}^") == shop.git("rev-parse", "HEAD")
    assert shop.git("diff", "HEAD", written.commit) == ""


def test_without_files_and_a_message_a_branch_ends_at_its_base(shop: Made):
    before = everything(shop.folder)

    written = make_branch(branch_of(shop, files={}))

    assert written.commit == shop.git("rev-parse", "HEAD") == shop.git("rev-parse", "fork/one")
    assert everything(shop.folder).keys() - before.keys() == {".git/refs/heads/fork/one"}


def test_a_commit_may_be_left_without_files(shop: Made):
    names = shop.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()

    written = make_branch(branch_of(shop, files=dict.fromkeys(names)))

    assert shop.git("rev-parse", f"{written.commit}^{{tree}}") == EMPTY_TREE


def test_a_branch_may_begin_at_a_commit_that_nothing_leads_to(shop: Made):
    lost = shop.git("rev-list", "--reflog", "--grep=coffee")

    written = make_branch(branch_of(shop, base=lost))

    assert shop.git("rev-parse", f"{written.commit}^") == lost


PATHS = st.sampled_from(["a", "b", "a/a", "a/b", "b/a/a", "a/b/c"])
CONTENTS = st.sampled_from([b"", b"1", b"2"])


def fit_together(paths: set[str]) -> bool:
    """Tell whether none of some paths is a folder of another."""
    return not any(other.startswith(f"{path}/") for path in paths for other in paths)


@given(
    st.dictionaries(PATHS, CONTENTS).filter(lambda files: fit_together(set(files))),
    st.dictionaries(PATHS, st.none() | CONTENTS, min_size=1),
)
@settings(max_examples=40)
def test_files_are_put_and_taken_away_as_in_a_map(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, bytes],
    edits: dict[str, bytes | None],
):
    repository = Made(tmp_path_factory.mktemp("law") / "it")
    base = repository.commit("One\n", before)
    after = {path: content for path, content in (before | edits).items() if content is not None}
    takes_what_is_not_there = any(
        content is None and path not in before for path, content in edits.items()
    )

    if takes_what_is_not_there or not fit_together(set(after)):
        with pytest.raises(UsageError):
            make_branch(branch_of(repository, files=edits, base=base))
        assert "fork" not in refs_in(repository)
        return
    tip = make_branch(branch_of(repository, files=edits, base=base)).commit

    told = repository.git("ls-tree", "-r", tip).splitlines()
    found = {line.partition("\t")[2]: line.split()[2] for line in told}
    assert found == {
        path: repository.git("hash-object", "--stdin", given=content)
        for path, content in after.items()
    }
    assert is_sound(repository)


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/etc/passwd", "a/", "a//b", ".", "..", "../x", "a/../../x", "a/./b", "a\0b"),
        *(".git", ".git/config", ".GIT/hooks/x", "a/.git/config", ".git /x", ".git./x", "git~1/x"),
        *(".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "a\\.git\\config", "\ud800"),
        "/".join("a" * (MOST_DEEP + 1)),
    ],
)
def test_a_path_that_leads_out_or_into_gits_own_folder_is_refused(shop: Made, path: str):
    before = everything(shop.folder)

    with pytest.raises(UsageError):
        make_branch(branch_of(shop, files={path: b"x"}))

    assert everything(shop.folder) == before


def test_names_that_only_look_like_gits_own_are_allowed():
    names = (".gitignore", ".github/x", "git/.gitattributes", "a.git/b", "~/x", "-x", "C:/x")
    assert [parts_of(each)[0].decode() for each in names] == [each.split("/")[0] for each in names]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"message": "a\0b"}, "zero bytes"),
        ({"message": "\ud800"}, "UTF-8"),
        ({"author": "Bo <x"}, "is no author"),
        ({"author": "Bo\nparent " + "1" * 40}, "is no author"),
        ({"author": ""}, "is no author"),
        ({"email": "a> 1 +0000"}, "is no author"),
        ({"base": "HEAD"}, "is no commit"),
        ({"base": "1" * 40}, "is no commit"),
        ({"base": "2" * 64}, "is no commit"),
        ({"base": "1" * 40 + "\nx"}, "is no commit"),
        ({"files": {"vendor": b"x"}}, "commit of another repository"),
        ({"files": {"vendor/x": b"x"}}, "is a file, so no file can be in it"),
        ({"files": {"tests": b"x"}}, "is a folder, so it cannot be a file"),
        ({"files": {"tests": None}}, "there is no file tests"),
        ({"files": {"shop.py/x": b"x"}}, "shop.py is a file"),
        ({"files": {"gone.txt": None}}, "there is no file gone.txt"),
    ],
)
def test_what_no_commit_can_hold_is_refused_and_nothing_is_written(
    shop: Made, told: dict[str, Any], message: str
):
    before = everything(shop.folder)

    with pytest.raises(UsageError, match=message):
        make_branch(msgspec.structs.replace(branch_of(shop), **told))

    assert everything(shop.folder) == before


def test_a_base_must_be_a_commit(shop: Made):
    for name in ("HEAD^{tree}", "HEAD:shop.py", "v1"):
        with pytest.raises(UsageError, match="is no commit"):
            make_branch(branch_of(shop, base=shop.git("rev-parse", name)))


NAMES = st.lists(st.sampled_from([*"a/.@{}~^:?*[\\- \x7fé", ".lock"]), max_size=8).map("".join)


@given(NAMES)
@settings(max_examples=80)
def test_a_name_is_taken_if_git_takes_it(name: str):
    asked = subprocess.run(  # noqa: S603 - git, which only looks at the name
        ["git", "check-ref-format", "--branch", name],  # noqa: S607 - whichever git there is
        capture_output=True,
        check=False,
        cwd="/",
    )
    is_gits = asked.returncode == 0 and not name.startswith("@{-")
    try:
        assert ref_of(name) == f"refs/heads/{name}"
    except UsageError:
        assert not is_gits, name
    else:
        assert is_gits, name


@pytest.mark.parametrize(
    "name", ["a.lock", "a.lock/b", "HEAD", "-x", "a..b", "a\0b", "a\nb", "\ud800", "../../x", ""]
)
def test_no_other_name_is_taken(shop: Made, name: str):
    before = everything(shop.folder)
    with pytest.raises(UsageError, match="is no name of a branch"):
        make_branch(branch_of(shop, name))
    assert everything(shop.folder) == before


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", ["main", "topic", "topic/x", "entire", "entire/checkpoints"])
def test_a_name_that_is_taken_or_in_the_way_is_refused(shop: Made, name: str, *, is_packed: bool):
    if is_packed:
        shop.git("pack-refs", "--all")
    before = everything(shop.folder)

    with pytest.raises(UsageError, match=r"is there already|cannot be beside"):
        make_branch(branch_of(shop, name))

    assert everything(shop.folder) == before


def test_a_branch_that_is_locked_is_waited_for_by_whoever_asks(shop: Made):
    lock = shop.folder / ".git" / "refs" / "heads" / "one.lock"
    lock.write_text("")

    with pytest.raises(UsageError, match="is locked by another program") as raised:
        make_branch(branch_of(shop, "one"))

    assert str(lock) in (raised.value.hint or "")
    assert lock.read_text() == ""


def test_a_branch_that_came_while_the_lock_was_waited_for_stays(
    shop: Made, monkeypatch: pytest.MonkeyPatch
):
    plain = os.link

    def slow(first: Any, path: Any, **more: Any) -> None:
        if str(path).endswith("one.lock"):
            (shop.folder / ".git" / "refs" / "heads" / "one").write_text("theirs\n")
        plain(first, path, **more)

    monkeypatch.setattr(os, "link", slow)
    with pytest.raises(UsageError, match="is there already"):
        make_branch(branch_of(shop, "one"))

    assert (shop.folder / ".git" / "refs" / "heads" / "one").read_text() == "theirs\n"
    assert left_behind(shop) == []


def test_of_several_who_make_one_branch_one_does_be_it_git_itself(shop: Made):
    base, topic = shop.git("rev-parse", "HEAD"), shop.git("rev-parse", "topic")

    def ours(name: str, number: int) -> str | None:
        try:
            files = {"a": b"%d" % number}
            return make_branch(branch_of(shop, name, files, base=base)).commit
        except UsageError:
            return None

    def gits(name: str) -> str | None:
        try:
            shop.git("update-ref", f"refs/heads/{name}", topic, "0" * 40)
        except AssertionError:
            return None
        return topic

    with ThreadPoolExecutor(4) as pool:
        for turn in range(8):
            name = f"race/{turn}"
            asked = [pool.submit(ours, name, number) for number in range(3)]
            asked += [pool.submit(gits, name)]
            pool.submit(shop.git, "pack-refs", "--all") if turn % 2 else None
            made_by = [each.result() for each in asked if each.result() is not None]
            assert made_by == [shop.git("rev-parse", name)]
    assert left_behind(shop) == []


def test_a_branch_that_is_removed_leaves_all_as_it_was_but_for_objects(shop: Made):
    before, refs = everything(shop.folder), refs_in(shop)
    written = make_branch(branch_of(shop, "fork/deep/one"))
    must_be_unchanged(written)

    remove_branch(written)

    after = everything(shop.folder)
    new = after.keys() - before.keys()
    assert {path: after[path] for path in before} == before
    assert all(path.startswith(".git/objects/") for path in new)
    assert refs_in(shop) == refs
    assert not (shop.folder / ".git" / "refs" / "heads" / "fork").exists()
    assert is_sound(shop)
    shop.git("gc", "-q", "--prune=now")
    with pytest.raises(AssertionError):
        shop.git("cat-file", "-e", written.commit)


def test_folders_of_other_branches_stay_when_one_is_removed(shop: Made):
    written = make_branch(branch_of(shop, "fork/one"))
    make_branch(branch_of(shop, "fork/two"))

    remove_branch(written)

    assert "fork/two" in refs_in(shop)
    assert "fork/one" not in refs_in(shop)


def _moved(made: Made, _: Path) -> None:
    made.git("update-ref", "refs/heads/fork/one", "main")


def _gone(made: Made, _: Path) -> None:
    made.git("branch", "-D", "fork/one")


def _packed(made: Made, _: Path) -> None:
    made.git("pack-refs", "--all")


def _packed_and_loose(made: Made, _: Path) -> None:
    made.git("pack-refs", "--all", "--no-prune")


def _checked_out(made: Made, _: Path) -> None:
    made.git("switch", "-q", "fork/one")


def _checked_out_elsewhere(made: Made, place: Path) -> None:
    made.git("worktree", "add", "-q", str(place / "side"), "fork/one")


def _being_rebased(made: Made, _: Path) -> None:
    (made.folder / ".git" / "rebase-merge").mkdir()
    (made.folder / ".git" / "rebase-merge" / "head-name").write_text("refs/heads/fork/one\n")


def _symbolic(made: Made, _: Path) -> None:
    made.git("symbolic-ref", "refs/heads/fork/one", "refs/heads/main")


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (_moved, "it was moved since"),
        (_gone, "it is not there any more"),
        (_packed, "git has packed it since"),
        (_packed_and_loose, "git has packed it since"),
        (_checked_out, "a work tree is on it"),
        (_checked_out_elsewhere, "a work tree is on it"),
        (_being_rebased, "a work tree is on it"),
        (_symbolic, "it was moved since"),
    ],
)
def test_a_branch_that_is_not_as_it_was_made_is_not_removed(
    shop: Made, tmp_path: Path, happens: Callable[[Made, Path], None], why: str
):
    written = make_branch(branch_of(shop))
    happens(shop, tmp_path)
    before = everything(shop.folder)

    for refused in (must_be_unchanged, remove_branch):
        with pytest.raises(UsageError, match=f"cannot be taken back: {why}"):
            refused(written)

    assert everything(shop.folder) == before


def test_further_work_trees_bare_repositories_and_long_hashes_are_written_to_alike(tmp_path: Path):
    plain = Made(tmp_path / "plain", "--object-format=sha256")
    plain.commit("One\n", {"a/b.txt": "b\n", "c.txt": "c\n"})
    plain.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    plain.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = at(tmp_path / "bare.git")
    for place, repository in (("side", plain), ("bare.git", bare), ("plain/.git", plain)):
        name, folder = f"fork/{place.partition('/')[0]}", str(tmp_path / place)
        new = branch_of(repository, name, {"a/b.txt": None}, repository=folder)

        written = make_branch(new)

        assert len(written.commit) == 64
        assert repository.git("ls-tree", "-r", "--name-only", name) == "c.txt"
        assert is_sound(repository)
        remove_branch(written)
        assert name not in refs_in(repository)


def test_objects_that_are_borrowed_are_read_and_only_the_borrower_is_written_to(
    shop: Made, tmp_path: Path
):
    shop.git("clone", "-q", "--shared", ".", str(tmp_path / "borrower"))
    before = everything(shop.folder)

    written = make_branch(branch_of(at(tmp_path / "borrower"), files={"tests/new.py": b"n"}))

    assert everything(shop.folder) == before
    assert is_sound(at(tmp_path / "borrower"))
    assert "tests/new.py" in at(tmp_path / "borrower").git(
        "ls-tree", "-r", "--name-only", written.commit
    )


def test_an_object_that_is_there_is_kept_and_one_that_is_damaged_is_told_of(shop: Made):
    name = shop.git("hash-object", "-w", "--stdin", given=b"mine")
    path = shop.folder / ".git" / "objects" / name[:2] / name[2:]
    kept = path.read_bytes()
    os.utime(path, (0, 0))

    make_branch(branch_of(shop, files={"mine.txt": b"mine"}))

    assert path.read_bytes() == kept
    # Else git could take it for what nobody needs.
    assert path.stat().st_mtime > LATER - 86400 * 365

    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises(CannotWriteError, match=f"the object {name[:12]} .* is damaged"):
        make_branch(branch_of(shop, "other", files={"mine.txt": b"mine"}))
    assert "other" not in refs_in(shop)


def test_what_is_written_is_for_whoever_the_repository_is_for(shop: Made):
    own = shop.folder / ".git"
    for folder in (own / "objects", *(own / "objects").glob("??"), own / "refs" / "heads"):
        folder.chmod(0o2770)

    written = make_branch(branch_of(shop, "fork/one"))

    commit = own / "objects" / written.commit[:2] / written.commit[2:]
    assert stat.S_IMODE(commit.stat().st_mode) == 0o440
    assert stat.S_IMODE(commit.parent.stat().st_mode) == 0o2770
    assert stat.S_IMODE((own / "refs" / "heads" / "fork").stat().st_mode) == 0o2770


def test_refs_in_tables_are_not_supported(shop: Made):
    with (shop.folder / ".git" / "config").open("a") as config:
        config.write("[extensions]\n\trefStorage = reftable\n")
    with pytest.raises(UnsupportedError, match="reftable"):
        make_branch(branch_of(shop))


def test_a_folder_that_cannot_be_read_is_not_written_again(shop: Made):
    tree = shop.git("rev-parse", "HEAD:tests")
    (shop.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    new = branch_of(shop, files={"tests/test_shop.py": b"x"})

    with pytest.raises(TtdbgError, match="cannot be read"):
        make_branch(new)
    # Nobody looks into a folder in which nothing is edited.
    make_branch(branch_of(shop, files={"shop.py": b"x"}))


def test_nothing_of_a_repository_is_run_that_git_itself_would_run(tmp_path: Path):
    made, canary = a_shop(tmp_path / "shop"), tmp_path / "canary"
    base = made.git("rev-parse", "HEAD")
    tampered(made, canary)
    hooks = made.folder / ".git" / "hooks"
    for name in ("post-commit", "pre-commit", "commit-msg", "prepare-commit-msg", "pre-auto-gc"):
        (hooks / name).write_bytes((hooks / "reference-transaction").read_bytes())
        (hooks / name).chmod(0o755)
    new = branch_of(made, files={"shop.py": b"x\n", ".gitattributes": b"* filter=x\n"}, base=base)

    written = make_branch(new)
    remove_branch(written)
    make_branch(new)

    assert not canary.exists()
    made.git("update-ref", "refs/heads/theirs", base)
    assert canary.exists(), "git itself does run them"


def test_git_knows_of_a_repository_where_its_objects_are_and_no_more(
    shop: Made, monkeypatch: pytest.MonkeyPatch
):
    new, told = branch_of(shop), []
    plain = subprocess.Popen

    def noted(command: Any, **options: Any) -> Any:
        told.append((command[3], options["cwd"], options["env"]))
        return plain(command, **options)

    monkeypatch.setattr(subprocess, "Popen", noted)
    make_branch(new)

    assert {name for name, *_ in told} == {"cat-file", "hash-object", "mktree"}
    for name, folder, environment in told:
        assert environment["GIT_DIR"] == str(folder) != str(shop.folder / ".git")
        known = {key for key, value in environment.items() if str(shop.folder) in value}
        assert known == ({"GIT_ALTERNATE_OBJECT_DIRECTORIES"} if name == "cat-file" else set())


def _heads_lead_out(own: Path, outside: Path) -> None:
    (own / "refs" / "heads").rename(outside / "heads")
    (own / "refs" / "heads").symlink_to(outside / "heads", target_is_directory=True)


def _folder_leads_out(own: Path, outside: Path) -> None:
    (own / "refs" / "heads" / "fork").symlink_to(outside, target_is_directory=True)


def _ref_leads_out(own: Path, outside: Path) -> None:
    (own / "refs" / "heads" / "fork").mkdir()
    (own / "refs" / "heads" / "fork" / "one").symlink_to(outside / "new")


def _lock_leads_out(own: Path, outside: Path) -> None:
    (own / "refs" / "heads" / "fork").mkdir()
    (own / "refs" / "heads" / "fork" / "one.lock").symlink_to(outside / "new")


def _objects_lead_out(own: Path, outside: Path) -> None:
    (own / "objects").rename(outside / "objects")
    (own / "objects").symlink_to(outside / "objects", target_is_directory=True)


def _each_folder_of_objects_leads_out(own: Path, outside: Path) -> None:
    for number in range(256):
        folder = own / "objects" / f"{number:02x}"
        target = outside / folder.name
        if folder.exists():
            folder.rename(target)
        else:
            target.mkdir()
        folder.symlink_to(target, target_is_directory=True)


def _book_leads_out(own: Path, outside: Path) -> None:
    (own / "packed-refs").replace(outside / "book")
    (own / "packed-refs").symlink_to(outside / "book")


HOSTILE = (
    *(_heads_lead_out, _folder_leads_out, _ref_leads_out, _lock_leads_out, _objects_lead_out),
    *(_each_folder_of_objects_leads_out, _book_leads_out),
)


@pytest.mark.parametrize("lays", HOSTILE)
def test_nothing_is_written_through_links_that_lead_out_of_a_repository(
    shop: Made, tmp_path: Path, lays: Callable[[Path, Path], None]
):
    outside = tmp_path / "outside"
    outside.mkdir()
    new = branch_of(shop)
    lays(shop.folder / ".git", outside)
    before = everything(outside), everything(shop.folder / ".git" / "refs")

    with pytest.raises(UsageError):
        make_branch(new)
    with pytest.raises(UsageError):
        remove_branch(BranchWritten(new.repository, new.branch, new.base))

    assert (everything(outside), everything(shop.folder / ".git" / "refs")) == before


def test_an_object_that_is_a_link_is_not_touched_where_it_leads(shop: Made, tmp_path: Path):
    name = shop.git("hash-object", "-w", "--stdin", given=b"mine")
    path = shop.folder / ".git" / "objects" / name[:2] / name[2:]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    os.utime(tmp_path / "elsewhere", (0, 0))

    make_branch(branch_of(shop, files={"mine.txt": b"mine"}))

    assert (tmp_path / "elsewhere").stat().st_mtime == 0


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_DIRECTORY
"""How a file is opened by who writes, or a folder to be synced."""


class Failing:
    """Lets one of the calls by which a repository is written to fail."""

    CALLS = ("open", "write", "fsync", "link", "mkdir", "chmod", "rename")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, number: int) -> None:
        self.failed = ""
        self._left = number
        self._folder = str(folder)
        self._own: set[int] = set()
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any, *arguments: Any, **more: Any) -> Any:
            path = arguments[0] if name == "link" else first
            is_own = path in self._own if isinstance(path, int) else self._is_own(path)
            reads = name == "open" and not arguments[0] & WRITING
            if is_own and not reads:
                self._left -= 1
                if not self._left:
                    self.failed = f"{name} {first}"
                    raise OSError(errno.EIO, "the disk is broken")
            done = plain(first, *arguments, **more)
            if name == "open":
                (self._own.add if is_own else self._own.discard)(done)
            return done

        return call

    def _is_own(self, path: Any) -> bool:
        return os.fsdecode(path).startswith(self._folder)


def _numbers(limit: int = 200) -> Iterator[int]:
    yield from range(1, limit)
    pytest.fail("it never went through")


def test_whatever_call_fails_there_is_no_branch_and_what_was_there_stays(
    shop: Made, monkeypatch: pytest.MonkeyPatch
):
    # So that each time the same is called.
    for number in range(256):
        (shop.folder / ".git" / "objects" / f"{number:02x}").mkdir(exist_ok=True)
    before, refs = everything(shop.folder), refs_in(shop)
    told: dict[str, str] = {}
    for number in _numbers():
        # Other content each time, so that all of it has to be written each time.
        new = branch_of(shop, "fork/one", {"a/b.txt": b"%d" % number})
        with monkeypatch.context() as patch:
            failing = Failing(patch, shop.folder / ".git", number)
            try:
                make_branch(new)
            except CannotWriteError as error:
                told[failing.failed.split()[0]] = error.message
            else:
                assert not failing.failed, "it went on as if all were well"
                break
        assert refs_in(shop) == refs, failing.failed
        assert left_behind(shop) == []
        after = everything(shop.folder)
        assert {path: after[path] for path in before} == before
        assert not (shop.folder / ".git" / "refs" / "heads" / "fork").exists()
    assert "fork/one" in refs_in(shop)
    assert is_sound(shop)
    assert told == dict.fromkeys(Failing.CALLS, f"cannot write {shop.folder}: the disk is broken")


def test_a_removal_that_fails_says_so_and_leaves_no_lock(
    shop: Made, monkeypatch: pytest.MonkeyPatch
):
    written = make_branch(branch_of(shop))

    with monkeypatch.context() as patch:
        failing = Failing(patch, shop.folder / ".git" / "refs" / "heads" / "fork" / "one.lock", 1)
        with pytest.raises(CannotWriteError, match="the disk is broken"):
            remove_branch(written)

    assert failing.failed.startswith("link")
    assert left_behind(shop) == []
    remove_branch(written)


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="there are no files without a name")
def test_all_is_on_the_disk_before_the_branch_has_its_name(
    shop: Made, monkeypatch: pytest.MonkeyPatch
):
    steps: list[str] = []
    opened: dict[int, str] = {}
    own = f"{shop.folder}/.git/"

    def note(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any, *arguments: Any, **more: Any) -> Any:
            done = plain(first, *arguments, **more)
            if name == "open":
                is_unnamed = arguments[0] & os.O_TMPFILE == os.O_TMPFILE
                opened[done] = f"{own}new file" if is_unnamed else os.fsdecode(first)
                return done
            path = arguments[0] if name == "link" else first
            path = opened[path] if isinstance(path, int) else os.fsdecode(path)
            if path.startswith(own):
                steps.append(f"{name} {_kind_of(path.removeprefix(own))}")
            return done

        return call

    for name in ("open", "write", "fsync", "link", "rename"):
        monkeypatch.setattr(os, name, note(name, getattr(os, name)))
    make_branch(branch_of(shop))

    new = ["write new file", "fsync new file"]
    assert steps == [
        *([*new, "link object", "fsync folder of objects"] * 3),
        "fsync objects",
        *(*new, "link lock", "fsync refs/heads/fork", "rename lock"),
        *("fsync refs/heads/fork", "fsync refs/heads", "fsync refs"),
    ]


def _kind_of(path: str) -> str:
    if path.endswith(".lock"):
        return "lock"
    if path.startswith("objects/"):
        return "object" if "/" in path.removeprefix("objects/") else "folder of objects"
    return path


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_repository_that_is_read_only_is_told_of(shop: Made):
    heads = shop.folder / ".git" / "refs" / "heads"
    heads.chmod(0o555)
    with pytest.raises(CannotWriteError, match="cannot write"):
        make_branch(branch_of(shop, "one"))
    heads.chmod(0o755)


def test_what_is_made_beforehand_is_gone_afterwards_and_the_same_is_made_then(shop: Made):
    before = everything(shop.folder)
    new = branch_of(shop, author=ANN[0], email=ANN[1])

    with made(new) as fork:
        assert len(list(fork.folder.glob("??/*"))) == 3

    assert not fork.folder.exists()
    assert everything(shop.folder) == before
    assert make_branch(new).commit == fork.commit
