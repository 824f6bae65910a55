"""Heads of Codex records: what the tree shows of each in a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.arguments import steps_summary
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.response_items import CALLS, OUTPUTS, arguments_of, outcome_of
from tt_debugger.core.text import summary_line
from tt_debugger.formats.codex.records import injected_as, replacement_in, texts_in
from tt_debugger.formats.shared.message_heads import head_of
from tt_debugger.formats.shared.tokens import counted_tokens

MODEL, EFFORT = "model", "effort"
SETTINGS = (
    MODEL,
    EFFORT,
    "cwd",
    "approval_policy",
    "sandbox_policy",
    "permission_profile",
    "workspace_roots",
    "summary",
    "personality",
    "collaboration_mode",
    "user_instructions",
    "developer_instructions",
)
"""What a turn can set anew; the rest of a turn's context tells of the turn alone."""
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_FACTS = re.compile(
    r"\A(?:(?:Exit code|Wall time|Chunk ID|Total output lines|Original token count|Process)\b"
    r".*\n)+(?:Output:\n)?"
)
_TELLING = ("cmd", "command", "path", "query", "pattern", "prompt", "message", "url", "chars")
_COUNTS = {
    "input": "input_tokens",
    "cache_read": "cached_input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
}


def item_head(item: dict[str, Any]) -> Head:
    """Give the head of an item that a model is sent."""
    kind = item.get("type")
    if kind in CALLS:
        name = text_or_none(item.get("name")) or str(kind).removesuffix("_call")
        return Head(Kind.TOOL_CALL, Role.ASSISTANT, name, summary_line(_call_text(name, item)))
    if kind in OUTPUTS:
        return _outcome_head(item)
    if kind != "message":
        head = head_of(item)[0]
        name = "think" if kind == "reasoning" else str(kind)
        return msgspec.structs.replace(head, name=name) if head.kind is Kind.MESSAGE else head
    injected = injected_as(item) if item.get("role") == "user" else None
    role = text_or_none(item.get("role")) or ""
    if injected or role == "developer":
        text = summary_line(" ".join(texts_in(item)))
        return Head(Kind.MESSAGE, Role.SYSTEM, injected or role, text)
    return head_of(item)[0]


def _outcome_head(item: dict[str, Any]) -> Head:
    """Give the head of an output: what a tool printed, without the facts that Codex puts first."""
    content, failed = outcome_of(item)
    if not isinstance(content, str):
        return head_of(item)[0]
    text = _FACTS.sub("", content, count=1).strip() or content
    return Head(Kind.TOOL_RESULT, Role.TOOL, "tool", summary_line(text), failed=failed)


def _call_text(name: str, item: Mapping[str, Any]) -> str:
    arguments = as_map(arguments_of(item))
    text = text_or_none(arguments.get("input"))
    patch = text or text_or_none(arguments.get("patch")) or ""
    files = _PATCHED.findall(patch)
    if files:
        return ", ".join(f"{what.lower()} {path}" for what, path in files)
    if name == "update_plan" and (plan := plan_in(item)):
        return steps_summary(plan)
    if text is not None:
        return text
    said = (arguments[key] for key in _TELLING if isinstance(arguments.get(key), str))
    found = next(said, None)
    if found is not None:
        return found
    return msgspec.json.encode(arguments).decode() if arguments else ""


def plan_in(item: Mapping[str, Any]) -> list[Any] | None:
    """Give the plan that a call of `update_plan` writes down, None for any other item."""
    if item.get("type") != "function_call" or item.get("name") != "update_plan":
        return None
    plan = as_map(arguments_of(item)).get("plan")
    return as_list(plan) if isinstance(plan, list) else None


def compaction_head(payload: Mapping[str, Any]) -> Head:
    """Give the head of a compaction: its summary, else what it leaves."""
    said = text_or_none(payload.get("message")) or ""
    kept = replacement_in(payload)
    if not said and kept:
        said = " ".join(texts_in(as_map(kept[-1])))
    return Head(Kind.COMPACTION, None, "compact", summary_line(said or _items(kept or ())))


def _items(kept: Sequence[Any]) -> str:
    return f"{len(kept)} item{'' if len(kept) == 1 else 's'} kept"


def settings_in(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a turn's context sets."""
    return {key: payload[key] for key in SETTINGS if key in payload}


def settings_head(changed: Mapping[str, Any]) -> Head:
    """Give the head of a turn's context that sets something anew."""
    model, effort = text_or_none(changed.get(MODEL)), text_or_none(changed.get(EFFORT))
    others = [key for key in changed if key not in (MODEL, EFFORT)]
    if model is not None:
        return Head(Kind.MODEL_CHANGE, None, "model", summary_line(model))
    told = [f"effort {effort}"] if effort is not None else []
    if len(others) == 1 and isinstance(changed[others[0]], str):
        told.append(f"{others[0]} {changed[others[0]]}")
    else:
        told += others
    return Head(Kind.SETTING, None, "setting", summary_line(", ".join(told)))


def ghost_head(payload: Mapping[str, Any]) -> Head:
    """Give the head of a snapshot of the work tree, which is a commit that no branch has."""
    commit = text_or_none(as_map(payload.get("ghost_commit")).get("id")) or ""
    return Head(Kind.SNAPSHOT, None, "files", summary_line(f"work tree as commit {commit}"))


def usage_in(payload: Mapping[str, Any]) -> Usage | None:
    """Give what the last answer used, None where a count does not tell."""
    counts = as_map(as_map(payload.get("info")).get("last_token_usage"))
    if not counts:
        return None
    found = {key: counted_tokens(counts.get(name)) for key, name in _COUNTS.items()}
    # What comes from the cache is part of the input.
    found["cache_read"] = min(found["cache_read"], found["input"])
    found["input"] -= found["cache_read"]
    total = found.pop("total") or sum(found.values())
    return Usage(**found, total=total)
