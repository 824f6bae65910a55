"""Families and projects: which sessions belong together, and how they stand below each other."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.families import Project, Relative, families, projects
from tt_debugger.core.listed import by_project
from tt_debugger.core.listing import Entry, Facts, named_id, short_ids

MOST = 8


def entry(name: str, *, parent: str = "", cwd: str = "/p", **facts: object) -> Entry:
    known = Facts(id=name, forked_from=parent, cwd=cwd, **facts)
    return Entry(f"/s/{name}.jsonl", "pi", 1, 0.0, facts=known, is_kept=True)


def drawn(found: list[list[Relative]]) -> list[str]:
    """Give each family in one line: ids, each behind a dot for each step down."""
    return [" ".join("." * len(one.trail) + one.entry.id for one in each) for each in found]


def test_who_says_what_it_was_forked_from_stands_below_it():
    entries = [entry("c", parent="b"), entry("x"), entry("b", parent="a"), entry("a")]

    assert drawn(families(entries)) == ["a .b ..c", "x"]


def test_a_parent_is_named_by_its_id_its_path_or_the_name_of_its_file_elsewhere():
    entries = [
        entry("a"),
        entry("b", parent="/s/a.jsonl"),
        entry("c", parent="/moved/from/a.jsonl"),
        entry("d", parent="a"),
        entry("e", parent="/gone/z.jsonl"),
    ]

    assert drawn(families(entries)) == ["a .b .c .d", "e"]


def test_children_stay_in_their_order_and_their_trail_tells_who_follows():
    entries = [entry("b", parent="a"), entry("d", parent="b"), entry("c", parent="a"), entry("a")]

    (found,) = families(entries)

    assert [(one.entry.id, one.trail) for one in found] == [
        ("a", ()),
        ("b", (True,)),
        ("d", (True, False)),
        ("c", (False,)),
    ]


def test_copies_are_told_by_how_they_begin_and_the_first_is_their_head():
    entries = [
        entry("late", openings=("q1", "t1"), began=9.0),
        entry("early", openings=("q1",), began=2.0),
        entry("other", openings=("q2",), began=1.0),
        entry("cut", openings=("t1",), began=9.5),
    ]

    assert drawn(families(entries)) == ["early .late ..cut", "other"]


def test_of_copies_that_began_at_once_the_one_that_others_name_is_the_head():
    entries = [
        entry("a", openings=("q",), began=1.0),
        entry("b", openings=("q",), began=1.0),
        entry("c", parent="b", openings=("q",), began=1.0),
    ]

    assert drawn(families(entries)) == ["b .a .c"]


def test_what_a_session_started_stands_below_it():
    entries = [entry("agent", openings=("q",)), entry("main", started=("/s/agent.jsonl",))]

    assert drawn(families(entries)) == ["main .agent"]


def test_a_project_is_a_folder_and_an_agent_and_a_family_stands_where_its_head_does():
    entries = [entry("b", parent="a", cwd="/q"), entry("x", cwd="/q"), entry("a", cwd="/p")]

    found = projects(entries)

    assert [(each.cwd, drawn([list(each.relatives)])) for each in found] == [
        ("/p", ["a .b"]),
        ("/q", ["x"]),
    ]
    lines = by_project(entries)
    assert [type(each) for each in lines] == [Project, Relative, Relative, Project, Relative]


def test_what_was_not_read_yet_stands_under_the_folder_of_its_file():
    unread = Entry("/agents/pi/--p--/a.jsonl", "pi", 1, 0.0, is_kept=True)

    assert [each.cwd for each in projects([unread])] == ["/agents/pi/--p--"]


@given(st.lists(st.integers(0, MOST), max_size=MOST), st.lists(st.sampled_from("pq"), min_size=9))
def test_every_session_has_one_place_below_its_parent_whatever_they_say(said, begun):
    entries = [
        entry(str(own), parent=str(parent), openings=(begun[own],), began=float(own))
        for own, parent in enumerate(said)
    ]

    found = families(entries)

    flat = [one for each in found for one in each]
    assert sorted(one.entry.id for one in flat) == sorted(each.id for each in entries)
    for each in found:
        depths = [len(one.trail) for one in each]
        assert depths[0] == 0
        assert all(0 < after <= before + 1 for before, after in pairwise(depths))


def test_a_chain_of_thousands_is_no_deeper_than_it_can_be_drawn():
    entries = [entry(str(own), parent=str(own - 1)) for own in range(3000)]

    (found,) = families(entries)

    assert len(found[-1].trail) == 2999


def test_ids_are_shortened_to_what_tells_them_apart():
    ids = ["0199f3a2-1111", "0199f3a2-1122", "abcdef0123456789", "xyz"]

    assert short_ids(ids) == {
        "0199f3a2-1111": "0199f3a2-111",
        "0199f3a2-1122": "0199f3a2-112",
        "abcdef0123456789": "abcdef01",
        "xyz": "xyz",
    }


def test_the_name_of_a_file_tells_its_id():
    uuid = "742a8063-1f26-42aa-dcde-d20443b30f66"
    names = {
        f"/s/2026-11-30T00-40-44-000Z_{uuid}.jsonl": uuid,
        "/s/2026-11-30T00-40-44-000Z_my_own.jsonl": "my_own",
        f"C:\\s\\rollout-2026-03-04T10-00-00-{uuid}.jsonl.zst": uuid,
        "/s/a6a3a4500000.jsonl": "a6a3a4500000",
        "/s/notes.json": "notes",
    }

    assert {path: named_id(path) for path in names} == names
