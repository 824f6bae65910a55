"""The redactor: the one gate that everything passes that leaves with an export.

It reads decoded values, because in encoded text a token can hide behind an escape, and JSON
inside texts by its structure too. Then the finished page passes it once more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from tt_debugger.core.paths import pointer
from tt_debugger.core.redact.hidden import uncovered, without_hidden
from tt_debugger.core.redact.known import Known, known_in
from tt_debugger.core.redact.owner import Owner, Traces
from tt_debugger.core.redact.placeholders import (
    OWNED,
    Placeholders,
    outside,
    rule_of,
    standing,
)
from tt_debugger.core.redact.scanning import seen, spans
from tt_debugger.core.redact.spans import Rank, Span, joined
from tt_debugger.core.redact.walking import BATCH, BETWEEN, Found, Walk

__all__ = ["Hit", "Owner", "Redactor"]

NOBODY = Owner()
_ROUNDS = 4
_SHORTEST_RUN = 16
_NEAR = 200
_LONGEST_INDEX = 9
_BLANK = re.compile(r"\s")


class Hit(msgspec.Struct, frozen=True):
    """One thing that was replaced: by which rule, where, and by what. Never the value."""

    rule: str
    place: str
    """The JSON Pointer of the text; the place of a finished page."""
    placeholder: str


class Redactor:
    """Replaces secrets in values and texts; one for each export, so that placeholders agree.

    What was redacted is remembered by identity: states that share their parts share them again
    afterwards, and a part that stands in many places counts where it was met first.
    """

    def __init__(self, owner: Owner = NOBODY, *, structure_only: bool = False) -> None:
        self._traces = Traces(owner)
        self._structure_only = structure_only
        self._placeholders = Placeholders()
        self._hits: list[Hit] = []
        self._prefixes: dict[str, str] = {}
        self._learned: Known | None = None
        self._walk = self._new_walk(structure_only=structure_only)

    def _new_walk(self, *, structure_only: bool) -> Walk:
        return Walk(
            self._placeholders, self._redacted, self._suspected, structure_only=structure_only
        )

    def learn(self, value: Any) -> None:
        """Find what is secret in a JSON-like value, to know it wherever it is said afterwards.

        What only its name tells in one place is so taken out of every other text, before that
        is cut, wrapped or escaped. Nothing is replaced, and nothing counts as a hit.
        """
        walk = self._new_walk(structure_only=False)
        walk.clean_texts.update(self._walk.clean_texts)
        walk.redacted(value)
        self._placeholders.learn_forms()
        sought = self._placeholders.sought()
        self._learned = Known(sought) if sought else None
        # What was redacted before did not know as much.
        self._walk = self._new_walk(structure_only=self._structure_only)
        self._walk.clean_texts.update(self._unconcerned(walk.clean_texts))

    def _unconcerned(self, texts: Iterable[str]) -> Iterator[str]:
        """Give the texts in which no known value stands."""
        batch: list[str] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text)
            if size > BATCH:
                yield from self._without_known(batch)
                batch, size = [], 0
        yield from self._without_known(batch)

    def _without_known(self, batch: Sequence[str]) -> Iterable[str]:
        if self._learned is None:
            return batch
        places = sorted(place for _, place in self._learned.places(BETWEEN.join(batch)))
        left: list[str] = []
        begin = number = 0
        for text in batch:
            end = begin + len(text)
            while number < len(places) and places[number] < begin:
                number += 1
            if number == len(places) or places[number] >= end:
                left.append(text)
            begin = end + len(BETWEEN)
        return left

    def value(self, value: Any, place: str = "") -> Any:
        """Give a JSON-like value without its secrets: the same object where nothing changed.

        `place` is the JSON Pointer that the places of its hits begin with.
        """
        redacted, found = self._walk.redacted(value)
        self._note(found, place)
        return redacted

    def text(self, text: str, place: str = "") -> str:
        """Give a decoded text without its secrets."""
        if self._structure_only:
            return self._placeholders.of_text(text)
        redacted, found = self._walk.text(text)
        self._note(found, place)
        return redacted

    def finished(self, text: str, place: str = "") -> str:
        """Give a finished page without what is still in it, wherever it came from.

        Values that only their names told are looked for without them too.
        """
        every: list[Found] = []
        # What was found by its shape is known after that, and the other way round.
        for _ in range(_ROUNDS):
            text, found = self._redacted(text)
            text, more, _placed = self._replaced(text, self._known_in(text))
            every += (*found, *more)
            if not more:
                break
        self._note(every, place)
        return text

    def _known_in(self, text: str) -> list[Span]:
        """Give where values stand that were taken out elsewhere, if they are no plain words."""
        return list(self._places(text, Known(self._placeholders.sought())))

    def _places(self, text: str, sought: Known) -> Iterator[Span]:
        known = self._placeholders.known
        for value, start in sought.places(text):
            yield Span(start, start + len(value), rule_of(known[value]), Rank.OWNED)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was replaced, in the order it was met."""
        if not self._hits:
            return ()
        known = self._placeholders.known
        keys = {pointer((value,))[1:]: placeholder for value, placeholder in known.items()}
        places = {each.place: each.place for each in self._hits}
        sought = [pointer((each,))[1:] for each in self._placeholders.sought()]
        inside = {each for each, _ in known_in("\n".join(places), sought)}
        for place in places:
            parts = (keys.get(part, part) for part in place.split("/"))
            places[place] = _without("/".join(parts), inside, keys)
        return tuple(
            each if places[each.place] == each.place else replace(each, place=places[each.place])
            for each in self._hits
        )

    def counts(self) -> dict[str, int]:
        """Give how often each rule has hit, the most frequent first."""
        return dict(Counter(each.rule for each in self._hits).most_common())

    def _note(self, found: Sequence[Found], place: str) -> None:
        if found:
            place = self._place(place)
            self._hits += (
                Hit(rule_of(each.placeholder), place + each.place, each.placeholder)
                for each in found
            )

    def _place(self, place: str) -> str:
        """Give a place that was handed in without the secrets in its keys."""
        known = self._prefixes.get(place)
        if known is None:
            known = "/".join(map(self._part, place.split("/")))
            self._prefixes[place] = known
        return known

    def _part(self, part: str) -> str:
        if not part or (part.isdecimal() and len(part) <= _LONGEST_INDEX):
            return part
        key = part.replace("~1", "/").replace("~0", "~")
        return pointer((self._walk.key(key)[0],))[1:]

    def _redacted(self, text: str) -> tuple[str, list[Found]]:
        """Give a text without what tells by itself, and what was replaced."""
        every: list[Found] = []
        if len(text) < _SHORTEST_RUN and text.isalnum() and not self._may_be_in(text):
            return text, every
        regions = [(0, len(text))]
        # What was replaced can uncover what stood next to it.
        for _ in range(_ROUNDS):
            found = [
                each._replace(start=each.start + start, end=each.end + start)
                for start, end in regions
                for each in self._spans(text[start:end])
            ]
            text, hits, placed = self._replaced(text, found)
            if not hits:
                break
            every += hits
            regions = list(_around(text, placed))
        return text, every

    def _may_be_in(self, text: str) -> bool:
        """Tell whether anything that is known can be in a text."""
        if self._learned is not None and any(self._learned.places(text)):
            return True
        return self._traces.may_be_in(text)

    def _suspected(self, text: str) -> list[tuple[int, int]]:
        """Give the stretches of a text in which something is found, apart and in order."""
        return [(each.start, each.end) for each in joined(self._spans(text))]

    def _spans(self, text: str) -> Iterator[Span]:
        whole = seen(text)
        yield from spans(whole)
        yield from self._traces.spans(text, whole.lowered)
        if self._learned is not None:
            yield from self._places(text, self._learned)
        stripped = uncovered(text)
        if stripped is None:
            return
        whole = seen(stripped.text)
        for each in (*spans(whole), *self._traces.spans(whole.text, whole.lowered)):
            start, last = stripped.place(each.start), stripped.place(each.end - 1)
            yield each._replace(start=start, end=last + 1)

    def _replaced(
        self, text: str, found: Sequence[Span]
    ) -> tuple[str, list[Found], list[tuple[int, int]]]:
        """Give a text with placeholders, what was replaced, and where they stand in it."""
        hits: list[Found] = []
        placed: list[tuple[int, int]] = []
        if not found:
            return text, hits, placed
        done = standing(text)
        pieces: list[str] = []
        begin = size = 0
        for span in joined(found):
            for start, end in outside(done, span.start, span.end):
                is_named = span.rank is Rank.ASSIGNED and span.rule not in OWNED
                numbered = self._placeholders.named if is_named else self._placeholders.of
                placeholder = numbered(without_hidden(text[start:end]), span.rule)
                pieces += (text[begin:start], placeholder)
                size += start - begin + len(placeholder)
                begin = end
                hits.append(Found("", placeholder))
                placed.append((size - len(placeholder), size))
        pieces.append(text[begin:])
        return "".join(pieces), hits, placed


def _without(place: str, values: Iterable[str], placeholders: Mapping[str, str]) -> str:
    """Give a place without the values that stand inside its keys."""
    for value in sorted(values, key=len, reverse=True):
        place = place.replace(value, placeholders[value])
    return place


def _around(text: str, placed: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Give the stretches of a text about its new placeholders, cut where no token is cut."""
    last = 0
    for start, end in placed:
        if end <= last:
            continue
        begin = max(start - _NEAR, last)
        blank = max(text.rfind(each, max(begin - _NEAR, last), begin) for each in " \n")
        begin = begin if blank < 0 else blank
        following = _BLANK.search(text, min(end + _NEAR, len(text)))
        last = len(text) if following is None else following.end()
        yield begin, last
