"""The log as commits: one an entry, on a ref of its own, in a repository that is there.

`git:PATH#refs/agents/run` names it. A commit holds the whole state, so that `git diff` shows what
a step did; to write one costs what the state is long. Work tree, index, HEAD and branches are not
touched, no program is started in the repository, nor is anything obeyed that its config says.
`git push origin 'refs/agents/*:refs/agents/*'` takes recordings elsewhere.

All objects are synced before the ref is moved, and it is moved under the lock that git takes.
Objects that no ref leads to, as a crash leaves them, git removes some day; those of a log it packs
as it packs all others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import (
    Entry,
    Header,
    Snapshotted,
    decoded,
    decoded_header,
    encoded_header,
)
from tt_debugger.errors import CannotReadError, CannotWriteError, UsageError
from tt_debugger.formats.recording_git.commits import (
    EFFECTS,
    ENTRY,
    HEADER,
    REFS,
    STATE,
    Turn,
    beginning_of,
    commit_data,
    is_recording,
    keeping_ref,
    message_of,
    ref_of,
    turn_of,
)
from tt_debugger.formats.recording_git.turns import Turns
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.whole import Effects, ledger_after, state_after, without_state
from tt_debugger.storage.git_loose import LooseObjects
from tt_debugger.storage.git_refs import add, move, unlock
from tt_debugger.storage.locking import hold
from tt_debugger.storage.probe import SCHEME
from tt_debugger.storage.publishing import opened, writing
from tt_debugger.storage.repository import Repository, is_ref_name, repository_at, value_of

MOST_AT_ONCE = 64
"""Entries that are read at once; at first it is one."""
_LOCK = "ttdbg.lock"
"""A file of the repository that whoever writes a recording to it holds a lock on."""
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_INDENT = 2

_decode_effects = msgspec.json.Decoder(list[Effect]).decode


class _Point(msgspec.Struct, frozen=True):
    """A turn, the state at it, and what was known of effects when it was written.

    `blobs` are the objects of the files in its commit, by their names; none where it was read.
    """

    turn: Turn
    state: State
    effects: Effects
    blobs: Mapping[str, str] = {}


class GitLog:
    """A log below a ref of a repository."""

    durability = "the objects of an entry, then the ref, are synced to the disk (fsync) before"
    durability += " its step counts as written"

    def __init__(self, repository: Repository, ref: str) -> None:
        self.location = f"{SCHEME}{repository.folder}#{ref}"
        self.header: Header | None = None
        self._repository = repository
        self._ref = ref
        self._reading = Turns(repository)
        self._turns: list[Turn] = []
        """In the order of their writing; the first one begins the recording."""
        self._known: dict[str | None, Turn] = {}
        """The same by the ids of their entries."""
        self._end: _Point | None = None
        """The last one, where it is known already."""

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Open the log at a ref, which need not be there yet; the repository must be.

        Raises CannotReadError for no repository and for a ref with other commits, UsageError for
        a ref that is none of recordings.
        """
        path, ref = _split(location, options.session)
        repository = repository_at(path)
        if repository is None:
            raise CannotReadError(
                f"there is no git repository at {path}",
                f"`git init {path}` makes one; of a work tree its top folder is named",
            )
        log = cls(repository, ref)
        try:
            log._take_up()
        except BaseException:
            log.close()
            raise
        return log

    def begin(self, header: Header) -> None:
        """Make the ref, with the commit that all others hang on. Raises CannotWriteError."""
        if self.header is not None:
            raise CannotWriteError(f"{self.location} has begun already")
        with self._writing():
            loose = LooseObjects(self._repository)
            tree = loose.tree({HEADER: loose.blob(_head(header))})
            message = beginning_of(header)
            commit = loose.commit(
                commit_data(tree, None, header.session_id, header.created_at, message)
            )
            loose.write()
            if self._named() == commit:
                move(self._repository, self._ref, commit, commit)
            else:
                self._must_name(None)
                add(self._repository, self._ref, commit)
        self.header = header
        self._adopt(_Point(Turn(commit, None, 0, None), {}, {}))

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries of all branches, the last one that was written first."""
        commits = [each.commit for each in reversed(self._turns) if each.entry is not None]
        place, count = 0, 1
        while place < len(commits):
            yield from self._entries(commits[place : place + count])
            place, count = place + count, min(2 * count, MOST_AT_ONCE)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write a commit for each entry that is not there yet, then move the ref once.

        Raises CannotWriteError, also where somebody else has moved the ref.
        """
        if self.header is None:
            raise CannotWriteError(f"{self.location} has not begun", "begin it with a header")
        new = [each for each in entries if each.id not in self._known]
        if not new:
            return
        with self._writing():
            end = self._last()
            loose = LooseObjects(self._repository)
            made = self._made(loose, end, new, self.header)
            loose.write()
            commits = [each.turn.commit for each in (end, *made)]
            named = self._named()
            # Where it is not known how an attempt ended, the same commits come of the next one.
            if named not in commits[1:]:
                self._must_name(commits[0])
            self._keep_ends(commits, made)
            move(self._repository, self._ref, named or "", commits[-1])
        for each in made:
            self._adopt(each)

    def close(self) -> None:
        """End git, by which the log is read."""
        self._reading.close()

    def _take_up(self) -> None:
        value = self._named()
        if value is None:
            return
        if not _HASH.fullmatch(value):
            raise CannotReadError(
                f"{self._ref} of {self._repository.folder} names no commit",
                "record to a ref that is not there yet",
            )
        self._turns = self._reading.newest_first(self._ref)[::-1]
        self._known = {each.entry: each for each in self._turns}
        (data,) = self._reading.files([self._turns[-1].commit], HEADER)
        with self._understood(self._turns[-1].commit):
            self.header = decoded_header(data)

    def _adopt(self, point: _Point) -> None:
        self._turns.append(point.turn)
        self._known[point.turn.entry] = point.turn
        self._end = point

    def _entries(self, commits: Sequence[str]) -> Iterator[Entry]:
        for commit, data in zip(commits, self._reading.files(commits, ENTRY), strict=True):
            with self._understood(commit):
                entry = decoded(data)
            if isinstance(entry, Snapshotted):
                entry = msgspec.structs.replace(entry, state=self._state(commit))
            yield entry

    def _state(self, commit: str) -> State:
        (data,) = self._reading.files([commit], STATE)
        with self._understood(commit):
            return msgspec.json.decode(data)

    @contextmanager
    def _understood(self, commit: str) -> Generator[None]:
        try:
            yield
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CannotReadError(
                f"the commit {commit[:12]} of {self.location} is none that is understood: {error}",
                "a newer version may have written it",
            ) from error

    def _last(self) -> _Point:
        """Give where the log ends; it is read once, and known from then on."""
        if self._end is None:
            turn = self._turns[-1]
            self._end = _Point(turn, {}, {}) if turn.entry is None else self._read(turn)
        return self._end

    def _read(self, turn: Turn) -> _Point:
        (data,) = self._reading.files([turn.commit], EFFECTS)
        with self._understood(turn.commit):
            effects = {each.key: each for each in _decode_effects(data)}
        return _Point(turn, self._state(turn.commit), effects)

    def _made(
        self, loose: LooseObjects, end: _Point, entries: Sequence[Entry], header: Header
    ) -> list[_Point]:
        """Make the commits of entries, which are not written yet."""
        made: list[_Point] = []
        points = {end.turn.entry: end}
        last = end
        for entry in entries:
            parent, before = self._before(entry, points)
            state = state_after(before, entry)
            effects = ledger_after(last.effects, entry)
            blobs = {
                # What the commit before has too is on the disk.
                **last.blobs,
                ENTRY: loose.blob(_readable(without_state(entry))),
            }
            if state is not last.state or STATE not in blobs:
                blobs[STATE] = loose.blob(_readable(state))
            if effects is not last.effects or EFFECTS not in blobs:
                blobs[EFFECTS] = loose.blob(_readable(list(effects.values())))
            if HEADER not in blobs:
                blobs[HEADER] = loose.blob(_head(header))
            number = last.turn.number + 1
            message = message_of(entry, number, header.session_id)
            commit = loose.commit(
                commit_data(
                    loose.tree(blobs), parent.commit, header.session_id, entry.time, message
                )
            )
            last = _Point(Turn(commit, parent.commit, number, entry.id), state, effects, blobs)
            made.append(last)
            points[entry.id] = last
        return made

    def _before(self, entry: Entry, points: Mapping[str | None, _Point]) -> tuple[Turn, State]:
        """Give the turn that an entry hangs on, and the state there."""
        point = points.get(entry.parent)
        if point is not None:
            return point.turn, point.state
        # What hangs on nothing that is there hangs on the beginning.
        turn = self._known.get(entry.parent) or self._known[None]
        return turn, {} if turn.entry is None else self._state(turn.commit)

    def _keep_ends(self, commits: Sequence[str], made: Sequence[_Point]) -> None:
        """Let each branch whose end the ref will not lead to any more have a ref of its own."""
        gone_on = {each.turn.parent for each in made}
        for end in commits[:-1]:
            ref = keeping_ref(self._ref, commits[-1], end)
            if end in gone_on or value_of(self._repository, ref) == end:
                continue
            unlock(self._repository, ref, self._is_ours)
            add(self._repository, ref, end)

    def _named(self) -> str | None:
        return value_of(self._repository, self._ref)

    def _must_name(self, commit: str | None) -> None:
        if self._named() != commit:
            raise CannotWriteError(
                f"somebody else has written to {self.location} since it was opened",
                "open it again to go on from there, or fork to a session of its own",
            )

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Be the only recorder that writes to the repository meanwhile."""
        repository = self._repository
        path = repository.shared / _LOCK
        with writing(str(repository.folder)), opened(str(path), os.O_RDWR | os.O_CREAT) as lock:
            hold(lock, str(path))
            # Whoever would hold it now has been killed.
            unlock(repository, self._ref, self._is_ours)
            try:
                yield
            except (UsageError, CannotReadError) as error:
                raise CannotWriteError(error.message, error.hint) from error

    def _is_ours(self, commit: str) -> bool:
        """Tell whether a commit is one of a recording."""
        if not _HASH.fullmatch(commit):
            return False
        try:
            data = self._reading.commit(commit)
        except CannotReadError:
            return False
        message = data.partition(b"\n\n")[2].decode(errors="replace")
        return turn_of(commit, "", message) is not None


def _split(location: str, session: str) -> tuple[str, str]:
    """Give the path and the ref of a location. Raises UsageError."""
    text = location.removeprefix(SCHEME)
    path, sign, ref = text.rpartition("#")
    if not sign or (not ref.startswith("refs/") and Path(text).exists()):
        path, ref = text, ref_of(session)
    if not is_recording(ref) or not is_ref_name(ref):
        raise UsageError(
            f"{ref!r} is no ref that is recorded to",
            f"write it like {SCHEME}{path or '.'}#{REFS}run: branches are left to people",
        )
    return str(Path(path or ".").absolute()), ref


def _head(header: Header) -> bytes:
    return encoded_header(header) + b"\n"


def _readable(value: object) -> bytes:
    """Give JSON on as many lines as it takes, so that lines can be compared."""
    return msgspec.json.format(msgspec.json.encode(value), indent=_INDENT) + b"\n"
