"""`ttdbg blame`: which checkpoint last wrote each part of a state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
from tt_debugger.cli.asked import as_condition
from tt_debugger.cli.mistakes import path_meant, refuse_swapped
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.blame import place_in
from tt_debugger.core.history import Watched
from tt_debugger.core.nearby import nearby
from tt_debugger.core.paths import ROOT, Path, foreign_path, pointer, value_at
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.core.blame import StateBlame
    from tt_debugger.core.first_said import FirstSaid, Sought
    from tt_debugger.debugger import Debugger
    from tt_debugger.views.blame import BlameView


@click.command("blame")
@location
@click.argument("path", metavar="[PATH]", required=False)
@click.option("--origin", is_flag=True, help="Where the texts at PATH were first said.")
@json_option
def command(location: str, path: str | None, *, origin: bool, as_json: bool) -> None:
    """Tell which checkpoint last wrote each part of a state.

    PATH is a JSON Pointer, such as /messages/3, or its name in JMESPath, such as usage.cost or
    messages[-1]; without one every leaf of the state is told. Messages that a compaction put are
    marked, those that it brought back with the checkpoint that said them first.

    With --origin each text at PATH is followed back to the first message of the branch in which
    it is to be read. That is a match of texts, not a proof.
    """
    if origin and path is None:
        raise UsageError("--origin needs a PATH", "such as /messages/3/content")
    refuse_swapped("blame", location, path)
    asked = _path(path)
    with opened(location) as (debugger, fragment):
        row = debugger.point(fragment)
        if origin:
            place = _there(debugger.state(row), asked, path)
            told = debugger.first_said(row, place)
            if as_json:
                head = {"ttdbg": VERSION, "path": path}
                output.json_stream(head, "origins", _origins(debugger, told))
            else:
                output.lines(_view(debugger).origins(told))
            return
        blame = debugger.state_blame(row)
        place = _there(blame.state, asked, path)
        if as_json:
            output.json_stream({"ttdbg": VERSION}, "leaves", _answers(debugger, blame, place))
        else:
            output.lines(_lines(debugger, blame, place))


def _path(text: str | None) -> Path:
    """Give the place that a text names. Raises UsageError for an expression that names none."""
    if text is None:
        return ROOT
    try:
        path = Watched.parse(text).path
    except ValueError as error:
        meant = as_condition(text) or path_meant(text)
        raise UsageError(f"{text!r}: {error}", meant) from error
    if path is None:
        # An index from the end is one place in one state, though none to watch.
        path = foreign_path(text)
    if path is None:
        raise UsageError(
            f"{text!r} is no place in a state: only a place was written by somebody",
            as_condition(text)
            or "name one by its keys, such as usage.cost or /messages/3; `ttdbg watch` takes any",
        )
    return path


def _there(state: Any, path: Path, text: str | None) -> Path:
    """Give a path with the keys as the state has them. Raises UsageError where it is not there."""
    try:
        return place_in(state, path)
    except KeyError as error:
        names = [pointer(each) for each in nearby(state, path)]
        hint = f"did you mean {' or '.join(names)}?" if names else as_condition(text or "")
        raise UsageError(f"there is no {text} in the state here", hint) from error


def _view(debugger: Debugger) -> BlameView:
    from tt_debugger.views.blame import BlameView

    return BlameView(
        debugger.session,
        debugger.resolver.short_id,
        output.palette(),
        output.glyphs(),
        output.width(),
    )


def _lines(debugger: Debugger, blame: StateBlame, path: Path) -> Iterator[Text]:
    from tt_debugger.views.blame import Written

    leaves = blame.leaves(path)
    return _view(debugger).lines(
        Written(each, value_at(blame.state, each.path)) for each in leaves
    )


def _answers(debugger: Debugger, blame: StateBlame, path: Path) -> Iterator[dict[str, Any]]:
    ids = debugger.session.ids
    for each in blame.leaves(path):
        yield {
            "path": pointer(each.path),
            "checkpoint": ids[each.row],
            "row": each.row + 1,
            "why": None if each.why is None else str(each.why),
            "said_first": None if each.said is None else ids[each.said],
        }


def _origins(
    debugger: Debugger, told: list[tuple[Sought, FirstSaid | None]]
) -> Iterator[dict[str, Any]]:
    """Give where each text was first said: null for what is too short to tell, or is new."""
    ids = debugger.session.ids
    for sought, said in told:
        yield {
            "path": pointer(sought.path),
            "text": sought.text,
            "too_short": not sought.is_telling,
            "checkpoint": None if said is None else ids[said.row],
            "row": None if said is None else said.row + 1,
            "said_at": None if said is None else pointer(said.path),
            "matched": None if said is None else said.text,
            "whole": said is not None and said.is_whole,
        }
