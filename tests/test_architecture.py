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
print(json.dumps([code, sorted(set(sys.modules) - before)]), file=sys.stderr)
"""

NEEDED_LATER = frozenset(
    (
        "markdown_it",
        "pygments",
        "rapidfuzz",
        "rich.traceback",
        "tt_debugger.tui.screens.sessions",
        "tt_debugger.views.message",
    )
)
"""What the first rows on the screen do not wait for."""

OPENED = """
import json, sys
from tt_debugger.core.refs import Fragment
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.screens.panes import PanesScreen

opened, loaded = PanesScreen.on_opened, []

def on_opened(self, message):
    opened(self, message)
    loaded.extend(sys.modules)
    self.app.exit()

PanesScreen.on_opened = on_opened
TtdbgApp(sys.argv[1], Fragment(), {}).run(headless=True)
print(json.dumps(loaded))
"""


def loaded(*arguments: str) -> set[str]:
    """Give the packages that a command line loads in a fresh Python."""
    return {each.partition(".")[0] for each in modules(*arguments)}


def modules(*arguments: str, ends_with: int = 0) -> set[str]:
    """Give the modules that a command line loads in a fresh Python."""
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, check=True, timeout=60
    )
    code, names = json.loads(ran.stderr.splitlines()[-1])
    assert code == ends_with
    return set(names)


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


@pytest.mark.parametrize("sample", ["pi.jsonl", "tau.jsonl"])
def test_other_packages_are_looked_for_only_where_no_format_of_ours_has_a_claim(
    sample: str, tmp_path: Path
) -> None:
    asking = "importlib.metadata"
    (tmp_path / "notes.md").write_text("# Notes\n")

    assert asking not in modules("log", str(SAMPLES / sample))
    assert asking in modules("log", str(tmp_path / "notes.md"), ends_with=3)
    assert asking in modules("formats", str(SAMPLES / sample))


def test_what_a_file_does_not_need_is_not_loaded_for_it() -> None:
    needed_by_stdin_and_marks = {"tempfile", "platformdirs"}

    assert loaded("log", str(SAMPLES / "pi.jsonl"), "--json") & needed_by_stdin_and_marks == set()


def test_the_first_rows_are_on_the_screen_before_what_only_later_rows_and_keys_need() -> None:
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", OPENED, str(SAMPLES / "pi.jsonl")],
        capture_output=True,
        check=True,
        timeout=60,
    )
    names = set(json.loads(ran.stdout))

    assert names & NEEDED_LATER == set()
    assert "tt_debugger.tui.screens.timeline" in names


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
