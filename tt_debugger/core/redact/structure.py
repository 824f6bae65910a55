"""Structure only: which texts stay where all content is left out.

Only what is listed stays, and only if it is short and one word: a kind, a role, an id, a time, a
model's or a tool's name. The text under any other key is told by its length alone. Keys of maps
stay if they are plain names; numbers, true, false and null always stay.
"""

from __future__ import annotations

import re

from tt_debugger.core.redact.words import words

KEPT = words(
    # What it is
    "type subtype kind role op event status state_kind level severity code phase subagent_type "
    "customType custom_type contentType "
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
    "stop_reason stopReason finish_reason rawStopReason decision "
    # Where
    "path from version schema_version format"
)
"""The keys whose texts stay."""

CONTENT = words("arguments args input parameters kwargs env headers details artifact")
"""The keys beneath which no text stays, whatever its own key: what a tool was given or kept."""

_WORD = re.compile(r"[\w.:/@+-]{1,80}", re.ASCII)
_POINTER = re.compile(r"(?:/(?:[A-Za-z_$][\w$-]{0,40}|\d{1,9}))*", re.ASCII)
_NAME = re.compile(r"[A-Za-z_$][\w$.-]{0,40}", re.ASCII)


def stays(key: str, text: str) -> bool:
    """Tell whether a text stays under its key."""
    if key in {"path", "from"}:
        return _POINTER.fullmatch(text) is not None
    return key in KEPT and _WORD.fullmatch(text) is not None


def key_stays(key: str) -> bool:
    """Tell whether a key of a map is a plain name, and so no content."""
    return _NAME.fullmatch(key) is not None
