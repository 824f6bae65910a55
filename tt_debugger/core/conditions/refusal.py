"""Why a text is no condition."""

from __future__ import annotations


class ConditionError(ValueError):
    """What is wrong with the text of a condition, and at which column; `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
