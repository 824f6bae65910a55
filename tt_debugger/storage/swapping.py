"""Swapping a file of others for another one, as long as it is what it was.

It is whole at any time under its name, and readable for whom it was before.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from tt_debugger.storage.locking import hold
from tt_debugger.storage.publishing import (
    NO_LINKS,
    content,
    fill,
    opened,
    opened_folder,
    part_beside,
    part_name,
    sync_folder,
)


def replace_unchanged(path: str, before: bytes, after: bytes, mode: int) -> bool:
    """Replace a file by another with the mode; False where it is not as it was before any more.

    Raises OSError and CannotWriteError, and leaves then what was there.
    """
    with opened_folder(path) as folder:
        if folder is not None:
            # Another ttdbg waits for us. Other programs may not: see below.
            hold(folder, str(Path(path).parent))
        with part_beside(path) as part:
            with opened(part, os.O_WRONLY) as file:
                if hasattr(os, "fchmod"):
                    os.fchmod(file, mode)
                fill(file, (after,))
            # This is as late as it can be looked at: no system replaces only what is as it was.
            if content(path) != before:
                return False
            with _second_name(path) as old:
                _replace(path, part, old, folder)
            return True


def _replace(path: str, part: str, old: str | None, folder: int | None) -> None:
    """Give a name to another file; it stays with the old one where that cannot be made to last."""
    try:
        Path(part).replace(path)
        sync_folder(folder)
        if old:
            Path(old).unlink()
    except BaseException:
        if old:
            with suppress(OSError):
                Path(old).replace(path)
        raise


@contextmanager
def _second_name(path: str) -> Generator[str | None]:
    """Give a file another name meanwhile, None where a file system lets it have but one."""
    name = part_name(path)
    try:
        try:
            os.link(path, name)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            yield None
        else:
            yield name
    finally:
        with suppress(OSError):
            Path(name).unlink()
