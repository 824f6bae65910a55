"""LangGraph: what its checkpoints mean, wherever a checkpointer keeps them.

A store reaches the rows (`Threads`); the meaning is here: serialised values as data, the state at
a checkpoint, the nodes that run next, the index of a thread. What a format needs is given here.
"""

from __future__ import annotations

from tt_debugger.formats.shared.langgraph.held import Held, held_of
from tt_debugger.formats.shared.langgraph.serde import Lost, Serde, gone
from tt_debugger.formats.shared.langgraph.store import LangGraphStore
from tt_debugger.formats.shared.langgraph.threads import (
    IndexRow,
    Kept,
    NewCheckpoint,
    Threads,
    TreeRow,
    WriteRow,
)

__all__ = (
    "Held",
    "IndexRow",
    "Kept",
    "LangGraphStore",
    "Lost",
    "NewCheckpoint",
    "Serde",
    "Threads",
    "TreeRow",
    "WriteRow",
    "gone",
    "held_of",
)
