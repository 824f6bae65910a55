"""Text as a condition: what is new in a checkpoint, looked through by a regular expression."""

from __future__ import annotations

import re
import warnings

from tt_debugger.core.changes import Append, Put, Snapshot, Splice
from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.forms import Atom
from tt_debugger.core.conditions.words import word_in_texts
from tt_debugger.core.model import Kind
from tt_debugger.core.search import Hit, Regex

_WHOLE_STATES = frozenset((Kind.SUPER_STEP, Kind.INTERRUPT, Kind.SNAPSHOT, Kind.COMMIT, Kind.TURN))
"""Kinds of checkpoints whose record repeats what was said before."""
_ESCAPES = re.compile(r"\\.", re.DOTALL)


def text(pattern: str) -> Atom:
    """Ask for checkpoints that say what a regular expression matches.

    Without capitals it ignores case. Raises ValueError where it is none. What a checkpoint says is
    its record, or where records are whole states what is new in it.
    """
    plain = _ESCAPES.sub("", pattern)
    with warnings.catch_warnings():
        # What may mean something else one day still means what it says.
        warnings.simplefilter("ignore")
        ignores_case = plain == plain.lower()
        expression = Regex.parse(pattern, ignores_case=ignores_case)
    word = word_in_texts(pattern, ignores_case=ignores_case)

    def excerpt(at: At) -> Hit | None:
        is_whole_state = at.session.heads.kind(at.row) in _WHOLE_STATES
        if not (is_whole_state or word is None or at.may_say(word)):
            return None
        said = _written(at) if is_whole_state else (at.body(),)
        return next(filter(None, (expression.in_body(at.row, each) for each in said)), None)

    return Atom(lambda at: excerpt(at) is not None, needs_changes=True, excerpt=excerpt)


def _written(at: At) -> list[object]:
    values: list[object] = []
    for change in at.changes:
        match change:
            case Append(value=value) | Put(value=value) | Snapshot(value=value):
                values.append(value)
            case Splice(values=several):
                values += several
            case _:
                pass
    return values
