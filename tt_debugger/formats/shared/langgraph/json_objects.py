"""Objects in JSON: what LangGraph and LangChain write of an object of a class.

Most are maps with `lc` that name a class and what it would be made with. The checkpointer of Redis
has marks of its own for a few.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.formats.shared.langgraph.typed import called_form, object_form, typed
from tt_debugger.formats.shared.opaque import opaque

DEEPEST = 32
"""Objects inside objects that are decoded."""
_LC = frozenset((1, 2))
_MARKED: Mapping[str, str] = {
    "__interrupt__": "langgraph.types.Interrupt",
    "__send__": "langgraph.types.Send",
}


def revived(value: Any, depth: int = 0) -> Any:
    """Give JSON with the objects in it as forms."""
    if isinstance(value, list):
        return [revived(each, depth) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    own = cast("dict[str, Any]", value)
    kind = own.get("lc")
    is_object = type(kind) is int and kind in _LC and isinstance(own.get("id"), list)
    if is_object and depth >= DEEPEST:
        return opaque("lc", msgspec.json.encode(own))
    made = {key: revived(each, depth + is_object) for key, each in own.items()}
    return _constructed(made) if is_object else _marked(made)


def _constructed(value: dict[str, Any]) -> Any:
    """Give the form of an object by its class and by what it would be made with."""
    *modules, name = [str(each) for each in as_list(value["id"])] or ["object"]
    module = ".".join(modules)
    if value.get("type") != "constructor":
        return {**value, "$type": f"{module}.{name}".lstrip(".")}
    fields, arguments = value.get("kwargs"), as_list(value.get("args"))
    if fields or not arguments:
        return object_form(module, name, fields if fields is not None else {})
    method = value.get("method")
    if "fromisoformat" in (as_list(method) or [method]):
        return typed(f"{module}.{name}", arguments[0])
    return called_form(module, name, arguments)


def _marked(value: dict[str, Any]) -> Any:
    for mark, name in _MARKED.items():
        if value.get(mark) is True:
            return {"$type": name, **{key: value[key] for key in value if key != mark}}
    if value.get("__delta_snapshot__") is True and "value" in value:
        return value["value"]
    if len(value) == 1 and isinstance(value.get("__bytes__"), str):
        return {"$bytes": value["__bytes__"]}
    # Other marks are those of the user.
    return as_map(value)
