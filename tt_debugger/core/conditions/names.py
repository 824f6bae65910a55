"""Names as conditions: which tool, kind, role, model or label a checkpoint has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from tt_debugger.core.conditions.asked import NameAsked
from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.forms import Atom
from tt_debugger.core.conditions.refusal import ConditionError
from tt_debugger.core.conditions.words import word_in_names
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import NO_NAME, Call, Result, messages_in, model_of, read_message
from tt_debugger.core.model import Kind, Role
from tt_debugger.core.sayings import SUMMARIES

_BROKEN = frozenset((Kind.GAP, Kind.UNREADABLE))
_OF_TOOLS = frozenset((Kind.TOOL_CALL, Kind.TOOL_RESULT))
_RETELLING = SUMMARIES | {Kind.CUSTOM}
"""Kinds of checkpoints that write anew what others said."""


class Pattern(msgspec.Struct, frozen=True):
    """A name to look for, whatever its case; `*` stands for any characters."""

    text: str
    expression: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> Pattern:
        """Take a name for a pattern."""
        parts = ".*".join(re.escape(part) for part in re.split(r"\*+", text))
        return cls(text, re.compile(parts, re.IGNORECASE | re.DOTALL))

    def matches(self, name: str) -> bool:
        """Tell whether it is a name."""
        return self.expression.fullmatch(name) is not None


def failed(at: At) -> bool:
    """Tell whether a checkpoint went wrong or could not be read."""
    heads = at.session.heads
    return heads.failed(at.row) or heads.kind(at.row) in _BROKEN


def tool(name: str) -> Atom:
    """Ask for checkpoints that call a tool, or hold what it gave back."""
    matches = Pattern.of(name).matches
    word = None if matches(NO_NAME) else word_in_names(name)

    def holds(at: At) -> bool:
        heads = at.session.heads
        kind = heads.kind(at.row)
        if kind in _OF_TOOLS and matches(heads[at.row].name):
            return True
        if kind in _RETELLING or not (word is None or at.may_say(word)):
            return False
        return any(map(matches, _tools(at)))

    return Atom(holds, needs_changes=True, asked=NameAsked("tool", name))


def label(name: str) -> Atom:
    """Ask for checkpoints with a label."""
    return Atom(_any_of(_labels, name), asked=NameAsked("label", name))


def model(name: str) -> Atom:
    """Ask for checkpoints at which a model is in use."""
    return Atom(
        _any_of(_models, name),
        happens=False,
        needs_state=True,
        needs_changes=True,
        asked=NameAsked("model", name),
    )


def kind(name: str) -> Atom:
    """Ask for checkpoints of a kind. Raises ValueError where there is none of that name."""
    known = _known(name.replace("-", "_"), Kind, "kind")
    return Atom(_any_of(_kinds, known), asked=NameAsked("kind", known))


def role(name: str) -> Atom:
    """Ask for checkpoints in which somebody speaks. Raises ValueError where there is no such."""
    known = _known(name, Role, "role")
    return Atom(_any_of(_roles, known), asked=NameAsked("role", known))


def _any_of(names: Callable[[At], Iterable[str]], name: str) -> Callable[[At], bool]:
    """Tell of a checkpoint whether any of the names that it has is the one asked for."""
    matches = Pattern.of(name).matches
    return lambda at: any(map(matches, names(at)))


def _known(name: str, names: Iterable[str], what: str) -> str:
    known = [str(each) for each in names]
    if not any(map(Pattern.of(name).matches, known)):
        raise ConditionError(f"there is no {what} {name!r}", f"there are {', '.join(known)}")
    return name


def _tools(at: At) -> Iterator[str]:
    """Give the tools that the messages of a checkpoint call, or answer."""
    for message in messages_in(at.changes):
        for part in read_message(message).parts:
            if isinstance(part, (Call, Result)):
                yield part.name


def _used(at: At) -> Iterator[str]:
    """Give the tools of which a checkpoint calls one, or holds what it gave back."""
    heads = at.session.heads
    kind = heads.kind(at.row)
    if kind in _OF_TOOLS:
        yield heads[at.row].name
    if kind not in _RETELLING:
        yield from _tools(at)


def _kinds(at: At) -> Iterable[str]:
    return (at.session.heads.kind(at.row),)


def _labels(at: At) -> Iterable[str]:
    found = at.session.labels.get(at.row)
    return () if found is None else (found,)


def _roles(at: At) -> Iterable[str]:
    found = at.session.heads.role(at.row)
    return () if found is None else (found,)


def _models(at: At) -> Iterator[str]:
    """Give the model that the state names, else those of the messages that are new."""
    said = as_map(at.state).get("model")
    if isinstance(said, str):
        yield said
        return
    yield from filter(None, map(model_of, messages_in(at.changes)))


NAMES_AT: dict[str, Callable[[At], Iterable[str]]] = {
    "tool": _used,
    "kind": _kinds,
    "role": _roles,
    "model": _models,
    "label": _labels,
}
"""The names that a checkpoint has, by what they are names of."""
