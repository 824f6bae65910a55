"""Handing off: the Markdown that one session leaves to the next, for people and for programs.

People read the headings and may correct what stands below them; that counts from then on. At the
end a block of JSON says the same for programs, exactly, with what people have no use for: which
checkpoint is meant, and the digest of the state there.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tt_debugger.core.json import canonical
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import acting, safe_line, safe_text
from tt_debugger.errors import UsageError
from tt_debugger.formats.handoff.fields import field_named
from tt_debugger.record.handoff_prose import Prose

VERSION = 1
"""The version of the block for programs."""

_BLOCK = re.compile(r"[ \t]*(?:#{1,6}(?:\s|\Z)|```|~~~|<|[-=]+[ \t]*\Z)")
"""What would begin a heading, code or HTML, or make a heading of the line before it."""
_NAMED = re.compile(r"([ \t]*(?:[-*+] +)?[*_`]*)([A-Za-z][A-Za-z _-]*)([*_`]*):")
_NOTHING = "None."
_KNOWN = {
    Status.NOT_DONE: "not done",
    Status.UNKNOWN: "unknown: it was begun, and nothing says how it ended",
    Status.DONE: "done",
}


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a handoff says.

    `location` is what the session is opened by, `checkpoint` the id of the entry that is meant,
    `digest` that of the state there (see `state_digest`), `time` ISO 8601 in UTC. `effects` are
    those that are not known to be done.
    """

    session: str
    location: str
    checkpoint: str
    digest: str
    time: str
    next_step: str | None = None
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    title: str | None = None


class HandoffRead(msgspec.Struct, frozen=True):
    """What is read of a handoff: which checkpoint it means, and what it says for the next one."""

    session: str
    location: str
    checkpoint: str
    digest: str
    next_step: str | None
    blockers: tuple[str, ...]
    decisions: tuple[str, ...]


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """What the block for programs holds."""

    ttdbg_handoff: int
    session: str
    location: str
    checkpoint: str
    state_sha256: str
    written_at: str
    title: str | None = None
    next_step: str | None = None
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


def composed(facts: Facts) -> str:
    """Give a handoff as Markdown.

    Raises UsageError for text that UTF-8 cannot hold.
    """
    steps = () if facts.next_step is None else (facts.next_step,)
    lines = [
        f"# Handoff: {safe_line(facts.title or facts.session)}",
        "",
        f"- Session: {_code(facts.session)}",
        f"- Checkpoint path: {_code(point_of(facts.location, facts.checkpoint))}",
        f"- Written at: {_code(facts.time)}",
        *_section("Next step", [_unnamed(each) for each in steps]),
        *_section("Blockers", facts.blockers),
        *_section("Decisions", facts.decisions),
        *_section("Open effects", [_told(each) for each in facts.effects]),
        "",
        "## For programs",
        "",
        "What stands above may be corrected by hand. By this block the next session finds its",
        "checkpoint; leave it as it is.",
        "",
        "```json",
        _block_of(facts),
        "```",
        "",
    ]
    return "\n".join(lines)


def read(text: str) -> HandoffRead:
    """Give what a handoff says.

    What people changed under a heading is taken from there, as they wrote it, all else from the
    block. Raises UsageError for a text without such a block.
    """
    given = Prose(text)
    block = _found(given)
    if block.ttdbg_handoff > VERSION:
        raise UsageError(
            f"the handoff has version {block.ttdbg_handoff}, and version {VERSION} is known",
            "read it with a newer ttdbg",
        )
    written = Prose(composed(_facts_of(block)))

    def said(field: str, own: Any) -> Any:
        now = given.said(field)
        return own if _folded(now) == _folded(written.said(field)) else now

    return HandoffRead(
        block.session,
        block.location,
        block.checkpoint,
        block.state_sha256,
        said("next_step", block.next_step),
        tuple(said("blockers", block.blockers)),
        tuple(said("decisions", block.decisions)),
    )


def state_digest(state: Any) -> str:
    """Give the SHA-256 of a state as hexadecimal text, whatever the order of its keys."""
    return hashlib.sha256(canonical(state)).hexdigest()


def point_of(location: str, checkpoint: str) -> str:
    """Give a checkpoint as `ttdbg show` takes it; the location may name its session already."""
    if "#" not in location:
        return f"{location}#{quoted(checkpoint)}"
    return f"{location.removesuffix(':')}:{quoted(checkpoint)}"


def _section(heading: str, values: Sequence[str]) -> list[str]:
    """Give a section with an item for each value.

    An item ends what was begun in it, so that no text, whatever it is, reaches beyond its own.
    """
    items = [_item(each) for each in values] or [_NOTHING]
    return ["", f"## {heading}", "", *items]


def _item(text: str) -> str:
    lines = safe_text(text).split("\n")
    escaped = (
        re.sub(r"(\S)", r"\\\1", each, count=1) if _BLOCK.match(each) else each for each in lines
    )
    return "- " + "\n  ".join(escaped).rstrip()


def _unnamed(text: str) -> str:
    """Give a text without lines that look like a field and its value."""

    def escaped(line: str) -> str:
        named = _NAMED.match(line)
        if named is None or field_named(named[2]) is None:
            return line
        return f"{line[: named.end() - 1]}\\{line[named.end() - 1 :]}"

    return "\n".join(map(escaped, text.split("\n")))


def _code(text: str) -> str:
    """Give a text as code, which is how it is found again; one with such marks stands as it is."""
    line = safe_line(text)
    return line if "`" in line else f"`{line}`"


def _told(effect: Effect) -> str:
    tool = f" ({safe_line(effect.tool)})" if effect.tool else ""
    return f"{_code(effect.key)}{tool}: {_KNOWN[effect.status]}"


def _block_of(facts: Facts) -> str:
    """Give the block as JSON that no text in it can end, and in which nothing hides."""
    block = _Block(
        ttdbg_handoff=VERSION,
        session=facts.session,
        location=facts.location,
        checkpoint=facts.checkpoint,
        state_sha256=facts.digest,
        written_at=facts.time,
        title=facts.title,
        next_step=facts.next_step,
        blockers=facts.blockers,
        decisions=facts.decisions,
    )
    try:
        text = msgspec.json.format(msgspec.json.encode(block), indent=2).decode()
    except UnicodeEncodeError as error:
        raise UsageError("half a character (a lone surrogate) cannot be handed off") from error
    hidden = {ord(each): json.dumps(each)[1:-1] for each in acting(text)}
    return text.translate({**hidden, ord("`"): "\\u0060"})


def _found(prose: Prose) -> _Block:
    """Give the last block in a text: what stands before it may quote another handoff."""
    why = "there is no block for programs in it"
    blocks = [each for each in prose.code if '"ttdbg_handoff"' in each]
    if blocks:
        try:
            return msgspec.json.decode(blocks[-1], type=_Block)
        except (msgspec.DecodeError, RecursionError) as error:
            why = f"its block for programs is damaged: {error}"
    raise UsageError(
        f"the text is no handoff of a recorder: {safe_line(why)}",
        "name a file that `recorder.handoff(...)` wrote; a block of code before that block must be"
        " closed",
    )


def _facts_of(block: _Block) -> Facts:
    return Facts(
        session=block.session,
        location=block.location,
        checkpoint=block.checkpoint,
        digest=block.state_sha256,
        time=block.written_at,
        next_step=block.next_step,
        blockers=block.blockers,
        decisions=block.decisions,
        title=block.title,
    )


def _folded(value: str | Sequence[str] | None) -> Any:
    """Give what a field says without its line breaks: an editor may have set them anew."""
    if value is None or isinstance(value, str):
        return value and " ".join(value.split())
    return [" ".join(each.split()) for each in value]
