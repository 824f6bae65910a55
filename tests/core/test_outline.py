"""The outline: which rows are lines, which are in folds, and where each row went."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from builders import ids_of, session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.chains import chains_of
from tt_debugger.core.filters import MASKS, Filter
from tt_debugger.core.folds import LONG_SESSION, Fold, Folding, FoldRule
from tt_debugger.core.lanes import lay_out
from tt_debugger.core.model import Head, Heads, Kind, Role, Session, SessionId
from tt_debugger.core.outline import Outline, outline
from tt_debugger.core.tree import NO_ROW

OPEN = Folding(FoldRule.NOTHING)
FOLDED = Folding(FoldRule.EVERYTHING)

_KINDS = (
    [Head(Kind.SNAPSHOT)] * 6
    + [Head(kind) for kind in Kind]
    + [
        Head(Kind.MESSAGE, Role.USER),
        Head(Kind.TOOL_RESULT, failed=True, time=5.0),
        Head(Kind.CUSTOM, summary="says something"),
    ]
)


def made_of(
    parents: array[int],
    heads: list[Head],
    active: int | None = None,
    labels: Mapping[int, str] | None = None,
) -> Session:
    columns = Heads()
    for head in heads:
        columns.append(head)
    ids = [f"m{row}" for row in range(len(parents))]
    return Session(SessionId("s"), "memory", columns, ids, parents, labels or {}, active)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Give a session of any tree and any heads, with or without an active leaf."""
    parents = draw(parent_rows(40))
    if draw(st.booleans()):
        # A linear run long enough to fold, somewhere in the tree.
        begin = len(parents)
        tip = draw(st.integers(NO_ROW, begin - 1))
        parents = parents + array("q", [tip, *range(begin, begin + draw(st.integers(6, 12)))])
    rows = st.integers(0, len(parents) - 1)
    heads = draw(st.lists(st.sampled_from(_KINDS), min_size=len(parents), max_size=len(parents)))
    if draw(st.booleans()):
        heads = [Head(Kind.SNAPSHOT)] * len(parents)
    labels = draw(st.dictionaries(rows, st.just("here"), max_size=2))
    return made_of(parents, heads, draw(st.none() | rows), labels)


filters = st.sampled_from(Filter)


@st.composite
def foldings(draw: st.DrawFn) -> Folding:
    """Give a folding of a small session, with some rows opened and some closed by hand."""
    rows = st.frozensets(st.integers(0, 20), max_size=4)
    opened = draw(rows)
    return Folding(draw(st.sampled_from(FoldRule)), opened, draw(rows) - opened)


def visible_rows(made: Session, chosen: Filter) -> list[int]:
    mask = made.traits.translate(MASKS[chosen])
    return [row for row in made.tree.parents_first() if mask[row]]


def nearest(made: Session, visible: set[int], row: int) -> int:
    """Give the nearest visible one of a row and its ancestors."""
    return next((each for each in made.tree.ancestors(row) if each in visible), NO_ROW)


def said(drawn: Outline) -> Any:
    """Give all that an outline shows, as one value."""
    return list(drawn.lines), list(drawn.lanes), list(drawn.places), list(drawn.folds)


def lines_of(made: Session, drawn: Outline) -> list[str]:
    """Give each line as the id of its row, or as what is folded behind which."""
    lines: list[str] = []
    for place in range(len(drawn)):
        fold = drawn.fold_at(place)
        if fold is None:
            lines.append(made.ids[drawn.row_at(place)])
        else:
            what = "branch" if fold.is_branch else "run"
            lines.append(f"{what} {made.ids[fold.head]}: {ids_of(made, drawn.rows_at(place))}")
    return lines


@given(sessions(), filters, foldings())
def test_each_visible_row_is_on_a_line_or_in_one_fold(
    made: Session, chosen: Filter, folding: Folding
):
    drawn = outline(made, chosen, folding)

    stands = Counter(row for place in range(len(drawn)) for row in drawn.rows_at(place))
    assert stands == Counter(visible_rows(made, chosen))
    on_lines = sum(line >= 0 for line in drawn.lines)
    assert drawn.shown == on_lines + sum(fold.count for fold in drawn.folds)
    assert [~line for line in drawn.lines if line < 0] == list(range(len(drawn.folds)))


@given(sessions(), filters, foldings())
def test_each_row_has_the_place_of_what_stands_for_it_or_for_its_nearest_visible_ancestor(
    made: Session, chosen: Filter, folding: Folding
):
    drawn = outline(made, chosen, folding)

    stands = {row: place for place in range(len(drawn)) for row in drawn.rows_at(place)}
    visible = set(visible_rows(made, chosen))
    expected = [stands.get(nearest(made, visible, row), NO_ROW) for row in range(len(made))]
    assert list(drawn.places) == expected
    assert all(drawn.places[drawn.row_at(place)] == place for place in range(len(drawn)))


@given(sessions(), filters, foldings())
def test_a_fold_says_what_it_holds(made: Session, chosen: Filter, folding: Folding):
    drawn = outline(made, chosen, folding)
    visible = set(visible_rows(made, chosen))
    hung_on = {
        nearest(made, visible, made.parents[row]) for row in visible if made.parents[row] >= 0
    }

    for place in range(len(drawn)):
        fold, rows = drawn.fold_at(place), drawn.rows_at(place)
        if fold is not None:
            assert fold == Fold(
                head=nearest(made, visible, made.parents[rows[0]]),
                is_branch=fold.is_branch,
                count=len(rows),
                failed=sum(made.heads[row].failed for row in rows),
                leaves=sum(row not in hung_on for row in rows),
                first=rows[0],
                last=rows[-1],
                ended=made.heads[rows[-1]].time,
            )
            if fold.is_branch:
                assert drawn.lines[place - 1] == fold.head


@given(sessions(), filters)
def test_with_everything_open_all_that_the_filter_shows_is_a_line(made: Session, chosen: Filter):
    drawn = outline(made, chosen, OPEN)

    assert list(drawn.lines) == visible_rows(made, chosen)
    assert len(drawn.folds) == 0


@given(sessions(), filters, foldings())
def test_lines_stay_in_time_order_but_for_the_folds_of_branches(
    made: Session, chosen: Filter, folding: Folding
):
    drawn = outline(made, chosen, folding)

    order = {row: position for position, row in enumerate(made.tree.parents_first())}
    branches = {
        place for place in range(len(drawn)) if getattr(drawn.fold_at(place), "is_branch", 0)
    }
    shown = [order[drawn.row_at(place)] for place in range(len(drawn)) if place not in branches]
    assert shown == sorted(shown)


@given(sessions(), filters, foldings(), st.data())
def test_what_is_revealed_is_on_a_line_of_its_own(
    made: Session, chosen: Filter, folding: Folding, data: st.DataObject
):
    row = data.draw(st.integers(0, len(made) - 1))
    drawn = outline(made, chosen, folding)

    revealed = outline(made, chosen, drawn.revealing(row))

    wanted = nearest(made, set(visible_rows(made, chosen)), row)
    place = revealed.places[row]
    assert wanted == (NO_ROW if place == NO_ROW else revealed.lines[place])
    assert outline(made, chosen, revealed.revealing(row)).folding == revealed.folding


@given(sessions(), filters, foldings(), st.data())
def test_what_is_closed_and_opened_again_is_as_it_was(
    made: Session, chosen: Filter, folding: Folding, data: st.DataObject
):
    row = data.draw(st.integers(0, len(made) - 1))
    before = outline(made, chosen, folding)

    closing = before.closing(row)

    if closing is not None:
        closed = outline(made, chosen, closing)
        fold = closed.fold_at(closed.places[row])
        heads = (closing.closed | folding.opened) - (folding.closed | closing.opened)
        (head,) = heads
        assert len(closed) < len(before)
        assert fold is None or fold.head == head
        assert said(outline(made, chosen, closing.opening(head))) == said(before)


@given(sessions(), filters, foldings(), st.data())
def test_closing_again_and_again_ends(
    made: Session, chosen: Filter, folding: Folding, data: st.DataObject
):
    row = data.draw(st.integers(0, len(made) - 1))
    drawn = outline(made, chosen, folding)
    for _ in range(len(made) + 1):
        closing = drawn.closing(row)
        if closing is None:
            break
        drawn = outline(made, chosen, closing)

    assert drawn.closing(row) is None


@given(sessions(), filters, foldings())
def test_a_fold_is_opened_by_its_head(made: Session, chosen: Filter, folding: Folding):
    drawn = outline(made, chosen, folding)

    for place in range(len(drawn)):
        fold = drawn.fold_at(place)
        if fold is not None:
            opened = outline(made, chosen, folding.opening(fold.head))
            assert opened.lines[opened.places[fold.first]] == fold.first


@given(sessions(), filters, foldings())
def test_the_active_path_is_in_lane_0_whatever_is_folded(
    made: Session, chosen: Filter, folding: Folding
):
    drawn = outline(made, chosen, folding)

    for place in range(len(drawn)):
        if made.on_active_path[drawn.row_at(place)]:
            assert drawn.lanes[place].lane == 0


@given(sessions(), filters, foldings())
def test_the_active_leaf_is_in_no_fold(made: Session, chosen: Filter, folding: Folding):
    drawn = outline(made, chosen, folding)

    if made.active in visible_rows(made, chosen):
        assert made.active in drawn.lines


@given(sessions(), filters, foldings())
def test_lines_are_laid_out_like_rows_that_hang_on_what_stands_for_their_parents(
    made: Session, chosen: Filter, folding: Folding
):
    drawn = outline(made, chosen, folding)

    above: list[int] = []
    for place in range(len(drawn)):
        fold, parent = drawn.fold_at(place), made.parents[drawn.row_at(place)]
        if fold is not None:
            above.append(drawn.places[fold.head])
        else:
            above.append(NO_ROW if parent == NO_ROW else drawn.places[parent])
    active = bytes(made.on_active_path[drawn.row_at(place)] for place in range(len(drawn)))
    assert all(place < line for line, place in enumerate(above))
    assert list(drawn.lanes) == list(lay_out(chains_of(above), active))


def test_a_branch_folds_to_its_first_row_and_a_line_and_gives_its_lane_back():
    made = session("a b x<a y z w<x c<b d", active="d")

    drawn = outline(made)

    assert lines_of(made, drawn) == ["a", "b", "x", "branch x: y z w", "c", "d"]
    assert [row.lane for row in drawn.lanes] == [0, 0, 1, 1, 0, 0]
    assert list(drawn.places) == [0, 1, 2, 3, 3, 3, 4, 5]
    assert drawn.folds[0] == Fold(2, True, 3, 0, 2, 3, 5, None)


def test_what_is_behind_a_branch_is_not_worth_a_fold_if_it_is_one_row():
    made = session("a x<a y b<a c", active="c")

    assert lines_of(made, outline(made)) == ["a", "x", "y", "b", "c"]


def test_another_root_is_a_branch():
    made = session("a b r< s t c<b", active="c")

    assert lines_of(made, outline(made)) == ["a", "b", "r", "branch r: s t", "c"]


def test_without_an_active_leaf_the_newest_child_goes_on():
    made = msgspec.structs.replace(session("a b c d e<a f g h"), active=None)

    assert lines_of(made, outline(made)) == ["a", "b", "branch b: c d", "e", "f", "g", "h"]


def test_a_branch_of_an_opened_branch_folds_by_the_same_rule():
    made = session("a b x<a y z p<x q r s<z c<b", active="c")
    folding = Folding().opening(made.rows["x"])

    drawn = outline(made, Filter.ALL, folding)

    assert lines_of(made, drawn) == ["a", "b", "x", "y", "branch y: z s", "p", "q", "r", "c"]


def test_a_run_is_folded_by_hand_in_a_short_session_between_what_is_eventful():
    made = session(
        "a b c d e f g h i j k",
        heads={"b": Head(Kind.MODEL_CHANGE)},
        labels={"j": "here"},
    )

    closing = outline(made).closing(made.rows["e"])

    assert closing == Folding().closing(made.rows["b"])
    drawn = outline(made, Filter.ALL, closing)
    assert lines_of(made, drawn) == ["a", "b", "run b: c d e f g h i", "j", "k"]
    assert [row.lane for row in drawn.lanes] == [0] * 5
    assert outline(made).closing(made.rows["b"]) is None


def test_a_run_goes_on_past_the_rows_of_a_branch_between_its_own():
    made = session("a x<a b<a y<x c<b z<y d<c e f g h i", active="i")

    drawn = outline(made, Filter.ALL, FOLDED.opening(made.rows["x"]))

    assert lines_of(made, drawn) == ["a", "x", "b", "y", "run b: c d e f g h", "z", "i"]


@pytest.mark.parametrize(("count", "folds"), [(LONG_SESSION, 0), (LONG_SESSION + 1, 1)])
def test_runs_fold_by_themselves_in_a_long_session(count: int, folds: int):
    made = made_of(array("q", range(-1, count - 1)), [Head(Kind.SNAPSHOT)] * count, count - 1)

    drawn = outline(made)

    assert len(drawn.folds) == folds
    assert len(drawn) == (3 if folds else count)


def test_an_active_leaf_in_the_middle_of_a_run_is_shown():
    made = session("a b c d e f g h i j k l m n o p", active="h")

    drawn = outline(made, Filter.ALL, FOLDED)

    assert lines_of(made, drawn) == ["a", "run a: b c d e f g", "h", "run h: i j k l m n o", "p"]


_EVERY_KIND = {
    "user": Head(Kind.MESSAGE, Role.USER),
    "asst": Head(Kind.MESSAGE, Role.ASSISTANT),
    "call": Head(Kind.TOOL_CALL),
    "result": Head(Kind.TOOL_RESULT, Role.USER),
    "failed": Head(Kind.TOOL_RESULT, failed=True),
    "label": Head(Kind.LABEL),
    "setting": Head(Kind.SETTING),
    "silent": Head(Kind.CUSTOM),
    "custom": Head(Kind.CUSTOM, summary="x"),
    "model": Head(Kind.MODEL_CHANGE),
    "compaction": Head(Kind.COMPACTION),
    "marked": Head(Kind.SETTING),
    "gap": Head(Kind.GAP),
    "unreadable": Head(Kind.UNREADABLE),
}


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        (
            Filter.DEFAULT,
            "user asst call result failed custom model compaction marked gap unreadable",
        ),
        (Filter.NO_TOOLS, "user asst custom model compaction marked gap unreadable"),
        (Filter.USER, "user"),
        (Filter.LABELLED, "marked"),
        (Filter.ERRORS, "failed gap unreadable"),
        (Filter.CHANGES, "setting silent custom model compaction marked"),
        (Filter.ALL, " ".join(_EVERY_KIND)),
    ],
)
def test_a_filter_shows_these(chosen: Filter, shown: str):
    made = session(" ".join(_EVERY_KIND), heads=_EVERY_KIND, labels={"marked": "here"})

    assert ids_of(made, outline(made, chosen, OPEN).lines) == shown


def test_an_empty_session_has_an_empty_outline():
    made = made_of(array("q"), [])

    assert said(outline(made, Filter.DEFAULT)) == ([], [], [], [])


def test_what_hung_on_a_hidden_row_stays_on_its_branch():
    hidden = {"b": Head(Kind.SETTING), "d": Head(Kind.SETTING)}
    made = session("a b c d<b e f<d", active="c", heads=hidden)

    drawn = outline(made, Filter.DEFAULT)

    assert ids_of(made, drawn.lines) == "a c e f"
    assert [row.lane for row in drawn.lanes] == [0, 0, 2, 1]
    assert list(drawn.places) == [0, 0, 1, 0, 2, 3]


def test_on_the_fold_of_a_branch_the_branch_around_it_is_closed():
    made = session("a b x<a y z p<x q r s<z c<b", active="c")
    drawn = outline(made, Filter.ALL, OPEN.closing(made.rows["y"]))

    assert lines_of(made, drawn)[3:5] == ["y", "branch y: z s"]
    assert drawn.closing(made.rows["s"]) == drawn.folding.closing(made.rows["x"])


def test_an_opened_run_stays_open_where_the_others_are_folded():
    made = session("a b c d e f g h i j k l m n o p", active="h")

    drawn = outline(made, Filter.ALL, FOLDED.opening(made.rows["a"]))

    assert lines_of(made, drawn) == [*"abcdefgh", "run h: i j k l m n o", "p"]


def test_the_row_behind_the_first_of_a_branch_is_in_no_run():
    made = session("a x<a p q r s t u v w b<a", active="b")
    x, p, q = (made.rows[name] for name in "xpq")

    drawn = outline(made, Filter.ALL, FOLDED.opening(x))

    assert lines_of(made, drawn) == ["a", "x", "p", "run p: q r s t u v", "w", "b"]
    assert outline(made, Filter.ALL, FOLDED).revealing(p) == FOLDED.opening(x)
    assert outline(made, Filter.ALL, FOLDED).revealing(q) == FOLDED.opening(x, p)
