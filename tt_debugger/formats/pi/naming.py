"""How Pi names the file of a session, and the folder that it stands in."""

from __future__ import annotations

import re


def file_name(begun: str, session: str) -> str:
    """Give the name of the file of a session, by the time in its header and its id."""
    return f"{re.sub('[:.]', '-', begun)}_{session}.jsonl"


def project_folder(cwd: str) -> str:
    """Give the name of the folder in which the sessions of a project are."""
    project = re.sub(r"[/\\:]", "-", cwd.lstrip("/"))
    return f"--{project}--"
