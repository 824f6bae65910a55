"""Structure only: which texts, numbers and keys stay where all content is left out.

What is not listed goes. Roles and kinds stay wherever they are, if they are those that are known.
Ids, times, names of models and tools stay only in envelopes, which are maps that say by such a
role or kind what they are, and only if they are short and one word; and not beneath what a session
keeps of its user: its state, what a tool was given, anything under a key that is not known. Of all
other texts the length is told, and which of them are the same; numbers stay under keys that count
or measure. True, false and null always stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from tt_debugger.core.model import Kind, Role
from tt_debugger.core.redact.words import words

KEPT = words(
    # What it is
    "type kind role op severity code "
    # Which one
    "id uuid parent parentId parent_id parentUuid parent_uuid sessionId session_id "
    "messageId message_id requestId request_id responseId response_id toolCallId tool_call_id "
    "tool_use_id toolUseID call_id callId turn_id turnId step_id run_id runId task_id taskId "
    "thread_id threadId checkpoint_id checkpoint_ns parent_checkpoint_id checkpoint leaf "
    "leafId leafUuid targetId target_id firstKeptEntryId first_kept_entry_id fromId "
    "entry_id branch_root_id fork_point active_leaf interrupt_id "
    # When
    "timestamp time ts created created_at createdAt updated_at updatedAt start_time end_time "
    # Who
    "name toolName tool_name model modelId model_id model_name provider model_provider api "
    "thinkingLevel thinking_level reasoning_effort effort "
    # How it ended
    "stop_reason stopReason finish_reason rawStopReason "
    # Where
    "path from version schema_version format"
)
"""The keys whose texts stay in an envelope."""

_ROLES = frozenset(
    (
        *map(str, Role),
        *words("developer toolResult function model human ai"),
    )
)
_KINDS = frozenset(map(str, Kind)) | words(
    "message text thinking image toolCall tool_call tool_use toolResult tool_result function "
    "function_call function_call_output reasoning redacted_thinking input_text output_text "
    "session session_info model_change thinking_level_change compaction branch_summary custom "
    "custom_message label leaf user assistant system tool human ai "
    "add remove replace move copy test append document refusal input_image summary file- "
    "history-snapshot error warning info"
)
_SAID = words("role type kind op severity")
"""The keys that say what a map is."""

INNER = words(
    "message messages content parts tool_calls toolCalls function turns origin a b checkpoint "
    "checkpoints head findings changes usage cost tokens entries"
)
"""The keys beneath which an envelope may stand."""

NUMBERS = words(
    "timestamp time ts created created_at createdAt updated_at updatedAt start_time end_time "
    "row line step index offset length depth version ttdbg_bundle count at tokensBefore "
    "input output total cost cacheRead cacheWrite cache_read cache_write input_tokens "
    "output_tokens total_tokens totalTokens prompt_tokens completion_tokens reasoning "
    "cache_creation_input_tokens cache_read_input_tokens cached_tokens reasoning_tokens tokens "
    "duration duration_ms durationMs latency_ms exit_code exitCode"
)
"""The keys whose numbers count or measure what a session is, and not what it is about."""

_KEYS = (
    KEPT
    | INNER
    | NUMBERS
    | words(
        "arguments args input parameters kwargs env headers details artifact record values files "
        "state "
        "text thinking summary title label cwd file messages old new notes value before after put "
        "drop "
        "insert failed is_a is_b is_masked is_one_of_several session format fork_point finding "
        "hint "
        "isError is_error signature data source mimeType media_type sections thinking_level"
    )
)
"""The keys that stay wherever they stand."""

_WORD = re.compile(r"[\w.:/@+-]{1,80}", re.ASCII)
_TIMES = words(
    "timestamp time ts created created_at createdAt updated_at updatedAt start_time end_time"
)
_TIME = re.compile(r"\d[\dTZ:.+-]{3,39}", re.ASCII)
_NAME = re.compile(r"[A-Za-z_$][\w$.-]{0,40}", re.ASCII)


def stays(holder: Mapping[str, Any], key: str, text: str, *, is_content: bool) -> bool:
    """Tell whether a text stays under its key; `is_content` where no envelope is believed."""
    if key in _SAID:
        return text in (_ROLES if key == "role" else _KINDS)
    if is_content or key not in KEPT or not is_envelope(holder):
        return False
    if key in {"path", "from"}:
        return all(each in _KEYS or each.isdecimal() for each in text.split("/") if each)
    return (_TIME if key in _TIMES else _WORD).fullmatch(text) is not None


def is_envelope(holder: Mapping[str, Any]) -> bool:
    """Tell whether a map is part of what a session is, and not of what it is about."""
    for key in _SAID:
        said = holder.get(key)
        if isinstance(said, str) and said in (_ROLES if key == "role" else _KINDS):
            return True
    checkpoint = holder.get("checkpoint")
    return isinstance(checkpoint, dict) and is_envelope(cast("dict[str, Any]", checkpoint))


def number_stays(key: str) -> bool:
    """Tell whether numbers stay under a key."""
    return key in NUMBERS


def key_stays(key: str) -> bool:
    """Tell whether a key of a map stays wherever it stands."""
    return key in _KEYS


def name_stays(key: str) -> bool:
    """Tell whether a key is a plain name, and so stays in an envelope."""
    return _NAME.fullmatch(key) is not None
