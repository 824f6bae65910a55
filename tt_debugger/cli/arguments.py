"""What commands have in common: the LOCATION argument, `--json`, and opening what they name."""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

import click

from tt_debugger.cli import output
from tt_debugger.core.refs import Fragment, is_ref, parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, UsageError
from tt_debugger.opening import exists, split_location
from tt_debugger.storage.map_files import MAP
from tt_debugger.storage.stdin import STDIN

_SHIELD = "\0"
"""What no argument that a program is given can hold."""


def unshielded(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Give a location as it was typed: the callback of every argument that is one."""
    return value and value.removeprefix(_SHIELD)


location = click.argument("location", metavar="LOCATION[#REF]", callback=unshielded)
whole_location = click.argument("location", metavar="LOCATION[#SESSION:]", callback=unshielded)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")


def with_map(command: click.Command) -> click.Command:
    """Let a command that takes a location take a map for it too."""
    takes_location = any(each.callback is unshielded for each in command.params)
    if takes_location and not any("--map" in each.opts for each in command.params):
        command.params.append(map_option())
    return command


def map_option() -> click.Option:
    """Make the option --map, which holds for as long as its command runs."""
    return click.Option(
        ["--map"],
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        expose_value=False,
        callback=_use_map,
        help="Take the table and columns of checkpoints from a TOML file.",
    )


def _use_map(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        before = os.environ.get(MAP)
        os.environ[MAP] = value
        context.call_on_close(partial(_put_back, before))


def _put_back(before: str | None) -> None:
    os.environ.pop(MAP, None)
    if before is not None:
        os.environ[MAP] = before


def shielded(arguments: Sequence[str]) -> list[str]:
    """Keep stdin with a ref, such as -#root, from being taken for an option."""
    return [f"{_SHIELD}{each}" if each.startswith(f"{STDIN}#") else each for each in arguments]


def located(text: str) -> tuple[str, Fragment]:
    """Split LOCATION[#FRAGMENT]; a location that is no path may be the id of a session.

    Raises AmbiguousRefError where several sessions have it, CannotReadError where none has.
    """
    path, fragment = split_location(text)
    if exists(path):
        return path, fragment
    # Only who gives an id pays for the search.
    from tt_debugger.discovery.naming import may_be_id, session_named

    if not may_be_id(path):
        return path, fragment
    named = session_named(path)
    if named is None:
        raise CannotReadError(
            f"cannot read {path}: there is no such file, and no session whose id begins so",
            "`ttdbg ls` lists the sessions that are found; an id needs 4 letters at least",
        )
    if named.session is None:
        return named.location, fragment
    if fragment.session is not None:
        raise UsageError(f"{path} is a session already", f"leave {fragment.session}: out")
    return named.location, Fragment(named.session, fragment.points)


@contextmanager
def opened(text: str) -> Generator[tuple[Debugger, Fragment]]:
    """Open a location; say on stderr what reading it found."""
    path, fragment = located(text)
    with Debugger.open(path, fragment.session) as debugger:
        _narrate(debugger, path)
        yield debugger, fragment


@contextmanager
def two_points(a: str, b: str) -> Generator[tuple[tuple[Debugger, int], tuple[Debugger, int]]]:
    """Open two points; a B that begins with # is one in the location of A.

    Two points of one session are given with one debugger, so that they stand in one tree.
    """
    path, fragment = located(a)
    _refuse_bare_ref(b)
    other_path, other = (path, parse_fragment(b[1:])) if b[:1] == "#" else located(b)
    with ExitStack() as stack:
        mine = theirs = _opened(stack, path, fragment.session)
        if (other_path, other.session) != (path, fragment.session):
            theirs = _opened(stack, other_path, other.session)
            if other_path == path and theirs.session.id == mine.session.id:
                theirs = mine
        yield (mine, mine.point(fragment)), (theirs, theirs.point(other))


def _refuse_bare_ref(text: str) -> None:
    """Refuse a ref that lacks its #, so that it reads as the name of a file that is not there."""
    if "#" not in text and not exists(text) and is_ref(text):
        raise CannotReadError(
            f"cannot read {text}: there is no such file",
            f"did you mean {shlex.quote(f'#{text}')}?",
        )


def _opened(stack: ExitStack, path: str, session: str | None) -> Debugger:
    debugger = stack.enter_context(Debugger.open(path, session))
    _narrate(debugger, path)
    return debugger


def _narrate(debugger: Debugger, path: str) -> None:
    output.narrate_others(debugger.others, path)
    output.narrate_findings(debugger.session.findings, path)


def no_point(fragment: Fragment) -> None:
    """Refuse a point where a whole session is asked for."""
    if fragment.points:
        raise UsageError(
            "this command takes a whole session, not a point in it", "leave out what follows the #"
        )
