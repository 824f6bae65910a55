"""Every expected error of ttdbg: one root class that carries a message, a hint and an exit code.

* `TtdbgError`
  * `UsageError` (exit 2): the request itself is wrong
    * `UnknownRefError`, `AmbiguousRefError`: a ref that names no point, or several
  * `CannotReadError` (exit 3): the location is not there, not a file, or nothing that ttdbg reads
    * `StoreError`: a store, driver or server failed while it was read
  * `CannotWriteError` (exit 3): what ttdbg keeps for the user cannot be written
    * `LogOverError`: nothing more can be written to where a recorder writes
  * `UnsupportedError` (exit 4): this format cannot do what was asked
    * `NewerStateError`: a state was recorded by newer code, whose version this one does not know
    * `ReadOnlyError`: a recording that can be looked at, but not gone on with
  * `EffectUnknownError` (exit 2): whether an effect happened is not known

Bad data inside a session is never an error: it is a `Finding`, and reading goes on.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import ClassVar


class TtdbgError(Exception):
    """The root of all expected errors: what happened, and what to do next."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(TtdbgError):
    """The request is wrong: an unknown option value, an impossible range."""


class UnknownRefError(UsageError):
    """A ref that names no point of the session."""


class AmbiguousRefError(UsageError):
    """A ref that names several points; the hint lists them."""


class CannotReadError(TtdbgError):
    """The location cannot be read as any session."""

    exit_code = 3


class StoreError(CannotReadError):
    """A store failed while it was being read; the cause is chained."""


class CannotWriteError(TtdbgError):
    """What ttdbg keeps of its own, such as marks, cannot be written."""

    exit_code = 3


class LogOverError(CannotWriteError):
    """Nothing more can be written to where a recorder writes; what was acknowledged is there."""


class UnsupportedError(TtdbgError):
    """The format does not support what was asked."""

    exit_code = 4


class NewerStateError(UnsupportedError):
    """The version of a recorded state is newer than the code that would go on from it."""


class ReadOnlyError(UnsupportedError):
    """A recording that can be looked at, but not gone on with."""


class EffectUnknownError(TtdbgError):
    """Whether an effect happened is not known: it was begun, and nothing says how it ended."""


@contextmanager
def outside_errors(format_name: str) -> Generator[None]:
    """Turn what the code of a format raises unforeseen into a StoreError, its cause chained."""
    try:
        yield
    except TtdbgError:
        raise
    except Exception as error:
        raise StoreError(
            f"the format {format_name} failed: {type(error).__name__}: {error}",
            "this is a bug; please report it with the output of `ttdbg doctor`",
        ) from error
