"""Reading: the session of a repository, made of its commits and of what its refs name."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.model import (
    ABSENT,
    KIND_NUMBERS,
    Head,
    Heads,
    Kind,
    Role,
    Session,
    SessionId,
)
from tt_debugger.formats.git_commits.commits import Commit, commit_of
from tt_debugger.storage.git import GitObjects
from tt_debugger.storage.repository import NO_HISTORY, Refs, Repository

FORMAT = "git_commits"
_SHORT = ("refs/heads/", "refs/tags/", "refs/remotes/", "refs/")
_HEAD = "HEAD"
_MOST_TAGS = 5
"""Tags of tags of a commit that are followed."""
_TAGGED = re.compile(rb"object ([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")
_MOST_FINDINGS = 100
"""Commits that are missing which are each told of."""


class Known(msgspec.Struct, frozen=True):
    """What was read of a repository: its refs then, its commits in order, what is wrong."""

    refs: Refs
    commits: Sequence[Commit]
    parents: array[int]
    lost: tuple[str, ...] = ()
    """What went wrong, each in a sentence."""
    is_whole: bool = True
    """Whether commits that are not there are missing, and not only not read."""
    is_partial: bool = False
    """Whether files may be missing that were to be fetched when they are needed."""


def tips(refs: Refs) -> list[str]:
    """Give all that commits are looked for from: what is named now, and what was."""
    named = (value for name, value in refs.names.items() if not name.startswith(NO_HISTORY))
    head = () if refs.head is None else (refs.head,)
    return list(dict.fromkeys((*head, *named, *refs.worktrees.values(), *refs.logged)))


def walked(
    objects: GitObjects, names: Iterable[str], shallow: Collection[str]
) -> tuple[list[Commit], list[str]]:
    """Go from some commits to all that they hang on, past what is missing or damaged.

    This is much slower than git, which stops at the first of those. Gives their hashes too.
    """
    found: dict[str, Commit] = {}
    lost: dict[str, None] = {}
    waiting = dict.fromkeys(names)
    while waiting:
        new: dict[str, None] = {}
        for name, each in zip(waiting, objects.contents(list(waiting)), strict=True):
            if each is None or (each.type == "commit" and each.data is None):
                lost[name] = None
            elif each.type == "tag":
                new[tagged(each.data or b"")] = None
            elif each.type == "commit":
                commit = found[name] = commit_of(name, each.data or b"")
                new.update(dict.fromkeys(() if name in shallow else commit.parents.split()))
        waiting = {name: None for name in new if name and name not in found and name not in lost}
    return list(found.values()), list(lost)


def peeled(objects: GitObjects, names: Iterable[str]) -> dict[str, str]:
    """Give what tags lead to, by their hashes."""
    leads: dict[str, str] = {}
    waiting = list(dict.fromkeys(names))
    ends = {name: name for name in waiting}
    for _ in range(_MOST_TAGS):
        found = zip(waiting, objects.contents(waiting), strict=True)
        leads = {
            name: tagged(each.data or b"")
            for name, each in found
            if each is not None and each.type == "tag"
        }
        ends = {name: leads.get(end, end) for name, end in ends.items()}
        waiting = list(dict.fromkeys(filter(None, leads.values())))
    return {name: end for name, end in ends.items() if end != name}


def tagged(data: bytes) -> str:
    """Give the hash of what a tag names, empty where it names nothing."""
    match = _TAGGED.match(data)
    return "" if match is None else match[1].decode()


def session_of(
    repository: Repository,
    known: Known,
    leads: Mapping[str, str],
    heads: Heads | None = None,
) -> Session:
    """Give the session: a checkpoint for each commit. `heads` are those of its first rows.

    `leads` says what commits tags lead to.
    """
    refs, commits = known.refs, known.commits
    ids = [each.name for each in commits]
    rows = {name: row for row, name in enumerate(ids)}
    named = dict(_named(refs, rows, leads))
    head = None if refs.head is None else rows.get(refs.head)
    newest = len(ids) - 1 if ids else None
    return Session(
        SessionId(repository.name),
        FORMAT,
        _heads(commits, heads),
        ids,
        known.parents,
        labels=_labels(named, refs, rows),
        active=newest if head is None else head,
        title=None if refs.branch is None else f"{repository.name} ({_short(refs.branch)})",
        cwd=None if repository.folder == repository.own else str(repository.folder),
        findings=tuple(_findings(known, rows, named)) if known.is_whole else (),
        aliases=_aliases(named, head),
        subsessions={row: each.sessions for row, each in enumerate(commits) if each.sessions},
    )


def _heads(commits: Sequence[Commit], heads: Heads | None) -> Heads:
    """Give heads with a row for each commit; those of the first rows may be known."""
    heads = Heads() if heads is None else heads
    new = commits[len(heads) :]
    absent = [ABSENT] * len(new)
    nowhere = range(ABSENT, ABSENT + len(new))
    kinds = bytes((KIND_NUMBERS[Kind.COMMIT],)) * len(new)
    heads.extend(kinds, [each.time for each in new], nowhere, absent, absent)

    def describe(_: Heads, rows: Sequence[int]) -> Iterator[Head]:
        for row in rows:
            each = commits[row]
            role = Role.ASSISTANT if each.by_agent else Role.USER
            yield Head(Kind.COMMIT, role, each.author, each.subject)

    heads.describe = describe
    return heads


def _named(
    refs: Refs, rows: Mapping[str, int], leads: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    """Give the short names of refs, each with the row of its commit."""
    for name, value in refs.names.items():
        row = rows.get(leads.get(value, value))
        if row is not None and not name.startswith(NO_HISTORY) and not name.endswith("/HEAD"):
            yield _short(name), row


def _short(name: str) -> str:
    prefix = next((each for each in _SHORT if name.startswith(each)), "")
    return name.removeprefix(prefix)


def _labels(named: Mapping[str, int], refs: Refs, rows: Mapping[str, int]) -> dict[int, str]:
    """Give all names of each commit in one label, branches first as they are sorted so."""
    labels: dict[int, list[str]] = {}
    for name, row in named.items():
        labels.setdefault(row, []).append(name)
    for name, value in refs.worktrees.items():
        if value in rows:
            labels.setdefault(rows[value], []).append(f"worktree {name}")
    return {row: ", ".join(names) for row, names in labels.items()}


def _aliases(named: Mapping[str, int], head: int | None) -> dict[str, int]:
    """Give what a commit can be called by in a ref: a branch, a tag, HEAD."""
    return dict(named) if head is None else {**named, _HEAD: head}


def _findings(
    known: Known, rows: Mapping[str, int], named: Mapping[str, int]
) -> Iterator[Finding]:
    for each in known.lost:
        yield finding(Code.LOST_RECORD, each, hint="what can be read is shown")
    if known.is_partial:
        yield finding(
            Code.LOST_RECORD,
            "the clone is partial: files that were not fetched are not shown",
            hint="git fetch --refetch gets them",
            severity=Severity.NOTE,
        )
    for name in known.refs.shallow:
        if name in rows:
            yield finding(
                Code.MISSING_PARENT,
                f"the history before {name[:12]} was not fetched: the clone is shallow",
                hint="git fetch --unshallow gets it",
                checkpoint=name,
                severity=Severity.NOTE,
            )
    yield from islice(_missing_parents(known, rows), _MOST_FINDINGS)
    for name, value in known.refs.names.items():
        if name.startswith("refs/heads/") and _short(name) not in named:
            message = f"{_short(name)} names {value[:12]}, which is no commit that is there"
            yield finding(Code.LABEL_TARGET, message)


def _missing_parents(known: Known, rows: Mapping[str, int]) -> Iterator[Finding]:
    shallow = set(known.refs.shallow)
    for each in known.commits:
        # Nearly all have one parent, which is there.
        if each.parents in rows or not each.parents or each.name in shallow:
            continue
        for parent in each.parents.split():
            if parent not in rows:
                yield finding(
                    Code.MISSING_PARENT,
                    f"the parent {parent[:12]} of {each.name[:12]} is missing or damaged",
                    hint="git fsck tells more",
                    checkpoint=each.name,
                )
