"""ttdbg: time-travel debugging of AI-agent sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tt_debugger.version import __version__

if TYPE_CHECKING:
    from tt_debugger.record import Recorder

__all__ = ["Recorder", "__version__"]


def __getattr__(name: str) -> Any:
    """Give the recorder when it is first asked for: whoever only looks need not import it."""
    if name == "Recorder":
        from tt_debugger.record import Recorder

        return Recorder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
