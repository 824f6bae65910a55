"""One row of the tree: number, lanes, what it is, what it says, and columns at the right."""

from __future__ import annotations

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.lanes import MOST_LANES, LaneRow
from tt_debugger.core.model import Head, Kind, Role, Session
from tt_debugger.core.text import safe_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.views.palette import Glyphs, Palette

NAME_WIDTH = 8
WIDE_NAME_WIDTH = 12
WIDE = 100
"""Columns from which names have more room."""
TOKENS_FROM_WIDTH = 44
"""Columns that a row needs before it shows the size of the context."""
MINUTE, HOUR = 60, 3600

_GLYPHS = {
    Kind.MESSAGE: "assistant",
    Kind.TOOL_CALL: "call",
    Kind.TOOL_RESULT: "result",
    Kind.TURN: "snapshot",
    Kind.MODEL_CHANGE: "setting",
    Kind.SETTING: "setting",
    Kind.COMPACTION: "compaction",
    Kind.BRANCH_SUMMARY: "branch",
    Kind.LABEL: "label",
    Kind.SUPER_STEP: "snapshot",
    Kind.INTERRUPT: "custom",
    Kind.SNAPSHOT: "snapshot",
    Kind.COMMIT: "snapshot",
    Kind.HANDOFF: "compaction",
    Kind.CUSTOM: "custom",
    Kind.GAP: "gap",
    Kind.UNREADABLE: "gap",
}


class RowView(msgspec.Struct, frozen=True):
    """How rows of one session are drawn."""

    palette: Palette
    glyphs: Glyphs
    number_width: int

    def text(self, session: Session, row: int, lanes: LaneRow, width: int | None = None) -> Text:
        """Give a row as one line: exactly `width` cells, or as long as it is without a width."""
        head = session.heads[row]
        line = Text(no_wrap=True, end="")
        line.append(f"{row + 1:>{self.number_width}} ", self.palette.dim)
        self._add_lanes(line, lanes, head)
        line.append(" ")
        room = NAME_WIDTH if width is not None and width < WIDE else WIDE_NAME_WIDTH
        line.append(_fitted(safe_line(head.name), room, self.glyphs), self._name_style(head))
        line.append(" ")
        right = self._right(session, row, head, width)
        summary = safe_line(head.summary)
        if width is not None:
            room = width - line.cell_len - right.cell_len - 1
            summary = _fitted(summary, max(room, 0), self.glyphs)
        line.append(summary, self._summary_style(head))
        line.append(" ").append_text(right)
        if width is not None:
            line.truncate(width, pad=True)
        else:
            line.rstrip()
        return line

    def _add_lanes(self, line: Text, lanes: LaneRow, head: Head) -> None:
        cells = [self.glyphs.lines[cell] for cell in lanes.cells]
        is_drawn = lanes.lane < MOST_LANES
        for place, cell in enumerate(cells):
            if is_drawn and place == 2 * lanes.lane:
                line.append(self.glyph(head), self._glyph_style(head))
            elif place < len(cells) - 1 or cell != " ":
                line.append(cell, self.palette.lane)
        if lanes.hidden:
            line.append(f"+{lanes.hidden}", self.palette.lane)
        if not is_drawn:
            line.append(f" {self.glyph(head)}", self._glyph_style(head))

    def glyph(self, head: Head) -> str:
        """Give the sign of a checkpoint's kind."""
        if head.kind is Kind.MESSAGE and head.role is Role.USER:
            return self.glyphs.user
        return getattr(self.glyphs, _GLYPHS[head.kind])

    def _glyph_style(self, head: Head) -> str:
        if head.failed:
            return self.palette.bad
        match head.kind:
            case Kind.MESSAGE if head.role is Role.USER:
                return self.palette.accent
            case Kind.TOOL_CALL | Kind.TOOL_RESULT:
                return self.palette.good
            case Kind.COMPACTION | Kind.BRANCH_SUMMARY:
                return self.palette.change
            case Kind.LABEL:
                return self.palette.label
            case _:
                return self.palette.text

    def _name_style(self, head: Head) -> str:
        if head.kind is Kind.MESSAGE and head.role is Role.USER:
            return self.palette.accent
        return self.palette.bad if head.failed else self.palette.dim

    def _summary_style(self, head: Head) -> str:
        if head.failed:
            return self.palette.bad
        match head.kind:
            case Kind.MESSAGE | Kind.TOOL_CALL:
                return self.palette.text
            case Kind.COMPACTION | Kind.BRANCH_SUMMARY:
                return self.palette.change
            case _:
                return self.palette.dim

    def _right(self, session: Session, row: int, head: Head, width: int | None) -> Text:
        """Give the columns at the right: label, branches, outcome and time, context size."""
        right = Text()
        label = session.labels.get(row)
        if label is not None:
            right.append(
                f"{self.glyphs.label} {_fitted(safe_line(label), 24, self.glyphs).rstrip()}  "
            )
            right.stylize(self.palette.label)
        branches = session.tree.child_count(row)
        if branches > 1:
            right.append(f"{self.glyphs.fork} {branches}  ", self.palette.lane)
        outcome = self._outcome(session, row, head)
        if row == session.active:
            right.append(f"{self.glyphs.active}  ", self.palette.accent)
        if outcome:
            right.append(f"{outcome}  ", self.palette.bad if head.failed else self.palette.dim)
        if width is not None and width < TOKENS_FROM_WIDTH:
            return right
        size = session.context_sizes[row]
        shown = count_text(size) if size else ""
        right.append(f"{shown:>6}" if width is not None else shown, self.palette.dim)
        return right

    def _outcome(self, session: Session, row: int, head: Head) -> str:
        """Tell how a tool result came out and how long it took since the call was made."""
        if head.kind is not Kind.TOOL_RESULT:
            return self.glyphs.bad if head.failed else ""
        sign = self.glyphs.bad if head.failed else self.glyphs.good
        parent = session.parents[row]
        began = None if parent == NO_ROW else session.heads[parent].time
        if began is None or head.time is None or head.time < began:
            return sign
        return f"{sign} {duration_text(head.time - began)}"


def _fitted(text: str, width: int, glyphs: Glyphs) -> str:
    """Give a text in exactly so many cells: padded, or cut with an ellipsis."""
    size = cell_len(text)
    if size <= width:
        return text + " " * (width - size)
    room = width - cell_len(glyphs.ellipsis)
    if room < 0:
        return " " * width
    fitted = Text(text)
    fitted.truncate(room)
    kept = fitted.plain
    return kept + glyphs.ellipsis + " " * (room - cell_len(kept))


def count_text(number: int) -> str:
    """Give a count in at most five characters: 512, 5.9k, 128k, 1.2M."""
    if number < 1000:  # noqa: PLR2004 - the thousands themselves
        return str(number)
    for unit in "kMG":
        number_in_unit = number / 1000
        if number_in_unit < 999.5:  # noqa: PLR2004 - rounds to the next unit
            decimals = 1 if number_in_unit < 99.95 else 0  # noqa: PLR2004 - three digits at most
            return f"{number_in_unit:.{decimals}f}{unit}"
        number //= 1000
    return f"{number}T"


def duration_text(seconds: float) -> str:
    """Give a time span as people say it: 0.4s, 41s, 3m05s, 2h10m."""
    if seconds < 10:  # noqa: PLR2004 - tenths matter below ten
        return f"{seconds:.1f}s"
    if seconds < MINUTE:
        return f"{seconds:.0f}s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)}m{int(seconds % MINUTE):02}s"
    return f"{int(seconds // HOUR)}h{int(seconds % HOUR // MINUTE):02}m"
