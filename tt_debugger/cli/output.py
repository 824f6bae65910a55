"""The only module that writes: data to stdout, narration to stderr, errors with their hint.

On a terminal, data is coloured and fitted to its width; on a pipe it holds no escape byte. What
comes from content is made safe before it gets here, and JSON is escaped here.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec

from tt_debugger.core.findings import Finding, counted_by_severity
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import acting, safe_line
from tt_debugger.errors import CannotReadError, TtdbgError
from tt_debugger.store import Progress, unheard

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.views.palette import Glyphs, Palette

_NOT_ASCII = re.compile(r"[^\0-\x7f]")
MOST_NAMED = 5
"""Sessions that are named in one line."""
_WITH_TWINS = "ttdbg.twins"
_TWINS = {"·": "-", "…": "...", "⟨": "<", "⟩": ">"}
_SURROGATE = re.compile("[\ud800-\udfff]")


def prepare_streams() -> None:
    """Make both streams take any text: what they cannot encode is escaped, closed ones drop it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.BytesIO(), "utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_WITH_TWINS)


def _with_twins(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write what an encoding lacks: our own signs by their ASCII twins, the rest escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    escaped = "".join(_TWINS.get(each) or ascii(each)[1:-1] for each in missing)
    return escaped, error.end


codecs.register_error(_WITH_TWINS, _with_twins)


def give_up_stdout(error: OSError | None = None) -> int:
    """Stop writing to stdout: in peace when its reader has seen enough, else for this error."""
    # Python flushes once more when it exits, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error is None:
        return 0
    return fail(CannotReadError(f"cannot write the answer: {error.strerror or error}"))


def json_line(value: Any) -> None:
    """Write a value as one line of JSON."""
    sys.stdout.write(_safe_json(value))
    sys.stdout.write("\n")


def json_stream(head: dict[str, Any], key: str, items: Iterable[Any]) -> None:
    """Write an object as one line of JSON, item by item of the list that is its last value."""
    sys.stdout.write(f"{_safe_json(head)[:-1]},{_safe_json(key)}:[")
    for place, item in enumerate(items):
        sys.stdout.write("," if place else "")
        sys.stdout.write(_safe_json(item))
    sys.stdout.write("]}\n")


def encoded(value: Any) -> msgspec.Raw:
    """Give a value as what stands for it in JSON, so that it is kept while others write to it."""
    return msgspec.Raw(_json_text(value).encode())


def _safe_json(value: Any) -> str:
    text = _json_text(value)
    # JSON leaves these raw inside strings, but a terminal obeys or hides them.
    escapes = {ord(each): _escaped(each) for each in acting(text)}
    if escapes:  # to translate takes seconds for a text of many megabytes, whatever is in it
        text = text.translate(escapes)
    if not _is_unicode(sys.stdout.encoding):
        text = _NOT_ASCII.sub(lambda found: _escaped(found[0]), text)
    return text


def _json_text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # A name of a file that is no UTF-8 has lone surrogates in Python.
        import json

        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").lower().startswith("utf")


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def lines(texts: Iterable[Text]) -> None:
    """Write lines: with colours on a terminal, plain on a pipe."""
    if not is_terminal():
        plain_lines(text.plain for text in texts)
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for text in texts:
        console.print(text)


def paged(texts: Iterable[Text]) -> None:
    """Write lines: on a terminal through the user's pager, where there is more than fits it."""
    if not is_terminal():
        lines(texts)
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True, width=width())
    # So that `less` shows colours, and ends at once where everything fits the screen.
    os.environ.setdefault("LESS", "-FRX")

    def drawn() -> Iterator[str]:
        for text in texts:
            with console.capture() as capture:
                console.print(text)
            yield capture.get()

    click.echo_via_pager(drawn(), color=True)


def plain_lines(texts: Iterable[str]) -> None:
    """Write lines of text alone."""
    for text in texts:
        sys.stdout.write(text + "\n")


def flush() -> None:
    """Let whoever reads have all that is written so far."""
    sys.stdout.flush()


def is_terminal() -> bool:
    """Tell whether stdout is a terminal that understands escapes."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def width() -> int | None:
    """Give the columns of the terminal, None on a pipe."""
    if not is_terminal():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def palette() -> Palette:
    """Give the palette of the terminal: the sixteen colours of its own theme."""
    from tt_debugger.views.palette import ANSI

    return ANSI


def glyphs() -> Glyphs:
    """Give the signs that stdout can encode."""
    from tt_debugger.views.palette import ASCII, UNICODE

    try:
        "●◂◈⚑✓┬".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def narrate(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"{safe_line(text)}\n")


@contextmanager
def progress(what: str) -> Generator[Progress]:
    """Tell how much is done, on stderr, if that is a terminal; nothing of it stays there."""
    told = -1

    def tell(done: int, of: int) -> None:
        nonlocal told
        percent = 100 * done // max(of, 1)
        if percent != told:
            told = percent
            sys.stderr.write(f"\r{what} {percent} %")
            sys.stderr.flush()

    if not sys.stderr.isatty():
        yield unheard
        return
    try:
        yield tell
    finally:
        sys.stderr.write("\r" + " " * len(f"{what} 100 %") + "\r")


def narrate_others(others: Sequence[str], location: str) -> None:
    """Say on stderr which other sessions there are, where the newest one was taken."""
    if others:
        named = ", ".join(map(quoted, others[-MOST_NAMED:][::-1]))
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        narrate(f"{location}: the newest of {len(others) + 1} sessions; others: {named}{more}")


def narrate_findings(findings: tuple[Finding, ...], location: str) -> None:
    """Say on stderr, in one line, what reading found."""
    if findings:
        narrate(f"{location}: {counted_by_severity(findings)}; see `ttdbg doctor`")


def fail(error: TtdbgError) -> int:
    """Say what went wrong and what to do; give the exit code."""
    narrate(f"ttdbg: {error.message}")
    if error.hint:
        narrate(f"hint: {error.hint}")
    return error.exit_code
