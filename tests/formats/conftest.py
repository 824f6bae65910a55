"""What the tests of several formats need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl, load, replay_of

from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay


@pytest.fixture
def open_as(tmp_path: Path) -> Iterator[Any]:
    """Open records as a file of a format: give its session and replay."""
    stores: list[Any] = []

    def open_file(name: str, *records: Any) -> tuple[Session, Replay]:
        path = tmp_path / "a-name.jsonl"
        path.write_bytes(jsonl(*records))
        store, loaded = load(path, name)
        stores.append(store)
        return loaded.session, replay_of(store, loaded.session)

    yield open_file
    for store in stores:
        store.close()
