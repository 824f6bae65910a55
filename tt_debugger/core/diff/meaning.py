"""A message by its aspects: the things it says or does, each as a text that can be compared.

Whatever wire shape a message has, a call is its name, each of its arguments, and for an edit the
lines that it takes out and puts in; a result is its text and whether it failed. Two messages are
compared aspect by aspect, so `content` as a text and as a list of blocks are no difference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from tt_debugger.core.calls import COMMANDS, PATHS, TextEdit, first_key, text_edits
from tt_debugger.core.diff.align import Level, Likeness, aligned
from tt_debugger.core.diff.likeness import common_words
from tt_debugger.core.diff.texts import signed_lines
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import (
    Call,
    Failure,
    Image,
    Other,
    Part,
    Result,
    Said,
    Section,
    Shell,
    Thought,
    Tool,
    read_message,
)


class About(StrEnum):
    """What an aspect is."""

    TEXT = "text"
    THINKING = "thinking"
    CALL = "call"
    """The name of a tool that is called; its arguments follow."""
    ARGUMENT = "argument"
    COMMAND = "command"
    EDIT = "edit"
    """Lines taken out (`-`) and put in (`+`) by an edit of a file."""
    RESULT = "result"
    FAILURE = "failure"
    IMAGE = "image"
    SECTION = "section"
    TOOL = "tool"
    OTHER = "other"


class Aspect(msgspec.Struct, frozen=True):
    """One thing that a message says or does; `name` is that of a tool, an argument, a section.

    `failed` is for results alone.
    """

    about: About
    name: str
    text: str
    failed: bool = False


class ComparedAspect(msgspec.Struct, frozen=True):
    """An aspect on both sides, or on one; a text of it is compared by line, then by word."""

    old: Aspect | None
    new: Aspect | None

    @property
    def equal(self) -> bool:
        """Whether both sides say the same."""
        return self.old == self.new


def aspects(message: Any) -> tuple[Aspect, ...]:
    """Give what a message says and does, in its order."""
    return tuple(each for part in read_message(message).parts for each in aspects_of(part))


def aspects_of(part: Part) -> Iterator[Aspect]:
    """Give what one part of a message says or does."""
    yield from _ASPECTS[type(part)](part)


def compared_aspects(old: Any, new: Any) -> tuple[ComparedAspect, ...]:
    """Give the aspects of two messages side by side, in order."""
    before, after = aspects(old), aspects(new)
    alignment = aligned(before, after, (Level(list), Level(_names)), _LIKENESS)
    compared: list[ComparedAspect] = []
    one = other = 0
    for end, new_end in (*alignment.kept, (len(before), len(after))):
        compared += [ComparedAspect(each, None) for each in before[one:end]]
        compared += [ComparedAspect(None, each) for each in after[other:new_end]]
        if end < len(before):
            compared.append(ComparedAspect(before[end], after[new_end]))
        one, other = end + 1, new_end + 1
    return tuple(compared)


def edit_lines(edit: TextEdit) -> str:
    """Give an edit as lines: `-` what it takes out, `+` what it puts in, a space what stays."""
    return "\n".join(f"{sign} {line}" for sign, line in signed_lines(edit.old, edit.new))


def _names(items: Any) -> list[tuple[str, str]]:
    return [(each.about, each.name) for each in items]


def _score(one: Aspect, other: Aspect) -> float:
    """Tell how alike two aspects are; a tool that gave way to another is a change of the call."""
    words = common_words(one.text, other.text)
    return max(words, _LEAST) if one.about is About.CALL else words


_LEAST = 0.2
_LIKENESS = Likeness(lambda aspect: aspect.about, _score, _LEAST)


def _call(call: Call) -> Iterator[Aspect]:
    yield Aspect(About.CALL, call.name, call.name)
    yield from _arguments(call.arguments)


def _shell(shell: Shell) -> Iterator[Aspect]:
    yield Aspect(About.COMMAND, "", shell.command)
    said = "\n".join(filter(None, (shell.failure, shell.output)))
    yield Aspect(About.RESULT, "", said, bool(shell.failure))


def _arguments(arguments: Any) -> Iterator[Aspect]:
    if not isinstance(arguments, dict):
        if arguments is not None:
            yield Aspect(About.ARGUMENT, "", json_of(arguments))
        return
    edits, rest = text_edits(as_map(arguments))
    path, command = first_key(rest, PATHS), first_key(rest, COMMANDS)
    if path is not None:
        yield Aspect(About.ARGUMENT, path, rest.pop(path))
    for edit in edits:
        yield Aspect(About.EDIT, "", edit_lines(edit))
        if edit.rest:
            yield Aspect(About.ARGUMENT, "edit", json_of(edit.rest))
    if command is not None:
        yield Aspect(About.COMMAND, command, rest.pop(command))
    for key, value in rest.items():
        yield Aspect(About.ARGUMENT, str(key), text_of(value))


def _result_text(result: Result) -> str:
    return "\n".join(each.text for part in result.parts for each in aspects_of(part))


def _image_text(image: Image) -> str:
    digest = hashlib.sha256(image.data.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return image.url or f"{image.mime}, {len(image.data):,} characters, sha256 {digest}"


def text_of(value: Any) -> str:
    """Give a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json_of(value)


def json_of(value: Any) -> str:
    """Give a value as JSON that is read line by line."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return repr(value)


def _one(
    about: About, text: Callable[[Any], str], name: Callable[[Any], str] = lambda _: ""
) -> _Read:
    return lambda part: iter((Aspect(about, name(part), text(part)),))


_Read = Callable[[Any], Iterator[Aspect]]
_ASPECTS: dict[type[Part], _Read] = {
    Said: _one(About.TEXT, lambda said: said.text),
    Thought: _one(
        About.THINKING, lambda thought: "(redacted)" if thought.is_redacted else thought.text
    ),
    Call: _call,
    Result: lambda result: iter(
        (Aspect(About.RESULT, result.name, _result_text(result), result.failed),)
    ),
    Failure: _one(About.FAILURE, lambda failure: failure.text),
    Image: _one(About.IMAGE, _image_text, lambda image: image.mime),
    Section: _one(
        About.SECTION, lambda section: section.text or "(removed)", lambda section: section.name
    ),
    Tool: _one(
        About.TOOL,
        lambda tool: tool.about if tool.is_added else "(removed)",
        lambda tool: tool.name,
    ),
    Shell: _shell,
    Other: _one(About.OTHER, lambda other: json_of(other.value)),
}
