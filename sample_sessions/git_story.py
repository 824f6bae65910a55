"""The repository of the shop, in which the sample session of Claude Code works and commits.

Its objects are written as they are stored, so no git is needed, and its ids are always the same.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from claude_code_story import CLOCK_TYPE, CLOCK_USED, TEST, TEST_WITH_CLOCK, VOUCHER, source

COMMITTED = "add9135"
"""How the commit that the session made begins, as the session says it."""
DANA = "Dana Ortiz <dana@shop.example>"
AIDER = "Dana Ortiz (aider) <dana@shop.example>"
Files = dict[str, str]

README = source("""
    # shop

    A small shop. `pytest -q` runs the tests.
    """)
BASKET = source('''
    """Baskets: what somebody is about to buy, for an hour."""

    from collections.abc import Callable
    from dataclasses import dataclass, field
    from datetime import datetime, timedelta

    Clock = Callable[[], datetime]
    KEPT = timedelta(hours=1)


    @dataclass
    class Basket:
        clock: Clock = datetime.now
        items: list[str] = field(default_factory=list)
        touched: datetime | None = None

        def add(self, item: str) -> None:
            self.items.append(item)
            self.touched = self.clock()

        def is_kept(self) -> bool:
            return self.touched is not None and self.clock() - self.touched < KEPT
    ''')
NEWSLETTER = source('''
    """The newsletter goes out in batches, with a pause between them."""

    import time
    from collections.abc import Iterator

    PAUSE = 0.2


    def batches(addresses: list[str], size: int) -> Iterator[list[str]]:
        for begin in range(0, len(addresses), size):
            yield addresses[begin : begin + size]
            time.sleep(PAUSE)
    ''')
PATIENT = (
    NEWSLETTER.replace("import Iterator", "import Callable, Iterator")
    .replace("PAUSE = 0.2\n", "PAUSE = 0.2\nSleep = Callable[[float], None]\n")
    .replace("size: int)", "size: int, sleep: Sleep = time.sleep)")
    .replace("time.sleep(PAUSE)", "sleep(PAUSE)")
)


class Commit(NamedTuple):
    """A commit: its files are those of its parent with some others."""

    name: str
    parents: tuple[str, ...]
    author: str
    time: str
    message: str
    files: Files


COMMITS = (
    Commit(
        "first",
        (),
        DANA,
        "2026-08-03T09:14:51",
        "A basket that is kept for an hour\n",
        {"README.md": README, "shop/__init__.py": "", "shop/basket.py": BASKET},
    ),
    Commit(
        "news",
        ("first",),
        DANA,
        "2026-08-19T16:40:02",
        "The newsletter, in batches\n",
        {"shop/newsletter.py": NEWSLETTER},
    ),
    Commit(
        "voucher",
        ("news",),
        DANA,
        "2026-09-08T11:27:33",
        "Vouchers\n\nRefs: #31\n",
        {"shop/voucher.py": VOUCHER, "tests/test_voucher.py": TEST},
    ),
    Commit(
        "aider",
        ("news",),
        AIDER,
        "2026-09-10T08:02:19",
        "feat: Let a test skip the pause\n\n"
        "Co-authored-by: aider (claude-sonnet-4-5) <aider@aider.chat>\n",
        {"shop/newsletter.py": PATIENT},
    ),
    Commit(
        "clock",
        ("voucher",),
        DANA,
        "2026-09-22T09:36:24",
        "The voucher test sets the time itself\n\n"
        "Co-Authored-By: Claude <noreply@anthropic.com>\n",
        {
            "shop/voucher.py": VOUCHER.replace(*CLOCK_TYPE).replace(*CLOCK_USED),
            "tests/test_voucher.py": TEST_WITH_CLOCK,
        },
    ),
    Commit(
        "merge",
        ("clock", "aider"),
        DANA,
        "2026-09-22T13:05:40",
        "Merge branch 'newsletter-pause'\n",
        {"shop/newsletter.py": PATIENT},
    ),
)
REFS = {"heads/main": "merge", "heads/newsletter-pause": "aider", "tags/v0.3": "voucher"}
CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"


def write_repository(folder: Path) -> None:
    """Write the repository anew, a bare one. Raises ValueError where the session names another."""
    rmtree(folder, ignore_errors=True)
    ids: dict[str, str] = {}
    known: dict[str, Files] = {}
    for commit in COMMITS:
        before = known[commit.parents[0]] if commit.parents else {}
        known[commit.name] = before | commit.files
        tree = _tree(folder, known[commit.name])
        seconds = int(datetime.fromisoformat(f"{commit.time}Z").astimezone(UTC).timestamp())
        lines = [f"tree {tree}", *(f"parent {ids[each]}" for each in commit.parents)]
        lines += [f"author {commit.author} {seconds} +0000"]
        lines += [f"committer {commit.author} {seconds} +0000", "", commit.message]
        ids[commit.name] = _stored(folder, "commit", "\n".join(lines).encode())
    if not ids["clock"].startswith(COMMITTED):
        message = f"the session says {COMMITTED}, the commit is {ids['clock']}"
        raise ValueError(message)
    packed = "".join(f"{ids[name]} refs/{ref}\n" for ref, name in sorted(REFS.items()))
    (folder / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted\n{packed}")
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(CONFIG)
    (folder / "refs").mkdir()
    # Without it the folder would be lost on the way, and with it what makes this a repository.
    (folder / "refs" / ".keep").touch()


def _tree(folder: Path, files: Files) -> str:
    """Store the tree of some files; give its id."""
    entries: list[tuple[bytes, bytes]] = []
    inside: dict[str, Files] = {}
    for path, content in files.items():
        top, slash, rest = path.partition("/")
        if slash:
            inside.setdefault(top, {})[rest] = content
        else:
            own = bytes.fromhex(_stored(folder, "blob", content.encode()))
            entries.append((top.encode(), b"100644 " + top.encode() + b"\0" + own))
    for name, below in inside.items():
        own = bytes.fromhex(_tree(folder, below))
        entries.append((f"{name}/".encode(), b"40000 " + name.encode() + b"\0" + own))
    return _stored(folder, "tree", b"".join(entry for _, entry in sorted(entries)))


def _stored(folder: Path, kind: str, content: bytes) -> str:
    """Store an object; give its id."""
    whole = f"{kind} {len(content)}\0".encode() + content
    name = sha1(whole).hexdigest()  # noqa: S324 - how git names objects
    path = folder / "objects" / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return name
