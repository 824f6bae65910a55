"""Replaying Qwen Code: the contents along a path; a compression has those that replace them."""

from __future__ import annotations

from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Splice, State
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.formats.qwen.reading import model_of, payload_of, title_of
from tt_debugger.formats.shared.context import MESSAGES, used
from tt_debugger.formats.shared.start import start_state


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it."""

    messages: int = 0
    usage: Usage | None = None
    model: str | None = None
    title: str | None = None
    cwd: str | None = None


class QwenRules:
    """How Qwen Code replays; with `uncompacted` a compression drops nothing."""

    def __init__(self, *, uncompacted: bool = False) -> None:
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Memo]:
        """Give the state before the first record."""
        return start_state(), Memo()

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one record changes."""
        record, own = as_map(body), memo
        changes, count = self._said(record, own.messages)
        model = own.model if (named := model_of(record)) is None else named
        title = title_of(record) if record.get("subtype") == "custom_title" else None
        now = {
            "model": model,
            "title": own.title if title is None else title,
            "cwd": text_or_none(record.get("cwd")) or own.cwd,
        }
        changes += [Put((key,), now[key]) for key in now if now[key] != getattr(own, key)]
        usage, spent = used(own.usage, session.heads.usage(row))
        return Step((*changes, *spent), Memo(count, usage, **now))

    def _said(self, record: dict[str, Any], count: int) -> tuple[list[Change], int]:
        """Give the change of the messages, and how many there are after it."""
        if record.get("type") != "system":
            message = record.get("message")
            return ([Append(MESSAGES, message)], count + 1) if as_map(message) else ([], count)
        if record.get("subtype") != "chat_compression" or self._uncompacted:
            return [], count
        kept = as_list(payload_of(record).get("compressedHistory"))
        if not kept:
            return [], count
        return [Splice(MESSAGES, 0, count, tuple(kept))], len(kept)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state; whether thoughts are sent again is a matter of the version."""
        return Resumed(replay.state(row))
