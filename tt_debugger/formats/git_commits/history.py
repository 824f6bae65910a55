"""The history of a repository: what is read of it, followed and asked for later."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from tt_debugger.core.model import Heads, Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.git_commits.commits import FIELDS, commits_in, in_order, record_of
from tt_debugger.formats.git_commits.reading import Known, peeled, session_of, tips, walked
from tt_debugger.formats.git_commits.replay import CommitRules
from tt_debugger.formats.git_commits.transcripts import blob_of, file_of
from tt_debugger.formats.git_commits.trees import Trees
from tt_debugger.storage.extracts import extract
from tt_debugger.storage.git import GitObjects
from tt_debugger.storage.repository import Refs, head_of, must_be_repository, refs_of
from tt_debugger.store import Cursor, Loaded, Progress, unheard

NEWEST = 100
"""Commits that are shown before all are read."""


class _Position(msgspec.Struct, frozen=True):
    """A cursor: what was read, and the session that it made."""

    known: Known
    session: Session


class History:
    """The commits of a repository."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._repository = must_be_repository(location)
        self._objects = GitObjects(self._repository)
        self._trees = Trees(self._objects)

    def sessions(self) -> Sequence[SessionId]:
        """Give the one session that a repository is."""
        return (SessionId(self._repository.name),)

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read all commits that anything leads to."""
        known = self._read()
        progress(len(known.commits), len(known.commits))
        return self._loaded(known)

    def tail(self) -> Session | None:
        """Give the newest commits on the way to what is checked out."""
        log = self._objects.log(FIELDS, most=NEWEST)
        head = head_of(self._repository)
        told = log.of([head] if head else ())
        # Meanwhile git works.
        refs = refs_of(self._repository, with_logs=False)
        newest = list(commits_in(told))
        if len(newest) < NEWEST:
            return None
        known = Known(refs, *in_order(newest), is_whole=False)
        return session_of(self._repository, known, {})

    def follow(self, since: Cursor) -> Loaded:
        """Read what is new, if refs lead elsewhere; all of it where something is gone."""
        position: _Position = since.position
        refs = refs_of(self._repository)
        if refs == position.known.refs:
            return Loaded(position.session, since)
        grown = self._grown(position.known, refs)
        if grown is None:
            return self._loaded(self._read())
        return self._loaded(grown, position.session.heads.copy())

    def watched(self) -> Sequence[str]:
        """Give what git writes when a ref leads elsewhere."""
        return self._repository.watched

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return CommitRules(self._trees)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Read some commits. Raises CannotReadError for one that is not there any more."""
        return [record_of(data).body for data in self._bytes(session, rows)]

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a commit. Raises CannotReadError."""
        return self._bytes(session, [row])[0]

    def subsession(self, session: Session, name: str) -> str | None:
        """Give where a transcript is that a commit names, taken out of the repository if need be.

        None where it is not there.
        """
        refs: Refs = refs_of(self._repository, with_logs=False)
        blob = blob_of(name, self._trees, refs.names, self._tree_of)
        if blob is None:
            return file_of(name, os.environ, Path.home())
        found = self._objects.contents([blob])[0]
        if found is None or found.type != "blob" or found.data is None:
            return None
        return extract(f"{blob}.jsonl", found.data)

    def close(self) -> None:
        """End git."""
        self._objects.close()

    def _read(self) -> Known:
        log = self._objects.log(FIELDS)
        refs = refs_of(self._repository)
        names = tips(refs)
        told = list(commits_in(log.of(names)))
        ordered = in_order(told)
        failed, lost = log.failed, ()
        if len(ordered[0]) < len(told):
            # Only who looks at its hash sees that a commit is none of those that are named so.
            failed = "some commits come before themselves"
        if failed:
            commits, missing = walked(self._objects, names, frozenset(refs.shallow))
            ordered = in_order(commits)
            lost = (f"git could not read all of it: {failed}",) if missing else ()
        return Known(refs, *ordered, lost, is_partial=self._objects.is_partial)

    def _grown(self, known: Known, refs: Refs) -> Known | None:
        """Give what was known with the commits that are new, None where all must be read.

        That is where one is older than some that are known, or these may have lost their refs.
        """
        if known.lost or refs.shallow != known.refs.shallow:
            return None
        old, new = tips(known.refs), tips(refs)
        rows = {each.name: row for row, each in enumerate(known.commits)}
        log = self._objects.log(FIELDS)
        asked = [each for each in new if each not in rows]
        commits, _ = in_order(commits_in(log.of(asked, old)))
        newest = known.commits[-1].time if known.commits else -1
        gone = {each for each in old if each in rows}.difference(new)
        gone.difference_update(*(each.parents.split() for each in commits))
        if log.failed or gone or any(each.time <= newest for each in commits):
            return None
        every = [*known.commits, *commits]
        rows |= {each.name: row for row, each in enumerate(commits, len(rows))}
        firsts = (each.first for each in commits)
        parents = known.parents + array("q", (rows.get(each, NO_ROW) for each in firsts))
        return msgspec.structs.replace(known, refs=refs, commits=every, parents=parents)

    def _loaded(self, known: Known, heads: Heads | None = None) -> Loaded:
        # The hashes of refs are few; those of commits make no set of their own.
        odd = set(known.refs.names.values()).difference(map(attrgetter("name"), known.commits))
        session = session_of(self._repository, known, peeled(self._objects, sorted(odd)), heads)
        return Loaded(session, Cursor(_Position(known, session)))

    def _tree_of(self, commit: str) -> str:
        found = self._objects.contents([commit])[0]
        is_commit = found is not None and found.type == "commit"
        return record_of(found.data or b"").tree if found is not None and is_commit else ""

    def _bytes(self, session: Session, rows: Sequence[int]) -> list[bytes]:
        names = [session.ids[row] for row in rows]
        found = self._objects.contents(names)
        for name, each in zip(names, found, strict=True):
            if each is None or each.data is None:
                raise CannotReadError(
                    f"the commit {name} cannot be read any more", "open the repository again"
                )
        return [each.data for each in found if each is not None and each.data is not None]
