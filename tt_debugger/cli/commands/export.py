"""`ttdbg export`: a transcript, a state or a diff as a file for others, without secrets."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import opened, two_points, unshielded
from tt_debugger.errors import UsageError
from tt_debugger.exports.forms import FORMS, What

if TYPE_CHECKING:
    from tt_debugger.exports.gate import Gate, Page
    from tt_debugger.exports.subjects import At

CONFIRMATION = "share secrets"
_POINT = "LOCATION[#REF]"


@click.command("export")
@click.argument("a", metavar=_POINT, callback=unshielded)
@click.argument("b", metavar=f"[{_POINT}]", required=False, callback=unshielded)
@click.option("--format", "form", type=click.Choice(tuple(FORMS)), help="What to write.")
@click.option("--state", is_flag=True, help="The state at the point, not the way to it.")
@click.option("--bundle", metavar="FILE", help="All about it in one file that ttdbg opens again.")
@click.option("--output", "target", metavar="FILE", help="Where to write it, if not on stdout.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option("--no-mask", is_flag=True, help="Tell what differs in any two runs too.")
@click.option("--structure-only", is_flag=True, help="Leave out all content.")
@click.option("--report", is_flag=True, help="Say of each thing that was redacted where it was.")
@click.option("--no-redact", is_flag=True, help="Leave secrets in. Asks first.")
@click.option("--share-secrets", is_flag=True, help="With --no-redact: do not ask.")
def command(  # noqa: PLR0913 - one for each option
    *,
    a: str,
    b: str | None,
    form: str | None,
    state: bool,
    bundle: str | None,
    target: str | None,
    force: bool,
    no_mask: bool,
    structure_only: bool,
    report: bool,
    no_redact: bool,
    share_secrets: bool,
) -> None:
    """Export a transcript, a state or a diff, without secrets.

    One point is the transcript of the branch that ends there, or with --state the state; two
    points are what differs between them. A second one that begins with # is a ref in the
    location of the first. Secrets, and what tells who exports, are replaced.
    """
    if state and (b or bundle):
        raise UsageError("--state is of one point")
    if bundle and (form or target):
        raise UsageError("a bundle is a form of its own, and a file", "leave out the others")
    if structure_only and no_redact:
        raise UsageError("--structure-only and --no-redact exclude each other")
    if share_secrets and not no_redact:
        raise UsageError("--share-secrets is an answer to --no-redact alone")
    if no_redact:
        _confirm(is_sure=share_secrets)
    from tt_debugger.exports.exporting import exported

    with _points(a, b) as points:
        path = _free_path(bundle or target, points, force=force)
        gate = _gate(redacts=not no_redact, structure_only=structure_only)
        what = _what(points, state=state, bundle=bool(bundle))
        page = exported(points, what, form or _form_by_name(target), gate, mask=not no_mask)
    _write(page, path, force=force, report=report)


def _what(points: Sequence[At], *, state: bool, bundle: bool) -> What:
    """Give what the options and the number of points ask for."""
    if bundle:
        return What.BUNDLE
    if state:
        return What.STATE
    return What.TRANSCRIPT if len(points) == 1 else What.DIFF


@contextmanager
def _points(a: str, b: str | None) -> Generator[list[At]]:
    """Open what one or two locations name."""
    from tt_debugger.exports.subjects import At

    if b is None:
        with opened(a) as (debugger, fragment):
            yield [At(debugger, debugger.point(fragment))]
    else:
        with two_points(a, b) as points:
            yield [At(*each) for each in points]


def _confirm(*, is_sure: bool) -> None:
    """Let only who means it share secrets."""
    if is_sure:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "--no-redact asks first, and there is no terminal to ask on",
            "if you mean it, add --share-secrets",
        )
    typed = click.prompt(
        f"The export will hold every secret of the session. Type `{CONFIRMATION}` to go on",
        err=True,
        default="",
        show_default=False,
    )
    if typed.strip() != CONFIRMATION:
        raise UsageError("not confirmed: nothing was written")


def _free_path(name: str | None, points: list[At], *, force: bool) -> Path | None:
    """Give the file to write, None for stdout. An original is never written over."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{path} is a folder", "name a file in it")
    if not path.exists():
        return path
    if not path.is_file():
        raise UsageError(
            f"{path} is no file that could be replaced", "leave out --output to write to stdout"
        )
    for point in points:
        original = Path(point.source.location)
        if original.exists() and original.samefile(path):
            raise UsageError(f"{path} is the session itself, which is never written over")
    if not force:
        raise UsageError(f"{path} is there already", "choose another name, or --force")
    return path


def _gate(*, redacts: bool, structure_only: bool) -> Gate:
    from tt_debugger.exports.gate import Gate, refusing
    from tt_debugger.exports.owner import owner_here

    if not redacts:
        return Gate(None)
    with refusing():
        return Gate.redacting(owner_here(), structure_only=structure_only)


def _form_by_name(target: str | None) -> str:
    """Give the form that the name of a file asks for, Markdown if it names none."""
    fitting = [form for form in FORMS.values() if target and target.endswith(form.ending)]
    return max(fitting, key=lambda form: len(form.ending)).name if fitting else "markdown"


def _write(page: Page, path: Path | None, *, force: bool, report: bool) -> None:
    """Write a page; say on stderr what was replaced in it, never a value."""
    from tt_debugger.exports.telling import redaction_told
    from tt_debugger.exports.writing import write

    if path is None:
        output.plain_lines([page.text.removesuffix("\n")])
    else:
        write(path, page.text, force=force)
        output.narrate(f"{path}: {len(page.text.encode()):,} bytes")
    output.narrate(redaction_told(page.redaction))
    if report:
        for hit in page.hits:
            output.narrate(f"{hit.rule}  {hit.place}  {hit.placeholder}")
