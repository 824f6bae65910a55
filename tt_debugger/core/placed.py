"""Findings about a checkpoint, with the place where its record stands."""

from __future__ import annotations

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Session


def finding_at(
    session: Session, row: int, code: Code, message: str, hint: str | None = None
) -> Finding:
    """Give a finding about a row; the row need not be described for it."""
    return finding(
        code,
        message,
        hint=hint,
        line=session.heads.line(row),
        offset=session.heads.offset(row),
        checkpoint=session.ids[row],
    )
