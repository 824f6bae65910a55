"""Git's objects and refs: what is read of a repository, and that nothing in it is obeyed."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import threading
import zlib
from pathlib import Path

import pytest
from repositories import ANN, EPOCH, Made, a_shop, tampered

from tt_debugger.errors import CannotReadError
from tt_debugger.storage import git as git_module
from tt_debugger.storage import repository as repository_module
from tt_debugger.storage.git import GitObject, GitObjects
from tt_debugger.storage.repository import (
    Repository,
    head_of,
    object_folders,
    refs_of,
    repository_at,
    settings_of,
)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    repository = Made(tmp_path / "shop")
    repository.commit("One\n", {"a.txt": "a\n"})
    return repository


def found_at(path: Path) -> Repository:
    repository = repository_at(str(path))
    assert repository is not None
    return repository


def objects_of(path: Path) -> GitObjects:
    return GitObjects(found_at(path))


def loose(made: Made, name: str) -> Path:
    return made.folder / ".git" / "objects" / name[:2] / name[2:]


def test_a_work_tree_its_git_folder_and_a_bare_repository_are_found(made: Made, tmp_path: Path):
    inside = made.folder / ".git"
    made.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = tmp_path / "bare.git"

    assert found_at(made.folder) == Repository(made.folder, inside, inside)
    assert found_at(inside) == Repository(made.folder, inside, inside)
    assert found_at(bare) == Repository(bare, bare, bare)
    assert (found_at(made.folder).name, found_at(bare).name) == ("shop", "bare")


def test_a_further_work_tree_leads_to_the_repository_that_knows_of_it(made: Made, tmp_path: Path):
    made.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    shared = made.folder / ".git"
    own = shared / "worktrees" / "side"

    assert found_at(tmp_path / "side") == Repository(tmp_path / "side", own, shared)
    refs = refs_of(found_at(tmp_path / "side"))
    assert refs.branch == "refs/heads/side"
    assert refs.worktrees == {"side": refs.head}


def test_a_submodule_leads_to_the_repository_around_it(made: Made, tmp_path: Path):
    other = Made(tmp_path / "other")
    other.commit("Two\n", {"b.txt": "b\n"})
    allowed = ("-c", "protocol.file.allow=always")
    made.git(*allowed, "submodule", "--quiet", "add", str(other.folder), "vendor")

    found = found_at(made.folder / "vendor")

    assert found.shared == made.folder / ".git" / "modules" / "vendor"
    assert refs_of(found).head == other.git("rev-parse", "HEAD")


@pytest.mark.parametrize("said", ["/etc", "../victim/.git", "../victim", "\0", ""])
def test_a_git_file_that_leads_to_a_repository_of_somebody_else_is_refused(
    tmp_path: Path, said: str
):
    Made(tmp_path / "victim").commit("Secret\n", {"secret.txt": "s\n"})
    (tmp_path / "lure").mkdir()
    (tmp_path / "lure" / ".git").write_text(f"gitdir: {said}\n")

    with pytest.raises(CannotReadError, match="which is no repository of this folder"):
        repository_at(str(tmp_path / "lure"))


def test_a_work_tree_that_its_repository_does_not_know_is_refused(made: Made, tmp_path: Path):
    made.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    shutil.copytree(tmp_path / "side", tmp_path / "copy")
    with pytest.raises(CannotReadError, match="which is of the work tree"):
        repository_at(str(tmp_path / "copy"))

    lure = tmp_path / "lure"
    (lure / "kept").mkdir(parents=True)
    (lure / "kept" / "commondir").write_text(f"{made.folder}/.git\n")
    (lure / ".git").write_text("gitdir: kept\n")
    with pytest.raises(CannotReadError, match="which has no such work tree"):
        repository_at(str(lure))


def test_a_folder_that_only_looks_like_one_is_none(tmp_path: Path):
    assert repository_at(str(tmp_path / "gone")) is None
    assert repository_at("a\0b") is None
    (tmp_path / ".git").mkdir()
    assert repository_at(str(tmp_path)) is None
    (tmp_path / ".git" / "HEAD").write_text("hello")
    (tmp_path / ".git" / "refs").mkdir()
    (tmp_path / ".git" / "objects").mkdir()
    assert repository_at(str(tmp_path)) is None


def test_refs_are_read_whether_loose_or_packed_and_through_other_refs(made: Made):
    first = made.git("rev-parse", "HEAD")
    made.git("branch", "old")
    made.git("pack-refs", "--all")
    second = made.commit("Two\n", {"a.txt": "b\n"})
    made.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/old")

    refs = refs_of(found_at(made.folder))

    assert (refs.head, refs.branch) == (second, "refs/heads/main")
    assert refs.names == {
        "refs/heads/main": second,
        "refs/heads/old": first,
        "refs/remotes/origin/HEAD": first,
    }
    assert set(refs.logged) == {first, second}
    assert head_of(found_at(made.folder)) == second
    made.git("switch", "-q", "old")
    assert head_of(found_at(made.folder)) == first


def test_a_head_without_a_branch_names_its_commit(made: Made):
    made.git("switch", "-q", "--detach")
    refs = refs_of(found_at(made.folder))
    assert (refs.head, refs.branch) == (made.git("rev-parse", "HEAD"), None)
    assert head_of(found_at(made.folder)) == refs.head


@pytest.mark.parametrize(
    "said",
    [
        "ref: refs/heads/../../../secret",
        "ref: HEAD",
        "ref: refs/heads/loop",
        "ref: /etc/passwd",
        "ref: refs/heads/a\tb",
        "zz",
        "",
    ],
)
def test_a_ref_that_names_no_ref_leads_nowhere(made: Made, said: str):
    folder = made.folder / ".git"
    (folder / "secret").write_text("1" * 40)
    (folder / "refs" / "heads" / "loop").write_text(f"{said}\n")
    (folder / "refs" / "heads" / "loop2").write_text("ref: refs/heads/loop\n")
    (folder / "packed-refs").write_text(f"{'2' * 40} refs/heads/../up\n{'3' * 40} HEAD\n")
    (folder / "HEAD").write_text("ref: refs/heads/loop2\n")

    refs = refs_of(found_at(made.folder))

    assert refs.head is None
    assert head_of(found_at(made.folder)) is None
    assert list(refs.names) == ["refs/heads/main"]


def test_links_and_what_is_no_file_are_passed_by(made: Made, tmp_path: Path):
    heads = made.folder / ".git" / "refs" / "heads"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("4" * 40)
    (heads / "linked").symlink_to(tmp_path / "outside" / "x")
    (heads / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    os.mkfifo(heads / "pipe")
    (heads / "large").write_text("5" * 40 + "\n" * 5000)

    assert list(refs_of(found_at(made.folder)).names) == ["refs/heads/main"]
    for name in ("linked", "folder/x", "pipe", "large"):
        (made.folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n")
        assert head_of(found_at(made.folder)) is None


def test_objects_are_given_in_order_with_what_is_missing(made: Made):
    head = made.git("rev-parse", "HEAD")
    blob = made.git("rev-parse", "HEAD:a.txt")
    objects = objects_of(made.folder)

    assert objects.contents([blob, "0" * 40, blob]) == [
        GitObject("blob", 2, b"a\n"),
        None,
        GitObject("blob", 2, b"a\n"),
    ]
    assert objects.sizes(["0" * 40, head, blob])[::2] == [None, GitObject("blob", 2)]
    assert objects.contents([blob] * 1000) == [GitObject("blob", 2, b"a\n")] * 1000
    assert objects.contents([]) == []
    objects.close()


def test_an_index_of_several_packs_is_not_believed(made: Made):
    blob = made.git("rev-parse", "HEAD:a.txt")
    made.git("repack", "-adq")
    made.git("multi-pack-index", "write")
    index = made.folder / ".git" / "objects" / "pack" / "multi-pack-index"
    data = index.read_bytes()
    places = int.from_bytes(data[data.index(b"OOFF") + 4 :][:8])
    index.chmod(0o644)
    # Each object is where another is, as far as this tells.
    offsets = [data[at : at + 8] for at in range(places, places + 24, 8)]
    turned = b"".join((*offsets[1:], offsets[0]))
    index.write_bytes(data[:places] + turned + data[places + 24 :])
    objects = objects_of(made.folder)

    assert objects.contents([blob]) == [GitObject("blob", 2, b"a\n")]
    objects.close()


def test_a_large_object_is_told_of_and_not_read(made: Made):
    blob = made.git("hash-object", "-w", "--stdin", given=b"x" * 5000)
    small = made.git("rev-parse", "HEAD:a.txt")
    objects = objects_of(made.folder)

    assert objects.contents([blob, small], most=4000) == [
        GitObject("blob", 5000),
        GitObject("blob", 2, b"a\n"),
    ]
    objects.close()


@pytest.mark.parametrize("count", [1, 300])
def test_a_damaged_object_hides_no_other(made: Made, count: int):
    blobs = [made.git("hash-object", "-w", "--stdin", given=b"%d" % n) for n in range(6)]
    other, short = (zlib.compress(each) for each in (b"blob 1\0x", b"blob 9\0x"))
    cut = zlib.compress(b"blob 5000\0" + b"0" * 5000)[:20]
    for name, content in zip(blobs[1:], (b"no zlib", b"", cut, other, short), strict=True):
        loose(made, name).chmod(0o644)
        loose(made, name).write_bytes(content)
    sound = made.git("rev-parse", "HEAD:a.txt")
    objects = objects_of(made.folder)

    found = objects.contents([*blobs, *[sound] * count])

    assert found[:6] == [GitObject("blob", 1, b"0"), *[None] * 5]
    assert found[6:] == [GitObject("blob", 2, b"a\n")] * count
    objects.close()


def test_an_object_that_claims_to_be_endless_ends_git_and_nothing_else(made: Made):
    name = "ab" * 20
    loose(made, name).parent.mkdir()
    loose(made, name).write_bytes(zlib.compress(b"blob 99999999999\0" + b"0" * 100))
    objects = objects_of(made.folder)

    found = objects.contents([name, made.git("rev-parse", "HEAD:a.txt")])

    assert found[0] in (None, GitObject("blob", 99999999999))
    assert found[1] == GitObject("blob", 2, b"a\n")
    objects.close()


def test_a_pipe_in_the_place_of_an_object_is_given_up(made: Made, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(git_module, "STILL", 0.3)
    name = "ab" * 20
    loose(made, name).parent.mkdir()
    os.mkfifo(loose(made, name))
    objects = objects_of(made.folder)

    assert objects.contents([name]) == [None]
    objects.close()


def test_a_log_that_waits_for_a_pipe_is_given_up_however_much_it_is_asked(
    made: Made, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(git_module, "STILL", 0.3)
    packs = made.folder / ".git" / "objects" / "pack"
    os.mkfifo(packs / f"pack-{'a' * 40}.idx")
    (packs / f"pack-{'a' * 40}.pack").write_bytes(b"PACK")
    objects = objects_of(made.folder)
    log = objects.log("%H")

    told = list(log.of([f"{number:040x}" for number in range(50_000)]))

    assert told == []
    assert log.failed == "git gave nothing for 0 seconds"
    objects.close()


def test_git_dies_of_damage_only_so_often(made: Made, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(git_module, "_MOST_DEATHS", 2)
    blobs = [made.git("hash-object", "-w", "--stdin", given=b"%d" % n) for n in range(5)]
    for each in blobs:
        loose(made, each).chmod(0o644)
        loose(made, each).write_bytes(zlib.compress(b"blob 1\0x"))
    started: list[str] = []
    objects = objects_of(made.folder)
    start = objects.start
    monkeypatch.setattr(
        objects, "start", lambda *said, **more: started.append(said[0]) or start(*said, **more)
    )

    assert objects.contents(blobs) == [None] * 5
    assert len(started) == 3
    objects.close()


def running(objects: GitObjects) -> list[subprocess.Popen[bytes]]:
    return list(objects._running)


def test_closing_ends_git_and_removes_the_private_folder(made: Made):
    objects = objects_of(made.folder)
    objects.contents([made.git("rev-parse", "HEAD")])
    processes, folder = running(objects), objects._aside()
    assert [each.poll() for each in processes] == [None]

    objects.close()
    objects.close()

    assert all(each.returncode is not None for each in processes)
    assert not folder.exists()


def test_who_forgets_to_close_leaves_nothing_behind(made: Made):
    objects = objects_of(made.folder)
    objects.sizes([made.git("rev-parse", "HEAD")])
    objects.log("%H")
    processes, folder = running(objects), objects._aside()

    del objects
    gc.collect()

    assert len(processes) == 2
    assert all(each.returncode is not None for each in processes)
    assert not folder.exists()


def test_a_log_that_is_left_early_ends_git(made: Made):
    objects = objects_of(made.folder)
    log = objects.log("%H")
    parts = log.of([made.git("rev-parse", "HEAD")])
    next(parts)
    (process,) = running(objects)

    parts.close()

    assert process.returncode is not None
    objects.close()


def test_borrowed_objects_are_read_and_unsound_places_are_not(made: Made, tmp_path: Path):
    lent = made.git("rev-parse", "HEAD")
    made.git("clone", "-q", "--shared", "--bare", ".", str(tmp_path / "b.git"))
    alternates = tmp_path / "b.git" / "objects" / "info" / "alternates"
    sound = alternates.read_text()
    (tmp_path / "link").symlink_to("/proc")
    unsound = f"# no\n/proc/self/root\n//evil/share\n/net/evil\n{tmp_path}/link\n\0\n../gone\n"
    alternates.write_text(f"{unsound}{sound}{alternates.parent.parent}\n")
    found = found_at(tmp_path / "b.git")

    assert object_folders(found) == (
        tmp_path / "b.git" / "objects",
        made.folder / ".git" / "objects",
    )
    objects = GitObjects(found)
    assert objects.sizes([lent]) == objects_of(made.folder).sizes([lent])
    # None of git's is handed a list of borrowed folders that we have not looked at.
    given = objects._borrowed.split(os.pathsep)
    assert not any((Path(each) / "info" / "alternates").exists() for each in given)
    objects.close()


def test_a_path_with_the_signs_of_a_list_can_be_borrowed_from(tmp_path: Path):
    made = Made(tmp_path / 'a:b "c"')
    head = made.commit("One\n", {"a.txt": "a\n"})
    objects = objects_of(made.folder)

    assert objects.sizes([head]) != [None]
    objects.close()


def test_tables_of_refs_are_refused_in_words(made: Made):
    (made.folder / ".git" / "reftable").mkdir()

    with pytest.raises(CannotReadError, match="reftable, which is not supported") as error:
        settings_of(found_at(made.folder))
    assert error.value.hint == "clone it with --ref-format=files and open the clone"


def test_objects_are_named_by_the_hash_that_the_config_says(tmp_path: Path):
    made = Made(tmp_path / "new", "--object-format=sha256")
    head = made.commit("One\n", {"a.txt": "a\n"})
    objects = objects_of(made.folder)

    assert len(head) == 64
    assert settings_of(found_at(made.folder)).object_format == "sha256"
    (found,) = objects.contents([head])
    assert found is not None
    assert found.type == "commit"
    objects.close()


def test_a_config_of_nothing_but_line_ends_is_read_once(made: Made):
    (made.folder / ".git" / "config").write_bytes(b"\n \t" * 500_000 + b"promisor = true\n")
    assert settings_of(found_at(made.folder)).is_partial


def test_without_git_it_is_said_what_to_install(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # In the folder itself, where nobody looks for programs.
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")

    with pytest.raises(CannotReadError, match="git is not installed") as error:
        objects_of(made.folder)
    assert error.value.hint == "install git (https://git-scm.com/downloads)"


def test_refs_that_are_too_many_are_not_all_read(made: Made, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repository_module, "MOST_REFS", 3)
    for number in range(10):
        made.git("branch", f"b{number}")

    assert len(refs_of(found_at(made.folder)).names) <= 3


def test_nothing_that_a_repository_tells_git_to_run_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = a_shop(tmp_path / "shop")
    head = made.git("rev-parse", "HEAD")
    missing = made.git("rev-parse", "HEAD:shop.py")
    loose(made, missing).unlink()
    canary = tmp_path / "canary"
    tampered(made, canary)
    monkeypatch.setenv("GIT_DIR", str(made.folder / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(made.folder / "payload.sh"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "alias.log")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"!{made.folder}/payload.sh")
    before = {path: path.lstat() for path in made.folder.rglob("*")}

    objects = objects_of(made.folder)
    refs = refs_of(found_at(made.folder))
    log = objects.log("%H%x00%B")
    told = b"".join(log.of([head, *refs.names.values()]))
    found = objects.contents([head, missing, f"{head}^{{tree}}"])
    objects.sizes([missing])
    objects.close()

    assert (told.count(head.encode()), log.failed) == (1, "")
    assert [each and each.type for each in found] == ["commit", None, "tree"]
    assert not canary.exists()
    after = {path: path.lstat() for path in made.folder.rglob("*")}
    changed = [path for path in before | after if _stamp(before, path) != _stamp(after, path)]
    assert changed == []


def _stamp(seen: dict[Path, os.stat_result], path: Path) -> tuple[int, ...]:
    status = seen.get(path)
    return () if status is None else (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def test_the_payloads_of_these_tests_would_run(tmp_path: Path):
    made = Made(tmp_path / "shop")
    made.commit("One\n", {"a.txt": "a\n"})
    canary = tmp_path / "canary"
    tampered(made, canary)

    made.git("status")

    assert canary.exists()


def test_git_is_given_an_environment_of_ours_alone(made: Made, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    seen: list[tuple[list[str], dict[str, str], Path]] = []
    popen = subprocess.Popen

    def spied(arguments: list[str], **more: object) -> object:
        seen.append((arguments, more["env"], more["cwd"]))  # type: ignore[arg-type]
        return popen(arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(git_module.subprocess, "Popen", spied)
    objects = objects_of(made.folder)
    head = made.git("rev-parse", "HEAD")
    seen.clear()
    objects.contents([head])
    list(objects.log("%H").of([head]))
    objects.close()

    assert [arguments[1:4] for arguments, _, _ in seen] == [
        ["--no-pager", "--no-replace-objects", "cat-file"],
        ["--no-pager", "--no-replace-objects", "log"],
    ]
    for arguments, environment, folder in seen:
        assert Path(arguments[0]).is_absolute()
        assert "SECRET_TOKEN" not in environment
        assert environment["GIT_DIR"] == str(folder)
        assert environment["GIT_CONFIG_GLOBAL"] == os.devnull
        assert environment["HOME"].startswith(str(folder))
        assert made.folder not in (folder, *folder.parents)


def test_several_threads_may_each_have_their_own(made: Made):
    head = made.git("rev-parse", "HEAD")
    found: list[object] = []

    def ask() -> None:
        objects = objects_of(made.folder)
        found.extend(objects.sizes([head]))
        objects.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(found) == 4
    assert None not in found


def test_made_repositories_have_the_same_hashes_each_time(tmp_path: Path):
    heads = {a_shop(tmp_path / name).git("rev-parse", "HEAD") for name in ("one", "two")}
    assert len(heads) == 1
    assert (EPOCH, ANN[0]) == (1_767_225_600, "Ann")
