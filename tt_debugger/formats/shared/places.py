"""Places: what the variables say by which agents are told where to keep their sessions."""

from __future__ import annotations

from pathlib import Path, PurePath


def folder_named(text: str, home: Path) -> Path:
    """Give the folder that a variable names, a ~ at its start taken for the home."""
    first, *rest = PurePath(text).parts or ("",)
    return home.joinpath(*rest) if first == "~" else Path(text)
