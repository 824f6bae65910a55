"""Hostile places: what is no database but stands where one is looked for, and repositories.

Whatever git can be made to run by the configuration of a repository makes a file, the canary.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

from hostile_values import TEXT_ATTACK, Builder, pickled


def _workflow(path: Path, canary: Path) -> None:
    """Write checkpoints of a workflow as files whose values are pickled."""
    held = {"__pickled__": base64.b64encode(pickled(canary)).decode(), "__type__": "os:system"}
    path.mkdir()
    for n in range(2):
        body = {
            "workflow_name": "w",
            "graph_signature_hash": TEXT_ATTACK,
            "checkpoint_id": f"00000000-0000-4000-8000-00000000000{n}",
            "previous_checkpoint_id": None if n == 0 else "00000000-0000-4000-8000-000000000000",
            "timestamp": TEXT_ATTACK,
            "messages": {"a": [held]},
            "state": {"_executor_state": held, "x": held},
            "pending_request_info_events": held,
            "iteration_count": n,
            "metadata": {},
            "version": "1.0",
        }
        (path / f"{body['checkpoint_id']}.json").write_text(json.dumps(body), encoding="utf-8")


GIT = shutil.which("git")


def _repository(path: Path, canary: Path) -> None:
    """Write a repository in which whatever git can be made to run makes the canary."""
    path.mkdir()
    if GIT is None:
        return
    own = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(path)}

    def git(*arguments: str) -> None:
        command = [GIT, "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments]
        subprocess.run(command, cwd=path, env=os.environ | own, check=True, capture_output=True)  # noqa: S603

    run = f"touch {canary}"
    git("init", "-q", "-b", "main")
    names = ["a.txt", "bi\u202edi.txt", "esc\x1b]0;P\x07.txt", "--output=pwned", "-rf", "$(id)"]
    for n in range(3):
        for name in names:
            (path / name).write_text(f"{n} {TEXT_ATTACK.replace(chr(0), '')}\n", encoding="utf-8")
        git("add", "--all")
        said = f"{n} {TEXT_ATTACK}".replace("\0", "")
        git("commit", "-q", "-m", f"{said}\n\nCo-authored-by: a{said} <a@example.com>")
    git("branch", "agent/x", "HEAD~1")
    git("tag", "-a", "-m", TEXT_ATTACK.replace("\0", ""), "v1")
    git("update-ref", "refs/entire/x", "HEAD")
    git("replace", "HEAD", "HEAD~2")
    attributes = "* filter=evil diff=evil merge=evil text working-tree-encoding=x\n"
    (path / ".gitattributes").write_text(attributes)
    config = f"""
[core]
    fsmonitor = {run}
    sshCommand = {run}
    pager = {run}
    editor = {run}
    askPass = {run}
    gitProxy = {run}
    hooksPath = .git/hooks
    alternateRefsCommand = {run}
    attributesFile = .gitattributes
[filter "evil"]
    clean = {run}
    smudge = {run}
    process = {run}
    required = true
[diff]
    external = {run}
[diff "evil"]
    textconv = {run}
    command = {run}
[merge "evil"]
    driver = {run}
[log]
    showSignature = true
[gpg]
    program = {run}
[credential]
    helper = !{run}
[pager]
    log = {run}
    show = {run}
    cat-file = {run}
    for-each-ref = {run}
[remote "origin"]
    url = ext::{run}
    promisor = true
    partialclonefilter = blob:none
    uploadpack = {run}
[extensions]
    partialClone = origin
[uploadpack]
    packObjectsHook = {run}
[alias]
    rev-list = !{run}
    cat-file = !{run}
    log = !{run}
[include]
    path = /dev/zero.not
"""
    with (path / ".git/config").open("a") as file:
        file.write(config)
    hooks = path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-commit", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\n{run}\n")
        (hooks / name).chmod(0o700)


def _bad_repository(path: Path, canary: Path) -> None:
    """Write a repository of which nearly nothing is as it should be."""
    _repository(path, canary)
    own = path / ".git"
    if not own.is_dir():
        return
    (own / "HEAD").write_text("ref: refs/heads/../../../../etc/passwd\n")
    (own / "packed-refs").write_text(
        "# pack-refs with: peeled\nxyz refs/heads/a\n" + "0" * 40 + " r\n"
    )
    heads = own / "refs/heads"
    (heads / "zero").write_text("0" * 40 + "\n")
    (heads / "absent").write_text("1" * 40 + "\n")
    (heads / "loop").write_text("ref: refs/heads/loop\n")
    (own / "shallow").write_text("\xff\n", encoding="latin-1")
    info = own / "objects/info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text("/proc/self/cwd\n../../../..\n/dev\n")
    (info / "commit-graph").write_bytes(b"CGPH" + b"\xff" * 99)


def _pointer(text: str) -> Builder:
    def build(path: Path, _: Path) -> None:
        path.mkdir()
        (path / ".git").write_text(text)

    return build


STRANGE: dict[str, Builder] = {
    "a named pipe": lambda path, _: os.mkfifo(path),
    "a link to a device": lambda path, _: path.symlink_to("/dev/zero"),
    "links in a circle": lambda path, _: path.symlink_to(path),
    "a link to nothing": lambda path, _: path.symlink_to("nothing"),
    "a folder with the name of a database": lambda path, _: path.mkdir(),
    "pickles in the files of a workflow": _workflow,
    "a repository that runs what it can": _repository,
    "a repository that is damaged": _bad_repository,
    "a repository that is elsewhere": _pointer("gitdir: /proc/self/fd\n"),
    "a repository that is itself": _pointer("gitdir: .git\n"),
    "a repository of another world": _pointer("gitdir: \x1b]0;P\x07\n" + "x" * 9000),
}
