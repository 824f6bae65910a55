"""Known values: where what was taken out elsewhere still stands in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

SHORTEST_KNOWN = 8
_FEW = 48
"""So many values are sooner looked for than sifted."""
_BLOCKS = (8, 4)


class Known:
    """Values that are looked for in many texts; each has at least eight characters."""

    def __init__(self, values: Sequence[str]) -> None:
        self._values = values
        self._begins: dict[str, list[int]] | None = None

    def places(self, text: str) -> Iterator[tuple[str, int]]:
        """Give each value with where it begins in a text, as often as it stands there."""
        for value in self._possible(text):
            place = text.find(value)
            while place >= 0:
                yield value, place
                place = text.find(value, place + len(value))

    def _possible(self, text: str) -> Iterable[str]:
        if len(text) < SHORTEST_KNOWN:
            return ()
        if len(self._values) <= _FEW:
            return self._values
        is_short = len(text) < len(self._values) * SHORTEST_KNOWN
        return self._begun(text) if is_short else _sifted(text, self._values)

    def _begun(self, text: str) -> Iterable[str]:
        """Give the values of which a text has the first characters."""
        if self._begins is None:
            self._begins = {}
            for number, value in enumerate(self._values):
                self._begins.setdefault(value[:SHORTEST_KNOWN], []).append(number)
        begins = self._begins
        ends = range(SHORTEST_KNOWN, len(text) + 1)
        begun = {text[end - SHORTEST_KNOWN : end] for end in ends} & begins.keys()
        return [self._values[each] for each in sorted(n for key in begun for n in begins[key])]


def known_in(text: str, values: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Give each value with where it begins in a text, as `Known` does."""
    yield from Known(values).places(text)


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
