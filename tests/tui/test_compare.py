"""The Compare screen: what it is asked for, how one moves in it, and where it leads."""

import re

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user
from textual import events
from textual.widgets import Input
from tui.driving import SAMPLES, drive, press, said, seen, settled, tree

from tt_debugger.core.diff.comparing import ComparedMessage, EqualRun
from tt_debugger.debugger import Debugger
from tt_debugger.exports.exporting import exported
from tt_debugger.exports.forms import What
from tt_debugger.exports.gate import Gate
from tt_debugger.exports.subjects import At
from tt_debugger.tui.screens.compare import CompareScreen
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.export import ExportScreen
from tt_debugger.tui.screens.timeline import TimelineScreen
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.mini_map import MiniMap

DEAD_END, LEAF = 22, 62
"""Rows of the sample, counted from 0: the end of a branch that was left, and the active leaf."""
SIZES = [(40, 12), (80, 24), (100, 30), (160, 50)]


def rows(pilot) -> list[int]:
    """Give the rows that are compared."""
    return [end.row for end in pilot.app.screen._answer.ends]


def at(pilot):
    """Give what is under the cursor."""
    return pilot.app.screen.pane.block.what


@pytest.fixture
def talk(tmp_path):
    """A session of twelve questions; the last one is changed in a file beside it."""

    def write(name: str, last: str):
        entries, before = [], None
        for number in range(12):
            text = last if number == 11 else f"question number {number}"
            entries.append(pi(f"m{number}", before, user(text)))
            before = f"m{number}"
        path = tmp_path / name
        path.write_bytes(jsonl(PI_HEADER, *entries))
        return path

    write("other.jsonl", "the last question of the other file")
    return write("own.jsonl", "the last question of this file")


def test_d_asks_once_and_a_second_key_compares():
    async def script(pilot):
        for keys, expected in (
            (("d", "d"), [DEAD_END - 1, DEAD_END]),
            (("d", "enter"), [DEAD_END - 1, DEAD_END]),
            (("d", "@"), [DEAD_END, LEAF]),
            (("d", "colon", *"row=10", "enter"), [DEAD_END, 9]),
        ):
            await press(pilot, *keys)
            assert isinstance(pilot.app.screen, CompareScreen), keys
            assert rows(pilot) == expected
            await press(pilot, "q")
            assert tree(pilot).cursor_row == DEAD_END

    drive(script, ref="row=23")


def test_the_enter_that_chooses_the_parent_opens_nothing_more():
    async def script(pilot):
        await press(pilot, "d", "enter")
        assert isinstance(pilot.app.screen, CompareScreen)
        assert isinstance(at(pilot), ComparedMessage)

    drive(script, ref="row=49")


def test_why_the_two_part_stands_at_the_top_without_a_key():
    async def script(pilot):
        await press(pilot, "d", "@")
        assert "they part at row 13 / row 29: a branch was left and summed up in B" in seen(pilot)
        await press(pilot, "o")
        assert "they part at row 29 / row 13: a branch was left and summed up in A" in seen(pilot)

    drive(script, ref="row=23", size=(80, 24))


def test_d_and_an_apostrophe_compares_with_the_only_mark():
    async def script(pilot):
        await press(pilot, "d", "apostrophe")
        assert said(pilot) == "there is no mark yet; m sets one"
        await press(pilot, "m", "x", "K", "d", "apostrophe")
        assert rows(pilot) == [DEAD_END - 1, DEAD_END]

    drive(script, ref="row=23")


def test_the_root_has_no_parent_to_be_compared_with():
    async def script(pilot):
        await press(pilot, "g", "d", "d")
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert said(pilot) == "row 1 has no parent"

    drive(script)


def test_a_message_of_another_file_leads_nowhere_in_this_one(talk):
    async def script(pilot):
        await press(pilot, "g", "j", "j", "d", "colon")
        pilot.app.screen.query_one(Input).value = f"{talk.parent / 'other.jsonl'}#@"
        await press(pilot, "enter")
        assert "other.jsonl row 12" in seen(pilot)
        assert isinstance(at(pilot), ComparedMessage)
        assert at(pilot).sign == "+"

        await press(pilot, "enter")

        assert isinstance(pilot.app.screen, CompareScreen)
        assert said(pilot).startswith("message 4 stands in another session: ")

    drive(script, talk)


def test_what_cannot_be_compared_is_told_and_leads_back():
    async def script(pilot):
        await press(pilot, "d", "colon", *"gone.jsonl#@", "enter")
        assert isinstance(pilot.app.screen, ErrorScreen)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, ref="row=23")


def test_n_and_shift_n_go_from_change_to_change_and_say_where_they_end():
    async def script(pilot):
        await press(pilot, "d", "@", "g")
        pane = pilot.app.screen.pane
        total = pilot.app.screen._answer.comparison.counts.total
        met = []
        for _ in range(total):
            await press(pilot, "n")
            met.append(pane.block.change)
        assert met == list(range(total))
        await press(pilot, "n")
        assert said(pilot) == "no change below"
        for _ in range(total - 1):
            await press(pilot, "N")
        assert pane.block.change == 0
        await press(pilot, "N")
        assert said(pilot) == "no change above"

    drive(script, ref="row=23")


def test_the_screen_shows_what_it_says_after_every_jump():
    async def script(pilot):
        await press(pilot, "d", "@")
        pane = pilot.app.screen.pane
        for key in ("n", "n", "n", "G", "N", "N", "pageup", "g", "n", "pagedown"):
            await press(pilot, key)
            shown = [line[: pane.size.width].rstrip() for line in seen(pilot).split("\n")[2:-1]]
            wanted = [f" {pane._row(each).text.plain}".rstrip() for each in pane._seen]
            cursor = pane._seen.index(pane._at)
            shown[cursor], wanted[cursor] = shown[cursor][1:], wanted[cursor][1:]
            assert shown[: len(wanted)] == wanted, key

    drive(script, ref="row=23", size=(120, 24))


def test_enter_opens_an_equal_stretch_and_closes_it_again(talk):
    async def script(pilot):
        await press(pilot, "d", "d", "g")
        pane = pilot.app.screen.pane
        await press(pilot, "k")
        place = next(n for n, each in enumerate(pane.blocks) if isinstance(each.what, EqualRun))
        pane.to_block(place)
        closed = len(pane.blocks)
        await press(pilot, "enter")
        assert len(pane.blocks) == closed + 11
        assert "question number 7" in seen(pilot)
        await press(pilot, "enter")
        assert len(pane.blocks) == closed

    drive(script, talk)


def test_enter_on_a_message_leads_to_the_checkpoint_that_put_it_there(talk):
    async def script(pilot):
        await press(pilot, "d", "colon", *"row=3", "enter")
        assert rows(pilot) == [11, 2]
        changed = [each.what for each in pilot.app.screen.pane.blocks if each.change is not None]
        assert {each.sign for each in changed} == {"-"}
        await press(pilot, "g", "n", "n", "enter")
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert tree(pilot).cursor_row == changed[1].old_place
        assert said(pilot).startswith(f"message {changed[1].old_place + 1} comes from")

    drive(script, talk)


def test_i_compares_what_is_masked_too_and_masks_it_again():
    async def script(pilot):
        await press(pilot, "d", "@")
        screen = pilot.app.screen
        masked = screen._answer.comparison
        assert "i shows them" in seen(pilot)
        await press(pilot, "i")
        assert not screen._answer.comparison.masked
        assert screen._answer.comparison.counts.total > masked.counts.total
        await press(pilot, "i")
        assert screen._answer.comparison.counts == masked.counts

    drive(script, ref="row=23")


def test_o_compares_the_other_way_round():
    async def script(pilot):
        await press(pilot, "d", "@")
        before = pilot.app.screen._answer.comparison.counts
        await press(pilot, "o")
        after = pilot.app.screen._answer.comparison.counts
        assert rows(pilot) == [LEAF, DEAD_END]
        assert (before.added, before.removed) == (after.removed, after.added)

    drive(script, ref="row=23")


@pytest.mark.parametrize(("width", "is_beside"), [(80, False), (99, False), (100, True)])
def test_the_width_decides_how_it_is_laid_out_until_s_does(width, is_beside):
    async def script(pilot):
        await press(pilot, "d", "@")
        assert pilot.app.screen.pane._is_side_by_side is is_beside
        await press(pilot, "s")
        assert pilot.app.screen.pane._is_side_by_side is not is_beside

    drive(script, ref="row=23", size=(width, 30))


def test_l_shows_all_of_a_message_and_h_folds_it():
    async def script(pilot):
        await press(pilot, "d", "@", "g", "n", "n", "n")
        pane = pilot.app.screen.pane
        while "more line" not in "".join(row.text.plain for row in pane._rows_of(pane._at[0])):
            await press(pilot, "n")
        folded = len(pane._rows_of(pane._at[0]))
        await press(pilot, "l")
        assert len(pane._rows_of(pane._at[0])) > folded
        await press(pilot, "h")
        assert len(pane._rows_of(pane._at[0])) == folded
        await press(pilot, "h")
        assert said(pilot) == "this is folded already; l unfolds it"

    drive(script, ref="row=23")


def test_a_click_on_the_mini_map_leads_to_what_differs_there():
    async def script(pilot):
        await press(pilot, "d", "@", "g")
        mini_map = pilot.app.screen.query_one(MiniMap)
        y = mini_map.size.height - 1
        wanted = mini_map.block_at(y)
        await pilot.click(MiniMap, offset=(1, y))
        await settled(pilot)
        assert pilot.app.screen.pane._at == (wanted, 0)
        assert pilot.app.screen.pane.block.change is not None

    drive(script, ref="row=23")


def test_the_mini_map_shows_each_change_by_its_sign():
    async def script(pilot):
        await press(pilot, "d", "@")
        mini_map = pilot.app.screen.query_one(MiniMap)
        signs = {block.sign for block in pilot.app.screen.pane.blocks if block.change is not None}
        assert set(mini_map._signs()) - {" "} == signs

    drive(script, ref="row=23", size=(120, 50))


def test_copies_name_what_they_hold():
    async def script(pilot):
        await press(pilot, "d", "@", "G", "N", "n", "y", "b")
        assert said(pilot) == "copied message of B"
        assert '"role": "assistant"' in pilot.app.clipboard
        await press(pilot, "y", "a")
        assert said(pilot) == "nothing is copied"
        await press(pilot, "y", "c")
        assert re.fullmatch(r"ttdbg diff \S+pi\.jsonl#\S+ \S+pi\.jsonl#\S+", pilot.app.clipboard)

    drive(script, ref="row=23")


def test_x_exports_what_is_compared():
    async def script(pilot):
        await press(pilot, "d", "@", "x")
        assert isinstance(pilot.app.screen, ExportScreen)
        assert pilot.app.screen._aims == (22, 62)
        await press(pilot, "escape")
        assert said(pilot) == "nothing is written"

    drive(script, ref="row=23")


def test_an_answer_to_an_older_question_is_dropped():
    async def script(pilot):
        await press(pilot, "d", "@")
        screen = pilot.app.screen
        old = screen._answer
        await press(pilot, "o")
        screen.on_compared(old)
        assert rows(pilot) == [LEAF, DEAD_END]

    drive(script, ref="row=23")


def test_two_points_that_say_the_same_differ_in_nothing():
    async def script(pilot):
        await press(pilot, "d", "d")
        assert "nothing differs" in seen(pilot)
        await press(pilot, "n")
        assert said(pilot) == "no change below"

    drive(script, ref="row=23")


@pytest.mark.parametrize("size", SIZES)
def test_every_key_leaves_a_screen_that_fits(size):
    async def script(pilot):
        await press(pilot, "d", "@")
        for key in ("n", "n", "l", "j", "h", "s", "G", "i", "k", "s", "N", "pageup", "o", "g"):
            await press(pilot, key)
            pane = pilot.app.screen.pane
            assert pane._at in pane._seen
            assert len(pane._seen) <= pane.size.height
            assert all(pane._row(each).text.cell_len < pane.size.width for each in pane._seen)
        assert pilot.app.safety.caught == 0

    drive(script, ref="row=23", size=size)


def test_sizes_may_change_while_it_is_looked_at():
    async def script(pilot):
        await press(pilot, "d", "@", "G")
        for width, height in ((60, 10), (160, 50), (100, 24), (99, 24)):
            await pilot.resize_terminal(width, height)
            await settled(pilot)
            pane = pilot.app.screen.pane
            assert pane._at in pane._seen
            assert pane._is_side_by_side is (width >= 100)

    drive(script, ref="row=23")


def test_states_of_two_formats_are_compared_and_said_to_be():
    async def script(pilot):
        await press(pilot, "d", "colon")
        pilot.app.screen.query_one(Input).value = str(SAMPLES / "tau.jsonl")
        await press(pilot, "enter")
        assert "pi and tau are compared by what both can say" in seen(pilot)

    drive(script, ref="row=23")


def test_content_that_would_steer_a_terminal_is_shown_and_not_obeyed(tmp_path):
    bad = "\x1b]0;owned\x07 \u202e right \x9b31m"
    path = tmp_path / "s.jsonl"
    entries = [pi("a", None, user("harmless words")), pi("b", "a", assistant(bad, model=bad))]
    path.write_bytes(jsonl(PI_HEADER, *entries))

    async def script(pilot):
        await press(pilot, "d", "d", "l", "s", "y", "b")
        assert "\x1b" not in seen(pilot)

    app = drive(script, path)
    assert app.safety.caught == 0


def test_the_footer_of_the_smallest_terminal_has_the_way_back():
    async def script(pilot):
        await press(pilot, "d", "@")
        assert pilot.app.screen.query_one(BottomBar).render().plain.rstrip().endswith("q back")

    drive(script, ref="row=23", size=(80, 24))


def test_u_compares_all_that_was_ever_said_and_the_context_again():
    async def script(pilot):
        def gone():
            return pilot.app.screen._answer.comparison.counts.removed

        await press(pilot, "d", "@")
        compacted = gone()
        assert "all that was said" not in seen(pilot)
        await press(pilot, "u")
        assert "all that was said" in seen(pilot)
        assert gone() < compacted
        await press(pilot, "u")
        assert gone() == compacted

    drive(script, ref="row=39")


def test_keys_that_are_typed_at_once_go_where_they_should():
    async def script(pilot):
        for key in ("d", "colon", *"row", "equals_sign", *"39", "enter"):
            character = {"colon": ":", "equals_sign": "=", "enter": None}.get(key, key)
            pilot.app.post_message(events.Key(key, character))
        await settled(pilot)
        assert rows(pilot) == [22, 38]

    drive(script, ref="row=23")


def test_what_is_typed_as_a_file_that_is_not_there_is_no_ref():
    async def script(pilot):
        await press(pilot, "d", "colon", *"no.jsonl", "enter")
        assert isinstance(pilot.app.screen, ErrorScreen)
        assert "there is no such file" in seen(pilot)

    drive(script, ref="row=23")


def test_a_ref_may_have_its_sign_in_front():
    async def script(pilot):
        await press(pilot, "d", "colon", *"#row=10", "enter")
        assert rows(pilot) == [22, 9]

    drive(script, ref="row=23")


def test_a_bundle_opens_with_what_it_compares(tmp_path):
    path = tmp_path / "report.ttdbg"
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as debugger:
        points = [At(debugger, 22), At(debugger, 38)]
        path.write_text(exported(points, What.BUNDLE, "", Gate(None)).text)

    async def script(pilot):
        await settled(pilot)
        assert isinstance(pilot.app.screen, CompareScreen)
        assert [end.about.split()[-1] for end in pilot.app.screen._answer.ends] == [
            "d6ef00af",
            "d9daaefb",
        ]
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, path)
