"""Forks of a repository: a new branch from any commit, with a commit of its own if it is edited.

A commit holds all of its files, so the new one comes after the one that is forked and differs from
it by the edits. It is made beforehand in a folder of ours and read back from there.
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Iterator
from typing import Any

from tt_debugger.core.between import is_same, keys_between
from tt_debugger.core.changes import Change, Put, State, fold
from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.writes import NewBranch
from tt_debugger.core.json import as_map
from tt_debugger.core.model import SessionId
from tt_debugger.core.replay import Replay
from tt_debugger.errors import TtdbgError, UnsupportedError, UsageError
from tt_debugger.formats.git_commits.commits import record_of
from tt_debugger.formats.git_commits.replay import CommitRules
from tt_debugger.formats.git_commits.trailers import trailers_of
from tt_debugger.formats.git_commits.trees import Trees, text_of
from tt_debugger.storage.git import GitObjects
from tt_debugger.storage.git_making import MAIL, NAME, Made, made
from tt_debugger.storage.git_refs import check_new, ref_of
from tt_debugger.storage.repository import Repository, must_be_repository

_SHORT = 12
_AUTHOR = re.compile(r"([^<>\n\0]+) <([^<>\n\0]*)>")
_OWN = frozenset(("author", "time", "trailers", "parents", "modes"))
"""Keys that a new commit may tell otherwise than the one that it comes after."""


def message(text: str) -> Change:
    """Give the edit that gives a commit a message."""
    return Put(("message",), text if text.endswith("\n") else f"{text}\n")


def draft(location: str, replay: Replay, plan: Plan) -> Draft:
    """Give what a fork would write: one branch. Nothing is written to the repository.

    Raises UnsupportedError for what a commit cannot hold, UsageError for what is wrong.
    """
    if plan.in_place:
        raise UnsupportedError("a branch of git is always a new one", "leave out --in-place")
    repository = must_be_repository(location)
    base = replay.session.ids[plan.row]
    branch = plan.target or f"ttdbg/fork-{base[:_SHORT]}-{plan.fresh(4).hex()}"
    check_new(repository, ref_of(branch))
    edits = _edits(plan)
    new = _new_branch(repository, branch, base, plan, edits)
    with made(new) as fork:
        own = _own_keys(plan, base, fork, edits)
    return Draft(
        writes=(new,),
        location=new.repository,
        session=SessionId(repository.name),
        point=fork.commit,
        resume_command=_command(repository, branch),
        notes=tuple(_notes(plan, base, edits, repository)),
        own=own,
        is_read_back=True,
    )


def _edits(plan: Plan) -> dict[str, Any]:
    """Give the keys that were edited. Raises UnsupportedError for what is not to be set."""
    edits = other_edits(plan)
    files = plan.wanted.get("files")
    if not isinstance(files, dict) or not isinstance(plan.wanted.get("message"), str):
        raise UsageError("a commit has a map of files, and a message that is a text")
    if "trailers" in edits and not is_same(edits["trailers"], trailers_of(plan.wanted["message"])):
        raise UnsupportedError(
            "trailers are the last lines of a message, and cannot be another's",
            "edit the message; its trailers follow",
        )
    kept = {path: mode for path, mode in as_map(plan.state.get("modes")).items() if path in files}
    if "modes" in edits and not is_same(as_map(plan.wanted.get("modes")), kept):
        raise UnsupportedError(
            "a fork keeps the modes of its files, and gives new ones none",
            "`chmod +x` and a commit after the switch do it",
        )
    for key in edits:
        if key not in ("files", "message", "author", "trailers", "modes"):
            raise UnsupportedError(
                f"{key} of a new commit cannot be set",
                "what can be is: files, message and author",
            )
    return edits


def _new_branch(
    repository: Repository, branch: str, base: str, plan: Plan, edits: dict[str, Any]
) -> NewBranch:
    files = dict(_files(plan.state, plan.wanted)) if "files" in edits else {}
    text = plan.wanted["message"] if edits else ""
    if edits and not text.strip():
        raise UsageError("a commit needs a message", "--message gives it one")
    author, mail = _author(edits["author"]) if "author" in edits else (NAME, MAIL)
    return NewBranch(
        repository=str(repository.folder),
        branch=branch,
        base=base,
        files=files,
        message=text,
        author=author,
        email=mail,
        time=int(plan.time),
    )


def _author(text: Any) -> tuple[str, str]:
    match = _AUTHOR.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(f"{text!r} is no author", "write it like Ann <ann@example.com>")
    return match[1], match[2]


def _files(state: State, wanted: State) -> Iterator[tuple[str, bytes | None]]:
    """Give the files that differ, None for one that goes."""
    before, after = as_map(state.get("files")), as_map(wanted["files"])
    if before.get("$opaque") == "tree" and "tree" in before:
        raise UnsupportedError(
            "there are too many files to be shown, so none of them can be edited",
            "--message alone makes a new commit",
        )
    for path in (*before, *(each for each in after if each not in before)):
        old, new = before.get(path), after.get(path)
        if path in after and path in before and is_same(old, new):
            continue
        if any(text_of(part.encode(errors="replace")) != part for part in path.split("/")):
            raise UnsupportedError(
                f"{path} is a name that ttdbg can show but not write",
                "after the switch git can rename it",
            )
        yield path, _content(path, old, new) if path in after else None


def _content(path: str, old: Any, new: Any) -> bytes:
    """Give the bytes of a file by what it is shown as, which tells its kind too."""
    kinds = _kind(old) if old is not None else "file", _kind(new)
    if kinds == ("link", "link"):
        return _content(path, None, new["$value"])
    if kinds != ("file", "file"):
        raise UnsupportedError(
            f"{path} cannot be edited: it is a {kinds[0]}, and would be a {kinds[1]}",
            "it can be kept, or taken away and be written again after the switch",
        )
    try:
        if isinstance(new, str):
            return new.encode()
        return base64.b64decode(new["$bytes"], validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError, TypeError):
        raise UsageError(f"{path} would hold what is neither text nor base64") from None


def _kind(value: Any) -> str:
    match value:
        case str():
            return "file"
        case {"$bytes": _, **others} if not others:
            return "file"
        case {"$type": "git.symlink", "$value": _}:
            return "link"
        case {"$type": "git.submodule"}:
            return "commit of another repository"
        case {"$opaque": str(kind)}:
            return f"{kind} that is not shown"
        case _:
            return "value that is no file"


def _own_keys(plan: Plan, base: str, fork: Made, edits: dict[str, Any]) -> tuple[str, ...]:
    """Read the new commit back; give the keys that it tells otherwise, as it must.

    Raises UnsupportedError where it tells otherwise what it must not.
    """
    if fork.commit == base:
        return ()
    objects = GitObjects(fork.repository, fork.folder)
    try:
        read = objects.contents([base, fork.commit])
        before, after = (record_of(each.data or b"").body for each in read if each is not None)
        changes = CommitRules(Trees(objects)).changes(before, after)
    finally:
        objects.close()
    found, wanted = as_map(fold(plan.state, changes)), as_map(plan.wanted)
    other = keys_between(wanted, found)
    wrong = set(other) - _OWN | ({"author"} & edits.keys() & set(other))
    if "files" in wrong:
        path = keys_between(as_map(wanted["files"]), as_map(found["files"]))[0]
        raise UnsupportedError(
            f"{path} would not be shown as it is asked for, so nothing is written",
            "files that are very large are not shown, and bytes that are text are shown as text",
        )
    if wrong:
        raise TtdbgError(
            f"the fork would not replay to the state that is asked for: {min(wrong)} would be"
            " otherwise, so nothing is written",
            "please report this with the output of `ttdbg fork --dry-run`",
        )
    return tuple(sorted(other))


def _notes(plan: Plan, base: str, edits: dict[str, Any], repository: Repository) -> Iterator[str]:
    short = base[:_SHORT]
    if not edits:
        yield f"nothing is edited: the branch ends at {short}, without a new commit"
    if edits and "author" not in edits:
        yield f"the author of the new commit is {NAME} <{MAIL}>; an edit of /author says another"
    if edits and "message" not in edits:
        yield f"the new commit has the message of {short}; --message gives it its own"
    if edits and "parents" in plan.state:
        yield f"{short} is a merge; the new commit comes after it, and is none"
    if plan.note is not None:
        yield "the note is kept by ttdbg, and not in the commit"
    if repository.folder == repository.own:
        yield "the repository has no work tree: the command makes one beside it"
    else:
        yield "nothing is checked out: the work tree is as it was until the command is run"


def _command(repository: Repository, branch: str) -> str:
    """Give the command that lets one go on from a branch."""
    folder = repository.folder
    if repository.folder != repository.own:
        return shlex.join(("git", "-C", str(folder), "switch", branch))
    beside = folder.with_name(f"{repository.name}-{branch.replace('/', '-')}")
    return shlex.join(("git", "-C", str(folder), "worktree", "add", str(beside), branch))
