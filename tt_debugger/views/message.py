"""A message as people read it: what failed first, then what was said, called and answered.

It draws the parts that `core.messages` reads, and the exchanges that bring a call and its result
together. With `is_drawn`, Markdown and code are drawn as such; without it every text stands as it
was written, which is also quicker.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from rich.text import Text

from tt_debugger.core.calls import (
    COMMANDS,
    CONTENTS,
    PATHS,
    TextEdit,
    first_key,
    first_text,
    text_edits,
)
from tt_debugger.core.diff.texts import signed_lines
from tt_debugger.core.inspection import Exchange
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import (
    Call,
    Failure,
    Image,
    Other,
    Part,
    Result,
    Said,
    Section,
    Shell,
    Thought,
    Tool,
    messages_in,
    read_message,
)
from tt_debugger.core.text import counted, safe_line, summary_line
from tt_debugger.views import code, markdown
from tt_debugger.views.code import PIECE, code_lines, language_of, plain_lines
from tt_debugger.views.markdown import markdown_lines
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import duration_text
from tt_debugger.views.values import json_lines

__all__ = ["PIECE", "image_line", "message_lines", "messages_in", "warm_up"]

FOLDED = 20
"""Lines of a result that are shown below its call."""

_LONG_VALUE = 60
_INDENT = "  "
_READERS = frozenset(("read", "view", "cat", "open"))
_WORD = re.compile(r"[A-Z]?[a-z]+")


def message_lines(
    message: dict[str, Any],
    palette: Palette,
    glyphs: Glyphs,
    exchanges: Sequence[Exchange] = (),
    *,
    is_drawn: bool = False,
) -> Iterator[Text]:
    """Give a message of any of the known shapes as lines."""
    reading = read_message(message)
    view = _View(palette, glyphs, exchanges, is_drawn, reading.failed)
    title = Text(safe_line(" · ".join((reading.role, *reading.facts))), palette.dim)
    if reading.failed:
        title = Text.assemble((f"{glyphs.bad} failed  ", palette.bad), title)
    yield title
    yield from view.failed_results(reading.parts)
    # What failed comes first; everything else stands in the order in which it was said.
    parts = sorted(reading.parts, key=lambda each: not _is_failed(each))
    previous: Part | None = None
    for part in parts:
        if previous is not None and not (_is_short(previous) or _is_short(part)):
            yield Text()
        previous = part
        yield from view.lines(part)


def warm_up() -> None:
    """Import what the first message would have to wait for."""
    code.warm_up()
    markdown.warm_up()


def image_line(image: Image) -> str:
    """Give an image as its type, size and hash; the picture itself stays in the file."""
    if image.url:
        return safe_line(f"[image at {summary_line(image.url)}]")
    try:
        decoded = base64.b64decode(image.data, validate=True)
    except ValueError:
        return safe_line(f"[image {image.mime}, not decodable]")
    digest = hashlib.sha256(decoded).hexdigest()[:12]
    return safe_line(f"[image {image.mime}, {len(decoded):,} bytes, sha256 {digest}]")


class _View(NamedTuple):
    """How the parts of one message are drawn."""

    palette: Palette
    glyphs: Glyphs
    exchanges: Sequence[Exchange]
    is_drawn: bool
    is_told: bool
    """Whether the title says already that it failed."""

    def lines(self, part: Part) -> Iterator[Text]:
        shown: Iterable[Text]
        match part:
            case Said(text=text):
                shown = self._said(text)
            case Thought():
                shown = self._thought(part)
            case Failure(text=text):
                shown = plain_lines(text, self.palette.bad)
            case Image():
                shown = (Text(image_line(part), self.palette.dim),)
            case Other(value=value):
                shown = (Text(line, self.palette.dim) for line in _json(value))
            case Section() | Tool():
                shown = self._prompt(part)
            case Shell():
                shown = self._shell(part)
            case Call():
                shown = self._call(part)
            case Result():
                shown = self._result(part)
        yield from shown

    def _thought(self, thought: Thought) -> Iterator[Text]:
        if thought.is_redacted:
            yield Text("(thinking, redacted)", self.palette.dim)
            return
        yield Text("thinking", self.palette.dim)
        yield from plain_lines(thought.text, self.palette.quiet)

    def failed_results(self, parts: Iterable[Part]) -> Iterator[Text]:
        """Give a line for each call that came to nothing: its result stands further down."""
        for exchange in self.exchanges:
            call, result = exchange.call, exchange.result
            if call is None or result is None or not result.failed or call not in parts:
                continue
            name = f"{self.glyphs.bad} {safe_line(call.name)} failed"
            yield Text.assemble((name, self.palette.bad), *self._circumstances(exchange))

    def _said(self, text: str) -> Iterator[Text]:
        if self.is_drawn:
            return markdown_lines(text, self.palette, self.glyphs)
        return plain_lines(text, self.palette.text)

    def _prompt(self, part: Section | Tool) -> Iterator[Text]:
        """Give a part of a system prompt, or a tool that it adds or takes away."""
        palette = self.palette
        if isinstance(part, Section):
            removed = " removed" if not part.text else ""
            yield Text(f"{safe_line(part.name)}:{removed}", palette.dim)
            yield from self._said(part.text) if part.text is not None else ()
            return
        sign, style = ("+", palette.add) if part.is_added else ("-", palette.remove)
        about = safe_line(summary_line(part.about))
        name = (f"{sign} tool {safe_line(part.name)}", style)
        yield Text.assemble(name, f"  {about}" if about else "")

    def _shell(self, shell: Shell) -> Iterator[Text]:
        yield from self._command(shell.command)
        if shell.failure:
            yield Text(f"{self.glyphs.bad} {safe_line(shell.failure)}", self.palette.bad)
        if shell.output:
            yield from plain_lines(shell.output, self.palette.text)

    def _command(self, command: str) -> Iterator[Text]:
        lines = code_lines(command, self.palette, "bash" if self.is_drawn else "")
        if not self.is_drawn:
            lines = plain_lines(command, self.palette.text)
        sign = "$ "
        for line in lines:
            yield Text.assemble((sign, self.palette.dim), line)
            sign = _INDENT

    def _call(self, call: Call) -> Iterator[Text]:
        yield self._call_title(call, f"{_INDENT}{safe_line(call.id)}" if call.id else "")
        yield from _indented(self._arguments(call))
        for exchange in self.exchanges:
            if exchange.call == call:
                yield from _indented(self._folded_result(exchange))
                return

    def _call_title(self, call: Call, more: str) -> Text:
        path = first_text(as_map(call.arguments), PATHS)
        return Text.assemble(
            (f"{self.glyphs.call} ", self.palette.good),
            (safe_line(call.name), self.palette.strong),
            (f"{_INDENT}{safe_line(path)}" if path else "", self.palette.accent),
            (more, self.palette.dim),
        )

    def _arguments(self, call: Call) -> Iterator[Text]:
        """Give the arguments, each as what it is; the path stands in the title."""
        rest = dict(as_map(call.arguments))
        if not rest and call.arguments not in (None, {}):
            rest = {"arguments": call.arguments}
        path = first_text(rest, PATHS)
        shown: list[Iterator[Text]] = []
        if path:
            edits, rest = text_edits(rest)
            rest = {key: value for key, value in rest.items() if value is not path}
            shown += self._edits(edits)
            written = first_key(rest, CONTENTS)
            if written:
                shown.append(self._file(rest.pop(written), path))
        else:
            command = first_key(rest, COMMANDS)
            if command:
                shown.append(self._command(rest.pop(command)))
        yield from chain.from_iterable(shown)
        yield from self._members(rest.items())

    def _edits(self, edits: Sequence[TextEdit]) -> Iterator[Iterator[Text]]:
        """Give each edit as a difference."""
        for number, edit in enumerate(edits, 1):
            if len(edits) > 1:
                yield iter((Text(f"edit {number}:", self.palette.dim),))
            yield self._difference(edit.old, edit.new)
            if edit.rest:
                yield self._members(edit.rest.items())

    def _difference(self, old: str, new: str) -> Iterator[Text]:
        for sign, line in signed_lines(old, new):
            style = {"-": self.palette.remove, "+": self.palette.add}.get(sign, self.palette.dim)
            yield from plain_lines(f"{sign} {line}", style)

    def _file(self, text: str, path: str) -> Iterator[Text]:
        bar = (f"{self.glyphs.bar} ", self.palette.dim)
        for line in self._code(text.removesuffix("\n"), path):
            yield Text.assemble(bar, line)

    def _code(self, text: str, path: str) -> Iterator[Text]:
        language = language_of(path) if self.is_drawn else ""
        if language:
            return code_lines(text, self.palette, language)
        return plain_lines(text, self.palette.text)

    def _members(self, members: Iterable[tuple[Any, Any]], indent: str = "") -> Iterator[Text]:
        """Give named values, a line each; texts of several lines and containers below their name.

        What is nested deeper than anyone reads is JSON.
        """
        palette = self.palette
        for key, value in members:
            name = f"{indent}{safe_line(str(key))}:"
            is_block = isinstance(value, str) and ("\n" in value or len(value) > _LONG_VALUE)
            inside = list(as_map(value).items()) or list(enumerate(as_list(value)))
            if is_block or inside:
                yield Text(name, palette.dim)
            if is_block:
                yield from _indented(plain_lines(value, palette.text), f"{indent}{_INDENT}")
            elif inside and len(indent) < 40:  # noqa: PLR2004 - as deep as fits beside a text
                yield from self._members(inside, f"{indent}{_INDENT}")
            elif inside:
                yield from _indented(map(Text, _json(value)), f"{indent}{_INDENT}")
            else:
                shown = value if isinstance(value, str) else next(_json(value))
                yield Text.assemble((f"{name} ", palette.dim), safe_line(shown))

    def _folded_result(self, exchange: Exchange) -> Iterator[Text]:
        result, row = exchange.result, exchange.result_row
        yield self._outcome(exchange)
        if result is None or row is None:
            return
        path = _path_read(exchange.call)
        left = FOLDED
        for part in result.parts:
            if not left:
                yield self._more("more parts", row)
                return
            if not isinstance(part, Said):
                yield from self.lines(part)
                continue
            *lines, rest = part.text.removesuffix("\n").split("\n", left)
            if len(lines) < left:
                lines.append(rest)
                rest = ""
            left -= len(lines)
            yield from self._code("\n".join(lines), path)
            if rest:
                yield self._more(counted(rest.count("\n") + 1, "more line"), row)
                return

    def _more(self, what: str, row: int) -> Text:
        shown = f"{self.glyphs.ellipsis} {what}; row {row + 1} has them all"
        return Text(shown, self.palette.dim)

    def _outcome(self, exchange: Exchange) -> Text:
        """Give how a call ended, how long it took, and where its result stands."""
        if exchange.result is None:
            return Text("no result recorded", self.palette.dim)
        failed = exchange.result.failed
        sign = f"{self.glyphs.bad} failed" if failed else self.glyphs.good
        style = self.palette.bad if failed else self.palette.good
        return Text.assemble((sign, style), *self._circumstances(exchange))

    def _circumstances(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        if exchange.seconds is not None:
            yield f" {duration_text(exchange.seconds)}", self.palette.text
        if exchange.result_row is not None:
            yield f" · row {exchange.result_row + 1}", self.palette.dim

    def _result(self, result: Result) -> Iterator[Text]:
        """Give what a tool gave back, below the call that asked for it."""
        asked = next((each for each in self.exchanges if each.result == result), None)
        call = None if asked is None else asked.call
        if asked is not None and call is not None and asked.call_row is not None:
            yield self._call_title(call, f" · row {asked.call_row + 1}")
            command = first_text(as_map(call.arguments), COMMANDS)
            if command and not first_text(as_map(call.arguments), PATHS):
                yield from _indented(self._command(summary_line(command)))
            yield self._outcome(msgspec.structs.replace(asked, result_row=None))
        elif asked is not None:
            yield Text("no call recorded", self.palette.dim)
        elif result.failed and not self.is_told:
            yield Text(f"{self.glyphs.bad} failed", self.palette.bad)
        path = _path_read(call)
        for part in result.parts:
            if isinstance(part, Said):
                yield from self._code(part.text.removesuffix("\n"), path)
            else:
                yield from self.lines(part)


def _is_failed(part: Part) -> bool:
    return isinstance(part, Failure) or (isinstance(part, Result) and part.failed)


def _is_short(part: Part) -> bool:
    """Tell whether a part stands close to its neighbours."""
    return isinstance(part, (Failure, Section, Tool))


def _indented(lines: Iterable[Text], indent: str = _INDENT) -> Iterator[Text]:
    return (Text.assemble(indent, line) for line in lines)


def _path_read(call: Call | None) -> str:
    """Give the path of the file that a call read, empty where it did something else."""
    if call is None or _READERS.isdisjoint(map(str.lower, _WORD.findall(call.name))):
        return ""
    return first_text(as_map(call.arguments), PATHS)


def _json(value: Any) -> Iterator[str]:
    try:
        return json_lines(value)
    except (ValueError, TypeError, RecursionError):
        return iter(("(not shown: no JSON)",))
