"""Edits as texts: what of a fork is typed by hand, with what it begins, and what it means.

A text is shown to be changed in a place that draws what it is given. So JSON is given with all
that acts or hides escaped, and a plain text that holds such characters is given as JSON too.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, Put, State, fold
from tt_debugger.core.fork.edits import (
    dropping,
    edits_between,
    parse_assignment,
    parse_path,
    putting,
)
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Path, value_at
from tt_debugger.core.text import acting, safe_text
from tt_debugger.errors import UsageError
from tt_debugger.forking import Standing
from tt_debugger.views.values import json_text

LARGEST = 100_000
LONGEST_LINE = 4000
"""Characters of a text, and of a line of it, up to which it is edited where it is shown: a key is
answered more slowly the longer they are."""
LARGEST_OUTSIDE = 16 << 20
"""Characters of a text up to which it is given to the editor of whoever sits here."""
DROP = "- "
"""What a line begins with that takes away what is at its path."""

Say = Callable[[State, str, float], Change]
"""Gives the edit that adds what the user says to a state."""


class Way(enum.StrEnum):
    """What is to be otherwise at a fork."""

    UNCHANGED = "unchanged"
    SAY = "say more"
    INSTEAD = "say instead"
    MESSAGE = "message"
    STATE = "state"
    PATHS = "paths"


class Ground(msgspec.Struct, frozen=True):
    """What a fork of a checkpoint can be made of.

    `at` is where it goes on from; `before` is the same for a message that takes the place of the
    checkpoint's own. `messages` are the paths of the messages of the checkpoint, `said` of them
    is the path to the one plain text there is, if there is one. `texts` has for each way that is
    open the text that it begins with.
    """

    at: Standing
    before: Standing | None
    messages: tuple[Path, ...]
    said: Path | None
    texts: Mapping[Way, str]

    def standing(self, way: Way) -> Standing:
        """Give where a fork goes on from in a way."""
        return self.before if way is Way.INSTEAD and self.before is not None else self.at


def ground_of(
    at: Standing,
    before: Standing | None,
    messages: tuple[Path, ...],
    *,
    can_say: bool,
) -> Ground:
    """Give what can be edited, with the texts to begin with."""
    said = _said_in(at.state, messages)
    texts = {Way.UNCHANGED: ""}
    if can_say:
        texts[Way.SAY] = ""
    if can_say and before is not None:
        texts[Way.INSTEAD] = value_at(at.state, said) if said is not None else ""
    if said is not None:
        texts[Way.MESSAGE] = value_at(at.state, said)
    elif messages:
        values = [value_at(at.state, path) for path in messages]
        texts[Way.MESSAGE] = _shown_json(values[0] if len(values) == 1 else values)
    if as_map(at.state):
        texts[Way.STATE] = _shown_json(at.state)
    texts[Way.PATHS] = ""
    told = {way: text for way, text in texts.items() if len(text) <= LARGEST_OUTSIDE}
    return Ground(at, before, messages, said, told)


def is_large(text: str) -> bool:
    """Tell whether a text is too large, or has too long a line, to be edited where it is shown."""
    return len(text) > LARGEST or max(map(len, text.split("\n"))) > LONGEST_LINE


def complaint(ground: Ground, way: Way, text: str) -> str:
    """Say what is wrong with a text before anybody drafts it, empty for nothing."""
    try:
        match way:
            case Way.UNCHANGED:
                pass
            case Way.SAY | Way.INSTEAD:
                _require_words(text)
            case Way.MESSAGE:
                _ = _message_edits(ground, text)
            case Way.STATE:
                _ = _state_edits(ground, text)
            case Way.PATHS:
                _ = _path_edits(ground.at.state, text)
    except UsageError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return f"{error.message}{hint}"
    return ""


def edits_of(
    ground: Ground, way: Way, text: str, say: Say, time: float
) -> tuple[Standing, tuple[Change, ...]]:
    """Give where a fork goes on from and its edits. Raises UsageError, UnsupportedError."""
    at = ground.standing(way)
    match way:
        case Way.UNCHANGED:
            return at, ()
        case Way.SAY | Way.INSTEAD:
            _require_words(text)
            return at, (say(at.state, text, time),)
        case Way.MESSAGE:
            return at, _message_edits(ground, text)
        case Way.STATE:
            return at, _state_edits(ground, text)
        case Way.PATHS:
            return at, _path_edits(at.state, text)


def read_json(text: str) -> Any:
    """Give the value of a JSON text. Raises UsageError that says where it is none."""
    try:
        return msgspec.json.decode(text)
    except UnicodeEncodeError as error:
        place = len(text[: error.start].encode())
        raise UsageError(f"{_place(text, place)}: half of a character") from None
    except RecursionError:
        raise UsageError("it is nested too deeply") from None
    except msgspec.DecodeError as error:
        found = _MALFORMED.match(str(error))
        if found is None:
            what = "it ends too early" if "truncated" in str(error) else str(error)
            raise UsageError(f"no JSON yet: {what}") from None
        raise UsageError(f"no JSON yet: {_place(text, int(found[2]))}: {found[1]}") from None


_MALFORMED = re.compile(r"JSON is malformed: (.+) \(byte (\d+)\)")


def _require_words(text: str) -> None:
    if not text.strip():
        raise UsageError("type what is to be said")


def _message_edits(ground: Ground, text: str) -> tuple[Change, ...]:
    state, paths = ground.at.state, ground.messages
    if ground.said is not None:
        if text == value_at(state, ground.said):
            return ()
        return (Put(ground.said, text),)
    is_one = len(paths) == 1
    value, shown = read_json(text), read_json(ground.texts[Way.MESSAGE])
    new: list[Any] = [value] if is_one else as_list(value)
    old: list[Any] = [shown] if is_one else as_list(shown)
    if len(new) != len(paths):
        raise UsageError(f"the checkpoint has {len(paths)} messages: give a list of as many")
    if not all(isinstance(each, dict) for each in new):
        raise UsageError("a message is an object: it stands in { }")
    pairs = zip(paths, new, old, strict=True)
    return tuple(Put(path, after) for path, after, before in pairs if after != before)


def _state_edits(ground: Ground, text: str) -> tuple[Change, ...]:
    value = read_json(text)
    if not isinstance(value, dict):
        raise UsageError("the state is an object: it stands in { }")
    # With what was shown, not with the state: what JSON cannot tell is no edit.
    return edits_between(read_json(ground.texts[Way.STATE]), value)


def _path_edits(state: State, text: str) -> tuple[Change, ...]:
    edits: list[Change] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            if line.startswith(DROP):
                edit = dropping(state, parse_path(line.removeprefix(DROP).strip()))
            else:
                edit = putting(state, *parse_assignment(line))
            state = fold(state, (edit,))
        except (KeyError, IndexError, TypeError) as error:
            raise UsageError(f"line {number}: there is no such place: {error}") from error
        except UsageError as error:
            raise UsageError(f"line {number}: {error.message}", error.hint) from error
        edits.append(edit)
    return tuple(edits)


def _said_in(state: State, messages: tuple[Path, ...]) -> Path | None:
    """Give the path of the plain text of the one message, None where that is not all of it."""
    if len(messages) != 1:
        return None
    path, value = (*messages[0], "content"), as_map(value_at(state, messages[0])).get("content")
    blocks = as_list(value)
    if len(blocks) == 1 and "text" in as_map(blocks[0]):
        path, value = (*path, 0, "text"), as_map(blocks[0])["text"]
    return path if isinstance(value, str) and _is_inert(value) else None


def _shown_json(value: Any) -> str:
    """Give a value as JSON in which nothing acts or hides."""
    text = json_text(value)
    hidden = acting(text) - {"\n"}
    if not _is_inert(text):
        # Marks pile up somewhere: all are escaped, as which of them do is not worth telling.
        hidden |= {each for each in set(text) if unicodedata.category(each) in {"Mn", "Me"}}
    return text.translate({ord(each): _escape(each) for each in hidden})


def _is_inert(text: str) -> bool:
    """Tell whether a text can be drawn as it is, with its tabs and line ends."""
    plain = text.replace("\t", " ")
    return safe_text(plain) == plain


def _escape(character: str) -> str:
    pair = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{pair[at : at + 4]}" for at in range(0, len(pair), 4))


def _place(text: str, byte: int) -> str:
    before = text.encode(errors="surrogatepass")[:byte].decode(errors="replace").split("\n")
    return f"line {len(before)}, column {len(before[-1]) + 1}"
