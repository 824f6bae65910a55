"""Themes: every one can be read, and means the same things apart from colour."""

import pytest
from rich.style import Style
from textual.color import Color
from tui.driving import drive, press

from tt_debugger.tui.themes import DARK, HIGH_CONTRAST, LIGHT, LOOKS, NAMED, SIXTEEN, look_for
from tt_debugger.views.palette import THEMES, Palette

TRUE = [DARK, LIGHT, HIGH_CONTRAST]
FRAMES = {"graph_aside", "cursor", "cursor_far"}
"""Styles that nobody reads text in."""


def contrast(one: Color, other: Color) -> float:
    """Give the contrast ratio of WCAG 2, from 1 to 21."""

    def luminance(colour: Color) -> float:
        def linear(part: int) -> float:
            value = part / 255
            return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

        red, green, blue = map(linear, colour.rgb)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def colours(style: str, ground: str) -> tuple[Color, Color]:
    """Give the colour of a style's text and the ground it stands on."""
    parsed = Style.parse(style)
    behind = Color.parse(ground) if parsed.bgcolor is None else Color(*parsed.bgcolor.triplet)
    return Color(*parsed.color.triplet), behind


@pytest.mark.parametrize("look", TRUE, ids=lambda look: look.name)
@pytest.mark.parametrize("field", sorted(set(Palette.__struct_fields__) - FRAMES))
def test_text_stands_out_from_its_ground_and_from_the_cursor(look, field):
    text, ground = colours(getattr(look.palette, field), look.theme.background)
    least = 7.0 if look is HIGH_CONTRAST else 4.5

    assert contrast(text, ground) >= least
    if field != "brand":
        cursor = Style.parse(look.palette.cursor).bgcolor
        assert contrast(text, Color(*cursor.triplet)) >= 3.5


@pytest.mark.parametrize("look", TRUE, ids=lambda look: look.name)
def test_added_and_removed_differ_for_those_who_see_no_red_or_no_green(look):
    add = Color.parse(look.palette.add)
    remove = Color.parse(look.palette.remove)

    # Blue is the part of a colour that both keep.
    assert abs(add.b - remove.b) > 90
    assert add.b > remove.b


def test_the_command_line_names_the_themes_that_there_are():
    assert tuple(look.name for look in LOOKS) == THEMES


@pytest.mark.parametrize(
    ("environment", "look"),
    [
        ({"TERM": "xterm-256color"}, DARK),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, DARK),
        ({"TERM": "linux"}, SIXTEEN),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, SIXTEEN),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, LIGHT),
        ({"TERM": "xterm-256color", "COLORFGBG": "15;0"}, DARK),
        ({"TERM": "linux", "TTDBG_THEME": "high-contrast"}, HIGH_CONTRAST),
        ({"TERM": "xterm-256color", "TTDBG_THEME": "nope"}, DARK),
        ({}, DARK),
    ],
    ids=str,
)
def test_the_terminal_says_which_theme_fits(environment, look):
    assert look_for(environment) is look


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_each_name_that_views_use_has_a_style_in_each_theme(look):
    names = look.style_names.styles

    assert set(names) == {getattr(NAMED, field) for field in Palette.__struct_fields__}


def test_a_theme_is_seen_while_it_is_chosen_and_taken_back_by_escape():
    async def script(pilot):
        app = pilot.app
        await press(pilot, "T")
        await pilot.press("down")
        assert app.theme == "light"
        assert str(app.console.get_style("ttdbg.text")) == LIGHT.palette.text
        await press(pilot, "escape")
        assert app.theme == "dark"
        await press(pilot, "T")
        await press(pilot, "down", "down", "enter")
        assert app.theme == "high-contrast"

    drive(script)
