"""Repositories: where a git repository is and what its refs name, read as text and never by git.

Git obeys what stands in a repository: its config names programs to run. So nothing of git's is
started in one. Its few text files are read here, links are not followed, and a file that leads to
another place is believed only where that place leads back.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from tt_debugger.errors import CannotReadError

NO_HISTORY = ("refs/notes/", "refs/replace/", "refs/prefetch/")
"""How refs begin that lead to what is said of commits, or that stand for others."""
MOST_REFS = 100_000
"""Names in folders of refs and of their logs that are looked at."""
MOST_LOGGED = 50_000
"""Commits that are taken from logs."""
_MOST_DEEP = 16
_LARGEST_NOTE = 4096
"""Bytes of a file that holds one ref or one path."""
_LARGEST_BOOK = 64 << 20
"""Bytes of a file that holds many refs."""
_LARGEST_LOG = 4 << 20
"""Bytes of a log that are read, the last ones."""
_MOST_STEPS = 5
"""Refs that name refs before that is a circle."""
_MOST_ALTERNATES = 64
_AT_WORK = ("HEAD", "rebase-merge/head-name", "rebase-apply/head-name")
"""The files of a work tree that name the branch it is on."""

# A link is not followed, and a pipe not waited for. Windows has none of these but the last.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOGGED = re.compile(
    rb"^([0-9a-f]{40}(?:[0-9a-f]{24})?) ([0-9a-f]{40}(?:[0-9a-f]{24})?) ", re.MULTILINE
)
_PACKED = re.compile(rb"^([0-9a-f]{40}(?:[0-9a-f]{24})?) (refs/[^\n]+)$", re.MULTILINE)
_NO_NAME = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[/.]\Z")
# Within a line: past line ends it would search the rest of the file anew from each of them.
_SETTING = re.compile(rb"^[ \t]*(\w+)[ \t]*=[ \t]*\"?([\w-]+)", re.MULTILINE)
_NOT_FILES = ("/proc", "/sys", "/dev", "/net")
"""Where a path leads to what only looks like files, or to another machine."""


class Repository(msgspec.Struct, frozen=True):
    """Where a repository is.

    `folder` is what it is called after: its work tree, or itself if it has none; `own` holds the
    HEAD that is meant, `shared` the objects and refs, which all work trees have in common.
    """

    folder: Path
    own: Path
    shared: Path

    @property
    def name(self) -> str:
        """The name of its folder."""
        return _text(os.fsencode(self.folder.name.removesuffix(".git"))) or "repository"

    @property
    def watched(self) -> tuple[str, ...]:
        """The paths that are written when a ref changes."""
        inside = ("packed-refs", "refs", "worktrees", "logs")
        own = (self.own / "HEAD", self.own / "logs" / "HEAD")
        return tuple(map(str, (*own, *(self.shared / name for name in inside))))


class Refs(msgspec.Struct, frozen=True):
    """What is named: hashes by full name, where HEAD and those of work trees are, what was once.

    A hash need not be that of a commit, nor of anything that is there. `branch` is the full name
    that HEAD leads to, None where it names a commit itself.
    """

    head: str | None
    branch: str | None
    names: Mapping[str, str]
    worktrees: Mapping[str, str]
    logged: tuple[str, ...] = ()
    shallow: tuple[str, ...] = ()


class Settings(msgspec.Struct, frozen=True):
    """What must be known of a config to read objects; nothing else of it is looked at."""

    object_format: str
    is_partial: bool


def repository_at(location: str) -> Repository | None:
    """Give the repository that a folder is, or whose work tree it is; None where there is none.

    Raises CannotReadError where something leads to a repository that does not lead back.
    """
    folder = _real(location)
    if folder is None or not _is_folder(folder):
        return None
    inside = folder / ".git"
    if _is_repository(folder):
        is_inner = folder.name == ".git"
        return Repository(folder.parent if is_inner else folder, folder, folder)
    if _is_repository(inside) and _is_folder(inside):
        return Repository(folder, inside, inside)
    if (folder / "commondir").is_file() and folder.parent.name == "worktrees":
        return _of_work_tree(location, folder, None)
    note = _note(inside)
    return _led_to(location, folder, note[7:]) if note.startswith(b"gitdir:") else None


def must_be_repository(location: str) -> Repository:
    """Give the repository at a location. Raises CannotReadError where there is none."""
    repository = repository_at(location)
    if repository is None:
        raise CannotReadError(f"cannot read {location}: it is no git repository")
    return repository


def refs_of(repository: Repository, *, with_logs: bool = True) -> Refs:
    """Read all refs as they are now, and unless it must be quick what their logs have."""
    named = _named(repository.shared)
    head, branch = _resolved(_note(repository.own / "HEAD"), named.get)
    names = {name: _resolved(value, named.get)[0] for name, value in named.items()}
    found = {name: value for name, value in names.items() if value is not None}
    worktrees = dict(_worktrees(repository.shared, named))
    logged = tuple(dict.fromkeys(_logged(repository))) if with_logs else ()
    return Refs(head, branch, found, worktrees, logged, shallow_of(repository))


def head_of(repository: Repository) -> str | None:
    """Give the hash that HEAD leads to, None for none; no other refs are read for it."""
    shared = repository.shared
    return _resolved(_note(repository.own / "HEAD"), lambda name: _named_in(shared, name))[0]


def value_of(repository: Repository, name: str) -> str | None:
    """Give what one ref says as it is written, None where there is none."""
    value = _named_in(repository.shared, name)
    return None if value is None else _text(value.strip())


def branches_in_use(repository: Repository) -> frozenset[str]:
    """Give the full names of the branches that a work tree is on, or is just rebasing."""
    folders = (repository.shared, *_folders_in(repository.shared / "worktrees"))
    notes = (_note(folder / name) for folder in folders for name in _AT_WORK)
    names = (_name(note.removeprefix(b"ref:").strip()) for note in notes)
    return frozenset(filter(None, names))


def shallow_of(repository: Repository) -> tuple[str, ...]:
    """Give the commits whose parents were not fetched."""
    found = _HASH.findall(_read(repository.shared / "shallow", _LARGEST_BOOK))
    return tuple(each.decode() for each in found)


def settings_of(repository: Repository) -> Settings:
    """Tell how objects are named. Raises CannotReadError for refs that are kept in tables."""
    config = _read(repository.shared / "config", _LARGEST_BOOK)
    found = {name.lower(): value.lower() for name, value in _SETTING.findall(config)}
    if found.get(b"refstorage", b"files") != b"files" or _is_folder(
        repository.shared / "reftable"
    ):
        raise CannotReadError(
            f"cannot read {repository.folder}: its refs are kept as reftable, which is not"
            " supported",
            "clone it with --ref-format=files and open the clone",
        )
    object_format = "sha256" if found.get(b"objectformat") == b"sha256" else "sha1"
    is_partial = bool({b"partialclone", b"promisor", b"partialclonefilter"} & found.keys())
    return Settings(object_format, is_partial)


def is_ref_name(text: str) -> bool:
    """Tell whether git would take a text for the full name of a ref."""
    return text.startswith("refs/") and not _NO_NAME.search(text)


def object_folders(repository: Repository) -> tuple[Path, ...]:
    """Give the folders of objects: its own first, then those that it borrows from.

    Raises CannotReadError where its own are not there.
    """
    own = repository.shared / "objects"
    if not _is_sound(own):
        raise _refused(str(repository.folder), "its objects are not in a folder")
    found: dict[Path, None] = {}
    waiting = [own]
    while waiting and len(found) < _MOST_ALTERNATES:
        path = waiting.pop(0)
        each = _real(path) if _is_sound(path) else None
        if each is None or each in found:
            continue
        found[each] = None
        borrowed = _read(each / "info" / "alternates", _LARGEST_NOTE * 16).splitlines()
        lines = (line for line in borrowed if line and not line.startswith((b"#", b'"')))
        waiting += (each / os.fsdecode(line) for line in lines if b"\0" not in line)
    return tuple(found)


def _led_to(location: str, folder: Path, note: bytes) -> Repository:
    """Give the repository that the .git of a folder names, if that is one of this folder."""
    own = _real(folder / os.fsdecode(note.strip())) or folder
    if (own / "commondir").is_file():
        return _of_work_tree(location, own, folder / ".git")
    if _is_repository(own) and _is_module_of(own, folder):
        return Repository(folder, own, own)
    raise _refused(location, f"its .git names {own}, which is no repository of this folder")


def _is_repository(folder: Path) -> bool:
    if not _is_folder(folder / "refs") or not _exists(folder / "objects"):
        return False
    head = _note(folder / "HEAD")
    return head.startswith(b"ref:") or _HASH.fullmatch(head.strip()) is not None


def _of_work_tree(location: str, own: Path, inside: Path | None) -> Repository:
    """Give the repository of one more work tree, if it knows of that one."""
    shared = _real(own / os.fsdecode(_note(own / "commondir").strip())) or own
    back = Path(os.fsdecode(_note(own / "gitdir").strip()))
    if own.parent != shared / "worktrees" or not _is_repository(shared):
        raise _refused(location, f"it leads to {shared}, which has no such work tree")
    if inside is not None and _real(own / back) != _real(inside):
        raise _refused(location, f"its .git names {own}, which is of the work tree {back}")
    return Repository(own if inside is None else inside.parent, own, shared)


def _is_module_of(own: Path, folder: Path) -> bool:
    """Tell whether a repository is kept as a submodule by one around the folder."""
    kept_by = own.parents
    return any(each / ".git" / "modules" in kept_by for each in folder.parents)


def _named(shared: Path) -> dict[str, bytes]:
    """Give what each ref says, a hash or the name of another; a loose one hides a packed one."""
    book = _read(shared / "packed-refs", _LARGEST_BOOK)
    named: dict[str, bytes] = {}
    for value, name in _PACKED.findall(book):
        if len(named) < MOST_REFS and (known := _name(name)) is not None:
            named[known] = value
    for path, relative in _files_in(shared, "refs"):
        name = _name(os.fsencode(relative))
        if name is not None and (value := _note(path).strip()):
            named[name] = value
    return dict(sorted(named.items()))


def _named_in(shared: Path, name: str) -> bytes | None:
    """Give what one ref says, as `_named` does for all."""
    above = Path(name).parents[:-1]
    if all(_is_folder(shared / each) for each in above) and (own := _note(shared / name).strip()):
        return own
    line = rb"^(%s) %s$" % (_HASH.pattern, re.escape(os.fsencode(name)))
    packed = re.search(line, _read(shared / "packed-refs", _LARGEST_BOOK), re.MULTILINE)
    return None if packed is None else packed[1]


def _resolved(value: bytes, named: Callable[[str], bytes | None]) -> tuple[str | None, str | None]:
    """Give the hash that a ref leads to, None for none, and the last ref on the way."""
    branch = None
    for _ in range(_MOST_STEPS):
        value = value.strip()
        if not value.startswith(b"ref:"):
            break
        branch = _name(value[4:].strip())
        value = (branch and named(branch)) or b""
    return (value.decode() if _HASH.fullmatch(value) else None), branch


def _worktrees(shared: Path, named: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for folder in _folders_in(shared / "worktrees"):
        head = _resolved(_note(folder / "HEAD"), named.get)[0]
        if head is not None:
            yield _text(os.fsencode(folder.name)), head


def _logged(repository: Repository) -> Iterator[str]:
    """Give the hashes in all logs, of each log the newest first."""
    left = MOST_LOGGED
    is_shared = repository.own == repository.shared
    own = [] if is_shared else [str(repository.own / "logs" / "HEAD")]
    logs = _files_in(repository.shared, "logs")
    kept = (path for path, name in logs if not name[len("logs/") :].startswith(NO_HISTORY))
    for path in (*own, *kept):
        for pair in reversed(_LOGGED.findall(_read(path, _LARGEST_LOG))):
            for each in reversed(pair):
                if each.strip(b"0"):
                    yield each.decode()
            left -= 1
            if not left:
                return


def _name(name: bytes) -> str | None:
    """Give the name of a ref as text, None where git would take no such name."""
    text = _text(name)
    return text if is_ref_name(text) else None


def _text(name: bytes) -> str:
    return name.decode(errors="backslashreplace")


def _files_in(base: Path, name: str) -> Iterator[tuple[str, str]]:
    """Go over the files in a folder and those below, each with its path from there on.

    Links are passed by.
    """
    waiting, left = [(str(base / name), name, 0)] if _is_folder(base / name) else [], MOST_REFS
    while waiting:
        here, path, depth = waiting.pop()
        try:
            with os.scandir(here) as inside:
                every = sorted(inside, key=lambda each: each.name)
        except OSError:
            continue
        for each in every[:left]:
            below = f"{path}/{each.name}"
            if each.is_dir(follow_symlinks=False):
                waiting += [(each.path, below, depth + 1)] * (depth < _MOST_DEEP)
            elif each.is_file(follow_symlinks=False):
                yield each.path, below
        left -= len(every[:left])


def _folders_in(folder: Path) -> list[Path]:
    if not _is_folder(folder):
        return []
    try:
        with os.scandir(folder) as inside:
            found = [Path(each.path) for each in inside if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(found)[:MOST_REFS]


def _note(path: Path | str) -> bytes:
    return _read(path, _LARGEST_NOTE)


def _read(path: Path | str, most: int) -> bytes:
    """Give the last bytes of a regular file, none of anything else or of what a link leads to."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(descriptor)
        # Files of the kernel say that they have no size.
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            return b""
        if status.st_size > most:
            os.lseek(descriptor, status.st_size - most, os.SEEK_SET)
        return os.read(descriptor, min(status.st_size, most))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _is_folder(path: Path) -> bool:
    """Tell whether a folder is there, and no link to one."""
    try:
        return path.is_dir() and not path.is_symlink()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_sound(path: Path) -> bool:
    """Tell whether a path leads to a folder of real files on this machine."""
    # As it is written too: to follow it may already ask another machine.
    for each in (str(path), str(_real(path) if _is_here(str(path)) else "")):
        if not _is_here(each):
            return False
    return _exists(path) and path.is_dir()


def _is_here(path: str) -> bool:
    is_elsewhere = any(f"{path}/".startswith(f"{each}/") for each in _NOT_FILES)
    return bool(path) and not is_elsewhere and not path.startswith(("//", "\\\\"))


def _real(path: Path | str) -> Path | None:
    """Give where a path leads; None for a text that can be no path."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def _refused(location: str, why: str) -> CannotReadError:
    return CannotReadError(
        f"cannot read {location}: {why}", "name the repository itself, if you trust it"
    )
