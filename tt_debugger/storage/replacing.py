"""Replacing a file of our own: whole or not at all, readable for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def replace(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file from parts. Raises OSError, and leaves then what was there."""
    # Only who writes pays for the import.
    import tempfile

    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:8]}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
