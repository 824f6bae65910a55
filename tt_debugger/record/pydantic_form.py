"""The form that pydantic gives a model in JSON; the package itself is never imported."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from tt_debugger.core.json import canonical
from tt_debugger.errors import UsageError


def is_pydantic(kind: Any) -> bool:
    """Tell whether a type is a pydantic model of version 2, by what such a one has."""
    is_model = callable(getattr(kind, "model_dump", None)) and hasattr(kind, "model_fields")
    return is_model and callable(getattr(kind, "model_validate_json", None))


def dumped(state: Any, **more: Any) -> Any:
    """Give what pydantic writes for a model. Raises UsageError where it cannot."""
    # What is computed is no field: a type that forbids others would not read it back.
    kind = cast("Any", type(state))
    computed: set[str] = set(kind.model_computed_fields)
    try:
        form = state.model_dump(mode="json", by_alias=True, exclude=computed, **more)
    except ValueError as error:
        raise UsageError(f"{kind.__name__} cannot be written as JSON: {error}") from error
    _sort_sets(form, state)
    return form


def _sort_sets(form: Any, value: Any) -> None:
    """Put the lists in order that pydantic made of sets: these have none."""
    if isinstance(form, list):
        items = cast("list[Any]", form)
        if isinstance(value, (set, frozenset)):
            items.sort(key=canonical)
        elif isinstance(value, (list, tuple)):
            for item, each in zip(items, cast("list[Any]", value), strict=False):
                _sort_sets(item, each)
    elif isinstance(form, dict):
        parts = _parts_of(value)
        for key, each in cast("dict[str, Any]", form).items():
            _sort_sets(each, parts.get(key))


def _parts_of(value: Any) -> Mapping[str, Any]:
    """Give the parts of an object by the keys that pydantic writes for them."""
    kind = cast("Any", type(value))
    if is_pydantic(kind):
        fields = kind.model_fields.items()
        names = {name: field.serialization_alias or name for name, field in fields}
    elif dataclasses.is_dataclass(value):
        names = {each.name: each.name for each in dataclasses.fields(value)}
    else:
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return {key: getattr(value, name, None) for name, key in names.items()}
