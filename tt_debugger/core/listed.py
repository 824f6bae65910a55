"""What a list of sessions has in its lines: projects, their sessions, and places in those."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tt_debugger.core.families import Project, Relative, projects
from tt_debugger.core.listing import Entry
from tt_debugger.core.search import Hit


class Spot(msgspec.Struct, frozen=True):
    """Where something that is searched for stands in a session: at which point, said by whom."""

    entry: Entry
    point: str
    said_by: str
    hit: Hit


Listed = Project | Relative | Spot
"""A line of a list: the heading of those that follow, a session, or a place in it."""


def by_project(entries: Sequence[Entry]) -> list[Listed]:
    """Give a list of sessions by projects, each under its heading."""
    lines: list[Listed] = []
    for project in projects(entries):
        lines += (project, *project.relatives)
    return lines
