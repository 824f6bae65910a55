"""A checkpoint in words: its title, its origin, its findings, and its state in brief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from tt_debugger.core.commits import MadeCommit
from tt_debugger.core.findings import Finding, Severity
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Aside, Head, Kind, Session, Usage, iso_time
from tt_debugger.core.replay import Repair
from tt_debugger.core.text import safe_line, summary_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.views.fact import fact_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import clock_text, count_text, duration_text
from tt_debugger.views.values import preview

_LONGEST_LABEL = 32
_LISTED = 12
_SUMS_APART = 64


def title_line(session: Session, row: int, palette: Palette) -> Text:
    """Give number, kind, role, time, time since the parent and tokens written, on one line."""
    head = session.heads[row]
    line = Text.assemble((f"{row + 1} ", palette.strong), (_what(head), palette.dim))
    if head.failed:
        line.append(" · failed", palette.bad)
    parts = [clock_text(head.time)] if head.time is not None else []
    since = _since_parent(session, row)
    if since is not None:
        parts.append(f"+{duration_text(since)}")
    if head.usage is not None:
        parts.append(f"{count_text(head.usage.output)} out")
    line.append("".join(f" · {each}" for each in parts), palette.dim)
    if row in session.labels:
        label = summary_line(session.labels[row], _LONGEST_LABEL)
        line.append(f" · {safe_line(label)}", palette.label)
    if row == session.active:
        line.append(" · active leaf", palette.accent)
    return line


def time_text(seconds: float) -> str:
    """Give a time in UTC as people read it: 2026-09-14 10:06:30.897 UTC."""
    return (iso_time(seconds) or "").replace("T", " ").replace("Z", " UTC")


def cost_text(cost: float) -> str:
    """Give a cost in dollars, to the cent or else to its first two digits."""
    return f"${cost:,.2f}" if cost >= 1 else f"${cost:.2g}"


def _since_parent(session: Session, row: int) -> float | None:
    """Give the seconds since the parent, None where a time is not known."""
    parent, heads = session.parents[row], session.heads
    time, began = heads[row].time, None if parent == NO_ROW else heads[parent].time
    return None if time is None or began is None else max(time - began, 0)


def rule_line(word: str, width: int, palette: Palette, glyphs: Glyphs) -> Text:
    """Give a line across the width that names what stands below it."""
    line = Text(f"{glyphs.line * 2} {word} ", palette.dim, no_wrap=True)
    line.append(glyphs.line * max(width - line.cell_len, 0))
    return line


def _what(head: Head) -> str:
    """Say what a checkpoint is: who speaks, which tool, or its kind and what it says."""
    if head.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT}:
        return safe_line(f"{head.role} · {head.name}")
    if head.role is not None:
        return str(head.role)
    kind = str(head.kind).replace("_", " ")
    if not head.summary or head.kind in {Kind.COMPACTION, Kind.BRANCH_SUMMARY}:
        return kind
    return safe_line(f"{kind} · {summary_line(head.summary, _LONGEST_LABEL)}")


def meta_lines(
    session: Session,
    row: int,
    palette: Palette,
    *,
    spent: Usage | None = None,
    commits: Sequence[MadeCommit] = (),
) -> Iterator[Text]:
    """Give all that the index knows of a checkpoint, a line a fact.

    `spent` is what was used on its path, itself included; `commits` are those it tells of.
    """
    head, tree = session.heads[row], session.tree
    parent = session.parents[row]
    since = _since_parent(session, row)
    after = "" if since is None else f", +{duration_text(since)} after its parent"
    on_path = "on the active path" if session.on_active_path[row] else "not on the active path"
    size = session.context_sizes[row]
    usage = head.usage
    facts: list[tuple[str, Any]] = [
        ("id", session.ids[row]),
        ("parent", None if parent == NO_ROW else f"{session.ids[parent]} (row {parent + 1})"),
        ("children", _children_text(tree.children(row))),
        ("depth", f"{tree.depth(row):,}"),
        ("branch", on_path),
        ("kind", head.kind),
        ("role", head.role),
        ("name", head.name or None),
        ("label", session.labels.get(row)),
        ("step", head.step),
        ("time", None if head.time is None else time_text(head.time) + after),
        ("line", _lines_text(session, row)),
        ("bytes", None if head.offset is None else f"{head.length:,} at {head.offset:,}"),
        ("beside", _asides_text(session.asides_at(row))),
        ("started", ", ".join(session.subsessions.get(row, ())) or None),
        ("commits", ", ".join(f"{each.hash} {each.subject}" for each in commits) or None),
        ("context", f"{size:,} tokens" if size else None),
        ("tokens", None if usage is None else _usage_text(usage)),
        ("on path", None if spent is None or not spent.output else _usage_text(spent)),
        ("cost", _costs_text(usage or Usage(), spent or Usage())),
    ]
    for name, value in facts:
        if value is not None:
            yield fact_line(name, str(value), palette)


def _lines_text(session: Session, row: int) -> str | None:
    """Give the lines that a checkpoint was written in."""
    first = session.heads.line(row)
    parts = [part.line for part in session.heads.parts.get(row, ())]
    return None if first is None else _listed([first, *parts])


def _asides_text(asides: Sequence[Aside]) -> str | None:
    """Say what stands beside a checkpoint, by its name: how many, and on which lines."""
    named: dict[str, list[int]] = {}
    for each in asides:
        named.setdefault(each.name, []).append(each.line)
    told = [
        f"{name} (line {lines[0]})"
        if len(lines) == 1
        else f"{len(lines):,} {name} (lines {lines[0]} to {lines[-1]})"
        for name, lines in named.items()
    ]
    return ", ".join(told) or None


def _children_text(children: Sequence[int]) -> str | None:
    if not children:
        return None
    rows = _listed([child + 1 for child in children])
    return f"row {rows}" if len(children) == 1 else f"rows {rows}"


def _listed(numbers: Sequence[int]) -> str:
    """Give the first of some numbers, and say how many more there are."""
    shown = ", ".join(map(str, numbers[:_LISTED]))
    more = len(numbers) - _LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _usage_text(usage: Usage) -> str:
    counts = f"{usage.input:,} in, {usage.output:,} out"
    cache = f"; cache {usage.cache_read:,} read, {usage.cache_write:,} written"
    return counts + (cache if usage.cache_read or usage.cache_write else "")


def _costs_text(own: Usage, spent: Usage) -> str | None:
    costs = [f"${own.cost:.6g}"] if own.cost else []
    costs += [f"{cost_text(spent.cost)} on its path"] if spent.cost else []
    return ", ".join(costs) or None


def spent_on_path(session: Session, row: int, known: dict[int, Usage]) -> Usage:
    """Give what was used from the root to a row.

    `known` remembers sums, so that going on from a row costs only what lies between.
    """
    above = session.tree.ancestors(row)
    below: list[int] = []
    total = Usage()
    for each in above:
        if each in known:
            total = known[each]
            break
        below.append(each)
    for place, each in enumerate(reversed(below)):
        usage = session.heads.usage(each)
        total = total if usage is None else total + usage
        if place % _SUMS_APART == 0:
            known[each] = total
    known[row] = total
    return total


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
