"""The places of a state that an expression looks at, found without evaluating it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_debugger.core.formula.evaluation import MAINTAINED
from tt_debugger.core.formula.syntax import Node
from tt_debugger.core.paths import ROOT, Path

PROJECTIONS = frozenset(("projection", "filter_projection", "value_projection", "flatten"))
_READING_NOTHING = frozenset(("literal", "expref", MAINTAINED))


def place_of(node: Node) -> Path | None:
    """Give the place that an expression names, None where it is more than keys and indexes."""
    return _Looking().place(node, ROOT)


def reads_of(node: Node) -> tuple[Path, ...]:
    """Give the places that an expression looks at; the root, `()`, where it looks at all."""
    looking = _Looking()
    looking.read(looking.place(node, ROOT))
    found = looking.found
    return tuple(
        each for each in found if not any(each[:size] in found for size in range(len(each)))
    )


def fields_of(node: Node) -> Iterator[str]:
    """Give the fields that an expression names, but for those of objects that it makes itself."""
    made: set[str] = set()
    named: dict[str, None] = {}
    waiting: list[Any] = [node]
    while waiting:
        part = waiting.pop()
        if part["type"] == "field":
            named[part["value"]] = None
        elif part["type"] == "key_val_pair":
            made.add(part["value"])
        # Those of a slice are numbers.
        waiting += [each for each in part["children"] if isinstance(each, dict)]
    return (each for each in named if each not in made)


class _Looking:
    """The places looked at so far. None stands for what was computed: its places are known."""

    def __init__(self) -> None:
        self.found: dict[Path, None] = {}

    def read(self, place: Path | None) -> None:
        if place is not None:
            self.found[place] = None

    def place(self, node: Node, scope: Path | None) -> Path | None:
        """Look at what a part asks of a scope; give the place that it names."""
        kind: str = node["type"]
        children: list[Any] = node["children"]
        match kind:
            case "current" | "identity":
                return scope
            case "field":
                return None if scope is None else (*scope, node["value"])
            case "index" if scope is not None and node["value"] >= 0:
                return (*scope, node["value"])
            case "index" | "slice":
                self.read(scope)
            case "subexpression" | "index_expression" | "pipe":
                for child in children:
                    scope = self.place(child, scope)
                return scope
            case _ if kind in PROJECTIONS:
                # What is done with each item reads nothing but the item.
                self.read(self.place(children[0], scope))
            case _ if kind in _READING_NOTHING:
                pass
            case _:
                self._read_all(children, scope, is_select=kind.startswith("multi_select"))
        return None

    def _read_all(self, children: list[Any], scope: Path | None, *, is_select: bool) -> None:
        size = len(self.found)
        for child in children:
            self.read(self.place(child, scope))
        if is_select and len(self.found) == size:
            # It is null where its scope is, whatever is selected.
            self.read(scope)
