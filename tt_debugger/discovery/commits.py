"""Commits and the sessions that made them, found from either side.

A transcript tells of a commit as git told its agent; a repository does not tell who made one. So
from the commit the sessions that were open at its time, in a folder of the repository's name, are
looked through for its hash.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from tt_debugger.core.commits import MadeCommit, commits_of
from tt_debugger.core.listing import Entry, last_part
from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.refs import quoted
from tt_debugger.core.search import Query
from tt_debugger.discovery.finding import Discovery
from tt_debugger.discovery.places import EVERYWHERE
from tt_debugger.discovery.reading import opened
from tt_debugger.discovery.sieve import is_in
from tt_debugger.errors import CannotReadError, TtdbgError, outside_errors
from tt_debugger.formats import best_match
from tt_debugger.storage.folders import FileFound, files_under
from tt_debugger.storage.probe import probe
from tt_debugger.storage.repository import Repository, repository_at
from tt_debugger.store import Store

MOST_MAKERS = 3
"""Sessions that tell of one commit after which no more are looked for."""
SLACK = 3600.0
"""Seconds before a session began and after it ended in which it may have made a commit."""
_SHORT = 7
"""Digits of a hash that are told at least."""
_BATCH = 256


class Linked(NamedTuple):
    """What something leads to: its name, and its location with a ref, None where it is not."""

    name: str
    location: str | None


def commits_made(messages: Sequence[Any], session: Session, location: str) -> list[Linked]:
    """Give the commits that some messages of a session tell of, in the repository it worked in."""
    made = commits_of(messages)
    folder = _repository_of(session, location) if made else None
    return [
        Linked(
            f"commit {each.hash}  {each.subject}",
            None if folder is None else f"{folder}#{each.hash}",
        )
        for each in made
    ]


def makers_of(commit: str, time: float | None, location: str) -> Iterator[Linked]:
    """Go over the sessions that tell of a commit of a repository as made by them."""
    repository = repository_at(location)
    if repository is not None:
        yield from islice(_makers(commit, time, repository), MOST_MAKERS)


def _repository_of(session: Session, location: str) -> str | None:
    """Give the repository of a session: its folder, else one of that name beside its file."""
    if not session.cwd:
        return None
    beside = Path(location).absolute().parent
    name = last_part(session.cwd)
    for folder in (Path(session.cwd), beside / f"{name}.git", beside / name):
        with suppress(TtdbgError, OSError, ValueError):
            if repository_at(str(folder)) is not None:
                return os.path.relpath(folder) if folder.parent == beside else str(folder)
    return None


def _makers(commit: str, time: float | None, repository: Repository) -> Iterator[Linked]:
    beside = str(repository.folder.parent)
    seen: set[tuple[str, str | None]] = set()
    for entry in chain(_beside(beside), filter(None, Discovery(EVERYWHERE))):
        key = os.path.realpath(entry.location), entry.session
        if key in seen or not _may_have_made(entry, time, repository):
            continue
        seen.add(key)
        with suppress(TtdbgError):
            if _may_tell_of(entry.location, commit[:_SHORT]):
                yield from _in_session(entry, commit)


def _beside(folder: str) -> Iterator[Entry]:
    """Go over the sessions that lie beside a repository, as those of a bug report do."""
    with suppress(CannotReadError):
        for each in files_under(folder, most_deep=0):
            if isinstance(each, FileFound):
                with suppress(TtdbgError):
                    claim = best_match(probe(each.path))
                    if claim is not None:
                        path = os.path.relpath(each.path)
                        yield Entry(path, claim[0].format, each.size, each.modified)


def _may_have_made(entry: Entry, time: float | None, repository: Repository) -> bool:
    """Tell whether a session may have made a commit, as far as a listing knows it."""
    facts = entry.facts
    if facts is None:
        return time is None or entry.modified >= time - SLACK
    if facts.cwd and facts.project != repository.name:
        real = os.path.realpath(facts.cwd)
        if not f"{real}{os.sep}".startswith(f"{repository.folder}{os.sep}"):
            return False
    if time is None or facts.began is None or facts.ended is None:
        return True
    return facts.began - SLACK <= time <= facts.ended + SLACK


def _may_tell_of(path: str, word: str) -> bool:
    """Tell whether something may have a word in it; a folder is not looked through."""
    return Path(path).is_dir() or is_in(path, Query.of(word, is_exact=False), [word])


def _in_session(entry: Entry, commit: str) -> Iterator[Linked]:
    """Go over the checkpoints of an entry that tell of a commit as made: the first, if any."""
    store = opened(entry)
    try:
        with outside_errors(entry.format):
            names = store.sessions()
            wanted = names[-1:] if entry.session is None else (SessionId(entry.session),)
            for name in wanted:
                session = store.load(name).session
                row = _row_that_tells(store, session, commit)
                if row is not None:
                    scope = f"{quoted(name)}:" if len(names) > 1 else ""
                    ref = f"{entry.location}#{scope}{quoted(session.ids[row])}"
                    yield Linked(session.title or entry.name, ref)
    finally:
        store.close()


def _row_that_tells(store: Store, session: Session, commit: str) -> int | None:
    for begin in range(0, len(session), _BATCH):
        rows = range(begin, min(begin + _BATCH, len(session)))
        for row, body in zip(rows, store.bodies(session, rows), strict=True):
            if any(_is(each, commit) for each in commits_of([body])):
                return row
    return None


def _is(made: MadeCommit, commit: str) -> bool:
    return commit.startswith(made.hash)
