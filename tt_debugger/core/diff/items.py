"""What the items of a list are known by: their ids, what they say, and how alike they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import msgspec

from tt_debugger.core.calls import COMMANDS, PATHS, first_text
from tt_debugger.core.diff.align import Alignment, Level, Likeness, Pair
from tt_debugger.core.diff.likeness import common_words
from tt_debugger.core.diff.masks import bare
from tt_debugger.core.diff.meaning import aspects
from tt_debugger.core.inspection import FARTHEST
from tt_debugger.core.json import as_map
from tt_debugger.core.langchain_messages import is_langchain_message
from tt_debugger.core.messages import calls_in, results_in

_encode = msgspec.json.Encoder(order="deterministic").encode
_OWN_IDS = ("id", "uuid")
ID_KEYS = (*_OWN_IDS, "toolCallId", "tool_call_id", "tool_use_id", "call_id")
_BRIEF = 12_000
"""Characters of an item that its likeness is told from."""


def _ids(items: Sequence[Any]) -> list[Hashable]:
    """Give what each item is called: its first id, with its type where several share one."""
    found: list[Hashable] = [None] * len(items)
    waiting = [place for place, each in enumerate(items) if isinstance(each, dict)]
    for key in ID_KEYS:
        own, nameless = key in _OWN_IDS, list[int]()
        for place in waiting:
            record = items[place]
            value = record.get(key)
            if value and isinstance(value, (str, int)):
                found[place] = value if own else (key, value, _word(record.get("type")))
            else:
                nameless.append(place)
        waiting = nameless
    return found


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(items: Sequence[Any]) -> list[Hashable]:
    """Give each item as JSON."""
    return [_text(each) for each in items]


def _bare_texts(items: Sequence[Any]) -> list[Hashable]:
    """Give each item as JSON without what is masked; one that is nothing else has no key."""
    return [_text(kept) if (kept := bare(each)) or not each else None for each in items]


def _text(value: Any) -> bytes | None:
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        # A number beyond 64 bit, a lone surrogate: matched by likeness, if at all.
        return None


def _speaks(item: Any) -> bool:
    """Tell whether an item is a message with a role of its own, or one of LangChain."""
    record = as_map(item)
    return isinstance(record.get("role"), str) or is_langchain_message(record)


def _kind(item: Any) -> Hashable:
    """Give what two items must have in common to stand for each other."""
    if not isinstance(item, dict):
        return isinstance(item, list)
    record = cast("dict[str, Any]", item)
    if _speaks(record):
        results = results_in(item)
        if results and all(each.call for each in results):
            # It belongs where its call does, whatever it says.
            return object()
    return tuple(_word(record.get(key)) for key in ("role", "type", "toolName", "name", "tool"))


def _score(one: Any, other: Any) -> float:
    """Tell how alike two items of a kind are.

    Scalars in one place are alike enough, and so are messages that call the same tools about the
    same things; others must have more words in common.
    """
    if not isinstance(one, (dict, list)):
        are_texts = isinstance(one, str) and isinstance(other, str)
        return _LEAST + common_words(one, other) if are_texts else _LEAST
    words = common_words(_brief(one), _brief(other))
    subjects, others = _subjects(one), _subjects(other)
    if subjects == others:
        return words + _LEAST if subjects else words
    return words - _LEAST


def _brief(item: Any) -> str:
    if _speaks(item):
        return "\n".join(each.text for each in aspects(item))[:_BRIEF]
    return (_text(bare(item)) or b"").decode()[:_BRIEF]


def _subjects(item: Any) -> tuple[tuple[str, str], ...]:
    """Give what the calls of a message are about: each tool with a file, or with a program."""
    if not _speaks(item):
        return ()
    found: list[tuple[str, str]] = []
    for call in calls_in(item):
        arguments = as_map(call.arguments)
        command = first_text(arguments, COMMANDS).split()
        found.append((call.name, first_text(arguments, PATHS) or "".join(command[:1])))
    return tuple(found)


_LEAST = 0.35
LIKENESS = Likeness(_kind, _score, _LEAST)


def are_one_kind(one: Any, other: Any) -> bool:
    """Tell whether two items could stand for each other wherever they are alone: no messages."""
    return _kind(one) == _kind(other) and not _speaks(one)


STRICT_LEVELS = (Level(_ids), Level(_texts, tells_all=True))
LEVELS = (*STRICT_LEVELS, Level(_bare_texts))
"""What items are known by, the surest first; the strict ones mask nothing."""


def results_of_pairs(alignment: Alignment, old: Sequence[Any], new: Sequence[Any]) -> list[Pair]:
    """Give the results of tools that have no partner, though the calls they answer have one.

    Run anew, a call has another id and its result another text: what tells that they belong
    together is that they answer the same call of the same message.
    """
    answers = _answers(old, alignment.removed) if alignment.added else {}
    theirs = _answers(new, alignment.added) if answers else {}
    pairs = dict((*alignment.kept, *alignment.moved)) if theirs else {}
    found: list[Pair] = []
    for (place, number), answer in answers.items():
        other = theirs.get((pairs.get(place, -1), number))
        if other is not None:
            found.append((answer, other))
    return found


def _answers(items: Sequence[Any], places: Iterable[int]) -> dict[tuple[int, int], int]:
    """Give the items that answer a call, by the place of its message and its number in that."""
    found: dict[tuple[int, int], int] = {}
    for place in places:
        if not _speaks(items[place]):
            continue
        for result in results_in(items[place]):
            call = _call_above(items, place, result.call)
            if call is not None:
                found.setdefault(call, place)
    return found


def _call_above(items: Sequence[Any], place: int, call: str | None) -> tuple[int, int] | None:
    for above in range(place - 1, max(place - FARTHEST, 0) - 1, -1) if call else ():
        for number, each in enumerate(calls_in(items[above])):
            if each.id == call:
                return above, number
    return None
