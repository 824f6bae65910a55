"""Folds: what functions make of all values of a list, from one value to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

_NUMBERS, _TEXTS = (int, float), (str,)


class Fold(msgspec.Struct, frozen=True):
    """A function as a fold: what it begins with, each step, and what it gives in the end."""

    start: Any
    step: Callable[[Any, Any], Any]
    end: Callable[[Any, int], Any]
    """Gives the value of what the steps led to, and of how many there were."""


# Not None, which `accumulate` takes for no beginning at all.
_NOTHING, _MIXED = object(), object()
"""What an extreme begins with, and what any becomes by a value that the function does not take."""


def _added(total: Any, value: Any) -> Any:
    if total is _MIXED or type(value) not in _NUMBERS:
        return _MIXED
    try:
        return total + value
    except OverflowError:
        return _MIXED


def _mean(total: Any, size: int) -> Any:
    try:
        return None if total is _MIXED or not size else total / size
    except OverflowError:
        return None


def _as_it_is(state: Any, _size: int) -> Any:
    return state


def _or_null(state: Any, _size: int) -> Any:
    return None if state is _NOTHING or state is _MIXED else state


def _extreme(is_further: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def step(state: Any, value: Any) -> Any:
        kinds = _NUMBERS if type(value) in _NUMBERS else _TEXTS
        if type(value) not in kinds or (state is not _NOTHING and type(state) not in kinds):
            return _MIXED
        return value if state is _NOTHING or is_further(value, state) else state

    return step


FOLDS = {
    "sum": Fold(0, _added, _or_null),
    "avg": Fold(0, _added, _mean),
    "max": Fold(_NOTHING, _extreme(lambda value, most: value > most), _or_null),
    "min": Fold(_NOTHING, _extreme(lambda value, least: value < least), _or_null),
}
"""The functions of a list that are folds, by name."""


def finding(literal: Any) -> Fold:
    """Give the fold that tells whether a value is among those of a list."""
    return Fold(start=False, step=lambda found, value: found or value == literal, end=_as_it_is)


def folded(fold: Fold, values: list[Any]) -> Any:
    """Give what a fold makes of a list."""
    state = fold.start
    for value in values:
        state = fold.step(state, value)
    return fold.end(state, len(values))
