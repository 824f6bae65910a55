"""Formats: what the bytes of a store mean. Each is a module of this package with a `STORE`.

They are discovered, not registered: whatever module stands here is a format, and a package
installed beside ttdbg adds its own through the entry point group `ttdbg.formats`.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from tt_debugger.errors import CannotReadError, StoreError, outside_errors
from tt_debugger.store import Match, Probe, Store

GROUP = "ttdbg.formats"
_NOT_FORMATS = frozenset(("shared",))
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def known_formats() -> tuple[type[Store], ...]:
    """Give the stores of all formats, our own first. Raises StoreError where one is broken."""
    return (*own_formats(), *installed_formats())


def own_formats() -> tuple[type[Store], ...]:
    """Give the stores of the modules of this package."""
    names = sorted(path.stem for path in Path(__path__[0]).iterdir())
    return tuple(
        importlib.import_module(f"{__name__}.{name}").STORE
        for name in names
        if name.isidentifier() and not name.startswith("_") and name not in _NOT_FORMATS
    )


def installed_formats() -> tuple[type[Store], ...]:
    """Give the stores that other packages bring. Raises StoreError where one is broken."""
    # Slow to import (it brings the e-mail package), and most locations never need it.
    from importlib.metadata import entry_points

    stores: list[type[Store]] = []
    for entry in entry_points(group=GROUP):
        try:
            stores.append(entry.load())
        except Exception as error:
            raise StoreError(
                f"the format {entry.name!r} of {entry.value} cannot be loaded: {error}",
                "uninstall or update the package that brings it",
            ) from error
    return tuple(stores)


def recognise(probe: Probe) -> tuple[type[Store], Match]:
    """Give the format with the strongest claim to a location, an installed one where none of ours.

    Raises CannotReadError where no format claims it.
    """
    for stores in (own_formats, installed_formats):
        match = best_match(probe, stores())
        if match is not None:
            return match
    if probe.head.startswith(_UTF_16_MARKS):
        raise CannotReadError(
            f"cannot read {probe.location}: it is UTF-16, not UTF-8",
            "convert it first, for example with iconv -f UTF-16 -t UTF-8",
        )
    names = ", ".join(sorted(store.format for store in known_formats()))
    raise CannotReadError(
        f"cannot read {probe.location}: no format recognises it",
        f"known formats: {names}; see `ttdbg formats`",
    )


def best_match(probe: Probe, stores: tuple[type[Store], ...]) -> tuple[type[Store], Match] | None:
    """Give the format with the strongest claim to a location, or None where none has one."""
    claims: list[tuple[type[Store], Match]] = []
    for store in stores:
        with outside_errors(store.format):
            match = store.sniff(probe)
        if match is not None:
            claims.append((store, match))
    return max(claims, key=lambda claim: claim[1].score, default=None)
