"""Figures: what was measured, what it should be at most, and how both are told."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from statistics import median
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """One line of the table. A figure with a goal has a verdict; one without is there to read."""

    benchmark: str
    what: str
    measured: float | None
    """None where it could not be measured: what it asks for does not exist."""
    unit: str
    goal: float | None = None
    """The most that is good, in the same unit."""

    @property
    def verdict(self) -> str:
        """Whether the goal is met."""
        if self.measured is None:
            return "NOT MEASURED"
        if self.goal is None:
            return ""
        return "met" if self.measured <= self.goal else "MISSED"


def percentile(values: Sequence[float], percent: int) -> float:
    """Give the smallest of the values that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(-(-len(ordered) * percent // 100) - 1, 0)]


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Give the median over rounds of ours to theirs, each pair taken in the same round."""
    return median(one / other for one, other in zip(ours, theirs, strict=True))


def machine() -> dict[str, Any]:
    """Give the facts without which no figure means anything."""
    return {
        "python": platform.python_version(),
        "textual": version("textual"),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": [round(each, 2) for each in os.getloadavg()],
    }


def table(figures: Sequence[Figure]) -> list[str]:
    """Give the figures as aligned lines."""
    rows = [("benchmark", "figure", "measured", "goal", "verdict")]
    rows += [
        (each.benchmark, each.what, _shown(each.measured, each), _goal(each), each.verdict)
        for each in figures
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{name:<{widths[0]}}  {what:<{widths[1]}}  {measured:>{widths[2]}}  {goal:>{widths[3]}}  "
        f"{verdict}".rstrip()
        for name, what, measured, goal, verdict in rows
    ]


def _goal(figure: Figure) -> str:
    return "" if figure.goal is None else f"<= {_shown(figure.goal, figure)}"


def _shown(value: float | None, figure: Figure) -> str:
    if value is None:
        return "-"
    digits = {"x": 4, "ms": 1}.get(figure.unit, 0)
    return f"{value:,.{digits}f} {figure.unit}"
