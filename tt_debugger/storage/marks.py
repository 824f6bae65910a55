"""Marks: names that a person gave to checkpoints, kept apart from the session itself.

Each session has one small file of its own in the user's state folder; nothing is ever written
beside a session. A file that cannot be read holds no marks. Those of stdin are forgotten when
ttdbg ends: nobody could open it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tt_debugger.core.json import as_map
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage.own_files import content_of, real, state_folder
from tt_debugger.storage.replacing import replace
from tt_debugger.storage.stdin import STDIN

LARGEST = 1 << 20
"""Bytes of the largest file that is read as marks."""


class Marks(Mapping[str, str]):
    """The marks of one session, from name to checkpoint id; read when first looked at."""

    def __init__(self, location: str, session: str) -> None:
        self._location = location
        self._session = session
        self._known: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def put(self, name: str, checkpoint: str) -> None:
        """Give a checkpoint a name, or a name another checkpoint.

        Raises UsageError for an empty name, CannotWriteError where it cannot be kept.
        """
        if not name:
            raise UsageError("a mark needs a name", "one letter is enough")
        self._write({**self._stored(), name: checkpoint})

    def drop(self, name: str) -> None:
        """Forget a name; one that is not there is forgotten already. Raises CannotWriteError."""
        marks = self._stored()
        if marks.pop(name, None) is not None:
            self._write(marks)
        self._known = marks

    def _read(self) -> dict[str, str]:
        if self._known is None:
            self._known = self._stored()
        return self._known

    def _stored(self) -> dict[str, str]:
        """Give the marks as they are now: another ttdbg may have set some."""
        if self._location == STDIN:
            return dict(self._known or {})
        return _marks_in(content_of(self._path(), LARGEST)) or {}

    def _path(self) -> Path:
        # Only who asks for marks pays for the import.
        import hashlib

        name = hashlib.sha256(f"{real(self._location)}\0{self._session}".encode(errors="replace"))
        return state_folder() / "marks" / f"{name.hexdigest()[:32]}.json"

    def _write(self, marks: dict[str, str]) -> None:
        if self._location != STDIN:
            self._write_file(marks)
        self._known = marks

    def _write_file(self, marks: dict[str, str]) -> None:
        import json

        path = self._path()
        value = {"location": real(self._location), "session": self._session, "marks": marks}
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _keep_aside_if_damaged(path)
            replace(path, (json.dumps(value, indent=1).encode(),), is_durable=True)
        except OSError as error:
            raise CannotWriteError(
                f"cannot keep the mark: {error.strerror or error}",
                f"marks are kept in {path.parent}; XDG_STATE_HOME names another place",
            ) from error


def _marks_in(content: bytes) -> dict[str, str] | None:
    """Read marks, None where the content is none."""
    import json

    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    marks = as_map(value).get("marks")
    if not isinstance(marks, dict):
        return None
    return {name: own for name, own in as_map(marks).items() if name and isinstance(own, str)}


def _keep_aside_if_damaged(path: Path) -> None:
    if path.exists() and _marks_in(content_of(path, LARGEST)) is None:
        path.replace(path.with_suffix(".damaged"))
