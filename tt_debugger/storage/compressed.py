"""Compressed files: zstd, read by offset as if they were not compressed.

What comes out of one is kept in an anonymous temporary file, which only this process can read and
which goes with it. It is bounded: a few kilobytes can hold terabytes of nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile

MAGIC = b"\x28\xb5\x2f\xfd"
"""How a zstd frame begins."""
MOST = 4 << 30
"""Bytes that may come out of a file."""
IN_MEMORY = 8 << 20
"""Bytes that are kept without a temporary file."""
_WINDOW = 128 << 20
"""Bytes that a decompressor may look back, as `zstd` itself allows without being told more."""
_FED = 512
"""Bytes that are decompressed at once: what comes of them, at most 128 KiB of four, is bounded."""
_most: ContextVar[int] = ContextVar("_most")
"""Bytes that may come out of a file that is opened now, where they are fewer than `MOST`."""


@contextmanager
def at_most(size: int) -> Generator[None]:
    """Let no more than so many bytes come out of a file that this thread opens meanwhile.

    For who opens files that nobody asked for one by one. Reading beyond raises CannotReadError.
    """
    before = _most.set(size)
    try:
        yield
    finally:
        _most.reset(before)


def opened(path: str) -> RegularFile:
    """Open a file for reading by offset, decompressed where it is compressed.

    Raises CannotReadError as `RegularFile` does, where what decompresses is not installed, and
    where nothing can be decompressed.
    """
    file = RegularFile(path)
    try:
        if file.read(0, len(MAGIC)) != MAGIC:
            return file
        held = CompressedFile(path)
    except BaseException:
        file.close()
        raise
    file.close()
    try:
        is_empty = not held.read(0, 1)
    except BaseException:
        held.close()
        raise
    if is_empty and held.flaw is not None:
        held.close()
        # Else it would look like an empty file.
        raise CannotReadError(f"cannot read {path}: {held.flaw}; nothing comes before that")
    return held


class CompressedFile(RegularFile):
    """An open file that is zstd-compressed; offsets and sizes are those of what it holds.

    It is decompressed as far as it is asked for. `flaw` says what is wrong where it ends too
    early; what came out before that is all there is.
    """

    def __init__(self, path: str) -> None:
        # Only who opens such a file pays for the import.
        import tempfile

        driver = _driver(path)
        super().__init__(path)
        self.flaw: str | None = None
        self._most = _most.get(MOST)
        self._seen = self._stamp()
        self._size = 0
        self._kept: Any = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed with this file
            IN_MEMORY, prefix="ttdbg-"
        )
        self._rest = self._pieces(driver)

    def size(self) -> int:
        """Give the size of what the file holds; that takes decompressing all of it."""
        self._take(self._most + 1)
        return self._size

    def head_size(self) -> int:
        """Give the size as far as it is known: that of what was decompressed, or one more."""
        self._take(self._size + 1)
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """Read up to `length` bytes at `offset`; fewer only at the end."""
        self._take(offset + length)
        self._kept.seek(offset)
        return self._kept.read(length)

    def data_after(self, offset: int) -> int:
        """Give the offset itself, or the size: nothing that was decompressed is a hole."""
        self._take(offset + 1)
        return min(offset, self._size)

    def is_current(self) -> bool:
        """Tell whether the path still leads to this very file, as it was when it was opened."""
        return super().is_current() and self._stamp() == self._seen

    def close(self) -> None:
        """Close the file and let go of what came out of it."""
        super().close()
        self._kept.close()

    def _stamp(self) -> tuple[int, int]:
        status = self.status()
        return status.st_size, status.st_mtime_ns

    def _take(self, wanted: int) -> None:
        """Decompress until so many bytes are there, or all of them."""
        while self._size < wanted:
            piece = next(self._rest, None)
            if piece is None:
                return
            if self._size + len(piece) > self._most:
                hint = f"decompress it yourself: zstd -d {self.path}"
                raise CannotReadError(
                    f"cannot read {self.path}: it holds more than {self._most >> 20:,} MiB",
                    hint if self._most == MOST else "open it by itself",
                )
            self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        try:
            self._kept.seek(self._size)
            self._kept.write(piece)
        except OSError as error:
            raise CannotReadError(
                f"cannot keep what {self.path} holds: {error.strerror or error}",
                "it is kept in a temporary file while it is open; TMPDIR names another folder",
            ) from error
        self._size += len(piece)

    def _pieces(self, driver: Any) -> Iterator[bytes]:
        """Go over what the file holds, frame by frame; the last may be cut."""
        frame: Any = None
        offset = 0
        while data := super().read(offset, _FED):
            frame = frame or driver.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
            try:
                piece = frame.decompress(data)
            except driver.ZstdError as error:
                self.flaw = f"the compressed data is damaged: {error}"
                return
            offset += len(data) - len(frame.unused_data)
            frame = None if frame.eof else frame
            if piece:
                yield piece
        if frame is not None:
            self.flaw = "the compressed file ends in the middle"


def _driver(path: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise CannotReadError(
            f"cannot read {path}: it is zstd-compressed, and the package zstandard is missing",
            "install it: pip install 'ttdbg[zstd]'",
        ) from error
    return zstandard
