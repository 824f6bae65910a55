"""Transcripts: the sessions of agents that a commit names, and where they are.

Entire keeps transcripts in the repository, on a branch of its own. Other agents name a session by
its id, and keep it where they keep all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from tt_debugger.formats.git_commits.trees import Trees

ENTIRE = "entire/checkpoints/v1"
"""The branch on which Entire keeps transcripts."""
MENTIONED = (b"session", b"entire-")
"""What is in each message that names a session, be it in capitals or not."""
_FILE = "full.jsonl"
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAMED = re.compile(
    rb"^(?:entire-checkpoint:[ \t]*(?P<checkpoint>[0-9a-f]{12})[ \t]*$"
    rb"|entire-metadata:[ \t]*(?P<folder>[\w./-]{1,200})[ \t]*$"
    rb"|(?:[\w-]+-)?session(?:-id)?:[^\n]*?(?P<session>" + _ID.encode() + rb"))",
    re.IGNORECASE | re.MULTILINE,
)
_CHECKPOINT = "Entire checkpoint "
_MOST_DIGITS = 9
_SESSION = "session "
_IN_COMMIT = " in "


def sessions_in(message: bytes, commit: str) -> tuple[str, ...]:
    """Give what the message of a commit calls the sessions that made it.

    None of `MENTIONED` is in one that names none.
    """
    return tuple(dict.fromkeys(_named(message, commit)))


def blob_of(
    name: str, trees: Trees, refs: Mapping[str, str], tree_of: Callable[[str], str]
) -> str | None:
    """Give the hash of a transcript that is kept in the repository, None where it is not.

    `refs` has commits by the names of what leads to them, `tree_of` gives the tree of one.
    """
    if name.startswith(_CHECKPOINT):
        own = name.removeprefix(_CHECKPOINT)
        kept = (commit for ref, commit in refs.items() if ref.endswith(f"/{ENTIRE}"))
        found = (_newest_in(trees, tree_of(commit), f"{own[:2]}/{own[2:]}") for commit in kept)
        return next(filter(None, found), None)
    folder, _, commit = name.rpartition(_IN_COMMIT)
    return trees.blob(tree_of(commit), f"{folder}/{_FILE}") if folder and commit else None


def file_of(name: str, environ: Mapping[str, str], home: Path) -> str | None:
    """Give the file of a session that an agent keeps, None where none is found."""
    if not name.startswith(_SESSION):
        return None
    own = name.removeprefix(_SESSION)
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    codex = Path(environ.get("CODEX_HOME") or home / ".codex")
    found = chain(
        claude.glob(f"projects/*/{own}.jsonl"), codex.glob(f"sessions/*/*/*/rollout-*-{own}.jsonl")
    )
    return next(map(str, found), None)


def _newest_in(trees: Trees, tree: str, folder: str) -> str | None:
    """Give the last of the transcripts of a checkpoint, which are numbered folders."""
    kept = trees.blob(tree, folder)
    names = trees.names(kept or "")
    numbers = sorted(int(each) for each in names if each.isdecimal() and len(each) < _MOST_DIGITS)
    paths = (f"{folder}/{number}/{_FILE}" for number in reversed(numbers))
    found = (trees.blob(tree, path) for path in (*paths, f"{folder}/{_FILE}"))
    return next(filter(None, found), None)


def _named(message: bytes, commit: str) -> Iterator[str]:
    for match in _NAMED.finditer(message):
        if match["checkpoint"]:
            yield f"{_CHECKPOINT}{match['checkpoint'].decode().lower()}"
        elif match["folder"]:
            yield f"{match['folder'].decode(errors='replace')}{_IN_COMMIT}{commit}"
        else:
            yield f"{_SESSION}{match['session'].decode().lower()}"
