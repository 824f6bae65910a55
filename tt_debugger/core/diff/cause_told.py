"""A cause in sentences and as JSON: content, not yet safe to be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tt_debugger.core.diff.cause import Cause, CauseKind, Certainty
from tt_debugger.core.diff.stage import Differing
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.paths import dotted, parse_pointer, pointer
from tt_debugger.core.text import CUT, counted, summary_line

LONGEST = 60
MOST_BEFORE = 4
"""Values that differed before and are told, each in a line."""
NOTHING_BEFORE = "nothing recorded before it differs"


def cause_sentences(cause: Cause | None, *, is_whole: bool = False) -> Iterator[str]:
    """Give why two sides part, in a sentence, and then what differed before, each in a line.

    Whole, nothing that it quotes is cut: what is too long to be quoted is only named.
    """
    if cause is None:
        return
    quote = _Quote(is_whole)
    rows = f"row {cause.old_row + 1} / row {cause.new_row + 1}"
    yield f"they part at {rows}: {_why(cause, quote)}"
    told = [each for each in cause.before if pointer(each.path) != cause.subject]
    for each in told[:MOST_BEFORE]:
        yield f"before it: {_differing(each, quote)}"
    if len(told) > MOST_BEFORE:
        yield f"before it: {counted(len(told) - MOST_BEFORE, 'value')} more differed"


def cause_json(cause: Cause | None, old: Session, new: Session) -> dict[str, Any] | None:
    """Give a cause with the ids of its checkpoints; null for what a side has not."""
    if cause is None:
        return None
    return {
        "kind": str(cause.kind),
        "certainty": str(cause.certainty),
        "a_checkpoint": old.ids[cause.old_row],
        "b_checkpoint": new.ids[cause.new_row],
        "subject": cause.subject or None,
        "a": _or_null(cause.old),
        "b": _or_null(cause.new),
        "before": [
            {"path": pointer(each.path), "a": _or_null(each.old), "b": _or_null(each.new)}
            for each in cause.before
        ],
    }


class _Quote(msgspec.Struct, frozen=True):
    """How content is quoted: cut, or only where it is short."""

    is_whole: bool

    def of(self, value: Any) -> str:
        """Give a value as a few words, empty where it is too long to be quoted."""
        if value is msgspec.UNSET or value is None:
            return "(none)"
        text = value if isinstance(value, str) else _json(value)
        line = summary_line(text, LONGEST)
        return "" if self.is_whole and CUT in line else line

    def pair(self, old: Any, new: Any) -> str:
        """Give two values beside each other, if both can be quoted."""
        one, other = self.of(old), self.of(new)
        return f"{one} in A, {other} in B" if one and other else ""


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return repr(value)


def _or_null(value: Any) -> Any:
    return None if value is msgspec.UNSET else value


_SETTINGS = {
    CauseKind.MODEL: "the model",
    CauseKind.PROVIDER: "the provider",
    CauseKind.THINKING_LEVEL: "the thinking level",
    CauseKind.SYSTEM: "the system text",
    CauseKind.TOOLS: "the offer of tools",
}
_OUTSIDE = {
    CauseKind.PROMPT: ("the prompt of the user differs", "the user speaks"),
    CauseKind.SYSTEM: ("the system text differs", "there is system text"),
    CauseKind.TOOLS: ("the offer of tools differs", "tools are offered"),
    CauseKind.RESULT: ("the result of the same call differs", "there is a result"),
    CauseKind.EDIT: ("a message was changed in a copy", "the state was edited"),
    CauseKind.INTERRUPT: ("the interrupt differs", "it was interrupted"),
    CauseKind.COMPACTION: ("the text of the compaction differs", "it was compacted"),
    CauseKind.SUMMARY: (
        "the summary of a branch that was left differs",
        "a branch was left and summed up",
    ),
    CauseKind.ERROR: ("the error differs", "there is an error"),
    CauseKind.MESSAGE: ("a message of neither user nor model differs", "there is another message"),
}
"""What is said where both sides have it, each in its own way, and where one has it alone."""
_OUTSIDE_ALONE = frozenset((CauseKind.RESULT, CauseKind.EDIT))
"""Kinds that have a subject and are no setting."""
_DONE = frozenset(
    (
        *(CauseKind.TOOL, CauseKind.ARGUMENTS, CauseKind.ANSWER),
        *(CauseKind.STEP, CauseKind.STATE),
    )
)
"""Kinds that are what was done otherwise, with nothing before it that tells why."""
_QUOTED = frozenset((CauseKind.EDIT, CauseKind.INTERRUPT, CauseKind.ERROR))
"""Kinds whose text tells more than the row that it stands in."""


def _why(cause: Cause, quote: _Quote) -> str:
    if cause.kind is CauseKind.UNTOLD:
        return "what is recorded does not tell why"
    if cause.kind in _DONE:
        names = ", ".join(dotted(each.path) for each in cause.before)
        before = f"before it only {names} differed" if names else NOTHING_BEFORE
        return f"{_done(cause, quote)}; {before}"
    if cause.kind is CauseKind.INTERRUPT and cause.certainty is Certainty.LIKELY:
        return "both waited for a human, and go on otherwise"
    if cause.subject and cause.kind not in _OUTSIDE_ALONE:
        return _setting(cause, quote)
    return _outside(cause, quote)


def _outside(cause: Cause, quote: _Quote) -> str:
    """Say that something from outside of the model differs, or that one side has it alone."""
    both, alone = _OUTSIDE[cause.kind]
    subject, side = quote.of(cause.subject) if cause.subject else "", _alone(cause)
    if cause.kind is CauseKind.EDIT and subject:
        said = f"the state was edited{side or ' otherwise'}, {dotted(parse_pointer(subject))}"
    else:
        named = subject and f" `{subject}`"
        alone += named and f" of{named}"
        said = f"{alone}{side}" if side else both.replace("same call", f"same call{named}")
    said = f"likely {said}" if cause.certainty is Certainty.LIKELY else said
    text = _values(cause, quote) if subject or side else ""
    return f"{said}: {text}" if text and cause.kind in _QUOTED else said


def _values(cause: Cause, quote: _Quote) -> str:
    if not _alone(cause):
        return quote.pair(cause.old, cause.new)
    return quote.of(cause.new if cause.old is msgspec.UNSET else cause.old)


def _alone(cause: Cause) -> str:
    """Say which side has something alone, empty where both have it."""
    if cause.old is msgspec.UNSET:
        return " in B alone"
    return " in A alone" if cause.new is msgspec.UNSET else ""


def _setting(cause: Cause, quote: _Quote) -> str:
    name = _SETTINGS.get(cause.kind, f"`{dotted(parse_pointer(cause.subject))}`")
    values = quote.pair(cause.old, cause.new)
    is_likely = cause.certainty is Certainty.LIKELY
    said = f"likely {name}, which differs before it" if is_likely else f"{name} differs"
    return f"{said}: {values}" if values else said


def _done(cause: Cause, quote: _Quote) -> str:
    """Say what is done otherwise."""
    match cause.kind:
        case CauseKind.TOOL:
            sides = ((cause.old, "A"), (cause.new, "B"))
            return f"the model calls {', '.join(_called(*side, quote) for side in sides)}"
        case CauseKind.ARGUMENTS:
            names = ", ".join(_names_that_differ(cause))
            said = f"the model calls `{quote.of(cause.subject)}` with other arguments"
            return f"{said}: {names}" if names else said
        case CauseKind.STEP:
            return f"another step ran: {quote.pair(cause.old, cause.new)}"
        case CauseKind.STATE:
            values = quote.pair(cause.old, cause.new)
            said = f"another value was written, {dotted(parse_pointer(cause.subject))}"
            return f"{said}: {values}" if values else said
        case _:
            return "the model answers otherwise"


def _called(name: Any, side: str, quote: _Quote) -> str:
    return f"no tool in {side}" if name is msgspec.UNSET else f"`{quote.of(name)}` in {side}"


def _names_that_differ(cause: Cause) -> list[str]:
    old, new = as_map(cause.old), as_map(cause.new)
    unset = msgspec.UNSET
    return [key for key in {**old, **new} if old.get(key, unset) != new.get(key, unset)]


def _differing(each: Differing, quote: _Quote) -> str:
    values = quote.pair(each.old, each.new)
    return f"{dotted(each.path)}: {values}" if values else f"{dotted(each.path)} differs"
