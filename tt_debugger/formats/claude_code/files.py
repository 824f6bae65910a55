"""Files as a transcript knows them: what their tools say of them before and after.

What a command of a shell did to a file is in no transcript, so this is what the agent knew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none


def contents_after(
    outcome: Mapping[str, Any], known: Mapping[str, str | None]
) -> Iterator[tuple[str, str | None]]:
    """Give the paths that a tool read or wrote, and what stands there after it.

    None where that cannot be told. `known` has the contents as far as they are known before.
    """
    read = as_map(outcome.get("file"))
    path = text_or_none(outcome.get("filePath")) or text_or_none(read.get("filePath"))
    if path is None:
        return
    if read:
        content = text_or_none(read.get("content"))
        if content is not None and _is_whole(read) and known.get(path) != content:
            yield path, content
    elif isinstance(outcome.get("content"), str):
        yield path, outcome["content"]
    elif "structuredPatch" in outcome or "newString" in outcome:
        # Several edits at once call it otherwise.
        before = outcome.get("originalFile", outcome.get("originalFileContents"))
        yield path, _edited(outcome, before if isinstance(before, str) else known.get(path))


def _is_whole(read: Mapping[str, Any]) -> bool:
    """Tell whether a file was read to its end from its beginning."""
    start, lines, of = (read.get(key) for key in ("startLine", "numLines", "totalLines"))
    return start in (None, 0, 1) and (lines == of or of is None)


def _edited(outcome: Mapping[str, Any], before: str | None) -> str | None:
    if before is None:
        return None
    old, new = text_or_none(outcome.get("oldString")), text_or_none(outcome.get("newString"))
    if old and new is not None and old in before:
        return before.replace(old, new, -1 if outcome.get("replaceAll") is True else 1)
    return _patched(before, as_list(outcome.get("structuredPatch")))


_NO_END = "\\"
"""With what a note begins that the line before it, the last of its file, has no end."""


def _ends(told: Sequence[str], sign: str) -> bool:
    """Tell whether the last line of one side of a hunk has an end."""
    return not any(
        note.startswith(_NO_END) and line[:1] in (" ", sign) for line, note in pairwise(told)
    )


def _patched(before: str, hunks: list[Any]) -> str | None:
    """Apply hunks of a patch to a text, None where they do not fit or there are none."""
    lines = before.split("\n")
    shift = 0
    for hunk in map(as_map, hunks):
        begin = hunk.get("oldStart")
        told = [each for each in as_list(hunk.get("lines")) if isinstance(each, str)]
        had_end, has_end = _ends(told, "-"), _ends(told, "+")
        told = [each for each in told if not each.startswith(_NO_END)]
        old = [each[1:] for each in told if each[:1] in (" ", "-")]
        new = [each[1:] for each in told if each[:1] in (" ", "+")]
        if not isinstance(begin, int):
            return None
        place = max(begin - 1, 0) + shift
        if lines[place : place + len(old)] != old:
            return None
        lines[place : place + len(old)] = new
        shift += len(new) - len(old)
        if has_end and not had_end:
            lines.append("")
        elif had_end and not has_end and lines[-1:] == [""]:
            lines.pop()
    return "\n".join(lines) if hunks else None
