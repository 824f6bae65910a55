"""Runs of rows that follow each other in the tree."""

from __future__ import annotations

from builders import memories, memory

from tt_debugger.core.runs import runs


def test_a_tree_is_walked_in_runs_of_rows_that_follow_each_other():
    _, session = memory(memories("a b c d<b e f<a"))

    assert [list(run) for run in runs(session, session.order)] == [[0, 1, 2], [3, 4], [5]]
    assert [list(run) for run in runs(session, (1, 2, 4))] == [[1, 2], [4]]
    assert list(runs(session, ())) == []
