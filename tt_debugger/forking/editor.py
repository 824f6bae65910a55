"""A text that is edited in the editor of whoever sits here."""

from __future__ import annotations

import os
import sys

from tt_debugger.errors import UsageError

_NAMED = "EDITOR names the editor to use"


def edited_outside(text: str, ending: str) -> str | None:
    """Give a text as it is edited in $VISUAL or $EDITOR, None if nothing was saved there.

    Raises UsageError where there is no editor, or it saves what is no text.
    """
    # Only who edits pays for the import.
    import click

    is_named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not is_named and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "an editor needs a terminal, and there is none", "EDITOR names one that does not"
        )
    try:
        edited = click.edit(text, extension=ending)
    except click.ClickException as error:
        raise UsageError(error.message, _NAMED) from error
    except UnicodeError as error:
        raise UsageError(f"what was saved is no text: {error}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"the editor left nothing to read: {error}", _NAMED) from error
    if edited is not None and not text.endswith("\n"):
        # Editors end the last line, and nobody typed that.
        edited = edited.removesuffix("\n")
    return edited
