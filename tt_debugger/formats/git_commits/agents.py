"""Agents: which commits one made, as far as a commit tells: by its author, or by its message."""

from __future__ import annotations

import re
from functools import lru_cache

from tt_debugger.formats.git_commits.mentions import Mentions

_NAMES = (
    r"aider|claude|anthropic|codex|openai|chatgpt|copilot|cursor|cursoragent|devin|gemini|jules"
    r"|openhands|opencode|goose|amp|windsurf|cline|roo code|qwen|factory-droid|swe-agent|entire"
)
# Not part of a longer word: Claudette is a person.
_AGENT = re.compile(
    rf"\(aider\)|\[bot\]|(?<![\w]){_NAMES}(?![\w])".replace(_NAMES, f"(?:{_NAMES})"),
    re.IGNORECASE,
)
_PERSONS_OWN = re.compile(r"@(?:gmail|outlook|yahoo|icloud)\.", re.IGNORECASE)
_FIRST_NAME = re.compile(r"(?:claude|gemini|jules|devin|amp|goose) \w+", re.IGNORECASE)
_AUTHOR = b"co-authored-by:"
_SHORT = 300
"""Bytes of an end of a message up to which it is kept whether that names an agent."""
_CREDITED = re.compile(
    rb"^co-authored-by:[^\n]*(?:\[bot\]|aider|claude|anthropic|codex|openai|copilot|cursor|devin"
    rb"|gemini|jules|openhands|opencode|goose|windsurf|cline|qwen|factory-droid)",
    re.MULTILINE,
)
_MAKING = (b"entire-", b"-session", b"generated with")
"""One of these is in what `_MADE_BY` finds."""
_MADE_BY = re.compile(
    rb"^(?:entire-\w+|claude-session|codex-session|copilot-session):"
    rb"|generated with \[?(?:claude|codex|opencode|copilot|cursor|aider|amp)",
    re.MULTILINE,
)


def is_agent(name: str, mail: str) -> bool:
    """Tell whether an author is an agent or a bot: aider, Claude, Copilot, [bot] and the like.

    A person may be called Claude: with a family name, and a mailbox of one's own.
    """
    if _AGENT.search(mail) and not _PERSONS_OWN.search(mail):
        return True
    return _AGENT.search(name) is not None and not (
        _FIRST_NAME.fullmatch(name) and "code" not in name.lower()
    )


def crediting(lowered: Mentions) -> set[int]:
    """Give the places of messages, in lower case, that credit an agent: it made or helped."""
    texts = lowered.texts
    found = {place for place in lowered.of(_MAKING) if _MADE_BY.search(texts[place])}
    found.update(place for place in lowered.of((_AUTHOR,)) if _is_by_agent(texts[place]))
    return found


def _is_by_agent(lowered: bytes) -> bool:
    end = lowered[max(lowered.find(_AUTHOR) - 1, 0) :]
    return _is_credit(end) if len(end) <= _SHORT else _CREDITED.search(end) is not None


@lru_cache(10_000)
def _is_credit(end: bytes) -> bool:
    """Tell whether the end of a message names an agent: many commits have the same."""
    return _CREDITED.search(end) is not None
