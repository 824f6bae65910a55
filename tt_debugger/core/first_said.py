"""First said: where on a path a text was first to be read, before it stood where it stands now.

An agent copies: a path from a listing into a call, a line of a file into an answer. A text that
was there before in the same words tells where it may come from; it proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tt_debugger.core.blame import item_at, leaves
from tt_debugger.core.changes import Append, Change, LiveState, Put, Snapshot, Splice, State
from tt_debugger.core.json import as_list
from tt_debugger.core.paths import Path, value_at
from tt_debugger.core.sayings import LISTS

SHORTEST = 12
"""Characters of a text that more than chance finds again."""
SHORTEST_WORD = 6
"""Characters of a word that is no ordinary one: a path, an id, a name with a sign in it."""
MOST_LINES = 100
"""Lines of a text that are looked for where the whole is not found, the longest of them."""
_DEPTH_OF_PARTS = 3
"""Keys of what a part says inside its message: of the list, its place there, its own."""
_NAME = re.compile(
    r"\$?type|role|name|api|model|provider"
    r"|(.*_)?id|.*[a-z]I[dD]|.*([Ss]top|[Ff]inish)_?[Rr]eason"
)
"""Keys of what names a message, one of its parts, or the model that answered."""
LONGEST_JSON = 1 << 20
"""Characters of a text that is tried as JSON."""
MOST_PARTS = 50
"""Texts of one that is JSON which are looked for one by one; of more it is looked for itself."""
MOST_SOUGHT = 200
"""Texts that are looked for at once: each is compared with each that was said before."""


class FirstSaid(msgspec.Struct, frozen=True):
    """The row that first said a text, or a line of it, and where in the state after it."""

    row: int
    path: Path
    text: str
    """What was found again: the whole text, or its longest line that was said before."""
    is_whole: bool


class Sought(msgspec.Struct, frozen=True):
    """A text that stands at a path, and the row that put it there."""

    path: Path
    text: str
    row: int

    @property
    def is_telling(self) -> bool:
        """Whether the text is long enough, or odd enough, not to be found by chance."""
        return is_telling(self.text)


def is_telling(text: str) -> bool:
    """Tell whether a text is one that is not found again by chance."""
    text = text.strip()
    return len(text) >= SHORTEST or (len(text) >= SHORTEST_WORD and _is_odd(text))


def texts_in(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Give the texts in what is at a path, those of JSON that is written as a text one by one.

    What only names a message, a part of it or who answered is left out, unless it was asked for.
    """
    for place, leaf in leaves(value, path):
        if not isinstance(leaf, str) or not leaf.strip() or (place != path and _is_name(place)):
            continue
        parts = [each for _, each in leaves(_decoded(leaf)) if isinstance(each, str)]
        are_few = 0 < len(parts) <= MOST_PARTS
        yield from ((place, each) for each in (parts if are_few else [leaf]) if each.strip())


def first_said(
    sought: Sequence[Sought], rows: Sequence[int], changes: Iterable[Sequence[Change]]
) -> list[FirstSaid | None]:
    """Give where each of some texts was first said before its own row, None for nowhere.

    The rows are a path that begins at a root, with the changes of each. What messages say comes
    before what stands elsewhere in a state. Texts that are not telling are not looked for.
    """
    live = LiveState({})
    seekers = [_Seeker(each) for each in sought]
    last = max((each.row for each in sought), default=None)
    for row, own in zip(rows, changes, strict=False):
        for seeker in seekers:
            seeker.is_over = seeker.is_over or row == seeker.sought.row
        if row == last or all(seeker.is_over for seeker in seekers):
            break
        for change in own:
            for path, value in _written(change, live.value):
                for place, leaf in leaves(value, path):
                    if isinstance(leaf, str):
                        for seeker in seekers:
                            seeker.look_at(row, place, leaf)
            live.apply((change,))
    return [seeker.found for seeker in seekers]


class _Seeker:
    """A text that is looked for, and where it was found so far."""

    def __init__(self, sought: Sought) -> None:
        self.sought = sought
        text = sought.text.strip()
        self._text = text
        self._is_word = len(text) < SHORTEST
        lines = {line.strip() for line in text.splitlines()} - {text}
        telling = (line for line in lines if len(line) >= SHORTEST)
        self._lines = sorted(telling, key=len, reverse=True)[:MOST_LINES]
        self.is_over = not is_telling(text)
        self._in_messages: FirstSaid | None = None
        self._elsewhere: FirstSaid | None = None

    @property
    def found(self) -> FirstSaid | None:
        return self._in_messages or self._elsewhere

    def look_at(self, row: int, path: Path, text: str) -> None:
        is_message = any(path[: len(each)] == each for each in LISTS)
        known = self._in_messages if is_message else self._elsewhere
        if self.is_over or (known is not None and known.is_whole):
            return
        found = self._found(row, path, text, 0 if known is None else len(known.text))
        if found is not None and is_message:
            self._in_messages = found
        elif found is not None:
            self._elsewhere = found

    def _found(self, row: int, path: Path, text: str, longer_than: int) -> FirstSaid | None:
        holds = _has_word if self._is_word else str.__contains__
        if holds(text, self._text):
            return FirstSaid(row, path, self._text, is_whole=True)
        for line in self._lines:
            if len(line) <= longer_than:
                break
            if line in text:
                return FirstSaid(row, path, line, is_whole=False)
        return None


def _written(change: Change, before: State) -> Iterator[tuple[Path, Any]]:
    """Give the values that a change to a state writes, with the paths that they have then."""
    match change:
        case Put(path=path, value=value) | Snapshot(path=path, value=value):
            yield path, value
        case Append(path=path, value=value):
            yield (*path, len(as_list(value_at(before, path)))), value
        case Splice(path=path, index=index, values=values):
            yield from (((*path, at), value) for at, value in enumerate(values, index))
        case _:
            pass


def _is_name(path: Path) -> bool:
    """Tell whether a path leads to what a message, or a part of it, is called, not to its words.

    What stands deeper, such as an id among the arguments of a call, may well be copied.
    """
    item = item_at(path)
    inside = path if item is None else path[len(item) :]
    if item is None or not inside:
        return False
    if inside[0] == "response_metadata":
        return True
    is_of_part = len(inside) == _DEPTH_OF_PARTS and isinstance(inside[1], int)
    return (len(inside) == 1 or is_of_part) and _NAME.fullmatch(str(inside[-1])) is not None


def _decoded(text: str) -> Any:
    """Give what a text says in JSON where that is an object or a list, else nothing."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > LONGEST_JSON:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_odd(text: str) -> bool:
    """Tell whether a text is one word with a sign or a digit in it."""
    return not any(each.isspace() for each in text) and not text.isalpha()


def _has_word(text: str, word: str) -> bool:
    """Tell whether a text has a word that is no part of a longer one."""
    at = text.find(word)
    while at >= 0:
        around = text[max(at - 1, 0) : at] + text[at + len(word) : at + len(word) + 1]
        if not any(each.isalnum() or each == "_" for each in around):
            return True
        at = text.find(word, at + 1)
    return False
