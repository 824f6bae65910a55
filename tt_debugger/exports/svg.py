"""A picture: the lines of a transcript, a state or a diff, as far as a picture can hold them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tt_debugger.core.diff.comparing import compare
from tt_debugger.core.diff.meaning import json_of
from tt_debugger.core.text import counted, safe_line, safe_text
from tt_debugger.exports.gate import Passed, Redaction
from tt_debugger.exports.plain import said_lines
from tt_debugger.exports.subjects import StateAt, Transcript, TwoStates
from tt_debugger.exports.telling import (
    counts_told,
    joined,
    redaction_told,
    settings_told,
    turn_facts,
    turn_title,
)
from tt_debugger.exports.unified import unified_lines
from tt_debugger.version import __version__

MOST_LINES = 100
WIDTH = 110
"""Cells of a line; a longer one is cut."""

_TEXT, _GROUND = (200, 211, 229), (20, 24, 31)
_THEME = TerminalTheme(_GROUND, _TEXT, [_TEXT] * 8, [_TEXT] * 8)
_STYLES = {
    "+": Style(color="#6cb6ff", bgcolor="#182a3f"),
    "-": Style(color="#f0a45d", bgcolor="#33271b"),
    "@": Style(color="#8a97ae"),
    "=": Style(color="#b79cf2", bold=True),
}
_DIM = Style(color="#8a97ae")
_TITLE = Style(color="#6cb6ff", bold=True)

# A font of the network has no place here; {lines} and the other names are Rich's.
_PICTURE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
font-family: ui-monospace, Menlo, Consolas, monospace;
font-size: {char_height}px;
line-height: {line_height}px;
font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def transcript(passed: Passed[Transcript]) -> str:
    """Give the picture of a transcript."""
    return _picture("ttdbg transcript", _transcript_lines(passed.subject), passed.redaction)


def state(passed: Passed[StateAt]) -> str:
    """Give the picture of a state."""
    lines = safe_text(json_of(passed.subject.state)).split("\n")
    return _picture("ttdbg state", map(Text, lines), passed.redaction)


def difference(passed: Passed[TwoStates]) -> str:
    """Give the picture of a diff."""
    subject = passed.subject
    comparison = compare(subject.old, subject.new, mask=subject.is_masked)
    counts = joined(f"{sign} {words}" for sign, words in counts_told(comparison.counts))
    head = [
        Text(safe_line(f"--- {subject.a.ref}"), _STYLES["-"]),
        Text(safe_line(f"+++ {subject.b.ref}"), _STYLES["+"]),
        Text(counts or "Nothing differs.", _DIM),
    ]
    lines = (_coloured(line) for line in unified_lines(comparison))
    return _picture("ttdbg diff", (*head, *lines), passed.redaction)


def _transcript_lines(subject: Transcript) -> Iterator[Text]:
    for turn in subject.turns:
        facts = joined(
            (*turn_facts(turn), *(f"{path} = {value}" for path, value in settings_told(turn)))
        )
        yield Text.assemble((turn_title(turn), _TITLE), (f"  {facts}", _DIM))
        for message in turn.messages:
            yield from map(Text, said_lines(message))


def _coloured(line: str) -> Text:
    text = Text(line, _STYLES.get(line[:1], ""))
    if line.startswith(" =="):
        text.stylize(_STYLES["="])
    return text


def _picture(title: str, lines: Iterable[Text], redaction: Redaction) -> str:
    rest = iter(lines)
    shown = list(islice(rest, MOST_LINES))
    more = sum(1 for _ in rest)
    if more:
        shown.append(Text(f"{counted(more, 'more line')} not in this picture", _DIM))
    shown.append(Text(f"{redaction_told(redaction)} ttdbg {__version__}", _DIM))
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        _environ={},
    )
    for line in shown:
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True, highlight=False)
    return console.export_svg(title=title, theme=_THEME, code_format=_PICTURE, unique_id="ttdbg")
