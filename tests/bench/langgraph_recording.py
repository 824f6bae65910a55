"""LangGraph's SqliteSaver at a conversation that grows, told as one JSON object.

python -m bench.langgraph_recording PATH STEPS

Run by a Python that has langgraph, which need not be the one that runs ttdbg. Each step is
written before the next begins (`durability="sync"`), and synced (`synchronous=FULL`, in WAL mode).
"""

from __future__ import annotations

import json
import operator
import platform
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from time import perf_counter
from typing import Annotated, Any, TypedDict

from bench.conversation import pair


class State(TypedDict):
    """The channels of the conversation."""

    messages: Annotated[list[dict[str, str]], operator.add]


class Timed:
    """How long some functions took, all calls together."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            began = perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += perf_counter() - began

        return called


def recorded(path: str, steps: int) -> dict[str, Any]:
    """Let a graph take so many steps; give the seconds, those in the saver among them."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, StateGraph

    def agent(state: State) -> dict[str, Any]:
        return {"messages": pair(taken(state) + 1)}

    def taken(state: State) -> int:
        return len(state["messages"]) // 2

    graph = StateGraph(State)
    graph.add_node("agent", agent)
    graph.set_entry_point("agent")
    graph.add_conditional_edges(
        "agent", lambda state: "agent" if taken(state) < steps else END, ["agent", END]
    )
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        saver.setup()
        connection.execute("PRAGMA synchronous=FULL")
        timed = Timed()
        for name in ("put", "put_writes"):
            setattr(saver, name, timed(getattr(saver, name)))
        config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": steps + 2}
        began = perf_counter()
        end = graph.compile(checkpointer=saver).invoke({"messages": []}, config, durability="sync")
        seconds = perf_counter() - began
    assert len(end["messages"]) == 2 * steps
    return {"seconds": seconds, "saving": timed.seconds, "python": platform.python_version()}


if __name__ == "__main__":
    json.dump(recorded(sys.argv[1], int(sys.argv[2])), sys.stdout)
