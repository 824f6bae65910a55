"""Painting: how long it takes from the start of a program until a terminal shows something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from bench.empty_app import WORDS_SHOWN
from bench.programs import ENVIRONMENT
from bench.typist import COLUMNS, ROWS
from terminal import Terminal

LONGEST = 300.0
"""Seconds after which a program is taken not to show anything."""


def environment(home: str, cache: str) -> dict[str, str]:
    """Give what a program is told: where its home and its cache are."""
    # What is compiled may be used.
    return {
        **ENVIRONMENT,
        "COLORTERM": "truecolor",
        "HOME": home,
        "PYTHONDONTWRITEBYTECODE": "",
        "XDG_CACHE_HOME": cache,
    }


def painted(
    command: Sequence[str],
    cache: str,
    shows: Callable[[bytes], bool],
    *,
    home: str | None = None,
    longest: float = LONGEST,
) -> float:
    """Start a program in a terminal; give the seconds until it shows what is waited for."""
    # The home of a person may hold settings and histories.
    told = environment(cache if home is None else home, cache)
    began = perf_counter()
    with Terminal(
        command, columns=COLUMNS, rows=ROWS, environment=told, deadline=longest
    ) as terminal:
        # One that goes on painting without it would never be silent.
        terminal.read_until(lambda output: shows(output) or perf_counter() - began > longest)
        took = perf_counter() - began
    if took > longest:
        message = f"{command} showed none of it in {longest:g} s"
        raise AssertionError(message)
    return took


def shows_words(output: bytes) -> bool:
    """Tell whether the empty app is painted."""
    return WORDS_SHOWN.encode() in output
