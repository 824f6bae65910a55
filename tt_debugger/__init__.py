"""ttdbg: time-travel debugging of AI-agent sessions."""

__version__ = "0.1.0"
