"""What an atom asks for, as values: so that it can be said why it holds nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from tt_debugger.core.expressions import JmesPath


class NameAsked(msgspec.Struct, frozen=True):
    """A name is asked for: `what` is tool, kind, role, model or label."""

    what: str
    name: str


class FigureAsked(msgspec.Struct, frozen=True):
    """A figure is compared with a number."""

    name: str
    comparison: str
    number: float


class ExpressionAsked(msgspec.Struct, frozen=True):
    """JMESPath is asked of the state, or of a single checkpoint."""

    expression: JmesPath
    is_of_entry: bool


Asked = NameAsked | FigureAsked | ExpressionAsked
