"""Forks that are files: where the new one stands, and lines of it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tt_debugger.core.fork.writes import How, Record
from tt_debugger.core.model import Session
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK


class GivesRaw(Protocol):
    """A store that gives the bytes of a row's record."""

    def raw(self, session: Session, row: int) -> bytes:
        """Give them."""
        ...


def place_for(location: str, name: str, target: str | None) -> str:
    """Give the path of a new file: the target, or a name in the target if that is a folder.

    Without a target it stands beside the original, where its agent finds it.
    """
    if target is None:
        return str(Path(location).resolve().with_name(name))
    is_folder = target.endswith(os.sep) or Path(target).is_dir()
    return str(Path(target, name) if is_folder else Path(target))


def kept_line(store: GivesRaw, session: Session, row: int) -> Record:
    """Give the record of a row as it stands in the original, as a line."""
    return Record(as_line(store.raw(session, row)), How.KEPT, row)


def line_of(record: Any, how: How = How.ADDED, row: int | None = None) -> Record:
    """Give a record as a line of compact JSON."""
    return Record(as_line(msgspec.json.encode(record)), how, row)


def as_line(data: bytes) -> bytes:
    r"""Give bytes as a line that ends in `\n` and begins without a byte order mark."""
    return data.removeprefix(BYTE_ORDER_MARK).strip(b"\r\n") + b"\n"


def new_place(folder: Path, name: str, target: str | None) -> str:
    """Give the path of a new file in its agent's own folder, unless another target is named."""
    return str(folder / name) if target is None else place_for(str(folder / name), name, target)


def resumed_in(cwd: str | None, *words: str) -> str:
    """Give the line by which a shell lets an agent go on in a folder, None for wherever one is."""
    command = shlex.join(words)
    return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
