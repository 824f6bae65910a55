"""Whatever is read, nothing of it is run: an audit hook sees all that happens meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import FILES, FIXTURES
from hostile_databases import write_hostile_databases
from hostile_files import SAMPLES, write_hostile_files

COMMANDS = [
    ["log", "--json"],
    ["show"],
    ["show", "--json"],
    ["show", "--resume", "--json"],
    ["replay", "--states"],
    ["doctor", "--deep"],
    ["export", "--format", "html"],
    ["diff", "#root"],
]
DATABASES = (".db", ".sqlite")


def found_in(
    folder: Path, locations: Sequence[Path], commands: Sequence[Sequence[str]], planted: str = ""
) -> list[str]:
    """Give what the hook saw while the locations were read in a process of their own."""
    own = {each: str(folder / each) for each in ("TMPDIR", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
    for each in own.values():
        Path(each).mkdir(exist_ok=True)
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "canary", json.dumps(commands), *map(str, locations)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | own | {"PLANTED": planted, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=540,
        check=True,
    )
    assert list(Path(own["TMPDIR"]).iterdir()) == [], "a private copy was left behind"
    return json.loads(ran.stderr.decode(errors="replace").splitlines()[-1])


def test_nothing_of_a_hostile_database_or_repository_is_run(tmp_path: Path) -> None:
    canary = tmp_path / "TTDBG-PWNED"
    locations = write_hostile_databases(tmp_path / "databases", canary)
    strange = tmp_path / "files"
    strange.mkdir()

    found = found_in(tmp_path, [*locations.values(), *write_hostile_files(strange)], COMMANDS)

    assert found == []
    assert not canary.exists()


def test_nothing_of_a_sample_or_fixture_is_run(tmp_path: Path) -> None:
    databases = [each for each in FIXTURES.rglob("*") if each.suffix in DATABASES]
    samples = [each for each in SAMPLES.iterdir() if each.suffix != ".py"]
    locations = sorted({*databases, *samples, *(path for _, path in FILES)})

    assert found_in(tmp_path, locations, COMMANDS[3:5]) == []


PLANTED = {
    "import webbrowser": "import",
    "exec('1')": "compile",
    "eval(compile('1', 'x', 'eval'))": "compile",
    "os.system('true')": "os.system",
    "__import__('subprocess').run(['true'])": "subprocess.Popen",
    "__import__('subprocess').run(['git', 'status'])": "subprocess.Popen",
    "__import__('subprocess').run(['git', 'log', '--ext-diff'])": "subprocess.Popen",
    "__import__('subprocess').run(['git', '-c', 'x=y', 'diff', 'log'])": "subprocess.Popen",
    "open('victim', 'w').close()": "open",
    "os.close(os.open('victim', os.O_RDWR | os.O_CREAT))": "open",
    "os.mkdir('victim')": "os.mkdir",
    "os.unlink('nothing') if os.path.exists('nothing') else os.symlink('a', 'b')": "os.symlink",
    "__import__('socket').socket().connect_ex(('127.0.0.1', 9))": "socket.__new__",
    "__import__('pickle').loads(b'cos\\nsystem\\n.')": "pickle.find_class",
    "__import__('ctypes').CDLL(None)": "ctypes.dlopen",
    "__import__('sqlite3').connect('victim.db')": "sqlite3.connect",
    "__import__('sqlite3').connect('file:victim?mode=ro', uri=True)": "sqlite3.connect",
    "__import__('shutil').rmtree('nothing', ignore_errors=True)": "shutil.rmtree",
    "__import__('marshal').loads(b'N')": "marshal.loads",
}


@pytest.mark.parametrize("planted", PLANTED)
def test_the_hook_sees_what_is_planted(tmp_path: Path, planted: str) -> None:
    guarded = f"try:\n    {planted}\nexcept Exception:\n    pass"

    found = found_in(tmp_path, [], [], guarded)

    assert PLANTED[planted] in {each.split()[0] for each in found}


def test_a_package_that_is_none_of_ours_is_seen_whoever_brought_it_in(tmp_path: Path) -> None:
    (tmp_path / "stranger_of_others.py").touch()
    planted = "sys.path.insert(0, '.'); watch.is_on = False; import stranger_of_others"

    assert found_in(tmp_path, [], [], planted) == ["stranger stranger_of_others"]
