"""Whoever exports: what would give them away, as this machine tells it."""

from __future__ import annotations

import getpass
import os
import socket
from pathlib import Path

from tt_debugger.core.redact.owner import Owner, secrets_of


def owner_here() -> Owner:
    """Give the owner of this process: home, names, and the secrets in the environment."""
    return Owner(_home(), _user(), socket.gethostname(), secrets_of(os.environ))


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""
