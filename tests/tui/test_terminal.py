"""The third wall: what a real terminal receives while a hostile session is browsed."""

import json
import os
import re
import signal
import sys

import pytest
from terminal import FULL_SCREEN, Terminal, clipboard, copying, plain, transgressions
from tui.driving import SAMPLES

EVIL = (
    "osc52 \x1b]52;c;U0VDUkVU\x07 title \x1b]0;pwned\x07 link \x1b]8;;http://e.invalid\x1b\\x "
    "clear \x1b[2J\x1b[H c1 \x9b2J\x9d52;c;eA==\x9c dcs \x1bP1$r0m\x1b\\ apc \x1b_Gf=100\x1b\\ "
    "query \x1b[6n\x1b[c hide \rgone\x08\x08 nul \x00 reset \x1bc bidi \u202ebad\u202c "
    "zero \u200b tag \U000e0041 pile a" + "\u0301" * 200 + " markup [@click=app.quit]x[/] [/no]"
)


def hostile_session(path):
    """Write a Pi session in which every text that can be shown attacks the terminal."""
    header = {"type": "session", "version": 3, "id": EVIL, "cwd": EVIL, "timestamp": EVIL}
    call = {"type": "toolCall", "id": EVIL, "name": EVIL, "arguments": {EVIL: EVIL, "l": [EVIL]}}
    messages = [
        {"role": "user", "content": EVIL},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": EVIL}, call]}
        | {"model": EVIL, "provider": EVIL, "stopReason": "error", "errorMessage": EVIL},
        {"role": "toolResult", "toolCallId": EVIL, "toolName": EVIL, "isError": True}
        | {"content": [{"type": "text", "text": EVIL}, {"type": "image", "mimeType": EVIL}]},
        {"role": EVIL, "content": {EVIL: EVIL}},
    ]
    entries = [{"type": "message", "message": message} for message in messages]
    entries += [
        {"type": EVIL, EVIL: EVIL},
        {"type": "session_info", "name": EVIL},
        {"type": "model_change", "provider": EVIL, "modelId": EVIL},
        {"type": "custom_message", "customType": EVIL, "content": EVIL},
        {"type": "label", "targetId": f"{EVIL}0", "label": EVIL},
        {"type": "compaction", "summary": EVIL, "firstKeptEntryId": EVIL},
    ]
    lines = [json.dumps(header)]
    for number, entry in enumerate(entries):
        parent = f"{EVIL}{number - 1}" if number else None
        lines.append(json.dumps(entry | {"id": f"{EVIL}{number}", "parentId": parent}))
    lines.insert(4, EVIL.replace("\n", ""))
    path.write_text("\n".join(lines) + "\n", errors="surrogatepass")
    return path


class Browsing:
    """A terminal in which the UI is open: types keys, and reads until something is shown."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.seen = 0

    def until(self, text):
        """Read on until a text is shown that was not looked at before."""
        shown = self.terminal.read_until(lambda output: text in plain(output[self.seen :]))
        self.seen = len(shown)

    def press(self, keys, shows):
        self.seen = len(self.terminal.output)
        self.terminal.send(keys)
        self.until(shows)


def opened(location, size=(120, 36), **environment):
    """Open a location in a terminal."""
    columns, rows = size
    command = [sys.executable, "-m", "tt_debugger", "open", str(location)]
    return Terminal(command, columns=columns, rows=rows, environment=environment)


ESCAPE = b"\x1b[27u"
"""Escape, as a terminal sends it that tells it from the beginning of a sequence."""


def see_all_tabs(browsing, rows):
    """Show all tabs of as many rows as have a line of their own."""
    browsing.press(b"v", "every checkpoint")
    browsing.press(b"every", "every checkpoint")
    browsing.press(b"\r", f"/{rows}")
    for _ in range(rows // 2):
        browsing.terminal.send(b"123451")
        browsing.press(b"j", f"/{rows}")
    browsing.press(b"3", "State]")
    browsing.press(b"\tl", "list")
    browsing.press(b"\t1", "Changes]")


def see_all_screens(browsing, rows):
    """Show each screen that lies over the Timeline, with content in it where it has a place."""
    browsing.press(b"/", "search:")
    browsing.press(b"osc52\r", "osc52: ")
    for open_it, shows in (
        (b"?", "next row"),
        (b"\x10", "ype to narrow down"),
        (b"v", "every checkpoint"),
        (b"T", "high-contrast"),
    ):
        browsing.press(open_it, shows)
        browsing.press(ESCAPE, f"/{rows} ")
    browsing.press(b"'", "go to mark")
    browsing.terminal.send(ESCAPE)
    for typed, shows in ((b"osc52", "row "), (b"row=99", "99")):
        browsing.press(b":", "n id, @, root")
        browsing.press(typed, shows)
        browsing.press(ESCAPE, f"/{rows} ")
    browsing.press(b"m", "with the letter")
    browsing.press(b"k", "is marked")


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=str)
def test_browsing_a_hostile_session_sends_nothing_but_our_own_sequences(tmp_path, size):
    path = hostile_session(tmp_path / "hostile\u202e.jsonl")
    with opened(f"{path}#row=1", size) as terminal:
        browsing = Browsing(terminal)
        browsing.until("1/11")
        see_all_tabs(browsing, 11)
        see_all_screens(browsing, 11)
        terminal.send(b"q")
        assert terminal.wait() == 0
        assert "U0VDUkVU" in plain(terminal.output)
        assert transgressions(terminal.output, FULL_SCREEN) == []


def test_what_is_copied_is_the_only_thing_that_reaches_the_clipboard(tmp_path):
    path = hostile_session(tmp_path / "hostile.jsonl")
    with opened(f"{path}#row=1") as terminal:
        browsing = Browsing(terminal)
        browsing.until("1/11")
        browsing.press(b"2", "Message]")
        browsing.press(b"y", "copy:")
        browsing.press(b"y", "copied")
        terminal.send(b"q")
        assert terminal.wait() == 0
        (sent,) = transgressions(terminal.output, FULL_SCREEN)
        assert sent.what == f"OSC {clipboard(EVIL)!r}"
        assert transgressions(terminal.output, copying(EVIL)) == []


def test_the_sessions_of_a_hostile_folder_are_listed_opened_and_left(tmp_path):
    for name in ("evil\u202e\x1b]0;pwned\x07\x9b2J", "other"):
        hostile_session(tmp_path / f"{name}.jsonl")
    (tmp_path / "gone\x1b[2J.jsonl").write_text("no session\n")
    with opened(tmp_path) as terminal:
        browsing = Browsing(terminal)
        browsing.until("1/2")
        browsing.press(b"j", "2/2")
        browsing.press(b"?", "next session")
        browsing.press(ESCAPE, "2/2")
        browsing.press(b"f", "filter /")
        browsing.press(b"osc52", "1/2")
        browsing.press(ESCAPE, "rescan")
        browsing.press(b"\r", "11/11")
        for file in tmp_path.glob("*.jsonl"):
            file.unlink()
        browsing.press(b"q", "sessions")
        browsing.press(b"\r", "not done")
        browsing.press(ESCAPE, "sessions")
        terminal.send(b"q")
        assert terminal.wait() == 0
        assert transgressions(terminal.output, FULL_SCREEN) == []


@pytest.mark.parametrize("location", ["pi.jsonl", ""])
def test_without_colour_only_attributes_are_sent(location):
    with opened(SAMPLES / location, NO_COLOR="1") as terminal:
        browsing = Browsing(terminal)
        browsing.until("63/63" if location else "other files")
        browsing.press(b"?", "keys and signs")
        browsing.press(ESCAPE, "/63" if location else "other files")
        terminal.send(b"q")
        assert terminal.wait() == 0
        said = re.findall(rb"\x1b\[([\d;:]*)m", terminal.output)
        numbers = {int(each) for sgr in said for each in re.split(rb"[;:]", sgr) if each}
        # 39 and 49 are the terminal's own two colours.
        assert {each for each in numbers if each >= 30} <= {39, 49}


@pytest.mark.parametrize("location", ["pi.jsonl", ""])
def test_a_terminal_that_is_not_utf_8_gets_plain_ascii(location):
    environment = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with opened(SAMPLES / location, **environment) as terminal:
        browsing = Browsing(terminal)
        browsing.until("63/63" if location else "other files")
        over = [(b"?", "keys and signs")]
        if location:
            over += [(b":", "n id, @, root"), (b"v", "every checkpoint"), (b"y", "copy:")]
        for open_it, shows in over:
            browsing.press(open_it, shows)
            browsing.press(ESCAPE, "/63" if location else "other files")
        if location:
            for tab in b"2345":
                terminal.send(bytes([tab]))
            browsing.press(b"1", "Changes]")
        terminal.send(b"q")
        assert terminal.wait() == 0
        others = sorted({each for each in terminal.output.decode() if not each.isascii()})
        assert others == []


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_to_end_leaves_the_terminal_as_it_was(ending):
    command = [sys.executable, "-m", "tt_debugger", "open", str(SAMPLES / "pi.jsonl")]
    with Terminal(command) as terminal:
        terminal.read_until(lambda output: "63/63" in plain(output))
        os.kill(terminal.pid, getattr(signal, ending))
        assert terminal.wait() == 128 + getattr(signal, ending)
        for mode in (b"1049", b"1000", b"2004"):
            shown, hidden = b"\x1b[?" + mode + b"h", b"\x1b[?" + mode + b"l"
            assert terminal.output.rfind(hidden) > terminal.output.rfind(shown) >= 0
        assert terminal.output.rfind(b"\x1b[?25h") > terminal.output.rfind(b"\x1b[?25l")


def test_when_the_terminal_is_gone_the_program_goes_too():
    command = [sys.executable, "-m", "tt_debugger", "open", str(SAMPLES / "pi.jsonl")]
    with Terminal(command) as terminal:
        terminal.read_until(lambda output: "63/63" in plain(output))

        assert terminal.hang_up() == 128 + signal.SIGHUP
