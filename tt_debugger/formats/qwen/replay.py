"""Replaying Qwen Code: the contents along a path; a compression has those that replace them."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body
from tt_debugger.formats.qwen.reading import model_of, payload_of, title_of
from tt_debugger.formats.shared.transcript import Told


def told_of(_session: Session, _row: int, body: Body) -> Told:
    """Give what a record does to the state."""
    record = as_map(body)
    puts = _settings(record)
    if record.get("type") != "system":
        message = as_map(record.get("message"))
        return Told((message,) if message else (), puts)
    if record.get("subtype") == "chat_compression":
        kept = as_list(payload_of(record).get("compressedHistory"))
        if kept:
            return Told(tuple(kept), puts, clears=True, added=())
    return Told((), puts)


def _settings(record: dict[str, Any]) -> dict[str, str]:
    """Give the settings that a record names."""
    is_title = record.get("subtype") == "custom_title"
    said = {
        "model": model_of(record),
        "title": title_of(record) if is_title else None,
        "cwd": text_or_none(record.get("cwd")) or None,
    }
    return {key: value for key, value in said.items() if value is not None}
