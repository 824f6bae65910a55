"""Serialised values of LangGraph: each becomes data, and nothing is ever made of it."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import math
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph_rows import ext, packed

from tt_debugger.formats.shared.langgraph import Lost, Serde
from tt_debugger.formats.shared.langgraph.serde import opcodes

Ext = msgspec.msgpack.Ext


def unpacked(value: Any) -> Any:
    return Serde().value("msgpack", packed(value))


def opaque(kind: str, data: bytes) -> dict[str, Any]:
    return {"$opaque": kind, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def typed(name: str, value: Any) -> dict[str, Any]:
    return {"$type": name, "$value": value}


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (ext(0, "builtins", "set", [1, 2]), typed("builtins.set", [1, 2])),
        (ext(0, "decimal", "Decimal", "1.10"), typed("decimal.Decimal", "1.10")),
        (
            ext(0, "uuid", "UUID", "0123456789abcdef0123456789abcdef"),
            typed("uuid.UUID", "01234567-89ab-cdef-0123-456789abcdef"),
        ),
        (ext(0, "app", "Color", "red"), typed("app.Color", "red")),
        (ext(1, "pathlib", "PosixPath", ["/", "srv", "x"]), typed("pathlib.PosixPath", "/srv/x")),
        (ext(1, "pathlib", "PosixPath", ["a", "b"]), typed("pathlib.PosixPath", "a/b")),
        (ext(1, "re", "compile", ["a+", 2]), typed("re.Pattern", "a+")),
        (ext(1, "datetime", "date", [2026, 1, 2]), typed("datetime.date", "2026-01-02")),
        (ext(1, "datetime", "timedelta", [1, 2, 3]), typed("datetime.timedelta", [1, 2, 3])),
        (
            ext(1, "datetime", "timezone", [ext(1, "datetime", "timedelta", [-1, 66_600, 0])]),
            typed("datetime.timezone", "UTC-05:30"),
        ),
        (
            ext(1, "langgraph.types", "Send", ["work", {"n": 1}]),
            {"$type": "langgraph.types.Send", "node": "work", "arg": {"n": 1}},
        ),
        (ext(1, "app", "Pair", [1, 2]), typed("app.Pair", [1, 2])),
        (ext(2, "app", "Point", {"x": 1}), {"$type": "app.Point", "x": 1}),
        (
            ext(2, "datetime", "time", {"hour": 3, "minute": 4, "second": 5, "microsecond": 60}),
            typed("datetime.time", "03:04:05.000060"),
        ),
        (
            ext(3, "datetime", "datetime", "2026-01-01T00:00:00", "fromisoformat"),
            typed("datetime.datetime", "2026-01-01T00:00:00"),
        ),
        (ext(4, "app", "Old", {"a": [1]}), {"$type": "app.Old", "a": [1]}),
        (ext(5, "app", "New", {"$type": "int"}, "f"), {"$type": "app.New"}),
        (ext(5, "app", "Root", [1, 2], "f"), typed("app.Root", [1, 2])),
        (
            ext(6, "<f4", [2], "C", packed(0)[:0]),
            typed("numpy.ndarray", opaque("array of <f4", b"")),
        ),
        (Ext(7, packed([1, 2])), [1, 2]),
        (Ext(42, b"\xc0"), opaque("msgpack ext 42", b"\xc0")),
        (Ext(5, b"\xc1"), opaque("msgpack ext 5", b"\xc1")),
        (Ext(5, packed("no list")), typed("msgpack ext", "no list")),
        ({1: "a", None: "b", 2.5: "c"}, {"1": "a", "None": "b", "2.5": "c"}),
        ({1: "a", "1": "b"}, {"1 (int)": "a", "1": "b"}),
        (float("nan"), typed("float", "NaN")),
        ([float("-inf")], [typed("float", "-Infinity")]),
        (b"\0\1", {"$bytes": "AAE="}),
        ([[{"a": [b""]}]], [[{"a": [{"$bytes": ""}]}]]),
        (2**64 - 1, 2**64 - 1),
    ],
)
def test_messagepack_becomes_plain_data(value: Any, form: Any):
    assert unpacked(value) == form


def test_an_object_that_is_a_key_is_its_value():
    data = b"\x81" + packed(ext(0, "app", "Key", "k")) + packed(1)

    assert Serde().value("msgpack", data) == {"k": 1}


@pytest.mark.parametrize(
    ("kind", "shape", "order", "numbers", "nested"),
    [
        ("<i8", [2, 2], "C", [0, 1, 2, 3], [[0, 1], [2, 3]]),
        ("<i8", [2, 2], "F", [0, 2, 1, 3], [[0, 1], [2, 3]]),
        ("<i8", [2, 1, 2], "C", [0, 1, 2, 3], [[[0, 1]], [[2, 3]]]),
        ("<i8", [3], "C", [7, 8, 9], [7, 8, 9]),
        ("<i8", [], "C", [7], 7),
        ("<i8", [0], "C", [], []),
        ("<i8", [2, 0], "C", [], [[], []]),
    ],
)
def test_an_array_is_nested_lists(
    kind: str, shape: list[int], order: str, numbers: list[int], nested: Any
):
    data = b"".join(each.to_bytes(8, "little") for each in numbers)

    assert unpacked(ext(6, kind, shape, order, data)) == typed("numpy.ndarray", nested)


@pytest.mark.parametrize("kind", ["<U4", "|O", "<f3", "f4", 7])
def test_an_array_of_what_are_no_numbers_stays_opaque(kind: Any):
    form = unpacked(ext(6, kind, [1], "C", b"abcd"))

    assert form["$type"] == "numpy.ndarray"
    assert form["$value"] is None or "$opaque" in form["$value"]


def test_objects_in_objects_are_decoded_to_a_depth():
    value: Any = 1
    for _ in range(40):
        value = ext(0, "app", "Box", value)
    form, depth = unpacked(value), 0
    while isinstance(form, dict) and "$value" in form:
        form, depth = form["$value"], depth + 1

    assert depth == 32
    assert form["$opaque"] == "msgpack ext 0"


def test_what_is_nested_too_deep_is_opaque():
    data = b"\x91" * 100_000 + b"\xc0"

    assert Serde().value("msgpack", data) == opaque("msgpack", data)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (
            {
                "lc": 1,
                "type": "constructor",
                "id": ["a", "HumanMessage"],
                "kwargs": {"content": "x"},
            },
            {"$type": "a.HumanMessage", "content": "x"},
        ),
        (
            {
                "lc": 2,
                "type": "constructor",
                "id": ["builtins", "set"],
                "args": [[1]],
                "kwargs": {},
            },
            typed("builtins.set", [1]),
        ),
        (
            {
                "lc": 2,
                "type": "constructor",
                "id": ["datetime", "datetime"],
                "method": "fromisoformat",
                "args": ["2026-01-01"],
            },
            typed("datetime.datetime", "2026-01-01"),
        ),
        (
            {"lc": 1, "type": "not_implemented", "id": ["os", "system"], "repr": "x"},
            {
                "lc": 1,
                "type": "not_implemented",
                "id": ["os", "system"],
                "repr": "x",
                "$type": "os.system",
            },
        ),
        ({"lc": 3, "id": ["a"]}, {"lc": 3, "id": ["a"]}),
        ({"lc": [], "id": []}, {"lc": [], "id": []}),
        (
            {"__interrupt__": True, "value": 1, "id": "i"},
            {"$type": "langgraph.types.Interrupt", "value": 1, "id": "i"},
        ),
        (
            {"__send__": True, "node": "n", "arg": 1},
            {"$type": "langgraph.types.Send", "node": "n", "arg": 1},
        ),
        ({"__bytes__": "AAE="}, {"$bytes": "AAE="}),
        ({"__delta_snapshot__": True, "value": [1]}, [1]),
        ({"n": 10**30}, {"n": typed("decimal.Decimal", str(10**30))}),
    ],
)
def test_objects_in_json_become_the_same_forms(value: Any, form: Any):
    assert Serde().value("json", json.dumps(value).encode()) == form
    assert Serde().json(json.dumps([value])) == [form]


@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        ("null", b"", None),
        ("null", None, None),
        ("bytes", b"ab", {"$bytes": base64.b64encode(b"ab").decode()}),
        ("bytearray", b"", {"$bytes": ""}),
        ("json", b"{", opaque("json", b"{")),
        ("json", None, opaque("json", b"")),
        ("msgpack", None, opaque("msgpack", b"")),
        ("marshal", b"x", opaque("marshal", b"x")),
        (None, b"[1]", [1]),
        (7, b"[1]", [1]),
    ],
)
def test_every_type_has_a_value(kind: Any, data: bytes | None, value: Any):
    assert Serde().value(kind, data) == value


class _Bomb:
    def __init__(self, canary: Path) -> None:
        self._canary = canary

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self._canary,)


def test_a_pickle_is_never_loaded_and_only_its_first_opcodes_are_told(tmp_path: Path):
    canary = tmp_path / "canary"
    data = pickle.dumps(_Bomb(canary))

    assert Serde().value("pickle", data) == opaque("pickle", data)
    assert Serde().value(None, data) == opaque("pickle", data)
    assert len(opcodes(data, 4)) == 4
    assert opcodes(b"no pickle", 4) == []
    assert not canary.exists()


def test_no_module_that_a_value_names_is_imported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "antigravity", raising=False)

    unpacked(ext(0, "antigravity", "geohash", 1))
    Serde().json('{"lc":2,"type":"constructor","id":["antigravity","x"],"args":[1]}')

    assert "antigravity" not in sys.modules


class _Cipher:
    """Stands for what opens encrypted values, where that is not installed."""

    MODE_EAX = 9

    @staticmethod
    def new(key: bytes, mode: int, nonce: bytes) -> _Cipher:
        assert (mode, len(nonce)) == (_Cipher.MODE_EAX, 16)
        cipher = _Cipher()
        cipher.is_right = key == b"k" * 16
        return cipher

    is_right = False

    def decrypt_and_verify(self, data: bytes, tag: bytes) -> bytes:
        if not self.is_right:
            message = "MAC check failed"
            raise ValueError(message)
        assert len(tag) == 16
        return data[::-1]


def sealed(data: bytes) -> bytes:
    return b"n" * 16 + b"t" * 16 + data[::-1]


@pytest.mark.parametrize(("key", "value"), [(b"k" * 16, [1]), (b"x" * 16, None), (None, None)])
def test_what_is_encrypted_is_opened_with_its_key_alone(
    key: bytes | None, value: Any, monkeypatch: pytest.MonkeyPatch
):
    module: Any = ModuleType("Crypto.Cipher.AES")
    module.MODE_EAX, module.new = _Cipher.MODE_EAX, _Cipher.new
    for name in ("Crypto", "Crypto.Cipher"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "Crypto.Cipher.AES", module)
    data = sealed(packed([1]))

    found = Serde(key).value("msgpack+aes", data)

    assert found == (value or opaque("msgpack+aes", data))


def test_without_what_opens_it_an_encrypted_value_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    def missing(name: str) -> ModuleType:
        raise ImportError(name)

    monkeypatch.setattr("tt_debugger.formats.shared.langgraph.serde.import_module", missing)
    found = Serde(b"k" * 16).checkpoint("msgpack+aes", sealed(packed({})))

    assert isinstance(found, Lost)
    assert "ttdbg[aes]" in found.why
    assert importlib.import_module is not missing


KINDS = ["msgpack", "json", "null", "bytes", "pickle", "msgpack+aes", "x", "", None, 3]


def is_plain(value: Any) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if not all(type(key) is str for key in each):
                return False
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, float):
            if not math.isfinite(each):
                return False
        elif not (each is None or type(each) in {str, int, bool}):
            return False
    return True


def packable() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats()
    leaves |= st.text(max_size=5) | st.binary(max_size=5)
    leaves |= st.builds(Ext, st.integers(-128, 127), st.binary(max_size=8))

    def more(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        objects = st.builds(
            ext,
            st.integers(0, 8),
            inner,
            inner,
            inner,
            inner,
        )
        named = st.builds(
            ext,
            st.integers(0, 8),
            st.sampled_from(["datetime", "uuid", "pathlib", "re", "app", "langgraph.types"]),
            st.sampled_from(["date", "time", "timezone", "UUID", "Path", "compile", "Send"]),
            inner,
        )
        keys = st.text(max_size=3) | st.integers(0, 5) | st.none() | st.floats(0, 1)
        return (
            st.lists(inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4)
            | objects
            | named
        )

    return st.recursive(leaves, more, max_leaves=12)


@given(packable())
def test_whatever_is_packed_becomes_plain_data(value: Any):
    assert is_plain(unpacked(value))
    assert is_plain(unpacked({"a": value})["a"])


@given(st.sampled_from(KINDS), st.binary(max_size=60))
def test_whatever_bytes_there_are_they_become_plain_data(kind: Any, data: bytes):
    assert is_plain(Serde(b"k" * 16).value(kind, data))
    held = Serde().checkpoint(kind, data)
    assert is_plain(held.opaque if isinstance(held, Lost) else held.channel_values)
