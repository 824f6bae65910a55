"""What is told of a fork of a thread: what a user says in it, and how a program goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tt_debugger.core.changes import Append, Change, State
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import read_message
from tt_debugger.core.model import Session
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.langgraph.threads import NewCheckpoint

VALUES = "values"
_MESSAGES = "messages"
_HUMAN = "langchain_core.messages.human.HumanMessage"


def message(state: State, text: str) -> Change:
    """Give the edit that adds what the user says to the messages of a graph.

    It is made like those that are there. Raises UnsupportedError where there are none.
    """
    messages = as_map(state.get(VALUES)).get(_MESSAGES)
    if not isinstance(messages, list):
        raise UnsupportedError(
            "the state has no values.messages to add to", "set another value of it: values.NAME"
        )
    said = [as_map(each) for each in as_list(messages)]
    users = [each for each in said if read_message(each).role == "user"]
    like = (users or said or [{"$type": _HUMAN}])[-1]
    return Append((VALUES, _MESSAGES), _said(like, text))


def _said(like: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Give a message of the user in the form of another message."""
    kind = like.get("$type")
    if not isinstance(kind, str):
        return {"type": "human", "content": text} if "type" in like else _plain(text)
    module, _, _ = kind.rpartition(".")
    if module.startswith("langchain_core.messages."):
        module = "langchain_core.messages.human"
    fields: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}, "type": "human"}
    fields |= {"name": None, "id": None, "example": False}
    own = {"content": text} | {
        key: fields[key] for key in fields if key in like or (len(like) == 1 and key != "example")
    }
    return {"$type": f"{module}.HumanMessage", **own}


def _plain(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def going_on(new: NewCheckpoint, *, is_script: bool) -> str:
    """Give the lines of a program that let the graph go on."""
    if is_script:
        named = f"thread_id: {_text(new.thread)}"
        if not new.namespace:
            named += f', checkpoint_ns: "", checkpoint_id: {_text(new.id)}'
        config = f"const config = {{ configurable: {{ {named} }} }};"
        return f"{config}\nawait graph.invoke(null, config);"
    named = f'"thread_id": {_text(new.thread)}'
    if not new.namespace:
        named += f', "checkpoint_ns": "", "checkpoint_id": {_text(new.id)}'
    return f'config = {{"configurable": {{{named}}}}}\ngraph.invoke(None, config)'


def _text(value: str) -> str:
    """Give a text as both languages write it."""
    return json.dumps(value)


def notes(session: Session, plan: Plan, new: NewCheckpoint) -> Iterator[str]:
    """Say what the graph will do from there that one may not expect."""
    before = as_map(plan.state.get(VALUES))
    for channel in new.edited:
        if channel not in before:
            yield f"values.{channel} has no value there: a graph without such a channel ignores it"
    tasks = [as_map(each) for each in as_list(plan.state.get("tasks"))]
    if any(each.get("interrupts") and each.get("result") is None for each in tasks):
        yield "the graph asks again what it was waiting for: answer with Command(resume=...)"
    elif new.namespace == "" and not plan.wanted.get("next"):
        yield "the graph is at its end there: give it an input instead of None to go on"
    if any(each.get("result") is not None for each in tasks):
        yield "the nodes that are next run anew, also those that had run from the original"
    started = session.subsessions.get(plan.row)
    if started:
        count = "the graph" if len(started) == 1 else f"the {len(started)} graphs"
        yield f"{count} inside that had started from there begin anew"
    if plan.in_place and new.namespace:
        yield "it counts as long as the thread is at the checkpoint that runs this inner graph"
    elif plan.in_place:
        yield "it is the newest of the thread now: whoever goes on without an id goes on from it"
