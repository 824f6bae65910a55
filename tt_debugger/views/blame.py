"""Blame as lines: who wrote each part of a state, and where a text was first to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.blame import Blamed, Why, item_at
from tt_debugger.core.first_said import SHORTEST, SHORTEST_WORD, FirstSaid, Sought
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.paths import Path, jmespath_of
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.changes import MEASURED
from tt_debugger.views.margin import Margin
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import folded

WIDEST_PATH = 40
"""Cells of the widest path behind which the values are aligned."""
_ROOM = 100
"""Cells of a value on a pipe, which has no width."""
_LIMIT = f"less than {SHORTEST} characters, of an odd word less than {SHORTEST_WORD}"
_SHORTEST = 12
"""Cells in which a value still says something."""


class Written(msgspec.Struct, frozen=True):
    """A leaf of a state, its value, and who wrote it."""

    blamed: Blamed
    value: Any


class BlameView(msgspec.Struct, frozen=True):
    """How the leaves of a state are drawn: those that one row wrote together under one head.

    `name` gives what the line of a row begins with.
    """

    session: Session
    name: Callable[[int], str]
    palette: Palette
    glyphs: Glyphs
    width: int | None = None

    def lines(self, leaves: Iterable[Written]) -> Iterator[Text]:
        """Give the lines of leaves in their order; columns are as wide as the first need."""
        leaves = iter(leaves)
        measured = list(islice(leaves, MEASURED))
        margin = self._margin(each.blamed.row for each in measured)
        for _, group in groupby(chain(measured, leaves), lambda each: _group(each.blamed)):
            yield from self._group(list(group), margin)

    def origins(self, told: Iterable[tuple[Sought, FirstSaid | None]]) -> Iterator[Text]:
        """Give for each text where it stands, and below that where it was first said."""
        told = list(told)
        # Of several texts, those that would be found by chance are the names of things.
        telling = told if len(told) == 1 else [each for each in told if each[0].is_telling]
        margin = self._margin(said.row for _, said in telling if said is not None)
        for sought, said in telling:
            line = Text(safe_line(jmespath_of(sought.path)), self.palette.strong, no_wrap=True)
            line.append("  ")
            line.append(folded(sought.text, self._room(line.cell_len)), self.palette.text)
            yield self._cut(line)
            yield self._origin(sought, said, margin)
        short = len(told) - len(telling)
        if short:
            words = f"{counted(short, 'text')} too short to tell: {_LIMIT}"
            yield self._cut(Text(words, self.palette.dim))
        if any(said is not None for _, said in telling):
            words = "what matches is no proof that it comes from there"
            yield self._cut(Text(words, self.palette.dim))

    def _origin(self, sought: Sought, said: FirstSaid | None, margin: Margin) -> Text:
        if said is None:
            return Text(f"  {origin_words(sought, None)}", self.palette.dim, no_wrap=True)
        line = Text("  ").append_text(margin.text(said.row))
        line.append(safe_line(jmespath_of(said.path)), self.palette.text)
        line.append(f"  {origin_words(sought, said)}", self.palette.dim)
        if not said.is_whole:
            line.append(f": {folded(said.text, self._room(line.cell_len))}", self.palette.text)
        return self._cut(line)

    def _margin(self, rows: Iterable[int]) -> Margin:
        return Margin.of(self.session, self.name, rows, self.palette, self.glyphs, self.width)

    def _group(self, group: Sequence[Written], margin: Margin) -> Iterator[Text]:
        """Give the lines of neighbouring leaves of one row: one alone needs no head."""
        first = group[0].blamed
        words = why_words(first, self.session, self.name)
        prefix = _common([each.blamed.path for each in group])
        line = margin.text(first.row)
        if len(group) > 1 or words:
            line.append(safe_line(jmespath_of(prefix)) or "(all)", self.palette.strong)
            line.append(f"  ({words})" if words else "", self.palette.change)
            yield self._cut(line)
            line = Text(" " * margin.width)
        indent = "  " if len(group) > 1 or words else ""
        names = [self._name(each.blamed.path, prefix, is_alone=not indent) for each in group]
        wide = max((size for each in names if (size := cell_len(each)) <= WIDEST_PATH), default=0)
        for each, name in zip(group, names, strict=True):
            line.append(f"{indent}{name}", self.palette.text)
            line.append(" " * (max(wide - cell_len(name), 0) + 2))
            line.append(folded(each.value, self._room(line.cell_len)), self.palette.label)
            yield self._cut(line)
            line = Text(" " * margin.width)

    def _name(self, path: Path, prefix: Path, *, is_alone: bool) -> str:
        """Give what a leaf is called below its head."""
        inside = path if is_alone else path[len(prefix) :]
        return safe_line(jmespath_of(inside)) or "(all)"

    def _room(self, taken: int) -> int:
        return _ROOM if self.width is None else max(self.width - taken, _SHORTEST)

    def _cut(self, line: Text) -> Text:
        if self.width is not None:
            line.truncate(
                self.width, overflow="ellipsis" if self.glyphs.ellipsis == "…" else "crop"
            )
        return line


def why_words(blamed: Blamed, session: Session, name: Callable[[int], str]) -> str:
    """Say how a message came to its place, nothing where it was simply said there."""
    first = "" if blamed.said is None else f"; first said by {name(blamed.said)}"
    match blamed.why:
        case None:
            return ""
        case Why.SUMMED_UP if blamed.count:
            return f"put in place of {counted(blamed.count, 'message')}"
        case Why.SUMMED_UP:
            is_branch = session.heads.kind(blamed.row) is Kind.BRANCH_SUMMARY
            return "sums up a branch" if is_branch else "a summary"
        case Why.BROUGHT_BACK:
            return safe_line(f"brought back{first}")
        case Why.MOVED:
            return safe_line(f"moved here{first}")


def origin_words(sought: Sought, said: FirstSaid | None) -> str:
    """Say how much of a text was said before; that is a match of texts and proves nothing."""
    if not sought.is_telling:
        return f"too short to tell where it was first said: {_LIMIT}"
    if said is None:
        return "not said before on this branch"
    if said.is_whole:
        return "the same text"
    part = 100 * len(said.text) // max(len(sought.text.strip()), 1)
    return f"a line of it, {part} %"


def _group(blamed: Blamed) -> tuple[int, Path, Why | None]:
    return blamed.row, item_at(blamed.path) or blamed.path[:1], blamed.why


def _common(paths: Sequence[Path]) -> Path:
    """Give the longest path above all of some; of one alone, the message that it is in."""
    first, last = min(paths, key=repr), max(paths, key=repr)
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    item = item_at(paths[0])
    return item if item is not None and len(item) < size else first[:size]
