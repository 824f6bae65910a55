"""Markdown: transcripts, states and differences as they are read on a code host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tt_debugger.core.diff.comparing import (
    ComparedMessage,
    Comparison,
    EqualRun,
    Sign,
    compare,
)
from tt_debugger.core.diff.meaning import About, Aspect, ComparedAspect, json_of
from tt_debugger.core.text import counted, safe_line
from tt_debugger.exports.gate import Passed, Redaction
from tt_debugger.exports.hunks import hunk_lines
from tt_debugger.exports.markdown_text import cell, code, fenced, inline, prose, quoted, table
from tt_debugger.exports.plain import said_lines
from tt_debugger.exports.subjects import Origin, StateAt, Transcript, Turn, TwoStates
from tt_debugger.exports.telling import (
    PROSE,
    aspect_title,
    compared_title,
    counts_told,
    edit_texts,
    edit_title,
    joined,
    notes_told,
    origin_facts,
    redaction_told,
    row_title,
    says_the_same,
    settings_told,
    told,
    turn_facts,
    turn_title,
)
from tt_debugger.version import __version__

SHORT = 120
"""Characters of a value that stands in a line or in a table."""
_ONE_SIDED = frozenset((Sign.ADDED, Sign.REMOVED))


def transcript(passed: Passed[Transcript]) -> str:
    """Give a transcript: a heading for each checkpoint that says something, a line for others."""
    subject = passed.subject
    origin = subject.origin
    return _page(
        origin.title or f"Session {origin.session_id}",
        _origin_table(origin),
        *(_turn(turn) for turn in subject.turns),
        _findings(subject.findings),
        redaction=passed.redaction,
    )


def state(passed: Passed[StateAt]) -> str:
    """Give a state: all of it as JSON."""
    subject = passed.subject
    return _page(
        f"State at {subject.origin.checkpoint['id']}",
        _origin_table(subject.origin),
        fenced(json_of(subject.state), "json"),
        redaction=passed.redaction,
    )


def difference(passed: Passed[TwoStates]) -> str:
    """Give what differs: a table of settings, then the messages with their changed lines."""
    subject = passed.subject
    return comparison_page(passed, compare(subject.old, subject.new, mask=subject.is_masked))


def comparison_page(passed: Passed[TwoStates], comparison: Comparison) -> str:
    """Give what differs, where it is compared already."""
    subject = passed.subject
    return _page(
        "What changed",
        _sides_table(subject.a, subject.b),
        _overview(passed, comparison),
        list(_settings(comparison)),
        *(_row(row) for row in comparison.messages),
        redaction=passed.redaction,
    )


def _page(title: str, *blocks: list[str], redaction: Redaction) -> str:
    foot = ["---", "", inline(redaction_told(redaction)), "", f"*ttdbg {__version__}*"]
    every = [[f"# {inline(safe_line(title))}"], *(each for each in blocks if each), foot]
    return "\n\n".join("\n".join(each) for each in every) + "\n"


def _origin_table(origin: Origin) -> list[str]:
    return table(("", ""), [(name, cell(value)) for name, value in origin_facts(origin)])


def _sides_table(a: Origin, b: Origin) -> list[str]:
    sides = dict(origin_facts(a)), dict(origin_facts(b))
    names = dict.fromkeys((*sides[0], *sides[1]))
    rows = [(name, *(cell(side.get(name, "")) for side in sides)) for name in names]
    return table(("", "A (old)", "B (new)"), rows)


def _turn(turn: Turn) -> list[str]:
    if not turn.messages:
        return [_brief(turn)]
    lines = [f"## {inline(turn_title(turn))}", "", joined(map(code, turn_facts(turn)))]
    for message in turn.messages:
        lines += [line for aspect in told(message) for line in ("", *_aspect(aspect))]
    changed = [f"- {code(path)} = {code(value[:SHORT])}" for path, value in settings_told(turn)]
    return [*lines, "", *changed] if changed else lines


def _brief(turn: Turn) -> str:
    """Give a checkpoint without messages in a line."""
    checkpoint = turn.checkpoint
    what = " ".join(filter(None, (turn.name, checkpoint["summary"]))) or ""
    facts = [inline(turn_title(turn)), code(what[:SHORT])]
    facts += [f"{code(path)} = {code(value[:SHORT])}" for path, value in settings_told(turn)]
    return f"- {joined(filter(None, facts))}"


def _aspect(aspect: Aspect) -> list[str]:
    """Give what a message says or does: prose as prose, all else as code."""
    match aspect.about:
        case About.TEXT | About.FAILURE:
            return prose(aspect.text)
        case About.THINKING:
            return quoted(prose(aspect.text))
        case About.CALL:
            return [f"**calls** {code(aspect.name)}"]
        case _ if aspect.about in PROSE:
            return [f"**{inline(aspect_title(aspect))}**", "", *quoted(prose(aspect.text))]
        case _ if _is_short(aspect.text):
            return [f"{inline(aspect_title(aspect))}: {code(aspect.text)}".rstrip()]
        case _:
            head = f"{inline(aspect_title(aspect))}:"
            return [head, "", *fenced(aspect.text, _language(aspect))]


def _is_short(text: str) -> bool:
    return len(text) <= SHORT and "\n" not in text


def _language(aspect: Aspect) -> str:
    if aspect.about is About.EDIT:
        return "diff"
    if aspect.about is About.COMMAND:
        return "sh"
    return "json" if aspect.text[:1] in ("{", "[") else "text"


def _findings(findings: tuple[dict[str, Any], ...]) -> list[str]:
    if not findings:
        return []
    return [
        "## Findings",
        "",
        *(
            f"- {each['severity']} {each['code']}: {inline(safe_line(each['message']))}"
            for each in findings
        ),
    ]


def _overview(passed: Passed[TwoStates], comparison: Comparison) -> list[str]:
    counts = joined(f"`{sign}` {words}" for sign, words in counts_told(comparison.counts))
    notes = [f"- {inline(each)}" for each in notes_told(passed, comparison)]
    return [f"**{counts or 'Nothing differs.'}**", *(("", *notes) if notes else ())]


def _settings(comparison: Comparison) -> Iterator[str]:
    """Give what differs beside the messages: short values side by side, long ones as lines."""
    if not comparison.settings:
        return
    yield "## Settings"
    short: list[tuple[str, ...]] = []
    long: list[tuple[str, str]] = []
    for edit in comparison.settings:
        word, place = edit_title(edit)
        old, new = edit_texts(edit)
        if _is_short(old or "") and _is_short(new or ""):
            short.append((word, *map(cell, (place, old or "", new or ""))))
        else:
            long.append((f"{word} {code(place)}", "\n".join(hunk_lines(old, new))))
    if short:
        yield ""
        yield from table(("", "place", "A", "B"), short)
    for title, lines in long:
        yield from ("", title, "")
        yield from fenced(lines, "diff")


def _row(row: ComparedMessage | EqualRun) -> list[str]:
    if isinstance(row, EqualRun):
        return [f"*{counted(row.count, 'equal message')}*"]
    lines = [f"## {inline(row_title(row))}"]
    if row.sign is Sign.MOVED and (row.difference is None or row.new is msgspec.UNSET):
        return lines
    if row.sign in _ONE_SIDED:
        sign, message = ("+", row.new) if row.sign is Sign.ADDED else ("-", row.old)
        return [
            *lines,
            "",
            *fenced("\n".join(sign + each for each in said_lines(message)), "diff"),
        ]
    for aspect in row.aspects:
        lines += _compared(aspect)
    return lines


def _compared(aspect: ComparedAspect) -> list[str]:
    title = inline(compared_title(aspect))
    if aspect.equal:
        return ["", f"{title}: the same"]
    if says_the_same(aspect):
        return ["", title]
    old, new = aspect.old, aspect.new
    lines = hunk_lines(old and old.text, new and new.text)
    return ["", f"{title}:", "", *fenced("\n".join(lines), "diff")]
