"""A typist: presses keys in a program's terminal and stops the time until a text is painted.

The terminal answers as modern ones do that it knows synchronised output (DECRQM 2026) and that
it does not know in-band resize (2048); nothing else that is asked is answered.
"""

from __future__ import annotations

import random
import select
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from bench.programs import ENVIRONMENT
from terminal import Terminal

COLUMNS, ROWS = 160, 50
_ANSWERS = ((b"\x1b[?2026$p", b"\x1b[?2026;2$y"), (b"\x1b[?2048$p", b"\x1b[?2048;0$y"))


class Typist(Terminal):
    """A terminal with a module run in it, and somebody who waits between one key and the next."""

    def __init__(self, module: Sequence[str], cache: Path) -> None:
        super().__init__(
            [sys.executable, "-m", *module],
            columns=COLUMNS,
            rows=ROWS,
            environment=ENVIRONMENT | {"COLORTERM": "truecolor", "XDG_CACHE_HOME": str(cache)},
            deadline=120,
        )
        self._pause = random.Random(1)  # noqa: S311 - only its spread matters

    def begin(self, text: str) -> None:
        """Wait until a text is painted and nothing more is; answer what was asked."""
        self.read_until(lambda output: text.encode() in output)
        for query, answer in _ANSWERS:
            if query in self.output:
                self.send(answer)
        self.rest(0.5)

    def press(self, keys: bytes, text: str) -> tuple[float, int]:
        """Press keys; give the milliseconds until a text was painted, and all bytes drawn.

        Then wait until nothing is drawn for a while of varying length, so that no program falls
        into step with a frame rate.
        """
        wanted = text.encode()
        self.output = b""
        began = perf_counter()
        self.send(keys)
        self.read_until(lambda output: wanted in output)
        took = perf_counter() - began
        self.rest(self._pause.uniform(0.03, 0.06))
        return took * 1000, len(self.output)

    def rest(self, seconds: float) -> None:
        """Read on until nothing was drawn for so long."""
        while select.select([self._ours], [], [], seconds)[0]:
            self._read()
