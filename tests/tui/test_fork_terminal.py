"""The Fork screen in a real terminal: an editor is lent it, and nothing hostile reaches it."""

from __future__ import annotations

import pytest
from builders import PI_HEADER, jsonl, pi, user
from terminal import FULL_SCREEN, transgressions
from tui.test_terminal import ESCAPE, EVIL, Browsing, opened


@pytest.fixture
def places(tmp_path):
    """A session that attacks the terminal, and an editor that says where it was."""
    session = tmp_path / "sessions" / "talk.jsonl"
    session.parent.mkdir()
    evil = EVIL.replace("\x00", "")
    session.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv"}, pi("aaaa", None, user("hi")), pi("b", "aaaa", user(evil))
        )
    )
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho IN THE EDITOR\nprintf "%s" "from outside" > "$1"\n'
                      'touch -d 2030-01-01 "$1"\n')  # fmt: skip
    editor.chmod(0o700)
    return session, {
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "VISUAL": str(editor),
    }


def test_a_text_is_edited_outside_and_written(places):
    session, environment = places
    with opened(session, **environment) as terminal:
        browsing = Browsing(terminal)
        browsing.until("2/2")
        browsing.press(b"f", "read back")
        browsing.press(b"2", "type what is to be said")
        browsing.press(b"\x07", "IN THE EDITOR")
        browsing.until("this can be written")
        browsing.press(b"\x13", "the fork is written")
        browsing.press(ESCAPE, "lists all forks")
        terminal.send(b"q")
        assert terminal.wait() == 0
    (fork,) = (each for each in session.parent.iterdir() if each != session)
    assert '"from outside"' in fork.read_text()


def test_hostile_content_that_is_forked_does_not_act(places):
    session, environment = places
    with opened(session, **environment) as terminal:
        browsing = Browsing(terminal)
        browsing.until("2/2")
        browsing.press(b"f", "read back")
        browsing.press(b"4", "this can be written")
        for way in (b"5", b"6"):
            browsing.press(ESCAPE + way, "making the draft")
            browsing.until("this can be written")
        browsing.press(b"\x13", "the fork is written")
        browsing.press(b"U", "forks made by ttdbg")
        browsing.press(b"\r", "any other key")
        browsing.press(b"y", "undone")
        terminal.send(ESCAPE + b"q")
        assert terminal.wait() == 0
        assert transgressions(terminal.output, FULL_SCREEN) == []
    assert list(session.parent.iterdir()) == [session]
