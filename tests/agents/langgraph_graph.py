"""A graph that LangGraph itself runs, for a test that asks by lines of JSON.

It runs in a Python that has LangGraph; ttdbg is not there. The first argument names the database:
a path, or the address of a server. Each line is a question, and is answered by a line.
"""

from __future__ import annotations

import json
import operator
import sys
import traceback
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    messages: Annotated[list, add_messages]
    topic: str
    trail: Annotated[list, operator.add]
    tags: set
    asked: str
    report: str
    approved: str
    summary: str


def ask(state: State) -> dict[str, Any]:
    said = [each for each in state["messages"] if isinstance(each, HumanMessage)]
    call = {"name": "add", "args": {"a": 2, "b": 3}, "id": "call_1", "type": "tool_call"}
    answer = AIMessage("", tool_calls=[call], id="answer")
    return {"messages": [answer], "asked": said[-1].content, "trail": ["ask"]}


def tools(state: State) -> dict[str, Any]:
    (call,) = state["messages"][-1].tool_calls
    total = call["args"]["a"] + call["args"]["b"]
    result = ToolMessage(str(total), tool_call_id=call["id"], id="result")
    return {"messages": [result], "tags": {"summed"}, "trail": ["tools"]}


def write(state: State) -> dict[str, Any]:
    return {"report": f"a report on {state['topic']}"}


def approve(state: State) -> dict[str, Any]:
    return {"approved": interrupt({"question": f"is {state['report']} good?"})}


def finish(state: State) -> dict[str, Any]:
    parts = (state["asked"], state["topic"], state["messages"][-1].content, state["report"])
    return {"summary": "; ".join((*parts, state["approved"])), "trail": ["finish"]}


def compiled(saver: Any) -> Any:
    inner = StateGraph(State)
    inner.add_node("write", write)
    inner.add_node("approve", approve)
    inner.add_edge(START, "write")
    inner.add_edge("write", "approve")
    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("tools", tools)
    graph.add_node("inner", _inner(inner.compile()))
    graph.add_node("finish", finish)
    for one, other in ((START, "ask"), ("ask", "tools"), ("tools", "inner"), ("inner", "finish")):
        graph.add_edge(one, other)
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=saver)


def _inner(graph: Any) -> Any:
    def inner(state: State) -> dict[str, Any]:
        made = graph.invoke({"topic": state["topic"]})
        return {"report": made["report"], "approved": made["approved"], "trail": ["inner"]}

    return inner


class Noted:
    """Stands for the graph where the lines that ttdbg gave are run: it notes what is asked."""

    def invoke(self, value: Any, config: Any) -> None:
        self.asked = (value, config)


class Answers:
    def __init__(self, graph: Any, saver: Any) -> None:
        self._graph = graph
        self._saver = saver

    def made(self, thread: str, answer: str | None) -> Any:
        """Run the graph to where it waits, and with an answer to its end."""
        config = {"configurable": {"thread_id": thread}}
        start = {"messages": [HumanMessage("what is it?", id="question")], "topic": "cats"}
        self._graph.invoke({**start, "trail": []}, config)
        if answer is not None:
            self._graph.invoke(Command(resume=answer), config)
        return self._told(self._graph.get_state(config))

    def resumed(self, lines: str, answer: str) -> Any:
        """Run lines that let the graph go on; answer it where it waits. Tell before and after."""
        noted = Noted()
        exec(lines, {"graph": noted})  # noqa: S102 - that they can be run is what is tested
        value, config = noted.asked
        before = self._told(self._graph.get_state(config))
        told = self._graph.invoke(value, config)
        waits = "__interrupt__" in told
        thread = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
        if waits:
            self._graph.invoke(Command(resume=answer), thread)
        after = self._told(self._graph.get_state(thread))
        return {"before": before, "waits": waits, "after": after}

    def forks(self) -> Any:
        """Tell the metadata of all checkpoints that the saver itself finds as forks."""
        found = self._saver.list(None, filter={"source": "fork"})
        return [each.metadata for each in found]

    def _told(self, snapshot: Any) -> Any:
        return {
            "values": _plain(snapshot.values),
            "next": list(snapshot.next),
            "id": snapshot.config["configurable"].get("checkpoint_id"),
            "metadata": snapshot.metadata,
        }


def _plain(value: Any) -> Any:
    """Give a value in the form that ttdbg shows it in."""
    if isinstance(value, BaseMessage):
        own = type(value)
        return {"$type": f"{own.__module__}.{own.__name__}", **_plain(value.model_dump())}
    if isinstance(value, set):
        return {"$type": "builtins.set", "$value": sorted(value)}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _saver(place: str) -> Any:
    if place.startswith("postgresql:"):
        from langgraph.checkpoint.postgres import PostgresSaver

        return PostgresSaver.from_conn_string(place)
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver.from_conn_string(place)


def main() -> None:
    with _saver(sys.argv[1]) as saver:
        saver.setup()
        answers = Answers(compiled(saver), saver)
        for line in sys.stdin:
            question, *about = json.loads(line)
            try:
                answer = {"is": getattr(answers, question)(*about)}
            except Exception:  # noqa: BLE001 - it is told to who asked
                answer = {"failed": traceback.format_exc()}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


main()
