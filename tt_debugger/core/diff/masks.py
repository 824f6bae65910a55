"""Masks: named rules for what differs between any two runs and says nothing about either.

A mask hides a difference, never a value: where both sides agree there is nothing to hide, and each
hidden difference is counted under the name of its rule. What a model wrote itself, such as the
arguments of a call, is never masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

import msgspec

from tt_debugger.core.json import is_number
from tt_debugger.core.paths import Key

DEEPEST = 64
LONGEST_KEY = 32
LONGEST = 20_000
"""Characters of a value that is looked at: encrypted reasoning is long."""


class Mask(msgspec.Struct, frozen=True):
    """A rule: the names of the keys it hides, and what their values look like.

    A text that somebody wrote under such a name looks otherwise, and is not hidden.
    """

    name: str
    about: str
    keys: frozenset[str]
    fits: Callable[[Any], bool]


def _keys(*names: str) -> frozenset[str]:
    return frozenset(map(_plain, names))


def _plain(name: str) -> str:
    """Give a name of a key as all ways to write it have it in common."""
    return name.lower().replace("_", "").replace("-", "")


def _text(pattern: str) -> Callable[[Any], bool]:
    """Tell whether a value is a text that is all of a pattern."""
    matches = re.compile(pattern, re.VERBOSE).fullmatch
    return lambda value: (
        isinstance(value, str) and len(value) <= LONGEST and matches(value) is not None
    )


_is_time_text = _text(r"\d{4}-\d\d-\d\d(?:[T ][0-9:.,+\-Z ]*)? | \d{9,19}(?:\.\d+)?")
_is_duration_text = _text(r"[\d.,:]+\ ?(?:ns|us|ms|s|m|min|h|seconds?|minutes?)?")
_is_id = _text(r"[^\s]+")
_is_signature = _text(r"[0-9A-Za-z+/=_\-.:]{8,}")
_is_minted = _text(
    r"""
      [0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}
    | (?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}
    | [0-9A-HJKMNP-TV-Z]{26}
    | [a-z]+(?:[_-][a-z]+)*[_-](?=[^_-]*[0-9])(?=[^_-]*[A-Za-z])[0-9A-Za-z|_-]{8,}
    """
)
"""UUID, hex, ULID, and ids with the name of their kind in front: `call_...`, `toolu_...`."""


MASKS = (
    Mask(
        "timestamps",
        "when something was written",
        _keys(
            *("timestamp", "time", "ts", "created", "updated"),
            *("created_at", "updated_at", "modified_at", "started_at", "ended_at", "finished_at"),
            *(
                "completed_at",
                "recorded_at",
                "saved_at",
                "start_time",
                "end_time",
                "last_updated",
                "last_checkpoint",
            ),
        ),
        lambda value: is_number(value) or _is_time_text(value),
    ),
    Mask(
        "usage",
        "tokens and what they cost",
        _keys(
            *("usage", "usage_metadata", "token_usage", "tokens_used", "token_count"),
            *("total_tokens", "input_tokens", "output_tokens", "tokens_before", "tokens_after"),
            *("cost_usd", "total_cost", "total_cost_usd"),
        ),
        lambda value: is_number(value) or isinstance(value, dict),
    ),
    Mask(
        "durations",
        "how long something took",
        _keys(
            *("duration", "duration_ms", "duration_seconds", "total_duration_ms", "elapsed"),
            *("elapsed_ms", "elapsed_seconds", "elapsed_time", "latency", "latency_ms"),
            *("duration_api_ms", "time_to_first_token", "ttft_ms", "wall_time", "wall_time_ms"),
        ),
        lambda value: is_number(value) or _is_duration_text(value),
    ),
    Mask(
        "request ids",
        "what a provider calls a request",
        _keys(
            *("request_id", "response_id", "x_request_id", "trace_id", "span_id", "run_id"),
            *("system_fingerprint", "generation_id"),
        ),
        _is_id,
    ),
    Mask(
        "signatures",
        "what a provider signs or encrypts anew each time",
        _keys(
            *("signature", "thinking_signature", "text_signature", "thought_signature"),
            *("encrypted_content", "reasoning_signature"),
        ),
        _is_signature,
    ),
    Mask(
        "minted ids",
        "ids made up anew in each run",
        _keys(
            *("id", "uuid", "message_id", "call_id", "tool_call_id", "tool_use_id", "parent_id"),
            *("parent_uuid", "entry_id", "item_id", "session_id", "checkpoint_id", "event_id"),
            *("first_kept_entry_id", "leaf_id", "turn_id", "from_id"),
        ),
        _is_minted,
    ),
)

UNMASKED = frozenset(("arguments", "input", "args", "parameters"))
"""Keys below which nothing is masked: what a model wrote, or a user."""

_BY_KEY: Mapping[str, Mask] = {key: mask for mask in MASKS for key in mask.keys}


def mask_of(key: Key, old: Any, new: Any) -> Mask | None:
    """Give the rule that hides the difference of two values of a key; a missing one is UNSET."""
    mask = rule_for(key)
    return mask if mask is not None and all(map(mask.fits, _there(old, new))) else None


def _there(*values: Any) -> list[Any]:
    return [each for each in values if each is not msgspec.UNSET and each is not None]


def rule_for(key: Key) -> Mask | None:
    """Give the rule about a key, whatever its value."""
    return _rule_for(key) if isinstance(key, str) and len(key) <= LONGEST_KEY else None


@lru_cache(4096)
def _rule_for(key: str) -> Mask | None:
    return _BY_KEY.get(_plain(key))


def bare(value: Any, levels: int = DEEPEST) -> Any:
    """Give a value without all that could be masked in it, so many levels down."""
    if not levels:
        return value
    if isinstance(value, list):
        return [bare(each, levels - 1) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: each if key in UNMASKED else bare(each, levels - 1)
        for key, each in cast("dict[str, Any]", value).items()
        if (mask := rule_for(key)) is None or not (each is None or mask.fits(each))
    }
