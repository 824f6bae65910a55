"""Testing: recordings of every version that were kept, run forward to the version of the code.

Whoever changes the schema of a state keeps a small recording of each version in a folder, and has
a test go over them:

    for name, before, state in runs_forward("tests/recordings", version=3, migrations=MIGRATIONS):
        assert state["plan"] is not None, name
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tt_debugger.core.recording.naming import tenant_and_session
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import TtdbgError
from tt_debugger.record.backends import opened
from tt_debugger.record.backends.options import DEFAULT_SESSION, Options

if TYPE_CHECKING:
    from tt_debugger.record.recorder import Settings

_FILES = (".jsonl", ".json")
_DATABASES = (".db", ".sqlite", ".sqlite3")


def runs_forward(
    folder: str | Path, **settings: Unpack[Settings]
) -> Iterator[tuple[str, int, Any]]:
    """Open each recording in a folder with the code as it is now, one after the other.

    Gives the name of the file, the version that its state had, and the state as it is now; of a
    database each session, unless `session` names one. `settings` are what `Recorder.open` takes:
    `version`, `migrations`, `model`. Copies are opened; the files stay as they are.

    Raises AssertionError, which names the file, for one that does not reach the version, and where
    there is no recording at all.
    """
    files = [each for each in sorted(Path(folder).iterdir()) if _is_recording(each)]
    if not files:
        raise AssertionError(f"there is no recording in {folder}")
    for file in files:
        with tempfile.TemporaryDirectory() as place:
            # A recording may be several files, such as its history or where it goes on.
            copy = shutil.copytree(folder, Path(place) / "copy") / file.name
            for found in _sessions_in(copy, settings):
                try:
                    before, state = _run_forward(_location(copy), found)
                except TtdbgError as error:
                    told = f"{error.message} ({error.hint})" if error.hint else error.message
                    raise AssertionError(f"{file.name}: {told}") from error
                except AssertionError as error:
                    raise AssertionError(f"{file.name}: {error}") from error
                yield file.name, before, state


def _is_recording(path: Path) -> bool:
    return path.is_file() and path.suffix in {*_FILES, *_DATABASES}


def _location(path: Path) -> str:
    return f"sqlite:///{path}" if path.suffix in _DATABASES else str(path)


def _sessions_in(path: Path, settings: Settings) -> list[Settings]:
    """Give the settings by which each session of a file is opened."""
    if path.suffix not in _DATABASES or "session" in settings:
        return [settings]
    from tt_debugger.formats.recording_sqlite import STORE

    store = STORE.open(str(path))
    try:
        named = [tenant_and_session(each) for each in store.sessions()]
    finally:
        store.close()
    return [{**settings, "tenant": tenant, "session": session} for tenant, session in named]


def _run_forward(location: str, settings: Settings) -> tuple[int, Any]:
    """Give the version that a recording has, and its state once it was opened."""
    # The recorder knows all the rest of this package.
    from tt_debugger.record.recorder import Recorder

    before = _end_of(location, settings).version
    with Recorder.open(location, **settings) as recorder:
        if recorder.read_only is not None:
            raise AssertionError(recorder.read_only)
        state = recorder.state
    after, wanted = _end_of(location, settings).version, settings.get("version", 1)
    if after != wanted:
        raise AssertionError(f"its state has version {after} after all, not {wanted}")
    return before, state


def _end_of(location: str, settings: Settings) -> Restored:
    """Give the end of a recording as it stands there."""
    options = Options(settings.get("session", DEFAULT_SESSION), settings.get("tenant", ""))
    records = opened(location, options)
    try:
        end = None if records.header is None else restored(records.newest_first())
    finally:
        records.close()
    if isinstance(end, Restored):
        return end
    raise AssertionError("no state can be read of it")
