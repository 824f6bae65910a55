"""Records: the JSON objects in a line of bytes, read generously and exactly.

A well-formed line takes the quick way (msgspec). A line that it refuses is read again by a
lenient reader that keeps what other JSON readers lose: NaN, numbers beyond 64 bits and lone
surrogates as text or U+FFFD, bytes that are no UTF-8 replaced, and a second record that a torn
write glued behind a first. Each leniency is named, so that it can become a finding.
"""

from __future__ import annotations

import enum
import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple, cast

import msgspec

from tt_debugger.core.findings import Code

DEEPEST = 256
"""Levels of nesting that a record may have."""

# Digits become 0 and all else blank: so long runs of digits are found at the speed of memchr.
_DIGITS_AS_0 = bytes(ord("0") if chr(byte) in "0123456789" else ord(" ") for byte in range(256))
_LONG_NUMBER = b"0" * 19
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NOT_BRACKET = re.compile(rb"[^\[\]{}]+")
_SPACE = re.compile(r"[ \t\r\n]*")
_BEGINNINGS = frozenset(bytes((byte,)) for byte in b'{["-0123456789tfnNI\0')
"""With what a JSON value can begin, or what is no number, or what a crash left."""
_SHORT = 1 << 16
"""Bytes of a line that may be copied to be looked at."""
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(r'\\["\\]|"|\{(?=[ \t]*")')
_INNER_ENDS = re.compile(r"[ \t\r\n]*[,\]}]")
_MOST_OTHERS = 64
"""Values in a row that are no objects and are still read one by one."""
_MOST_MARKS = 1 << 20
"""Quotes and braces that are looked at behind a place that cannot be read."""
_LEAST_EFFORT, _MOST_EFFORT = 1 << 20, 4
"""Characters that may be read in search of whole records, whatever the length of the line, and
how many times that length on top of them."""
_COUNTED_AT_ONCE = 16
_KEYS_NAMED = 3

_decode = msgspec.json.Decoder().decode


class Leniency(enum.StrEnum):
    """What had to be forgiven to read a record."""

    BAD_UTF8 = "bytes that are no UTF-8 were replaced"
    LONE_SURROGATE = "half of a surrogate pair was replaced"
    ODD_NUMBER = "a number that JSON does not have, or beyond 64 bits, is kept as text"
    RAW_CONTROL = "control characters stand in a text without being escaped"
    DUPLICATE_KEY = "a key is given twice in one object; the last one counts"


CODES = {
    Leniency.BAD_UTF8: Code.BAD_UTF8,
    Leniency.LONE_SURROGATE: Code.LONE_SURROGATE,
    Leniency.ODD_NUMBER: Code.ODD_NUMBER,
    Leniency.RAW_CONTROL: Code.BAD_UTF8,
    Leniency.DUPLICATE_KEY: Code.DUPLICATE_KEY,
}
"""What each becomes as a finding."""


class Record(NamedTuple):
    """One JSON object and its bytes within the line."""

    begin: int
    end: int
    value: dict[str, Any]
    forgiven: tuple[Leniency, ...] = ()


class Refused(NamedTuple):
    """Bytes within a line that are no record, and why not."""

    begin: int
    end: int
    why: str


def records(line: bytes) -> list[Record | Refused]:
    """Read all records of a line, which is not blank; together they cover the whole line."""
    try:
        value = _decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        if b"{" not in line and line.lstrip()[:1] not in _BEGINNINGS:
            # There can be a million such lines.
            return [Refused(0, len(line), "no JSON at character 1: Expecting value")]
        return _reread(line)
    if too_deep(line):
        return [Refused(0, len(line), f"nested deeper than {DEEPEST} levels")]
    if isinstance(value, dict):
        if _LONG_NUMBER in line.translate(_DIGITS_AS_0):
            return _reread(line)
        return [Record(0, len(line), cast("dict[str, Any]", value))]
    return [Refused(0, len(line), f"{_json_name(value)}, not an object")]


def flaws(record: bytes) -> Iterator[tuple[Code, str]]:
    """Give all that had to be forgiven to read the bytes of one record, and what it is in words.

    A key that is given twice is among it; to see it costs several times what `records` does.
    """
    record = record.removeprefix(BOM_UTF8)
    found = _place_of_first(record)
    if found is None:
        return
    begin, end, forgiven = found
    yield from ((CODES[each], str(each)) for each in forgiven)
    twice = _keys_given_twice(record[begin:end])
    if twice:
        names = ", ".join(repr(each[:40]) for each in twice[:_KEYS_NAMED])
        more = f" and {len(twice) - _KEYS_NAMED} more" if len(twice) > _KEYS_NAMED else ""
        yield Code.DUPLICATE_KEY, f"{Leniency.DUPLICATE_KEY}: {names}{more}"


def _place_of_first(line: bytes) -> tuple[int, int, tuple[Leniency, ...]] | None:
    """Give where the first record is and what it needed, without its value: that may be large."""
    for piece in records(line) if line.strip() else ():
        if isinstance(piece, Record):
            return piece.begin, piece.end, piece.forgiven
    return None


def _keys_given_twice(record: bytes) -> list[str]:
    twice: dict[str, None] = {}

    def keys_of(pairs: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in pairs}) < len(pairs):
            counted = Counter(key for key, _ in pairs)
            twice.update(dict.fromkeys(key for key, count in counted.items() if count > 1))

    text, _ = _as_text(record)
    # The values themselves are nobody's concern, so none is kept, and none is too long to read.
    json.JSONDecoder(object_pairs_hook=keys_of, parse_int=str, strict=False).raw_decode(
        text, _after_space(text, 0)
    )
    return list(twice)


def openings(line: bytes) -> int:
    """Give how many brackets open in a line, those in strings included."""
    if len(line) > _SHORT:
        return line.count(b"{") + line.count(b"[")
    # In a short line what is left over is counted in a fourth of that time.
    return len(line) - len(line.replace(b"{", b"").replace(b"[", b""))


def too_deep(line: bytes) -> bool:
    """Tell whether brackets outside of strings are nested deeper than `DEEPEST`."""
    if openings(line) <= DEEPEST:
        return False
    depth = 0
    for bracket in _NOT_BRACKET.sub(b"", _STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEEPEST:
            return True
    return False


def _reread(line: bytes) -> list[Record | Refused]:
    if too_deep(line):
        return [Refused(0, len(line), f"nested deeper than {DEEPEST} levels")]
    if not line.strip(b"\0"):
        return [Refused(0, len(line), "NUL bytes only: lost in a crash")]
    text, bad_utf8 = _as_text(line)
    reader = _LenientReader()
    found: list[Record | Refused] = []
    byte_place = _byte_places(text)
    for begin, end, value in reader.values(text):
        first, last = byte_place(begin), byte_place(end)
        # A number that is kept as text is an object too, but not one that stood in the line.
        if isinstance(value, dict) and text[begin] == "{":
            if bad_utf8 and _SURROGATE.search(text, begin, end):
                reader.forgiven.add(Leniency.BAD_UTF8)
            forgiven = tuple(each for each in Leniency if each in reader.forgiven)
            found.append(Record(first, last, cast("dict[str, Any]", value), forgiven))
        elif found and isinstance(found[-1], Refused):
            found[-1] = found[-1]._replace(end=last)
        else:
            why = value if isinstance(value, _Why) else f"{_json_name(value)}, not an object"
            found.append(Refused(first, last, why))
        reader.forgiven = set()
    return _covering(found, len(line))


def _as_text(line: bytes) -> tuple[str, bool]:
    """Decode UTF-8; bytes that are none become U+DC80..U+DCFF, one character each."""
    try:
        return line.decode(), False
    except UnicodeDecodeError:
        return line.decode(errors="surrogateescape"), True


def _byte_places(text: str) -> Callable[[int], int]:
    """Give what tells the byte at which a character begins; asked for one after the other."""
    if text.isascii():
        return lambda place: place
    last = offset = 0

    def byte_place(place: int) -> int:
        nonlocal last, offset
        offset += len(text[last:place].encode(errors="surrogateescape"))
        last = place
        return offset

    return byte_place


def _covering(found: list[Record | Refused], length: int) -> list[Record | Refused]:
    """Stretch the pieces over the white space between them, so that no byte is unaccounted."""
    covering: list[Record | Refused] = []
    for place, piece in enumerate(found):
        begin = covering[-1].end if covering else 0
        end = length if place == len(found) - 1 else piece.end
        covering.append(piece._replace(begin=begin, end=end))
    return covering


class _Why(str):
    """A reason, told apart from a string that was read."""

    __slots__ = ()


class _LenientReader:
    """Reads the values of a text one after the other, noting what it forgave since last asked."""

    def __init__(self) -> None:
        self.forgiven: set[Leniency] = set()
        self._strict = self._decoder(strict=True)
        self._lax = self._decoder(strict=False)

    def _decoder(self, *, strict: bool) -> json.JSONDecoder:
        return json.JSONDecoder(
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._int,
            strict=strict,
        )

    def values(self, text: str) -> Iterator[tuple[int, int, Any]]:
        """Give the begin, end and value of each; a `_Why` for what cannot be read.

        Behind that it goes on with the next record that is whole.
        """
        place, others = _after_space(text, 0), 0
        while place < len(text):
            try:
                value, end = self._value(text, place)
                value = self._cleaned(value)
                others = 0 if isinstance(value, dict) else others + 1
                if others > _MOST_OTHERS:
                    end = self._next_whole(text, place)
            except (ValueError, RecursionError) as error:
                value, end = _Why(_reason(error, place)), self._next_whole(text, place)
            yield place, end, value
            place = _after_space(text, end)

    def _next_whole(self, text: str, place: int) -> int:
        """Give where a whole record begins behind a place; the end of the text if none does."""
        effort = _LEAST_EFFORT + _MOST_EFFORT * len(text)
        for begin in _beginnings(text, place + 1):
            try:
                _, end = self._value(text, begin)
            except json.JSONDecodeError as error:
                end = error.pos
            except (ValueError, RecursionError):
                end = len(text)
            else:
                if not _INNER_ENDS.match(text, end):
                    return begin
            # To say where it failed, an error counts the lines from the beginning of the text.
            effort -= end - begin + begin // _COUNTED_AT_ONCE
            if effort < 0:
                break
        return len(text)

    def _value(self, text: str, place: int) -> tuple[Any, int]:
        try:
            return self._strict.raw_decode(text, place)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Invalid control character"):
                raise
            found = self._lax.raw_decode(text, place)
            self.forgiven.add(Leniency.RAW_CONTROL)
            return found

    def _constant(self, name: str) -> Any:
        self.forgiven.add(Leniency.ODD_NUMBER)
        return {"$type": "float", "$value": name}

    def _float(self, text: str) -> Any:
        value = float(text)
        return self._kept_as_text(text) if value in (float("inf"), float("-inf")) else value

    def _int(self, text: str) -> Any:
        if len(text) > len(str(_HIGHEST)) or not _LOWEST <= int(text) <= _HIGHEST:
            return self._kept_as_text(text)
        return int(text)

    def _kept_as_text(self, text: str) -> Any:
        self.forgiven.add(Leniency.ODD_NUMBER)
        return {"$type": "decimal.Decimal", "$value": text}

    def _cleaned(self, value: Any) -> Any:
        """Replace lone surrogates in all text. Recursion is safe: depth was checked before."""
        if isinstance(value, str):
            return self._cleaned_text(value)
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {self._cleaned_text(key): self._cleaned(item) for key, item in items}
        if isinstance(value, list):
            return [self._cleaned(item) for item in cast("list[Any]", value)]
        return value

    def _cleaned_text(self, text: str) -> str:
        cleaned = _SURROGATE.sub(_REPLACED, text)
        if cleaned != text:
            escaped = all("\udc80" <= each <= "\udcff" for each in _SURROGATE.findall(text))
            self.forgiven.add(Leniency.BAD_UTF8 if escaped else Leniency.LONE_SURROGATE)
        return cleaned


def _beginnings(text: str, place: int) -> Iterator[int]:
    """Give the places where a record may begin behind one that was torn.

    An object within a torn record is none: it stands behind a colon, comma or bracket. In a text
    no quote follows a brace, as it would be escaped, so there a brace and a quote end the text.
    """
    is_in_text = False
    for mark in islice(_MARK.finditer(text, place), _MOST_MARKS):
        if mark[0] == '"':
            is_in_text = not is_in_text
        elif mark[0] == "{" and (is_in_text or _last_before(text, mark.start()) not in ":,["):
            is_in_text = False
            yield mark.start()


def _last_before(text: str, place: int) -> str:
    """Give the last character before a place that is not white space."""
    while place > 0 and text[place - 1] in " \t\r\n":
        place -= 1
    return text[place - 1 : place] or " "


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _reason(error: Exception, place: int) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON at character {error.pos - place + 1}: {error.msg}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _json_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a number"
