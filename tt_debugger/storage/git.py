"""Git: the objects of a repository, read by git's plumbing from a private folder that is ours.

The folder has no config but ours, no hooks and no refs, and borrows the objects of the repository
as git itself lets one repository borrow from others. So nothing that the repository says
is obeyed: not its config, not its attributes, not what it borrows from or would fetch from. What
an object is does not depend on any of these.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import select
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.repository import (
    Repository,
    object_folders,
    settings_of,
    shallow_of,
)

STILL = 20.0
"""Seconds without a byte from git after which it is given up."""
LARGEST = 64 << 20
"""Bytes of an object from which on it is not read."""
_CHUNK = 1 << 18
"""Bytes that are read at once."""
_PIPE = 1 << 20
"""Bytes that git may be ahead of us, where the system lets a pipe hold so many."""
_AT_ONCE = 200
"""Names that are asked for before answers are read: they fit into a pipe."""
_MOST_DEATHS = 64
"""Times that git may die of a damaged object before no more are asked for."""
_FOR_A_STALL = 32
"""Deaths that it counts for where git does not die but says nothing."""
_LONGEST_ANSWER = 4096
_OF_SHA1 = 40
_HASHED = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHOWN = 300
"""Bytes of what git says of an error that are shown."""

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tfsmonitor = false
\thooksPath = /dev/null
\tuntrackedCache = false
\talternateRefsCommand =
\tcommitGraph = false
\tmultiPackIndex = false
\tsshCommand = false
\taskPass =
\tpager = cat
[protocol]
\tallow = never
[credential]
\thelper =
[gc]
\tauto = 0
[maintenance]
\tauto = false
[log]
\tshowSignature = false
\tmailmap = false
[diff]
\texternal =
"""
_SHA256 = """\
[core]
\trepositoryformatversion = 1
[extensions]
\tobjectFormat = sha256
"""
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PAGER": "cat",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_FLUSH": "0",
    # One object that unpacks to gigabytes ends git, not the machine.
    "GIT_ALLOC_LIMIT": "512m",
    "LC_ALL": "C",
}
# Windows has no such thing; there it is waited without an end.
_CAN_WAIT = hasattr(select, "poll")
_made: dict[str, Path] = {}
_making = threading.Lock()
_PASSED_ON = ("SYSTEMROOT", "TMPDIR", "TEMP", "TMP")


class GitObject(msgspec.Struct, frozen=True):
    """An object: of which type, of how many bytes, and those; None where they were not read."""

    type: str
    size: int
    data: bytes | None = None


class GitObjects:
    """Reads the objects of a repository. Raises CannotReadError where there is no git.

    Its processes end with it.
    """

    def __init__(self, repository: Repository, made: Path | None = None) -> None:
        """Start with a repository; objects `made` in a folder of ours are read with its own."""
        settings = settings_of(repository)
        self.is_partial = settings.is_partial
        self._repository = repository
        self._program = _program(repository)
        self._format = settings.object_format
        self._running: list[subprocess.Popen[bytes]] = []
        self._folders: list[Path] = []
        self._finalizer = weakref.finalize(self, _end, self._running, self._folders)
        with _told(repository):
            own = map(self._without_alternates, object_folders(repository))
            borrowed = (*own, *(() if made is None else (made,)))
            self._borrowed = os.pathsep.join(_quoted(str(each)) for each in borrowed)
        self._sizes = _Asked(self, "--batch-check")
        self._contents = _Asked(self, "--batch")

    def log(self, fields: str, *, most: int | None = None) -> Log:
        """Start to tell of commits, newest first; `fields` is a format of git's."""
        limit = () if most is None else (f"--max-count={most}",)
        options = (
            "-z",
            f"--format=tformat:{fields}",
            "--encoding=UTF-8",
            "--no-color",
            "--no-notes",
            "--no-patch",
            "--ignore-missing",
            *limit,
            "--stdin",
        )
        said = tempfile.TemporaryFile()  # noqa: SIM115 - closed as what the process says
        process = self.start("log", *options, said=said.fileno(), cuts=True)
        process.stderr = said
        return Log(process)

    def sizes(self, names: Sequence[str]) -> list[GitObject | None]:
        """Give the type and size of objects, in the order asked for; None for none."""
        return self._sizes.ask(names)

    def contents(self, names: Sequence[str], most: int = LARGEST) -> list[GitObject | None]:
        """Give objects with their bytes, but for larger ones; None for missing and damaged ones.

        A name may end in ^{commit} or the like, for what an object leads to.
        """
        return self._contents.ask(names, most)

    def start(
        self,
        *arguments: str,
        said: int = subprocess.DEVNULL,
        asked: int = subprocess.PIPE,
        cuts: bool = False,
        into: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start git in the private folder, with an environment that has only what is needed.

        Where it `cuts`, commits whose parents were not fetched have none. With `into` it makes
        objects in a folder of ours, and sees none of the repository.
        """
        with _told(self._repository):
            folder = _private(self._format)
            shallow = shallow_of(self._repository) if cuts else ()
            cut = (f"--shallow-file={self._written(shallow)}",) if shallow else ()
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= _ENVIRONMENT
        # Git looks for its own parts beside itself, and for nothing else.
        environment["PATH"] = str(Path(self._program).parent)
        environment["HOME"] = environment["XDG_CONFIG_HOME"] = str(folder / "none")
        environment["GIT_DIR"] = str(folder)
        if into is None:
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = self._borrowed
        else:
            environment["GIT_OBJECT_DIRECTORY"] = str(into)
        process = subprocess.Popen(  # noqa: S603 - git alone, with arguments of ours
            [self._program, "--no-pager", "--no-replace-objects", *cut, *arguments],
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=folder,
            env=environment,
            bufsize=0,
        )
        _widen(process)
        self._running[:] = [each for each in self._running if each.poll() is None]
        self._running.append(process)
        return process

    def start_with(
        self, asked: bytes, *arguments: str, into: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start git with all that it is to read, which may be more than a pipe holds."""
        with tempfile.TemporaryFile() as file:
            file.write(asked)
            file.seek(0)
            return self.start(*arguments, asked=file.fileno(), into=into)

    def answer(self, asked: bytes, *arguments: str, into: Path | None = None) -> bytes | None:
        """Give all that git says to what it is to read, None where it fails."""
        process = self.start_with(asked, *arguments, into=into)
        try:
            said, _ = process.communicate(timeout=STILL)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(process)
        return None if process.returncode else said

    def close(self) -> None:
        """End the processes and remove what was written."""
        self._finalizer()

    def _aside(self) -> Path:
        """Give a new folder, which is there until this is closed."""
        folder = Path(tempfile.mkdtemp(prefix="ttdbg-git-"))
        self._folders.append(folder)
        return folder

    def _written(self, names: Sequence[str]) -> Path:
        path = self._aside() / "shallow"
        path.write_bytes(_lines(names))
        return path

    def _without_alternates(self, objects: Path) -> Path:
        """Give a folder of objects, or if it borrows some itself a twin that does not.

        Git would follow what is written there; what is sound of that is borrowed by us.
        """
        if not os.path.lexists(objects / "info" / "alternates"):
            return objects
        twin = self._aside()
        for name in ("pack", *(f"{number:02x}" for number in range(256))):
            # Also those that are not there: they may come.
            (twin / name).symlink_to(objects / name, target_is_directory=True)
        return twin


class Log:
    """A log that waits to be asked for some commits: git starts while these are found out."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.failed = ""
        """What git said where it could not go on; known once all came."""

    def of(self, tips: Sequence[str], without: Sequence[str] = ()) -> Iterator[bytes]:
        """Ask for all that some commits lead to, but for what others lead to; give the answer.

        Git works on it from now on. What is not there is passed by.
        """
        with self._noticed():
            if tips:
                self._ask(_lines([*tips, *(f"^{each}" for each in without)]))
                return self._answer()
        end(self._process)
        return iter(())

    def _answer(self) -> Iterator[bytes]:
        try:
            with self._noticed():
                while part := _part(self._process, _CHUNK):
                    yield part
                if self._process.wait(STILL):
                    said = _said(self._process)
                    self.failed = said or f"git ended with {self._process.returncode}"
        finally:
            end(self._process)

    @contextmanager
    def _noticed(self) -> Generator[None]:
        try:
            yield
        except (TimeoutError, subprocess.TimeoutExpired):
            self.failed = f"git gave nothing for {STILL:.0f} seconds"

    def _ask(self, asked: bytes) -> None:
        if self._process.stdin is None:
            return
        descriptor = self._process.stdin.fileno()
        # Git may wait for something itself before it has read all of it.
        os.set_blocking(descriptor, not _CAN_WAIT)
        with suppress(BrokenPipeError):
            while asked:
                _wait(descriptor, is_written=True)
                with suppress(BlockingIOError):
                    asked = asked[os.write(descriptor, asked[:_CHUNK]) :]
        with suppress(BrokenPipeError):
            self._process.stdin.close()


class _Asked:
    """A running `git cat-file` that is asked for one object after the other."""

    def __init__(self, git: GitObjects, how: str) -> None:
        # Weak, so that whoever forgets the objects forgets the process.
        self._git = weakref.ref(git)
        self._how = how
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()
        self._deaths = 0

    def ask(self, names: Sequence[str], most: int = LARGEST) -> list[GitObject | None]:
        found: list[GitObject | None] = []
        while len(found) < len(names):
            if self._deaths > _MOST_DEATHS:
                return found + [None] * (len(names) - len(found))
            is_bulk = len(names) - len(found) > _AT_ONCE
            try:
                count = self._send(names[len(found) :], is_bulk=is_bulk)
                # One by one: those that came before it died count.
                asked = names[len(found) : len(found) + count]
                found.extend(self._answer(name, most) for name in asked)
            except (OSError, EOFError) as error:
                # It died of the object that is next: that one is damaged.
                found.append(None)
                self._deaths += _FOR_A_STALL if isinstance(error, TimeoutError) else 1
                self._end()
            except _TooLargeError as error:
                found.append(GitObject(error.type, error.size))
                self._end()
            if is_bulk:
                self._end()
        return found

    def _send(self, names: Sequence[str], *, is_bulk: bool) -> int:
        """Ask for the first of some objects, or for all in bulk; give how many."""
        git = self._git()
        if git is None:
            raise EOFError
        if is_bulk:
            self._end()
            self._process = git.start_with(_lines(names), "cat-file", self._how, "--buffer")
            return len(names)
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = git.start("cat-file", self._how)
        if self._process.stdin is None:
            raise EOFError
        asked = names[:_AT_ONCE]
        self._process.stdin.write(_lines(asked))
        return len(asked)

    def _answer(self, name: str, most: int) -> GitObject | None:
        head = self._line().rsplit(b" ", 2)
        if len(head) < 3 or not head[2].isdigit():  # noqa: PLR2004 - name, type and size
            return None
        kind, size = head[1].decode(errors="replace"), int(head[2])
        if self._how != "--batch":
            return GitObject(kind, size)
        if size > most:
            raise _TooLargeError(kind, size)
        data = self._bytes(size + 1)[:-1]
        # Git looks no closer at what it passes on; and if less came than it said, what came next
        # was taken for a part of this.
        if _HASHED.fullmatch(name) and _hash_of(kind, data, len(name)) != name:
            raise EOFError
        return GitObject(kind, size, data)

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
            if len(self._buffer) > _LONGEST_ANSWER and b"\n" not in self._buffer:
                raise EOFError
        return self._bytes(end + 1)[:-1]

    def _bytes(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self) -> None:
        part = b"" if self._process is None else _part(self._process, _CHUNK)
        if not part:
            raise EOFError
        self._buffer += part

    def _end(self) -> None:
        if self._process is not None:
            end(self._process)
        self._process = None
        self._buffer.clear()


class _TooLargeError(Exception):
    def __init__(self, kind: str, size: int) -> None:
        super().__init__(kind, size)
        self.type = kind
        self.size = size


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and let go of its pipes."""
    with suppress(OSError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _said(process: subprocess.Popen[bytes]) -> str:
    """Give the beginning of what a process said of what went wrong."""
    if process.stderr is None:
        return ""
    process.stderr.seek(0)
    return process.stderr.read(_SHOWN).decode(errors="replace").strip()


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _hash_of(kind: str, data: bytes, digits: int) -> str:
    """Give the name that an object must have, of so many digits."""
    made = hashlib.sha1 if digits == _OF_SHA1 else hashlib.sha256
    return made(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


def _widen(process: subprocess.Popen[bytes]) -> None:
    """Let git go on while we work, rather than take turns every few files."""
    with suppress(ImportError, OSError, AttributeError):
        import fcntl

        if process.stdout is not None:
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, _PIPE)


def _part(process: subprocess.Popen[bytes], most: int) -> bytes:
    """Give the next bytes of a process, b"" at its end. Raises TimeoutError."""
    if process.stdout is None:
        return b""
    _wait(process.stdout.fileno())
    return os.read(process.stdout.fileno(), most)


def _wait(descriptor: int, *, is_written: bool = False) -> None:
    """Wait until a pipe can be read or written. Raises TimeoutError."""
    if _CAN_WAIT:
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT if is_written else select.POLLIN)
        if not poll.poll(STILL * 1000):
            raise TimeoutError


def _end(running: list[subprocess.Popen[bytes]], folders: list[Path]) -> None:
    for process in running:
        end(process)
    running.clear()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    folders.clear()


def _program(repository: Repository) -> str:
    """Find git, where it is meant to be: not in this folder, whatever the path says."""
    path = os.pathsep.join(
        each for each in os.get_exec_path() if each and Path(each).is_absolute()
    )
    found = shutil.which("git", path=path)
    if found is None:
        raise CannotReadError(
            f"cannot read {repository.folder}: it is a git repository, and git is not installed",
            "install git (https://git-scm.com/downloads)",
        )
    return found


@contextmanager
def _told(repository: Repository) -> Generator[None]:
    """Say what is needed where nothing can be written."""
    try:
        yield
    except OSError as error:
        raise CannotReadError(
            f"cannot read {repository.folder}: {error.strerror}",
            "a private folder is needed where temporary files are kept",
        ) from error


def _private(object_format: str) -> Path:
    """Give the private folder of git, which holds nothing of any repository."""
    with _making:
        known = _made.get(object_format)
        if known is None or not (known / "HEAD").is_file():
            known = _made[object_format] = _laid_out(object_format)
            atexit.register(shutil.rmtree, known, ignore_errors=True)
        return known


def _laid_out(object_format: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ttdbg-git-"))
    for name in ("objects", "refs"):
        (folder / name).mkdir()
    config = _CONFIG if object_format == "sha1" else f"{_CONFIG}{_SHA256}"
    (folder / "config").write_text(config)
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    return folder


def _quoted(path: str) -> str:
    """Give a path as it stands in a list of them."""
    if os.pathsep not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
