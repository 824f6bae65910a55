"""The `ttdbg` command: finds the file of a command, runs it, and maps errors to exit codes."""

from __future__ import annotations

import atexit
import importlib
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import click

from tt_debugger.cli import commands, output
from tt_debugger.cli.arguments import map_option, shielded, with_map
from tt_debugger.errors import TtdbgError, UsageError
from tt_debugger.opening import exists
from tt_debugger.version import __version__

PROGRAM = "ttdbg"
COMPLETION = "_TTDBG_COMPLETE"
INTERRUPTED = 130


class _Commands(click.Group):
    """The commands, each loaded from its own file when it is first needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (path.stem for path in Path(commands.__path__[0]).glob("*.py"))
        return sorted(name for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return with_map(importlib.import_module(f"{commands.__name__}.{cmd_name}").command)


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    params=[map_option()],
)
@click.version_option(__version__, prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Time-travel debugging of AI-agent sessions.

    Open what an agent left behind, see the tree of everything that was tried, and the exact
    state at every checkpoint.

    Without a command, the sessions that agents keep and those in this folder are shown to choose
    from.

    A LOCATION is the path of a session file, a folder that holds sessions, the id of a session
    that its agent keeps or the beginning of it, or - for what is piped in. LOCATION#REF names a
    point in it: @ (the active leaf), root, an id or its unique prefix, row=14, label=NAME,
    line=7, time=2026-01-31T12:00Z; ~3 goes three parents up, +3 three children down, A..B is a
    range.
    """
    if ctx.invoked_subcommand is not None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        importlib.import_module(f"{commands.__name__}.open").browse()
    else:
        click.echo(ctx.get_help(), err=True)
        output.narrate("without a terminal there is nothing to choose from; see `ttdbg ls`")
        ctx.exit(UsageError.exit_code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; give the exit code."""
    output.prepare_streams()
    _clean_up_when_ended()
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except TtdbgError as error:
        code = output.fail(error)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        hint = _hint_for_path(error) or _hint_for_condition(error) or f"see `{command} --help`"
        code = output.fail(UsageError(error.format_message(), hint))
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        code = output.give_up_stdout()
    except OSError as error:
        code = output.give_up_stdout(error)
    return code


def _clean_up_when_ended() -> None:
    """Let what asks the program to end not keep it from removing its private copies.

    The UI hears these signals in its own way.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    _asked_to_end.append(number)
    sys.exit(128 + number)


def _die_as_asked() -> None:
    """End as what was asked would have ended the program at once."""
    for number in _asked_to_end[:1]:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


_asked_to_end: list[int] = []
# What is registered first is done last.
atexit.register(_die_as_asked)


def _hint_for_path(error: click.UsageError) -> str | None:
    """Give a hint where a path stands in the place of a command."""
    match re.match(r"No such command '(.*)'", error.message):
        case None:
            return None
        case found:
            return f"to open a file: ttdbg open {found[1]}" if exists(found[1]) else None


def _hint_for_condition(error: click.UsageError) -> str | None:
    """Give a hint where a condition stands alone, of a command that takes one by an option."""
    found = re.match(r"Got unexpected extra argument \((.*)\)", error.message, re.DOTALL)
    context = error.ctx
    if found is None or context is None:
        return None
    if not any("--when" in each.opts for each in context.command.params):
        return None
    # Only who is wrong pays for the import.
    from tt_debugger.cli.asked import as_condition

    with context:
        return as_condition(found[1], context.info_name or "", takes_any=True)


def _run(arguments: list[str]) -> int:
    if COMPLETION in os.environ:
        cli.main(prog_name=PROGRAM)  # answers the shell, and exits
    # Not by `cli.main`, which makes an exit with 1 of a broken pipe.
    try:
        with cli.make_context(PROGRAM, shielded(arguments)) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code
    return code if isinstance(code, int) else 0
