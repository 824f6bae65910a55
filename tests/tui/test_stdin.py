"""The UI of what was piped in: keys come from the terminal, which is left as it was."""

import shlex
import sys

import pytest
from terminal import FULL_SCREEN, Terminal, transgressions
from tui.driving import SAMPLES
from tui.test_terminal import Browsing

OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp("sh", ["sh", "-c", sys.argv[1]])
"""


def piped(command: str) -> Terminal:
    return Terminal([sys.executable, "-c", OWN_TERMINAL, command], columns=120, rows=36)


@pytest.mark.parametrize("quits", [b"q", b"\x03"])
def test_what_is_piped_in_is_browsed_by_keys(quits):
    ttdbg = f"{shlex.quote(sys.executable)} -m tt_debugger open -"
    sample = shlex.quote(str(SAMPLES / "pi.jsonl"))
    with piped(f"stty -a; cat {sample} | {ttdbg}; echo ended $?; stty -a") as terminal:
        browsing = Browsing(terminal)
        browsing.until("row 63/63")
        browsing.press(b"k", "row 62/63")
        terminal.send(quits)
        browsing.until("ended 0")
        code = terminal.wait()

    before, _, rest = terminal.output.partition(b"\x1b")
    after = rest.rpartition(b"ended 0\r\n")[2]
    assert code == 0
    assert after == before
    assert transgressions(b"\x1b" + rest, FULL_SCREEN) == []


def test_at_a_terminal_nothing_is_waited_for():
    with piped(f"{shlex.quote(sys.executable)} -m tt_debugger open -") as terminal:
        assert terminal.wait() == 2

    assert b"nothing is piped in" in terminal.output
