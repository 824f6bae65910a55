"""Forms: what conditions are made of, atoms joined by and, or, not.

An atom asks one thing. Most of them know the answer from the checkpoint itself; what has to keep
something in mind along a path gives a `Told` for it, which is told each checkpoint in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from tt_debugger.core.conditions.asked import Asked
from tt_debugger.core.conditions.at import At
from tt_debugger.core.search import Hit

if TYPE_CHECKING:
    from tt_debugger.core.expressions import JmesPath


class Told(Protocol):
    """An atom along a path: asked of the checkpoint that it was told last."""

    def tell(self, at: At) -> None:
        """Hear of the next checkpoint of the path."""
        ...

    @property
    def holds(self) -> bool:
        """Whether it holds there."""
        ...

    def copied(self) -> Self:
        """Give another one that was told the same."""
        ...


class Atom(msgspec.Struct, frozen=True, eq=False):
    """One thing that is asked, of whichever checkpoint.

    `told` gives what asks it along a path, None where that is no different. `happens` says that it
    asks of the checkpoint alone: it happens there, and does not stay. `needs_state` and
    `needs_changes` say what of an `At` it looks at. `expression` is the JMESPath over the state
    that it is, None for what is ready-made. `asked` is what it asks for, so that it can be said
    why that is nowhere. `excerpt` gives what is found, None where that is no text.
    """

    holds: Callable[[At], bool]
    told: Callable[[], Told] | None = None
    happens: bool = True
    needs_state: bool = False
    needs_changes: bool = False
    expression: JmesPath | None = None
    asked: Asked | None = None
    excerpt: Callable[[At], Hit | None] | None = None


class Single(msgspec.Struct, frozen=True, eq=False):
    """A form of one atom."""

    atom: Atom

    def holds(self, at: At) -> bool:
        """Tell whether it holds."""
        return self.atom.holds(at)


class Not(msgspec.Struct, frozen=True, eq=False):
    """What holds where another form does not."""

    form: Form

    def holds(self, at: At) -> bool:
        """Tell whether it holds."""
        return not self.form.holds(at)


class And(msgspec.Struct, frozen=True, eq=False):
    """What holds where all of some forms do."""

    forms: tuple[Form, ...]

    def holds(self, at: At) -> bool:
        """Tell whether it holds."""
        return all(form.holds(at) for form in self.forms)


class Or(msgspec.Struct, frozen=True, eq=False):
    """What holds where any of some forms does."""

    forms: tuple[Form, ...]

    def holds(self, at: At) -> bool:
        """Tell whether it holds."""
        return any(form.holds(at) for form in self.forms)


Form = Single | Not | And | Or


def atoms_of(form: Form) -> Iterator[Atom]:
    """Give all atoms of a form, from left to right."""
    match form:
        case Single(atom=atom):
            yield atom
        case Not(form=inner):
            yield from atoms_of(inner)
        case And(forms=forms) | Or(forms=forms):
            for each in forms:
                yield from atoms_of(each)


class Along:
    """A form along a path, told each checkpoint in order."""

    def __init__(self, form: Form, told: dict[int, Told] | None = None) -> None:
        self._form = form
        self._told = told or {
            id(atom): atom.told() for atom in atoms_of(form) if atom.told is not None
        }

    def holds(self, at: At) -> bool:
        """Tell whether it holds at the next checkpoint of the path, whose state may be live."""
        # All of them, for what is joined by `and` may leave some unasked.
        for each in self._told.values():
            each.tell(at)
        return self._holds(self._form, at)

    def copied(self) -> Along:
        """Give another one that was told the same, for a branch that leaves the path here."""
        return Along(self._form, {place: each.copied() for place, each in self._told.items()})

    def _holds(self, form: Form, at: At) -> bool:
        match form:
            case Single(atom=atom):
                told = self._told.get(id(atom))
                return atom.holds(at) if told is None else told.holds
            case Not(form=inner):
                return not self._holds(inner, at)
            case And(forms=forms):
                return all(self._holds(each, at) for each in forms)
            case Or(forms=forms):
                return any(self._holds(each, at) for each in forms)
