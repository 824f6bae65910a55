"""Records of a rollout: three ages of the format, read as entries of one shape.

The oldest files begin with a bare header and hold bare items; later ones wrap each record in an
envelope of time, type and payload, and the newest number them by `ordinal`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.response_items import CALLS, OUTPUTS

FORMAT = "codex"
META, ITEM, COMPACTED = "session_meta", "response_item", "compacted"
TURN, EVENT = "turn_context", "event_msg"
ITEMS = frozenset(
    (
        *CALLS,
        *OUTPUTS,
        "message",
        "reasoning",
        "agent_message",
        "compaction",
        "context_compaction",
    )
)
"""Types of items that are part of what a model is sent."""
GHOST = "ghost_snapshot"
DISPLAY_ONLY = frozenset(
    (
        "world_state",
        "inter_agent_communication_metadata",
        "token_usage_record",
        "security_risk_score",
        "retained_context",
        "realtime_item",
    )
)
"""Types of records that say nothing of what a model is sent."""
STATE = "record_type "
"""How the types of records begin that the oldest files have beside items."""

_THREAD = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_THREAD_ID = re.compile(_THREAD, re.IGNORECASE)
_FILE_NAME = re.compile(rf"rollout-.*?({_THREAD})\.jsonl(?:\.zst)?\Z", re.IGNORECASE)
_SUMMARY_OPENING = "Another language model started to solve this problem"
_INJECTED = {
    "<environment_context>": "environment",
    "<user_instructions>": "instructions",
    "# agents.md instructions": "agents.md",
    "<turn_aborted>": "aborted",
    "<skill>": "skill",
    "<skills_instructions>": "skills",
    "<user_shell_command>": "shell",
    "<subagent_notification>": "subagent",
    "<hook_prompt": "hook",
    "<recommended_plugins>": "plugins",
    "<codex_internal_context": "context",
}
"""How texts begin that Codex itself puts among those of the user, and what they are called."""
_LONGEST_OPENING = max(map(len, _INJECTED))


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A record without its envelope; `is_bare` where it had none."""

    type: str
    payload: dict[str, Any]
    is_bare: bool = False


def entry_of(record: Mapping[str, Any]) -> Entry:
    """Give a record of any age as an entry; its type is empty where nothing tells one."""
    kind = record.get("type")
    if "payload" in record and isinstance(kind, str):
        return Entry(kind, as_map(record["payload"]))
    payload = dict(record)
    if isinstance(record.get("record_type"), str):
        return Entry(f"{STATE}{record['record_type']}", payload, is_bare=True)
    if isinstance(kind, str) and kind in ITEMS:
        return Entry(ITEM, payload, is_bare=True)
    if kind is None and isinstance(record.get("id"), str) and "timestamp" in record:
        return Entry(META, payload, is_bare=True)
    return Entry(kind if isinstance(kind, str) else "", payload, is_bare=True)


def message_in(entry: Entry) -> dict[str, Any] | None:
    """Give the item that an entry adds to what a model is sent, None for any other entry."""
    kind = entry.payload.get("type")
    is_sent = entry.type == ITEM and isinstance(kind, str) and kind in ITEMS
    return entry.payload if is_sent else None


def texts_in(message: Mapping[str, Any]) -> list[str]:
    """Give the texts of a message, block by block."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    texts = (as_map(block).get("text") for block in as_list(content))
    return [text for text in texts if isinstance(text, str)]


def injected_as(message: Mapping[str, Any]) -> str | None:
    """Give what a text that Codex put among the user's is called, None where the user wrote it."""
    for text in texts_in(message):
        opening = text.lstrip()[:_LONGEST_OPENING].lower()
        for start, name in _INJECTED.items():
            if opening.startswith(start):
                return name
    return None


def is_prompt(item: Mapping[str, Any]) -> bool:
    """Tell whether an item is what a user asked: with it a turn begins."""
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    return injected_as(item) is None and not is_summary(item)


def is_spawn(item: Mapping[str, Any]) -> bool:
    """Tell whether what an event says to be completed is the start of a subagent."""
    tool = item.get("tool")
    return isinstance(tool, str) and tool.replace("_", "").lower() == "spawnagent"


def is_summary(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is the summary that an earlier compaction left."""
    return any(text.startswith(_SUMMARY_OPENING) for text in texts_in(message))


def summary_message(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Give the message that a compaction without a history of its own leaves its summary in."""
    block = {"type": "input_text", "text": text_or_none(payload.get("message")) or ""}
    return {"type": "message", "role": "user", "content": [block]}


def replacement_in(payload: Mapping[str, Any]) -> list[Any] | None:
    """Give the history that a compaction puts in the place of all before it, None for none."""
    history = payload.get("replacement_history")
    if not isinstance(history, list):
        return None
    return [each for each in as_list(history) if as_map(each).get("type") != GHOST]


def compacts(payload: Mapping[str, Any]) -> bool:
    """Tell whether a compaction can be read: by its message, or by what it replaces."""
    return isinstance(payload.get("message"), str) or replacement_in(payload) is not None


def name_in(payload: Mapping[str, Any]) -> str | None:
    """Give the name that an event gives its thread; an empty one clears it."""
    name = text_or_none(payload.get("thread_name"))
    return (name.strip() or None) if name else None


def thread_ids_in(text: str) -> list[str]:
    """Give the ids of threads that a text names."""
    return _THREAD_ID.findall(text)


def thread_id_or_none(value: object) -> str | None:
    """Give the id of a thread, None for anything else: it becomes part of a file's name."""
    return value if isinstance(value, str) and _THREAD_ID.fullmatch(value) else None


def thread_of_file(name: str) -> str | None:
    """Give the id of the thread by which a rollout is found, None for a file of another name."""
    found = _FILE_NAME.search(name)
    return found[1] if found else None


def birth_of(thread_id: object) -> int | None:
    """Give the milliseconds since 1970 at which an id of version 7 was made."""
    name = thread_id_or_none(thread_id)
    if name is None or name[14] != "7":
        return None
    return int(name[:8] + name[9:13], 16)
