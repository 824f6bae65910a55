"""Resuming Codex: the history as codex-cli 0.171 mends it before it sends it.

A call without an output is answered "aborted", right behind it; an output without a call is left
out. Codex also shortens old outputs to fit a budget, which is not modelled: they stay whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.replay import Repair

ABORTED = "aborted"
_OUTPUTS = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
"""The type of the output that answers a call of a type."""


def sent(messages: Sequence[Any]) -> tuple[list[Any], list[Repair]]:
    """Give what Codex would send for a history, and what it mended."""
    items = list(map(as_map, messages))
    called = {(_OUTPUTS[kind], call) for kind, call in map(_named, items) if kind in _OUTPUTS}
    answered = {named for named in map(_named, items) if named[0] in _OUTPUTS.values()}
    whole: list[Any] = []
    repairs: list[Repair] = []
    for message, item in zip(messages, items, strict=True):
        kind, call = named = _named(item)
        if kind in _OUTPUTS.values() and named not in called:
            why = f"the output answers no call: nothing calls {call or 'it'}"
            repairs.append(Repair(len(whole), "dropped_result", why))
            continue
        whole.append(message)
        if kind in _OUTPUTS and call is not None and (_OUTPUTS[kind], call) not in answered:
            why = f'the call {item.get("name") or kind} has no output; Codex answers "{ABORTED}"'
            repairs.append(Repair(len(whole), "added_result", why))
            whole.append({"type": _OUTPUTS[kind], "call_id": call, "output": ABORTED})
    return whole, repairs


def _named(item: dict[str, Any]) -> tuple[str, str | None]:
    return text_or_none(item.get("type")) or "", text_or_none(item.get("call_id"))
