"""The gate: the one way out for what a session says.

A subject passes it before anything compares or renders it, since a diff would cut a token into
pieces that no rule knows; renderers take only what has passed, and the finished page is looked
through once more. What goes wrong on the way refuses the export: there is no half of one.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, Generic, TypeVar, cast

import msgspec

from tt_debugger.core.redact.redactor import Hit, Redactor
from tt_debugger.core.text import acting
from tt_debugger.errors import CannotWriteError, TtdbgError

S = TypeVar("S")

_GATE = object()


class Passed(Generic[S]):
    """A subject that has passed the gate, which alone can make one.

    `counts` says how often each rule has replaced something in it, None where nothing was looked
    for.
    """

    __slots__ = ("counts", "subject")

    def __init__(self, subject: S, counts: Mapping[str, int] | None, gate: object) -> None:
        if gate is not _GATE:
            raise TypeError("only the gate lets a subject pass")
        self.subject = subject
        self.counts = counts

    def part(self, name: str) -> Passed[Any]:
        """Give a field of the subject, which has passed with it."""
        return Passed(getattr(self.subject, name), self.counts, _GATE)


class Page(msgspec.Struct, frozen=True):
    """A finished page, and what was replaced in it.

    `counts` says how often each rule has, None where nothing was looked for.
    """

    text: str
    counts: Mapping[str, int] | None
    hits: tuple[Hit, ...]


class Gate:
    """One export's way out. Without a redactor nothing is replaced, and every page says so."""

    def __init__(self, redactor: Redactor | None) -> None:
        self._redactor = redactor

    @property
    def redacts(self) -> bool:
        """Whether secrets are replaced."""
        return self._redactor is not None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was replaced so far."""
        return () if self._redactor is None else tuple(self._redactor.hits)

    @property
    def counts(self) -> Mapping[str, int] | None:
        """How often each rule has replaced something so far, None without a redactor."""
        if self._redactor is None:
            return None
        return dict(sorted(self._redactor.counts().items()))

    def passed(self, subject: S) -> Passed[S]:
        """Let a subject pass, with its secrets replaced."""
        through = self._through(subject, "") if self.redacts else subject
        return Passed(through, self.counts, _GATE)

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
        return Page(text, self.counts, self.hits)

    def _through(self, value: Any, place: str) -> Any:
        """Give any value of a subject without its secrets; a type that is not known is refused."""
        redactor = self._redactor
        assert redactor is not None  # noqa: S101 - only asked with one
        match value:
            case msgspec.Struct():
                fields = msgspec.structs.asdict(value)
                return type(value)(
                    **{name: self._field(name, each, place) for name, each in fields.items()}
                )
            case None | bool() | int() | float() | Enum():
                return cast("object", value)
            case str():
                return redactor.text(value, place)
            case dict() | list():
                return redactor.value(value, place)
            case tuple():
                items = enumerate(cast("tuple[Any, ...]", value))
                return tuple(self._through(each, f"{place}/{number}") for number, each in items)
            case _:
                raise TypeError(f"{type(value).__name__} cannot pass the gate")

    def _field(self, name: str, value: Any, place: str) -> Any:
        """Give a field without its secrets; of a text the name tells too what it is."""
        if isinstance(value, str) and not isinstance(value, Enum):
            assert self._redactor is not None  # noqa: S101 - only asked with one
            return self._redactor.value({name: value}, place)[name]
        return self._through(value, f"{place}/{name}")


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
