"""A fork as lines: the records it would write and where, how one goes on, and forks made before.

A sign stands before each line of what would be written: `=` for what is kept as it is, `~` for
what was edited, `+` for what is new, `-` for a file that a commit takes away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.fork.made import Made, MadeState
from tt_debugger.core.fork.plan import Draft, Forked
from tt_debugger.core.fork.told import target_of
from tt_debugger.core.fork.writes import (
    How,
    IndexLine,
    Insert,
    Key,
    MoreLines,
    NewBranch,
    NewFile,
    NewKeys,
    NewRows,
    Record,
    Write,
)
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.text import counted, safe_line, summary_line
from tt_debugger.views.checkpoint import time_text
from tt_debugger.views.code import code_lines, language_of
from tt_debugger.views.fact import fact_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.raw import raw_lines
from tt_debugger.views.values import cut_left, json_text

SHORTEST_INDENTED = 60
"""Bytes from which a JSON record is shown on several lines."""
BYTES_SHOWN = 24
"""Bytes of a value that is no text that are shown, as hexadecimal numbers."""
LONGEST_NOTE = 80
"""Characters of a note where it is told in few words."""

_STATE_WIDTH = max(map(len, MadeState)) + 2
_SIGNS = {How.KEPT: "=", How.CHANGED: "~", How.ADDED: "+"}


def draft_lines(
    draft: Draft, palette: Palette, glyphs: Glyphs, *, place_is_told: bool = False
) -> Iterator[Text]:
    """Give all that a fork would write, and where; what is kept as it is folds to one line.

    `place_is_told` says that the first place is shown elsewhere.
    """
    for note in draft.notes:
        yield fact_line("note", note, palette)
    for number, (place, write) in enumerate(zip(target_of(draft), draft.writes, strict=True)):
        if number or not place_is_told:
            if number or draft.notes:
                yield Text()
            yield Text(safe_line(place), palette.strong)
        yield from _Drawing(palette, glyphs).write_lines(write)


def counts_line(draft: Draft, palette: Palette) -> Text:
    """Say how many records are kept, edited and new."""
    counts = Counter(how for each in draft.writes for how in _ways_of(each))
    words = {How.KEPT: "kept", How.CHANGED: "edited", How.ADDED: "new"}
    styles = {How.KEPT: palette.dim, How.CHANGED: palette.change, How.ADDED: palette.add}
    line = Text()
    for how, word in words.items():
        if counts[how]:
            line.append(f"{_SIGNS[how]} {counts[how]:,} {word}   ", styles[how])
    return line


def rehearsal_line(
    palette: Palette, glyphs: Glyphs, *, is_rehearsed: bool, is_for_later: bool = False
) -> Text:
    """Say whether a draft was read back before anything is written, or is to be."""
    if is_for_later and not is_rehearsed:
        later = "large: it is read back once, when it is to be written"
        return Text(later, palette.change)
    if is_rehearsed:
        return Text.assemble(
            (f"{glyphs.good} ", palette.good),
            ("read back: it ends at this state, exactly", palette.text),
        )
    return Text("not read back: it is too large, or goes to a server", palette.change)


def forked_lines(forked: Forked, palette: Palette) -> Iterator[Text]:
    """Give where a fork is, how its agent goes on from it, and what one should know."""
    yield fact_line("fork", forked.location, palette)
    yield fact_line("session", forked.session, palette)
    yield Text()
    yield Text("To go on from there:", palette.dim)
    yield Text()
    for line in forked.resume_command.split("\n"):
        yield Text(safe_line(line), palette.code)
    for note in forked.notes:
        yield Text()
        yield Text(safe_line(note), palette.dim)


def made_name(made: Made) -> str:
    """Give a fork in few words: when it was made, and why."""
    return safe_line(f"fork of {time_text(made.operation.time)[:16]}{_why(made)}")


def made_lines(made: Sequence[Made], palette: Palette) -> Iterator[Text]:
    """Give the forks of a checkpoint, two lines a fork."""
    for each in made:
        yield fact_line("forked", time_text(each.operation.time) + _why(each), palette)
        yield fact_line("", _place_of(each), palette)


def made_list(
    made: Sequence[Made], palette: Palette, glyphs: Glyphs, width: int | None = None
) -> Iterator[Text]:
    """Give forks as a list, three lines a fork: what it is, where it is, and what it is of.

    Where there is a width, of a place the end is kept, and of a note the beginning.
    """
    indent = " " * (max((len(safe_line(each.operation.id)) for each in made), default=0) + 2)
    for each in made:
        operation = each.operation
        line = Text.assemble(
            (f"{safe_line(operation.id):<{len(indent)}}", palette.code),
            (f"{time_text(operation.time)[:16]}  ", palette.dim),
            (f"{each.state:<{_STATE_WIDTH}}", _style_of(each.state, palette)),
            (safe_line(operation.note or ""), palette.text),
            no_wrap=True,
        )
        line.rstrip()
        if width is not None and line.cell_len > width:
            line.truncate(width - cell_len(glyphs.ellipsis))
            line.append(glyphs.ellipsis, palette.dim)
        yield line
        for word, place in (("", _place_of(each)), ("of ", operation.origin)):
            text = safe_line(place)
            if width is not None:
                text = cut_left(text, max(width - len(indent) - len(word), 0), glyphs)
            yield Text.assemble(indent, (word, palette.dim), (text, palette.text), no_wrap=True)


def operation_lines(made: Made, palette: Palette) -> Iterator[Text]:
    """Give all that is known of a fork, a line a fact."""
    operation = made.operation
    facts = (
        ("made", time_text(operation.time)),
        ("state", made.state),
        ("note", operation.note),
        ("of", operation.origin),
        ("fork", operation.location),
        ("session", operation.session),
        ("go on", operation.resume_command),
        ("id", operation.id),
    )
    for name, value in facts:
        if value:
            yield fact_line(name, value, palette)


def damage_text(damaged: int) -> str:
    """Say how many lines of the operation log cannot be read, empty for none."""
    return f"{counted(damaged, 'line')} of the operation log cannot be read" if damaged else ""


def _ways_of(write: Write) -> Iterator[How]:
    """Give how each record of a write comes about; none of them is read for it."""
    match write:
        case NewFile(records=records) | MoreLines(records=records):
            yield from (each.how for each in records)
        case IndexLine(record=record):
            yield record.how
        case NewRows(inserts=inserts):
            yield from (each.how for each in inserts)
        case NewKeys(keys=keys):
            yield from (each.how for each in keys)
        case NewBranch(has_commit=has_commit):
            yield from (How.KEPT, *([How.ADDED] if has_commit else []))


def _why(made: Made) -> str:
    note = made.operation.note
    return f" · {summary_line(note, LONGEST_NOTE)}" if note else ""


def _place_of(made: Made) -> str:
    """Give where a fork is, with its session where the place does not name it."""
    place, session = made.operation.location, made.operation.session
    return place if session in place else f"{place} · {session}"


def _style_of(state: MadeState, palette: Palette) -> str:
    match state:
        case MadeState.DONE:
            return palette.good
        case MadeState.UNDONE | MadeState.GONE:
            return palette.dim
        case MadeState.UNFINISHED | MadeState.CHANGED:
            return palette.change


class _Drawing:
    """What draws the records of one write."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self._palette = palette
        self._glyphs = glyphs
        self._styles = {
            How.KEPT: palette.dim,
            How.CHANGED: palette.change,
            How.ADDED: palette.add,
        }

    def write_lines(self, write: Write) -> Iterator[Text]:
        match write:
            case NewFile(records=records) | MoreLines(records=records):
                yield from self._records(records)
            case IndexLine(record=record):
                yield from self._records((record,))
            case NewRows(inserts=inserts):
                yield from self._rows(inserts)
            case NewKeys(keys=keys):
                yield from self._keys(keys)
            case NewBranch():
                yield from self._branch(write)

    def _records(self, records: Sequence[Record]) -> Iterator[Text]:
        for is_kept, run in groupby(records, lambda each: each.how is How.KEPT):
            same = list(run)
            if is_kept:
                size = sum(len(each.data) for each in same)
                yield self._kept(f"{counted(len(same), 'record')} kept, {size:,} bytes")
                continue
            for each in same:
                yield self._title(each.how, "record", each.row)
                yield from self._signed(each.how, self._data_lines(each.data))

    def _rows(self, inserts: Sequence[Insert]) -> Iterator[Text]:
        for (table, is_kept), run in groupby(
            inserts, lambda each: (each.table, each.how is How.KEPT)
        ):
            same = list(run)
            if is_kept:
                named = {name for each in same for name in each.fresh}
                renamed = f", but for {', '.join(sorted(named))}" if named else ""
                yield self._kept(f"{counted(len(same), 'row')} of {table} kept{renamed}")
                continue
            for each in same:
                yield self._title(each.how, f"row of {table}", each.row)
                yield from self._signed(each.how, self._columns(each.values))

    def _keys(self, keys: Sequence[Key]) -> Iterator[Text]:
        for is_kept, run in groupby(keys, lambda each: each.how is How.KEPT):
            same = list(run)
            if is_kept:
                yield self._kept(f"{counted(len(same), 'key')} kept, under new names")
                continue
            for each in same:
                ttl = "" if each.ttl is None else f", kept for {each.ttl:,} ms"
                yield self._title(each.how, f"{each.kind} {each.name}{ttl}", each.row)
                yield from self._signed(each.how, self._value_lines(each.value))

    def _branch(self, branch: NewBranch) -> Iterator[Text]:
        yield self._kept(f"all of commit {branch.base}")
        if not branch.has_commit:
            return
        yield self._title(How.ADDED, f"commit by {branch.author} <{branch.email}>", None)
        message = (Text(safe_line(line)) for line in branch.message.strip().split("\n"))
        yield from self._signed(How.ADDED, message)
        for name, data in branch.files.items():
            if data is None:
                yield Text(safe_line(f"- {name}"), self._palette.remove)
                continue
            yield self._title(How.CHANGED, f"{name}, {len(data):,} bytes", None)
            yield from self._signed(How.CHANGED, self._file_lines(name, data))

    def _kept(self, text: str) -> Text:
        return Text(safe_line(f"{_SIGNS[How.KEPT]} {text}"), self._palette.dim)

    def _title(self, how: How, what: str, row: int | None) -> Text:
        origin = "" if row is None else f", from row {row + 1}"
        word = "edited" if how is How.CHANGED else "new"
        text = safe_line(f"{word} {what}{origin}")
        return Text.assemble((f"{_SIGNS[how]} ", self._styles[how]), (text, self._palette.strong))

    def _signed(self, how: How, lines: Iterable[Text]) -> Iterator[Text]:
        for line in lines:
            signed = Text(overflow=line.overflow)
            signed.append(f"{_SIGNS[how]} ", self._styles[how])
            yield signed.append_text(line)

    def _data_lines(self, data: bytes) -> Iterator[Text]:
        """Give a record, one that is JSON on as many lines as it takes to be read."""
        text = _indented(data)
        if text is None:
            # Its size is told already.
            lines = raw_lines(data, self._palette)
            next(lines)
            return lines
        return code_lines(text, self._palette, "json")

    def _file_lines(self, name: str, data: bytes) -> Iterator[Text]:
        try:
            return code_lines(data.decode().rstrip("\n"), self._palette, language_of(name))
        except UnicodeDecodeError:
            return iter((Text(_hexadecimal(data), self._palette.dim),))

    def _columns(self, values: Mapping[str, Any]) -> Iterator[Text]:
        width = max(map(len, values), default=0)
        for name, value in values.items():
            first, *others = self._value_lines(value)
            lead = (f"{safe_line(name):<{width}}  ", self._palette.dim)
            yield Text.assemble(lead, first, overflow=first.overflow)
            for line in others:
                yield Text.assemble(" " * (width + 2), line, overflow=line.overflow)

    def _value_lines(self, value: Any) -> Iterator[Text]:
        match value:
            case str() | bytes():
                data = value.encode(errors="replace") if isinstance(value, str) else value
                yield from self._text_lines(data)
            case dict():
                members = {_name_of(key): each for key, each in as_map(value).items()}
                yield from self._columns(members)
            case list() | tuple():
                for each in as_list(list(value)):  # pyright: ignore[reportUnknownArgumentType] - any JSON
                    yield from self._value_lines(each)
            case _:
                yield Text(safe_line(json_text(value)), self._palette.code_number)

    def _text_lines(self, data: bytes) -> Iterator[Text]:
        text = _indented(data) if data[:1] in {b"{", b"["} else None
        if text is not None:
            yield from code_lines(text, self._palette, "json")
            return
        try:
            shown = data.decode()
        except UnicodeDecodeError:
            yield Text(_hexadecimal(data), self._palette.dim)
            return
        for line in shown.split("\n"):
            yield Text(safe_line(line), self._palette.code_string)


def _indented(data: bytes) -> str | None:
    """Give JSON with indents, as it stands if it is short; None for what is no JSON text."""
    data = data.strip()
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
        long = data if len(data) < SHORTEST_INDENTED else msgspec.json.format(data, indent=2)
        return long.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _hexadecimal(data: bytes) -> str:
    more = " ..." if len(data) > BYTES_SHOWN else ""
    return f"{counted(len(data), 'byte')}: {data[:BYTES_SHOWN].hex(' ')}{more}"


def _name_of(key: Any) -> str:
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else str(key)
