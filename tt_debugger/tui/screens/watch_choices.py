"""What choosers offer of what can be watched, and of what is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from rich.text import Text

from tt_debugger.core.completed_paths import completed_paths
from tt_debugger.core.paths import value_at
from tt_debugger.core.text import safe_line
from tt_debugger.core.watch import Watch
from tt_debugger.tui.widgets.choice_list import Choice
from tt_debugger.views.palette import Palette
from tt_debugger.views.values import preview, sized
from tt_debugger.views.watched import Seen, value_text

MOST = 50
"""Choices that are offered at most."""
READY_MADE = {
    "error": "what failed",
    "cost>1": "more than a dollar was spent on the way here",
    "tokens>100k": "so many tokens in the context",
    "messages>50": "so many messages in the state",
    "tool=bash": "a tool is called, or answers",
    "kind=compaction": "a checkpoint of a kind",
    "took>30s": "a step took longer",
    "text~error": "a text was said; a regular expression",
}
"""Conditions to begin from, with what each says."""


class Chosen(msgspec.Struct, frozen=True):
    """A watch that was chosen among those there are, to go by or to take off."""

    watch: Watch
    is_dropped: bool = False


def offered(state: Any, typed: str, watches: Sequence[Watch]) -> list[Choice]:
    """Offer what is typed and what it may become; the value is the text to watch."""
    typed = typed.strip()
    keys = {each.key for each in watches}
    if not typed:
        known = [Choice(each.name, "watched: no longer", each.text) for each in watches]
        ready = [Choice(text, told, text) for text, told in READY_MADE.items()]
        return [*known, *_paths(state, "", keys), *ready]
    paths = [each for each in islice(_paths(state, typed, keys), MOST) if each.text != typed]
    ready = [
        Choice(text, told, text)
        for text, told in READY_MADE.items()
        if text.startswith(typed) and text != typed
    ]
    own = _typed(state, typed)
    if own is None:
        return [*paths, *ready]
    # The beginning of a name is a path too, but of nothing.
    return [own, *paths, *ready] if own.value is not None else [*paths, *ready, _as_is(own)]


def _paths(state: Any, typed: str, keys: set[str]) -> Iterator[Choice]:
    for text, path in completed_paths(state, typed):
        if Watch.at(path).key not in keys:
            yield Choice(text, preview(value_at(state, path)), text)


def _typed(state: Any, typed: str) -> Choice | None:
    """Give what is typed as a choice, without a value where it names nothing in the state.

    None where it cannot be read.
    """
    try:
        watch = Watch.parse(typed)
    except ValueError:
        return None
    if watch.path is None:
        told = "a formula over the state" if watch.condition is None else "a condition"
        return Choice(typed, told, typed)
    try:
        return Choice(typed, preview(value_at(state, watch.path)), typed)
    except KeyError:
        return Choice(typed, "nothing is there now")


def _as_is(choice: Choice) -> Choice:
    return Choice(choice.text, choice.detail, choice.text)


def preview_lines(
    state: Any, typed: str, choice: Choice | None, palette: Palette
) -> Iterator[Text]:
    """Show what would be watched, or why what is typed is nothing that can be."""
    text = typed.strip() if choice is None else str(choice.value)
    if not text:
        return
    try:
        watch = Watch.parse(text)
    except ValueError as error:
        yield Text(safe_line(str(error)), palette.bad)
        return
    yield Text(safe_line(watch.name), palette.accent)
    if watch.condition is not None:
        stays = "at single checkpoints" if watch.happens else "from one checkpoint to another"
        yield Text(f"a condition: yes or no {stays}", palette.dim)
    elif watch.path is None:
        yield Text("a formula over the state", palette.dim)
    else:
        yield from _value_lines(state, watch, palette)


def _value_lines(state: Any, watch: Watch, palette: Palette) -> Iterator[Text]:
    try:
        value = value_at(state, watch.path or ())
    except KeyError:
        yield Text("nothing is there at this checkpoint", palette.dim)
        return
    yield Text(preview(value), palette.text)
    yield Text(sized(value), palette.dim)


def watched(watches: Sequence[Watch], seen: Sequence[Seen]) -> list[Choice]:
    """Offer each watch to go by, then each to be taken off."""
    return [
        *(
            Choice(each.name, value_text(at), Chosen(each))
            for each, at in zip(watches, seen, strict=True)
        ),
        *(
            Choice(f"watch {each.name} no longer", "", Chosen(each, is_dropped=True))
            for each in watches
        ),
    ]
