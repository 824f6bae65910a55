"""What writers do to a file: add to it, write it anew in place, rename another over it."""

from __future__ import annotations

from pathlib import Path


def append(path: Path, content: bytes) -> None:
    """Add bytes at the end of a file."""
    with path.open("ab") as file:
        file.write(content)


def in_place(path: Path, content: bytes) -> None:
    """Write a file anew: it stays the same file."""
    path.write_bytes(content)


def renamed_over(path: Path, content: bytes) -> None:
    """Put another file in the place of one."""
    other = path.with_suffix(".other")
    other.write_bytes(content)
    other.replace(path)
