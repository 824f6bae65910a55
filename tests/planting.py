"""Planting bugs: what writes is given one meanwhile, which the tests of crashes must find."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tt_debugger.storage import publishing

Bugs = Mapping[str, Callable[[], Any]]
"""By their names, what makes a context in which the bug is there."""


@contextmanager
def planted_of(bugs: Bugs, bug: str | None) -> Generator[None]:
    """Let what writes have one of some bugs meanwhile, or none."""
    if bug is None:
        yield
        return
    with bugs[bug]():
        yield


def sync_only(is_wanted: Callable[[int], bool]) -> Any:
    """Sync only what has a mode that is wanted, such as folders."""
    real = os.fsync

    def fsync(file: int) -> None:
        if is_wanted(os.fstat(file).st_mode):
            real(file)

    return mock.patch.object(os, "fsync", fsync)


def write_in_place(path: str | Path, data: bytes) -> None:
    """Write a file where it is, and sync it with its folder: whole or torn."""
    with Path(path).open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    sync_folder_of(str(path))


def sync_folder_of(path: str) -> None:
    """Sync the folder that a path is in."""
    with publishing.opened_folder(path) as folder:
        publishing.sync_folder(folder)
