"""What Qwen Code says of the tokens that a call used."""

from __future__ import annotations

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Usage
from tt_debugger.formats.shared.tokens import counted_tokens


def usage_of(value: object) -> Usage | None:
    """Give what `usageMetadata` counts: what was read from a cache is part of the prompt there."""
    if not isinstance(value, dict):
        return None
    counts = as_map(value)
    prompt = counted_tokens(counts.get("promptTokenCount"))
    total = counted_tokens(counts.get("totalTokenCount"))
    cached = min(counted_tokens(counts.get("cachedContentTokenCount")), prompt)
    output = total - prompt
    if output <= 0:
        output = counted_tokens(counts.get("candidatesTokenCount"))
    return Usage(prompt - cached, output, cached, 0, total or prompt + output)
