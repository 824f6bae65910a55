"""Resuming Tau: the history as Tau 0.4.8 mends it when it loads a session, and then sends it.

Each tool call gets exactly one result, right behind it: the recorded one if there is any, else
one that says it was interrupted; results without a call are dropped. At load Tau writes the
mended end as a new branch and replays that. With a compaction on the path the branch can begin
before it, and then the compaction is undone: a loss that Tau does not announce, and we do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.replay import Repair, Replay
from tt_debugger.core.tree import NO_ROW

INTERRUPTED = "Tool call interrupted by user"

Messages = Sequence[dict[str, Any]]


def sent(
    replay: Replay, messages: Messages, rows: Sequence[int]
) -> tuple[list[Any], list[Repair]]:
    """Give what Tau sends for a context, given the row of each message, and its repairs."""
    loaded = mended(messages)
    equal = _equal_beginning(loaded, messages)
    if equal == len(loaded) == len(messages):
        return _resent(messages, loaded)
    replayed = _replayed_to(replay, rows, equal)
    if _same(replayed, loaded[:equal]):
        return _resent(messages, loaded)
    branch = [*replayed, *loaded[equal:]]
    request, repairs = _resent(branch, branch)
    why = "Tau's repair branch starts before the compaction: what was compacted away is sent again"
    # What the branch replays again is dropped from it again: once is enough to say so.
    kept = {id(each) for each in loaded}
    again = set(map(_as_bytes, replayed))
    recorded = [each for each in messages if id(each) in kept or _as_bytes(each) not in again]
    repairs = [Repair(0, "summary", why), *_repairs_at_load(recorded, loaded, request), *repairs]
    by_place = {(each.index, each.kind): each for each in repairs}
    return request, sorted(by_place.values(), key=lambda each: each.index)


def _as_bytes(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(message, order="deterministic")


def _resent(recorded: Messages, loaded: Messages) -> tuple[list[Any], list[Repair]]:
    """Give the request for a loaded history, and its repairs as seen from the recorded one."""
    request = _request(loaded)
    return request, _repairs(recorded, request)


def _repairs_at_load(messages: Messages, loaded: Messages, request: Messages) -> list[Repair]:
    """Give what loading added and dropped, by the places in a request made of more than that."""
    places = {id(message): index for index, message in enumerate(request)}
    repairs: list[Repair] = []
    for repair in _repairs(messages, loaded):
        behind = (places[id(each)] for each in loaded[repair.index :] if id(each) in places)
        repairs.append(Repair(next(behind, len(request)), repair.kind, repair.why))
    return repairs


def _replayed_to(replay: Replay, rows: Sequence[int], equal: int) -> list[Any]:
    """Give a copy of the context at the entry where Tau's repair branch leaves the path."""
    cut = rows[equal - 1] if equal else replay.session.parents[rows[0]]
    return [] if cut == NO_ROW else [{**each} for each in replay.state(cut)["messages"]]


def _request(messages: Messages) -> list[dict[str, Any]]:
    """Give what a request holds: failed turns without content are left out."""
    return mended([each for each in messages if not _is_empty_failure(each)])


def _is_empty_failure(message: Mapping[str, Any]) -> bool:
    failed = message.get("stopReason") in ("error", "aborted")
    return message.get("role") == "assistant" and failed and not message.get("content")


class _Call(msgspec.Struct):
    """A tool call, where its result belongs, and which message was taken as its result."""

    id: Any
    name: Any
    message: int
    home: int
    result: int | None = None

    @property
    def key(self) -> str | None:
        """The id by which results name it; one that is no text counts as absent."""
        return text_or_none(self.id)


def mended(messages: Messages) -> list[dict[str, Any]]:
    """Give the messages with exactly one result behind each tool call, in the calls' order."""
    calls = [call for index in range(len(messages)) for call in _calls(messages, index)]
    _find_results(calls, messages)
    by_message: dict[int, list[_Call]] = {}
    for call in calls:
        by_message.setdefault(call.message, []).append(call)
    whole: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        if message.get("role") != "toolResult":
            whole.append(message)
        whole += [_result(call, messages) for call in by_message.get(index, ())]
    return whole


def _find_results(calls: Sequence[_Call], messages: Messages) -> None:
    """Give each call its result: the one right behind it, then any other, real ones first."""
    pool = _Results(messages)
    for call in calls:
        if pool.is_free(call.home, call.key):
            call.result = pool.take(call.home)
    for call in calls:
        if call.result is None:
            call.result = pool.best_for(call)
    for call in calls:
        if call.result is not None and _is_interruption(messages[call.result]):
            pool.swap_for_real(call)


def _result(call: _Call, messages: Messages) -> dict[str, Any]:
    return _interrupted(call) if call.result is None else messages[call.result]


def _calls(messages: Messages, index: int) -> list[_Call]:
    message = messages[index]
    if message.get("role") != "assistant":
        return []
    blocks = [as_map(block) for block in as_list(message.get("content"))]
    calls = [block for block in blocks if block.get("type", "toolCall") == "toolCall"]
    calls = [block for block in calls if "name" in block]
    return [
        _Call(block.get("id"), block.get("name"), index, index + place)
        for place, block in enumerate(calls, 1)
    ]


class _Results:
    """The recorded results, each of which answers one call at most."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._free: dict[str | None, list[int]] = {}
        for index, message in enumerate(messages):
            if message.get("role") == "toolResult":
                self._free.setdefault(text_or_none(message.get("toolCallId")), []).append(index)

    def is_free(self, index: int, key: str | None) -> bool:
        return index in self._free.get(key, ())

    def take(self, index: int) -> int:
        self._free[text_or_none(self._messages[index].get("toolCallId"))].remove(index)
        return index

    def best_for(self, call: _Call) -> int | None:
        """Take the first free result behind the call, else before it; a real one if there is."""
        free = self._free.get(call.key, [])
        candidates = [index for index in free if index > call.message] or free
        if not candidates:
            return None
        real = self._first_real(candidates)
        return self.take(candidates[0] if real is None else real)

    def swap_for_real(self, call: _Call) -> None:
        """Give a call that was recorded as interrupted a real result, where one is free."""
        real = self._first_real(self._free.get(call.key, []))
        if real is not None and call.result is not None:
            self._free[call.key].append(call.result)
            call.result = self.take(real)

    def _first_real(self, candidates: Sequence[int]) -> int | None:
        real = (each for each in candidates if not _is_interruption(self._messages[each]))
        return next(real, None)


def _is_interruption(message: Mapping[str, Any]) -> bool:
    return message.get("isError") is True and _text(message.get("content")) == INTERRUPTED


def _text(content: Any) -> str:
    """Give the text of a content as Tau joins it: nothing stands between two blocks."""
    if isinstance(content, str):
        return content
    texts = [as_map(block).get("text") for block in as_list(content)]
    return "".join(text for text in texts if isinstance(text, str))


def _interrupted(call: _Call) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.name,
        "content": [{"type": "text", "text": INTERRUPTED}],
        "isError": True,
    }


def _same(left: Messages, right: Messages) -> bool:
    return len(left) == len(right) and _equal_beginning(left, right) == len(left)


def _equal_beginning(left: Messages, right: Messages) -> int:
    pairs = zip(left, right, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _repairs(before: Messages, after: Messages) -> list[Repair]:
    """List what was mended, by comparing which message objects came out where."""
    known = {id(message) for message in before}
    came_out = {id(message) for message in after}
    moved = _moved([each for each in before if id(each) in came_out], after)
    repairs: list[Repair] = []
    for index, message in enumerate(after):
        if id(message) not in known:
            why = f"the call {message.get('toolName')} has no result; Tau calls it interrupted"
            repairs.append(Repair(index, "added_result", why))
        elif id(message) in moved:
            why = "the result did not stand right behind its call"
            repairs.append(Repair(index, "moved_result", why))
    repairs += _drops(before, came_out, after)
    return sorted(repairs, key=lambda each: each.index)


def _moved(stayed: Messages, after: Messages) -> set[int]:
    """Give the results that now follow another message, or each other in another order."""
    known = {id(message) for message in stayed}
    old, new = _followed(stayed), _followed([each for each in after if id(each) in known])
    there_still = [each for each in old if old[each] == new[each]]
    there_now = [each for each in new if old[each] == new[each]]
    pairs = zip(there_still, there_now, strict=True)
    return set(new) - {before for before, now in pairs if before == now}


def _followed(messages: Messages) -> dict[int, int]:
    """Give for each result the message before it that is none."""
    followed: dict[int, int] = {}
    last = 0
    for message in messages:
        if message.get("role") == "toolResult":
            followed[id(message)] = last
        else:
            last = id(message)
    return followed


def _drops(before: Messages, came_out: set[int], after: Messages) -> list[Repair]:
    places = {id(message): index for index, message in enumerate(after)}
    repairs: list[Repair] = []
    next_place = len(after)
    for message in reversed(before):
        if id(message) in came_out:
            next_place = places[id(message)]
        elif message.get("role") == "toolResult":
            why = "the result answers no call, or one that has its result already"
            repairs.append(Repair(next_place, "dropped_result", why))
        else:
            why = f"Tau leaves out a turn that ended with {message.get('stopReason')} and is empty"
            repairs.append(Repair(next_place, "no_response", why))
    return repairs
