"""The floor of any first frame: an app of one widget with a few words in it.

python -m bench.empty_app
"""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static

WORDS_SHOWN = "nothing to show"


class EmptyApp(App[None]):
    """An app that shows that there is nothing."""

    def compose(self) -> ComposeResult:
        yield Static(WORDS_SHOWN)


if __name__ == "__main__":
    EmptyApp().run()
