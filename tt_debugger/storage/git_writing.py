"""Writing to a git repository: a new branch, with its commit if it has one, and its end.

The objects are made by git in a folder of ours, put into the repository one by one, and the branch
is named last. Nothing is checked out: no work tree, index, log or HEAD is touched, and no program
of the repository is asked. Where something fails there is no new branch; objects that are already
there belong to nothing, and git removes them some day.
"""

from __future__ import annotations

import os
from contextlib import suppress

from tt_debugger.core.fork.writes import BranchWritten, NewBranch
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage.git import GitObjects
from tt_debugger.storage.git_loose import is_put
from tt_debugger.storage.git_making import Made, made
from tt_debugger.storage.git_refs import (
    add,
    check_new,
    is_elsewhere,
    must_name,
    ref_of,
    remove,
    sync_names_beside,
)
from tt_debugger.storage.publishing import writing
from tt_debugger.storage.repository import Repository, must_be_repository


def make_branch(new: NewBranch) -> BranchWritten:
    """Make a branch that was not there, whole or not at all; give where it ends.

    Raises UsageError for a name that is taken or is none, and for files that cannot be,
    UnsupportedError for a repository of another kind, CannotReadError, CannotWriteError.
    """
    ref = ref_of(new.branch)
    with made(new) as branch:
        repository = branch.repository
        with writing(str(repository.folder)):
            check_new(repository, ref)
            _put(branch)
            add(repository, ref, branch.commit)
    return BranchWritten(new.repository, new.branch, branch.commit)


def remove_branch(written: BranchWritten) -> None:
    """Remove a branch as long as it ends where it did, and nobody is on it; its objects stay.

    Raises UsageError, CannotReadError, CannotWriteError.
    """
    repository = must_be_repository(written.repository)
    with writing(str(repository.folder)):
        remove(repository, ref_of(written.branch), written.commit)


def must_be_unchanged(written: BranchWritten) -> None:
    """Raise the UsageError that removing a branch would raise now."""
    repository = must_be_repository(written.repository)
    with writing(str(repository.folder)):
        must_name(repository, ref_of(written.branch), written.commit)


def _put(branch: Made) -> None:
    """Put the objects that were made into the repository."""
    objects = branch.repository.shared / "objects"
    found = sorted(branch.folder.glob("??/*"))
    folders = [objects, *(objects / each.parent.name for each in found)]
    if any(map(is_elsewhere, folders)):
        raise UsageError(
            f"the objects of {branch.repository.folder} are kept elsewhere",
            "name the repository in which they are",
        )
    known: list[str] = []
    for each in found:
        target = objects / each.parent.name / each.name
        if os.path.lexists(target) or not is_put(target, each.read_bytes()):
            known.append(each.parent.name + each.name)
            # As git does, so that it does not remove what was in no use for long.
            with suppress(OSError, NotImplementedError):
                os.utime(target, follow_symlinks=False)
            sync_names_beside(target)
    if found:
        sync_names_beside(folders[-1])
    _check(branch.repository, known)


def _check(repository: Repository, names: list[str]) -> None:
    """Make sure that objects which were there already are what they should be."""
    if not names:
        return
    objects = GitObjects(repository)
    try:
        found = objects.contents(names)
    finally:
        objects.close()
    for name, each in zip(names, found, strict=True):
        if each is None:
            raise CannotWriteError(
                f"the object {name[:12]} of {repository.folder} is damaged",
                "git fsck tells more",
            )
