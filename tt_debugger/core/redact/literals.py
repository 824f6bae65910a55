"""Literals: many of them as one pattern that is quick to try."""

from __future__ import annotations

import re
from collections.abc import Sequence


def any_of(literals: Sequence[str]) -> str:
    """Give a pattern that is one of the literals, branching by one character after the other.

    A plain list of alternatives is tried one by one at each character.
    """
    if len(literals) == 1:
        return re.escape(literals[0])
    firsts = sorted({each[0] for each in literals})
    branches = [
        re.escape(first) + any_of([each[1:] for each in literals if each[0] == first])
        for first in firsts
    ]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
