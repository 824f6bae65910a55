"""Settings: what a recorder, and a step, may be given; and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import msgspec

from tt_debugger.core.model import Usage
from tt_debugger.core.recording.entries import Event
from tt_debugger.errors import UsageError
from tt_debugger.record.backends.options import DEFAULT_SESSION, Consistency, Options
from tt_debugger.record.migrating import Migrations
from tt_debugger.record.models import Model, model_of
from tt_debugger.record.policies import EveryStep, Policy
from tt_debugger.record.reducers import DEFAULTS, Reducer, Remembering, append, reducers_of


class Settings(TypedDict, total=False):
    """What a recorder may be opened with.

    `state` is what a new session begins with, `model` the type of its states where none is given.
    `reducers` say by field how an update is merged, before what the fields' annotations say.
    `when` is when to write. `version` is that of the state's schema, `migrations` bring older
    ones to it. `session`, `tenant`, `consistency`, `reads_from_replicas` and
    `row_level_security` are for databases, `ttl` (seconds) for Redis; `title` is what people
    call the session. `clock` gives
    seconds since 1970, `fresh` random bytes.
    """

    state: Any
    model: Any
    reducers: Mapping[str, Reducer]
    when: Policy
    version: int
    migrations: Migrations
    session: str
    tenant: str
    consistency: Consistency | str | None
    reads_from_replicas: bool
    row_level_security: bool
    ttl: int | None
    title: str
    clock: Callable[[], float]
    fresh: Callable[[int], bytes]


class StepSettings(TypedDict, total=False):
    """What a step may be given beside its name; `About` says what each is."""

    tool: str | None
    usage: Usage | None
    event: Event | None
    effect_key: str | None
    was_done: Callable[[], bool] | None
    retry_unknown: bool


class Schema(msgspec.Struct, frozen=True):
    """How states are made, merged, and brought to the version of the code."""

    model: Model
    reducers: Mapping[str, Reducer]
    version: int
    migrations: Migrations


def options_of(settings: Settings) -> Options:
    """Give how the log is to be opened.

    Raises UsageError for a consistency or a policy that is none, and for a setting nobody knows.
    """
    unknown = sorted(settings.keys() - Settings.__annotations__.keys())
    if unknown:
        raise UsageError(
            f"there is no setting {unknown[0]!r}",
            f"there are {', '.join(sorted(Settings.__annotations__))}",
        )
    when: object = settings.get("when", EveryStep())
    if not isinstance(when, Policy):
        raise UsageError(f"when={when!r} is no policy", "write it like when=Periodic(60)")
    consistency = settings.get("consistency")
    known = {each.value for each in Consistency}
    if consistency is not None and consistency not in known:
        raise UsageError(
            f"{consistency!r} is no consistency", f"it is one of {', '.join(sorted(known))}"
        )
    return Options(
        session=settings.get("session", DEFAULT_SESSION),
        tenant=settings.get("tenant", ""),
        consistency=None if consistency is None else Consistency(consistency),
        reads_from_replicas=settings.get("reads_from_replicas", False),
        row_level_security=settings.get("row_level_security", False),
        ttl=settings.get("ttl"),
    )


def schema_of(settings: Settings) -> Schema:
    """Give how states are made and merged. Raises UsageError for a type that cannot be one."""
    model = model_of(settings.get("state", settings.get("model")))
    named = {**DEFAULTS, **reducers_of(model.type), **settings.get("reducers", {})}
    return Schema(
        model,
        {field: Remembering() if each is append else each for field, each in named.items()},
        settings.get("version", 1),
        settings.get("migrations", {}),
    )
