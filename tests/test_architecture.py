"""The layers hold: as written in pyproject.toml, and as Python finds them when it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_files import SAMPLES
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parent.parent

HEAVY = frozenset(
    (
        "deepdiff",
        "jmespath",
        "psycopg",
        "rapidfuzz",
        "redis",
        "sqlite3",
        "sqlite_utils",
        "textual",
        "watchfiles",
    )
)
"""Packages that only their own commands may load."""

LOADED = """
import json, sys
before = set(sys.modules)
from tt_debugger.cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(json.dumps([code, sorted({each.partition(".")[0] for each in set(sys.modules) - before})]),
      file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """Give the packages that a command line loads in a fresh Python."""
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, check=True, timeout=60
    )
    code, packages = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0
    return set(packages)


def test_the_import_contracts_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))

    status = lint_imports(no_cache=True)

    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize("sample", ["pi.jsonl", "tau.jsonl"])
@pytest.mark.parametrize("command", ["log", "show", "replay", "doctor"])
def test_a_command_that_reads_loads_no_heavy_package(command: str, sample: str) -> None:
    packages = loaded(command, str(SAMPLES / sample))

    assert packages & HEAVY == set()
    assert "rich" in packages


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            [command, str(SAMPLES / "pi.jsonl"), "--json"]
            for command in ("log", "show", "replay", "doctor")
        ),
        ["formats", "--json"],
        ["--version"],
        ["--help"],
    ],
)
def test_json_help_and_version_load_not_even_rich(arguments: list[str]) -> None:
    assert loaded(*arguments) & (HEAVY | {"rich", "asyncio"}) == set()


def test_a_session_is_read_without_the_package_of_the_agent_that_wrote_it() -> None:
    expected = {"tt_debugger", "click", "msgspec", "typing_extensions"}
    packages = loaded("show", str(SAMPLES / "tau.jsonl"), "--json")

    assert packages - expected - set(sys.stdlib_module_names) == set()


def test_importing_the_package_starts_nothing_and_prints_nothing() -> None:
    script = (
        "import pkgutil, importlib, threading, tt_debugger\n"
        "skipped = ('tt_debugger.__main__',)\n"
        "for each in pkgutil.walk_packages(tt_debugger.__path__, 'tt_debugger.'):\n"
        "    each.name in skipped or importlib.import_module(each.name)\n"
        "assert threading.active_count() == 1\n"
    )
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
        timeout=60,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
