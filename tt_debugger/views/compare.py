"""A comparison of two states as lines with two sides: settings first, then the messages.

It comes in blocks, one for each thing that differs and for each equal stretch; the lines of a
block are made when they are asked for, so ten thousand messages cost what is seen of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.diff.comparing import (
    MESSAGES,
    SIGNS,
    WORDS,
    ComparedMessage,
    Comparison,
    Counts,
    EqualRun,
    Sign,
)
from tt_debugger.core.diff.edits import Edit, Op, edits
from tt_debugger.core.diff.meaning import json_of
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Path, dotted
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.branches import cause_lines
from tt_debugger.views.compare_message import MessageView, field_edits
from tt_debugger.views.compare_text import Line, TextView
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import preview

WIDEST_NAME = 26
"""Cells that the names of settings take at most, so that their values stand in a column."""
_MEASURED = 60
"""Settings whose names are measured for that."""
_VALUE = 200
"""Characters of a value that is told in one line."""


class Preface(msgspec.Struct, frozen=True):
    """What is said before all else, and how much differs and is not told, by rule.

    `why` says why the two part; the first of it stands out.
    """

    why: tuple[str, ...]
    notes: tuple[str, ...]
    masked: tuple[tuple[str, int], ...]


class EqualMessage(msgspec.Struct, frozen=True):
    """One message of an equal stretch that was opened."""

    old_place: int
    new_place: int


What = Preface | Edit | EqualRun | EqualMessage | ComparedMessage


class Block(msgspec.Struct, frozen=True):
    """Something that is shown in a few lines; `change` is its number among all that differs."""

    what: What
    sign: Sign
    change: int | None = None
    is_open: bool = False

    @property
    def size(self) -> int:
        """How many messages or settings it stands for."""
        if isinstance(self.what, EqualRun) and not self.is_open:
            return self.what.count
        return 1

    @property
    def places(self) -> tuple[int | None, int | None]:
        """The place of its message on each side."""
        match self.what:
            case ComparedMessage(sign=Sign.MOVED, old_place=old, new=msgspec.UNSET):
                return old, None
            case ComparedMessage(old_place=old, new_place=new):
                return old, new
            case EqualMessage(old_place=old, new_place=new):
                return old, new
            case EqualRun(old_begin=old, new_begin=new):
                return old, new
            case _:
                return None, None


class ComparisonView(msgspec.Struct, frozen=True, dict=True):
    """A comparison as it is drawn, with what is said before it.

    `hint` tells how what is masked can be shown, `why` why the two part.
    """

    comparison: Comparison
    palette: Palette
    glyphs: Glyphs
    hint: str = ""
    notes: tuple[str, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def digits(self) -> int:
        """Cells that the number of a message takes."""
        counts = (len(as_list(as_map(side).get(MESSAGES))) for side in self._states)
        return max(len(str(max(counts))), 2)

    def blocks(self, opened: Iterable[int] = ()) -> list[Block]:
        """Give all blocks in order; `opened` are the old places where open stretches begin."""
        comparison, begins = self.comparison, frozenset(opened)
        blocks: list[Block] = []
        if comparison.masked or self.notes or self.why:
            counts = sorted(comparison.masked.items(), key=lambda each: -each[1])
            blocks.append(Block(Preface(self.why, self.notes, tuple(counts)), Sign.EQUAL))
        number = 0
        for edit in comparison.settings:
            blocks.append(Block(edit, SIGNS[edit.op], number))
            number += 1
        for row in comparison.messages:
            match row:
                case EqualRun(old_begin=old, new_begin=new, count=1):
                    blocks.append(Block(EqualMessage(old, new), Sign.EQUAL))
                case EqualRun(old_begin=old, new_begin=new, count=count):
                    is_open = old in begins
                    blocks.append(Block(row, Sign.EQUAL, is_open=is_open))
                    for place in range(count if is_open else 0):
                        message = EqualMessage(old + place, new + place)
                        blocks.append(Block(message, Sign.EQUAL))
                case ComparedMessage(sign=sign):
                    blocks.append(Block(row, sign, number))
                    number += 1
        return blocks

    def lines(self, block: Block, *, is_open: bool = False) -> Iterator[Line]:
        """Give a block as lines; open, it folds nothing."""
        texts = TextView(self.palette, self.glyphs, is_open)
        match block.what:
            case Preface() as preface:
                yield from self._preface(preface)
            case Edit() as edit:
                yield from _EditView(texts, self._name_width).lines(edit)
            case EqualRun() as run:
                yield self._run(run, block)
            case EqualMessage() as place:
                yield self._equal(place)
            case ComparedMessage() as row:
                yield from MessageView(texts).lines(row)
                if row.new is not msgspec.UNSET:
                    yield from self._fields(row, texts)

    def message(self, block: Block, *, is_old: bool) -> Any:
        """Give the message of a block on one side, UNSET where it has none there."""
        place = block.places[0 if is_old else 1]
        if place is None or isinstance(block.what, EqualRun):
            return msgspec.UNSET
        return as_list(as_map(self._states[0 if is_old else 1]).get(MESSAGES))[place]

    @property
    def _states(self) -> tuple[Any, Any]:
        return self.comparison.old, self.comparison.new

    @cached_property
    def _name_width(self) -> int:
        names = (dotted(edit.path) for edit in self.comparison.settings[:_MEASURED])
        sizes = [cell_len(safe_line(name)) for name in names]
        return max((size for size in sizes if size <= WIDEST_NAME), default=0)

    def _preface(self, preface: Preface) -> Iterator[Line]:
        notes = list(preface.notes)
        if preface.masked:
            told = ", ".join(f"{count:,} {name}" for name, count in preface.masked)
            notes.append(f"masked: {told}{'; ' if self.hint else ''}{self.hint}")
        for said in cause_lines(preface.why, self.palette):
            yield Line(said, None, is_note=True)
        for note in notes:
            yield Line(Text(safe_line(note), self.palette.dim), None, is_note=True)

    def _run(self, run: EqualRun, block: Block) -> Line:
        dots = self.glyphs.turn * 3
        said = f"{dots} {counted(run.count, 'equal message')} {dots}"
        return TextView(self.palette, self.glyphs).note(said, opens=not block.is_open)

    def _fields(self, row: ComparedMessage, texts: TextView) -> Iterator[Line]:
        """Give what differs beside what a message says: by name, unless it is all there is."""
        found = list(field_edits(row, edits(row.difference, row.old)))
        if texts.is_open or all(aspect.equal for aspect in row.aspects):
            for edit in found:
                yield from _EditView(texts, 0, "  ").lines(edit)
        elif found:
            names = ", ".join(dict.fromkeys(safe_line(dotted(edit.path)) for edit in found))
            yield texts.note(f"  also: {names}", opens=True)

    def _equal(self, place: EqualMessage) -> Line:
        message = as_list(as_map(self.comparison.new).get(MESSAGES))[place.new_place]
        said = MessageView(TextView(self.palette, self.glyphs)).title(message)
        return Line(said, said, "=", "=", place.old_place, place.new_place)


def counts_signs(counts: Counts) -> str:
    """Give what differs by number, with signs: `~10 +8 -9`."""
    return " ".join(f"{sign}{number:,}" for sign, number in counts.told())


def counts_text(counts: Counts, masked: int = 0) -> str:
    """Give what differs by number, in words: `10 changed · 8 added · 3 masked`."""
    words = [f"{number:,} {WORDS[sign]}" for sign, number in counts.told()] or ["nothing differs"]
    return " · ".join([*words, f"{masked:,} masked"] if masked else words)


class _EditView(msgspec.Struct, frozen=True):
    """How what differs outside of messages is told: by its path, then by its value."""

    texts: TextView
    width: int
    indent: str = ""

    def lines(self, edit: Edit) -> Iterator[Line]:
        palette = self.texts.palette
        match edit.op:
            case Op.ADD:
                yield from self._one_sided(edit.path, edit.new, is_old=False)
            case Op.REMOVE:
                yield from self._one_sided(edit.path, edit.old, is_old=True)
            case Op.MOVE:
                old, new = self._name(edit.origin or ()), self._name(edit.path)
                arrow = f" {self.texts.glyphs.arrow} "
                both = Text.assemble(old, (arrow, palette.dim), new)
                yield Line(old, new, ">", ">", both=both)
            case Op.CHANGE:
                yield from self._changed(edit)

    def _changed(self, edit: Edit) -> Iterator[Line]:
        palette, glyphs = self.texts.palette, self.texts.glyphs
        name = self._name(edit.path)
        old, new = _text(edit.old), _text(edit.new)
        if "\n" in old or "\n" in new or max(len(old), len(new)) > _VALUE:
            yield Line(name, name, "~", "~")
            for line in self.texts.lines(old, new):
                yield _indented(line, f"{self.indent}  ")
            return
        values = (Text(safe_line(old), palette.remove), Text(safe_line(new), palette.add))
        yield Line(
            Text.assemble(name, "  ", values[0]),
            Text.assemble(name, "  ", values[1]),
            "~",
            "~",
            both=Text.assemble(
                name, "  ", values[0], (f" {glyphs.arrow} ", palette.dim), values[1]
            ),
            hang=name.cell_len + 2,
        )

    def _one_sided(self, path: Path, value: Any, *, is_old: bool) -> Iterator[Line]:
        palette, name = self.texts.palette, self._name(path)
        style, signs = (palette.remove, ("-", " ")) if is_old else (palette.add, (" ", "+"))
        text = _text(value)
        is_long = "\n" in text or len(text) > _VALUE
        if is_long and not self.texts.is_open:
            said = Text.assemble(name, "  ", (preview(value, _VALUE), style))
        else:
            said = name if is_long else Text.assemble(name, "  ", (safe_line(text), style))
        sides = (said, None) if is_old else (None, said)
        folds = is_long and not self.texts.is_open
        yield Line(*sides, *signs, hang=name.cell_len + 2, opens=folds)
        if is_long and self.texts.is_open:
            for line in self.texts.one_sided(text, is_old=is_old):
                yield _indented(line, f"{self.indent}  ")

    def _name(self, path: Path) -> Text:
        name = safe_line(dotted(path)) or "(the state)"
        said = Text(self.indent + name, self.texts.palette.strong)
        said.pad_right(max(self.width - cell_len(name), 0))
        return said


def _indented(line: Line, indent: str) -> Line:
    old, new = (
        None if side is None else Text.assemble(indent, side) for side in (line.old, line.new)
    )
    return msgspec.structs.replace(line, old=old, new=new, hang=len(indent) + 2)


def _text(value: Any) -> str:
    """Give a value as a text: what is a text as it stands, all else as JSON."""
    return value if isinstance(value, str) else json_of(value)
