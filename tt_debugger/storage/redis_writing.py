"""Redis: keys that a fork adds to a server, and takes back; all of them or none.

What is looked at before is watched: where any of it changes until the one transaction that
writes, the server does nothing. What the server or its driver says never gets into an error.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from tt_debugger.core.fork.writes import Key, KeysWritten, NewKeys
from tt_debugger.errors import CannotWriteError, TtdbgError, UnsupportedError, UsageError
from tt_debugger.storage.keys import DOCUMENT, HASH, LIST, STRING, ZSET
from tt_debugger.storage.redis import client_of
from tt_debugger.storage.refusals import refused_by_redis
from tt_debugger.storage.servers import admitted

_Command = tuple[str | bytes, ...]
_packed = msgspec.msgpack.encode

_KINDS = {"string": STRING, "hash": HASH, "list": LIST, "zset": ZSET, "json": DOCUMENT}
_READING: Mapping[str, Callable[[str], _Command]] = {
    STRING: lambda name: ("GET", name),
    HASH: lambda name: ("HGETALL", name),
    LIST: lambda name: ("LRANGE", name, "0", "-1"),
    ZSET: lambda name: ("ZRANGE", name, "0", "-1", "WITHSCORES"),
    DOCUMENT: lambda name: ("JSON.GET", name),
}
"""How the whole value of a key of each kind is asked for."""
_LATER = "try again in a moment"
_ONE_BY_ONE = "it is one part of a cluster, which cannot set keys that lie apart at once"
_UNSUPPORTED = (
    (
        ("CrossSlot", "MovedError", "AskError", "ClusterDown", "MasterDown"),
        _ONE_BY_ONE,
        "give the address of a server that holds all keys",
    ),
    (
        ("unknown command", "unknown subcommand"),
        "the server lacks the module for JSON documents",
        "it comes with Redis 8 and Redis Stack",
    ),
)
# Of an error that the driver has a class for, it cuts the first word off.
_REFUSALS = (
    (("NoPermission", "NOPERM"), "this user has no rights to do so", "allow it +@all on the keys"),
    (("ReadOnly", "READONLY"), "the server takes no writes", "give the address of the primary"),
    (("OutOfMemory", "OOM"), "the server has no room for more", None),
    (("MISCONF",), "the server cannot write to its disk", None),
    (("NOREPLICAS", "BUSY", "TryAgain"), "the server is not ready", _LATER),
)


def put(new: NewKeys) -> KeysWritten:
    """Set keys that are not there; give what they are then.

    Raises CannotWriteError, StoreError where no server lets us in, UsageError where one of them
    is there already, and UnsupportedError where the server cannot have them.
    """
    location = admitted(new.location)
    commands = [each for key in new.keys for each in _setting(location, key)]
    names = [key.name for key in new.keys]
    kinds = [_KINDS[key.kind] for key in new.keys]
    reading = [_READING[kind](name) for name, kind in zip(names, kinds, strict=True)]
    if not names:
        return KeysWritten(location, {})
    with _watching(location, names) as server:
        for name in names:
            if server.answer(("EXISTS", name)):
                raise _taken(location, name)
        told = server.transaction([*commands, *reading])
        if told is None:
            raise _taken(location, names[0])
        if failed := [each for each in told if isinstance(each, Exception)]:
            # The server sets the others all the same.
            server.transaction([("DEL", *names)])
            raise refused(location, failed[0])
        values = told[len(commands) :]
        return KeysWritten(
            location,
            {
                name: _digest_of(kind, value)
                for name, kind, value in zip(names, kinds, values, strict=True)
            },
        )


def remove(written: KeysWritten) -> None:
    """Delete keys that were set, all of them or none.

    Raises UsageError where one has changed since or is gone, and otherwise what `put` raises.
    """
    location = admitted(written.location)
    names = list(written.keys)
    if not names:
        return
    with _watching(location, names) as server:
        for name, digest in written.keys.items():
            kind = bytes(server.answer(("TYPE", name))).decode(errors="replace")
            if kind not in _READING:
                raise _has_changed(location, name)
            if _digest_of(kind, server.answer(_READING[kind](name))) != digest:
                raise _has_changed(location, name)
        told = server.transaction([("DEL", *names)])
        if told is None:
            raise _has_changed(location, names[0])
        if isinstance(told[0], Exception):
            raise refused(location, told[0])


def _setting(location: str, key: Key) -> list[_Command]:
    """Give the commands that set a key. Raises UnsupportedError for what no key can be."""
    for problem in _problems(key):
        raise UnsupportedError(f"cannot write to {location}: the key {key.name!r} {problem}")
    name, value = key.name, key.value
    command: _Command
    match key.kind:
        case "string":
            command = ("SET", name, value, "NX")
        case "hash":
            command = ("HSET", name, *(part for pair in value.items() for part in pair))
        case "list":
            command = ("RPUSH", name, *value)
        case "zset":
            scores = [(repr(float(score)), member) for member, score in value]
            command = ("ZADD", name, *(part for pair in scores for part in pair))
        case _:
            command = ("JSON.SET", name, "$", value, "NX")
    return [command] if key.ttl is None else [command, ("PEXPIRE", name, str(key.ttl))]


def _problems(key: Key) -> Iterator[str]:
    """Tell why a key cannot be: what a server would only find out once others were set."""
    if not _is_text(key.name):
        yield "has a name that is no text"
    if key.kind not in _KINDS:
        yield f"is of a kind that is not known: {key.kind}"
    if key.ttl is not None and key.ttl < 1:
        yield "would be gone at once"
    if key.kind in ("hash", "list", "zset") and not key.value:
        yield "has no value, and would not be there"
    if key.kind == "zset" and any(math.isnan(score) for _, score in key.value):
        yield "has a score that is no number"
    if key.kind == "json" and not _is_json(key.value):
        yield "has a value that is no JSON"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_json(value: str | bytes) -> bool:
    try:
        msgspec.json.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def _digest_of(kind: str, value: Any) -> str:
    """Give the SHA-256 of what a server says of a key, whichever way it keeps it."""
    if kind in (HASH, ZSET):
        value = sorted(zip(value[::2], value[1::2], strict=True))
    return hashlib.sha256(_packed((kind, value))).hexdigest()


class _Server:
    """A connection on which some keys are watched."""

    def __init__(self, location: str, pipeline: Any) -> None:
        self._location = location
        self._pipeline = pipeline

    def answer(self, command: _Command) -> Any:
        """Ask one thing at once. Raises CannotWriteError."""
        problem: TtdbgError
        try:
            return self._pipeline.execute_command(*command)
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            problem = refused(self._location, error)
        raise problem

    def transaction(self, commands: Sequence[_Command]) -> list[Any] | None:
        """Do all of some commands; None where somebody has changed what is watched.

        One that fails all the same is told in its place. Raises CannotWriteError.
        """
        import redis

        problem: TtdbgError
        try:
            self._pipeline.multi()
            for each in commands:
                self._pipeline.execute_command(*each)
            return self._pipeline.execute(raise_on_error=False)
        except (redis.WatchError, redis.ConnectionError, redis.TimeoutError) as error:
            if str(error).startswith("Watched variable"):
                return None
            problem = CannotWriteError(
                f"the connection to {self._location} was lost in the middle of writing: whether"
                " anything was written is not known",
                "look whether the fork is there before you make another one",
            )
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            problem = refused(self._location, error)
        raise problem


@contextmanager
def _watching(location: str, names: Sequence[str]) -> Generator[_Server]:
    """Watch keys on a connection of their own.

    While they are watched the driver sends nothing again when that connection is lost.
    """
    client = client_of(location)
    problem: TtdbgError
    try:
        try:
            pipeline = client.pipeline()
            pipeline.watch(*names)
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            problem = refused(location, error)
        else:
            try:
                yield _Server(location, pipeline)
                return
            finally:
                pipeline.reset()
    finally:
        # A client that was given its connections leaves them open.
        client.connection_pool.disconnect()
    raise problem


def _taken(location: str, name: str) -> UsageError:
    return UsageError(
        f"cannot write to {location}: the key {name!r} is there already, or came meanwhile",
        "nothing was written; fork again to get a new name",
    )


def _has_changed(location: str, name: str) -> UsageError:
    return UsageError(
        f"cannot take keys back from {location}: {name!r} has changed since, or is gone",
        "nothing was taken back; look at what is there now",
    )


def refused(location: str, error: Exception) -> TtdbgError:
    """Say why nothing was written, by the kind of the error and the words it begins with."""
    # The driver puts the whole command before what the server says, which repeats some of it.
    words = str(error).partition(", with args")[0].rpartition("caused error: ")[2]
    said = f"{type(error).__name__} {words}"
    for signs, message, hint in _UNSUPPORTED:
        if any(sign in said for sign in signs):
            return UnsupportedError(f"cannot write to {location}: {message}", hint)
    for signs, message, hint in _REFUSALS:
        if any(sign in said for sign in signs):
            return CannotWriteError(f"cannot write to {location}: {message}", hint)
    told = refused_by_redis(location, error)
    return CannotWriteError(told.message.replace("cannot read", "cannot write to", 1), told.hint)
