"""Writing an export: a new file, whole or not at all, readable for its owner alone."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tt_debugger.errors import CannotWriteError, UsageError


def write(path: Path, text: str, *, force: bool = False) -> None:
    """Write a file under a name that is free; with force, over what has that name.

    Raises CannotWriteError, and leaves then what was there; UsageError where the name is taken.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no file that could be replaced", "name another one")
    # Only who writes pays for the import.
    import tempfile

    try:
        descriptor, name = tempfile.mkstemp(".part", f".{path.stem[:8]}-", path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if force:
            Path(name).replace(path)
        else:
            _publish(name, path)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already", "choose another name") from error
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            Path(name).unlink()


def _publish(name: str, path: Path) -> None:
    """Give a file its name, unless something has it. Raises FileExistsError."""
    try:
        os.link(name, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links: taking the name first keeps others from it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        Path(name).replace(path)


def _cannot_write(path: Path, error: OSError) -> CannotWriteError:
    return CannotWriteError(f"cannot write {path}: {error.strerror or error}")
