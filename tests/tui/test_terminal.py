"""The third wall: what a real terminal receives while a hostile session is browsed."""

import json
import os
import signal
import sys

import pytest
from terminal import FULL_SCREEN, Terminal, plain, transgressions
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


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=str)
def test_browsing_a_hostile_session_sends_nothing_but_our_own_sequences(tmp_path, size):
    path = hostile_session(tmp_path / "hostile\u202e.jsonl")
    columns, rows = size
    command = [sys.executable, "-m", "tt_debugger", "open", f"{path}#row=1"]
    with Terminal(command, columns=columns, rows=rows) as terminal:
        terminal.read_until(lambda output: "1/11" in plain(output))
        for row in range(2, 12):
            for tab in b"123451":
                terminal.send(bytes([tab]))
            since = len(terminal.output)
            terminal.send(b"j")
            terminal.read_until(lambda output, n=since, row=row: f"{row}/11" in plain(output[n:]))
        terminal.send(b"3\tl?")
        terminal.read_until(lambda output: "next row" in plain(output))
        terminal.send(b"qq")
        assert terminal.wait() == 0
        assert "U0VDUkVU" in plain(terminal.output)
        assert transgressions(terminal.output, FULL_SCREEN) == []


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
