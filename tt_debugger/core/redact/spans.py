"""Spans: what was found in a text, and which of two that overlap tells what it is."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple


class Rank(enum.IntEnum):
    """How sure a finding is of what it found; the surer one names what both of two cover."""

    NAME = 1
    ADDRESS = 2
    ASSIGNED = 3
    SHAPE = 4
    TOKEN = 5
    OWNED = 6


class Span(NamedTuple):
    """A piece of a text to be replaced, and by which rule."""

    start: int
    end: int
    rule: str
    rank: Rank


def joined(spans: Iterable[Span]) -> list[Span]:
    """Give the spans in order, those that overlap as one, so that no piece of either remains."""
    apart: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.rank)):
        last = apart[-1] if apart else None
        if last is None or span.start >= last.end:
            apart.append(span)
            continue
        surer = last if last.rank >= span.rank else span
        apart[-1] = Span(last.start, max(last.end, span.end), surer.rule, surer.rank)
    return apart
