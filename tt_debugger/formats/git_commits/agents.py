"""Agents: which commits one made, as far as a commit tells: by its author, or by its message."""

from __future__ import annotations

import re

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
_CREDITED = re.compile(
    rb"^co-authored-by:[^\n]*(?:\[bot\]|aider|claude|anthropic|codex|openai|copilot|cursor|devin"
    rb"|gemini|jules|openhands|opencode|goose|windsurf|cline|qwen|factory-droid)",
    re.MULTILINE,
)
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


def credits_agent(lowered: bytes) -> bool:
    """Tell whether a message, in lower case, names an agent that made it or had a part in it."""
    if b"entire-" in lowered or b"-session" in lowered or b"generated with" in lowered:  # noqa: SIM102 - two reasons
        if _MADE_BY.search(lowered):
            return True
    begin = lowered.find(_AUTHOR)
    return begin >= 0 and _CREDITED.search(lowered, max(begin - 1, 0)) is not None
