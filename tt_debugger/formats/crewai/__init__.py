"""CrewAI: the states of flows in a database, and checkpoints with branches, there or in files."""

from __future__ import annotations

from typing import ClassVar

from tt_debugger.formats.crewai.files import CrewaiFiles
from tt_debugger.formats.crewai.rows import CrewaiRows
from tt_debugger.formats.shared.delegating import Delegating
from tt_debugger.storage.sqlite import is_database
from tt_debugger.store import Match, Probe


class Crewai(Delegating):
    """The states at a location, which is a database, a folder of branches or the file of one."""

    format: ClassVar[str] = "crewai"
    about: ClassVar[str] = "flows and checkpoints of CrewAI (SQLite, or its folders of JSON files)"
    verified: ClassVar[str] = "what CrewAI 1.15 wrote; its JSONB with SQLite 3.54"
    as_folder: ClassVar[type[object] | None] = CrewaiFiles

    @classmethod
    def chosen(cls, location: str) -> CrewaiRows | CrewaiFiles:
        """Open the database, or the folder or file."""
        return (CrewaiRows if is_database(location) else CrewaiFiles)(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a database by its tables, a folder or a file by its name."""
        return CrewaiRows.sniff(probe) or CrewaiFiles.sniff(probe)


STORE = Crewai
