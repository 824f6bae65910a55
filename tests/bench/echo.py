"""The floor of any latency: a loop that answers each cursor key with its row's marker.

python -m bench.echo ROW
"""

from __future__ import annotations

import os
import sys
import tty

from bench.sessions import marker


def main() -> None:
    """Move a row up and down by cursor keys until the terminal goes away."""
    row = int(sys.argv[1])
    tty.setraw(0)
    key = b""
    while key != b"q":
        os.write(1, f"\x1b[5;5H{marker(row)}".encode())
        key = os.read(0, 16)
        row += {b"\x1b[B": 1, b"\x1b[A": -1}.get(key, 0)


if __name__ == "__main__":
    main()
