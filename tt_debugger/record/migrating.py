"""Migrating: a state brought from the version it was recorded in to the one the code knows.

It goes one way, from each version to the next, and happens to a state as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, cast

from tt_debugger.core.recording.entries import Migration
from tt_debugger.errors import NewerStateError, UsageError
from tt_debugger.record.json_form import json_of

Step = Callable[[dict[str, Any]], dict[str, Any]]
"""Gives the state of one version as the next version has it; it may change what it is given."""
Migrations = Mapping[int, Step]
"""By the version that it begins from, what leads to the next one."""


def migrated(
    state: dict[str, Any],
    version: int,
    wanted: int,
    migrations: Migrations,
    defaults: Mapping[str, Any] | None,
) -> tuple[dict[str, Any], Migration | None]:
    """Give a state in the version that is wanted, and what was done to it for that.

    `defaults` are added where the state has no such key. A state that has the version already is
    given as it is, with None. Raises NewerStateError where its version is beyond the wanted one,
    and UsageError where the way is not complete or one of its functions fails; the state that was
    given is never touched.
    """
    if version == wanted:
        return state, None
    if version > wanted:
        raise NewerStateError(
            f"the state has version {version}, and this code knows version {wanted}",
            "run the newer code; this one can only look at it",
        )
    steps = _way(version, wanted, migrations)
    new = state
    for before, step in enumerate(steps, version):
        new = _taken(step, new, before)
    missing = {key: each for key, each in (defaults or {}).items() if key not in new}
    new = {**new, **deepcopy(missing)}
    return new, Migration(
        version,
        wanted,
        tuple(map(_name_of, steps)),
        added=tuple(key for key in new if key not in state),
        removed=tuple(key for key in state if key not in new),
    )


def _way(version: int, wanted: int, migrations: Migrations) -> list[Step]:
    """Give the functions that lead from one version to another, in order."""
    missing = next((each for each in range(version, wanted) if each not in migrations), None)
    if missing is not None:
        raise UsageError(
            f"no migration leads from version {missing} to {missing + 1}; the state has version"
            f" {version}",
            f"give migrations={{{missing}: function}}",
        )
    return [migrations[each] for each in range(version, wanted)]


def _taken(step: Step, state: dict[str, Any], before: int) -> dict[str, Any]:
    """Give what a function makes of a state."""
    told = f"the migration {_name_of(step)} from version {before}"
    try:
        new: Any = step(deepcopy(state))
    except Exception as error:
        raise UsageError(f"{told} failed: {type(error).__name__}: {error}") from error
    if not isinstance(new, dict):
        raise UsageError(f"{told} gave no state but {new!r:.80}", "it must return the new state")
    try:
        return json_of(cast("dict[str, Any]", new))
    except UsageError as error:
        raise UsageError(f"{told} gave no JSON: {error.message}", error.hint) from error


def _name_of(step: Step) -> str:
    return getattr(step, "__name__", type(step).__name__)
