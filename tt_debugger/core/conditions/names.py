"""Names as conditions: which tool, kind, role, model or label a checkpoint has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.forms import Atom
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import Call, Result, messages_in, read_message
from tt_debugger.core.model import Kind, Role

_BROKEN = frozenset((Kind.GAP, Kind.UNREADABLE))
_OF_TOOLS = frozenset((Kind.TOOL_CALL, Kind.TOOL_RESULT))
_WRITING_ANEW = frozenset((Kind.COMPACTION, Kind.BRANCH_SUMMARY))
"""What such checkpoints put into the state was said before."""


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
    return Atom(_any_of(_tools, name), needs_changes=True)


def label(name: str) -> Atom:
    """Ask for checkpoints with a label."""
    return Atom(_any_of(_labels, name))


def model(name: str) -> Atom:
    """Ask for checkpoints at which a model is in use."""
    return Atom(_any_of(_models, name), happens=False, needs_state=True, needs_changes=True)


def kind(name: str) -> Atom:
    """Ask for checkpoints of a kind. Raises ValueError where there is none of that name."""
    known = _known(name.replace("-", "_"), Kind, "kind")
    return Atom(_any_of(lambda at: (at.session.heads.kind(at.row),), known))


def role(name: str) -> Atom:
    """Ask for checkpoints in which somebody speaks. Raises ValueError where there is no such."""
    return Atom(_any_of(_roles, _known(name, Role, "role")))


def _any_of(names: Callable[[At], Iterable[str]], name: str) -> Callable[[At], bool]:
    """Tell of a checkpoint whether any of the names that it has is the one asked for."""
    matches = Pattern.of(name).matches
    return lambda at: any(map(matches, names(at)))


def _known(name: str, names: Iterable[str], what: str) -> str:
    known = [str(each) for each in names]
    if not any(map(Pattern.of(name).matches, known)):
        message = f"there is no {what} {name!r}; there are: {', '.join(known)}"
        raise ValueError(message)
    return name


def _tools(at: At) -> Iterator[str]:
    heads = at.session.heads
    if heads.kind(at.row) in _OF_TOOLS:
        yield heads[at.row].name
    if heads.kind(at.row) in _WRITING_ANEW:
        return
    for message in messages_in(at.changes):
        for part in read_message(message).parts:
            if isinstance(part, (Call, Result)):
                yield part.name


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
    for message in messages_in(at.changes):
        told = as_map(message.get("response_metadata"))
        for name in (message.get("model"), told.get("model_name"), told.get("model")):
            if isinstance(name, str):
                yield name
