"""Trailers: the lines `Key: value` at the end of a commit's message, found as git finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tt_debugger.core.json import as_list

_TRAILER = re.compile(r"([A-Za-z0-9-]+)[ \t]*:(.*)")
_GITS_OWN = ("Signed-off-by: ", "(cherry picked from commit ")
"""How lines begin that git itself adds: beside one, others need not be trailers."""
_OTHERS_FOR_EACH = 3


def trailers_of(message: str) -> dict[str, str | list[str]]:
    """Give the trailers of a message; a key that comes several times has a list of values.

    They are the last paragraph, if that is not the first, and all of its lines are trailers or a
    quarter of them, one of git's own among these. A line that begins with a space goes on with
    the one before.
    """
    found: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for key, value in _pairs(_block(message.split("\n"))):
        # Keys are one whatever the case; the first spelling is shown.
        found.setdefault(spelled.setdefault(key.lower(), key), []).append(value)
    return {key: values if len(values) > 1 else values[0] for key, values in found.items()}


def values_of(trailers: Mapping[str, str | list[str]], key: str) -> list[str]:
    """Give the values of a trailer, in order; its key may be spelled in any case."""
    for name, value in trailers.items():
        if name.lower() == key.lower():
            return as_list(value) if isinstance(value, list) else [value]
    return []


def _block(lines: Sequence[str]) -> Sequence[str]:
    """Give the lines of the paragraph that holds the trailers, none where there is none."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    begin = end
    while begin and lines[begin - 1].strip():
        begin -= 1
    if not any(each.strip() for each in lines[:begin]):
        return ()
    block = [each for each in lines[begin:end] if not each.startswith("#")]
    has_own, trailers, others, going_on = False, 0, 0, 0
    # Backwards: what goes on belongs to the line above it, be it a trailer or not.
    for line in reversed(block):
        if line.startswith(_GITS_OWN):
            has_own, trailers, going_on = True, trailers + 1, 0
        elif line[0].isspace():
            going_on += 1
        elif _TRAILER.match(line):
            trailers, going_on = trailers + 1, 0
        else:
            others, going_on = others + 1 + going_on, 0
    others += going_on
    is_block = (trailers and not others) or (has_own and trailers * _OTHERS_FOR_EACH >= others)
    return block if is_block else ()


def _pairs(block: Sequence[str]) -> Iterator[tuple[str, str]]:
    pairs: list[tuple[str, list[str]]] = []
    goes_on = False
    for line in block:
        match = _TRAILER.match(line)
        if match is not None:
            pairs.append((match[1], [match[2].strip()]))
        elif goes_on and line[0].isspace():
            pairs[-1][1].append(line.strip())
            continue
        goes_on = match is not None
    return ((key, " ".join(lines).strip()) for key, lines in pairs)
