"""What was probably meant by arguments that make no sense, as a hint that can be typed."""

from __future__ import annotations

import shlex

from tt_debugger.cli.arguments import located
from tt_debugger.core.paths import foreign_path, jmespath_of
from tt_debugger.errors import CannotReadError, UsageError
from tt_debugger.opening import exists


def refuse_swapped(command: str, location: str, text: str | None) -> None:
    """Refuse a file in the place of what is asked about it, and that in the place of the file."""
    file = (text or "").partition("#")[0]
    if text is None or exists(location) or not exists(file):
        return
    try:
        is_session = exists(located(location)[0])
    except CannotReadError:
        is_session = False
    if not is_session:
        raise UsageError(
            f"{file} is a file, and {location} is none: the LOCATION comes first",
            f"ttdbg {command} {shlex.join((text, location))}",
        )


def path_meant(text: str) -> str | None:
    """Give the hint for a text that is no JMESPath, where it is a path in another language."""
    path = foreign_path(text)
    if path is None:
        return None
    meant = jmespath_of(path) or "@"
    return None if meant == text else f"did you mean {shlex.quote(meant)}?"
