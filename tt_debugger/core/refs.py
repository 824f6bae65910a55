"""Refs: text that names a point in time.

    FRAGMENT = [SESSION:]POINT{STEP} | SESSION: | POINT{STEP}..POINT{STEP}
    POINT    = @ | root | ID | KEY=VALUE        KEY = row | step | label | time | line | mark
    STEP     = ~[n] (parents) | +[n] (children)

Special characters of a session id, an id or a value (`: ~ + .. # @ %`) are percent-encoded.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import NoReturn
from urllib.parse import unquote

import msgspec

from tt_debugger.core.model import Session
from tt_debugger.core.text import safe_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import AmbiguousRefError, UnknownRefError, UsageError

SHORTEST_ID = 4
_CANDIDATES = 6
WORTH_SORTING = 8
"""Short ids for which all ids are gone through; for more they are put in order."""
_KEYED = re.compile(r"(?:^|(?<=:))(row|step|label|time|line|mark)=")
_STEPS = re.compile(r"(?:[~+][0-9]*)+\Z")
_STEP = re.compile(r"([~+])([0-9]*)")
_ISO_TIME = re.compile(r"[0-9W-]+(?:[Tt ].*)?")
"""What may be a time: `fromisoformat` takes any sign between date and hour, a step's too."""
_MOST_DIGITS = 18
"""Digits that a number in a ref may have: int() itself refuses thousands of them."""
_SPECIAL = re.compile(r"[:~+#@%\s\x00-\x1f\x7f-\x9f]|\.\.|\A\.|\.\Z|=")


class Point(msgspec.Struct, frozen=True):
    """A point and the moves from it; `key` is None for `@`, `root` and ids.

    A move is a number: so many parents up (negative) or children down (positive).
    """

    key: str | None
    value: str
    moves: tuple[int, ...] = ()


class Fragment(msgspec.Struct, frozen=True):
    """What follows the # of a location: a session, one point, or the two ends of a range."""

    session: str | None = None
    points: tuple[Point, ...] = ()

    @property
    def is_range(self) -> bool:
        """Whether two ends are named."""
        return len(self.points) > 1


def parse_fragment(text: str) -> Fragment:
    """Read a fragment. Raises UsageError where it is none."""
    ends = text.split("..")
    if len(ends) > 2 or (len(ends) == 2 and not all(ends)):  # noqa: PLR2004 - two ends
        raise UsageError(f"{text!r} is no range", "a range is POINT..POINT, both ends named")
    session, first = _split_session(ends[0])
    if not first and not ends[1:]:
        return Fragment(session)
    return Fragment(session, tuple(_parse_point(each) for each in (first, *ends[1:])))


def is_ref(text: str) -> bool:
    """Tell whether a text alone says that it is a ref: `row=3`, `@~2`, and not just a name."""
    return bool(_KEYED.match(text) or re.match(r"@(?:[~+]|\Z)|root(?:~|\Z)", text))


def _split_session(text: str) -> tuple[str | None, str]:
    """Split at the last colon that is not inside a `KEY=VALUE`."""
    keyed = _KEYED.search(text)
    if keyed:
        return (text[: keyed.start() - 1] if keyed.start() else None), text[keyed.start() :]
    session, colon, point = text.rpartition(":")
    return (session, point) if colon else (None, point)


def _parse_point(text: str) -> Point:
    keyed = _KEYED.match(text)
    key, begin = (keyed[1], keyed.end()) if keyed else (None, 0)
    end = _end_of_value(text, key, begin)
    if not text[:end]:
        raise UsageError(f"{text!r} names no point", "put an id, @, root or KEY=VALUE before it")
    return Point(key, text[begin:end], tuple(_moves(text[end:])))


def _end_of_value(text: str, key: str | None, begin: int) -> int:
    """Give where the value ends and the steps begin.

    The zone of a time looks like a step too: steps end where what is before them is a time.
    """
    steps = _STEPS.search(text)
    if steps is None:
        return len(text)
    if key == "time":
        ends = [each.start() for each in _STEP.finditer(text, steps.start())]
        for end in (len(text), *reversed(ends)):
            if moment_of(unquote(text[begin:end])) is not None:
                return end
    return steps.start()


def _moves(text: str) -> list[int]:
    return [
        (-1 if sign == "~" else 1) * (_number(count, "a step") if count else 1)
        for sign, count in _STEP.findall(text)
    ]


def quoted(text: str) -> str:
    """Give an id or value as it stands in a ref.

    Percent-encoded are the characters that refs are made of, and those that cannot be seen: ids
    that only look alike stay apart.
    """

    def encoded(text: str) -> str:
        return "".join(f"%{byte:02X}" for byte in text.encode(errors="replace"))

    text = _SPECIAL.sub(lambda found: encoded(found[0]), text)
    if not text.isascii():
        text = "".join(each if safe_line(each) == each else encoded(each) for each in text)
    return f"%{ord(text[0]):02X}{text[1:]}" if text == "root" else text


class Resolver:
    """Finds the rows that points of one session name. `marks` maps a mark's name to an id."""

    def __init__(self, session: Session, marks: Mapping[str, str] | None = None) -> None:
        self._session = session
        self._marks: Mapping[str, str] = {} if marks is None else marks
        self._by_id: list[tuple[str, int]] | None = None
        self._asked = 0
        """How many short ids were given before the ids were put in order."""

    def row(self, point: Point) -> int:
        """Give the row a point names. Raises UnknownRefError or AmbiguousRefError."""
        row = self._base(point)
        for move in point.moves:
            row = self._moved(row, move)
        return row

    def rows(self, ends: tuple[Point, Point]) -> list[int]:
        """Give the rows of a range, both ends included.

        Raises UsageError where the first is no ancestor of the second.
        """
        first, last = map(self.row, ends)
        tree = self._session.tree
        if not tree.is_ancestor(first, last):
            raise UsageError(
                f"{self.short_id(first)} is no ancestor of {self.short_id(last)}",
                "a range runs along one path, from an earlier checkpoint to a later one",
            )
        return tree.path_to(last)[tree.depth(first) :]

    def short_id(self, row: int) -> str:
        """Give the shortest unique prefix of a row's id, at least 4 characters, as a ref."""
        name = self._session.ids[row]
        needed = max((_common_length(name, other) + 1 for other in self._alike(row)), default=1)
        return quoted(name[: max(needed, SHORTEST_ID)])

    def _alike(self, row: int) -> list[str]:
        """Give the ids of others that have the longest beginning in common with a row's."""
        name = self._session.ids[row]
        if self._by_id is None and self._asked < WORTH_SORTING:
            self._asked += 1
            every = chain(self._session.ids, self._session.aliases)
            alike = [each for each in every if each.startswith(name[:SHORTEST_ID])]
            alike.remove(name)
            return alike
        ids = self._sorted_ids()
        place = bisect.bisect_left(ids, (name, row))
        return [ids[n][0] for n in (place - 1, place + 1) if 0 <= n < len(ids)]

    def _base(self, point: Point) -> int:
        value = unquote(point.value)
        match point.key:
            case None:
                row = self._named(point.value)
            case "row":
                row = self._numbered(_number(value, "row="))
            case "label":
                labels = self._session.labels
                rows = [row for row, label in labels.items() if label == value]
                # Several names of one row, such as a branch and a tag, stand in one label.
                rows = rows or [r for r, label in labels.items() if value in label.split(", ")]
                row = self._only(rows, f"label {value!r}", sorted(labels.values()))
            case "mark":
                row = self._marked(value)
            case "time":
                row = self._at_time(value)
            case "line":
                row = self._on_line(_number(value, "line="))
            case _:
                row = self._at_step(_signed_number(value, "step="))
        return row

    def _marked(self, name: str) -> int:
        if name not in self._marks:
            self._unknown(f"mark {name!r}", sorted(self._marks))
        row = self._session.row_of(self._marks[name])
        if row is None:
            raise UnknownRefError(
                f"the checkpoint {self._marks[name]!r} of mark {name!r} is not in this session",
                "set the mark again, or drop it",
            )
        return row

    def _named(self, text: str) -> int:
        session = self._session
        if text == "@":
            if session.active is None:
                raise UnknownRefError("there is no active leaf: the session has no checkpoints")
            return session.active
        if text == "root":
            if not session.active_path:
                raise UnknownRefError("there is no root: the session has no checkpoints")
            return session.active_path[0]
        for name in (unquote(text), text):
            row = session.row_of(name)
            if row is not None:
                return row
        rows = self._with_prefix(unquote(text))
        if not rows and _is_number(text) and 1 <= int(text) <= len(session):
            hint = f"for the row of this number: row={text}"
            raise UnknownRefError(f"there is no checkpoint {text!r} in this session", hint)
        close = [session.ids[row] for row in rows] or session.ids[-_CANDIDATES:]
        return self._only(rows, f"checkpoint {text!r}", close)

    def _with_prefix(self, prefix: str) -> list[int]:
        if not prefix:
            return []
        ids = self._sorted_ids()
        rows: dict[int, None] = {}
        for name, row in ids[bisect.bisect_left(ids, (prefix, NO_ROW)) :]:
            if not name.startswith(prefix):
                break
            rows[row] = None
        return list(rows)

    def _numbered(self, number: int) -> int:
        if not 1 <= number <= len(self._session):
            raise UnknownRefError(f"there is no row {number}", f"rows: 1 to {len(self._session)}")
        return number - 1

    def _at_time(self, text: str) -> int:
        moment = moment_of(text)
        if moment is None:
            raise UsageError(f"{text!r} is no ISO time", "for example time=2026-01-31T12:00:00Z")
        heads = self._session.heads
        best: int | None = None
        for row in self._session.active_path:
            time = heads.time(row)
            if time is not None and time <= moment:
                best = row
        if best is None:
            raise UnknownRefError(f"nothing on the active path is as early as {text}")
        return best

    def _on_line(self, line: int) -> int:
        heads = self._session.heads
        for row in range(len(self._session)):
            begin = heads.line(row)
            if begin == line:
                return row
            if heads.is_gap(row) and begin is not None and begin < line:
                following = heads.line(row + 1) if row + 1 < len(self._session) else None
                if following is None or line < following:
                    return row
        for row, parts in heads.parts.items():
            if any(part.line == line for part in parts):
                return row
        raise UnknownRefError(f"no checkpoint's record is on line {line}")

    def _at_step(self, step: int) -> int:
        heads = self._session.heads
        rows = [row for row in range(len(self._session)) if heads.step(row) == step]
        if not rows:
            every = (heads.step(row) for row in range(len(self._session)))
            steps = sorted({step for step in every if step is not None})
            hint = f"steps: {steps[0]} to {steps[-1]}" if steps else "this format has no steps"
            raise UnknownRefError(f"there is no step {step} in this session", hint)
        return rows[-1]

    def _moved(self, row: int, distance: int) -> int:
        tree = self._session.tree
        if distance < 0:
            depth = tree.depth(row) + distance
            if depth < 0:
                raise UnknownRefError(
                    f"{self.short_id(row)} has only {tree.depth(row)} ancestors, not {-distance}"
                )
            return tree.ancestor_at(row, depth)
        for _ in range(distance):
            child = self._session.heir(row)
            if child == NO_ROW:
                raise UnknownRefError(f"{self.short_id(row)} has no children")
            row = child
        return row

    def _only(self, rows: Sequence[int], what: str, candidates: Sequence[str]) -> int:
        if not rows:
            self._unknown(what, candidates)
        if len(rows) > 1:
            shown = ", ".join(self.short_id(row) for row in rows[:_CANDIDATES])
            more = f" and {len(rows) - _CANDIDATES} more" if len(rows) > _CANDIDATES else ""
            raise AmbiguousRefError(f"{what} names {len(rows)} checkpoints", f"{shown}{more}")
        return rows[0]

    def _unknown(self, what: str, candidates: Sequence[str]) -> NoReturn:
        shown = ", ".join(map(quoted, candidates[:_CANDIDATES]))
        hint = f"there are: {shown}" if shown else None
        raise UnknownRefError(f"there is no {what} in this session", hint)

    def _sorted_ids(self) -> list[tuple[str, int]]:
        if self._by_id is None:
            named = ((name, row) for row, name in enumerate(self._session.ids))
            self._by_id = sorted((*named, *self._session.aliases.items()))
        return self._by_id


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def _number(text: str, what: str) -> int:
    if not _is_number(text):
        raise UsageError(f"{what} takes a number, not {text!r:.60}")
    return int(text)


def _signed_number(text: str, what: str) -> int:
    """Give a number that may be negative, as the first step of LangGraph is."""
    return -_number(text[1:], what) if text.startswith("-") else _number(text, what)


def moment_of(text: str) -> float | None:
    """Give the seconds of an ISO time; without a zone it is UTC."""
    if not _ISO_TIME.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _common_length(text: str, other: str) -> int:
    length = 0
    for mine, theirs in zip(text, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length
