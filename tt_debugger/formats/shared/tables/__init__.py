"""Tables of checkpoints that people made themselves: what they mean, on whichever database.

A format says how its database is reached; what it needs for that is given here.
"""

from __future__ import annotations

from tt_debugger.formats.shared.tables.documents import document_of
from tt_debugger.formats.shared.tables.history import HISTORY, split_history
from tt_debugger.formats.shared.tables.index import Index
from tt_debugger.formats.shared.tables.layouts import Form, Layout
from tt_debugger.formats.shared.tables.maps import MAPPED, map_of
from tt_debugger.formats.shared.tables.sessions import DocumentStore, index_held
from tt_debugger.formats.shared.tables.store import TableStore, match_of

__all__ = (
    "HISTORY",
    "MAPPED",
    "DocumentStore",
    "Form",
    "Index",
    "Layout",
    "TableStore",
    "document_of",
    "index_held",
    "map_of",
    "match_of",
    "split_history",
)
