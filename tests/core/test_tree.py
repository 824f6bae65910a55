"""The tree: links of any kind become one, and it answers as a slow oracle would."""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Callable, Sequence

import pytest
from builders import codes, tree
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.tree import NO_ROW, Links, Tree, link

DEEP = 50_000


def linked(*pairs: tuple[object, object]) -> tuple[list[str], list[int], list[str]]:
    """Give the ids, parents and codes of links that stand on lines 1, 2, ..."""
    links = Links()
    for line, (own, parent) in enumerate(pairs, 1):
        links.append(own, parent, f"L{line}")
    found = link(links, lambda row: (row + 1, None))
    return list(found.ids), list(found.parents), codes(found.findings)


def test_each_record_hangs_on_the_one_it_names():
    assert linked(("a", None), ("b", "a"), ("c", "a")) == (["a", "b", "c"], [-1, 0, 0], [])


def test_a_parent_may_stand_later_in_the_file():
    assert linked(("b", "a"), ("a", None)) == (["b", "a"], [1, -1], [])


def test_a_missing_parent_makes_a_root_and_a_finding():
    assert linked(("b", "gone")) == (["b"], [-1], ["TT201"])


def test_of_several_records_with_one_id_the_last_keeps_it_and_the_children():
    ids, parents, found = linked(("a", None), ("a", None), ("b", "a"), ("a", None))

    assert ids == ["a@1", "a@2", "b", "a"]
    assert parents == [-1, -1, 3, -1]
    assert found == ["TT202", "TT202"]


def test_a_name_for_a_duplicate_that_is_taken_gets_a_mark():
    assert linked(("a", None), ("a", None), ("a@1", None))[0] == ["a@1'", "a", "a@1"]


def test_a_record_without_an_id_is_named_by_its_line_and_that_is_no_finding():
    assert linked((None, None), ("b", None)) == (["L1", "b"], [-1, -1], [])


def test_a_name_by_line_is_not_taken_from_a_record_that_has_it():
    assert linked((None, None), ("L1", None))[0] == ["L1'", "L1"]


def test_nothing_hangs_on_a_name_that_the_file_does_not_hold():
    assert linked((None, None), ("b", "L1")) == (["L1", "b"], [-1, -1], ["TT201"])


@pytest.mark.parametrize("odd", [7, 1.5, True, ["a"], {"a": 1}])
def test_an_id_that_is_not_text_counts_as_absent(odd: object):
    assert linked((odd, None), ("b", odd)) == (["L1", "b"], [-1, -1], ["TT204", "TT201"])


@pytest.mark.parametrize(
    ("parents", "cut"),
    [
        ([0], [NO_ROW]),
        ([1, 0], [NO_ROW, 0]),
        ([2, 0, 1], [NO_ROW, 0, 1]),
        ([1, 2, 1, 2], [1, NO_ROW, 1, 2]),
        ([1, 0, 3, 2], [NO_ROW, 0, NO_ROW, 2]),
    ],
)
def test_the_lowest_line_of_a_cycle_loses_its_parent(parents: list[int], cut: list[int]):
    pairs = [(f"r{row}", f"r{parent}") for row, parent in enumerate(parents)]

    assert linked(*pairs)[1:] == (cut, ["TT203"] * cut.count(NO_ROW))


@given(
    st.lists(
        st.tuples(
            st.one_of(st.sampled_from("abcd"), st.none(), st.just(7), st.just("L2"), st.just("")),
            st.one_of(st.sampled_from("abcd"), st.none(), st.just(7), st.just("gone")),
        ),
        max_size=10,
    )
)
def test_whatever_the_links_are_ids_are_distinct_and_every_path_ends(
    pairs: list[tuple[object, object]],
):
    ids, parents, _ = linked(*pairs)

    assert len(set(ids)) == len(ids) == len(parents) == len(pairs)
    assert all(ids)
    for row in range(len(parents)):
        assert len(Tree(parents).path_to(row)) <= len(parents)


def naive_path(parents: Sequence[int], row: int) -> list[int]:
    return [*([] if parents[row] == NO_ROW else naive_path(parents, parents[row])), row]


def naive_children(parents: Sequence[int], row: int) -> list[int]:
    return [child for child, parent in enumerate(parents) if parent == row]


@given(parent_rows())
def test_paths_children_and_leaves_are_those_of_the_parents(parents: array[int]):
    asked = Tree(parents)

    for row in range(len(parents)):
        path = naive_path(parents, row)
        assert asked.path_to(row) == path == list(asked.ancestors(row))[::-1]
        assert asked.depth(row) == len(path) - 1
        assert list(asked.children(row)) == naive_children(parents, row)
        assert asked.child_count(row) == len(naive_children(parents, row))
    assert list(asked.children(NO_ROW)) == naive_children(parents, NO_ROW)
    assert asked.deepest == max(map(asked.depth, range(len(parents))))
    assert asked.leaves() == [row for row in range(len(parents)) if row not in parents]
    forks = [row for row in range(len(parents)) if len(naive_children(parents, row)) > 1]
    assert asked.forks() == forks


@st.composite
def runs_with_branches(draw: st.DrawFn) -> array[int]:
    """Give a tree of long runs, some rows of which hang elsewhere: on any row but those below."""
    parents = array("q", range(NO_ROW, draw(st.integers(1, 60)) - 1))
    for row in draw(st.lists(st.integers(0, len(parents) - 1), max_size=6)):
        above = draw(st.integers(NO_ROW, len(parents) - 1))
        if above == NO_ROW or row not in naive_path(parents, above):
            parents[row] = above
    return parents


@given(runs_with_branches(), st.data())
def test_what_is_known_of_runs_is_known_of_each_row(parents: array[int], data: st.DataObject):
    asked = Tree(parents)
    row = data.draw(st.integers(0, len(parents) - 1))
    path = naive_path(parents, row)

    climbed = [each for begin, end in asked.stretches_above(row) for each in range(begin, end)]
    assert sorted(climbed) == sorted(path)
    assert (
        [asked.ancestor_at(row, depth) for depth in range(len(path))] == path == asked.path_to(row)
    )
    assert [asked.depth(each) for each in path] == list(range(len(path)))
    assert asked.deepest == max(len(naive_path(parents, each)) for each in range(len(parents))) - 1
    assert list(asked.children(row)) == naive_children(parents, row)
    assert asked.child_count(row) == len(naive_children(parents, row))
    assert asked.has_parents_first == all(parent < each for each, parent in enumerate(parents))


def roots(asked: Tree) -> Sequence[int]:
    return asked.children(NO_ROW)


@pytest.mark.parametrize("question", [Tree.leaves, Tree.forks, Tree.parents_first, roots])
def test_no_jump_pointers_are_made_for_what_does_not_ask_for_an_ancestor(
    question: Callable[[Tree], object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.core.tree._chain_tree", None)

    question(tree("a b c<a d"))

    with pytest.raises(TypeError):
        tree("a b c<a d").depth(3)


@given(parent_rows(), st.data())
def test_ancestors_by_jumps_are_those_step_by_step(parents: array[int], data: st.DataObject):
    asked = Tree(parents)
    rows = st.integers(0, len(parents) - 1)
    row, other = data.draw(rows), data.draw(rows)
    path, others = naive_path(parents, row), naive_path(parents, other)
    shared = [mine for mine, theirs in zip(path, others, strict=False) if mine == theirs]

    assert [asked.ancestor_at(row, depth) for depth in range(len(path))] == path
    assert asked.is_ancestor(other, row) == (other in path)
    assert asked.common_ancestor(row, other) == (shared[-1] if shared else NO_ROW)


@given(parent_rows())
def test_parents_first_keeps_the_storage_order_but_for_rows_that_wait(parents: array[int]):
    order: list[int] = []

    def emit(row: int, reached: int) -> None:
        order.append(row)
        for child in naive_children(parents, row):
            if child < reached:
                emit(child, reached)

    for row, parent in enumerate(parents):
        if parent == NO_ROW or parent in order:
            emit(row, row)

    assert Tree(parents).parents_first() == order
    assert sorted(order) == list(range(len(parents)))


@pytest.mark.parametrize("depth", [-1, 2])
def test_no_ancestor_is_given_for_a_depth_that_the_row_does_not_have(depth: int):
    with pytest.raises(ValueError, match="has depth 1"):
        tree("a b c").ancestor_at(1, depth)


def test_rows_of_different_roots_have_no_common_ancestor():
    assert tree("a b x< y").common_ancestor(1, 3) == NO_ROW


def test_an_empty_tree_has_neither_roots_nor_leaves():
    empty = Tree(array("q"))

    assert (list(empty.children(NO_ROW)), empty.leaves(), empty.parents_first()) == ([], [], [])
    assert (len(empty), empty.deepest) == (0, 0)


@pytest.mark.parametrize("order", ["in order", "backwards", "shuffled"])
def test_a_path_may_be_fifty_thousand_long_in_any_order(order: str):
    places = list(range(DEEP))
    if order == "backwards":
        places.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(places)  # noqa: S311 - an order, no secret
    parents = array("q", [NO_ROW]) * DEEP
    for above, below in itertools.pairwise(places):
        parents[below] = above

    deep = Tree(parents)

    assert deep.path_to(places[-1]) == places
    assert deep.parents_first() == places
    assert deep.ancestor_at(places[-1], 17) == places[17]
    assert deep.common_ancestor(places[-1], places[30_000]) == places[30_000]


def test_a_cycle_of_fifty_thousand_is_cut_once():
    links = Links()
    for row in range(DEEP):
        links.append(f"r{row}", f"r{(row + 1) % DEEP}", f"L{row}")

    found = link(links)

    assert codes(found.findings) == ["TT203"]
    assert found.parents[0] == NO_ROW
