"""How exports tell what stands in a session: titles and facts as plain text, the same in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tt_debugger.core.diff.comparing import (
    SIGNS,
    WORDS,
    ComparedMessage,
    Comparison,
    Counts,
    Sign,
)
from tt_debugger.core.diff.edits import Edit, Op
from tt_debugger.core.diff.meaning import (
    About,
    Aspect,
    ComparedAspect,
    aspects,
    json_of,
    text_of,
)
from tt_debugger.core.json import as_map
from tt_debugger.core.langchain_messages import is_langchain_message
from tt_debugger.core.messages import read_message
from tt_debugger.core.paths import pointer
from tt_debugger.core.text import safe_line, summary_line
from tt_debugger.exports.gate import Passed, Redaction
from tt_debugger.exports.subjects import Origin, Turn, TwoStates

PROSE = frozenset((About.TEXT, About.THINKING, About.SECTION, About.FAILURE))
"""What is written to be read; all else is code."""

FAILED = "failed"
_ROOT = "(the state)"
"""What the pointer of the whole state, an empty text, is told as."""
_ROLES = {
    "toolResult": "tool result",
    "tool": "tool result",
    "branchSummary": "branch summary",
    "compactionSummary": "compaction",
    "bashExecution": "shell",
}


def told(message: Any) -> tuple[Aspect, ...]:
    """Give what a message says and does; one of no known shape as it is."""
    found = aspects(message)
    if not found and not as_map(message).get("role"):
        return (Aspect(About.OTHER, "", json_of(message)),)
    return found


def speaker(message: Any) -> str:
    """Give who speaks in a message, and of a result its tool: `tool result · bash`."""
    reading = read_message(message)
    role = _ROLES.get(reading.role, reading.role)
    own = as_map(message)
    kind = own.get("type")
    if "role" not in own and isinstance(kind, str) and not is_langchain_message(own):
        role = kind.replace("_", " ")
    tool = as_map(message).get("toolName")
    named = [
        role,
        *([tool] if isinstance(tool, str) else []),
        *([FAILED] if reading.failed else []),
    ]
    return safe_line(" · ".join(named))


def aspect_title(aspect: Aspect) -> str:
    """Give what an aspect is, with the name it has, and of a result whether it failed."""
    about = str(aspect.about)
    title = f"{about} {aspect.name}" if aspect.name and aspect.name != about else about
    return safe_line(f"{title} · {FAILED}" if aspect.failed else title)


def compared_title(compared: ComparedAspect) -> str:
    """Give what an aspect is on both sides, once where it is the same."""
    sides = (each for each in (compared.old, compared.new) if each is not None)
    return " → ".join(dict.fromkeys(map(aspect_title, sides)))


def says_the_same(compared: ComparedAspect) -> bool:
    """Tell whether the texts of both sides are equal, if not what else tells of them."""
    old, new = compared.old, compared.new
    return old is not None and new is not None and old.text == new.text


def turn_title(turn: Turn) -> str:
    """Give a checkpoint in a few words: its row, and who speaks or what it is."""
    checkpoint = turn.checkpoint
    what = " and ".join(dict.fromkeys(map(speaker, turn.messages))) or checkpoint["kind"]
    return safe_line(f"{checkpoint['row']} · {what.replace('_', ' ')}")


def turn_summary(turn: Turn) -> str:
    """Give what a checkpoint is about in a line; what it says has passed the gate as a whole."""
    said = [aspect.text for message in turn.messages for aspect in told(message)]
    return turn.checkpoint["summary"] or summary_line("\n".join(said))


def turn_facts(turn: Turn) -> list[str]:
    """Give what else is known of a checkpoint: its id, time, tokens, label."""
    checkpoint = turn.checkpoint
    usage = as_map(checkpoint["usage"])
    facts = [str(checkpoint["id"]), _time(checkpoint["time"])]
    if usage.get("output"):
        facts.append(
            f"{usage['input'] + usage['cache_read'] + usage['cache_write']:,} tokens in, "
            f"{usage['output']:,} out"
        )
    if turn.label is not None:
        facts.append(f"label: {turn.label}")
    return [safe_line(each) for each in facts if each]


def settings_told(turn: Turn) -> Iterator[tuple[str, str]]:
    """Give what a checkpoint changed beside the messages: each place, and its value in a line."""
    for change in turn.changes:
        match change["op"]:
            case "drop":
                value = "(removed)"
            case "snapshot" if turn.checkpoint["parent"] is None:
                continue
            case "snapshot":
                value = "(replaced as a whole)"
            case _:
                value = short_value(change["value"])
        yield safe_line(change["path"] or _ROOT), value


def origin_facts(origin: Origin) -> list[tuple[str, str]]:
    """Give where something comes from, fact by fact."""
    checkpoint = origin.checkpoint
    facts = [
        ("file", origin.file),
        ("format", origin.format or ""),
        ("session", origin.session_id),
        ("title", origin.title or ""),
        ("folder", origin.cwd or ""),
        ("checkpoint", f"{checkpoint['id']} (row {checkpoint['row']}, {checkpoint['kind']})"),
        ("time", _time(checkpoint["time"])),
        ("label", origin.label or ""),
    ]
    return [(name, safe_line(value)) for name, value in facts if value]


def row_title(row: ComparedMessage) -> str:
    """Give a message of a comparison: how it stands, where, and who speaks in it."""
    places = [f"{place + 1}" for place in (row.old_place, row.new_place) if place is not None]
    where = " → ".join(dict.fromkeys(places))
    is_gone = row.new is msgspec.UNSET
    title = f"{WORDS[row.sign]} message {where} · {speaker(row.old if is_gone else row.new)}"
    return f"{title} (from here)" if is_gone and row.sign is Sign.MOVED else title


def edit_title(edit: Edit) -> tuple[str, str]:
    """Give what an edit did, and the place that it is about."""
    return WORDS[SIGNS[edit.op]], safe_line(pointer(edit.path) or _ROOT)


def edit_texts(edit: Edit) -> tuple[str | None, str | None]:
    """Give the value of an edit on both sides, None where there is none."""
    return (
        None if edit.op is Op.ADD else text_of(edit.old),
        None if edit.op is Op.REMOVE else text_of(edit.new),
    )


def counts_told(counts: Counts) -> list[tuple[Sign, str]]:
    """Give how many edits there are of each sort that there is."""
    return [(sign, f"{number:,} {WORDS[sign]}") for sign, number in counts.told()]


def notes_told(passed: Passed[TwoStates], comparison: Comparison) -> list[str]:
    """Give what is to be known of a comparison: where the two part, and what is masked."""
    # Of structure alone a sentence is told by its length, which says nothing.
    notes = () if passed.redaction.structure_only else passed.subject.notes
    return [safe_line(each) for each in (*notes, masked_told(comparison)) if each]


def masked_told(comparison: Comparison) -> str:
    """Say how many differences are masked, by rule; empty for none."""
    named = ", ".join(f"{name} {number:,}" for name, number in sorted(comparison.masked.items()))
    return f"masked: {named}" if named else ""


def redaction_told(redaction: Redaction) -> str:
    """Say what was redacted, by rule and how often."""
    counts = redaction.counts
    if counts is None:
        return "Not redacted: this export holds all that the session holds."
    named = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
    if redaction.structure_only:
        return f"Structure only: all content is left out{named and f'; redacted: {named}'}."
    return f"Redacted: {named or 'nothing was found to hide'}."


def short_value(value: Any) -> str:
    """Give a value as one line."""
    return safe_line(value if isinstance(value, str) else json_of(value).replace("\n", " "))


def joined(facts: Iterable[str]) -> str:
    """Give facts as one line."""
    return " · ".join(facts)


def _time(time: Any) -> str:
    """Give an ISO time as people read it, to the second."""
    if not isinstance(time, str) or len(time) < _TO_THE_SECOND:
        return ""
    return time[:_TO_THE_SECOND].replace("T", " ") + "Z"


_TO_THE_SECOND = len("2026-01-31T12:00:00")
