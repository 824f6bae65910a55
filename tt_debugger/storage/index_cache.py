"""The index cache: what was read of a file before, so that it need not be read again.

Each file has one entry under the user's cache folder, written whole or not at all and good for
nothing but speed: one that is damaged, older than this program or of another file is passed over,
or dropped when that shows in a part of it that is only needed later.
Whether the file is still what it was is told without trusting its size and time, which anybody
can set: the system's own time of change says that nothing happened to it, and pieces of its
content are the same; else the digest of all of it must be. A file that has only grown keeps what
was read of it.

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
from zlib import crc32

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.replacing import replace
from tt_debugger.storage.settling import SETTLED, has_settled
from tt_debugger.storage.stdin import STDIN

LEAST = 1 << 20
"""Bytes of the smallest file that is worth an entry."""
LARGEST = 1 << 30
"""Bytes of all entries together; those used longest ago are dropped."""
OFF = "TTDBG_NO_CACHE"
"""The variable of the environment that switches the cache off."""

_MAGIC = b"ttdbg index 3\n"
_CHUNK = 1 << 20
_AHEAD = 1 << 18
"""Bytes of blocks that are read at once where one after the other is asked for."""
_SAMPLES, _SAMPLE = 16, 4096
"""How many pieces of a file are compared each time, and the bytes of each."""


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
    location: bytes
    size: int
    digest: bytes
    samples: int
    """A checksum of pieces of the content from its begin to its end."""
    stamp: _Stamp
    stamped: int
    """When the stamp was taken, in nanoseconds since 1970."""
    parts: dict[str, tuple[int, int]]
    """The length and the checksum of each part."""
    blocks: tuple[int, int]
    """How many blocks there are, and the checksum of their ends and checksums."""


class Entry:
    """What is kept of a file: `size` bytes of it are covered.

    `is_quick` says that it takes no reading of the file to know that it is the same still.
    """

    def __init__(self, file: RegularFile, header: _Header, begin: int) -> None:
        self.size = header.size
        self.is_quick = FileSeen(header.stamp, header.stamped).has_settled
        self._file = file
        lengths = [length for length, _ in header.parts.values()]
        *begins, end = accumulate(lengths, initial=begin)
        count, checksum = header.blocks
        self._blocks_begin = end + 16 * count
        if min((*lengths, count)) < 0 or self._blocks_begin > file.size():
            raise ValueError("the entry is not whole")
        self._parts = {
            name: (start, *header.parts[name])
            for name, start in zip(header.parts, begins, strict=True)
        }
        table = file.read(end, 16 * count)
        if crc32(table) != checksum:
            raise ValueError("the entry is damaged")
        self._block_ends = array("q", table[: 8 * count])
        if file.size() != self._blocks_begin + (self._block_ends[-1] if count else 0):
            raise ValueError("the entry is not whole")
        self._block_checksums = array("q", table[8 * count :])
        self._ahead = (0, b"")
        """Where blocks begin that were read with another one, and their bytes."""
        self._next = 0

    def part(self, name: str) -> bytes:
        """Give a part. Raises LookupError where there is none of this name."""
        begin, length, checksum = self._parts[name]
        return self._checked(self._file.read(begin, length), checksum)

    def block(self, number: int) -> bytes:
        """Give a block; an empty one where there is none."""
        if number >= len(self._block_ends):
            return b""
        begin = self._block_ends[number - 1] if number else 0
        data = self._block_data(begin, self._block_ends[number], is_next=number == self._next)
        self._next = number + 1
        return self._checked(data, self._block_checksums[number])

    def _block_data(self, begin: int, end: int, *, is_next: bool) -> bytes:
        """Give the bytes of a block; of one that follows the last, with what is behind it."""
        first, ahead = self._ahead
        if is_next and not first <= begin <= end <= first + len(ahead):
            first, ahead = begin, self._file.read(self._blocks_begin + begin, _AHEAD)
            self._ahead = first, ahead
        if first <= begin <= end <= first + len(ahead):
            return ahead[begin - first : end - first]
        return self._file.read(self._blocks_begin + begin, end - begin)

    def _checked(self, data: bytes, checksum: int) -> bytes:
        """Give data as it was kept. Raises CannotReadError, and drops the entry, if it is not."""
        if crc32(data) != checksum:
            with suppress(OSError):
                Path(self._file.path).unlink()
            raise CannotReadError("what was kept of the file is damaged", "open it again")
        return data

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
        if (header.kind, header.location) == (kind, _real(file)) and _is_of(header, file):
            entry = Entry(kept, header, begin)
            with suppress(OSError):
                os.utime(path)
            return entry
    kept.close()
    return None


class FileSeen(msgspec.Struct, frozen=True):
    """A file as it was before it was read."""

    stamp: _Stamp
    at: int

    @property
    def size(self) -> int:
        """The size of the file, in bytes."""
        return self.stamp.size

    @property
    def has_settled(self) -> bool:
        """Whether any change of the file since it was seen must show in its stamp."""
        # Elsewhere the time of change is that of creation.
        changed = self.stamp.changed, self.stamp.modified
        return os.name == "posix" and has_settled(self.at, *changed, within=SETTLED)

    def is_same(self, now: FileSeen) -> bool:
        """Tell whether the file, as it is seen now, cannot have changed since."""
        return now.stamp == self.stamp and self.has_settled


def look_at(file: RegularFile) -> FileSeen:
    """See a file before it is read, for `keep`."""
    return FileSeen(_stamp_of(file), time.time_ns())


def keep(
    file: RegularFile,
    kind: str,
    seen: FileSeen,
    parts: Mapping[str, bytes],
    blocks: Sequence[bytes] = (),
) -> bool:
    """Keep what was read of a file since it was seen, if it is the same still.

    Tells whether it was kept; that it cannot be is no error.
    """
    with suppress(OSError, CannotReadError):
        path = _path_of(file, kind)
        if path is None or _stamp_of(file) != seen.stamp:
            return False
        digest = _digest(file, seen.size)
        if _stamp_of(file) != seen.stamp:
            return False
        table = array("q", (*accumulate(map(len, blocks)), *map(crc32, blocks))).tobytes()
        header = _Header(
            kind,
            _real(file),
            seen.size,
            digest,
            _samples(file, seen.size),
            seen.stamp,
            seen.at,
            {name: (len(part), crc32(part)) for name, part in parts.items()},
            (len(blocks), crc32(table)),
        )
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(path, (*_head(header), *parts.values(), table, *blocks))
        _make_room(path.parent, path)
        return True
    return False


def _path_of(file: RegularFile, kind: str) -> Path | None:
    if not may_keep(file):
        return None
    # Only who has a large file pays for these imports.
    import hashlib

    import platformdirs

    name = kind.encode() + b"\0" + _real(file)
    folder = platformdirs.user_cache_path("ttdbg") / "indexes"
    return folder / f"{hashlib.sha256(name).hexdigest()[:32]}.index"


def _head(header: _Header) -> tuple[bytes, ...]:
    data = msgspec.msgpack.encode(header)
    return _MAGIC, len(data).to_bytes(4), crc32(data).to_bytes(4), data


def _header_of(kept: RegularFile) -> tuple[_Header, int]:
    """Give the header of an entry and where its parts begin. Raises ValueError for no entry."""
    start = kept.read(0, 4096)
    fixed = len(_MAGIC) + 8
    length = int.from_bytes(start[fixed - 8 : fixed - 4])
    if not start.startswith(_MAGIC) or fixed + length > kept.size():
        raise ValueError("this is no entry")
    data = start[fixed:][:length] if fixed + length <= len(start) else kept.read(fixed, length)
    if crc32(data) != int.from_bytes(start[fixed - 4 : fixed]):
        raise ValueError("the entry is damaged")
    return msgspec.msgpack.decode(data, type=_Header), fixed + length


def _is_of(header: _Header, file: RegularFile) -> bool:
    """Tell whether a file begins with what the entry was made of."""
    now = look_at(file)
    if FileSeen(header.stamp, header.stamped).is_same(now):
        # Who writes through a mapping of the file leaves no time of it for a while.
        return _samples(file, header.size) == header.samples
    return now.size >= header.size and _digest(file, header.size) == header.digest


def _stamp_of(file: RegularFile) -> _Stamp:
    status = file.status()
    return _Stamp(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )


def _real(file: RegularFile) -> bytes:
    return os.fsencode(os.path.realpath(file.path))


def _samples(file: RegularFile, size: int) -> int:
    checksum = 0
    for piece in range(_SAMPLES):
        offset = (size - _SAMPLE) * piece // (_SAMPLES - 1)
        checksum = crc32(file.read(max(offset, 0), _SAMPLE), checksum)
    return checksum


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
