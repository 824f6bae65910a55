"""What a draft would write, told as JSON."""

from __future__ import annotations

import msgspec

from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.told import Told, told
from tt_debugger.core.fork.writes import How, NewBranch
from tt_debugger.core.model import SessionId

BRANCH = NewBranch("/r", "ttdbg/x", "abc", {"a.py": b"x = 1\n"}, "why\n", "me", "me@x", 0)
ABOUT = {"branch": "ttdbg/x", "base": "abc"}
COMMIT = {"message": "why\n", "author": "me"}


def told_of(branch: NewBranch) -> list[Told]:
    return list(told(Draft((branch,), "/r", SessionId("r"), "abc", "git switch ttdbg/x")))


def test_a_branch_has_a_commit_where_files_or_its_message_are_others():
    alone = msgspec.structs.replace(BRANCH, files={})
    bare = msgspec.structs.replace(alone, message="")
    assert [each.has_commit for each in (BRANCH, alone, bare)] == [True, True, False]
    assert told_of(BRANCH) == [
        Told(How.ADDED, None, {**ABOUT, "files": {"a.py": "x = 1\n"}, **COMMIT})
    ]
    assert told_of(alone) == [Told(How.ADDED, None, {**ABOUT, "files": {}, **COMMIT})]
    assert told_of(bare) == [Told(How.ADDED, None, {**ABOUT, "files": {}})]
