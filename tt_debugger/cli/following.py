"""Following on the command line: what a session has become, each time that it has changed."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tt_debugger.cli import output
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, UnsupportedError
from tt_debugger.storage.stdin import STDIN
from tt_debugger.storage.watch import Watch

follow_option = click.option(
    "--follow",
    "-f",
    "follows",
    is_flag=True,
    help="Go on with new checkpoints as they are written; Ctrl-C ends it.",
)


def changed_from(debugger: Debugger) -> Iterator[int]:
    """Give, each time that a session has changed, the first row that is to be told now.

    What was told of those before it still holds; of others it is said on stderr that it does not.
    Ends for stdin alone, which is read to its end by now. Raises UnsupportedError.
    """
    location = debugger.location
    output.flush()
    if location == STDIN:
        output.narrate(f"{location} is read to its end, behind which nothing comes")
        return
    if not debugger.can_follow:
        raise UnsupportedError(
            f"sessions of the format {debugger.session.format} cannot be followed",
            "leave out --follow",
        )
    watch = Watch(*debugger.watched)
    try:
        for kept in _changes(debugger, watch):
            yield kept
            output.flush()
    finally:
        watch.stop()


def _changes(debugger: Debugger, watch: Watch) -> Iterator[int]:
    said = ""
    while watch.wait():
        try:
            while (grown := debugger.follow()) is not None:
                if grown.is_anew:
                    _narrate(debugger, "the session was cut or replaced, and is told anew")
                elif grown.kept < len(grown.before):
                    _narrate(debugger, f"what was told from row {grown.kept + 1} on has changed")
                yield grown.kept
        except CannotReadError as error:
            # It may be readable again at the next look.
            if error.message != said:
                said = error.message
                output.narrate(f"ttdbg: {said}")
        else:
            said = ""


def _narrate(debugger: Debugger, what: str) -> None:
    output.narrate(f"{debugger.location}: {what}")
