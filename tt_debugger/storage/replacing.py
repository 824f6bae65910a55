"""Replacing a file of our own: whole or not at all, readable for its owner alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

ABANDONED = 3600.0
"""Seconds after which what a writer left unfinished is taken for what it never will finish."""
_UNFINISHED = ".part"


def replace(path: Path, parts: Iterable[bytes], *, is_durable: bool = False) -> None:
    """Write a file from parts; a durable one is whole even after the power was lost.

    Raises OSError, and leaves then what was there.
    """
    # Only who writes pays for the import.
    import tempfile

    _remove_abandoned(path.parent)
    prefix = f".{path.stem[:8]}-"
    descriptor, name = tempfile.mkstemp(_UNFINISHED, prefix, path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _remove_abandoned(folder: Path) -> None:
    """Remove what writers that were killed left in a folder."""
    latest = time.time() - ABANDONED
    for each in folder.glob(f".*-*{_UNFINISHED}"):
        with suppress(OSError):
            if each.lstat().st_mtime < latest:
                each.unlink()
