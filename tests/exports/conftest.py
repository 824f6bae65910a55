"""What tests of exports have in common: origins, and the sample session as a subject."""

from __future__ import annotations

import pytest

from tt_debugger.exports.subjects import Origin

CHECKPOINT = {
    "id": "a",
    "parent": None,
    "kind": "message",
    "role": "user",
    "row": 1,
    "step": None,
    "time": "2026-01-31T12:00:00.000Z",
    "summary": "hi",
    "line": 1,
    "offset": 0,
    "length": 10,
    "usage": None,
}


@pytest.fixture
def origin() -> Origin:
    return Origin("s.jsonl", "pi", "s", "A title", "/work", dict(CHECKPOINT))
