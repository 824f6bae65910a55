"""What can be copied from the Timeline, by the key that follows `y`."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import msgspec

from tt_debugger.storage.stdin import STDIN
from tt_debugger.tui.widgets.inspector import Copyable

ASKED = "copy:  y value   p path   r ref   c command   (Esc: nothing)"
MOST_BYTES = 74_994
"""Bytes that xterm and others take in one OSC 52; a longer text may be dropped by the terminal."""


class Copied(msgspec.Struct, frozen=True):
    """A text for the clipboard, and how to say what it is."""

    text: str
    what: str
    is_short: bool = True
    """Whether to say the text itself too."""

    @property
    def said(self) -> str:
        """The sentence that tells what was copied."""
        size = len(self.text.encode(errors="replace"))
        note = "" if size <= MOST_BYTES else f"; {size:,} bytes, which some terminals refuse"
        text = f": {self.text}" if self.is_short else ""
        return f"copied {self.what}{text}{note}"


def copied(key: str, seen: Copyable, location: str, ref: str) -> Copied | None:
    """Give what a key copies, None for a key that copies nothing."""
    match key:
        case "y" | "v":
            return Copied(seen.value, seen.what, is_short=False)
        case "p":
            return Copied(seen.path, "path") if seen.path else None
        case "r":
            return Copied(f"{location}#{ref}", "ref")
        case "c":
            return command("show", f"{location}#{ref}")
        case _:
            return None


def command(verb: str, *refs: str, options: str = "") -> Copied:
    """Give the command that asks the same; its paths lead there from any folder."""
    quoted = " ".join(shlex.quote(_from_anywhere(ref)) for ref in refs)
    return Copied(f"{_program()} {verb} {quoted}{options}", "command")


def resuming(text: str) -> Copied:
    """Give the command with which an agent goes on from a fork."""
    safe = text.encode(errors="replace").decode()
    return Copied(safe, "command", is_short="\n" not in text)


def _from_anywhere(ref: str) -> str:
    location, sign, point = ref.rpartition("#")
    is_path = location and location != STDIN
    return f"{Path(location).absolute()}{sign}{point}" if is_path else ref


def _program() -> str:
    """Give the name by which a shell finds this program: as it was called, if it was by a path."""
    called = sys.argv[0]
    is_found = shutil.which("ttdbg") is not None or Path(called).name != "ttdbg"
    return "ttdbg" if is_found else shlex.quote(str(Path(called).absolute()))
