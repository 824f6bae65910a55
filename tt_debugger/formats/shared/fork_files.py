"""Forks that are files: where the new one stands, and lines of it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, Protocol

import msgspec

from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.writes import How, Record
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body
from tt_debugger.core.text import safe_line
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.storage.stdin import STDIN

WITHOUT_IN_PLACE = "leave out --in-place: the fork is a file of its own"
"""The hint where no branch can stand in the original."""


_COMPRESSED = frozenset((".zst", ".gz"))
_ACTING = re.compile(r"[^\x20-\x7e]|[\\%\"'$`]")


class Holds(Protocol):
    """A store that gives the records of a session."""

    location: str

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode the records of some rows."""
        ...

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record."""
        ...


def refuse_target(plan: Plan) -> None:
    """Raise UsageError for a branch in the original that is to be written elsewhere."""
    if plan.target is not None:
        raise UsageError(
            "a branch in the original has no other place to be written to",
            "leave out --to, or --in-place",
        )


def place_for(location: str, name: str, target: str | None) -> str:
    """Give the path of a new file: the target, or a name in the target if that is a folder.

    It is absolute: who goes on from it may stand in another folder. Without a target it stands
    beside the original, where its agent finds it. Raises UnsupportedError where there is no such
    place, UsageError for a target that no file can have.
    """
    if target is None and location == STDIN:
        raise UnsupportedError(
            "what came through stdin has no place beside which a fork could stand",
            "--to FILE has",
        )
    if target is None:
        return str(Path(location).resolve().with_name(name))
    try:
        is_folder = target.endswith(os.sep) or Path(target).is_dir()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"no file can stand at {target:.80}: {why}") from error
    if not is_folder and PurePath(target).suffix in _COMPRESSED:
        raise UsageError(
            f"what is written is not compressed, but {target:.80} would be taken to be",
            "give it another name",
        )
    place = Path(target, name) if is_folder else Path(target)
    return os.path.abspath(place)  # noqa: PTH100 - unlike Path it knows what `..` means


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
    command = " ".join(map(_shell_word, words))
    # A folder whose name begins with a dash is no option.
    end = "-- " if cwd and cwd.startswith("-") else ""
    return f"cd {end}{_shell_word(cwd)} && {command}" if cwd else command


def _shell_word(text: str) -> str:
    """Give a text as one word of a shell, in letters that no terminal acts on."""
    if safe_line(text) == text:
        return shlex.quote(text)
    escaped = _ACTING.sub(lambda found: _octal(found[0]), text)
    return f"\"$(printf '{escaped}')\""


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode(errors="surrogateescape"))
