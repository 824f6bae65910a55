"""What choosers offer: filters, themes, commands, and refs with where they lead."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.text import Text

from tt_debugger.core.completion import Completer, Nowhere
from tt_debugger.core.filters import Filter
from tt_debugger.core.model import Session
from tt_debugger.core.text import safe_line
from tt_debugger.tui.finder import wrong_in_condition
from tt_debugger.tui.keys import Key
from tt_debugger.tui.screens.chooser import Offer, narrowed
from tt_debugger.tui.themes import LOOKS
from tt_debugger.tui.widgets.choice_list import Choice
from tt_debugger.views.checkpoint import title_line
from tt_debugger.views.palette import Palette

FILTERS_TELL = {
    Filter.DEFAULT: "all but labels and settings",
    Filter.NO_TOOLS: "what was said; no tool calls and results",
    Filter.USER: "what the user said",
    Filter.LABELLED: "what carries a label",
    Filter.ERRORS: "what failed, and what cannot be read",
    Filter.CHANGES: "models, settings, compactions and the like",
    Filter.ALL: "every checkpoint",
}
"""What each filter shows, in few words."""


class Asked(enum.Enum):
    """A choice of what is to be asked for."""

    CONDITION = "where a condition holds ..."


def filter_choices(counts: Mapping[Filter, int]) -> list[Choice]:
    """Offer each filter with the number of rows it shows, then to ask for a condition."""
    return [
        Choice(str(each), f"{counts.get(each, 0):>7,}  {FILTERS_TELL[each]}", each)
        for each in Filter
    ] + [Choice(Asked.CONDITION.value, "         asks for one", Asked.CONDITION)]


def filters_offered(counts: Mapping[Filter, int]) -> Offer:
    """Offer the filters that fit what is typed, and where it is a condition, to show by that.

    A mere word is first of all one to narrow down by; its value is the text of the condition.
    """
    fitting = narrowed(filter_choices(counts))

    def offer(typed: str) -> Sequence[Choice]:
        fits, condition = fitting(typed), typed.strip()
        if not condition or (fits and condition.isalpha()) or wrong_in_condition(condition):
            return fits
        return [Choice(f"where {condition} holds", "", condition), *fits]

    return offer


def theme_choices() -> list[Choice]:
    """Offer each theme."""
    return [Choice(look.title, look.name, look.name) for look in LOOKS]


def command_choices(keys: Sequence[Key], off: Collection[str] = ()) -> list[Choice]:
    """Offer what each key does, then each theme; the value is an action.

    What is `off`, as it cannot be done here, is told in brackets.
    """
    return [
        *(
            Choice(key.told(is_off=key.action in off), key.shown, key.action)
            for key in keys
            if key.action != "palette"
        ),
        *(Choice(f"theme: {look.title}", "", f"use_theme('{look.name}')") for look in LOOKS),
    ]


def filter_commands() -> list[Choice]:
    """Offer each filter; the value is an action."""
    return [
        *(Choice(f"show {each}", FILTERS_TELL[each], f"show('{each}')") for each in Filter),
        Choice(f"show {Asked.CONDITION.value}", "asks for one", "show_where"),
    ]


def ref_choices(completer: Completer | None, typed: str) -> list[Choice]:
    """Offer what a ref that is being typed may become; the value is the row, if there is one."""
    if completer is None:
        return []
    return [Choice(each.text, each.about, each.row) for each in completer.complete(typed)]


def ref_preview(
    session: Session,
    completer: Completer | None,
    typed: str,
    choice: Choice | None,
    palette: Palette,
) -> Iterator[Text]:
    """Show where the choice under the cursor leads, else why what is typed leads nowhere."""
    if completer is None:
        yield Text("reading the ids", palette.dim)
        return
    row = None if choice is None else choice.value
    if row is None:
        match completer.where(typed if choice is None else choice.text):
            case Nowhere(message=message, hint=hint):
                yield Text(safe_line(message), palette.change)
                if hint:
                    yield Text(safe_line(hint), palette.dim)
                return
            case found:
                row = found
    yield title_line(session, row, palette)
    yield Text(safe_line(session.heads[row].summary), palette.text)
    yield Text(safe_line(f"id {session.ids[row]}"), palette.dim)
