"""Turns: the commits of a recording as they stand in a repository, and the files in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tt_debugger.errors import CannotReadError
from tt_debugger.formats.recording_git.commits import Turn, ends_kept, newest_first, turn_of
from tt_debugger.formats.shared.git_fields import whole_fields
from tt_debugger.storage.git import GitObjects
from tt_debugger.storage.repository import Refs, Repository, refs_of

LARGEST = 256 << 20
"""Bytes of a file from which on it is not read."""
_FIELDS = "%H%x00%P%x00%B"
_COUNT = 3
_LONGEST = 1 << 16
"""Bytes of a message from which on it is none of a recording."""
_TREE = re.compile(rb"tree ([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")

_TIME = re.compile(rb"^committer [^\n]*> ([0-9]{1,15}) ", re.MULTILINE)


class Turns:
    """The commits of the recordings in a repository. What is read is compared by its hash."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._objects = GitObjects(repository)

    def newest_first(self, ref: str, refs: Refs | None = None) -> list[Turn]:
        """Give those of a ref, none where there is no such ref; its own end comes first.

        Raises CannotReadError where it does not lead to the commits of a recording alone.
        """
        refs = refs_of(self._repository, with_logs=False) if refs is None else refs
        end = refs.names.get(ref)
        if end is None:
            return []
        kept = ends_kept(ref, refs.names)
        log = self._objects.log(_FIELDS)
        tips = dict.fromkeys((end, *(each for ends in kept.values() for each in ends)))
        turns = {each.commit: each for each in _turns(log.of(list(tips)))}
        found = newest_first(turns, end, kept)
        is_whole = bool(found) and found[-1].entry is None
        if log.failed or not is_whole or any(each.entry is None for each in found[:-1]):
            raise CannotReadError(
                f"{ref} of {self._repository.folder} is no recording, or a damaged one",
                "git fsck tells what is missing; record to a ref that is not there yet",
            )
        return found

    def files(self, commits: Sequence[str], name: str) -> list[bytes]:
        """Give the file of a name in each of some commits. Raises CannotReadError."""
        found = zip(commits, self.found(commits, name), strict=True)
        return [self._must_be(f"{name} of {commit[:12]}", data) for commit, data in found]

    def found(self, commits: Sequence[str], name: str) -> list[bytes | None]:
        """Give the same, None for each that is missing, damaged or larger than `LARGEST`."""
        trees = [_tree_of(each or b"") for each in self._contents(commits)]
        width = len(commits[0]) // 2 if commits else 0
        blobs = [_in_tree(each or b"", name, width) for each in self._contents(trees)]
        return self._contents(blobs)

    def commit(self, name: str) -> bytes:
        """Give the bytes of a commit. Raises CannotReadError."""
        return self._must_be(f"the commit {name[:12]}", *self._contents([name]))

    def times(self, commits: Sequence[str]) -> list[int]:
        """Give the seconds since 1970 at which commits say that they were made, 0 for none."""
        found = (_TIME.search(each or b"") for each in self._contents(commits))
        return [0 if each is None else int(each[1]) for each in found]

    def close(self) -> None:
        """End git."""
        self._objects.close()

    def _contents(self, names: Sequence[str]) -> list[bytes | None]:
        known = list(dict.fromkeys(filter(None, names)))
        found = dict(zip(known, self._objects.contents(known, LARGEST), strict=True))
        read = (found.get(name) for name in names)
        return [None if each is None else each.data for each in read]

    def _must_be(self, what: str, data: bytes | None) -> bytes:
        if data is None:
            raise CannotReadError(
                f"cannot read {what} in {self._repository.folder}: it is missing, damaged or"
                f" larger than {LARGEST >> 20} MiB",
                "git fsck tells more",
            )
        return data


def _turns(parts: Iterable[bytes]) -> Iterator[Turn]:
    for fields in whole_fields(parts, _COUNT, _LONGEST):
        for place in range(0, len(fields), _COUNT):
            texts = (each.decode(errors="replace") for each in fields[place : place + _COUNT])
            turn = turn_of(*texts)
            if turn is not None:
                yield turn


def _tree_of(commit: bytes) -> str:
    found = _TREE.match(commit)
    return "" if found is None else found[1].decode()


def _in_tree(tree: bytes, name: str, width: int) -> str:
    """Give what a file in a folder is called as an object, empty for none."""
    found = re.search(
        rb"(?:\A|.{%d})[0-7]{5,6} %s\0(.{%d})" % (width, name.encode(), width), tree, re.DOTALL
    )
    return "" if found is None else found[1].hex()
