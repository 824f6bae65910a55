"""The catalogue: what is known of the files of a folder, all of it in one file of the index cache.

A file is known by what the system says of it: as long as nothing of that differs, nobody has
changed it, and it need not be opened. Like an index, a catalogue is good for nothing but speed:
one that is damaged, or of another layout, holds nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.index_cache import OFF
from tt_debugger.storage.replacing import replace
from tt_debugger.storage.settling import SETTLED, has_settled

MOST = 64
"""Catalogues that are kept; those written longest ago are dropped."""

_MAGIC = b"ttdbg catalogue 1\n"


class _Known(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a file, and the stamp that it had at a time, in nanoseconds since 1970."""

    stamp: tuple[int, ...]
    at: int
    value: bytes


class _Content(msgspec.Struct, frozen=True, array_like=True):
    layout: str
    folder: bytes
    files: dict[str, _Known]


_decode = msgspec.msgpack.Decoder(_Content).decode


class Catalogue:
    """What is known of the files of one folder, by their paths below it."""

    def __init__(self, folder: str, kind: str, layout: str) -> None:
        """Read what is known of one kind; what is laid out in another way is not."""
        self._folder = os.path.realpath(folder)
        self._kind = kind
        self._layout = layout
        self._is_off = bool(os.environ.get(OFF))
        self._files = self._stored()
        self._new: dict[str, _Known] = {}

    def recall(self, name: str, stamp: tuple[int, ...]) -> bytes | None:
        """Give what is known of a file, None if it has changed or may have."""
        known = self._new.get(name) or self._files.get(name)
        if known is None or known.stamp != stamp or not _is_sure(known):
            return None
        return known.value

    def keep(self, name: str, stamp: tuple[int, ...], at: int, value: bytes) -> None:
        """Know a file that had this stamp before it was read."""
        self._new[name] = _Known(stamp, at, value)

    def save(self, there: Container[str] | None = None) -> None:
        """Write down what is new; that it cannot be written is no error.

        What another ttdbg has written meanwhile stays. With the names of all files that are
        `there`, others are forgotten.
        """
        if not self._new or self._is_off:
            return
        files = self._stored() | self._new
        if there is not None:
            files = {name: known for name, known in files.items() if name in there}
        data = msgspec.msgpack.encode(_Content(self._layout, os.fsencode(self._folder), files))
        path = self._path()
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(path, (_MAGIC, crc32(data).to_bytes(4), data))
            _make_room(path.parent)
            self._files, self._new = files, {}

    def _stored(self) -> dict[str, _Known]:
        if self._is_off:
            return {}
        try:
            file = RegularFile(str(self._path()))
        except CannotReadError:
            return {}
        try:
            data = file.read(0, file.size())
        except CannotReadError:
            return {}
        finally:
            file.close()
        begin = len(_MAGIC) + 4
        if data[:begin] != _MAGIC + crc32(data[begin:]).to_bytes(4):
            return {}
        with suppress(msgspec.MsgspecError, UnicodeError):
            content = _decode(data[begin:])
            if (content.layout, content.folder) == (self._layout, os.fsencode(self._folder)):
                return content.files
        return {}

    def _path(self) -> Path:
        # Only who looks for sessions pays for these imports.
        import hashlib

        import platformdirs

        named = self._kind.encode() + b"\0" + os.fsencode(self._folder)
        name = hashlib.sha256(named).hexdigest()[:32]
        return platformdirs.user_cache_path("ttdbg") / "catalogues" / f"{name}.catalogue"


def now() -> int:
    """Give the time by which a file is said to be seen, in nanoseconds since 1970."""
    return time.time_ns()


def _is_sure(known: _Known) -> bool:
    """Tell whether any change of the file since it was seen must show in its stamp."""
    # Elsewhere the time of change is that of creation, but that of its content is told as well.
    changed = known.stamp[-2:]
    return bool(changed) and has_settled(known.at, *changed, within=SETTLED)


def _make_room(folder: Path) -> None:
    """Drop the catalogues written longest ago where there are too many."""
    found: list[tuple[float, Path]] = []
    for path in folder.glob("*.catalogue"):
        with suppress(OSError):
            found.append((path.stat().st_mtime, path))
    for _, path in sorted(found, reverse=True)[MOST:]:
        with suppress(OSError):
            path.unlink()
