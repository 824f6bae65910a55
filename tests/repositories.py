"""Repositories, made by git itself, whose commits have the same hashes each time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EPOCH = 1_767_225_600
ANN = ("Ann", "ann@example.com")
AIDER = ("Ann (aider)", "ann@example.com")
CHECKPOINT = "a1b2c3d4e5f6"
CLAUDE = "Co-Authored-By: Claude <noreply@anthropic.com>"


class Made:
    """A repository that is being made; each commit comes a minute after the one before."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._time = EPOCH
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options, ".")
        self.git("config", "core.logAllRefUpdates", "always")

    def git(self, *arguments: str, given: bytes = b"", **variables: str) -> str:
        """Run git in it, away from any config of whoever tests it; give what it says."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "LC_ALL": "C",
            "TZ": "UTC",
            **self.signed(ANN),
            **variables,
        }
        done = subprocess.run(  # noqa: S603 - git, in a repository of ours
            ["git", *arguments],  # noqa: S607 - whichever git there is
            cwd=self.folder,
            env=environment,
            input=given,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode(errors="replace").strip()

    def later(self, author: tuple[str, str] = ANN) -> dict[str, str]:
        """Let a minute pass, and give the variables of who commits then."""
        self._time += 60
        return self.signed(author)

    def signed(self, author: tuple[str, str]) -> dict[str, str]:
        """Give the variables of who commits, and when."""
        name, mail = author
        date = f"{self._time} +0000"
        return {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", date))
        }

    def commit(
        self,
        message: str,
        files: Mapping[str, str | bytes | None] | None = None,
        author: tuple[str, str] = ANN,
        *options: str,
    ) -> str:
        """Write files, None for one that goes, and commit them; give the hash."""
        for path, content in (files or {}).items():
            file = self.folder / path
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A")
        when = self.later(author)
        said = ("--allow-empty", "--cleanup=verbatim", "-F", "-", *options)
        self.git("commit", "-q", *said, given=message.encode(), **when)
        return self.git("rev-parse", "HEAD")


def a_shop(folder: Path) -> Made:
    """Make a work tree with all that a history may have: see `tests/fixtures/git_commits`."""
    made = Made(folder)
    made.commit(
        "Begin a shop\n\nIt sells tea.\n",
        {
            "shop.py": "PRICES = {}\n\ndef price(name):\n    return PRICES[name]\n",
            "README.md": "# Shop\n",
        },
    )
    made.commit("Add green tea\n", {"shop.py": _shop("green", 4)}, AIDER)
    made.git("switch", "-q", "-c", "topic")
    made.commit(
        f"Add black tea\n\nIt is stronger.\n\n{CLAUDE}\n",
        {
            "shop.py": _shop("black", 5),
            "tests/test_shop.py": "def test_price():\n    assert True\n",
        },
    )
    made.git("switch", "-q", "main")
    made.commit(
        "Draw a logo\n\nSigned-off-by: Ann <ann@example.com>\nReviewed-by: Bo <bo@example.com>\n"
        "Reviewed-by: Cy <cy@example.com>\n",
        {"logo.png": b"\x89PNG\r\n\0\1"},
    )
    made.git("merge", "-q", "--no-ff", "-m", "Merge black tea", "topic", **made.later())
    made.git("tag", "-a", "-m", "the first one", "v1")
    (made.folder / "link").symlink_to("shop.py")
    (made.folder / "run.sh").write_text("#!/bin/sh\n")
    (made.folder / "run.sh").chmod(0o755)
    (made.folder / "vendor").mkdir()
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    made.commit(f"Run it from a script\n\n{CLAUDE}\nEntire-Checkpoint: {CHECKPOINT}\n")
    entire(made)
    made.git("switch", "-q", "-c", "gone")
    made.commit("Sell coffee too\n", {"shop.py": _shop("coffee", 9)})
    made.git("switch", "-q", "main")
    made.git("branch", "-q", "-D", "gone")
    made.commit("Say what the shop sells\n", {"README.md": "# Shop\n\nTea.\n", "logo.png": None})
    return made


def entire(made: Made) -> None:
    """Keep the transcript of a checkpoint as Entire does, on a branch without a parent."""
    transcript = b"".join(
        json.dumps(each).encode() + b"\n"
        for each in (_said("u1", None, "user"), _said("u2", "u1"))
    )
    index = {"GIT_INDEX_FILE": str(made.folder / ".git" / "entire-index")}
    for path, content in (("0/full.jsonl", transcript), ("metadata.json", b"{}")):
        blob = made.git("hash-object", "-w", "--stdin", given=content)
        where = f"{CHECKPOINT[:2]}/{CHECKPOINT[2:]}/{path}"
        made.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{where}", **index)
    tree = made.git("write-tree", **index)
    said = f"Checkpoint: {CHECKPOINT}\n\nEntire-Session: s1\nEntire-Strategy: manual-commit"
    commit = made.git("commit-tree", "-m", said, tree, **made.later())
    made.git("update-ref", "refs/heads/entire/checkpoints/v1", commit)


def _said(name: str, parent: str | None, role: str = "assistant") -> dict[str, Any]:
    return {
        "type": role,
        "uuid": name,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": "2026-01-01T00:05:00.000Z",
        "cwd": "/home/dev/shop",
        "version": "2.1.197",
        "message": {"role": role, "content": "Run it from a script."},
    }


def _shop(name: str, price: int) -> str:
    return f'PRICES = {{"{name}": {price}}}\n\ndef price(name):\n    return PRICES[name]\n'


def bare(made: Made, folder: Path) -> Path:
    """Give a bare copy whose objects are in one pack but for the newest commit; logs are kept."""
    shutil.copytree(made.folder / ".git", folder)
    run = Made(folder, "--bare")
    run.git("config", "core.bare", "true")
    run.git("-c", "repack.writeBitmaps=false", "repack", "-q", "-a", "-d", "-k")
    for each in ("hooks", "info", "branches", "objects/info"):
        shutil.rmtree(folder / each, ignore_errors=True)
    for each in ("index", "entire-index", "COMMIT_EDITMSG", "ORIG_HEAD", "description"):
        (folder / each).unlink(missing_ok=True)
    return folder


def tampered(made: Made, canary: Path) -> None:
    """Let everything that git can be told to run make a file."""
    folder = made.folder / ".git"
    payload = made.folder / "payload.sh"
    payload.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    payload.chmod(0o755)
    run = str(payload)
    (folder / "hooks").mkdir(exist_ok=True)
    for hook in (
        "reference-transaction",
        "post-checkout",
        "fsmonitor-watchman",
        "post-index-change",
    ):
        shutil.copy(payload, folder / "hooks" / hook)
    (folder / "included").write_text(f"[core]\n\tpager = {run}\n")
    with (folder / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {run}\n\thooksPath = {folder}/hooks\n\tpager = {run}\n"
            f"\tsshCommand = {run}\n\taskPass = {run}\n\talternateRefsCommand = {run}\n"
            f"\tgitProxy = {run}\n\teditor = {run}\n\tattributesFile = {folder}/attributes\n"
            f"[pager]\n\tlog = {run}\n\tcat-file = {run}\n[diff]\n\texternal = {run}\n"
            f'[diff "x"]\n\ttextconv = {run}\n\tcommand = {run}\n'
            f'[filter "x"]\n\tsmudge = {run}\n\tclean = {run}\n\tprocess = {run}\n'
            f"[alias]\n\tlog = !{run}\n\tcat-file = !{run}\n[gpg]\n\tprogram = {run}\n"
            f"[log]\n\tshowSignature = true\n[credential]\n\thelper = !{run}\n"
            f'[includeIf "gitdir:/"]\n\tpath = {folder}/included\n[include]\n\tpath = included\n'
            f'[uploadpack]\n\tpackObjectsHook = {run}\n[trailer "x"]\n\tcommand = {run}\n'
            f'[remote "origin"]\n\turl = ext::{run}\n\tpromisor = true\n\tvcs = ext\n'
            f"[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n"
            f'[submodule "../../x"]\n\turl = -u./payload.sh\n\tupdate = !{run}\n'
        )
    (made.folder / ".gitattributes").write_text("* filter=x diff=x\n")
    (made.folder / ".gitmodules").write_text(
        f'[submodule "a/../../b"]\n\tpath = v\n\turl = ext::{run}\n'
    )
    (folder / "attributes").write_text("* filter=x diff=x\n")
