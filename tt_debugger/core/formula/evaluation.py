"""What an expression is worth: evaluated by jmespath, on values that anybody may have written.

Where jmespath gives up (a function is handed what it does not take, a text is compared with a
number, a value is too deep), the part that failed is null, as a place is that is not there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol, cast

from jmespath.functions import Functions, signature
from jmespath.visitor import Options, TreeInterpreter

from tt_debugger.core.formula.folds import FOLDS, folded
from tt_debugger.core.formula.syntax import Node
from tt_debugger.core.json import is_number

_GIVES_UP = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)

MAINTAINED = "maintained"
"""The type of a part whose value is kept by somebody else: its `value` is a `Maintained`."""


class Maintained(Protocol):
    """What has a value that is kept as a walk goes on."""

    @property
    def value(self) -> Any:
        """The value now."""
        ...


class _Functions(Functions):
    """The functions of JMESPath. Sums go from left to right, in each version of Python alike."""

    @signature({"types": ["array-number"]})
    def _func_sum(self, arg: list[Any]) -> Any:
        return folded(FOLDS["sum"], arg)

    @signature({"types": ["array-number"]})
    def _func_avg(self, arg: list[Any]) -> Any:
        return folded(FOLDS["avg"], arg)


class _Interpreter(TreeInterpreter):
    """Evaluates a tree, which is null where it has no value."""

    def __init__(self) -> None:
        super().__init__(Options(custom_functions=_Functions()))
        self._visits: dict[str, Callable[[Any, Any], Any]] = {
            name.removeprefix("visit_"): getattr(self, name)
            for name in dir(self)
            if name.startswith("visit_")
        }

    def visit(self, node: Any, *values: Any, **_: Any) -> Any:
        """Evaluate a part for the value that it is asked of."""
        return self._visits[node["type"]](node, values[0])

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        """Call a function."""
        try:
            return super().visit_function_expression(node, value)
        except _GIVES_UP:
            return None

    def visit_comparator(self, node: Any, value: Any) -> Any:
        """Compare two values: any for being equal, and two texts or two numbers by their order."""
        first, second = node["children"]
        left, right, sign = self.visit(first, value), self.visit(second, value), node["value"]
        if isinstance(left, str) and isinstance(right, str):
            return _COMPARE[sign](left, right)
        if sign not in _EQUALITY:
            is_ordered = is_number(left) and is_number(right)
            return _COMPARE[sign](left, right) if is_ordered else None
        try:
            return self.COMPARATOR_FUNC[sign](left, right)
        except RecursionError:
            return None

    def visit_maintained(self, node: Any, value: Any) -> Any:
        """Give a value that is kept."""
        return cast("Maintained", node["value"]).value


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}
_EQUALITY = frozenset(("eq", "ne"))
_visit = _Interpreter().visit


def evaluated(node: Node, value: Any) -> Any:
    """Give what a tree is worth for a value."""
    try:
        return _visit(node, value)
    except _GIVES_UP:
        return None


def is_true(value: Any) -> bool:
    """Tell whether JMESPath takes a value for true: all but null, false and what is empty."""
    return value is not None and value is not False and value not in ("", [], {})
