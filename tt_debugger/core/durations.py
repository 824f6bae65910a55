"""Durations: how long a step took, as the times of its checkpoint and of those before it tell.

An answer took the time since the checkpoint before it, a tool the time since it was called. What
a user took to write is no duration of anything, nor what lies between two commits. A result that
nobody speaks is a step of a recording: nothing tells when its tool was called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from tt_debugger.core.model import Kind, Role, Session
from tt_debugger.core.tree import NO_ROW

PARALLEL_CALLS = 64
"""Results of one message's calls that may stand one below the other."""


class Took(msgspec.Struct, frozen=True, gc=False):
    """How long a step took. Of that, `waited` passed after what ran beside it had ended.

    The sum of `waited` over a path is the time that passed, as that of `seconds` is not where
    tools ran side by side.
    """

    seconds: float
    waited: float
    is_tool: bool


def is_answer(kind: Kind, role: Role | None) -> bool:
    """Tell whether a checkpoint is an answer of a model: a commit of an agent is none."""
    return role is Role.ASSISTANT and kind is not Kind.COMMIT


def seconds_taken(session: Session, row: int) -> float | None:
    """Give how long a step took, None where it is no step or the times do not tell."""
    heads = session.heads
    took = _took(row, session.parents, heads.kind, heads.role, heads.time)
    return None if took is None else took.seconds


def durations(session: Session) -> list[Took | None]:
    """Give how long each row took, None for those that are no step or of which nothing tells."""
    heads, rows = session.heads, range(len(session))
    kinds, roles = list(map(heads.kind, rows)), list(map(heads.role, rows))
    times = list(map(heads.time, rows))
    looks = kinds.__getitem__, roles.__getitem__, times.__getitem__
    return [_took(row, session.parents, *looks) for row in rows]


def _took(
    row: int,
    parents: Sequence[int],
    kind: Callable[[int], Kind],
    role: Callable[[int], Role | None],
    time: Callable[[int], float | None],
) -> Took | None:
    is_tool = kind(row) is Kind.TOOL_RESULT and role(row) is not None
    if not is_tool and not is_answer(kind(row), role(row)):
        return None
    beside: list[int] = []
    began, end = parents[row], time(row)
    while is_tool and began != NO_ROW and kind(began) is Kind.TOOL_RESULT and role(began):
        if len(beside) == PARALLEL_CALLS:
            break
        beside.append(began)
        began = parents[began]
    begin = None if began == NO_ROW else time(began)
    if begin is None or end is None or end < begin:
        return None
    ended = (known for each in beside if (known := time(each)) is not None)
    return Took(end - begin, end - min(max((begin, *ended)), end), is_tool)
