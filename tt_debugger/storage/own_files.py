"""Files of our own in the user's state folder, and what they call the files of others."""

from __future__ import annotations

import os
from pathlib import Path

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile


def state_folder() -> Path:
    """Give the folder of what is kept for the user; it need not be there yet."""
    # Only who asks for it pays for the import.
    import platformdirs

    return platformdirs.user_state_path("ttdbg")


def content_of(path: Path, most: int | None = None) -> bytes:
    """Give the bytes of a file, the first ones up to a number; none of one that cannot be read."""
    try:
        file = RegularFile(str(path))
    except CannotReadError:
        return b""
    try:
        return file.read(0, file.size() if most is None else most)
    except CannotReadError:
        return b""
    finally:
        file.close()


def real(location: str) -> str:
    """Give the one path of a file, however it was reached; what is no path stays as it is."""
    try:
        return os.path.realpath(location, strict=True)
    except (OSError, ValueError):
        return location
