"""Models: how a state of the user's own type becomes JSON, and JSON such a state again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import msgspec

from tt_debugger.core.paths import dotted
from tt_debugger.core.text import safe_line
from tt_debugger.errors import UsageError
from tt_debugger.record.json_form import json_of
from tt_debugger.record.pydantic_form import dumped, is_pydantic

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Model(Protocol):
    """A type of states, as one goes from it to JSON and back."""

    @property
    def type(self) -> Any:
        """The type itself."""
        ...

    @property
    def keys(self) -> Mapping[str, str] | None:
        """The key in JSON of each field; None where any key is a field."""
        ...

    def to_json(self, state: Any) -> dict[str, Any]:
        """Give a state as JSON. Raises UsageError, which names the place, where it has no form."""
        ...

    def from_json(self, value: Any) -> Any:
        """Give a new state of the type, its own defaults for what is missing.

        Raises UsageError, which names the field, where the value does not fit.
        """
        ...

    def defaults(self) -> dict[str, Any] | None:
        """Give the type's own values for fields that are not given, None where it has none."""
        ...

    def values_json(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give values of some fields, which are there, as JSON, by their keys in it."""
        ...


def model_of(state_or_type: Any) -> Model:
    """Give the model of a state, or of a type of states; None stands for a dict.

    Raises UsageError for what is neither a dict, dataclass, msgspec Struct nor pydantic model.
    """
    if state_or_type is None:
        return PlainModel()
    kind: Any = state_or_type if isinstance(state_or_type, type) else type(state_or_type)
    if issubclass(kind, dict):
        return PlainModel(kind)
    if issubclass(kind, msgspec.Struct):
        return _struct_model(_readable(kind))
    if is_pydantic(kind):
        return PydanticModel(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass_model(_readable(kind))
    raise UsageError(
        f"{kind.__name__} is no type of states",
        "a state is a dict, a dataclass, a msgspec Struct or a pydantic model",
    )


def update_json(model: Model, mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Give values of some fields of a state as JSON, by their keys in it.

    Raises UsageError for a field that the type has not, and for a value that JSON has no form for.
    """
    keys = model.keys
    if keys is not None:
        known = {*keys, *keys.values()}
        unknown = next((name for name in mapping if name not in known), None)
        if unknown is not None:
            raise UsageError(
                f"{model.type.__name__} has no field {unknown!r}",
                f"it has {', '.join(sorted(keys))}",
            )
    return model.values_json(mapping)


class PlainModel(msgspec.Struct, frozen=True):
    """States that are dicts; a TypedDict says which fields they have, and nothing else."""

    type: Any = dict

    @property
    def keys(self) -> None:
        """Any key is a field."""
        return

    def to_json(self, state: Any) -> dict[str, Any]:
        """Give a state as JSON."""
        return json_of(_of_type(state, dict))

    def from_json(self, value: Any) -> Any:
        """Give a copy."""
        return _decode(_encode(_object(value)))

    def defaults(self) -> None:
        """A dict has none."""
        return

    def values_json(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give values of some fields as JSON."""
        return json_of(dict(values))


class MsgspecModel(msgspec.Struct, frozen=True):
    """States that msgspec knows how to read: Structs and dataclasses."""

    type: Any
    keys: Mapping[str, str]
    factories: Mapping[str, Callable[[], Any]]
    """What gives the default of a field, by its key in JSON."""

    def to_json(self, state: Any) -> dict[str, Any]:
        """Give a state as JSON."""
        return _object(json_of(_of_type(state, self.type)))

    def from_json(self, value: Any) -> Any:
        """Give a new state of the type."""
        data = _encode(_object(value))
        try:
            return msgspec.json.decode(data, type=self.type, dec_hook=_object_of)
        except (msgspec.ValidationError, TypeError, NameError, NotImplementedError) as error:
            raise _misfit(self.type, str(error)) from error

    def defaults(self) -> dict[str, Any]:
        """Give the type's own defaults."""
        made = {key: make() for key, make in self.factories.items()}
        return json_of({key: each for key, each in made.items() if each is not msgspec.UNSET})

    def values_json(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give values of some fields as JSON."""
        return json_of({self.keys.get(name, name): value for name, value in values.items()})


class PydanticModel(msgspec.Struct, frozen=True):
    """States that pydantic reads and writes; the package itself is never imported."""

    type: Any

    def __post_init__(self) -> None:
        for name, field in self.type.model_fields.items():
            read, written = field.validation_alias, field.serialization_alias
            if read != written:
                raise UsageError(
                    f"the field {name!r} of {self.type.__name__} is written as"
                    f" {written or name!r} and read as {read or name!r}",
                    "give it one alias, or none",
                )

    @property
    def keys(self) -> Mapping[str, str]:
        """The key in JSON of each field."""
        fields = self.type.model_fields.items()
        return {name: field.serialization_alias or name for name, field in fields}

    def to_json(self, state: Any) -> dict[str, Any]:
        """Give a state as JSON."""
        return _object(json_of(dumped(_of_type(state, self.type), warnings="error")))

    def from_json(self, value: Any) -> Any:
        """Give a new state of the type."""
        data = _encode(_object(value))
        try:
            return self.type.model_validate_json(data)
        except ValueError as error:
            raise _misfit(self.type, _first_of(error)) from error

    def defaults(self) -> dict[str, Any]:
        """Give the type's own defaults."""
        fields = self.type.model_fields.items()
        optional = {name for name, field in fields if not field.is_required()}
        return json_of(dumped(self.type.model_construct(), include=optional, warnings=False))

    def values_json(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give values of some fields as JSON, as the type writes them."""
        names = {key: name for name, key in self.keys.items()}
        named = {names.get(key, key): value for key, value in values.items()}
        # By their keys: a field with an alias is not taken by its name.
        part = self.type.model_construct(**{self.keys[name]: each for name, each in named.items()})
        return json_of(dumped(part, include=set(named), warnings=False))


def _readable(kind: Any) -> Any:
    """Give a type as it is. Raises UsageError where msgspec could not read its states back."""
    try:
        msgspec.json.Decoder(kind, dec_hook=_object_of)
    except (TypeError, NameError) as error:
        raise UsageError(
            f"states of type {kind.__name__} could not be read back: {error}",
            "a pydantic model, or a dict, holds what msgspec does not know",
        ) from error
    return kind


def _struct_model(kind: Any) -> MsgspecModel:
    fields = msgspec.structs.fields(kind)
    return MsgspecModel(
        kind,
        {each.name: each.encode_name for each in fields},
        {
            each.encode_name: _factory(each.default, each.default_factory, msgspec.NODEFAULT)
            for each in fields
            if not each.required
        },
    )


def _dataclass_model(kind: Any) -> MsgspecModel:
    fields = dataclasses.fields(kind)
    missing = dataclasses.MISSING
    return MsgspecModel(
        kind,
        {each.name: each.name for each in fields},
        {
            each.name: _factory(each.default, each.default_factory, missing)
            for each in fields
            if each.default is not missing or each.default_factory is not missing
        },
    )


def _factory(default: Any, factory: Any, missing: Any) -> Callable[[], Any]:
    return (lambda: default) if factory is missing else factory


def _first_of(error: Any) -> str:
    """Give what pydantic found wrong first: where it is, and what."""
    found: list[Any] = error.errors() if hasattr(error, "errors") else []
    if not found:
        return str(error)
    return f"{dotted(tuple(found[0]['loc']))}: {found[0]['msg']}"


def _of_type(state: Any, kind: type) -> Any:
    if isinstance(state, kind):
        return state
    raise UsageError(f"the state is of type {type(state).__name__}, not {kind.__name__}")


def _object(value: Any) -> Any:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise UsageError(
        f"a state is an object with fields, and this is of type {type(value).__name__}"
    )


def _misfit(kind: type, why: str) -> UsageError:
    return UsageError(
        f"the recorded state does not fit {kind.__name__}: {safe_line(why)}",
        "raise the version and give a migration that makes it fit",
    )


def _object_of(kind: Any, value: Any) -> Any:
    """Give a value of a type that msgspec does not know: a pydantic model within others."""
    if is_pydantic(kind):
        return kind.model_validate_json(_encode(value))
    raise NotImplementedError(f"no JSON is read as {kind.__name__}")
