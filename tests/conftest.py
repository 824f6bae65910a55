"""Hypothesis profiles: `ci` repeats itself exactly, `dev` hunts anew each time.

`again` is less of `ci`, for a Python after another one that has tried all of it.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings
from servers import postgres, redis_server

__all__ = ("postgres", "redis_server")

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("again", derandomize=True, deadline=None, max_examples=12)
settings.register_profile("dev", deadline=None, max_examples=60)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

HOMES_OF_AGENTS = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCODE_DB",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "TAU_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "APPDATA",
    "CLINE_DIR",
    "COPILOT_HOME",
    "FILE_STORE_PATH",
    "GEMINI_CLI_HOME",
    "MSWEA_GLOBAL_CONFIG_DIR",
    "SWE_AGENT_TRAJECTORY_DIR",
)
"""Variables that say where agents keep their sessions."""


@pytest.fixture(autouse=True, scope="session")
def _hears_interrupts():
    """Let Ctrl-C be heard, by what is started too: a job in the background may have been deaf."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def _own_state_folder(tmp_path_factory):
    """Keep what ttdbg remembers between runs out of the home of whoever tests it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    """Look for sessions in a home of our own, never in that of whoever tests it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        for each in HOMES_OF_AGENTS:
            patch.delenv(each, raising=False)
        yield home
