"""Completion: what a ref that is being typed may become, and where it leads."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from urllib.parse import unquote

import msgspec

from tt_debugger.core.model import Session
from tt_debugger.core.refs import Fragment, Point, Resolver, parse_fragment, quoted
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import UnknownRefError, UsageError

MOST = 50
"""Completions that are offered at most."""
BLOCK = 1024
"""Rows whose titles are looked through as one text."""

_KEYED = re.compile(r"(row|step|label|time|line|mark)=(.*)\Z", re.DOTALL)
_STEPPED = re.compile(r"[~+][0-9]*\Z")
_ABOUT = {
    "@": "the active leaf",
    "root": "the root of the active path",
    "label=": "a label",
    "mark=": "a mark",
    "row=": "the number of a row",
    "line=": "the line of a record in the file",
    "time=": "the last checkpoint at or before a time",
    "step=": "a step of the format",
}


class Completion(msgspec.Struct, frozen=True):
    """A text that may stand as a ref, what it is, and the row it leads to.

    Without a row there is more to type. What it is may be content: not yet safe to draw.
    """

    text: str
    about: str
    row: int | None = None


class Nowhere(msgspec.Struct, frozen=True):
    """Why a ref leads to no row, and what to type instead."""

    message: str
    hint: str | None = None


class Completer:
    """Completes the refs of one session, quickly at each key.

    To be made where waiting is allowed: it sorts the ids and folds the titles of all rows.
    """

    def __init__(
        self, session: Session, resolver: Resolver, marks: Mapping[str, str] | None = None
    ) -> None:
        self._session = session
        self._resolver = resolver
        self._marks: Mapping[str, str] = {} if marks is None else marks
        self._ids = sorted((name, row) for row, name in enumerate(session.ids))
        heads = session.heads
        size = len(session)
        if size:
            # The resolver sorts the ids too, when it is first asked.
            resolver.short_id(0)
        self._has_steps = any(heads.step(row) is not None for row in range(min(size, BLOCK)))
        self._titles = [
            "\n".join(
                self._title(row).casefold() for row in range(begin, min(begin + BLOCK, size))
            )
            for begin in range(0, size, BLOCK)
        ]

    def where(self, text: str) -> int | Nowhere:
        """Give the row that a ref leads to, or why it leads to none."""
        try:
            return self._resolver.row(self._point(parse_fragment(text.strip())))
        except UsageError as error:
            return Nowhere(error.message, error.hint)

    def _point(self, fragment: Fragment) -> Point:
        if fragment.is_range:
            raise UsageError("one point is needed here, not a range")
        wanted = fragment.session
        if wanted is not None and not self._session.id.startswith((wanted, unquote(wanted))):
            raise UnknownRefError(
                f"{wanted!r} is not this session", f"this one is {quoted(self._session.id)}"
            )
        return fragment.points[0] if fragment.points else Point(None, "@")

    def complete(self, text: str) -> list[Completion]:
        """Give what a text may become, the best first and at most `MOST`.

        A text that leads somewhere already comes first, as it is, then one step from there.
        """
        text = text.strip()
        distinct: dict[str, Completion] = {}
        for each in islice(self._offers(text), MOST):
            distinct.setdefault(each.text, each)
        return list(distinct.values())

    def _offers(self, text: str) -> Iterator[Completion]:
        if not text:
            yield from self._beginnings("")
            yield from self._labelled("")
            yield from self._marked("")
            return
        row = self.where(text)
        if isinstance(row, int):
            yield self._leading(text, row)
            # Behind a session alone a step has no point to begin at.
            if parse_fragment(text).points:
                yield from self._steps(text, row)
        keyed = _KEYED.match(text)
        if keyed:
            yield from self._valued(keyed[1], keyed[2])
        elif not _STEPPED.search(text):
            # What leads where the text itself leads says nothing more.
            yield from (each for each in self._named(text) if each.row is None or each.row != row)

    def _beginnings(self, text: str) -> Iterator[Completion]:
        """Give the words and keys that begin so; those that have nothing behind them are left."""
        absent = {
            "step=": not self._has_steps,
            "label=": not self._session.labels,
            "mark=": len(self._marks) == 0,
        }
        for word, about in _ABOUT.items():
            if not word.startswith(text) or absent.get(word):
                continue
            row = None if word.endswith("=") else self.where(word)
            if row is None or isinstance(row, int):
                yield Completion(word, about, row)

    def _steps(self, text: str, row: int) -> Iterator[Completion]:
        parent, heir = self._session.parents[row], self._session.heir(row)
        if parent != NO_ROW:
            yield Completion(f"{text}~", f"its parent: {self._title(parent)}", parent)
        if heir != NO_ROW:
            yield Completion(f"{text}+", f"its child: {self._title(heir)}", heir)

    def _valued(self, key: str, value: str) -> Iterator[Completion]:
        match key:
            case "label":
                yield from self._labelled(unquote(value))
            case "mark":
                yield from self._marked(unquote(value))
            case "row" if value.isascii() and value.isdecimal():
                yield from self._numbered(value)
            case _:
                pass

    def _named(self, text: str) -> Iterator[Completion]:
        """Give what a word without a key may mean: words, ids, a row, labels, marks, titles."""
        yield from self._beginnings(text)
        if text.isascii() and text.isdecimal():
            yield from islice(self._numbered(text), 1)
        prefix = unquote(text)
        for place in range(bisect_left(self._ids, (prefix, NO_ROW)), len(self._ids)):
            name, row = self._ids[place]
            if not name.startswith(prefix):
                break
            yield self._short(row)
        yield from self._labelled(text)
        yield from self._marked(text)
        yield from self._titled(text)

    def _labelled(self, part: str) -> Iterator[Completion]:
        """Give the labels that hold a text; one that several rows have is told by their ids."""
        labels = self._session.labels
        uses = Counter(labels.values())
        for row, label in labels.items():
            if part.casefold() in label.casefold():
                is_unique = uses[label] == 1
                text = f"label={quoted(label)}" if is_unique else self._resolver.short_id(row)
                yield Completion(text, f"label {summary_line(label, 60)}", row)

    def _marked(self, part: str) -> Iterator[Completion]:
        for name, own in sorted(self._marks.items()):
            row = self._session.row_of(own)
            if row is not None and part.casefold() in name.casefold():
                yield Completion(f"mark={quoted(name)}", f"mark at {self._title(row)}", row)

    def _numbered(self, digits: str) -> Iterator[Completion]:
        """Give the row of a number, then those whose numbers go on from it by one digit."""
        if len(digits) > len(str(len(self._session))):
            return
        for number in (int(digits), *range(10 * int(digits), 10 * int(digits) + 10)):
            if 1 <= number <= len(self._session):
                yield self._leading(f"row={number}", number - 1)

    def _titled(self, text: str) -> Iterator[Completion]:
        """Give the rows whose titles hold a text, the newest first."""
        part = text.casefold()
        for block in range(len(self._titles) - 1, -1, -1):
            if part not in self._titles[block]:
                continue
            begin = block * BLOCK
            for row in reversed(range(begin, min(begin + BLOCK, len(self._session)))):
                if part in self._title(row).casefold():
                    yield self._short(row)

    def _short(self, row: int) -> Completion:
        return self._leading(self._resolver.short_id(row), row)

    def _leading(self, text: str, row: int) -> Completion:
        return Completion(text, self._title(row), row)

    def _title(self, row: int) -> str:
        head = self._session.heads[row]
        return f"{head.name} {head.summary}".strip()
