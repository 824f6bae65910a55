"""Formats: what the bytes of a store mean. Each is a module of this package with a `STORE`.

They are discovered, not registered: whatever module stands here is a format, and a package
installed beside ttdbg adds its own through the entry point group `ttdbg.formats`.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec

from tt_debugger.core.text import summary_line
from tt_debugger.errors import CannotReadError, StoreError, outside_errors
from tt_debugger.storage.files import folder_refused
from tt_debugger.storage.probe import MOST_KEYS, DatabaseProbe, PostgresProbe, RedisProbe
from tt_debugger.storage.probe import probe as look_at
from tt_debugger.storage.signatures import signature_of
from tt_debugger.storage.sqlite import MAGIC
from tt_debugger.store import Match, Probe, Store

GROUP = "ttdbg.formats"
MOST_NAMED = 6
"""Tables or keys of a database that are named where no format reads it."""
_NOT_FORMATS = frozenset(("shared",))


class Claim(msgspec.Struct, frozen=True):
    """What a format says of a location; `match` is None where it has no claim to it."""

    store: type[Store]
    match: Match | None


def known_formats() -> tuple[type[Store], ...]:
    """Give the stores of all formats, our own first. Raises StoreError where one is broken."""
    return (*own_formats(), *installed_formats())


@cache
def own_formats() -> tuple[type[Store], ...]:
    """Give the stores of the modules of this package."""
    return tuple(each_own_format())


def each_own_format() -> Iterator[type[Store]]:
    """Give the same one by one, each as soon as it is imported."""
    names = sorted(path.stem for path in Path(__path__[0]).iterdir())
    for name in names:
        if name.isidentifier() and not name.startswith("_") and name not in _NOT_FORMATS:
            yield importlib.import_module(f"{__name__}.{name}").STORE


@cache
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
    """Give the format that reads a location. Raises CannotReadError where none claims it."""
    match = best_match(probe)
    if match is None:
        raise _unrecognised(probe)
    return match


def best_match(probe: Probe) -> tuple[type[Store], Match] | None:
    """Give the format with the strongest claim to a location, an installed one where none of ours.

    None where no format claims it.
    """
    for asked in (_said_by_ours, _said_by_installed):
        first = next(iter(asked(probe)), None)
        if first is not None and first.match is not None:
            return first.store, first.match
    return None


def is_session(folder: str) -> bool:
    """Tell whether a folder is itself a session, and not one that holds sessions."""
    try:
        recognise(look_at(folder))
    except CannotReadError:
        return False
    return True


def _unrecognised(probe: Probe) -> CannotReadError:
    if probe.inside is not None:
        return folder_refused(probe.location)
    if isinstance(probe, PostgresProbe | RedisProbe):
        return _server_unrecognised(probe)
    signature = signature_of(MAGIC if isinstance(probe, DatabaseProbe) else probe.head)
    names = ", ".join(sorted(store.format for store in known_formats()))
    known = f"known formats: {names}; see `ttdbg formats`"
    if signature is not None:
        # A view in the place of a table is none.
        inside = _few(dict(probe.tables)) if isinstance(probe, DatabaseProbe) else ""
        return CannotReadError(
            f"cannot read {probe.location}: it is {signature.name}{inside}",
            signature.hint or known,
        )
    return CannotReadError(f"cannot read {probe.location}: no format recognises it", known)


def _server_unrecognised(probe: PostgresProbe | RedisProbe) -> CannotReadError:
    """Say what a server has that no format reads, and how a map says what it is."""
    if isinstance(probe, PostgresProbe):
        what = f"PostgreSQL whose tables no format reads{_few(dict(probe.tables))}"
        said = "which table and columns hold checkpoints"
    else:
        what = f"Redis whose keys no format reads{_few(dict(probe.keys))}"
        said = "how keys of checkpoints begin"
    return CannotReadError(
        f"cannot read {probe.location}: it is a database of {what}",
        f"say with `--map FILE` {said}; the README shows how",
    )


def _few(names: Collection[str]) -> str:
    """Name a few of the tables or keys that were seen in a database."""
    first = [summary_line(each, 40) for each in islice(names, MOST_NAMED)]
    count = "many" if len(names) >= MOST_KEYS else f"{len(names) - MOST_NAMED:,}"
    more = f" and {count} more" if len(names) > MOST_NAMED else ""
    return f" ({', '.join(first)}{more})" if first else ": it has none"


def claims(probe: Probe) -> tuple[Claim, ...]:
    """Give what every format says of a location: first those with a claim, in their order.

    That is ours before installed ones, which otherwise are asked only where none of ours has a
    claim; the first is the format that `recognise` gives.
    """
    said = (*_said_by_ours(probe), *_said_by_installed(probe))
    return tuple(sorted(said, key=lambda each: each.match is None))


def _said_by_ours(probe: Probe) -> list[Claim]:
    """Ask ours. None reads what is no text, though lines of JSON may stand in an archive."""
    signature = signature_of(probe.head)
    if signature is None or signature.is_text:
        return _asked(probe, own_formats())
    return [Claim(store, None) for store in own_formats()]


def _said_by_installed(probe: Probe) -> list[Claim]:
    return _asked(probe, installed_formats())


def _asked(probe: Probe, stores: tuple[type[Store], ...]) -> list[Claim]:
    """Ask formats about a location: the strongest claim is the first answer."""
    said: list[Claim] = []
    for store in stores:
        with outside_errors(store.format):
            said.append(Claim(store, store.sniff(probe)))
    return sorted(said, key=lambda each: -each.match.score if each.match else 0)
