"""What files tell of tokens and dollars: any value may stand there."""

from __future__ import annotations

from typing import Any

import pytest

from tt_debugger.formats.shared.tokens import counted_tokens, told_dollars

NO_NUMBERS: tuple[Any, ...] = (None, True, "12", [], {}, float("nan"))


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (12, 12),
        (12.9, 12),
        (1 << 40, 1 << 40),
        ((1 << 40) + 1, 0),
        (float("inf"), 0),
        (-1, 0),
        *((each, 0) for each in NO_NUMBERS),
    ],
)
def test_a_count_is_a_number_of_tokens_that_a_call_can_use(value: Any, count: int):
    found = counted_tokens(value)

    assert (found, type(found)) == (count, int)


@pytest.mark.parametrize(
    ("value", "dollars"),
    [
        (0, 0.0),
        (0.25, 0.25),
        (2, 2.0),
        (1e9, None),
        (float("inf"), None),
        (-0.5, None),
        *((each, None) for each in NO_NUMBERS),
    ],
)
def test_a_cost_is_a_sum_that_a_call_can_cost(value: Any, dollars: float | None):
    assert told_dollars(value) == dollars
