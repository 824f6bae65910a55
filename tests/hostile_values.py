"""Hostile values in sound databases: what a checkpoint, a turn or an event may hold as well.

Whatever would be run of them would make a file, the canary. All are readable as any other is.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from builders import database_of
from hostile_files import ATTACK
from jsonb_made import jsonb
from langgraph_rows import (
    UNKEYED,
    Row,
    checkpoint,
    ext,
    identity,
    message,
    metadata,
    packed,
    row,
    stored,
    write,
)
from msgspec.msgpack import Ext

TEXT_ATTACK = ATTACK.replace("\ud83c", "")
"""The attack as far as it is text: a database has no half surrogates."""
SECRET = "TTDBG_HOSTILE_SECRET"  # noqa: S105 - the name of a variable
"""A variable of the environment that data asks for."""

Builder = Callable[[Path, Path], object]
"""Makes a database at a path; the other is the canary."""

TURNS = """
create table agent_turns (
    turn_id text primary key, session_id text, turn_number integer, tool_name text,
    input_hash text, output_hash text, payload text, written_at text
);
"""
STATES = """
create table checkpoints (
    thread_id text primary key, state_json text, schema_version integer, created_at text,
    updated_at text
);
"""


def pickled(canary: Path) -> bytes:
    """Give a pickle that makes the canary where it is loaded."""
    return f"cos\nsystem\n(S'touch {canary}'\ntR.".encode()


def _value(make: Callable[[Path], Any]) -> Builder:
    """Give a builder of a thread with a value in a checkpoint, and in a write."""

    def build(path: Path, canary: Path) -> None:
        value = make(canary)
        rows = [row({"before": 1}, 0), row({"bad": value, "good": 1}, 1, parent=identity(0))]
        stored(path, rows, [write(0, "bad", "msgpack", packed(value))])

    return build


def _body(make: Callable[[Path], bytes], kind: Any = "msgpack") -> Builder:
    """Give a builder of a thread with a checkpoint and a write of any bytes."""

    def build(path: Path, canary: Path) -> None:
        data = make(canary)
        bad = ("t", "", identity(1), identity(0), kind, data, metadata(1))
        rows = [row({"before": 1}, 0), bad, row({"after": 1}, 2, parent=identity(1))]
        stored(path, rows, [write(1, "bad", kind, data)])

    return build


def _nested_ext(depth: int) -> Ext:
    value = Ext(0, packed(["builtins", "set", []]))
    for _ in range(depth):
        value = Ext(7, packed(value))
    return value


def _deep_ext(depth: int) -> bytes:
    """Give an extension in an extension in an extension, as one finds by opening them all."""
    data = b"\xc0"
    for _ in range(depth):
        data = b"\xc9" + len(data).to_bytes(4) + b"\x07" + data
    return data


def _system(code: int, command: str) -> Ext:
    match code:
        case 0:
            return ext(0, "os", "system", command)
        case 1:
            return ext(1, "os", "system", [command])
        case 2:
            return ext(2, "os", "system", {"command": command})
        case 3:
            return ext(3, "os", "popen", command, "read")
        case 4:
            return ext(4, "os", "system", {"command": command})
        case _:
            return ext(5, "subprocess", "Popen", {"args": command, "shell": True}, "wait")


def _json(value: Any) -> Callable[[Path], bytes]:
    def make(canary: Path) -> bytes:
        text = json.dumps(value).replace("CANARY", str(canary))
        return text.encode()

    return make


def _lc(version: int, *path: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": version, "type": "constructor", "id": list(path)} | kwargs


def _json_checkpoint(value: Any) -> Builder:
    body = checkpoint(identity(1), {"bad": value, "messages": [value]}, 1)
    return _body(_json(body), "json")


def _meta(data: Any) -> Builder:
    def build(path: Path, _: Path) -> None:
        sound = row({"n": 1}, 1, parent=identity(0))
        stored(path, [row({"n": 0}, 0), (*sound[:6], data), row({"n": 2}, 2, parent=sound[2])])

    return build


def _holds(**more: Any) -> Builder:
    """Give a builder of a thread whose checkpoints hold something else than is right."""
    return lambda path, _: stored(
        path,
        [row({"n": 0}, 0), row({"n": 1}, 1, parent=identity(0), **more)],
        [write(1, "n", "null", None)],
    )


def _any_types(path: Path, _: Path) -> None:
    """Write each column in each type in turn."""
    others = (None, 7, 1.5, "text", b"\xff\xfe\x00blob", "", b"", -(1 << 63), float("inf"))
    sound = row({"n": 1}, 0)
    rows = [(*sound[:place], other, *sound[place + 1 :]) for place in range(7) for other in others]
    write_rows: list[Row] = []
    held = write(0, "n", "msgpack", packed(1))
    for place in range(9):
        write_rows += ((*held[:place], other, *held[place + 1 :]) for other in others)
    unkeyed = UNKEYED.split("create table writes")[0]
    loose = "create table writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,"
    stored(path, rows, write_rows, f"{unkeyed}{loose} idx, channel, type, value);")


def _same_ids(path: Path, _: Path) -> None:
    rows = [row({"n": n}, 0) for n in range(3)] + [row({"n": 9}, 1, parent=identity(0))] * 2
    stored(path, rows, tables=UNKEYED)


def _parents(path: Path, _: Path) -> None:
    """Write a circle, one that is its own parent, and one whose parent nobody wrote."""
    rows = [
        row({"n": 0}, 0, parent=identity(2)),
        row({"n": 1}, 1, parent=identity(0)),
        row({"n": 2}, 2, parent=identity(1)),
        row({"n": 3}, 3, parent=identity(3)),
        row({"n": 4}, 4, parent="missing" + TEXT_ATTACK),
    ]
    stored(path, rows)


def _every_text(path: Path, _: Path) -> None:
    """Write the attack wherever there is a text."""
    bad = TEXT_ATTACK
    said = [message(kind, f"said {bad}", name=bad, id=bad) for kind in ("human", "ai", "tool")]
    call = {"name": bad, "args": {bad: bad}, "id": bad, "type": "tool_call"}
    said.append(message("ai", [{"type": "text", "text": bad}], tool_calls=[call]))
    values = {"messages": said, f"channel {bad}": bad, "typed": ext(0, bad, bad, bad)}
    first = row(values, 0, thread=f"thread {bad}")
    own = checkpoint(bad, values, 1) | {"versions_seen": {bad: {bad: bad}}, "ts": bad}
    second = (
        first[0],
        "",
        f"id {bad}",
        first[2],
        "msgpack",
        packed(own),
        metadata(1, **{bad: bad}),
    )
    sub = (first[0], f"node{bad}:task|more{bad}:task", "a", None, bad, bad.encode(), bad)
    task = (first[0], "", first[2], f"task {bad}", f"~__pregel_pull, node {bad}", 0, bad, bad, b"")
    failed = (*task[:5], -1, "__error__", "msgpack", packed(f"error {bad}"))
    asked = (
        *task[:5],
        -3,
        "__interrupt__",
        "msgpack",
        packed([ext(2, "langgraph.types", "Interrupt", {"value": bad, "id": bad})]),
    )
    stored(path, [first, second, sub], [task, failed, asked])


HELD: dict[str, Builder] = {
    "a time of msgpack's own": _value(lambda _: [Ext(-1, b"\0\0\0\1"), Ext(-1, b"\0" * 8)]),
    "a pickle as bytes": _value(pickled),
    "an extension whose value is nested": _value(lambda _: _nested_ext(300)),
    "extensions that nobody knows": _value(
        lambda _: [Ext(code, b"\x01\x02") for code in (8, 99, 127, -2, -128)]
    ),
    "extensions that hold something else": _value(
        lambda _: [
            Ext(code, data)
            for code in range(8)
            for data in (
                b"",
                b"\xc1",
                b"\xc0",
                b"\x90",
                packed(7),
                packed([1, 2, 3, 4]),
                packed({}),
            )
        ]
    ),
    "keys that are extensions": _value(lambda _: {"a": 1} | {f"{n}": n for n in range(3)}),
    "numbers that json does not have": _value(
        lambda _: [float("nan"), float("inf"), (1 << 64) - 1]
    ),
    **{
        f"an object that is a command, code {code}": _value(
            lambda canary, code=code: _system(code, f"touch {canary}")
        )
        for code in range(6)
    },
    "objects that would run a text": _value(
        lambda canary: (
            [
                ext(0, "builtins", name, f"__import__('os').system('touch {canary}')")
                for name in ("exec", "eval", "compile", "open", "__import__")
            ]
            + [
                ext(0, "pickle", "loads", pickled(canary)),
                ext(0, "pathlib", "Path.touch", str(canary)),
            ]
            + [ext(0, "importlib", "import_module", "antigravity"), ext(0, "this", "s", None)]
        )
    ),
    "an array of objects": _value(lambda canary: ext(6, "|O", [1], "C", pickled(canary))),
    "arrays that are larger than they are": _value(
        lambda _: [
            ext(6, "<f8", shape, "C", b"\0" * 8)
            for shape in ([1 << 40], [1 << 20] * 8, [-1], [1] * 5000, [0], [], ["x"], 7, [2.5])
        ]
    ),
    "arrays of types that are none": _value(
        lambda _: [
            ext(6, dtype, [1], "C", b"\0" * 8)
            for dtype in (
                "V999999999999",
                "<M8[ns]",
                "(99999,99999)f8",
                "",
                "[('a', 'O')]",
                7,
                "<f8," * 999,
            )
        ]
    ),
    "numbers that take long to read": _value(
        lambda _: (
            [ext(0, "decimal", "Decimal", text) for text in ("1e999999999", "9" * 50_000, "x")]
            + [
                ext(1, "re", "compile", ["(a+)+" * 30 + "$", 0]),
                ext(1, "datetime", "timedelta", [1 << 62] * 3),
            ]
            + [ext(0, "uuid", "UUID", text) for text in ("", "zz", "0" * 40)]
            + [ext(3, "datetime", "datetime", "9999999-99-99", "fromisoformat")]
            + [ext(1, "datetime", "date", [0, 0, 0]), ext(1, "datetime", "date", ["a", None])]
        )
    ),
    "a delta of a delta": _value(lambda _: Ext(7, packed(Ext(7, packed([1]))))),
}
"""Threads whose second checkpoint holds something bad beside what is good."""

BODIES: dict[str, Builder] = {
    "a time that is none": _body(lambda _: packed({"channel_values": Ext(-1, b"\xff" * 12)})),
    "a pickle in the place of a checkpoint": _body(pickled, "pickle"),
    "a pickle that is said to be msgpack": _body(pickled),
    "a pickle that is said to be json": _body(pickled, "json"),
    "lists in lists": _body(lambda _: b"\x91" * 100_000 + b"\xc0"),
    "maps in maps": _body(lambda _: b"\x81\xa1a" * 100_000 + b"\xc0"),
    "extensions in extensions": _body(lambda _: _deep_ext(10_000)),
    "a list of 4 billion": _body(lambda _: b"\xdd\xff\xff\xff\xff"),
    "a map of 4 billion": _body(lambda _: b"\xdf\xff\xff\xff\xff\xa1a"),
    "a text of 4 billion": _body(lambda _: b"\xdb\xff\xff\xff\xffabc"),
    "bytes of 4 billion": _body(lambda _: b"\xc6\xff\xff\xff\xffabc"),
    "an extension of 4 billion": _body(lambda _: b"\xc9\xff\xff\xff\xff\x00abc"),
    "keys that are no texts": _body(
        lambda _: (
            b"\x84\xaechannel_values\x83\x91\x01\x01\x81\x01\x02\x03\xc0\x04"
            b"\x01\x02\xc0\x03\xc3\x04"
        )
    ),
    "texts that are no utf-8": _body(
        lambda _: b"\x81\xaechannel_values\x81\xa2\xff\xfe\xa2\xc3\x28"
    ),
    "bytes after the end": _body(
        lambda _: packed(checkpoint(identity(1), {"n": 1}, 1)) + b"\xc0" * 9
    ),
    "nothing at all": _body(lambda _: b""),
    "a number in the place of a checkpoint": _body(lambda _: packed(7)),
    "json that is deep": _body(lambda _: b'{"channel_values":' * 20_000, "json"),
    "json that is none": _body(lambda _: b"{,", "json"),
    "encrypted with a key that is not here": _body(lambda _: os.urandom(99), "msgpack+aes"),
    "encrypted and empty": _body(lambda _: b"", "msgpack+aes"),
    "kinds that are none": _body(pickled, f"kind {TEXT_ATTACK}"),
}
"""Threads whose second checkpoint cannot be decoded."""

VALUES: dict[str, Builder] = {
    **HELD,
    **BODIES,
    "values of every type in every column": _any_types,
    "ids that are there several times": _same_ids,
    "parents that go in a circle": _parents,
    "texts that act on a terminal": _every_text,
    "constructors in json": _json_checkpoint(
        [
            _lc(1, "os", "system", kwargs={"command": "touch CANARY"}),
            _lc(2, "subprocess", "Popen", args=["touch CANARY"], kwargs={"shell": True}),
            _lc(2, "builtins", "exec", args=["open('CANARY', 'w')"], method="__call__"),
            _lc(
                1,
                "langchain",
                "schema",
                "messages",
                "HumanMessage",
                kwargs={"content": TEXT_ATTACK},
            ),
            _lc(1, kwargs=7),
            {"lc": 1, "type": "constructor", "id": None, "kwargs": []},
            {"lc": 1, "type": "secret", "id": [SECRET]},
            {"lc": 1, "type": "not_implemented", "id": [TEXT_ATTACK], "repr": TEXT_ATTACK},
        ]
    ),
    "json with numbers that nobody has": _body(
        lambda _: b'{"channel_values":{"a":1e999,"b":' + b"9" * 6000 + b',"c":NaN}}', "json"
    ),
    "what is said of it is deep": _meta(b'{"step":' * 20_000),
    "what is said of it is no json": _meta(b"\xff\xfe{"),
    "what is said of it is a list": _meta(b"[1, 2]"),
    "what is said of it is a pickle": _meta(b"cos\nsystem\n(S'true'\ntR."),
    "what is said of it has other types": _meta(
        b'{"source":[1],"step":"x","parents":[7],"writes":{"a":{"lc":1}},'
        b'"counters_since_delta_snapshot":{"n":"x"}}'
    ),
    "a step that no number has": _meta(b'{"source":"loop","step":1e400,"parents":{"":{}}}'),
    "versions that are none": _holds(
        channel_versions={"n": [1], "branch:to:agent": {"a": 1}, "x": None},
        versions_seen={"agent": [1], "x": {"branch:to:agent": []}, "__input__": None},
    ),
    "parts that are something else": _holds(
        channel_values=[1, 2],
        channel_versions="x",
        versions_seen=7,
        pending_sends={"a": 1},
        v="9",
        updated_channels=3,
        id=[1],
        ts={"a": 1},
    ),
    "tasks that are none": _holds(
        channel_values={
            "n": 1,
            "__pregel_tasks": [1, None, ext(1, "langgraph.types", "Send", []), {"node": []}],
            "__start__": [],
            "join:a+b:c": 7,
            "branch:to:": None,
        }
    ),
}
"""Threads of LangGraph, all of which are as readable as any other."""


def _states(path: Path, canary: Path) -> None:
    """Write states of a home-grown harness that are no states."""
    states = (
        "{", "[" * 20_000, "null", "7", '{"a":1e999}', b"\xff\xfe", None, 7, pickled(canary),
        json.dumps({"messages": [{"role": TEXT_ATTACK, "content": TEXT_ATTACK}]}),
        json.dumps({TEXT_ATTACK: {"lc": 1, "type": "constructor", "id": ["os", "system"]}}),
        jsonb({"a": 1}), b"\xcc\xff", b"\xec\xff\xff\xff\xff",
    )  # fmt: skip
    database_of(path, STATES)
    with closing(sqlite3.connect(path)) as made:
        for n, state in enumerate(states):
            name = f"user:{TEXT_ATTACK}" if n % 3 else f"t:history:{n}"
            values = (f"{name}:history:2026-01-0{n % 9}T00:00:{n:02}Z", state, TEXT_ATTACK, n, b"")
            made.execute("insert into checkpoints values (?, ?, ?, ?, ?)", values)
        made.execute("insert into checkpoints values (?, '{\"a\":1}', 'x', null, null)", ("t",))
        made.execute("insert into checkpoints values (null, '{}', 1, '', '')")
        made.commit()


def _turns(path: Path, canary: Path) -> None:
    others = (
        None,
        7,
        1.5,
        TEXT_ATTACK,
        b"\xff\xfe",
        "{",
        "[" * 20_000,
        '{"a":1}',
        pickled(canary),
    )
    database_of(path, TURNS)
    with closing(sqlite3.connect(path)) as made:
        for place in range(1, 8):
            for n, other in enumerate(others):
                values: list[Any] = [f"{place}.{n}", "s", n, "run", "a", "b", "{}", "2026-01-01"]
                values[place] = other
                made.execute("insert into agent_turns values (?, ?, ?, ?, ?, ?, ?, ?)", values)
        made.commit()


def _filled(script: str, table: str, rows: Callable[[Path], list[Mapping[str, Any]]]) -> Builder:
    """Give a builder of a database by a script, with more rows in a table."""

    def build(path: Path, canary: Path) -> None:
        database_of(path, script)
        with closing(sqlite3.connect(path)) as made:
            for each in rows(canary):
                names, places = ", ".join(each), ", ".join("?" for _ in each)
                query = f"insert into {table} ({names}) values ({places})"  # noqa: S608 - our own
                made.execute(query, [*each.values()])
            made.commit()

    return build


ADK = """
create table sessions (app_name, user_id, id, state, create_time, update_time);
create table app_states (app_name, state, update_time);
create table user_states (app_name, user_id, state, update_time);
create table adk_internal_metadata (key, value);
insert into sessions values ('app', 'u', 's', '{"a":1}', '2026-01-01', '2026-01-01');
"""
ADK_OLD = (
    ADK
    + """
create table events (id, app_name, user_id, session_id, invocation_id, author, actions blob,
    content, timestamp);
"""
)
ADK_NEW = (
    ADK
    + """
create table events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data);
"""
)
DBOS = """
create table workflow_status (workflow_uuid primary key, status, name, forked_from,
    parent_workflow_id, serialization, output, inputs, created_at);
create table operation_outputs (workflow_uuid, function_id, function_name, output, error,
    serialization, started_at_epoch_ms, completed_at_epoch_ms);
insert into workflow_status values ('w', 'SUCCESS', 'run', null, null, 'py_pickle', null, null, 1);
"""
CREW = "create table checkpoints (id text primary key, created_at, parent_id, branch, data);"
FLOW = """
create table flow_states (id integer primary key, flow_uuid, method_name, timestamp, state_json);
"""
OPENAI = """
create table agent_sessions (session_id text primary key, created_at, updated_at);
create table agent_messages (id integer primary key, session_id, message_data, created_at);
create table message_structure (id integer primary key, session_id, message_id, branch_id,
    message_type, sequence_number, user_turn_number, branch_turn_number, tool_name, created_at);
insert into agent_sessions values ('s', '', '');
"""
ITEM = "insert into agent_messages values (1, 's', '{\"role\":\"user\"}', '');"
AGNO = """
create table agno_sessions (session_id primary key, session_type, agent_id, session_data, runs,
    created_at, updated_at);
create table agno_runs (run_id primary key, session_id, run_type, parent_run_id, status, run_index,
    run_data, created_at, updated_at);
insert into agno_sessions values ('s', 'agent', 'a', '[', '[', 1, 'x');
"""


def _anything(canary: Path) -> list[Any]:
    """Give what may stand where JSON should."""
    return [
        *(None, 7, 1.5, "", "{", "[]", "[" * 20_000, "null", b"\xff\xfe", '{"a":1e999}'),
        *(pickled(canary), base64.b64encode(pickled(canary)), TEXT_ATTACK),
        json.dumps({TEXT_ATTACK: TEXT_ATTACK, "role": TEXT_ATTACK, "content": TEXT_ATTACK}),
        json.dumps({"messages": [None, 7, {"role": 7, "content": {"a": [TEXT_ATTACK]}}]}),
        json.dumps({"__pickled__": base64.b64encode(pickled(canary)).decode()}),
        json.dumps({"actions": {"state_delta": [1], "rewind_before_invocation_id": {}}}),
    ]


def _jsonb_bombs(canary: Path) -> list[bytes]:
    deep = b"\x00"
    for _ in range(3000):
        deep = b"\xeb" + len(deep).to_bytes(4) + deep
    return [
        jsonb({"entities": [{"a": TEXT_ATTACK}], "branch": "main"}),
        deep,
        b"\xfb" + b"\xff" * 8,
        b"\xfc" + b"\x7f" + b"\xff" * 7 + b"\x1aa",
        b"\xcc\x02\x1aa",
        b"\xbb" * 5000,
        b"\x2b\xf0\xf0",
        b"\xe3\x00\x00\xff\x00" + b"9" * 65_280,
        b"\x37e999",
        pickled(canary),
    ]


OTHER_STORES: dict[str, Builder] = {
    "states that are none": _states,
    "turns that are none": _turns,
    "pickled actions of an old ADK": _filled(
        ADK_OLD,
        "events",
        lambda canary: [
            {
                "id": f"e{n}",
                "app_name": "app",
                "user_id": "u",
                "session_id": "s",
                "actions": pickled(canary),
                "content": data,
                "timestamp": n,
            }
            for n, data in enumerate(_anything(canary))
        ],
    ),
    "events of the ADK that are none": _filled(
        ADK_NEW,
        "events",
        lambda canary: [
            {
                "id": f"e{n % 5}",
                "app_name": "app",
                "user_id": "u",
                "session_id": "s",
                "invocation_id": data,
                "timestamp": TEXT_ATTACK if n % 4 else n,
                "event_data": data,
            }
            for n, data in enumerate(_anything(canary))
        ],
    ),
    "pickled outputs of DBOS": _filled(
        DBOS,
        "operation_outputs",
        lambda canary: [
            {
                "workflow_uuid": "w",
                "function_id": n if n % 4 else TEXT_ATTACK,
                "function_name": TEXT_ATTACK,
                "output": data,
                "error": base64.b64encode(pickled(canary)).decode(),
                "serialization": ("py_pickle", "json", None, TEXT_ATTACK)[n % 4],
            }
            for n, data in enumerate(_anything(canary))
        ],
    ),
    "bombs in jsonb": _filled(
        CREW,
        "checkpoints",
        lambda canary: [
            {
                "id": f"20260101T000000_{n:08x}",
                "created_at": n,
                "parent_id": f"20260101T000000_{n - 1:08x}" if n else None,
                "branch": "main",
                "data": data,
            }
            for n, data in enumerate([*_jsonb_bombs(canary), *_anything(canary)])
        ],
    ),
    "states of a flow that are none": _filled(
        FLOW,
        "flow_states",
        lambda canary: [
            {"flow_uuid": "f", "method_name": TEXT_ATTACK, "timestamp": n, "state_json": data}
            for n, data in enumerate(_anything(canary))
        ],
    ),
    "items of OpenAI that are none": _filled(
        OPENAI,
        "agent_messages",
        lambda canary: [
            {"session_id": "s", "message_data": data, "created_at": TEXT_ATTACK}
            for data in _anything(canary)
        ],
    ),
    "branches of OpenAI that are none": _filled(
        f"{OPENAI}{ITEM}",
        "message_structure",
        lambda canary: [
            {
                "session_id": "s",
                "message_id": 1 if n % 2 else data,
                "branch_id": data,
                "sequence_number": data,
                "user_turn_number": data,
            }
            for n, data in enumerate(_anything(canary))
        ],
    ),
    "runs of Agno that are none": _filled(
        AGNO,
        "agno_runs",
        lambda canary: [
            {"run_id": f"r{n}", "session_id": "s", "run_index": data, "run_data": data}
            for n, data in enumerate(_anything(canary))
        ],
    ),
}
