"""Labels: entries that name other entries, resolved over the whole file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Session
from tt_debugger.formats.shared.reading import Place


class Label(NamedTuple):
    """A label as its record has it; both target and text may be of any type."""

    target: Any
    text: Any
    place: Place


def resolved_labels(labels: Sequence[Label], ids: Sequence[str]) -> dict[int, str]:
    """Give the label of each labelled row: the last one counts, an empty one clears."""
    targets = {target for target, _, _ in labels if isinstance(target, str)}
    rows = {name: row for row, name in enumerate(ids) if name in targets} if targets else {}
    given: dict[int, str] = {}
    for target, text, _ in labels:
        row = rows.get(target) if isinstance(target, str) else None
        if row is None:
            continue
        if text and isinstance(text, str):
            given[row] = text
        else:
            given.pop(row, None)
    return given


def labels_on_nothing(labels: Sequence[Label], session: Session) -> list[Finding]:
    """Say which labels name what is not there."""
    rows = session.rows_of({target for target, _, _ in labels if isinstance(target, str)})
    return [
        finding(
            Code.LABEL_TARGET,
            f"a label names {target!r:.60}, which is not in this session",
            line=place.line,
            offset=place.offset,
        )
        for target, _, place in labels
        if not isinstance(target, str) or target not in rows
    ]
