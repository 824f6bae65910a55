"""The `ttdbg` command: finds the file of a command, runs it, and maps errors to exit codes."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence

import click

from tt_debugger import __version__
from tt_debugger.cli import commands, output
from tt_debugger.errors import TtdbgError

INTERRUPTED = 130


class _Commands(click.Group):
    """The commands, each loaded from its own file when it is first needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return importlib.import_module(f"{commands.__name__}.{cmd_name}").command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ttdbg")
def cli() -> None:
    """Time-travel debugging of AI-agent sessions.

    Open what an agent left behind, see the tree of everything that was tried, and the exact
    state at every checkpoint.

    A LOCATION is the path of a session file. LOCATION#REF names a point in it: @ (the active
    leaf), root, an id or its unique prefix, row=14, label=NAME, line=7, time=2026-01-31T12:00Z;
    ~3 goes three parents up, +3 three children down, A..B is a range.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; give the exit code."""
    try:
        done = cli.main(
            arguments if arguments is None else list(arguments),
            prog_name="ttdbg",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except TtdbgError as error:
        return output.fail(error)
    except click.ClickException as error:
        output.narrate(f"ttdbg: {error.format_message()}")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has seen enough; Python's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return done if isinstance(done, int) else 0
