"""Commits in transcripts: what a tool said of a commit that an agent made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

MOST_PARTS = 10_000
"""Values in a message that are looked at."""

_HASH = r"(?P<hash>[0-9a-f]{7,64})"
# What `git commit` says: [main 1a2b3c4], [main (root-commit) 1a2b3c4], [detached HEAD 1a2b3c4].
_SAID = re.compile(
    rf"^[ \t]*\[(?P<branch>[^\s\]][^\]\n]{{0,300}}?) (?:\(root-commit\) )?{_HASH}\]"
    r" ?(?P<subject>.*)$",
    re.MULTILINE,
)
# What aider says: Commit 1a2b3c4 feat: the subject.
_TOLD = re.compile(rf"^(?:> )?Commit {_HASH} (?P<subject>.+)$", re.MULTILINE)


class MadeCommit(msgspec.Struct, frozen=True):
    """A commit as it was told when it was made: the beginning of its hash, and its subject.

    `branch` is None where the branch was not told, or HEAD was detached.
    """

    hash: str
    subject: str
    branch: str | None = None


def commits_in(text: str) -> Iterator[MadeCommit]:
    """Give the commits that a text tells of, as git or aider tells of one it has made."""
    for match in _SAID.finditer(text):
        branch = match["branch"]
        is_branch = branch != "detached HEAD"
        yield MadeCommit(match["hash"], match["subject"].strip(), branch if is_branch else None)
    for match in _TOLD.finditer(text):
        yield MadeCommit(match["hash"], match["subject"].strip())


def commits_of(messages: Sequence[Any]) -> tuple[MadeCommit, ...]:
    """Give the commits that messages tell of, each once: any text in them may, of any depth."""
    found: dict[str, MadeCommit] = {}
    waiting: list[Any] = [messages]
    left = MOST_PARTS
    while waiting and left:
        value = waiting.pop()
        left -= 1
        if isinstance(value, str):
            # Nearly no text has either; to look for them is soon done.
            if "] " in value or "Commit " in value:
                for each in commits_in(value):
                    found.setdefault(each.hash, each)
        elif isinstance(value, dict):
            waiting += reversed(cast("dict[str, Any]", value).values())
        elif isinstance(value, (list, tuple)):
            waiting += reversed(cast("list[Any]", value))
    return tuple(found.values())
