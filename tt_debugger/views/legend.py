"""The legend: what the signs of the tree and of changes mean."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from tt_debugger.views.gutter import HERE
from tt_debugger.views.palette import Glyphs, Palette


def legend_lines(palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    """Give each sign with its meaning, a line a sign."""
    signs = (
        (glyphs.user, palette.accent, "what the user, the agent or a tool's caller says"),
        (glyphs.call, palette.good, "a tool is called"),
        (glyphs.result, palette.good, "a tool answers, with the time it took"),
        (glyphs.setting, palette.text, "a model or setting changes"),
        (glyphs.compaction, palette.change, "older messages give way to a summary"),
        (glyphs.branch, palette.change, "the summary of a branch that was left"),
        (glyphs.label, palette.label, "a label"),
        (glyphs.custom, palette.text, "another entry, or one of an extension"),
        (glyphs.gap, palette.bad, "bytes that are no record, or one that is not understood"),
        (glyphs.good, palette.dim, "went well"),
        (glyphs.bad, palette.bad, "failed"),
        (glyphs.interrupt, palette.accent, "stopped to be told how to go on"),
        (f"{glyphs.forked} 2", palette.add, "so many forks were made from here; Enter opens one"),
        (f"{glyphs.fork} 3", palette.lane, "so many branches begin here"),
        (glyphs.fold, palette.lane, "folded rows; l opens them"),
        (glyphs.turn, palette.dim, "in the graph: a message of the user"),
        (glyphs.active, palette.accent, "the active leaf: where the agent would go on"),
        (glyphs.stop, palette.change, "the watched value changed here"),
        ("+ - 0 ?", palette.label, "in a bisect: bad, good, skipped, perhaps the first bad one"),
        (
            f"14 15{HERE}",
            palette.accent,
            f"in the state: the row that wrote a line; {HERE} this row",
        ),
        ("took", palette.dim, "since the row before; of a tool since it was called"),
        ("bytes", palette.dim, "size of the record"),
        ("tokens", palette.dim, "in the context, as last measured"),
        ("+ ~ -", palette.add, "added, changed, removed; = written as it was"),
    )
    for sign, style, meaning in signs:
        yield Text.assemble("  ", (f"{sign:<17}", style), (meaning, palette.text))
