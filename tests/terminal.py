"""A terminal that trusts nobody: runs a program under a pty and judges every byte it was sent.

`run` captures what a program writes to a terminal of a fixed size; `Terminal` also answers it.
`transgressions` reads the capture by a strict grammar: printable text and the sequences that a
`Grammar` allows, nothing else. The judgement of what is printable is made here anew, apart from
`tt_debugger.core.text`, so that a hole in the one is seen by the other.
"""

from __future__ import annotations

import base64
import os
import re
import select
import signal
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))
_HIDDEN_OTHERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_TOKEN = re.compile(
    r"\x1b\[(?P<csi>[0-?]*[ -/]*[@-~])"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1bP(?P<dcs>[^\x1b]*)\x1b\\"
    r"|\x1b(?P<escape>[ -/]*[0-OQ-WYZ\\`-~])"
    r"|(?P<text>[ -~]+|[^\x1b])",
    re.DOTALL,
)


class Grammar(NamedTuple):
    """What may be sent beside printable text: regular expressions that match a whole sequence.

    Of a CSI that is what follows `ESC [`; of an OSC and DCS what stands between introducer and
    terminator; of any other escape what follows ESC.
    """

    csi: tuple[str, ...] = ()
    osc: tuple[str, ...] = ()
    dcs: tuple[str, ...] = ()
    escape: tuple[str, ...] = ()
    controls: str = "\r\n"
    longest_pile: int = 16
    """Combining marks that one character may carry before it is an attack."""


PIPE = Grammar(controls="\n")
"""No escape at all."""

JSON = PIPE._replace(longest_pile=1 << 30)
"""The same, for data that nobody draws."""

LINES = Grammar(csi=(r"[\d;]*m",))
"""Lines of coloured text, as `ttdbg log` prints them: SGR only."""

FULL_SCREEN = Grammar(
    csi=(
        r"[\d;:]*m",
        r"\d*;?\d*H",  # cursor position
        r"\d*[ABCDGJK]",  # cursor moves, erase
        r"\?(?:7|25|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2027|2031|2048)[hl]",
        r"\?(?:2026|2048)\$p",  # asks which modes the terminal knows
        r"[<>=?]?\d*u",  # keyboard protocol
        r"\?996n",  # asks for the colour scheme
        r">\d*(?:;\d*)?m",
    ),
    osc=(r"22;[a-z-]*",),  # shape of the pointer
    escape=(r"[78=>]",),
)
"""What Textual itself sends; nothing of it carries content."""


def copying(text: str, grammar: Grammar = FULL_SCREEN) -> Grammar:
    """Give a grammar that also lets this very text be put into the clipboard."""
    return grammar._replace(osc=(*grammar.osc, re.escape(clipboard(text))))


def clipboard(text: str) -> str:
    """Give what stands in the OSC that puts a text into the clipboard."""
    return f"52;c;{base64.b64encode(text.encode()).decode()}"


class Transgression(NamedTuple):
    """Something that was sent and is not allowed: where, what, and what stood around it."""

    offset: int
    what: str
    around: str


def transgressions(data: bytes, grammar: Grammar) -> list[Transgression]:
    """Give everything in the data that the grammar does not allow; offsets are in characters."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        around = ascii(data[max(error.start - 20, 0) : error.start + 20])
        return [Transgression(error.start, "bytes that are no UTF-8", around)]
    found: list[Transgression] = []
    place = pile = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        what = "ESC without a sequence" if token is None else _wrong(token, grammar)
        is_mark = unicodedata.category(text[place]) in {"Mn", "Me"}
        pile = pile + 1 if is_mark else 0
        if pile == grammar.longest_pile + 1:
            what = "a pile of combining marks"
        if what:
            around = ascii(text[max(place - 20, 0) : place + 20])
            found.append(Transgression(place, what, around))
        place = token.end() if token else place + 1
    return found


def _wrong(token: re.Match[str], grammar: Grammar) -> str:
    for kind in ("csi", "osc", "dcs", "escape"):
        sequence = token[kind]
        if sequence is not None:
            allowed = getattr(grammar, kind)
            fits = any(re.fullmatch(each, sequence) for each in allowed)
            return "" if fits else f"{kind.upper()} {sequence!r}"
    is_allowed = all(map(is_printable, token[0])) or token[0] in grammar.controls
    return "" if is_allowed else f"raw {token[0]!a}"


def is_printable(character: str) -> bool:
    """Tell whether a terminal draws the character, and people can see that it does."""
    hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES
    return not hidden and character not in _HIDDEN_OTHERS


def plain(data: bytes) -> str:
    """Give the text that was sent, without any sequence and carriage return."""
    text = _TOKEN.sub(lambda token: token["text"] or "", data.decode(errors="ignore"))
    return text.replace("\r", "")


class Terminal:
    """A pty of a fixed size with a program in it. It ends with the program, or at the latest here.

    Nothing is waited for by time: `read_until` blocks until the output satisfies, or the program
    is gone. The deadline only turns a hang into a failure.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
        deadline: float = 60.0,
    ) -> None:
        import fcntl
        import pty
        import termios

        self.output = b""
        self._deadline = deadline
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is the test's own
                command,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env=_environment() | dict(environment or {}),
                start_new_session=True,
            )
        finally:
            os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._ours)

    @property
    def pid(self) -> int:
        """The program's process."""
        return self._process.pid

    def send(self, keys: bytes) -> None:
        """Type keys, or answer a query."""
        os.write(self._ours, keys)

    def read_until(self, satisfied: Callable[[bytes], bool]) -> bytes:
        """Read until all output so far satisfies. Raises where the program ends or hangs first."""
        while not satisfied(self.output):
            if not self._read():
                message = f"the program ended before that; it wrote {self.output[-2000:]!r}"
                raise AssertionError(message)
        return self.output

    def hang_up(self) -> int:
        """Take the terminal away; give the exit code of the program."""
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self._ours)
        os.close(nothing)
        return self._process.wait(self._deadline)

    def wait(self) -> int:
        """Read until the program ends; give its exit code."""
        while self._read():
            pass
        return self._process.wait(self._deadline)

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._ours], [], [], self._deadline)
        if not ready:
            message = f"silent for {self._deadline:g} s after {self.output[-2000:]!r}"
            raise AssertionError(message)
        try:
            part = os.read(self._ours, 1 << 16)
        except OSError:  # what Linux says where the other end is closed
            part = b""
        self.output += part
        return part


def run(
    *command_lines: Sequence[str],
    columns: int = 80,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Run `ttdbg` in a terminal, with one or several command lines one after the other.

    Gives the exit code of one, 0 for several; and all that the terminal received.
    """
    command = [sys.executable, "-m", "tt_debugger", *command_lines[0]]
    if len(command_lines) > 1:
        script = (
            f"from tt_debugger.cli.main import main\nfor each in {command_lines!r}: main(each)"
        )
        command = [sys.executable, "-c", script]
    with Terminal(command, columns=columns, rows=rows, environment=environment) as terminal:
        return terminal.wait(), terminal.output


def _environment() -> dict[str, str]:
    """Give an environment in which nothing of the tester's own taste shows."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
