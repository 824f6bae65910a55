"""Tau's index of sessions: the line of one, and the folder that it stands in.

Tau finds a session by its index alone, one for each project folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from tt_debugger.core.changes import State
from tt_debugger.core.fork.writes import IndexLine
from tt_debugger.formats.shared.fork_files import line_of

INDEX = "index.jsonl"
_LONGEST_NAME = 72
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9._-]+")


def in_index(
    path: str, state: State, time: float, *, is_found: bool
) -> tuple[tuple[IndexLine, ...], tuple[str, ...]]:
    """Give what lets Tau find a new session, or else a note that says what would.

    `is_found` where it stands in the folder that its project has.
    """
    line = index_line(path, state, time)
    if line is None:
        return (), ("Tau resumes only what its index names, which needs a model and a cwd",)
    if is_found:
        return (line,), ()
    return (), (where_it_belongs(state["cwd"], line),)


def index_line(path: str, state: State, time: float) -> IndexLine | None:
    """Give the line of a new session for the index beside it, None where Tau would refuse it."""
    if not isinstance(state.get("model"), str) or not isinstance(state.get("cwd"), str):
        return None
    record = {
        "id": Path(path).stem,
        "path": path,
        "cwd": state["cwd"],
        "model": state["model"],
        "provider_name": state.get("provider"),
        "inference_provider": None,
        "inference_provider_mode": "automatic",
        "title": state.get("title"),
        "created_at": time,
        "updated_at": time,
    }
    return IndexLine(str(Path(path).with_name(INDEX)), line_of(record))


def is_project_folder(path: str) -> bool:
    """Tell whether a file stands where Tau looks for the index of a project."""
    folder = Path(path).parent
    return folder.parent.name == "sessions" or (folder / INDEX).is_file()


def where_it_belongs(cwd: str, index: IndexLine) -> str:
    """Say where Tau would find a session that stands elsewhere."""
    folder = project_folder(cwd, str(Path.home()))
    place = f"~/.tau/sessions/{folder}/{INDEX}"
    line = index.record.data.decode().rstrip("\n")
    return f"Tau finds a session by its index alone, so add to {place} the line {line}"


def project_folder(cwd: str, home: str) -> str:
    """Give the name of the folder in which Tau keeps the sessions of a project."""
    parts = Path(cwd).parts
    if Path(cwd).is_relative_to(home):
        parts = ("home", *Path(cwd).relative_to(home).parts)
    names = [_NOT_IN_NAMES.sub("-", each).strip(".-_").lower() for each in parts]
    digest = hashlib.sha256(cwd.encode()).hexdigest()[:6]
    return f"{_shortened([each for each in names if each]) or 'project'}-{digest}"


def _shortened(names: Sequence[str]) -> str:
    """Give as many of the last names as fit."""
    for first in range(len(names)):
        joined = "-".join(names[first:])
        if len(joined) <= _LONGEST_NAME:
            return joined
    return "-".join(names)[-_LONGEST_NAME:]
