"""opencode: sessions in its database, or in the folder of JSON files that it kept before.

What was reverted is a dead branch, and a session that another one started is linked to the
message that did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tt_debugger.core.model import Session
from tt_debugger.formats.opencode.files import OpencodeFiles
from tt_debugger.formats.opencode.rows import OpencodeRows
from tt_debugger.formats.shared.delegating import Delegating
from tt_debugger.formats.shared.places import folder_named
from tt_debugger.storage.sqlite import is_database
from tt_debugger.store import Match, Probe


class Opencode(Delegating):
    """The sessions at a location, which is a database, a storage folder or the file of one."""

    format: ClassVar[str] = "opencode"
    about: ClassVar[str] = "sessions of opencode (SQLite, or its folder of JSON files)"
    verified: ClassVar[str] = "its published format notes; no agent was run"

    store: OpencodeRows | OpencodeFiles

    @classmethod
    def chosen(cls, location: str) -> OpencodeRows | OpencodeFiles:
        """Open the database, or the folder or file."""
        return (OpencodeRows if is_database(location) else OpencodeFiles)(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a database by its tables, a folder by its folders, a file by its keys."""
        return OpencodeRows.sniff(probe) or OpencodeFiles.sniff(probe)

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the database, and the folder in which the files of sessions were kept before."""
        data = environ.get("XDG_DATA_HOME")
        folder = (folder_named(data, home) if data else home / ".local/share") / "opencode"
        own = environ.get("OPENCODE_DB")
        # A name alone stands for a file in the folder.
        database = folder / folder_named(own, home) if own else folder / "opencode.db"
        return database, folder / "storage/session"

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location of a session that a message started, None where it is not there."""
        return self.store.subsession(session, name)


STORE = Opencode
