"""Map files: where somebody says which table of a database, or which keys, hold checkpoints.

Such a file is named by the option --map, which sets a variable, or stands beside a database with
`.ttdbg.toml` behind its name.
"""

from __future__ import annotations

import os
from pathlib import Path

from tt_debugger.errors import UsageError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.servers import is_server

MAP = "TTDBG_MAP"
"""The variable that names the file."""
BESIDE = ".ttdbg.toml"
LARGEST = 64 << 10
"""Bytes that such a file may have."""


def map_path(location: str) -> str | None:
    """Give the path of the map for a location: what was named, else what stands beside it."""
    named = os.environ.get(MAP)
    if named:
        return named
    if is_server(location):
        return None
    beside = f"{location}{BESIDE}"
    try:
        return beside if Path(beside).is_file() else None
    except (OSError, ValueError):
        return None


def map_data(path: str) -> bytes:
    """Give the bytes of a map. Raises CannotReadError, and UsageError where it is too large."""
    file = RegularFile(path)
    try:
        data = file.read(0, LARGEST + 1)
    finally:
        file.close()
    if len(data) > LARGEST:
        raise UsageError(
            f"cannot use the map {path}: it is larger than {LARGEST >> 10} KiB",
            "name a small TOML file",
        )
    return data
