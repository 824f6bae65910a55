"""Refs of a repository: made, moved and removed under the locks that git itself takes.

A ref is a file. Who changes one makes a file beside it first, which only one at a time can: its
lock. Hooks are what git runs on such a change, not the repository; here none are.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from tt_debugger.errors import UsageError
from tt_debugger.storage.publishing import opened_folder, publish, sync_folder
from tt_debugger.storage.repository import (
    Repository,
    branches_in_use,
    is_ref_name,
    value_of,
)

_HEADS = "refs/heads"
_BOOK = "packed-refs"
_PACKED = re.compile(rb"^[0-9a-f]{40,64} (refs/[^\n]+)$", re.MULTILINE)
_LARGEST = 4096
"""Bytes of a file that holds one ref."""
PATIENCE = 5.0
"""Seconds in which another program must let go of a ref that it has locked."""
_PAUSE = 0.02


def ref_of(branch: str) -> str:
    """Give the full name of a branch. Raises UsageError for one that git would not take."""
    name = f"{_HEADS}/{branch}"
    try:
        name.encode()
        is_name = is_ref_name(name) and not branch.startswith("-") and branch != "HEAD"
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise UsageError(
            f"{branch!r} is no name of a branch", "`git help check-ref-format` says what is one"
        )
    return name


def check_new(repository: Repository, ref: str) -> None:
    """Raise UsageError where a ref is there already, or one that is in its way."""
    _check_folders(repository, ref)
    path = repository.shared / ref
    if os.path.lexists(path):
        is_folder = path.is_dir() and not path.is_symlink()
        raise _taken(ref, f"{ref}/..." if is_folder else ref)
    for other in _packed(repository):
        if other == ref or other.startswith(f"{ref}/") or ref.startswith(f"{other}/"):
            raise _taken(ref, other)


def add(repository: Repository, ref: str, commit: str) -> None:
    """Make a ref that was not there; it is on the disk when this returns.

    Raises UsageError where one is there, OSError. There is no new ref then.
    """
    path = repository.shared / ref
    check_new(repository, ref)
    folders = _folders(repository, ref)
    new = [folder for folder in folders if not folder.exists()]
    try:
        for folder in new:
            add_folder(folder)
        with _locked(path, ref, f"{commit}\n".encode()) as lock:
            # Who had the lock before may have made it.
            check_new(repository, ref)
            lock.become(path)
            try:
                for each in (path, *reversed(folders)):
                    sync_names_beside(each)
            except BaseException:
                path.unlink()
                raise
    except BaseException:
        _remove(reversed(new))
        raise


def move(repository: Repository, ref: str, before: str, after: str) -> None:
    """Let a ref name another commit than the one it names; it is on the disk when this returns.

    Raises UsageError where it does not name that one, or is locked for long, and OSError: the ref
    may have moved then or not.
    """
    path = repository.shared / ref
    _check_folders(repository, ref)
    for folder in _folders(repository, ref):
        # Git removes folders whose refs it has packed.
        if not folder.exists():
            add_folder(folder)
            sync_names_beside(folder)
    _await_unlocked(path)
    with _locked(path, ref, f"{after}\n".encode()) as lock:
        if value_of(repository, ref) != before:
            raise UsageError(
                f"{_short(ref)} was moved by another program", "open it again to see where to"
            )
        lock.become(path)
        sync_names_beside(path)


def unlock(repository: Repository, ref: str, is_left: Callable[[str], bool]) -> None:
    """Remove the lock that a writer left on a ref when it was killed. Raises OSError.

    `is_left` tells by the hash in it whether it is one of those.
    """
    lock = _lock_of(repository.shared / ref)
    if os.path.lexists(lock) and is_left(_value(lock).decode(errors="replace")):
        lock.unlink(missing_ok=True)


def remove(repository: Repository, ref: str, commit: str) -> None:
    """Remove a ref that still names a commit, and the folders that are empty then.

    Raises UsageError where it names another, or is in use, and OSError.
    """
    path = repository.shared / ref
    must_name(repository, ref, commit)
    with _locked(path, ref):
        must_name(repository, ref, commit)
        path.unlink()
        sync_names_beside(path)
    _remove(reversed(_folders(repository, ref)[1:]))


def must_name(repository: Repository, ref: str, commit: str) -> None:
    """Raise UsageError where a ref does not name a commit any more, or is in use."""
    path = repository.shared / ref
    _check_folders(repository, ref)
    if ref in _packed(repository):
        raise _changed(ref, "git has packed it since", f"`git branch -D {_short(ref)}` removes it")
    if not os.path.lexists(path):
        raise _changed(ref, "it is not there any more")
    if _value(path) != commit.encode():
        raise _changed(ref, "it was moved since", f"`git log {_short(ref)}` shows where to")
    if ref in branches_in_use(repository):
        raise _changed(ref, "a work tree is on it", "switch to another branch first")


def add_folder(folder: Path) -> None:
    """Make a folder that may be entered by whoever may enter the one that it is in."""
    try:
        folder.mkdir()
    except FileExistsError:
        if is_elsewhere(folder):
            raise
        # Another program needed it at the same time.
        return
    # A repository may be shared by a group, whatever the mask of this user is.
    folder.chmod(mode_in(folder.parent))


def mode_in(folder: Path) -> int:
    """Give who may do what in a folder."""
    return stat.S_IMODE(folder.stat().st_mode)


def sync_names_beside(path: Path) -> None:
    """Return when the names in the folder of a path are on the disk. Raises OSError."""
    with opened_folder(str(path)) as folder:
        sync_folder(folder)


def is_elsewhere(path: Path) -> bool:
    """Tell whether what is at a path is a link, or no folder at all."""
    return os.path.lexists(path) and (path.is_symlink() or not path.is_dir())


class _Lock:
    """A lock that is held: a file beside the ref, with what the ref may be to say."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_held = True

    def become(self, path: Path) -> None:
        """Let it take the place of the ref. Whoever takes the lock from then on has it."""
        self._path.rename(path)
        self._is_held = False

    def release(self) -> None:
        """Let go of it."""
        if self._is_held:
            self._path.unlink()


@contextmanager
def _locked(path: Path, ref: str, content: bytes = b"") -> Generator[_Lock]:
    """Hold the lock of a ref. Raises UsageError where another has it, OSError."""
    lock = _lock_of(path)
    try:
        publish(str(lock), (content,))
    except FileExistsError:
        raise UsageError(
            f"{ref} is locked by another program",
            f"wait until it is done; if it was killed, remove {lock}",
        ) from None
    held = _Lock(lock)
    try:
        lock.chmod(mode_in(path.parent) & 0o666)
        yield held
    finally:
        held.release()


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _await_unlocked(path: Path) -> None:
    """Let git finish: it locks each ref for a moment where it packs them."""
    latest = time.monotonic() + PATIENCE
    while os.path.lexists(_lock_of(path)) and time.monotonic() < latest:
        time.sleep(_PAUSE)


def _folders(repository: Repository, ref: str) -> list[Path]:
    """Give the folders that a branch is in, `refs/heads` first."""
    parts = ref.split("/")[:-1]
    return [repository.shared.joinpath(*parts[:count]) for count in range(2, len(parts) + 1)]


def _check_folders(repository: Repository, ref: str) -> None:
    """Raise UsageError where one of the folders is a ref, or leads out of the repository."""
    for folder in (repository.shared / "refs", *_folders(repository, ref)):
        name = folder.relative_to(repository.shared).as_posix()
        if folder.is_symlink():
            raise UsageError(
                f"{name} of {repository.folder} is a link: nothing is written to where it leads",
                "name the repository in which the refs are",
            )
        if is_elsewhere(folder):
            raise _taken(ref, name)


def _packed(repository: Repository) -> frozenset[str]:
    """Give the names of all refs that are kept in one file. Raises OSError, UsageError."""
    path = repository.shared / _BOOK
    if not os.path.lexists(path):
        return frozenset()
    if path.is_symlink() or not path.is_file():
        raise UsageError(
            f"{_BOOK} of {repository.folder} is no file of its own",
            "name the repository in which the refs are",
        )
    found = _PACKED.findall(path.read_bytes())
    return frozenset(name.decode(errors="backslashreplace") for name in found)


def _value(path: Path) -> bytes:
    """Give what a ref says, nothing where that is no file."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_LARGEST).strip()


def _remove(folders: Iterable[Path]) -> None:
    """Remove folders as long as they are empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _taken(ref: str, other: str) -> UsageError:
    if ref == other:
        return UsageError(f"the branch {_short(ref)} is there already", "choose another name")
    return UsageError(
        f"the branch {_short(ref)} cannot be beside {_short(other)}", "choose another name"
    )


def _changed(ref: str, why: str, hint: str | None = None) -> UsageError:
    return UsageError(f"the branch {_short(ref)} cannot be taken back: {why}", hint)


def _short(ref: str) -> str:
    return ref.removeprefix(f"{_HEADS}/")
