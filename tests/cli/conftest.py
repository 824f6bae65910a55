"""How tests of the command line ask: in this process, with what came out on each stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cli.homes import NOW, furnish
from hostile_files import SAMPLES

from tt_debugger.cli.commands import ls
from tt_debugger.cli.main import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout."""
        return json.loads(self.out)

    @property
    def stream(self) -> list[dict[str, Any]]:
        """The objects on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def ttdbg(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Runs a command line and gives its answer."""

    def run(*arguments: object) -> Answer:
        code = main([str(each) for each in arguments])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def in_samples(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder above sample_sessions as the current one, so that answers name short paths."""
    monkeypatch.chdir(SAMPLES.parent)
    return Path("sample_sessions")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The sessions of a made-up home, with the current folder elsewhere and a cache of its own."""
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(here)
    monkeypatch.setattr(ls, "clock", lambda: NOW)
    return furnish(home)
