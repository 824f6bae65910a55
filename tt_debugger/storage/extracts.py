"""Extracts: what lies within something else, as a private file that is there until ttdbg ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tt_debugger.errors import CannotWriteError


def extract(name: str, data: bytes) -> str:
    """Give the path of a file of a name that has some bytes; the same are written once.

    Raises CannotWriteError.
    """
    try:
        path = _folder() / name
        if not path.is_file():
            path.write_bytes(data)
    except OSError as error:
        raise CannotWriteError(
            f"cannot write {name}: {error.strerror}",
            "room is needed where temporary files are kept",
        ) from error
    return str(path)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ttdbg-extracts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
