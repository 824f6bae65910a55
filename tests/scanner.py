"""A scanner of secrets that others wrote, kingfisher, where it is installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

needs_kingfisher = pytest.mark.skipif(
    find_spec("kingfisher_sdk") is None, reason="kingfisher-secret-scanner is not installed"
)


def found_in(text: str) -> list[tuple[str, str]]:
    """Give what kingfisher finds in a text, each by its rule; it asks nobody else."""
    findings: list[Any] = _scanner().scan(text)
    return [(each.rule_id, each.secret) for each in findings]


@cache
def _scanner() -> Any:
    from kingfisher_sdk import Rules, Scanner

    return Scanner(Rules(cache=False))
