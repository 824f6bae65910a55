"""Search: where a text stands in a session, in the index and in the bodies.

`Query` is what a person typed, `scan` walks the rows and gives what it finds in batches, and
`Search` is told them and answers where the next hit is, which may be known before all is read.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Protocol, cast

import msgspec

from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body
from tt_debugger.core.text import CUT

BATCH_ROWS = 1024
BATCH_BYTES = 1 << 20
"""What one batch reads at most, apart from a single record that is larger."""
NEAR_ROWS = 4096
NEAR_BYTES = 4 << 20
"""How far bodies are read from the start before the index of all rows is looked through."""
INDEX_BATCH_ROWS = 512

_BEFORE, _FOUND, _AFTER = 24, 60, 72
"""Characters of an excerpt."""
_ESCAPED = re.compile(r'["\\/\x00-\x1f\ufffd]')
"""Characters that JSON may write otherwise than as they are, or that stand for bad bytes."""
_SPACE = re.compile(r"\s+")
FOLDING_TO_ASCII = tuple(
    each.encode()
    for each in (
        *"\xdf\u0130\u0149\u017f\u01f0\u1e96\u1e97\u1e98\u1e99\u1e9a\u1e9e\u212a",
        *"\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06",
    )
)
"""Characters that have a letter of ASCII in them once their case is folded."""
_FOLDING_TO_ASCII = re.compile(b"|".join(FOLDING_TO_ASCII))
_ESCAPED_ASCII = re.compile(
    rb"\\u(?:00[2-7]|00df|0130|0149|017f|01f0|1e9[6-9ae]|212a|fb0[0-6])", re.IGNORECASE
)
"""Escapes of JSON that stand for a letter of ASCII, or have one in them once folded."""
_ASCII = bytes(range(128))
_ADDED = ("$type", "$value", "decimal.Decimal", "float")
"""Text that stands in a body for a number JSON does not have, but not in its record."""


class Hit(msgspec.Struct, frozen=True, gc=False):
    """A row where the query stands, with the text there and a little around it.

    It is content on one line, not yet safe: whoever draws it passes each part through `safe_line`.
    """

    row: int
    before: str
    found: str
    after: str

    @property
    def excerpt(self) -> str:
        """The three parts as one text."""
        return f"{self.before}{self.found}{self.after}"


class Query(msgspec.Struct, frozen=True):
    """A text to look for; one without capitals is found whatever the case."""

    text: str
    is_exact: bool
    needle: str
    """What is looked for: the text, or the text with its case folded."""
    data: bytes | None
    """The needle as JSON text has it wherever it says it, but for `\\u`; None if it may differ."""

    @classmethod
    def parse(cls, text: str) -> Query | None:
        """Read what was typed; white space around it does not count, and nothing is no query."""
        text = text.strip()
        if not text:
            return None
        return cls.of(text, is_exact=text != text.lower())

    @classmethod
    def of(cls, text: str, *, is_exact: bool) -> Query:
        """Look for a text as it is, found whatever the case unless it is exact."""
        needle = text if is_exact else text.casefold()
        return cls(text, is_exact, needle, _data(needle, is_exact=is_exact))

    def folded(self, text: str) -> str:
        """Give a text as the needle is looked for in it."""
        return text if self.is_exact else text.casefold()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Give where it stands in a text, from left to right."""
        folded = self.folded(text)
        # A text that grew when its case was folded is not mapped back: it is only marked less.
        begin = folded.find(self.needle) if len(folded) == len(text) else -1
        while begin >= 0:
            yield begin, begin + len(self.needle)
            begin = folded.find(self.needle, begin + len(self.needle))

    def in_index(self, session: Session, row: int) -> Hit | None:
        """Look into what the index has of a row: label, id, name and summary."""
        for text in _index_texts(session, row):
            hit = self._in_text(row, text)
            if hit is not None:
                return hit
        return None

    def in_body(self, row: int, body: Body) -> Hit | None:
        """Look into each key and each text of a row's body, in the order they are written."""
        return next(filter(None, (self._in_text(row, text) for text in _texts(body))), None)

    def may_be_in(self, record: bytes) -> bool:
        """Tell whether `in_body` may find it in a record of JSON text; only a no is certain."""
        if self.data is None or self._may_be_escaped_in(record):
            return True
        return self._may_be_raw_in(record, self.data)

    def may_be_in_packed(self, texts: Iterable[bytes]) -> bool:
        """Tell whether it may be in texts that stand as they are in some bytes."""
        try:
            data = self.needle.encode()
        except UnicodeEncodeError:
            return True
        return self._may_be_raw_in(b"\n".join(texts), data)

    def _may_be_escaped_in(self, record: bytes) -> bool:
        """Tell whether JSON may say some of it by numbers in a record."""
        if not self.needle.isascii():
            return b"\\u" in record
        # Python writes all that is not ASCII so; what stands for ASCII is seldom written.
        if self.is_exact and b"\\u00" not in record:
            return False
        return b"\\u" in record and _ESCAPED_ASCII.search(record) is not None

    def _may_be_raw_in(self, data: bytes, needle: bytes) -> bool:
        # Folding a whole record that is not ASCII is slow, and seldom needed for an answer.
        if needle in (data if self.is_exact else data.lower()):
            return True
        if self.is_exact or data.isascii():
            return False
        if needle.isascii():
            return _FOLDING_TO_ASCII.search(data.translate(None, _ASCII)) is not None
        return self.needle in data.decode(errors="replace").casefold()

    def in_gap(self, row: int, data: bytes) -> Hit | None:
        """Look into bytes that are no record."""
        return self._in_text(row, data.decode(errors="replace"))

    def _in_text(self, row: int, text: str) -> Hit | None:
        folded = self.folded(text)
        begin = folded.find(self.needle)
        if begin < 0:
            return None
        end = begin + len(self.needle)
        if len(folded) != len(text):
            begin, end = _unfolded(text, begin, end)
        return _hit(row, text, begin, end)


class Regex(msgspec.Struct, frozen=True):
    """A regular expression to look for, in the places in which a query looks."""

    text: str
    pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: str, *, ignores_case: bool) -> Regex:
        """Read an expression. Raises ValueError where it is none."""
        try:
            return cls(text, re.compile(text, re.IGNORECASE if ignores_case else 0))
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(str(error)) from error

    def in_index(self, session: Session, row: int) -> Hit | None:
        """Look into what the index has of a row: label, id, name and summary."""
        found = (self._in_text(row, text) for text in _index_texts(session, row))
        return next(filter(None, found), None)

    def in_body(self, row: int, body: Body) -> Hit | None:
        """Look into each key and each text of a row's body, in the order they are written."""
        return next(filter(None, (self._in_text(row, text) for text in _texts(body))), None)

    def in_gap(self, row: int, data: bytes) -> Hit | None:
        """Look into bytes that are no record."""
        return self._in_text(row, data.decode(errors="replace"))

    def may_be_in(self, record: bytes) -> bool:
        """Tell that it may be in any record: how JSON writes what it matches is not known."""
        return True

    def may_be_in_packed(self, texts: Iterable[bytes]) -> bool:
        """Tell that it may be in any texts."""
        return True

    def _in_text(self, row: int, text: str) -> Hit | None:
        found = self.pattern.search(text)
        # What matches nothing would match everything.
        return _hit(row, text, *found.span()) if found and found[0] else None


def _data(needle: str, *, is_exact: bool) -> bytes | None:
    added = (each if is_exact else each.casefold() for each in _ADDED)
    if _ESCAPED.search(needle) or any(needle in each for each in added):
        return None
    try:
        return needle.encode()
    except UnicodeEncodeError:
        return None


def _texts(body: Body) -> Iterator[str]:
    waiting: list[Any] = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, item in reversed(cast("dict[str, Any]", value).items()):
                waiting += (item, key)
        elif isinstance(value, list):
            waiting += reversed(cast("list[Any]", value))


def _index_texts(session: Session, row: int) -> Iterator[str]:
    head = session.heads[row]
    label = session.labels.get(row)
    if label is not None:
        yield label
    yield from (session.ids[row], head.name, head.summary)


def _unfolded(text: str, begin: int, end: int) -> tuple[int, int]:
    """Give the span in a text for one in its folded form, where a ß counts two."""
    ends = list(accumulate(len(each.casefold()) for each in text[:end]))
    return bisect_right(ends, begin), bisect_left(ends, end) + 1


def _hit(row: int, text: str, begin: int, end: int) -> Hit:
    before = _one_line(text[max(0, begin - 4 * _BEFORE) : begin])
    if len(before) > _BEFORE or begin > 4 * _BEFORE:
        before = CUT + before[-_BEFORE:].lstrip()
    found = _one_line(text[begin:end])
    if len(found) > _FOUND:
        found = found[: _FOUND - 1] + CUT
    after = _one_line(text[end : end + 4 * _AFTER])
    if len(after) > _AFTER or end + 4 * _AFTER < len(text):
        after = after[:_AFTER].rstrip() + CUT
    return Hit(row, before, found, after)


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text)


class Found(msgspec.Struct, frozen=True):
    """What a scan found since the last batch, and how far it is.

    `done` of all `of` rows are looked into, counted from the start; `is_indexed` says that the
    index of all rows is looked through, so that what is left stands in bodies alone.
    """

    hits: tuple[Hit, ...]
    done: int
    of: int
    is_indexed: bool = False


Records = Callable[[Sequence[int]], Sequence[bytes | None]]
"""Gives the records of the first of some rows, at least one and at most about `BATCH_BYTES`.

None stands for a record that is not kept as JSON text.
"""


Run = Callable[[int, int], bytes | None]
"""Gives all bytes from one row's record to a later one's, None where they are no run of JSON."""


def scan(
    session: Session,
    query: Query | Regex,
    start: int,
    records: Records,
    bodies: Callable[[Sequence[int]], Sequence[Body]],
    run: Run,
) -> Iterator[Found]:
    """Look for a query in all rows, from one on around the session, a batch at a time.

    What is near comes first: the bodies of the rows that follow, then the index of all rows, then
    the other bodies. Each row gives one hit at most.
    """
    size = len(session)
    scanned = _Scan(session, query, start, records, bodies, run)
    for near in scanned.into_bodies():
        yield near
        if near.done >= NEAR_ROWS or scanned.read >= NEAR_BYTES:
            break
    yield from scanned.through_index()
    yield Found((), scanned.done, size, is_indexed=True)
    yield from scanned.into_bodies()


class _Scan:
    """A scan on its way: how far it is, and which rows the index has settled."""

    def __init__(
        self,
        session: Session,
        query: Query | Regex,
        start: int,
        records: Records,
        bodies: Callable[[Sequence[int]], Sequence[Body]],
        run: Run,
    ) -> None:
        self._session = session
        self._query = query
        self._records = records
        self._bodies = bodies
        self._run = run
        self._start = start
        self._size = len(session)
        self._is_hit = bytearray(len(session))
        self._is_indexed = False
        self.done = 0
        self.read = 0

    def _rows(self, count: int, begin: int) -> range:
        """Give so many rows from a place in the order of the scan, or up to an end of it."""
        first = (self._start + begin) % self._size
        count = min(count, self._size - begin, self._size - first)
        return range(first, first + count)

    def through_index(self) -> Iterator[Found]:
        """Look through the index of the rows that are left."""
        begin = self.done
        while begin < self._size:
            rows = self._rows(INDEX_BATCH_ROWS, begin)
            yield Found(tuple(self._in_index(rows)), self.done, self._size)
            begin += len(rows)
        self._is_indexed = True

    def _in_index(self, rows: range) -> list[Hit]:
        """Give the hits in the index; what all rows say is first looked through as bytes."""
        session, query = self._session, self._query
        if not query.may_be_in_packed(_index_texts_of(session, rows)):
            return []
        found = (query.in_index(session, row) for row in rows)
        hits = [hit for hit in found if hit is not None]
        for hit in hits:
            self._is_hit[hit.row] = True
        return hits

    def into_bodies(self) -> Iterator[Found]:
        """Look into the bodies of the rows that are left, and into the index where not done."""
        while self.done < self._size:
            rows = self._rows(BATCH_ROWS, self.done)
            hits = [] if self._is_indexed else self._in_index(rows)
            run = self._run(rows[0], rows[-1])
            if run is not None and not self._query.may_be_in(run):
                self.read += len(run)
            else:
                rows, more = self._one_by_one(rows)
                hits = [hit for hit in hits if hit.row in rows] + more
            self.done += len(rows)
            yield Found(tuple(hits), self.done, self._size, self._is_indexed)

    def _one_by_one(self, rows: range) -> tuple[range, list[Hit]]:
        """Look into the records of the first of some rows; give those rows and the hits."""
        wanted = [row for row in rows if not self._is_hit[row]]
        records = self._records(wanted) if wanted else ()
        if len(records) < len(wanted):
            rows = range(rows.start, wanted[len(records)])
        return rows, self._in_records(wanted[: len(records)], records)

    def _in_records(self, rows: Sequence[int], records: Sequence[bytes | None]) -> list[Hit]:
        found: list[Hit | None] = []
        likely: list[int] = []
        for row, record in zip(rows, records, strict=True):
            self.read += len(record or b"")
            if record is not None and self._session.heads.is_gap(row):
                found.append(self._query.in_gap(row, record))
            elif record is None or self._query.may_be_in(record):
                likely.append(row)
        for row, body in zip(likely, self._bodies(likely) if likely else (), strict=True):
            found.append(self._query.in_body(row, body))
        return [hit for hit in found if hit is not None]


def _index_texts_of(session: Session, rows: range) -> Iterator[bytes]:
    """Give all that the index has of some rows, as it is packed."""
    part = slice(rows.start, rows.stop)
    texts = [*session.ids[part]]
    texts += [label for row, label in session.labels.items() if row in rows]
    yield "\n".join(texts).encode(errors="replace")
    yield from session.heads.packed(part)


class Sought(Protocol):
    """What somebody looks for: a text, or where a condition holds."""

    @property
    def text(self) -> str:
        """What was typed."""
        ...


class Jump(msgspec.Struct, frozen=True):
    """Where the next hit is; an uncertain one leaps over rows that are not looked into yet."""

    row: int
    has_wrapped: bool = False
    """Whether it lies beyond the end of the session (or its beginning, going back)."""
    is_certain: bool = True


class NoJump(enum.Enum):
    """Why there is no row to go to."""

    NOT_YET = "not yet"
    """The scan has not come far enough: ask again when more is told."""
    NOWHERE = "nowhere"
    """All is looked into and there is no hit."""


class Search:
    """What is known of a search so far: it is told what a scan found, and asked where to go.

    Only rows that are shown count. An answer is certain if every shown row on the way to the hit
    was looked into. Once the index of all rows is looked through, a hit that only the index knows
    of is leapt to over rows that are not: nobody waits for the whole file, and what was passed
    over is found on the way back.
    """

    def __init__(
        self, query: Sought, size: int, start: int = 0, shown: bytes | bytearray | None = None
    ) -> None:
        self.query = query
        self.hits: dict[int, Hit] = {}
        self._size = size
        self._start = start
        self._done = 0
        self._is_indexed = False
        self.show_only(shown)

    def tell(self, found: Found) -> None:
        """Hear of what a scan found; batches are told in the order in which they came."""
        for hit in found.hits:
            self.hits[hit.row] = hit
            if self._shown is None or self._shown[hit.row]:
                self._flags[hit.row] = True
        self._settle(self._done, found.done)
        self._done = found.done
        self._is_indexed = found.is_indexed

    def show_only(self, shown: bytes | bytearray | None) -> None:
        """Count only the rows that have a 1 here, one byte a row; None shows all."""
        self._shown = None if shown is None else bytes(map(bool, shown))
        self._flags = bytearray(self._size)
        for row in self.hits:
            self._flags[row] = self._shown is None or self._shown[row]
        self._open = bytearray(self._shown or b"\1" * self._size)
        self._settle(0, self._done)

    def _settle(self, begin: int, end: int) -> None:
        """Note that rows, counted from the start, are looked into."""
        begin, end = self._start + begin, self._start + end
        for low, high in (
            (min(begin, self._size), min(end, self._size)),
            (max(begin - self._size, 0), max(end - self._size, 0)),
        ):
            self._open[low:high] = bytes(high - low)

    @property
    def size(self) -> int:
        """The rows that are looked into, and are to be."""
        return self._size

    @property
    def is_done(self) -> bool:
        """Whether all rows are looked into."""
        return self._done >= self._size

    @property
    def percent(self) -> int:
        """How much is looked into."""
        return 100 if self.is_done else self._done * 100 // self._size

    @property
    def count(self) -> int:
        """The hits so far."""
        return self._flags.count(1)

    def place(self, row: int) -> int | None:
        """Give the number of a hit among those so far, from 1; None where a row is none."""
        is_hit = 0 <= row < self._size and self._flags[row]
        return self._flags.count(1, 0, row + 1) if is_hit else None

    def next(self, row: int) -> Jump | NoJump:
        """Give the first hit below a row, around the end of the session to the row itself."""
        hit = self._flags.find(1, row + 1)
        if hit >= 0:
            return self._jump(hit, ((row + 1, hit),), has_wrapped=False)
        hit = self._flags.find(1)
        return self._jump(hit, ((row + 1, self._size), (0, hit)), has_wrapped=True)

    def previous(self, row: int) -> Jump | NoJump:
        """Give the first hit above a row, around the beginning of the session."""
        hit = self._flags.rfind(1, 0, max(row, 0))
        if hit >= 0:
            return self._jump(hit, ((hit + 1, row),), has_wrapped=False)
        hit = self._flags.rfind(1)
        return self._jump(hit, ((0, max(row, 0)), (hit + 1, self._size)), has_wrapped=True)

    def _jump(
        self, hit: int, between: Sequence[tuple[int, int]], *, has_wrapped: bool
    ) -> Jump | NoJump:
        if hit < 0:
            return NoJump.NOWHERE if self.is_done else NoJump.NOT_YET
        if all(self._open.find(1, begin, end) < 0 for begin, end in between):
            return Jump(hit, has_wrapped)
        # The way passed rows not looked into. A hit behind them that was read, not taken from the
        # index, lies where the scan began: going there would be going round for nothing.
        if self._is_indexed and self._open[hit]:
            return Jump(hit, has_wrapped, is_certain=False)
        return NoJump.NOT_YET
