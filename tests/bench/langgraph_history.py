"""LangGraph's own history of a thread, which prints what that took as one JSON object.

python -m bench.langgraph_history LOCATION [COPIED_FROM]

Run by a Python that has langgraph, which need not be the one that runs ttdbg. With a second
location the thread is first copied from there, by the savers themselves.
"""

from __future__ import annotations

import json
import operator
import sys
from contextlib import closing, contextmanager
from time import perf_counter, process_time
from typing import Annotated, Any, TypedDict

THREAD = "t"
CONFIG: Any = {"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}}


class State(TypedDict):
    """The channels of the thread that is measured."""

    n: int
    total: int
    recent: Annotated[list[str], operator.add]


@contextmanager
def saver_of(location: str) -> Any:
    """Give the saver that reads a location."""
    if location.startswith("postgresql:"):
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(location) as saver:
            yield saver
    else:
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver

        with closing(sqlite3.connect(location, check_same_thread=False)) as connection:
            yield SqliteSaver(connection)


def copied(source: str, target: str) -> None:
    """Write the thread at one location into another."""
    with saver_of(source) as read, saver_of(target) as written:
        written.setup()
        for each in sorted(read.list(CONFIG), key=lambda one: one.checkpoint["id"]):
            parent = each.parent_config or CONFIG
            versions = each.checkpoint["channel_versions"]
            where = written.put(parent, each.checkpoint, each.metadata, versions)
            for task in dict.fromkeys(write[0] for write in each.pending_writes):
                values = [write[1:] for write in each.pending_writes if write[0] == task]
                written.put_writes(where, values, task, "~__pregel_pull, agent")


def history(location: str) -> tuple[float, float, list[Any]]:
    """Give the seconds that the history took, those of work, and the history, oldest first."""
    from langgraph.graph import StateGraph

    graph = StateGraph(State)
    graph.add_node("agent", lambda state: state)
    graph.set_entry_point("agent")
    graph.add_conditional_edges("agent", lambda _state: "agent", ["agent"])
    began, worked = perf_counter(), process_time()
    with saver_of(location) as saver:
        found = list(graph.compile(checkpointer=saver).get_state_history(CONFIG))
    return perf_counter() - began, process_time() - worked, found[::-1]


if __name__ == "__main__":
    location, *sources = sys.argv[1:]
    for each in sources:
        copied(each, location)
    # The first one also brings in what the others find there.
    history(location)
    seconds, work, states = history(location)
    told = {"seconds": seconds, "work": work, "rows": len(states), "last": states[-1].values}
    json.dump(told | {"next": list(states[-1].next)}, sys.stdout)
