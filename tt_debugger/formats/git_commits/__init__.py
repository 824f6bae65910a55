"""Git commits: a repository as a session, each commit of it a checkpoint.

All that any ref leads to is there, what refs led to before as well: branches that were deleted or
rewritten are dead branches of the tree. What is checked out is the active leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.formats.shared.delegating import Delegating, Reader
from tt_debugger.storage.probe import RepositoryProbe
from tt_debugger.store import HasSubsessions, Match, Probe, Tails

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.plan import Draft, Plan


class GitCommits(Delegating):
    """The commits of a repository: a bare one, a work tree or the .git in one."""

    format: ClassVar[str] = "git_commits"
    about: ClassVar[str] = "commits of a git repository, with branches, worktrees and lost ones"
    verified: ClassVar[str] = "git itself: commits, files and trailers are compared with its own"
    keeps_calls_whole: ClassVar[bool] = False

    @classmethod
    def chosen(cls, location: str) -> Reader:
        """Open a repository; only who has one pays for what that takes."""
        from tt_debugger.formats.git_commits.history import History

        return History(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a repository by what git itself tells one by."""
        return Match(60, "a git repository") if isinstance(probe, RepositoryProbe) else None

    def tail(self) -> Session | None:
        """Give the newest commits on the way to what is checked out."""
        return self.store.tail() if isinstance(self.store, Tails) else None

    def subsession(self, session: Session, name: str) -> str | None:
        """Give where a transcript is that a commit names, None where it is not there."""
        store = self.store
        return store.subsession(session, name) if isinstance(store, HasSubsessions) else None

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit by which a new commit says something."""
        from tt_debugger.formats.git_commits.fork import message

        return message(text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give the branch, and the commit if anything is edited, that a fork would make."""
        from tt_debugger.formats.git_commits.fork import draft

        return draft(self.location, replay, plan)


STORE = GitCommits
