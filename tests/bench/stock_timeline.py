"""The Timeline built the obvious way: stock widgets, a posted message, rich JSON in a `Static`.

python -m bench.stock_timeline FILE ROW
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.json import JSON
from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Static, Tree

from tt_debugger.core.text import summary_line


class StockTimeline(App[None]):
    """The rows of a session beside the record of the one under the cursor."""

    CSS = "Tree { width: 11fr; } VerticalScroll { width: 9fr; } #bar { height: 1; }"
    BINDINGS = [("q", "quit", "quit")]  # noqa: RUF012 - as Textual's own documents have it

    def __init__(self, path: Path, row: int) -> None:
        super().__init__()
        _, *lines = path.read_text().splitlines()
        self.records = [json.loads(line) for line in lines]
        self.first_row = row

    def compose(self) -> ComposeResult:
        yield Static("reading", id="bar")
        with Horizontal():
            yield Tree("session")
            with VerticalScroll():
                yield Static(id="record")
        yield Footer()

    def on_mount(self) -> None:
        tree = self.query_one(Tree)
        for row, record in enumerate(self.records):
            message = record["message"]
            summary = summary_line(message["content"][0]["text"].split("\n")[0])
            tree.root.add_leaf(f"{row + 1:>5} {message['role']:<12} {summary}", data=row)
        tree.root.expand()
        tree.focus()
        self.call_after_refresh(self.begin)

    def begin(self) -> None:
        tree = self.query_one(Tree)
        tree.move_cursor(tree.root.children[self.first_row])
        tree.scroll_to_line(self.first_row + 1, animate=False)

    def on_tree_node_highlighted(self, message: Tree.NodeHighlighted) -> None:
        row = message.node.data
        if row is not None:
            self.query_one("#bar", Static).update(f"{row + 1}/{len(self.records)}")
            self.query_one("#record", Static).update(JSON.from_data(self.records[row]))


if __name__ == "__main__":
    StockTimeline(Path(sys.argv[1]), int(sys.argv[2])).run()
