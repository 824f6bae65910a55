"""Documents: the pieces of a file that is one JSON value, not a value a line.

The pieces are the one object, or the elements of the list, each with its place in the file. A
sound file takes the quick way (msgspec finds all elements at once). In a damaged list each element
is looked for by itself, and behind damage the next one that begins as the sound ones do: so every
complete element is reached, and what is lost is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_map
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place
from tt_debugger.formats.shared.records import CODES, Leniency, Record, Refused, records
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import LONGEST

MOST_COMMAS = 2_000_000
"""With more commas a list is not read at once: each element that is found there takes memory."""
WINDOW = 1 << 20
LONGEST_DEEP = 256 << 10
"""Bytes in which the end of what is nested too deeply for a parser is looked for."""

_SPACE = b" \t\r\n"
_BLANK = re.compile(rb"[ \t\r\n]*")
_BETWEEN = re.compile(rb"[ \t\r\n,]*")
_FIRST_KEY = re.compile(rb'([ \t\r\n]*)\{([ \t\r\n]*)("(?:[^"\\]|\\.)*+")', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_STRUCTURE = re.compile(r'["\[\]{},]')
_SCALARS = re.compile(
    rb'(?:(?:"(?:[^"\\]|\\.)*+"|[^][{}",]+)[ \t\r\n]*(?:,[ \t\r\n]*|(?=\])|\Z))++', re.DOTALL
)
"""A run of what is neither object nor list, with the commas between."""
_STEP_COST = 256
"""What it costs to look at an element of any size, in bytes that could be looked through."""
_LONGEST_TOKEN = 16
"""Characters of the longest thing that is no text and that the end of a window may cut."""

_decode_all = msgspec.json.Decoder(list[msgspec.Raw]).decode
_scan = json.JSONDecoder(parse_constant=len, parse_float=len, parse_int=len, strict=False)


class Element(msgspec.Struct, frozen=True, gc=False):
    """One JSON object, and where it stands: the one of the file, or one of its list."""

    place: Place
    value: dict[str, Any]
    forgiven: tuple[Leniency, ...] = ()


class Lost(msgspec.Struct, frozen=True, gc=False):
    """Bytes that hold no element, and why; elements that follow each other are lost as one.

    Where `place.is_whole` is False they are the end of a list that was cut, and may be none.
    """

    place: Place
    why: str


class Document(msgspec.Struct, frozen=True):
    """A file that is one JSON value. What is not lost is shown: shown + lost = `size`.

    A blank file has no elements. `findings` are about the file itself.
    """

    data: bytes
    is_array: bool
    findings: tuple[Finding, ...]
    objects: tuple[Record | Refused, ...] = ()
    """What stands in a file that is no list, from its first byte that is not blank on."""

    @property
    def size(self) -> int:
        """All bytes of the file."""
        return len(self.data)

    def pieces(self) -> Iterator[Element | Lost]:
        """Give the elements and what is lost between them, in the order of the file."""
        lines = _Lines(self.data)
        lost: _Span | None = None
        for span, record in self._spans():
            if record is not None:
                if lost is not None:
                    yield Lost(lines.place(lost), lost.why)
                    lost = None
                yield Element(lines.place(span, record), record.value, record.forgiven)
            elif lost is None:
                lost = span
            elif span.is_whole:
                lost = lost._replace(end=span.end)
            else:
                yield Lost(lines.place(lost), lost.why)
                lost = span
        if lost is not None:
            yield Lost(lines.place(lost), lost.why)

    def _spans(self) -> Iterator[tuple[_Span, Record | None]]:
        """Give spans, each with its record or with the reason why it has none."""
        if not self.is_array:
            yield from _object_spans(self.data, self.objects)
            return
        for span in _array_spans(self.data):
            piece = None if span.why else records(self.data[span.begin : span.end])[0]
            if isinstance(piece, Refused):
                yield span._replace(why=piece.why), None
            else:
                yield span, piece


def document(file: RegularFile) -> Document:
    """Read a file as one JSON value.

    Raises CannotReadError, in words, where it is longer than `LONGEST` or is neither an object
    nor a list, or a damaged object.
    """
    size = file.size()
    if size > LONGEST:
        raise _refused(
            file,
            f"its {size} bytes are more than the {LONGEST >> 20} MiB of the largest document",
            "split it, or write one JSON object a line (JSONL): then it may have any size",
        )
    data = file.read(0, size)
    begin = _begin(data)
    findings = (_MARKED,) if data.startswith(BYTE_ORDER_MARK) else ()
    match data[begin : begin + 1]:
        case b"":
            return Document(data, is_array=False, findings=findings)
        case b"[":
            return Document(data, is_array=True, findings=findings)
        case b"{":
            objects = tuple(records(data[begin:]))
            if isinstance(objects[0], Refused):
                raise _damaged(file, data, begin, objects[0])
            return Document(data, is_array=False, findings=findings, objects=objects)
        case b"\0" if not data.strip(b"\0"):
            raise _refused(file, nul_bytes(data), "take it from a backup")
        case _:
            raise _refused(file, "it is neither a JSON object nor a list", None)


def findings_on(piece: Element | Lost) -> list[Finding]:
    """Give what is wrong with a piece."""
    line, offset = piece.place.line, piece.place.offset
    if isinstance(piece, Element):
        return [
            finding(CODES[each], str(each), line=line, offset=offset) for each in piece.forgiven
        ]
    if piece.place.is_whole:
        message = f"not readable: {piece.why}"
        return [finding(Code.UNREADABLE, message, line=line, offset=offset)]
    return [
        finding(
            Code.TORN_TAIL,
            f"the list has no end: {piece.why}",
            hint="it may still be being written; if not, its writer crashed",
            line=line,
            # Where nothing is left of an element, it is said of the last byte that there is.
            offset=offset if piece.place.length else max(offset - 1, 0),
        )
    ]


def nul_bytes(data: bytes) -> str:
    """Say of bytes that are all NUL how many there are, and what that means."""
    return f"{len(data)} NUL bytes: lost in a crash"


_MARKED = finding(Code.BYTE_ORDER_MARK, "the file begins with a byte order mark", line=1, offset=0)


class _Span(NamedTuple):
    """Bytes from one place to another; with a reason where they are no element."""

    begin: int
    end: int
    why: str = ""
    is_whole: bool = True


class _Lines:
    """Counts lines, and what begins on each, from one span to the next."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._line = 1
        self._part = 0
        self._counted = 0

    def place(self, span: _Span, found: Record | None = None) -> Place:
        more = self._data.count(b"\n", self._counted, span.begin)
        self._line += more
        self._part = 1 if more else self._part + 1
        self._counted = span.begin
        is_json = found is not None and not found.forgiven
        length = span.end - span.begin
        return Place(self._line, self._part, span.begin, length, span.is_whole, is_json)


def _begin(data: bytes) -> int:
    """Give the place of the first byte that is neither mark nor white space."""
    mark = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    return len(data) - len(data[mark:].lstrip(_SPACE))


def _refused(file: RegularFile, why: str, hint: str | None) -> CannotReadError:
    return CannotReadError(f"cannot read {file.path}: {why}", hint)


def _damaged(file: RegularFile, data: bytes, begin: int, first: Refused) -> CannotReadError:
    """Give the error for a file whose first object is damaged; what follows it is no matter."""
    if _is_cut(data[begin:]):
        why = f"it ends in the middle of its JSON object, after {len(data)} bytes"
        hint = "its writer crashed or is still at work; nothing was changed in it"
    else:
        why, hint = f"it is damaged: {first.why}", "nothing was changed in it"
    return _refused(file, why, hint)


def _is_cut(data: bytes) -> bool:
    """Tell whether a damaged object is sound up to where the data ends."""
    text = data.rstrip(_SPACE).decode("latin-1")
    try:
        _scan.raw_decode(text)
    except json.JSONDecodeError as error:
        return _is_at_end(error, text)
    except RecursionError:
        return _end_of_brackets(data, 0) is None
    return False


def _is_at_end(error: json.JSONDecodeError, text: str) -> bool:
    """Tell whether an error is only that the text ends."""
    is_open = error.msg.startswith("Unterminated string")
    rest = text[error.pos : error.pos + _LONGEST_TOKEN]
    is_short = len(text) - error.pos < _LONGEST_TOKEN
    return is_open or (is_short and _STRUCTURE.search(rest) is None)


def _end_of_brackets(data: bytes, begin: int) -> int | None:
    """Give the end of what a bracket begins, however deep it is; None where none is near."""
    depth = 0
    for each in _STRING_OR_BRACKET.finditer(data, begin, begin + LONGEST_DEEP):
        token = each[0]
        depth += 1 if token in b"[{" else -1 if token in b"]}" else 0
        if depth == 0:
            return each.end()
    return None


def _object_spans(
    data: bytes, pieces: Sequence[Record | Refused]
) -> Iterator[tuple[_Span, Record | None]]:
    """Give the one object, and what follows it: more of them, or the rest of an older file."""
    begin = _begin(data)
    for piece in pieces:
        first = _after(_BLANK, data, begin + piece.begin)
        if isinstance(piece, Record):
            yield _Span(first, begin + piece.end), piece
        else:
            yield _Span(first, begin + piece.end, piece.why), None


def _array_spans(data: bytes) -> Iterator[_Span]:
    begin = _begin(data)
    if data.count(b",") <= MOST_COMMAS:
        try:
            elements = _decode_all(memoryview(data)[begin:])
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            return _whole_spans(data, begin + 1, elements)
    return _Search(data).spans(begin + 1)


def _whole_spans(data: bytes, place: int, elements: list[msgspec.Raw]) -> Iterator[_Span]:
    between = _BETWEEN.match
    for each in elements:
        gap = between(data, place)
        begin = gap.end() if gap else place
        place = begin + memoryview(each).nbytes
        yield _Span(begin, place)


class _Search:
    """Looks for the elements of a list that may be damaged, one after the other.

    The text is looked at through a window, as Latin-1: brackets and quotes are where they are in
    UTF-8, and a place in it is one in the bytes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text, self._from = "", 0
        # Each damage may cost a look at all that follows it; many of them must not.
        self._work = 4 * len(data) + 16 * WINDOW
        self._first_keys: set[bytes] = set()
        self._margin = b""
        self._shapes: set[frozenset[str]] = set()
        self._keys: frozenset[str] = frozenset()
        """The keys of what was read last."""

    def spans(self, place: int) -> Iterator[_Span]:
        data, size = self._data, len(self._data)
        self._learn(place)
        is_open = True
        while True:
            place = _after(_BETWEEN, data, place)
            if place == size:
                if is_open:
                    yield _Span(size, size, "it stops after an element", is_whole=False)
                return
            if data[place] == ord("]"):
                place += 1
                is_open = False
                continue
            run = _SCALARS.match(data, place) if is_open else None
            if run is not None:
                yield _Span(place, run.end(), self._why_not(run[0]))
                place = run.end()
                continue
            end = self._end_of(place) if self._work > 0 else None
            if end is not None and (is_open or data[place] == ord("{")):
                if not is_open:
                    yield _Span(place, place, "bytes behind the end of the list")
                is_open = True
                self._learn(place)
                yield _Span(place, end)
                place = end
                continue
            begin, place = place, self._next(place + is_open)
            why = "bytes behind the end of the list" if not is_open else self._why(begin, place)
            if place == size and is_open and not self._is_damage(begin):
                yield _Span(begin, size, f"its last {size - begin} bytes are not complete", False)
                return
            yield _Span(begin, place, why)
            is_open = True
            if place == size:
                return

    def _learn(self, place: int) -> None:
        """Note how an element begins and which keys it has: so will those behind damage."""
        match = _FIRST_KEY.match(self._data, place)
        if match is not None:
            self._first_keys.add(match[3])
            self._margin = self._margin or match[1]
        if self._keys:
            self._shapes.add(self._keys)

    def _next(self, place: int) -> int:
        """Give where the next element begins that looks like those before, else the end."""
        data, margin = self._data, self._margin
        is_indented = b"\n" in margin and not margin.endswith(b"\n")
        begin = data.find(b"{", place)
        while begin >= 0 and self._work > 0:
            is_at_margin = is_indented and data.endswith(margin, 0, begin)
            # Where elements are indented, one that is not is glued to damage, or a part of one.
            may_be = is_at_margin or not (is_indented and _begins_line(data, begin))
            if (
                may_be
                and self._end_of(begin) is not None
                and (is_at_margin or self._is_alike(begin) or self._leads_to_end(begin))
            ):
                return begin
            begin = data.find(b"{", begin + 1)
        return len(data)

    def _is_alike(self, place: int) -> bool:
        """Tell whether what was read last looks like an element, and not like a part of one."""
        if not self._shapes:
            match = _FIRST_KEY.match(self._data, place)
            return match is not None and match[3] in self._first_keys
        # An element that has one key, or none, is told by all of its keys.
        return any(
            self._keys == shape or len(self._keys & shape) >= 2  # noqa: PLR2004 - more than one
            for shape in self._shapes
        )

    def _leads_to_end(self, place: int) -> bool:
        """Tell whether from here on sound elements follow each other to the end of the list."""
        while self._work > 0:
            end = self._end_of(place)
            if end is None:
                return False
            self._work -= end - place + _STEP_COST
            place = _after(_BETWEEN, self._data, end)
            if self._data[place : place + 1] != b"{":
                return not self._data[place:].strip(_SPACE + b"]") and place < len(self._data)
        return False

    def _is_damage(self, begin: int) -> bool:
        """Tell whether what begins here is no element that the end of the file cut."""
        return self._work <= 0 or not _is_cut(self._data[begin:])

    def _why(self, begin: int, end: int) -> str:
        lost = self._data[begin:end].strip(_SPACE + b",")
        if not lost.strip(b"\0"):
            return nul_bytes(lost)
        if self._work <= 0:
            return "too much is damaged to look further"
        return "an element is damaged"

    def _why_not(self, run: bytes) -> str:
        """Say what stands in the place of an object."""
        bare = run.strip(_SPACE + b",")
        return "not an object" if bare.strip(b"\0") else nul_bytes(bare)

    def _end_of(self, place: int) -> int | None:
        """Give the end of the value that begins at a place, None where it is damaged or cut."""
        size = WINDOW
        while True:
            if not self._from <= place < self._from + len(self._text):
                self._look(place, size)
            here, is_last = place - self._from, self._from + len(self._text) == len(self._data)
            try:
                value, end = _scan.raw_decode(self._text, here)
            except json.JSONDecodeError as error:
                self._work -= error.pos - here + len(self._text) // 256
                if is_last or not _is_at_end(error, self._text):
                    return None
            except RecursionError:
                end = _end_of_brackets(self._data, place)
                self._work -= 32 * (LONGEST_DEEP if end is None else end - place)
                return end
            else:
                if is_last or end < len(self._text):
                    self._keys = frozenset(as_map(value))
                    return self._from + end
            size *= 1 if here else 4
            self._look(place, size)

    def _look(self, place: int, size: int) -> None:
        self._from = place
        self._text = self._data[place : place + size].decode("latin-1")


def _begins_line(data: bytes, place: int) -> bool:
    """Tell whether nothing but white space stands before a place on its line."""
    return not data[data.rfind(b"\n", 0, place) + 1 : place].strip(_SPACE)


def _after(pattern: re.Pattern[bytes], data: bytes, place: int) -> int:
    match = pattern.match(data, place)
    return match.end() if match else place
