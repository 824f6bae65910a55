"""The gate: the one way out for what a session says.

A subject passes it before anything compares or renders it, since a diff would cut a token into
pieces that no rule knows; renderers take only what has passed, and the finished page is looked
through once more. What goes wrong on the way refuses the export: there is no half of one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, Generic, TypeVar, cast

import msgspec

from tt_debugger.core.redact.redactor import Hit, Owner, Redactor
from tt_debugger.core.text import acting
from tt_debugger.errors import CannotWriteError, TtdbgError

S = TypeVar("S")

_GATE = object()


class Redaction(msgspec.Struct, frozen=True):
    """What became of the secrets of an export.

    `counts` says how often each rule has replaced something, None where nothing was looked for.
    """

    counts: Mapping[str, int] | None
    structure_only: bool = False
    """Whether all content was left out, secret or not."""


class Passed(Generic[S]):
    """A subject that has passed the gate, which alone can make one."""

    __slots__ = ("redaction", "subject")

    def __init__(self, subject: S, redaction: Redaction, gate: object) -> None:
        if gate is not _GATE:
            raise TypeError("only the gate lets a subject pass")
        self.subject = subject
        self.redaction = redaction

    def part(self, name: str) -> Passed[Any]:
        """Give a field of the subject, which has passed with it."""
        return Passed(getattr(self.subject, name), self.redaction, _GATE)


class Page(msgspec.Struct, frozen=True):
    """A finished page, what was replaced in it, and where."""

    text: str
    redaction: Redaction
    hits: tuple[Hit, ...]


class Gate:
    """One export's way out. Without a redactor nothing is replaced, and every page says so."""

    def __init__(self, redactor: Redactor | None, *, structure_only: bool = False) -> None:
        self._redactor = redactor
        self._structure_only = structure_only

    @classmethod
    def redacting(cls, owner: Owner, *, structure_only: bool = False) -> Gate:
        """Give a gate that replaces secrets, and what tells who exports."""
        return cls(Redactor(owner, structure_only=structure_only), structure_only=structure_only)

    @property
    def redacts(self) -> bool:
        """Whether secrets are replaced."""
        return self._redactor is not None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was replaced so far."""
        return () if self._redactor is None else tuple(self._redactor.hits)

    @property
    def redaction(self) -> Redaction:
        """What was replaced so far, by rule."""
        if self._redactor is None:
            return Redaction(None)
        return Redaction(dict(sorted(self._redactor.counts().items())), self._structure_only)

    def passed(self, subject: S) -> Passed[S]:
        """Let a subject pass, with its secrets replaced; a type that is not known is refused."""
        if self._redactor is None:
            return Passed(subject, self.redaction, _GATE)
        # As one value, since the redactor looks through many texts at once. What is known to be
        # secret by its name is taken out of all texts before a diff or a page can cut it.
        plain = _plain(subject)
        self._redactor.learn(plain)
        through = _like(subject, plain, self._redactor.value(plain))
        return Passed(through, self.redaction, _GATE)

    def page(self, text: str) -> Page:
        """Give a rendered text as a finished page.

        Raises CannotWriteError where a character in it could act or hide.
        """
        if self._redactor is not None:
            text = self._redactor.finished(text, "page")
        left = acting(text)
        if left:
            named = ", ".join(sorted(f"U+{ord(each):04X}" for each in left))
            raise CannotWriteError(
                f"the export was refused: it holds {named}", "nothing was written"
            )
        return Page(text, self.redaction, self.hits)


def _plain(value: Any) -> Any:
    """Give a subject, or a part of it, as what a redactor knows: its names tell what is in it."""
    match value:
        case msgspec.Struct():
            return dict(zip(value.__struct_fields__, map(_plain, _fields(value)), strict=True))
        case tuple():
            return list(map(_plain, cast("tuple[Any, ...]", value)))
        case Enum():
            return None
        case None | bool() | int() | float() | str() | dict() | list():
            return cast("Any", value)
        case _:
            raise TypeError(f"{type(value).__name__} cannot pass the gate")


def _like(value: Any, plain: Any, redacted: Any) -> Any:
    """Give what a part of a subject became, as the type that it was."""
    if redacted is plain:
        return value
    match value:
        case msgspec.Struct():
            # By their order: who exports can have the name of a field, which is replaced then.
            parts = map(_like, _fields(value), plain.values(), redacted.values())
            return type(value)(*parts)
        case tuple():
            return tuple(map(_like, cast("tuple[Any, ...]", value), plain, redacted))
        case _:
            return redacted


def _fields(value: msgspec.Struct) -> Iterator[Any]:
    return (getattr(value, name) for name in value.__struct_fields__)


@contextmanager
def refusing() -> Generator[None]:
    """Refuse the export for whatever goes wrong, without a word of what it would have said."""
    try:
        yield
    except TtdbgError:
        raise
    except Exception as error:
        raise CannotWriteError(
            f"the export was refused: {type(error).__name__} on the way", "nothing was written"
        ) from error
