"""Signatures: what the first bytes tell of a file that is no session, and what to do about it."""

from __future__ import annotations

import msgspec

_PIPED = "FILE | ttdbg log -"
_MEMBER = "take the session out of it: "
_AS_MAP = "say with `--map FILE` which table and columns hold checkpoints; the README shows how"
_AS_JSON = "save what it holds as JSON or JSON lines"
_PICKLE = "a Python pickle, which is never read: it could run code"


class Signature(msgspec.Struct, frozen=True):
    """A kind of file by the bytes that tell it, each part at its offset.

    `name` goes on from "it is"; `hint` is what to do about it.
    """

    name: str
    parts: tuple[tuple[int, bytes], ...]
    hint: str | None = None
    is_text: bool = False
    """Whether lines that can be read may follow all the same."""


def _starts(name: str, start: bytes, hint: str | None = None) -> Signature:
    return Signature(name, ((0, start),), hint)


def _text(encoding: str, start: bytes, order: str = "") -> Signature:
    hint = f"convert it first, for example with iconv -f {encoding}{order} -t UTF-8"
    return Signature(f"{encoding}, not UTF-8", ((0, start),), hint, is_text=True)


SIGNATURES = (
    _starts("gzip-compressed", b"\x1f\x8b", f"gunzip -c {_PIPED}"),
    _starts("zstd-compressed", b"\x28\xb5\x2f\xfd", f"zstd -dc {_PIPED}"),
    _starts("xz-compressed", b"\xfd7zXZ\0", f"xz -dc {_PIPED}"),
    _starts("lz4-compressed", b"\x04\x22\x4d\x18", f"lz4 -dc {_PIPED}"),
    *(
        Signature("bzip2-compressed", ((0, b"BZh"), (4, block)), f"bunzip2 -c {_PIPED}")
        for block in (b"1AY&SY", b"\x17rE8P\x90")  # the first block, or the end of an empty one
    ),
    _starts("a zip archive", b"PK\x03\x04", f"{_MEMBER}unzip -p FILE NAME | ttdbg log -"),
    _starts("an empty zip archive", b"PK\x05\x06"),
    *(
        Signature("a tar archive", ((257, magic),), f"{_MEMBER}tar -xOf FILE NAME | ttdbg log -")
        for magic in (b"ustar\0", b"ustar  \0")  # of POSIX and of GNU; text may hold the word
    ),
    _starts("a 7z archive", b"7z\xbc\xaf\x27\x1c", f"{_MEMBER}7z x FILE"),
    _starts("a RAR archive", b"Rar!\x1a\x07", f"{_MEMBER}unrar x FILE"),
    _starts("a SQLite database whose tables no format reads", b"SQLite format 3\0", _AS_MAP),
    _starts("a PNG image", b"\x89PNG\r\n\x1a\n"),
    _starts("a JPEG image", b"\xff\xd8\xff"),
    _starts("a GIF image", b"GIF87a"),
    _starts("a GIF image", b"GIF89a"),
    Signature("a WebP image", ((0, b"RIFF"), (8, b"WEBP"))),
    _starts("a TIFF image", b"II*\0"),
    _starts("a TIFF image", b"MM\0*"),
    _starts("a PDF document", b"%PDF-"),
    _starts("a program (ELF)", b"\x7fELF"),
    _starts("a program (PE)", b"MZ\x90\0"),
    _starts("a program (Mach-O)", b"\xcf\xfa\xed\xfe"),
    _starts("a program (Mach-O) or Java bytecode", b"\xca\xfe\xba\xbe"),
    *(_starts(_PICKLE, b"\x80" + version, _AS_JSON) for version in (b"\2", b"\3", b"\4", b"\5")),
    _starts("a NumPy array", b"\x93NUMPY", _AS_JSON),
    _starts("an HDF5 file", b"\x89HDF\r\n\x1a\n", _AS_JSON),
    _starts("a Parquet file", b"PAR1", _AS_JSON),
    # The mark of UTF-32 begins with that of UTF-16.
    _text("UTF-32", b"\xff\xfe\0\0"),
    _text("UTF-32", b"\0\0\xfe\xff"),
    _text("UTF-16", b"\xff\xfe"),
    _text("UTF-16", b"\xfe\xff"),
    _text("UTF-16", b'{\0"\0', "LE"),
    _text("UTF-16", b'\0{\0"', "BE"),
)


def signature_of(head: bytes) -> Signature | None:
    """Give the kind of file that begins with these bytes, None where they tell none."""
    for each in SIGNATURES:
        if all(head.startswith(part, offset) for offset, part in each.parts):
            return each
    return None
