"""Loose objects: put into a repository as git keeps what it has not packed yet.

No program is started for it. What an object is called says what is in it, so nothing is ever
written over; one that is there already is compared.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tt_debugger.errors import CannotReadError, CannotWriteError
from tt_debugger.storage.git_refs import add_folder, is_elsewhere, mode_in, sync_names_beside
from tt_debugger.storage.publishing import publish
from tt_debugger.storage.repository import Repository, settings_of

MOST_AT_ONCE = 8
"""Objects that are written at the same time."""
_QUICKLY = 1
"""How well objects are packed one by one: git takes that level too."""
_FILE = b"100644"


class LooseObjects:
    """Makes objects, which are named at once and written together.

    Raises CannotReadError for a repository of a kind that is not known, or whose objects are kept
    elsewhere.
    """

    def __init__(self, repository: Repository) -> None:
        self._folder = repository.shared / "objects"
        is_sha1 = settings_of(repository).object_format == "sha1"
        self._hash = hashlib.sha1 if is_sha1 else hashlib.sha256
        self._made: dict[str, bytes] = {}
        if is_elsewhere(self._folder):
            raise CannotReadError(
                f"the objects of {repository.folder} are kept elsewhere",
                "name the repository in which they are",
            )

    def blob(self, data: bytes) -> str:
        """Make what is in a file; give its name."""
        return self._object("blob", data)

    def tree(self, files: Mapping[str, str]) -> str:
        """Make a folder of files, each by its name with that of its object; give its name."""
        ordered = sorted((name.encode(), value) for name, value in files.items())
        parts = (b"%s %s\0%s" % (_FILE, name, bytes.fromhex(value)) for name, value in ordered)
        return self._object("tree", b"".join(parts))

    def commit(self, data: bytes) -> str:
        """Make a commit; give its name."""
        return self._object("commit", data)

    def write(self) -> None:
        """Write all that was made; it is on the disk when this returns.

        Raises OSError, and CannotWriteError for a repository in which one of them is damaged.
        """
        made, self._made = self._made, {}
        folders = {self._folder / name[:2] for name in made}
        are_new = not all(each.exists() for each in folders)
        # A disk syncs several files in hardly more time than one.
        with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
            list(threads.map(self._write, made.items()))
        if are_new:
            sync_names_beside(next(iter(folders)))

    def _object(self, kind: str, data: bytes) -> str:
        whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
        name = self._hash(whole, usedforsecurity=False).hexdigest()
        self._made[name] = whole
        return name

    def _write(self, made: tuple[str, bytes]) -> None:
        name, whole = made
        target = self._folder / name[:2] / name[2:]
        if os.path.lexists(target) or not is_put(target, zlib.compress(whole, _QUICKLY)):
            # As git does, so that it does not remove what was in no use for long.
            with suppress(OSError, NotImplementedError):
                os.utime(target, follow_symlinks=False)
            _must_hold(target, whole)
            sync_names_beside(target)


def is_put(target: Path, stored: bytes) -> bool:
    """Put an object as it is stored where it belongs; False if one is there. Raises OSError.

    A folder may be made for it, whose name the caller syncs.
    """
    folder = target.parent
    if not folder.exists():
        add_folder(folder)
    try:
        publish(str(target), (stored,))
    except FileExistsError:
        return False
    target.chmod(mode_in(folder) & 0o444)
    return True


def _must_hold(path: Path, whole: bytes) -> None:
    """Raise CannotWriteError where a file does not hold an object."""
    packed = zlib.decompressobj()
    try:
        is_sound = packed.decompress(path.read_bytes(), len(whole) + 1) == whole
    except zlib.error:
        is_sound = False
    if not is_sound:
        raise CannotWriteError(
            f"the object {path.parent.name}{path.name[:10]} is damaged: {path}",
            "git fsck tells more",
        )
