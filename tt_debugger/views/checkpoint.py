"""A checkpoint in words: its title, its origin, its findings, and its state in brief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from tt_debugger.core.findings import Finding, Severity
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Head, Kind, Session, iso_time
from tt_debugger.core.replay import Repair
from tt_debugger.core.text import safe_line, summary_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.views.palette import Palette
from tt_debugger.views.row import count_text, duration_text
from tt_debugger.views.values import preview


def title_line(session: Session, row: int, palette: Palette) -> Text:
    """Give number, kind, role, time since the parent and what was used, on one line."""
    head = session.heads[row]
    parts = [_what(head)]
    parent = session.parents[row]
    began = None if parent == NO_ROW else session.heads[parent].time
    if head.time is not None and began is not None:
        parts.append(f"+{duration_text(max(head.time - began, 0))}")
    if head.usage is not None:
        parts.append(f"{count_text(head.usage.output)} out")
        if head.usage.cost:
            parts.append(f"${head.usage.cost:.4g}")
    line = Text.assemble((f"{row + 1} ", "bold"), (" · ".join(parts), palette.dim))
    if head.failed:
        line.append(" · failed", palette.bad)
    if row in session.labels:
        line.append(f" · {safe_line(session.labels[row])}", palette.label)
    if row == session.active:
        line.append(" · active leaf", palette.accent)
    return line


def _what(head: Head) -> str:
    """Say what a checkpoint is: who speaks, which tool, or its kind and what it says."""
    if head.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT}:
        return safe_line(f"{head.role} · {head.name}")
    if head.role is not None:
        return str(head.role)
    kind = str(head.kind).replace("_", " ")
    return safe_line(f"{kind} · {summary_line(head.summary, 48)}" if head.summary else kind)


def meta_lines(session: Session, row: int, palette: Palette) -> Iterator[Text]:
    """Give all that the index knows of a checkpoint, a line a fact."""
    head, tree = session.heads[row], session.tree
    parent = session.parents[row]
    facts: list[tuple[str, Any]] = [
        ("id", session.ids[row]),
        ("parent", None if parent == NO_ROW else f"{session.ids[parent]} (row {parent + 1})"),
        ("children", ", ".join(str(child + 1) for child in tree.children(row)) or None),
        ("depth", tree.depth(row)),
        ("kind", head.kind),
        ("role", head.role),
        ("name", head.name or None),
        ("label", session.labels.get(row)),
        ("step", head.step),
        ("time", iso_time(head.time)),
        ("line", head.line),
        ("bytes", None if head.offset is None else f"{head.length:,} at {head.offset:,}"),
        (
            "context",
            f"{session.context_sizes[row]:,} tokens" if session.context_sizes[row] else None,
        ),
    ]
    usage = head.usage
    if usage is not None:
        facts += [
            ("input", f"{usage.input:,}"),
            ("output", f"{usage.output:,}"),
            ("cache", f"{usage.cache_read:,} read, {usage.cache_write:,} written"),
            ("cost", f"{usage.cost:.6g}"),
        ]
    on_path = "on the active path" if session.on_active_path[row] else "not on the active path"
    facts.append(("branch", on_path))
    for name, value in facts:
        if value is not None:
            yield Text.assemble((f"{name:<9}", palette.dim), safe_line(str(value)))


def finding_lines(findings: Sequence[Finding], palette: Palette) -> Iterator[Text]:
    """Give findings as lines: severity in words, code, place, what, and what to do."""
    for each in findings:
        style = palette.dim if each.severity is Severity.NOTE else palette.change
        style = palette.bad if each.severity is Severity.ERROR else style
        place = f"line {each.line}" if each.line is not None else ""
        if each.offset is not None:
            place += f", byte {each.offset:,}"
        line = Text.assemble((f"{each.severity} {each.code}", style), (f"  {place}", palette.dim))
        line.append(f"  {safe_line(each.message)}")
        yield line
        if each.hint:
            yield Text(f"  {safe_line(each.hint)}", palette.dim)


def repair_lines(repairs: Sequence[Repair], palette: Palette) -> Iterator[Text]:
    """Give what the agent mends when it goes on; the places are those in what it sends."""
    for each in repairs:
        is_drop = each.kind.startswith("dropped") or each.kind == "no_response"
        place = f"before [{each.index}]" if is_drop else f"[{each.index}]"
        sign, style = ("-", palette.remove) if is_drop else ("+", palette.add)
        if each.kind in {"moved_result", "merged_user", "summary"}:
            sign, style = "~", palette.change
        yield Text.assemble(
            (f"{sign} {place} {each.kind.replace('_', ' ')}", style), f"  {safe_line(each.why)}"
        )
    if not repairs:
        yield Text("nothing to mend", palette.dim)


MESSAGES_LISTED = 30
"""Messages that the brief form of a state lists, the newest ones."""


def brief_lines(state: Any, palette: Palette) -> Iterator[Text]:
    """Give the top of a state, a line a key, and the newest messages, a line each."""
    if not isinstance(state, dict):
        yield Text(preview(state))
        return
    members = as_map(state)
    width = max((len(key) for key in members), default=0)
    for key, value in members.items():
        yield Text.assemble((f"{safe_line(key):<{width}}  ", palette.dim), preview(value))
        if key == "messages":
            yield from _message_list(as_list(value), palette)


def _message_list(messages: list[Any], palette: Palette) -> Iterator[Text]:
    begin = max(len(messages) - MESSAGES_LISTED, 0)
    if begin:
        yield Text(f"  [0..{begin - 1}] not listed here", palette.dim)
    width = len(str(len(messages)))
    for place in range(begin, len(messages)):
        yield Text.assemble((f"  [{place:>{width}}] ", palette.dim), preview(messages[place]))
