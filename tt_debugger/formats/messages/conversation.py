"""Conversations: the lists of messages in a request or an answer, and what stands beside them.

OpenAI chat and Anthropic have `messages`, OpenAI Responses `input` and `output`. All other keys
of a request are its settings. An object with a key that no request has is something else: a state
that holds messages among other things.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tt_debugger.core.json import as_list, as_map
from tt_debugger.formats.shared.message_heads import is_message
from tt_debugger.formats.shared.transcript_json import Member, members

LISTS = ("messages", "input", "output")
"""The keys under which messages stand, in the order in which they were said."""

_REQUEST = """
    model system instructions tools tool_choice functions function_call parallel_tool_calls
    max_tool_calls temperature top_p top_k max_tokens max_completion_tokens max_output_tokens n
    stop stop_sequences stream stream_options metadata user seed response_format text reasoning
    reasoning_effort verbosity thinking presence_penalty frequency_penalty logit_bias logprobs
    top_logprobs service_tier store previous_response_id truncation include background prompt
    prompt_cache_key prompt_cache_retention safety_identifier modalities audio prediction
    web_search_options container mcp_servers context_management betas anthropic_version
    anthropic_beta cache_control output_config inference_geo timeout extra_body extra_headers
"""
_ANSWER = """
    object created created_at completed_at updated_at usage status error incomplete_details
    type stop_reason stop_sequence finish_reason output_text
"""
_NAMES = """
    id conversation conversation_id conversationId session_id sessionId request_id user_id title
    name timestamp time date provider weight
"""
_BESIDE = frozenset(f"{_REQUEST} {_ANSWER} {_NAMES}".split())


def is_conversation(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a request or an answer with messages, and nothing more."""
    return any(holds_messages(value.get(key)) for key in LISTS) and all(
        key in _BESIDE or key in LISTS for key in value
    )


def holds_messages(value: object) -> bool:
    """Tell whether a list begins with a message."""
    return is_message(as_map(next(iter(as_list(value)), None)))


def settings_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Give what stands beside the messages of a conversation."""
    return {
        key: each
        for key, each in value.items()
        if key != "messages" and not (key in LISTS and holds_messages(each))
    }


def lists_in(data: bytes, value: Mapping[str, Any]) -> list[Member]:
    """Give where the lists of messages stand in the bytes of a conversation, in their order."""
    places = {each.key: each for each in members(data)}
    return [places[key] for key in LISTS if key in places and holds_messages(value.get(key))]
