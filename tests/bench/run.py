"""Measures ttdbg beside the obvious ways to build the same; run by hand, collected by nothing.

python tests/bench/run.py [NAME ...] [--rounds N] [--quick] [--json]
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]
    from bench.command import main

    main()
