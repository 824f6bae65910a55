"""States in a fork: they name another session there, and a user may speak in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tt_debugger.core.changes import Append, Change, State
from tt_debugger.core.fork.minting import uuid4
from tt_debugger.core.fork.plan import Fresh, Plan
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.messages import ROLES_OF_USER
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.states import SESSIONS, session_of

_INNER = "state"
"""The key under which a state stands in an envelope."""
_FORK = re.compile(r"-fork-[0-9a-f]{8}\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TEXTS = frozenset(("text", "input_text"))


def is_uuid(text: str) -> bool:
    """Tell whether a text is a UUID."""
    return _UUID.fullmatch(text) is not None


def name_of_fork(name: str, fresh: Fresh) -> str:
    """Give a new name to a fork: a UUID where the name is one, else one that tells of it."""
    return uuid4(fresh) if is_uuid(name) else f"{_FORK.sub('', name)}-fork-{fresh(4).hex()}"


def told_session(state: Mapping[str, Any]) -> str | None:
    """Give the session that a state names, itself or within its envelope."""
    return session_of(state) or session_of(as_map(state.get(_INNER)))


def chosen_session(plan: Plan) -> str | None:
    """Give the session that an edit names, None where no edit does."""
    before, after = told_session(plan.state), told_session(plan.wanted)
    return None if before == after else after


def renamed(state: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    """Give a state in which one name of its session has given way to another."""
    found = state
    for key in SESSIONS:
        value = state.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value) == before:
            is_number = isinstance(value, int) and after.removeprefix("-").isdecimal()
            found = {**found, key: int(after) if is_number else after}
    inner = as_map(state.get(_INNER))
    other = renamed(inner, before, after) if inner else inner
    return found if other is inner else {**found, _INNER: other}


def said(state: State, text: str) -> Change:
    """Give the edit that adds what the user says, in the form of the messages that are there.

    Raises UnsupportedError where the state has none that one could add to.
    """
    outer = as_map(state)
    for above, holder in (((), outer), ((_INNER,), as_map(outer.get(_INNER)))):
        messages = holder.get("messages")
        if isinstance(messages, list) and (not messages or any(map(as_map, as_list(messages)))):
            return Append((*above, "messages"), user_message(as_list(messages), text))
    raise UnsupportedError(
        "the state has no messages that one could be added to",
        "--set PATH=JSON changes what it has",
    )


def user_message(messages: list[Any], text: str) -> dict[str, Any]:
    """Give what the user says as a message like those that the user said before."""
    alike = (_like(as_map(each), text) for each in reversed(messages))
    plain = {"role": "user", "content": text}
    return next((each for each in alike if each is not None), plain)


def _like(message: dict[str, Any], text: str) -> dict[str, Any] | None:
    """Give a message with the shape of another, None where that shows none."""
    speaker = message.get("role", message.get("type"))
    if not isinstance(speaker, str) or speaker not in ROLES_OF_USER:
        return None
    named = {key: message[key] for key in ("type", "role") if isinstance(message.get(key), str)}
    content = message.get("content")
    if isinstance(content, str):
        return {**named, "content": text}
    for part in map(as_map, as_list(content)):
        if text_or_none(part.get("type")) in _TEXTS and isinstance(part.get("text"), str):
            return {**named, "content": [{"type": part["type"], "text": text}]}
    if any("text" in as_map(part) for part in as_list(message.get("parts"))):
        return {**named, "parts": [{"text": text}]}
    return None
