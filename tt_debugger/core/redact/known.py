"""Known values: where what was taken out elsewhere still stands in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

SHORTEST_KNOWN = 8
_FEW = 48
"""So many values are sooner looked for than sifted."""
_BLOCKS = (8, 4)


def known_in(text: str, values: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Give each value with where it begins in a text, as often as it stands there.

    Values have at least eight characters.
    """
    for value in values if len(values) <= _FEW else _sifted(text, values):
        place = text.find(value)
        while place >= 0:
            yield value, place
            place = text.find(value, place + len(value))


def _sifted(text: str, values: Sequence[str]) -> Iterable[str]:
    """Give the values that can be in a text.

    Cut in blocks, a text holds one that is whole in each value that stands in it, at whatever
    place; so each value is asked for its few first stretches of that length, and not the text
    for each value.
    """
    blocks = {
        size: {text[at : at + size] for at in range(0, len(text), size)}
        for size in _BLOCKS
        if any(_size(each) == size for each in values)
    }
    for value in values:
        size = _size(value)
        if any(value[at : at + size] in blocks[size] for at in range(size)):
            yield value


def _size(value: str) -> int:
    """Give how long the blocks are of which one must be whole in a value."""
    return next(size for size in _BLOCKS if len(value) >= 2 * size - 1)
