"""Names in conditions: what a checkpoint calls, and what it only writes anew."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from builders import memories, memory

from tt_debugger.core.changes import Append, Change, Put
from tt_debugger.core.conditions import At, parse_condition
from tt_debugger.core.model import Head, Kind

CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Bash"}]}


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        (Kind.MESSAGE, True),
        (Kind.SNAPSHOT, True),
        (Kind.SUPER_STEP, True),
        (Kind.TURN, True),
        (Kind.CUSTOM, False),
        (Kind.COMPACTION, False),
        (Kind.BRANCH_SUMMARY, False),
    ],
)
@pytest.mark.parametrize("change", [Append(("messages",), CALL), Put(("messages", 0), CALL)])
def test_who_writes_a_call_anew_does_not_call_the_tool(kind: Kind, change: Change, *, holds: bool):
    changes: Sequence[Change] = (change,)
    _, session = memory(memories("a", {"a": changes}, {"a": Head(kind)}))
    at = At(session, 0, changes, {}, dict)

    assert parse_condition("tool=bash").holds(at) is holds
    assert parse_condition("tool!=bash").holds(at) is not holds
