"""The index cache: what was read of a file before, so that it need not be read again.

Each file has one entry under the user's cache folder, written whole or not at all and good for
nothing but speed: one that is damaged, older than this program or of another file is passed over.
Whether the file is still what it was is told without trusting its size and time, which anybody
can set: the system's own time of change, which nobody can, says that nothing happened to it; else
the digest of its content must be the same. A file that has only grown keeps what was read of it.

An entry is a header, parts, each read when it is needed, and blocks, read one by one.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.replacing import replace
from tt_debugger.storage.stdin import STDIN

LEAST = 1 << 20
"""Bytes of the smallest file that is worth an entry."""
LARGEST = 1 << 30
"""Bytes of all entries together; those used longest ago are dropped."""
OFF = "TTDBG_NO_CACHE"
"""The variable of the environment that switches the cache off."""

_MAGIC = b"ttdbg index 1\n"
_SETTLED = 2 * 10**9
"""Nanoseconds after a change in which another one might get the same time."""
_CHUNK = 1 << 20


class _Stamp(msgspec.Struct, frozen=True, array_like=True):
    """What a system says of a file: if nothing of it differs, nobody has changed the file."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class _Header(msgspec.Struct, frozen=True, array_like=True):
    """What an entry is of. `size` and `digest` are of what was read of the file."""

    kind: str
    location: str
    size: int
    digest: bytes
    stamp: _Stamp
    stamped: int
    """When the stamp was taken, in nanoseconds since 1970."""
    parts: dict[str, int]
    block_ends: int


class Entry:
    """What is kept of a file: `size` bytes of it are covered.

    `is_quick` says that it takes no reading of the file to know that it is the same still.
    """

    def __init__(self, file: RegularFile, header: _Header, begin: int) -> None:
        self.size = header.size
        self.is_quick = _has_settled(header)
        self._file = file
        ends = list(accumulate(header.parts.values(), initial=begin))
        self._parts = {
            name: (start, length)
            for (name, length), start in zip(header.parts.items(), ends, strict=False)
        }
        self._blocks_begin = ends[-1] + header.block_ends
        self._block_ends = array("q", file.read(ends[-1], header.block_ends))
        last = self._block_ends[-1] if self._block_ends else 0
        if file.size() != self._blocks_begin + last:
            raise ValueError("the entry is not whole")

    def part(self, name: str) -> bytes:
        """Give a part. Raises LookupError where there is none of this name."""
        return self._file.read(*self._parts[name])

    def block(self, number: int) -> bytes:
        """Give a block; an empty one where there is none."""
        if number >= len(self._block_ends):
            return b""
        begin = self._block_ends[number - 1] if number else 0
        return self._file.read(self._blocks_begin + begin, self._block_ends[number] - begin)

    def close(self) -> None:
        """Close the entry; blocks can be read no more."""
        self._file.close()


def may_keep(file: RegularFile) -> bool:
    """Tell whether anything is kept of such a file."""
    return not os.environ.get(OFF) and file.size() >= LEAST and file.path != STDIN


def recall(file: RegularFile, kind: str) -> Entry | None:
    """Give what is kept of a file, if the file is as it was or has only grown since."""
    path = _path_of(file, kind)
    if path is None:
        return None
    try:
        kept = RegularFile(str(path))
    except CannotReadError:
        return None
    with suppress(CannotReadError, ValueError, msgspec.MsgspecError):
        header, begin = _header_of(kept)
        if (header.kind, header.location) == (kind, os.path.realpath(file.path)) and _is_of(
            header, file
        ):
            entry = Entry(kept, header, begin)
            with suppress(OSError):
                os.utime(path)
            return entry
    kept.close()
    return None


class Seen(msgspec.Struct, frozen=True):
    """A file as it was before it was read."""

    stamp: _Stamp
    at: int


def look_at(file: RegularFile) -> Seen:
    """See a file before it is read, for `keep`."""
    return Seen(_stamp_of(file), time.time_ns())


def keep(
    file: RegularFile,
    kind: str,
    seen: Seen,
    parts: Mapping[str, bytes],
    blocks: Sequence[bytes] = (),
) -> bool:
    """Keep what was read of a file since it was seen, if it is the same still.

    Tells whether it was kept; that it cannot be is no error.
    """
    path = _path_of(file, kind)
    if path is None or _stamp_of(file) != seen.stamp:
        return False
    digest = _digest(file, seen.stamp.size)
    if _stamp_of(file) != seen.stamp:
        return False
    block_ends = array("q", accumulate(map(len, blocks))).tobytes()
    header = _Header(
        kind,
        os.path.realpath(file.path),
        seen.stamp.size,
        digest,
        seen.stamp,
        seen.at,
        {name: len(part) for name, part in parts.items()},
        len(block_ends),
    )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(path, (*_head(header), *parts.values(), block_ends, *blocks))
        _make_room(path.parent, path)
    except OSError:
        return False
    return True


def _path_of(file: RegularFile, kind: str) -> Path | None:
    if not may_keep(file):
        return None
    # Only who has a large file pays for these imports.
    import hashlib

    import platformdirs

    name = f"{kind}\0{os.path.realpath(file.path)}".encode(errors="surrogatepass")
    folder = platformdirs.user_cache_path("ttdbg") / "indexes"
    return folder / f"{hashlib.sha256(name).hexdigest()[:32]}.index"


def _head(header: _Header) -> tuple[bytes, bytes, bytes]:
    data = msgspec.msgpack.encode(header)
    return _MAGIC, len(data).to_bytes(4), data


def _header_of(kept: RegularFile) -> tuple[_Header, int]:
    """Give the header of an entry and where its parts begin. Raises ValueError for no entry."""
    start = kept.read(0, 4096)
    fixed = len(_MAGIC) + 4
    length = int.from_bytes(start[len(_MAGIC) : fixed])
    if not start.startswith(_MAGIC):
        raise ValueError("this is no entry")
    data = start[fixed : fixed + length] if fixed + length <= len(start) else b""
    header = msgspec.msgpack.decode(data or kept.read(fixed, length), type=_Header)
    return header, fixed + length


def _is_of(header: _Header, file: RegularFile) -> bool:
    """Tell whether a file begins with what the entry was made of."""
    stamp = _stamp_of(file)
    if stamp == header.stamp and _has_settled(header):
        return True
    return stamp.size >= header.size and _digest(file, header.size) == header.digest


def _has_settled(header: _Header) -> bool:
    """Tell whether any later change must show in the stamp."""
    # Elsewhere the time of change is that of creation.
    last = max(header.stamp.changed, header.stamp.modified)
    return os.name == "posix" and header.stamped - last > _SETTLED


def _stamp_of(file: RegularFile) -> _Stamp:
    status = file.status()
    return _Stamp(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )


def _digest(file: RegularFile, size: int) -> bytes:
    import hashlib

    digest = hashlib.sha256()
    for chunk in _chunks(file, size):
        digest.update(chunk)
    return digest.digest()


def _chunks(file: RegularFile, size: int) -> Iterator[bytes]:
    offset = 0
    while offset < size:
        stored = min(file.data_after(offset), size)
        if stored > offset:
            # A hole, which nobody wrote: its place stands for the NUL bytes that it reads as.
            yield f"hole from {offset} to {stored}".encode()
            offset = stored
            continue
        chunk = file.read(offset, min(_CHUNK, size - offset))
        if not chunk:
            return
        yield chunk
        offset += len(chunk)


def _make_room(folder: Path, newest: Path) -> None:
    """Drop the entries used longest ago until the others are not too large."""
    found = sorted(
        ((status.st_mtime_ns, status.st_size, path) for path, status in _entries(folder)),
        reverse=True,
    )
    total = 0
    for _, size, path in found:
        total += size
        if total > LARGEST and path != newest:
            with suppress(OSError):
                path.unlink()


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in folder.glob("*.index"):
        with suppress(OSError):
            yield path, path.stat()
