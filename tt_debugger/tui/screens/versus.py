"""The question what a row is to be compared with: one key, and for a ref a line to type it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events

from tt_debugger.core.completion import Completer
from tt_debugger.tui.screens import choices
from tt_debugger.tui.screens.prompt import KeyScreen
from tt_debugger.tui.widgets.choice_list import Choice

PARENT, ACTIVE, MARK, REF = "d", "@", "'", ":"
"""The keys for what a row is compared with."""


class VersusScreen(KeyScreen):
    """Gives a key; Enter stands for the parent."""

    def on_key(self, event: events.Key) -> None:
        """Take the key."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            event = events.Key(PARENT, PARENT)
        super().on_key(event)


def asked(row: int, parent: int | None, active: int | None, marks: Mapping[str, int]) -> str:
    """Give the question, with the rows that each key leads to."""
    told = [f"compare row {row + 1} with:"]
    if parent is not None:
        told.append(f"d parent {parent + 1}")
    if active is not None and active != row:
        told.append(f"@ active leaf {active + 1}")
    if marks:
        named = " ".join(f"{name} {own + 1}" for name, own in sorted(marks.items()))
        told.append(f"' mark {named}")
    told.append(": a ref")
    return "   ".join(told)


def ref_choices(completer: Completer | None, typed: str) -> Sequence[Choice]:
    """Offer refs of this session, and what is typed as one of another file; the value is both."""
    offered = [
        Choice(each.text, each.detail, each.text if each.value is None else each.value)
        for each in choices.ref_choices(completer, typed)
    ]
    if typed and not any(each.text == typed for each in offered):
        is_elsewhere = "#" in typed or "/" in typed or "." in typed
        told = "in another file" if is_elsewhere else "as it is typed"
        return [*offered, Choice(typed, told, typed)]
    return offered
