"""Pictures of each screen, in each size and each theme: the layout, not the behaviour.

Run pytest with --snapshot-update to take them anew, and read the difference before it is
committed. `screenshots/make_screenshots.py` shows the same scenes as images.
"""

import asyncio
from functools import cache
from itertools import groupby
from operator import itemgetter

import pytest
from rich.color import Color
from rich.style import Style
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from tui.scenes import SCENES, SIZES, Ui, play, stage

from tt_debugger.views.palette import ASCII

DARK = {"TTDBG_THEME": "dark"}
MIDDLE = SIZES[1]
ATTRIBUTES = ("bold", "dim", "italic", "underline", "strike", "reverse", "blink", "link")


class Painted(SingleFileSnapshotExtension):
    """A screen as text, and below it the runs of each line by where they begin and their style."""

    _file_extension = "txt"
    _write_mode = WriteMode.TEXT


def painted(app: Ui) -> str:
    """Give what a screen shows, cell by cell, and how."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    lines = [[part for strip in line for part in strip] for line in update.strips]
    text = "\n".join("".join(part.text for part in line).rstrip() for line in lines)
    styles = "\n".join(f"{row} {runs(line)}" for row, line in enumerate(lines, 1))
    return f"{text}\n\n{styles}\n"


def runs(line) -> str:
    parts = ((named(part.style), part.cell_length) for part in line if part.cell_length)
    column, told = 1, []
    for style, run in groupby(parts, itemgetter(0)):
        told.append(f"{column} {style}")
        column += sum(cells for _, cells in run)
    return " · ".join(told)


@cache
def named(style: Style | None) -> str:
    """Give a style by one name: Rich calls one colour of the terminal now `blue`, now `color(4)`.

    Which it is depends on what was drawn before.
    """
    style = style or Style()
    drawn = [each for each in ATTRIBUTES if getattr(style, each)]
    return " ".join([*drawn, shade(style.color), "on", shade(style.bgcolor)])


def shade(colour: Color | None) -> str:
    if colour is None or colour.is_default:
        return "default"
    return f"color({colour.number})" if colour.triplet is None else colour.triplet.hex


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def paint(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NO_COLOR", raising=False)

    def paint(scene, size=MIDDLE, environment=DARK) -> str:
        return asyncio.run(play(scene, size, environment, painted))

    return paint


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(Painted)


def each_scene(test):
    return pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)(test)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@each_scene
def test_dark(paint, golden, scene, size):
    assert paint(scene, size) == golden


@pytest.mark.parametrize("theme", ["light", "high-contrast", "16-colours"])
@each_scene
def test_theme(paint, golden, scene, theme):
    assert paint(scene, environment={"TTDBG_THEME": theme}) == golden


@each_scene
def test_without_colour(paint, golden, monkeypatch, scene):
    monkeypatch.setenv("NO_COLOR", "1")

    assert paint(scene, environment={"NO_COLOR": "1"}) == golden


@each_scene
def test_ascii(paint, golden, monkeypatch, scene):
    monkeypatch.setattr("tt_debugger.tui.app.glyphs", lambda *_: ASCII)

    assert paint(scene) == golden
