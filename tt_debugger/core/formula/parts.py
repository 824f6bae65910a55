"""The parts of an expression along a walk: what is kept item by item, and the rest.

`Split` rewrites the tree of an expression. Each projection over a list of the state becomes a
column, each function of one that is a fold a tally, and the rest is evaluated with their values.
"""

from __future__ import annotations

from typing import Any

from tt_debugger.core.formula.columns import (
    Column,
    Mirror,
    Stage,
    Tally,
    filtering,
    flattening,
    projecting,
)
from tt_debugger.core.formula.evaluation import MAINTAINED, Maintained
from tt_debugger.core.formula.folds import FOLDS, Fold, finding
from tt_debugger.core.formula.syntax import Node
from tt_debugger.core.paths import ROOT, Key, Path

_Part = Path | Column | Node
"""A part whose value is known from the state alone: a place, a column, or a tree of such."""

_CHAINING = frozenset(("subexpression", "index_expression", "pipe"))
"""Types of parts of which each child is asked of what the one before it gives."""
_COMBINING = frozenset(
    ("comparator", "and_expression", "or_expression", "not_expression", "function_expression")
)
"""Types of parts that ask nothing of their scope but what their children ask."""
_SELECTING = frozenset(("multi_select_list", "multi_select_dict"))
_KEPT = frozenset(("projection", "filter_projection", "flatten"))


class Split:
    """An expression as a tree over the state, and the mirrors of the lists that are in it."""

    def __init__(self, node: Node) -> None:
        self._mirrors: dict[Path, Mirror] = {}
        self.node = self._tree(self._part(node, ROOT))

    @property
    def mirrors(self) -> list[Mirror]:
        """The lists that are kept item by item."""
        return list(self._mirrors.values())

    def _part(self, node: Node, scope: _Part) -> _Part:
        """Give a part of the expression, asked of a scope, as a part asked of the state."""
        kind: str = node["type"]
        if kind in _CHAINING:
            for child in node["children"]:
                scope = self._part(child, scope)
            return scope
        named = _named(node, scope)
        if named is not None:
            return named
        if isinstance(scope, dict):
            # It was computed, and would be again for each child.
            return self._asked_of(scope, node)
        if kind in _KEPT:
            return self._projection(node, scope)
        if kind in _COMBINING or (kind in _SELECTING and scope == ROOT):
            return self._tally(node, scope) or self._combined(node, scope)
        return self._asked_of(scope, node)

    def _projection(self, node: Node, scope: _Part) -> _Part:
        left = self._part(node["children"][0], scope)
        if isinstance(left, dict):
            return {**node, "children": [left, *node["children"][1:]]}
        stage = _stage(node)
        if isinstance(left, Column):
            return Column(left.path, (*left.stages, stage))
        return Column(left, (stage,))

    def _tally(self, node: Node, scope: _Part) -> Node | None:
        """Give a function of a column that is a fold, None for what is none."""
        fold = _fold(node)
        column = None if fold is None else self._part(node["children"][0], scope)
        if fold is None or not isinstance(column, Column):
            return None
        self._use(column)
        column.tallies.append(tally := Tally(column, fold))
        return _maintained(tally)

    def _combined(self, node: Node, scope: _Part) -> Node:
        return {**node, "children": [self._child(each, scope) for each in node["children"]]}

    def _child(self, node: Node, scope: _Part) -> Node:
        match node["type"]:
            case "expref":
                return node
            case "key_val_pair":
                return self._combined(node, scope)
            case _:
                return self._tree(self._part(node, scope))

    def _asked_of(self, scope: _Part, node: Node) -> Node:
        if scope == ROOT:
            return node
        return {"type": "pipe", "children": [self._tree(scope), node]}

    def _tree(self, part: _Part) -> Node:
        if isinstance(part, dict):
            return part
        if isinstance(part, Column):
            self._use(part)
            return _maintained(part)
        return {"type": "subexpression", "children": [_key_node(key) for key in part]}

    def _use(self, column: Column) -> None:
        """Keep a column; those that another one is only made of are not kept."""
        self._mirrors.setdefault(column.path, Mirror(column.path)).add(column)


def _named(node: Node, scope: _Part) -> _Part | None:
    """Give a part that is known by what it is called, None for one that is made of others."""
    match node["type"]:
        case "current" | "identity":
            return scope
        case "literal":
            return node
        case "field" if isinstance(scope, tuple):
            return (*scope, node["value"])
        case "index" if isinstance(scope, tuple) and node["value"] >= 0:
            return (*scope, node["value"])
        case _:
            return None


def _stage(node: Node) -> Stage:
    children: list[Any] = node["children"]
    match node["type"]:
        case "filter_projection":
            return filtering(children[2], children[1])
        case "projection":
            return projecting(children[1])
        case _:
            return flattening


def _fold(node: Node) -> Fold | None:
    """Give the fold that a function is, None where it is none."""
    if node["type"] != "function_expression":
        return None
    name, children = node["value"], node["children"]
    if name == "contains" and children[1]["type"] == "literal":
        return finding(children[1]["value"])
    return FOLDS.get(name)


def _maintained(kept: Maintained) -> Node:
    return {"type": MAINTAINED, "children": [], "value": kept}


def _key_node(key: Key) -> Node:
    return {"type": "index" if isinstance(key, int) else "field", "children": [], "value": key}
