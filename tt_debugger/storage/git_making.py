"""Making a commit: its objects, made by git itself in a folder of ours.

Nothing is written to the repository here. What differs from the base is put into its trees, folder
by folder from the deepest; all other entries stay as they are stored, with their modes.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tt_debugger.core.fork.writes import NewBranch
from tt_debugger.errors import CannotReadError, CannotWriteError, UnsupportedError, UsageError
from tt_debugger.storage.git import GitObjects
from tt_debugger.storage.repository import Repository, must_be_repository, settings_of

NAME, MAIL = "ttdbg", "ttdbg@localhost"
"""Who makes the commit, whoever wrote what is in it."""
MOST_DEEP = 256
"""Folders within folders in which a file may be written."""
_FILE, _FOLDER = b"100644", b"40000"
_TYPES = {0o040000: "tree", 0o160000: "commit"}
_ENTRIES = {
    digits: re.compile(rb"([0-7]{1,7}) ([^\0]+)\0(.{%d})" % (digits // 2), re.DOTALL)
    for digits in (40, 64)
}
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_GITS_OWN = ".git"
# Some systems leave these out of a name, and take then .git for it.
_UNSEEN = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)
_Parts = tuple[bytes, ...]
"""A path: the names of its folders and its own."""


class Made(msgspec.Struct, frozen=True):
    """Where a branch is to end, and the folder of the objects that are new there."""

    repository: Repository
    commit: str
    folder: Path


class _Entry(msgspec.Struct, frozen=True):
    """An entry of a tree."""

    mode: bytes
    name: str
    """The hash of what it leads to."""

    @property
    def type(self) -> str:
        """What it leads to: a file, a folder, or a commit of another repository."""
        return _TYPES.get(int(self.mode, 8) & 0o170000, "blob")


@contextmanager
def made(new: NewBranch) -> Generator[Made]:
    """Make the commit that a branch is to end in; its objects are there until this is left.

    Raises UsageError for what git cannot hold, UnsupportedError, CannotReadError.
    """
    repository = _found(new.repository)
    objects = GitObjects(repository)
    folder: Path | None = None
    try:
        try:
            folder = Path(tempfile.mkdtemp(prefix="ttdbg-git-"))
            commit = _Making(objects, folder).commit(new)
        except OSError as error:
            raise CannotWriteError(
                f"cannot make a commit: {error.strerror}",
                "a private folder is needed where temporary files are kept",
            ) from error
        yield Made(repository, commit, folder)
    finally:
        objects.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def parts_of(path: str) -> _Parts:
    """Give the names that a path is of. Raises UsageError for one that git would not take."""
    parts = path.split("/")
    if any(not each or each in (".", "..") or "\0" in each for each in parts):
        raise UsageError(
            f"{path!r} is no path of a file in a repository", "write it like src/shop.py"
        )
    if any(_is_gits_own(each) for part in parts for each in part.split("\\")):
        raise UsageError(f"{path!r} would be a part of git's own folder")
    if len(parts) > MOST_DEEP:
        raise UsageError(f"{path[:40]!r}... is too deep: {len(parts)} folders")
    try:
        return tuple(part.encode() for part in parts)
    except UnicodeEncodeError:
        raise UsageError(f"{path!r} cannot be written as UTF-8") from None


def _is_gits_own(name: str) -> bool:
    """Tell whether some system would take a name for that of git's folder."""
    seen = name.translate(_UNSEEN).casefold().partition(":")[0].rstrip(" .")
    return seen in (_GITS_OWN, "git~1")


def _found(location: str) -> Repository:
    repository = must_be_repository(location)
    try:
        settings_of(repository)
    except CannotReadError as error:
        raise UnsupportedError(error.message, error.hint) from error
    return repository


class _Making:
    """Objects that are made one on the other: files, folders, the commit."""

    def __init__(self, objects: GitObjects, folder: Path) -> None:
        self._objects = objects
        self._folder = folder

    def commit(self, new: NewBranch) -> str:
        is_hash = _HASH.fullmatch(new.base) is not None
        base = self._objects.contents([new.base])[0] if is_hash else None
        if base is None or base.type != "commit" or base.data is None:
            raise UsageError(f"{new.base} is no commit of {new.repository}")
        if not new.has_commit:
            return new.base
        head = (
            *(f"tree {self._root(new, base.data)}", f"parent {new.base}"),
            f"author {_signed(new.author, new.email)} {new.time} +0000",
            f"committer {_signed(NAME, MAIL)} {new.time} +0000",
        )
        if "\0" in new.message:
            raise UsageError("the message of a commit holds no zero bytes")
        try:
            data = "\n".join((*head, "", new.message)).encode()
        except UnicodeEncodeError:
            raise UsageError("the message cannot be written as UTF-8") from None
        return self._object("commit", data)

    def _root(self, new: NewBranch, base: bytes) -> str:
        tree = base.partition(b"\n")[0].removeprefix(b"tree ").decode(errors="replace")
        files = {parts_of(path): content for path, content in new.files.items()}
        return self._tree(tree, files, "") or self._written(b"", "mktree", "-z")

    def _tree(
        self, tree: str | None, files: Mapping[_Parts, bytes | None], above: str
    ) -> str | None:
        """Make a folder with some files in it otherwise; give None where nothing is left in it."""
        entries = {} if tree is None else self._entries(tree, above)
        own = {parts[0]: content for parts, content in files.items() if len(parts) == 1}
        below: defaultdict[bytes, dict[_Parts, bytes | None]] = defaultdict(dict)
        for parts, content in files.items():
            if len(parts) > 1:
                below[parts[0]][parts[1:]] = content
        # What goes makes room: a folder may take the place of a file, and the other way round.
        for name in (name for name, content in own.items() if content is None):
            if name not in entries or entries[name].type == "tree":
                raise UsageError(
                    f"there is no file {_shown(above, name)} that could be taken away"
                )
            del entries[name]
        for name, inside in below.items():
            entry = entries.get(name)
            if entry is not None and entry.type != "tree":
                raise UsageError(f"{_shown(above, name)} is a file, so no file can be in it")
            made = self._tree(
                None if entry is None else entry.name, inside, f"{_shown(above, name)}/"
            )
            entries.pop(name, None)
            if made is not None:
                entries[name] = _Entry(_FOLDER, made)
        for name, content in own.items():
            if content is not None:
                entries[name] = self._file(entries.get(name), content, _shown(above, name))
        return self._folder_of(entries, above) if entries else None

    def _file(self, before: _Entry | None, content: bytes, path: str) -> _Entry:
        if before is not None and before.type != "blob":
            what = "folder" if before.type == "tree" else "commit of another repository"
            raise UsageError(f"{path} is a {what}, so it cannot be a file")
        mode = _FILE if before is None else before.mode
        return _Entry(mode, self._object("blob", content))

    def _entries(self, tree: str, path: str) -> dict[bytes, _Entry]:
        found = self._objects.contents([tree])[0]
        if found is None or found.type != "tree" or found.data is None:
            raise CannotReadError(
                f"the folder {tree[:12]} cannot be read, so no file in it can be changed",
                "git fsck tells what is missing",
            )
        # As it is stored: git itself would tell some modes otherwise.
        told = _ENTRIES[len(tree)].findall(found.data)
        entries = {name: _Entry(mode, value.hex()) for mode, name, value in told}
        stored = sum(len(mode) + len(name) + len(value) + 2 for mode, name, value in told)
        if stored != len(found.data) or len(entries) != len(told):
            raise _refused(path)
        return entries

    def _folder_of(self, entries: Mapping[bytes, _Entry], path: str) -> str:
        lines = (
            b"%s %s %s\t%s\0" % (each.mode, each.type.encode(), each.name.encode(), name)
            for name, each in entries.items()
        )
        try:
            return self._written(b"".join(lines), "mktree", "-z", "--missing")
        except CannotWriteError:
            raise _refused(path) from None

    def _object(self, kind: str, data: bytes) -> str:
        return self._written(data, "hash-object", "-w", "-t", kind, "--no-filters", "--stdin")

    def _written(self, data: bytes, *arguments: str) -> str:
        said = self._objects.answer(data, *arguments, into=self._folder)
        if said is None:
            raise CannotWriteError(
                f"git {arguments[0]} failed, so nothing was written to the repository",
                "there may be no room where temporary files are kept",
            )
        return said.decode().strip()


def _refused(path: str) -> UnsupportedError:
    return UnsupportedError(
        f"the folder {path or '/'} holds an entry that git would not write again",
        "git fsck tells more",
    )


def _signed(name: str, mail: str) -> str:
    """Give who writes, as it stands in a commit. Raises UsageError for what cannot."""
    text = f"{name} <{mail}>"
    is_odd = any(character in "<>\n\0" for character in name + mail)
    if is_odd or not name or name != name.strip() or mail != mail.strip():
        raise UsageError(f"{text!r} is no author", "write it like Ann <ann@example.com>")
    return text


def _shown(above: str, name: bytes) -> str:
    return f"{above}{name.decode(errors='replace')}"
