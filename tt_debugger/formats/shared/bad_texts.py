"""Texts of a database that are none: what is said of them, whichever database it is."""

from __future__ import annotations

from collections.abc import Iterator

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.storage.tables import Tables


def bad_texts_told(database: Tables) -> Iterator[Finding]:
    """Give the finding about texts that are no UTF-8, nothing where all read so far are."""
    if database.bad_texts:
        what = "the database holds text that is no UTF-8"
        yield finding(Code.BAD_UTF8, what, hint="what is none is shown as U+FFFD")
