"""Objects of which some members are lists of records: what stands where, damage and all.

An agent that keeps its session in one JSON object writes the whole of it each time. Where it was
cut, or a part of it is damaged, what is whole is read: each member by itself, and of the lists
each record by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.formats.shared.document import Document, Element, Lost, findings_on
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.store import Probe

_KEY = re.compile(r'[ \t\r\n,]*("(?:[^"\\]|\\.)*+")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_MEMBER = re.compile(rb'"(?:[^"\\]|\\.)*+"[ \t\r\n]*:', re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")
_END = re.compile(r"[ \t\r\n,]*\}")
_SPACE = b" \t\r\n"
_scan = json.JSONDecoder(parse_float=len, parse_int=len, parse_constant=len, strict=False)


class Member(NamedTuple):
    """A key of an object and where its value stands; `begin` is that of the key.

    `end` is None where the value is cut or damaged.
    """

    key: str
    begin: int
    value: int
    end: int | None


class ListRead(msgspec.Struct, frozen=True):
    """What stands in a list: its records, and what is lost between them."""

    pieces: tuple[Element | Lost, ...] = ()

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records that are whole."""
        return [each.value for each in self.pieces if isinstance(each, Element)]


class ObjectRead(msgspec.Struct, frozen=True):
    """What was read of an object: its lists of records by their keys, and all other members.

    `places` says where each of those others stands, with its key; `lost` is what belongs to none.
    """

    members: dict[str, Any]
    lists: dict[str, ListRead]
    places: dict[str, Place]
    lost: tuple[Lost, ...] = ()
    findings: tuple[Finding, ...] = ()

    def pieces(self, key: str) -> tuple[Element | Lost, ...]:
        """Give what stands in a list, nothing where there is none of this name."""
        return self.lists[key].pieces if key in self.lists else ()


def read_list(data: bytes) -> ListRead:
    """Give the records of a file that is a list, however damaged it is."""
    return ListRead(tuple(Document(data, is_array=True, findings=()).pieces()))


def read_object(data: bytes, lists: Collection[str] = ()) -> ObjectRead:
    """Give what can be read of a file that is one object, the named lists record by record."""
    found: list[Finding] = []
    if data.startswith(BYTE_ORDER_MARK):
        message = "the file begins with a byte order mark"
        found.append(finding(Code.BYTE_ORDER_MARK, message, line=1, offset=0))
    read = ObjectRead({}, {}, {}, findings=tuple(found))
    lost: list[Lost] = []
    end = 0
    place: int | None = 0
    while place is not None:
        begin, place = place, None
        for member in _members(data, lists, begin):
            if end and data[end : member.begin].strip(_SPACE + b","):
                # What stands between is neither a key nor a value.
                lost.append(_lost(data, end, member.begin))
            end = member.begin if member.end is None else member.end
            if member.key in lists and data[member.value : member.value + 1] == b"[":
                part, stop = _read_part(data, member.value, member.end)
                read.lists[member.key] = part
                end = len(data) if stop is None else stop
                place = stop if member.end is None else None
            elif member.end is not None:
                read.members[member.key] = _value(data[member.value : member.end])
                read.places[member.key] = _place(data, member.begin, member.end)
    rest = _rest(data, end)
    if rest is not None:
        lost.append(rest)
    return msgspec.structs.replace(read, lost=tuple(lost))


def members(data: bytes) -> Iterator[Member]:
    """Give the keys of the object that some bytes begin with, as far as they can be read."""
    yield from _members(data, ())


@lru_cache(1)
def keys_seen(probe: Probe) -> tuple[str, ...]:
    """Give the keys of the one object that a probe sees, the last of which may be cut.

    Every format asks for them.
    """
    return tuple(each.key for each in members(probe.head))


def one_record(data: bytes) -> tuple[dict[str, Any] | None, str, tuple[Finding, ...]]:
    """Give the one object that a small file is, or why it is none, and what was forgiven."""
    bare = data.removeprefix(BYTE_ORDER_MARK)
    if not bare.strip():
        return None, "it is empty", ()
    first = records(bare)[0]
    if not isinstance(first, Record):
        return None, first.why, ()
    size = Place(1, 1, 0, len(data))
    told = findings_on(Element(size, first.value, first.forgiven))
    return first.value, "", tuple(told)


def object_in(data: bytes) -> dict[str, Any]:
    """Give the one object that a small file is. Raises ValueError, which says why it is none."""
    value, why, _ = one_record(data)
    if value is None:
        raise ValueError(why)
    return value


def _members(data: bytes, lists: Collection[str], begin: int = 0) -> Iterator[Member]:
    """Give the members that stand behind a place, which is that of one if it is not the first."""
    # As Latin-1 every byte is one character, and brackets and quotes are where they are in UTF-8.
    text = data.decode("latin-1")
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    place = _after(_BLANK, text, start)
    if not begin and text[place : place + 1] != "{":
        return
    place = begin or place + 1
    seen: set[str] = set()
    while True:
        match = _KEY.match(text, place)
        if match is not None:
            key = _unquoted(data[match.start(1) : match.end(1)])
            seen.add(key)
            try:
                _, end = _scan.raw_decode(text, match.end())
            except (ValueError, RecursionError):
                yield Member(key, match.start(1), match.end(), None)
                place = match.end()
            else:
                yield Member(key, match.start(1), match.end(), end)
                place = end
                continue
            if key in lists and text[match.end() : match.end() + 1] == "[":
                return
        elif _END.match(text, place):
            return
        # Behind damage the lists are what matters most; they are found by their names.
        again = _list_after(text, place, [each for each in lists if each not in seen])
        if again is None:
            return
        place = again


def _list_after(text: str, place: int, names: Sequence[str]) -> int | None:
    if not names:
        return None
    either = "|".join(re.escape(json.dumps(each)) for each in names)
    match = re.compile(rf"(?:{either})[ \t\r\n]*:[ \t\r\n]*\[").search(text, place)
    return None if match is None else match.start()


def _read_part(data: bytes, begin: int, end: int | None) -> tuple[ListRead, int | None]:
    """Give the records of a list that is a part of a file, and where what follows it begins.

    Of a damaged list the end is not known: it is where the next member of the object begins, None
    if there is none.
    """
    listed = Document(data[begin:end], is_array=True, findings=())
    lines = data.count(b"\n", 0, begin)
    pieces = [_shifted(each, lines, begin) for each in listed.pieces()]
    last = pieces[-1] if pieces and end is None else None
    if isinstance(last, Lost) and _MEMBER.match(data, last.place.offset):
        return ListRead(tuple(pieces[:-1])), last.place.offset
    return ListRead(tuple(pieces)), end


def _shifted(piece: Element | Lost, lines: int, offset: int) -> Element | Lost:
    place = msgspec.structs.replace(
        piece.place, line=piece.place.line + lines, offset=piece.place.offset + offset
    )
    return msgspec.structs.replace(piece, place=place)


def _rest(data: bytes, end: int) -> Lost | None:
    """Give what stands behind the last member, but for the end of the object."""
    begin = end or (len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0)
    rest = data[begin:]
    bare = rest.strip(_SPACE + b",")
    if not bare or (end and bare == b"}") or (not end and bare.replace(b" ", b"") == b"{}"):
        return None
    begin += len(rest) - len(rest.lstrip(_SPACE + b","))
    begins = bare[:1] == b'"' or (not end and bare[:1] == b"{")
    is_cut = begins and not bare.endswith(b"}")
    return _lost(data, begin, len(data), is_whole=not is_cut)


def _lost(data: bytes, begin: int, end: int, *, is_whole: bool = True) -> Lost:
    place = msgspec.structs.replace(_place(data, begin, end), is_whole=is_whole)
    bare = data[begin:end]
    if not bare.strip(b"\0"):
        why = f"{end - begin} NUL bytes: lost in a crash"
    elif is_whole:
        why = "a part of the document is damaged"
    else:
        why = f"its last {end - begin} bytes are not complete"
    return Lost(place, why)


def _place(data: bytes, begin: int, end: int) -> Place:
    return Place(data.count(b"\n", 0, begin) + 1, 1, begin, end - begin)


def _value(data: bytes) -> Any:
    """Give a value of any type as exactly as a record is given."""
    # As the only member of an object, which is what is read generously.
    for piece in records(b'{"value":' + data + b"}"):
        if isinstance(piece, Record):
            return piece.value.get("value")
    with suppress(ValueError):
        return json.loads(data.decode(errors="replace"), strict=False)
    return None


def _unquoted(data: bytes) -> str:
    text = data.decode(errors="replace")
    try:
        key: Any = json.loads(text, strict=False)
    except ValueError:
        return text[1:-1]
    return str(key)


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place
