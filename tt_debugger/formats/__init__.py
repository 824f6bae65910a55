"""Formats: what the bytes of a store mean. Each is a module of this package with a `STORE`.

They are discovered, not registered: whatever module stands here is a format, and a package
installed beside ttdbg adds its own through the entry point group `ttdbg.formats`.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points

from tt_debugger.errors import CannotReadError, StoreError
from tt_debugger.store import Match, Probe, Store

GROUP = "ttdbg.formats"
_NOT_FORMATS = frozenset(("shared",))


def known_formats() -> tuple[type[Store], ...]:
    """Give the stores of all formats, our own first. Raises StoreError where one is broken."""
    own = [
        importlib.import_module(f"{__name__}.{module.name}").STORE
        for module in pkgutil.iter_modules(__path__)
        if module.name not in _NOT_FORMATS
    ]
    return (*own, *_installed())


def _installed() -> list[type[Store]]:
    stores: list[type[Store]] = []
    for entry in entry_points(group=GROUP):
        try:
            stores.append(entry.load())
        except Exception as error:
            raise StoreError(
                f"the format {entry.name!r} of {entry.value} cannot be loaded: {error}",
                "uninstall or update the package that brings it",
            ) from error
    return stores


def best_match(probe: Probe, stores: tuple[type[Store], ...]) -> tuple[type[Store], Match] | None:
    """Give the format with the strongest claim to a location, or None where none has one."""
    claims = [(store, match) for store in stores if (match := store.sniff(probe))]
    return max(claims, key=lambda claim: claim[1].score, default=None)


def refuse_unknown(probe: Probe, stores: tuple[type[Store], ...]) -> CannotReadError:
    """Give the error for a location that no format claims."""
    names = ", ".join(sorted(store.format for store in stores if store.about))
    return CannotReadError(
        f"cannot read {probe.location}: no format recognises it",
        f"known formats: {names}; see `ttdbg formats`",
    )
