"""A fold in words: what it holds, how it ended, and why it was left."""

from builders import session

from tt_debugger.core.changes import Append
from tt_debugger.core.folds import Fold
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Head, Kind, Role, Session
from tt_debugger.views.fold import FAILURES_LISTED, fold_lines, reason_row
from tt_debugger.views.palette import ANSI, UNICODE


def fold_of(loaded: Session, head: str, *names: str, is_branch: bool = True) -> list[str]:
    """Give the lines of a fold of some rows behind a row."""
    rows = [loaded.rows[name] for name in names]
    leaves = sum(not loaded.tree.child_count(row) for row in rows)
    failed = sum(loaded.heads.failed(row) for row in rows)
    ended = loaded.heads.time(rows[-1])
    fold = Fold(loaded.rows[head], is_branch, len(rows), failed, leaves, rows[0], rows[-1], ended)
    return [line.plain for line in fold_lines(loaded, fold, rows, ANSI, UNICODE)]


def said(name: str, text: str, time: float | None = None, *, failed: bool = False) -> Head:
    return Head(Kind.MESSAGE, Role.ASSISTANT, name, text, time, failed=failed)


def test_a_branch_that_was_left_says_what_it_holds_and_why_it_was_left():
    heads = {
        "b": said("asst", "Try polling", 1000),
        "c": said("bash", "1 failed", 1010, failed=True),
        "d": said("asst", "It does not help", 1075),
        "s": Head(Kind.BRANCH_SUMMARY, None, "branch", "Polling is a dead end"),
    }
    loaded = session("a b c d s<a e", heads=heads)

    assert fold_of(loaded, "b", "c", "d") == [
        "2 checkpoints, rows 3-4, folded: a branch that was left",
        "after      2 asst  Try polling",
        "began      1970-01-01 00:16:50.000 UTC",
        "ended      1970-01-01 00:17:55.000 UTC, after 1m05s",
        "ends with  4 asst  It does not help",
        "",
        "✗ 1 error",
        "  3 bash ✗ failed  1 failed",
        "",
        "why it was left  as row 5 sums it up",
        "Polling is a dead end",
    ]


def test_the_reason_is_told_in_full_once_it_is_read():
    heads = {"s": Head(Kind.BRANCH_SUMMARY, None, "branch", "Polling is …")}
    loaded = session("a b c d s<a e", heads=heads)
    message = {"role": "branchSummary", "summary": "Polling is a dead end"}
    append = Append(("messages",), message)
    reason = Inspection(loaded, loaded.rows["s"], (append,), None, None, b"", ())
    rows = [loaded.rows["c"], loaded.rows["d"]]
    fold = Fold(loaded.rows["b"], True, 2, 0, 1, rows[0], rows[1], None)

    told = [line.plain for line in fold_lines(loaded, fold, rows, ANSI, UNICODE, reason)]

    assert told[-3:] == [
        "why it was left  as row 5 sums it up",
        "branchSummary",
        "Polling is a dead end",
    ]


def test_a_leaf_that_is_a_label_is_shown_with_what_it_hangs_on():
    heads = {
        "c": said("asst", "The last word"),
        "d": Head(Kind.LABEL, None, "label", "dead end"),
    }

    lines = fold_of(session("a b c d e<a", heads=heads), "b", "c", "d")

    assert lines[2:4] == ["ends with  4 label  dead end", "           3 asst  The last word"]
    assert lines[4:] == ["", "no summary tells why it was left"]


def test_of_many_errors_the_first_ones_are_listed():
    names = [f"e{n}" for n in range(25)]
    heads = {name: said("bash", "no", failed=True) for name in names}
    loaded = session(f"a b {' '.join(names)} z<a", heads=heads)

    lines = fold_of(loaded, "b", *names)

    assert "✗ 25 errors" in lines
    assert sum(line.startswith("  ") and line[2] != " " for line in lines) == FAILURES_LISTED + 1
    assert lines[-3] == "  … 15 more errors"


def test_a_run_of_steps_gives_no_reason_and_has_no_end():
    heads = {"s": Head(Kind.BRANCH_SUMMARY, None, "branch", "why")}
    loaded = session("a b c d s", heads=heads)

    assert fold_of(loaded, "b", "c", "d", is_branch=False) == [
        "2 checkpoints, rows 3-4, folded: steps without an event",
        "after      2 ",
    ]


def test_rows_that_others_stand_between_are_not_called_a_range():
    loaded = session("a b c x<a d<c e<x")

    first, *_ = fold_of(loaded, "b", "c", "d")

    assert first == "2 checkpoints, among rows 3-5, folded: a branch that was left"


def summary() -> Head:
    return Head(Kind.BRANCH_SUMMARY, None, "branch", "why")


def test_the_reason_is_the_summary_written_when_the_branch_was_left():
    labelled = {"l": Head(Kind.LABEL), "s": summary(), "t": summary()}
    loaded = session("a b c d l s<a e t<a", heads=labelled)

    assert reason_row(loaded, loaded.rows["c"], loaded.rows["d"]) == loaded.rows["s"]


def test_a_summary_beside_the_head_is_the_reason_where_none_was_written_at_once():
    loaded = session("a b c x<a s<a", heads={"s": summary()})

    assert reason_row(loaded, loaded.rows["b"], loaded.rows["c"]) == loaded.rows["s"]


def test_a_branch_that_nobody_summed_up_has_no_reason():
    loaded = session("a b c d<a", heads={})

    assert reason_row(loaded, loaded.rows["b"], loaded.rows["c"]) is None
