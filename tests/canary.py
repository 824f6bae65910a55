"""The canary: reads locations and tells whatever happened that reading has no need of.

python tests/canary.py COMMANDS LOCATION ...

An audit hook sees what Python does: what is imported, run, opened, started, connected. What is
not on the lists below is told, and so is each package that was brought in and is none of ours. The
answer is the last line on stderr: a JSON list, empty where nothing happened.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from textwrap import indent
from typing import Any

AT_START = frozenset(each.partition(".")[0] for each in sys.modules)
"""What Python and its installation have brought in by themselves."""
OURS = frozenset(
    (
        *("tt_debugger", "msgspec", "click", "rich", "platformdirs", "jmespath", "rapidfuzz"),
        # What these bring in, and what reads compressed files and servers.
        *(
            "deepdiff",
            "orderly_set",
            "pygments",
            "markdown_it",
            "mdurl",
            "linkify_it",
            "zstandard",
        ),
        *("psycopg", "psycopg_binary", "psycopg_c", "redis", "typing_extensions"),
        # The standard library asks whether it is run by Jython, or on Windows.
        *("org", "_wmi"),
    )
)
"""Packages that may be brought in."""
NEVER = frozenset(("antigravity", "this", "webbrowser", "turtle", "idlelib", "tkinter", "pip"))
"""Modules of the standard library that nothing but an attack asks for."""
PLUMBING = frozenset(
    ("cat-file", "rev-list", "log", "diff-tree", "ls-tree", "for-each-ref", "rev-parse", "version")
)
"""What git may be asked for; `log` shows commits, never what is in them."""
NEVER_GIVEN = re.compile(r"--(ext-diff|textconv|output|upload-pack|exec|filters|show-signature)\b")
"""Options with which git runs or writes something after all."""
HARMLESS = frozenset(
    (
        *("os.listdir", "os.scandir", "glob.glob", "pathlib.Path.glob", "pathlib.Path.rglob"),
        *("object.__getattr__", "object.__setattr__", "object.__delattr__", "builtins.id"),
        *("sys._getframe", "sys._getframemodulename", "time.sleep", "code.__new__"),
        *("sqlite3.connect/handle", "gc.get_objects", "gc.get_referrers", "gc.get_referents"),
        *("cpython._PySys_ClearAuditHooks", "cpython.PyInterpreterState_Clear", "os.walk"),
        # Exports leave out what the machine is called.
        "socket.gethostname",
        *("msvcrt.get_osfhandle", "array.__new__", "locale.setlocale", "_thread.start_new_thread"),
        *(
            "threading.start_joinable_thread",
            "sys.unraisablehook",
            "_thread.start_joinable_thread",
        ),
    )
)
"""What reads, or does nothing at all."""
IMPORTING = frozenset(("exec", "compile", "marshal.loads", "marshal.load"))
"""What happens where a module is brought in."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = frozenset(
    (
        *("os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.chmod", "os.utime", "os.truncate"),
        *("os.link", "os.symlink", "shutil.rmtree", "tempfile.mkdtemp", "tempfile.mkstemp"),
        *("shutil.copyfile", "shutil.copymode", "shutil.copystat"),
    )
)
"""What changes files: right in folders of our own."""
WIDENS_PIPE = 1031
"""What makes a pipe hold more, on Linux."""
IN_PLACE = re.compile(r"file:[^?]*\?mode=ro&(immutable=1|readonly_shm=1)")
"""How a database is opened that is none of ours."""


class Watch:
    """The hook, and what it has found."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._cache = os.environ["XDG_CACHE_HOME"]
        self._private = str(PurePath(tempfile.gettempdir()) / "ttdbg-")
        self._checks: dict[str, Callable[..., bool]] = {
            "open": self._may_open,
            "import": _may_import,
            "subprocess.Popen": _may_start,
            "sqlite3.connect": self._may_connect,
            "os.kill": _may_end,
            "fcntl.fcntl": lambda _, command, *__: command == WIDENS_PIPE,
            **dict.fromkeys(IMPORTING, _is_importing),
            **dict.fromkeys(CHANGES, self._may_change),
            "shutil.rmtree": lambda path, *_: self._is_own(path),
            "os.symlink": lambda _, path, *__: self._is_own(path),
            "os.rename": lambda old, new, *_: self._is_own(old) and self._is_own(new),
        }
        self.is_on = False

    def __call__(self, event: str, arguments: Sequence[Any]) -> None:
        """See one thing that happens."""
        if not self.is_on or event in HARMLESS:
            return
        check = self._checks.get(event)
        if check is None or not check(*arguments):
            self.found.append(f"{event} {arguments!r:.300}")

    def _may_open(self, path: object, mode: object, flags: int) -> bool:
        is_written = bool(flags & WRITING) or any(each in str(mode or "") for each in "wax+")
        # Where a program gets its input from, and its words go.
        is_program_s = path == os.devnull or isinstance(path, int) or self._is_nameless(path)
        return not is_written or is_program_s or self._is_own(path)

    def _is_nameless(self, path: object) -> bool:
        """Tell whether a file is made that no folder will ever list."""
        return path == tempfile.gettempdir() and _called_from("TemporaryFile")

    def _may_change(self, path: object, *_: object) -> bool:
        # Within a folder that is removed, names are given beside its descriptor.
        is_relative = isinstance(path, str) and "/" not in path and _called_from("rmtree")
        return is_relative or self._is_own(path)

    def _may_connect(self, database: object) -> bool:
        uri = str(database)
        return bool(IN_PLACE.fullmatch(uri)) or self._is_own(uri.removeprefix("file://"))

    def _is_own(self, path: object) -> bool:
        name = os.path.normpath(os.fsdecode(path) if isinstance(path, bytes) else str(path))
        return name.startswith((self._private, self._cache))


def _may_import(name: str, *_: object) -> bool:
    top = name.partition(".")[0]
    return top not in NEVER and (top in sys.stdlib_module_names or top in OURS)


def _is_importing(*_: object) -> bool:
    """Tell whether a module is brought in, or msgspec reads the annotations of one of ours."""
    return _called_from("_find_and_load") or _called_from("get_class_annotations")


def _called_from(function: str) -> bool:
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == function:
            return True
        frame = frame.f_back
    return False


def _may_start(program: object, arguments: Sequence[object], *_: object) -> bool:
    """Tell whether a program is git, asked for something that neither runs nor writes."""
    name, *given = map(os.fsdecode, arguments)
    asked = next((each for each in given if each in PLUMBING), None)
    before = given[: given.index(asked)] if asked else given
    is_plain = all(each.startswith(("-", "/")) or "=" in each for each in before)
    is_git = PurePath(name).name == PurePath(os.fsdecode(program)).name == "git"
    return is_git and asked is not None and is_plain and not any(map(NEVER_GIVEN.match, given))


def _may_end(_process: int, _signal: int) -> bool:
    """Tell whether it is a program of ours that is ended."""
    return _called_from("send_signal")


def strangers() -> list[str]:
    """Give the packages that were brought in and are none of ours."""
    own = Path(__file__).stem
    known = sys.stdlib_module_names | OURS | {"__main__", "__mp_main__", own}
    tops = {each.partition(".")[0] for each in sys.modules}
    return sorted((tops - known - AT_START) | (tops & NEVER))


def read_all(commands: Sequence[Sequence[str]], locations: Sequence[str]) -> None:
    """Run each command on each location."""
    # Brought in here, so that this is seen as well.
    from tt_debugger.cli.main import main

    for location in locations:
        for command, *options in commands:
            main([command, location, *options])


if __name__ == "__main__":
    asked, *wanted = sys.argv[1:]
    watch = Watch()
    sys.addaudithook(watch)
    watch.is_on = True
    read_all(json.loads(asked), wanted)
    watch.is_on = False
    exec(f"def planted():\n{indent(os.environ.get('PLANTED') or 'pass', ' ')}")  # noqa: S102 - so that it is seen that the hook sees
    watch.is_on = True
    planted()  # noqa: F821 - made above
    watch.is_on = False
    said = json.dumps([*watch.found, *(f"stranger {each}" for each in strangers())])
    sys.stderr.write(f"{said}\n")
