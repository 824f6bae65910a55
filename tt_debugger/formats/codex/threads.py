"""Threads across files: where the rollout of a thread is, and how the user named it.

A thread is found as Codex finds it, by the id in the name of its file, anywhere among the
sessions; the folder of a day is looked into first. Everything is bounded, and a link is no way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

import msgspec

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.codex.records import birth_of, thread_id_or_none
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.stdin import STDIN

SESSIONS, ARCHIVED = "sessions", "archived_sessions"
NAMES = "session_index.jsonl"
ENDINGS = (".jsonl", ".jsonl.zst")
"""How the names of rollouts end; of two files of one thread the first is the newer."""
MOST_NAMES = 200_000
"""Names that are looked at for one thread."""
MOST_OF_INDEX = 4 << 20
"""Bytes at the end of the index of names that are read."""


def rollout_of(location: str, thread: str) -> str | None:
    """Give the path of the rollout of a thread that a rollout names, None if it is not there."""
    wanted = thread_id_or_none(thread)
    if wanted is None or location == STDIN:
        return None
    found: dict[str, str] = {}
    for folder in _likely_folders(location, wanted):
        _find(_names_in(folder), wanted, found)
        if found:
            break
    else:
        home = _home_of(location)
        for tree in () if home is None else (Path(home, SESSIONS), Path(home, ARCHIVED)):
            _find(_names_under(str(tree)), wanted, found)
    return next((found[ending] for ending in ENDINGS if ending in found), None)


def name_of(location: str, thread: str) -> str | None:
    """Give the name that the user gave a thread, as the index of names has it."""
    home = _home_of(location)
    if home is None:
        return None
    path = str(Path(home, NAMES))
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return _names(path, status.st_size, status.st_mtime_ns).get(thread)


def _home_of(location: str) -> str | None:
    """Give the folder of the agent, in which the sessions are: None where they are elsewhere."""
    if location == STDIN:
        return None
    for folder in Path(os.path.abspath(location)).parents:  # noqa: PTH100 - links stay as they are
        if folder.name in (SESSIONS, ARCHIVED):
            return str(folder.parent)
    return None


def _likely_folders(location: str, thread: str) -> Iterator[str]:
    yield str(Path(location).parent)
    home, birth = _home_of(location), birth_of(thread)
    if home is None:
        return
    if birth is not None:
        with suppress(OverflowError, ValueError):
            day = datetime.fromtimestamp(birth / 1000, UTC)
            # The folder is that of the local day, wherever that was.
            for moved in (0, -1, 1):
                yield str(Path(home, SESSIONS, (day + timedelta(moved)).strftime("%Y/%m/%d")))
    yield str(Path(home, ARCHIVED))


def _find(names: Iterator[os.DirEntry[str]], thread: str, found: dict[str, str]) -> None:
    for each in names:
        for ending in ENDINGS:
            if each.name.lower().endswith(f"-{thread.lower()}{ending}"):
                found.setdefault(ending, each.path)


def _names_in(folder: str) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as inside:
        for _, each in zip(range(MOST_NAMES), inside, strict=False):
            yield each


def _names_under(folder: str) -> Iterator[os.DirEntry[str]]:
    waiting, left = [folder], MOST_NAMES
    while waiting and left:
        for each in _names_in(waiting.pop()):
            left -= 1
            if not left:
                return
            with suppress(OSError):
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
                else:
                    yield each


@lru_cache(4)
def _names(path: str, size: int, _changed: int) -> dict[str, str]:
    """Give the name of each thread in an index, of which size and time tell; the last counts."""
    try:
        file = RegularFile(path)
    except CannotReadError:
        return {}
    try:
        begin = max(0, size - MOST_OF_INDEX)
        lines = file.read(begin, MOST_OF_INDEX).split(b"\n")
    except CannotReadError:
        return {}
    finally:
        file.close()
    names: dict[str, str] = {}
    for line in lines[1:] if begin else lines:
        with suppress(msgspec.DecodeError, RecursionError):
            entry = as_map(msgspec.json.decode(line))
            thread, name = text_or_none(entry.get("id")), text_or_none(entry.get("thread_name"))
            if thread and name:
                names[thread] = name
    return names
