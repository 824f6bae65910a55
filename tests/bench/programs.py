"""The programs that are measured, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
"""What lets a program find the package and the benchmarks."""


def seconds_in(module: str, *arguments: str) -> float:
    """Run a module that prints the seconds it measured."""
    done = subprocess.run(  # noqa: S603 - the command is our own
        [sys.executable, "-m", module, *arguments],
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout)
