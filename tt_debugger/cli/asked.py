"""What is asked and cannot be meant so: conditions that are none, and those that hold nowhere."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tt_debugger.cli import output
from tt_debugger.errors import CannotReadError, UsageError

if TYPE_CHECKING:
    from tt_debugger.core.conditions import Condition
    from tt_debugger.debugger import Debugger


def condition_of(text: str) -> Condition:
    """Read what was given with --when. Raises UsageError."""
    # Only who asks for a condition pays for the import.
    from tt_debugger.core.conditions import ConditionError, parse_condition

    try:
        return parse_condition(text)
    except ValueError as error:
        if isinstance(error, ConditionError):
            raise UsageError(f"{text!r}: {error}", error.hint) from error
        is_place = text.startswith("/")
        hint = f"a place is watched without --when: {_command('watch', text)}"
        complaint = f"{text!r} is no condition: {error}"
        raise UsageError(complaint, hint if is_place else None) from error


def as_condition(text: str, command: str = "watch", *, takes_any: bool = False) -> str | None:
    """Give a hint with the command that takes a text as a condition.

    None for what is none, and for JMESPath where that is not asked for too.
    """
    # Only who is wrong pays for the import.
    from tt_debugger.core.conditions import parse_condition

    try:
        is_expression = parse_condition(text).expression is not None
    except ValueError:
        return None
    if is_expression and not takes_any:
        return None
    return f"a condition is given by --when: {_command(command, '--when', text)}"


def _command(name: str, *arguments: str) -> str:
    """Give a command that is asked of the same location as the one that runs."""
    context = click.get_current_context(silent=True)
    location = None if context is None else context.params.get("location")
    return shlex.join(("ttdbg", name, location or "FILE", *arguments))


def narrate_unmet(
    debugger: Debugger,
    condition: Condition,
    path: Sequence[int] | None = None,
    where: str | None = None,
) -> None:
    """Say on stderr why a condition holds nowhere, on a path or in a session, if that is seen."""
    try:
        reasons = debugger.unmet(condition, path)
    except CannotReadError:
        # That is told where the answer is.
        return
    for each in reasons:
        output.narrate(f"hint: {each}" if where is None else f"hint: in {where}: {each}")
