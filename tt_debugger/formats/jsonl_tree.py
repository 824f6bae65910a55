"""JSONL trees of any dialect: records with an id and the id of their parent, under common names.

So the session of an agent that nobody has described here still opens as the tree that it is.
"""

from __future__ import annotations

from typing import ClassVar

from tt_debugger.formats.shared.dialect import LINEAR, Dialect, tree_dialect
from tt_debugger.formats.shared.jsonl import first_records
from tt_debugger.formats.shared.loose import LooseFile, LooseReading
from tt_debugger.storage.probe import probe_of
from tt_debugger.store import Match, Probe


class TreeReading(LooseReading):
    """A tree of records, whatever their ids and parents are called."""

    format: ClassVar[str] = "jsonl_tree"


class JsonlTree(LooseFile):
    """A JSONL file whose records carry an id and a parent."""

    format: ClassVar[str] = "jsonl_tree"
    about: ClassVar[str] = "trees in any JSONL whose records carry an id and a parent"
    verified: ClassVar[str] = "no agent to compare with: ids and parents as they stand"
    reading: ClassVar[type[LooseReading]] = TreeReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by the names that its records carry."""
        dialect = tree_dialect(first_records(probe))
        if dialect is None:
            return None
        return Match(30, f"records with {dialect.ids[0]} and {dialect.parent}")

    def _dialect(self) -> Dialect:
        """Give the pair of names that most of the first records carry."""
        return tree_dialect(first_records(probe_of(self._file))) or LINEAR


STORE = JsonlTree
