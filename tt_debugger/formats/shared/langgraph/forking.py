"""Forks of a thread: a checkpoint written anew, with other values, from which the graph goes on.

The body is a copy of the one that stands there. Only what was edited is encoded again, by the
encoding of what was there; all other values keep their bytes. What is next stays next, as its
channels are left alone, and nothing of what tasks wrote is taken along: they run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

import msgspec

from tt_debugger.core.between import is_same, keys_between
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.paths import dotted
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.fork_origin import told_origin
from tt_debugger.formats.shared.fork_rows import copy_for
from tt_debugger.formats.shared.fork_states import name_of_fork
from tt_debugger.formats.shared.langgraph.encoding import Encoding
from tt_debugger.formats.shared.langgraph.facts import WITH_EDGES, Facts
from tt_debugger.formats.shared.langgraph.fork_told import VALUES, going_on, notes
from tt_debugger.formats.shared.langgraph.held import SENDS, Held
from tt_debugger.formats.shared.langgraph.identities import (
    checkpoint_id,
    is_later,
    next_version,
)
from tt_debugger.formats.shared.langgraph.metadata import OURS
from tt_debugger.formats.shared.langgraph.serde import Lost, Serde
from tt_debugger.formats.shared.langgraph.state import state_of
from tt_debugger.formats.shared.langgraph.threads import Kept, NewCheckpoint, TakesForks, WriteRow
from tt_debugger.formats.shared.langgraph.wires import MESSAGE_PACK, Wire, wire_of

WITH_SENDS = 4
"""The first layout in which what was sent to nodes is a channel, and not looked up elsewhere."""
_BROKEN = (msgspec.MsgspecError, ValueError, OverflowError, TypeError, RecursionError)
"""What encoding and decoding raise where a value is not what it should be."""
_OWN = ("metadata", "tasks")


class Ground(msgspec.Struct, frozen=True):
    """The session that is forked, and what is known of it.

    `deltas` are its delta channels; `held` gives what a row holds, and the writes under it;
    `learned` what a checkpoint would tell of the graph if it were alone in its thread.
    """

    session: Session
    threads: TakesForks
    serde: Serde
    facts: Facts
    thread: str
    namespace: str
    deltas: Sequence[str]
    held: Callable[[int], tuple[Held | Lost, Sequence[WriteRow]]]
    learned: Callable[[Held], Facts]


def drafted(ground: Ground, plan: Plan) -> Draft:
    """Draft a fork. Raises UnsupportedError for what cannot be written, and says what can."""
    _refuse_other_edits(plan)
    if ground.namespace and not plan.in_place:
        raise UnsupportedError(
            "a graph inside another one has no thread of its own",
            f"fork the thread {ground.thread} where it starts that graph, or add --in-place",
        )
    copy = copy_for(ground.threads.location, plan)
    fork = _Fork(ground, plan)
    new = fork.checkpoint()
    write = ground.threads.writing(new)
    if copy is not None:
        write = msgspec.structs.replace(write, copy=copy)
    name = f"{new.thread}|{new.namespace}" if new.namespace else new.thread
    return Draft(
        (write,),
        copy or ground.threads.location,
        name,
        new.id,
        going_on(new, is_script=fork.is_script),
        tuple(notes(ground.session, plan, new)),
        _OWN,
    )


class _Fork:
    """One fork in the making: the base as it is stored, and what becomes of it."""

    def __init__(self, ground: Ground, plan: Plan) -> None:
        self._ground = ground
        self._plan = plan
        name = ground.session.ids[plan.row]
        if plan.row in ground.session.own.odd:
            raise UnsupportedError(
                f"the id of {name} is no text, or is there twice", "fork its parent or its child"
            )
        self._base = name
        self._held, self._writes = ground.held(plan.row)
        if isinstance(self._held, Lost):
            _refuse_sealed(name, self._held.why)
        self._kept = ground.threads.kept(ground.thread, ground.namespace, name)
        wire = wire_of(self._kept.kind)
        if wire is None:
            kind = self._kept.kind
            _refuse_sealed(name, f"it is {'of no known type' if kind is None else kind}")
        self._wire = wire
        top, channels, versions = _parts_of(self._kept, wire, name)
        self._top, self._channels, self._versions = top, channels, versions
        apart = self._kept.apart
        self._apart = None if apart is None else dict(apart)
        self._new: dict[str, str] = {}

    @property
    def is_script(self) -> bool:
        """Whether LangGraph.js wrote it: there versions are numbers."""
        versions = self._versions.values()
        return self._wire.kind == "json" and any(type(each) is int for each in versions)

    def checkpoint(self) -> NewCheckpoint:
        """Give the new checkpoint. Raises UnsupportedError."""
        ground, plan = self._ground, self._plan
        edited = self._edit()
        metadata = as_map(self._json(self._kept.metadata))
        step = metadata.get("step")
        step = step + 1 if type(step) is int else 0
        newest = _newest_of(ground.threads, ground.thread) if plan.in_place else ""
        name = checkpoint_id(plan.time, step, plan.fresh, newest)
        if not is_later(name, newest):
            raise UnsupportedError(
                "the ids of this thread stand behind any that a fork may have",
                "leave out --in-place: the fork is a thread of its own",
            )
        moment = datetime.fromtimestamp(plan.time, UTC)
        self._put("id", name)
        self._put("ts", self._time_as_before(moment))
        if edited:
            self._put("channel_versions", self._versions)
        if "updated_channels" in self._top:
            self._put("updated_channels", None)
        self._put("channel_values", self._channels)
        new = NewCheckpoint(
            base=self._base,
            row=plan.row,
            thread=ground.thread if plan.in_place else self._fresh_thread(),
            namespace=ground.namespace,
            id=name,
            parent=self._base if plan.in_place else None,
            kept=Kept(
                self._wire.kind,
                self._wire.encode(self._top),
                msgspec.json.encode(self._metadata(metadata, step, edited)),
                self._apart,
            ),
            of_thread=ground.thread,
            versions={each: str(version) for each, version in self._versions.items()},
            edited=tuple(edited),
            step=step,
            time=plan.time,
        )
        self._verify(new)
        return new

    def _edit(self) -> list[str]:
        """Put the edited values into the body; give the channels that are others now."""
        plan = self._plan
        before, after = (as_map(each.get(VALUES)) for each in (plan.state, plan.wanted))
        named = {
            key for each in plan.edits for key in each.path[1:2] if each.path[:1] == (VALUES,)
        }
        edited = [*keys_between(before, after)]
        if edited and self._ground.facts.is_functional:
            raise UnsupportedError(
                "the values of a thread that functions made are what they gave back",
                "fork it without an edit: what is not cached runs again",
            )
        edited += [each for each in self._deltas(before, named) if each not in edited]
        if not edited:
            return edited
        bumped = next_version(self._versions.values(), plan.fresh)
        if bumped is None:
            raise UnsupportedError("the versions of its channels are neither numbers nor texts")
        for channel in edited:
            self._set(channel, before, after)
            self._versions[channel] = bumped
        return edited

    def _set(self, channel: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        is_delta = channel in self._ground.deltas
        if channel not in after:
            if is_delta:
                raise UnsupportedError(
                    f"values.{channel} is put together of what was written to it, so it cannot"
                    " be taken away",
                    f"set it to an empty value instead: values.{channel}=[]",
                )
            self._channels.pop(channel, None)
            if self._apart is not None:
                self._apart.pop(channel, None)
            return
        wire, stored = self._stored(channel)
        path = (VALUES, channel)
        if stored is msgspec.UNSET and isinstance(self._held, Held):
            self._refuse_new_of_old(channel, self._held)
        encoding = Encoding(wire, self._examples)
        try:
            inner = wire.inner(stored)
            old = before.get(channel, msgspec.UNSET)
            if stored is msgspec.UNSET or old is msgspec.UNSET:
                value = encoding.made(after[channel], path)
            else:
                value = encoding.revised(inner, old, after[channel], path)
            is_snapshot = is_delta or inner is not stored
            data = wire.encode(wire.snapshot(value) if is_snapshot else value)
            shown = self._ground.serde.value(wire.kind, data)
        except _BROKEN as error:
            raise UnsupportedError(f"{dotted(path)} cannot be encoded: {error}") from error
        if not is_same(shown, after[channel]):
            raise UnsupportedError(
                f"{dotted(path)} cannot be written such that it reads back as it is wanted",
                "edit what is plain in it, or a field of an object that stands there",
            )
        if self._apart is None:
            self._channels[channel] = msgspec.Raw(data)
            return
        self._apart[channel] = (wire.kind, data)
        self._channels.pop(channel, None)
        if is_snapshot:
            # So does the checkpointer say that the value that stands apart is a whole one.
            self._channels[channel] = msgspec.Raw(b"true")

    def _stored(self, channel: str) -> tuple[Wire, Any]:
        """Give the value of a channel as it is stored, UNSET for none, and how it is written."""
        apart, inline = self._apart, self._channels.get(channel)
        here = (
            msgspec.UNSET if inline is None else self._decoded(self._wire, bytes(inline), channel)
        )
        if apart is None:
            return self._wire, here
        kind, data = apart.get(channel, ("", b""))
        if "+" in kind or kind == "pickle":
            raise UnsupportedError(
                f"values.{channel} cannot be edited: it is {kind}", "edit another value"
            )
        wire = wire_of(kind)
        if wire is not None:
            return wire, self._decoded(wire, data, channel)
        return MESSAGE_PACK, {"": here, "bytes": data}.get(kind)

    def _decoded(self, wire: Wire, data: bytes, channel: str) -> Any:
        try:
            return wire.decode(data)
        except _BROKEN as error:
            raise UnsupportedError(
                f"values.{channel} cannot be edited: {error}", "edit another value"
            ) from error

    def _examples(self) -> Iterator[Any]:
        """Go over all that is stored at the base, as far as it can be decoded."""
        values: list[tuple[Any, Any]] = [
            (self._wire.kind, bytes(each)) for each in self._channels.values()
        ]
        values += (self._kept.apart or {}).values()
        values += [each[5:7] for each in self._writes]
        for kind, data in values:
            wire = wire_of(kind)
            if wire is not None and isinstance(data, bytes):
                try:
                    yield wire.decode(data)
                except _BROKEN:
                    continue

    def _deltas(self, before: Mapping[str, Any], named: Iterable[Any]) -> Iterator[str]:
        """Go over the delta channels that must be written whole. Refuses one that is a guess."""
        told = set(named)
        for channel in self._ground.deltas:
            is_held = channel in self._channels or channel in (self._apart or {})
            if channel in told:
                yield channel
                continue
            if self._plan.in_place:
                # What the step from here wrote would count, as if it had run before the fork.
                is_due = any(each[4] == channel for each in self._writes)
            else:
                # Nothing stands above a new thread of which the value could be put together.
                is_due = channel in before and not is_held
            if is_due and not is_held and (channel not in before or self._is_guess(channel)):
                raise UnsupportedError(
                    f"the value of the delta channel {channel!r:.60} is a guess, and would have"
                    " to be written as if it were known",
                    f"say what it is: --set 'values.{channel:.60}=...'",
                )
            if is_due:
                yield channel

    def _is_guess(self, channel: str) -> bool:
        """Tell whether anything was written to a channel since it was last held whole."""
        session = self._ground.session
        for row in session.tree.ancestors(session.parents[self._plan.row]):
            body, writes = self._ground.held(row)
            if any(each[4] == channel for each in writes) or isinstance(body, Lost):
                return True
            if channel in body.channel_values:
                return False
        return False

    def _metadata(self, base: Mapping[str, Any], step: int, edited: Sequence[str]) -> Any:
        plan = self._plan
        about: dict[str, Any] = {
            "source": "update" if plan.in_place else "fork",
            "step": step,
            "parents": as_map(base.get("parents")) if plan.in_place else {},
        }
        counters = as_map(base.get(_COUNTERS))
        if counters:
            about[_COUNTERS] = {key: each for key, each in counters.items() if key not in edited}
        if "writes" in base:
            about["writes"] = None
        # No server keeps this sign in a text.
        told = {**told_origin(plan), "thread": self._ground.thread}
        about[OURS] = {key: each.replace("\0", "") for key, each in told.items()}
        return about

    def _fresh_thread(self) -> str:
        """Give a name for a thread that is not there yet."""
        while True:
            name = name_of_fork(self._ground.thread, self._plan.fresh)
            if name not in self._ground.threads.beginning_with(name, 1):
                return name

    def _put(self, key: str, value: Any) -> None:
        self._top[key] = msgspec.Raw(self._wire.encode(value))

    def _json(self, data: bytes) -> Any:
        try:
            return msgspec.json.decode(data) if data else {}
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return {}

    def _time_as_before(self, moment: datetime) -> str:
        """Give a time in the form that the base has."""
        before = self._top.get("ts")
        if before is not None and bytes(before).endswith((b"Z", b'Z"')):
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return moment.isoformat(timespec="microseconds")

    def _verify(self, new: NewCheckpoint) -> None:
        """Make sure that the new checkpoint reads as it is wanted. Raises UnsupportedError."""
        serde, plan = self._ground.serde, self._plan
        held = serde.checkpoint(new.kept.kind, new.kept.body)
        if isinstance(held, Lost):
            _refuse_sealed(new.id, held.why)
        if new.kept.apart is not None:
            held.channel_values = dict(held.channel_values)
            for channel, (kind, data) in new.kept.apart.items():
                if kind != "empty":
                    held.channel_values[channel] = serde.value(kind, data)
        if isinstance(self._held, Held):
            self._refuse_lost_sends(self._held, held)
        above = as_map(plan.wanted.get(VALUES))
        guessed = {
            each: above[each]
            for each in self._ground.deltas
            if plan.in_place and each in above and each not in held.channel_values
        }
        facts = self._ground.facts if plan.in_place else self._ground.learned(held)
        state = state_of(held, None, [], facts, guessed)
        if not is_same(state[VALUES], plan.wanted.get(VALUES)):
            raise UnsupportedError(
                "the values would not read back as they are wanted",
                "names that begin with __, branch:, start: or join: are LangGraph's own"
                if plan.edits
                else "fork a later checkpoint, or add --in-place",
            )
        if state["next"] != plan.wanted.get("next"):
            raise UnsupportedError(
                "it would not read back with the same nodes next",
                "a channel that nodes wait for, or that is new, cannot be edited here"
                if plan.edits
                else "fork a later checkpoint, or add --in-place",
            )

    def _refuse_new_of_old(self, channel: str, held: Held) -> None:
        if held.version < WITH_EDGES and channel not in self._versions:
            raise UnsupportedError(
                f"values.{channel} has no value there, and in the layout of LangGraph before 0.3 a"
                " new channel may be a node",
                "edit a value that is there, or fork a later checkpoint",
            )

    def _refuse_lost_sends(self, before: Held, after: Held) -> None:
        if before.version >= WITH_SENDS:
            return
        is_lost = not is_same(before.sends, after.sends)
        if is_lost or (self._plan.in_place and any(each[4] == SENDS for each in self._writes)):
            raise UnsupportedError(
                "what was sent to nodes is stored under the parent of this checkpoint, in the"
                " layout of LangGraph before 0.4",
                "fork the checkpoint before or after it"
                + (", or leave out --in-place" if not is_lost else ""),
            )


def _newest_of(threads: TakesForks, thread: str) -> str:
    """Give the greatest id in all namespaces of a thread."""
    newest = ""
    for namespace in threads.namespaces(thread):
        for own, *_ in threads.index(thread, namespace, most=1, descending=True):
            newest = max(newest, str(own))
    return newest


def _parts_of(
    kept: Kept, wire: Wire, name: str
) -> tuple[dict[str, msgspec.Raw], dict[str, msgspec.Raw], dict[str, Any]]:
    """Give the fields of a body and its values, each by its bytes, and the versions."""
    decode = msgspec.msgpack.decode if wire.kind == "msgpack" else msgspec.json.decode
    try:
        top = decode(kept.body, type=dict[str, msgspec.Raw])
        values, versions = (top.get(key) for key in ("channel_values", "channel_versions"))
        channels = decode(values, type=dict[str, msgspec.Raw] | None) if values else None
        counted = decode(versions, type=dict[str, Any] | None) if versions else None
    except (msgspec.MsgspecError, UnicodeError, ValueError) as error:
        _refuse_sealed(name, f"{error}", error)
    # Each is a part of the bytes that are decoded, which are let go of.
    whole = {key: each.copy() for key, each in top.items()}
    return whole, {key: each.copy() for key, each in (channels or {}).items()}, dict(counted or {})


def _refuse_sealed(name: str, why: str, cause: Exception | None = None) -> NoReturn:
    raise UnsupportedError(
        f"the body of {name} is not decoded, so it cannot be written anew: {why}",
        "fork a checkpoint whose values are shown",
    ) from cause


def _refuse_other_edits(plan: Plan) -> None:
    for key in keys_between(plan.state, plan.wanted):
        if key != VALUES:
            raise UnsupportedError(
                f"{key} cannot be edited: only the values of a graph can",
                f"write values.NAME=JSON{_INSTEAD.get(key, '')}",
            )
    values = plan.wanted.get(VALUES)
    if not is_same(values, plan.state.get(VALUES)) and not isinstance(values, dict):
        raise UnsupportedError(
            "the values of a graph are a map of its channels", "write values.NAME=JSON"
        )


_COUNTERS = "counters_since_delta_snapshot"
_INSTEAD: Mapping[str, str] = {
    "next": "; to run another node, use update_state(config, values, as_node=...) of LangGraph",
    "tasks": "; what a task wrote is in the values of the checkpoint after it",
    "metadata": "; a note is kept with a fork: --note",
}
