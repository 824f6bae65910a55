"""Hostile and damaged files: nothing acts, nothing hangs, nothing is lost in silence."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from builders import jsonl, load
from hostile_files import ATTACK, HEADER, SAMPLES, pi, said, tau_said, write_hostile_files
from terminal import FULL_SCREEN, JSON, LINES, PIPE, plain, run, transgressions

from tt_debugger.cli.main import main
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.opening import is_folder

LONGEST = 10
"""Seconds of work after which a hang becomes a failure; what is right here takes milliseconds."""
LONGEST_WAIT = 240
"""Seconds after which what only waits becomes one too: others may have the processor."""

COMMANDS = [
    ("log",),
    ("log", "--json"),
    ("show",),
    ("show", "--json"),
    ("show", "--resume"),
    ("show", "--resume", "--json"),
    ("show", "--uncompacted"),
    ("replay",),
    ("replay", "--states"),
    ("replay", "--states", "--json"),
    ("replay", "--uncompacted", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("doctor", "--deep", "--json"),
    ("diff", "#root", "--json"),
    ("diff", "#root", "--no-mask", "--uncompacted"),
    ("diff", "#root", "--stat"),
    ("export", "--format", "json"),
    ("export", "--format", "html"),
    ("export", "#root", "--format", "markdown"),
    ("watch", "/messages"),
    ("watch", "", "--json"),
    ("watch", "messages[-1]"),
    ("watch", "--when", "error or text~ignore"),
    ("blame",),
    ("blame", "--json"),
    ("blame", "/messages", "--origin"),
    ("bisect", "--when", "error"),
    ("bisect", "--when", "length(messages) > 2", "--scan", "--json"),
    ("grep", "--when", "error or messages>1"),
    ("log", "--stat"),
    ("log", "--stat", "--json"),
    ("formats",),
    ("open",),
]


class Seen(NamedTuple):
    """What is right for a file: its tree (`id<parent`), active leaf, findings, bytes skipped."""

    format: str | None
    tree: str
    active: str | None
    findings: str = ""
    """`code:line` of each, by line."""
    skipped: int = 0


ONE = Seen("pi", "a<", "a")
"""One message, and nothing wrong with the file: the attack is in the text."""

READABLE = {
    "H01_osc52.jsonl": ONE,
    "H02_title.jsonl": ONE,
    "H03_osc8.jsonl": ONE,
    "H04_clear_home.jsonl": ONE,
    "H05_c1.jsonl": ONE,
    "H06_dcs_apc.jsonl": ONE,
    "H07_query.jsonl": ONE,
    "H08_cr_bs.jsonl": ONE,
    "H09_unterminated_osc.jsonl": ONE,
    "H10_ris.jsonl": ONE,
    "H12_split_esc_at_chunk.jsonl": ONE,
    "H14_bidi_trojan.jsonl": ONE,
    "H15_zero_width_tags.jsonl": Seen("pi", "a< a\u200b<a", "a\u200b"),
    "H16_zalgo.jsonl": ONE,
    "H18_textual_markup.jsonl": Seen("pi", "a< b<a", "b"),
    # One record too deep: a gap in its place; what names it as parent is a root.
    "H20_deep_array.jsonl": Seen("pi", "gap@2< b<", "b", "TT101:2 TT201:3 TT403:3", 6049),
    "H21_pi.jsonl": Seen("pi", "gap@2< b<", "b", "TT101:2", 100001),
    "H22_pi.jsonl": Seen("pi", "a< b<a c<b d<c e<d", "e"),
    "H23_duplicate_keys.jsonl": Seen("pi", "b<", "b", "TT402:1 TT407:1 TT201:1"),
    "H24_invalid_utf8.jsonl": Seen("pi", "a< b<", "b", "TT105:2 TT407:2"),
    "H25_nan_infinity.jsonl": Seen(
        "pi", "a< b< c<", "c", "TT108:1 TT403:1 TT407:1 TT108:2 TT403:2 TT407:2 TT402:3"
    ),
    "H25_pi.jsonl": Seen("pi", "a< b<a", "b", "TT108:2 TT403:2 TT108:3 TT403:3"),
    "H26_nul_bytes.jsonl": Seen("pi", "gap@2< a< b<", "b", "TT101:2 TT407:4", 4097),
    "H27_bom.jsonl": Seen("pi", "a<", "a", "TT104:1 TT402:1"),
    "H27_bom_tau.jsonl": Seen("tau", "a<", "a", "TT104:1 TT402:1"),
    "H28_crlf.jsonl": Seen("pi", "a< b<a", "b"),
    # A lone carriage return ends a line for Tau; for Pi these are three records on one line.
    "H28_lone_cr.jsonl": Seen("pi", "a< b<a", "b", "TT403:1 TT107:1 TT107:1 TT103:1"),
    "H28_lone_cr_tau.jsonl": Seen("tau", "a< b<a", "b", "TT103:1"),
    "H30_empty.jsonl": Seen(None, "", None),
    "H31_only_newlines.jsonl": Seen(None, "", None),
    "H32_not_objects.jsonl": Seen(
        "pi", "gap@1< a<", "a", "TT402:1 TT101:1 TT101:2 TT101:3 TT101:4 TT101:5", 21
    ),
    "H33_two_objects_one_line.jsonl": Seen("pi", "a< b<a", "b", "TT403:2 TT107:2"),
    "H33_tau.jsonl": Seen("tau", "a< b<a", "b", "TT107:1 TT402:1"),
    # The lowest line of a cycle is the one that loses its parent.
    "H34_parent_cycle.jsonl": Seen("pi", "a< b<a c<b d<", "d", "TT203:2 TT402:2 TT203:5 TT402:5"),
    "H34_tau.jsonl": Seen("tau", "a< b<a c<b d<", "d", "TT203:1 TT402:1 TT203:4 TT402:4"),
    "H35_wrong_types.jsonl": Seen(
        "pi", "L2< L3<", "L3", "TT407:2 TT204:2 TT201:2 TT201:3 TT403:3"
    ),
    "H35_tau.jsonl": Seen(
        "tau", "a< L2< L3<", "L3", "TT402:2 TT401:2 TT204:2 TT201:2 TT402:3 TT201:3 TT403:3"
    ),
    "H37_path_traversal_ids.jsonl": Seen("pi", "..< CON.< a/b\0c<", "a/b\0c", "TT201:2"),
    "H38_future_version.jsonl": Seen("pi", "a<", "a", "TT405:1 TT401:2"),
    "H46_markdown.jsonl": ONE,
    "H49_csv_formula.jsonl": ONE,
    "R01_pi.jsonl": Seen("pi", "u1< u2<u1 gap@4< u4<u2 u5<u4", "u5", "TT101:4", 50),
    "R01_tau.jsonl": Seen("tau", "u1< gap@2< u3<", "u3", "TT101:2 TT402:2 TT201:3 TT403:3", 34),
    "R02_pi.jsonl": Seen("pi", "u1< u2<u1", "u2", "TT102:4", 23),
    "R02_tau.jsonl": Seen("tau", "u1<", "u1", "TT102:2 TT402:2", 27),
    "R03_pi.jsonl": Seen("pi", "u1< u2<u1 u3<u2", "u3", "TT106:3"),
    "R04_pi.jsonl": Seen("pi", "u1< u2<u1 u3< u4<u3", "u4", "TT201:4 TT403:4"),
    "R17_pi.jsonl": Seen("pi", "u1< u2@3<u1 u2<u1 u3<u2", "u3", "TT202:3"),
    # Dialects that no format knows by name.
    "H21_deep_object_unclosed.jsonl": Seen("jsonl", "gap@1< b<", "b", "TT101:1", 100001),
    "H22_big_ints_floats.jsonl": Seen("jsonl", "a< b<a c<b d<c", "d", "TT108:1 TT108:2 TT108:3"),
    "R01_bad_line_in_middle.jsonl": Seen(
        "claude_code", "u1< u2<u1 gap@3< u4<u2 u5<u4", "u5", "TT101:3", 59
    ),
    "R02_torn_tail.jsonl": Seen("claude_code", "u1< u2<u1", "u2", "TT102:3", 40),
    "R03_lone_surrogate_escape.jsonl": Seen("claude_code", "u1< u2<u1 u3<u2", "u3", "TT106:2"),
    "R04_phantom_parent.jsonl": Seen(
        "claude_code", "u1< u2<u1 u3< u4<u3", "u4", "TT201:3 TT412:3"
    ),
    "R06_partial_then_full_retry.jsonl": Seen("codex", "gap@2< L3<", "L3", "TT402:1 TT101:2", 98),
    # The numbers that were given twice, left out and forgotten.
    "R07_ordinal_gap_and_reuse.jsonl": Seen(
        "jsonl", "L1< L2<L1 L3<L2 L4<L3 L5<L4 L6<L5", "L6", "TT409:4 TT409:5 TT409:6"
    ),
    "R08_ses_ok.json": Seen("snapshots", "ses_ok<", "ses_ok"),
    "R11_tool_result_without_tool_use.jsonl": Seen("claude_code", "u1< u2<u1", "u2", "TT408:2"),
    # An intent without its end.
    "R14_crash_between_effect_and_checkpoint.jsonl": Seen(
        "jsonl", "L1< L2<L1 L3<L2", "L3", "TT411:3"
    ),
    "R16_json_constructor.json": Seen("snapshots", "L1<", "L1", "TT204:1"),
    "R17_duplicate_uuid_collision.jsonl": Seen(
        "claude_code", "u1< u2@3<u1 u2<u1", "u2", "TT202:3"
    ),
}

DEEP = {
    "H22_big_ints_floats.jsonl": "TT108:1 TT108:2 TT108:3",
    "H22_pi.jsonl": "TT108:2 TT108:3 TT108:4",
    "H23_duplicate_keys.jsonl": "TT402:1 TT407:1 TT201:1 TT109:1",
    "H24_invalid_utf8.jsonl": "TT105:2 TT407:2",
    "R03_pi.jsonl": "TT106:3",
    "R11_tool_result_without_tool_use.jsonl": "TT408:2",
    "R17_pi.jsonl": "TT202:3",
}
"""All findings once each body was decoded: what the index knows is listed once."""

ATTACKS = ("E01_every_text_pi.jsonl", "E02_every_text_tau.jsonl", "E03_every_name_pi.jsonl")

REFUSED = {
    "H29_utf16.jsonl": "it is UTF-16, not UTF-8",
    "H50_gzip_bomb.jsonl.gz": "it is gzip-compressed",
    "R08_ses_x.json": "413 NUL bytes: lost in a crash",
    "R10_truncated_config.json": "it ends in the middle of its JSON object, after 40 bytes",
}
"""Files that hold nothing to show, and what is said of them."""

ALL = sorted((*READABLE, *ATTACKS, *REFUSED))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all hostile files."""
    made = tmp_path_factory.mktemp("hostile")
    write_hostile_files(made)
    return made


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """Turn a hang into a failure."""

    def give_up(number: int, _frame: object) -> None:
        work = number == signal.SIGPROF
        pytest.fail(f"still running after {LONGEST if work else LONGEST_WAIT} s")

    limits = (
        (signal.ITIMER_PROF, signal.SIGPROF, LONGEST),
        (signal.ITIMER_REAL, signal.SIGALRM, LONGEST_WAIT),
    )
    before = [signal.signal(number, give_up) for _, number, _ in limits]
    for timer, _, seconds in limits:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(limits, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def seen_in(location: Path) -> Seen:
    with Debugger.open(str(location)) as debugger:
        session = debugger.session
        assert session.extent is not None
        assert session.extent.size == location.stat().st_size
        return Seen(
            session.format,
            " ".join(f"{each.id}<{each.parent or ''}" for each in session),
            None if session.active is None else session.ids[session.active],
            " ".join(f"{each.code}:{each.line}" for each in session.findings),
            session.extent.skipped,
        )


def test_every_hostile_file_is_in_one_of_the_lists(folder: Path) -> None:
    assert sorted(each.name for each in folder.iterdir()) == ALL


@pytest.mark.parametrize("name", READABLE)
def test_all_that_is_readable_is_shown_and_all_else_is_counted(folder: Path, name: str) -> None:
    assert seen_in(folder / name) == READABLE[name]


@pytest.mark.parametrize("name", DEEP)
def test_a_deep_look_adds_what_only_bodies_show(folder: Path, name: str) -> None:
    with Debugger.open(str(folder / name)) as debugger:
        found = debugger.examined()

    assert " ".join(f"{each.code}:{each.line}" for each in found) == DEEP[name]
    assert all(each.offset is not None for each in found)


@pytest.mark.parametrize("name", ALL)
def test_every_command_ends_and_leaves_the_file_as_it_was(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / name
    before = (sorted(folder.iterdir()), file.read_bytes(), file.stat().st_mtime_ns)

    for command, *options in COMMANDS:
        code = main([command, str(file), *options])
        out, err = capsys.readouterr()
        grammar = JSON if {"--json", "json"} & {*options} else PIPE
        assert transgressions(out.encode(), grammar) == [], (command, *options)
        assert transgressions(err.encode(), PIPE) == [], (command, *options)
        assert "this is a bug" not in err
        assert code in expected_codes(name, command), (command, *options, err)

    assert (sorted(folder.iterdir()), file.read_bytes(), file.stat().st_mtime_ns) == before


AT_A_POINT = {"show", "diff", "export", "watch", "blame", "bisect"}
"""Commands that need a checkpoint to be at."""


def expected_codes(name: str, command: str) -> set[int]:
    is_blank = name in READABLE and not READABLE[name].tree
    if name in REFUSED or (is_blank and command in AT_A_POINT):
        return {expected_code(name, command)}
    if command in {"diff", "grep", "bisect"}:
        return {0, 1}
    if command == "blame":
        # Not every state has what is asked for.
        return {0, 2}
    return {expected_code(name, command)}


def expected_code(name: str, command: str) -> int:
    if name in REFUSED:
        # What a format itself refuses is recognised, and to open it takes a terminal first.
        by_format = {"open": 2, "formats": 0} if name.endswith(".json") else {}
        return by_format.get(command, 3)
    is_blank = name in READABLE and not READABLE[name].tree
    if command == "open" or (command in AT_A_POINT and is_blank):
        return 2
    if command == "doctor":
        codes = (
            {each.split(":")[0] for each in READABLE[name].findings.split()}
            if (name in READABLE)
            else {"TT106"}
        )
        return 1 if codes - {"TT103", "TT108"} or name == "H28_lone_cr_tau.jsonl" else 0
    return 0


@pytest.mark.parametrize("name", ALL)
def test_each_single_checkpoint_of_a_hostile_file_can_be_shown(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["log", str(folder / name), "--json"])
    out, _ = capsys.readouterr()
    rows = range(1, len(json.loads(out or '{"checkpoints":[]}')["checkpoints"]) + 1)

    for row in rows[:12]:
        for options in ([], ["--json"], ["--resume"]):
            assert main(["show", f"{folder / name}#row={row}", *options]) == 0
            out, _ = capsys.readouterr()
            assert transgressions(out.encode(), JSON if options == ["--json"] else PIPE) == []


@pytest.mark.parametrize(
    "command",
    [
        *(["log"], ["show"], ["show", "--resume"], ["replay", "--states"], ["doctor", "--deep"]),
        ["diff", "--no-mask", "--no-pager"],
    ],
)
def test_a_terminal_receives_nothing_but_text_and_colours(
    folder: Path, command: list[str]
) -> None:
    more = ["#root"] if command[0] == "diff" else []
    code, received = run(*([*command, str(folder / name), *more] for name in ALL))

    assert code == 0
    assert transgressions(received, LINES) == []
    assert plain(received).count("cannot read") == len(REFUSED)
    assert "PWNED" in plain(received)


def test_the_grammar_finds_what_is_planted() -> None:
    """A wall that nothing ever hits might not be there."""
    planted = {
        "\x1b]52;c;AA\x07": "OSC '52;c;AA'",
        "\x1b]0;x\x1b\\": "OSC '0;x'",
        "\x1b[2J": "CSI '2J'",
        "\x1bP+q544e\x1b\\": "DCS '+q544e'",
        "\x1bc": "ESCAPE 'c'",
        "\x1b]52;c;": "ESC without a sequence",
        "\x9b": "raw '\\x9b'",
        "\x08": "raw '\\x08'",
        "\u202e": "raw '\\u202e'",
        "\u200b": "raw '\\u200b'",
        "\U000e0049": "raw '\\U000e0049'",
        "e" + "\u0301" * 40: "a pile of combining marks",
    }
    found = {
        each: transgressions(f"a{each}b\x1b[1mc\x1b[0m\r\n".encode(), LINES) for each in planted
    }

    assert {each: [one.what for one in found[each]] for each in planted} == {
        each: [what] for each, what in planted.items()
    }
    assert transgressions(b"\xff", LINES)[0].what == "bytes that are no UTF-8"
    assert transgressions(b"\x1b[2J", FULL_SCREEN) == []


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_holds_nothing_to_show_is_refused_with_the_reason(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / name

    for command in ("log", "show", "replay", "doctor"):
        assert main([command, str(file)]) == 3
        out, err = capsys.readouterr()
        assert out == ""
        assert err.splitlines()[0] == f"ttdbg: cannot read {file}: {REFUSED[name]}"


def test_utf_16_is_refused_and_the_hint_says_how_to_convert_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "H29_utf16.jsonl"

    assert main(["show", str(file)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"ttdbg: cannot read {file}: it is UTF-16, not UTF-8",
        "hint: convert it first, for example with iconv -f UTF-16 -t UTF-8",
    ]


# --- What the findings and texts say -------------------------------------------------------------


def shown(capsys: pytest.CaptureFixture[str], location: str, *options: str) -> dict[str, Any]:
    assert main(["show", location, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def said_at(capsys: pytest.CaptureFixture[str], folder: Path, name: str) -> list[str]:
    assert main(["show", str(folder / name)]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("H01_osc52.jsonl", "A␛]52;c;U0VDUkVU␇B"),
        ("H02_title.jsonl", "A␛]0;PWNED␇B"),
        ("H03_osc8.jsonl", "A␛]8;;http://evil.invalid/␛\\click␛]8;;␛\\B"),
        ("H04_clear_home.jsonl", "A␛[2J␛[HB"),
        ("H05_c1.jsonl", "A⟨U+009B⟩2J⟨U+009D⟩52;c;Zg==⟨U+009C⟩B"),
        ("H06_dcs_apc.jsonl", "A␛P+q544e␛\\␛_Gi=1;AA␛\\B"),
        ("H07_query.jsonl", "A␛[6n␛[c␛]11;?␇B"),
        ("H08_cr_bs.jsonl", "Avisible␍HIDDEN␈␈␈B"),
        ("H09_unterminated_osc.jsonl", f"A␛]52;c;{'A' * 50}B"),
        ("H10_ris.jsonl", "A␛c␛[?1049l␛[?25lB"),
        (
            "H14_bidi_trojan.jsonl",
            'access_level != "user⟨U+202E⟩ ⟨U+2066⟩// Check if admin⟨U+2069⟩ ⟨U+2066⟩"',
        ),
        ("H16_zalgo.jsonl", "Z" + "\u0301" * 15 + "… end"),
        ("H46_markdown.jsonl", "[x](javascript:alert(1)) <b>&#27;]0;P&#7;&#x202e;</b>"),
        ("H49_csv_formula.jsonl", "=cmd|' /C calc'!A0"),
    ],
)
def test_what_would_act_or_hide_is_shown_as_a_picture(
    folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in said_at(capsys, folder, name)


def test_markup_in_a_text_is_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["log", str(folder / "H18_textual_markup.jsonl")])

    assert capsys.readouterr().out == (
        "a 1 ● user         [@click=app.quit]click[/] [link=http://e.invalid/]x[/link] [/nope]"
        " [bold\n"
        "b 2 ● user         [@click=app.bell][@click=app.bell][@click=app.bell] @\n"
    )


def test_ids_that_look_alike_are_printed_apart_and_can_be_typed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "H15_zero_width_tags.jsonl"
    main(["log", str(file)])
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()]

    assert ids == ["a", "a%E2%80%8B"]
    assert [shown(capsys, f"{file}#{each}")["checkpoint"]["id"] for each in ids] == [
        "a",
        "a\u200b",
    ]


def test_ids_that_are_paths_are_printed_as_refs_and_can_be_typed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "H37_path_traversal_ids.jsonl"
    main(["log", str(file)])
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()]

    assert ids == ["%2E%2E", "CON%2E", "a/b%00"]
    assert [shown(capsys, f"{file}#{each}")["checkpoint"]["id"] for each in ids] == [
        "..",
        "CON.",
        "a/b\0c",
    ]


def test_a_session_id_that_is_a_path_is_typed_percent_encoded(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "H37_path_traversal_ids.jsonl"
    session = "/".join([*["%2E%2E"] * 4, "tmp", "ttdbg-pwned"])

    assert shown(capsys, f"{file}#{session}:root")["checkpoint"]["id"] == "a/b\0c"
    assert main(["show", f"{file}#nope:root"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"hint: there are: {session}"


def bodies(file: Path) -> list[Any]:
    """Give all records of a Pi file as decoded."""
    store, loaded = load(file, "pi")
    decoded = store.bodies(loaded.session, range(len(loaded.session)))
    store.close()
    return decoded


def test_numbers_beyond_64_bits_and_those_json_does_not_have_are_kept_as_text(
    folder: Path,
) -> None:
    def numbers(name: str) -> list[Any]:
        return [each["data"]["n"] for each in bodies(folder / name)]

    def decimal(text: str) -> dict[str, str]:
        return {"$type": "decimal.Decimal", "$value": text}

    assert [repr(each) for each in numbers("H22_pi.jsonl")] == [
        repr(decimal("9" * 5000)),
        repr(decimal("1e400")),
        repr(decimal("18446744073709551616")),
        "-0.0",
        "18446744073709551615",
    ]
    assert numbers("H25_pi.jsonl") == [
        {"$type": "float", "$value": "NaN"},
        {"$type": "float", "$value": "-Infinity"},
    ]


def test_of_a_key_that_is_given_twice_the_last_wins(folder: Path) -> None:
    (record,) = bodies(folder / "H23_duplicate_keys.jsonl")

    assert record == {"id": "b", "parentId": "a", "type": "message"}


def test_bytes_that_are_no_utf_8_and_half_surrogates_are_replaced_but_kept_as_raw_bytes(
    folder: Path,
) -> None:
    invalid, lone = folder / "H24_invalid_utf8.jsonl", folder / "R03_pi.jsonl"

    assert bodies(invalid)[0]["t"] == "\ufffd" * 7
    assert bodies(lone)[1]["message"]["content"][0]["text"] == "cut \ufffd"
    with Debugger.open(str(invalid)) as debugger:
        assert debugger.raw(0) == (
            b'{"type":"message","id":"a","t":"\xff\xfe\xc0\xaf\xed\xa0\x80"}\n'
        )
    with Debugger.open(str(lone)) as debugger:
        assert b"cut \\ud83c" in debugger.raw(1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("H20_deep_array.jsonl", "not readable: nested deeper than 256 levels"),
        ("H21_pi.jsonl", "not readable: nested deeper than 256 levels"),
        ("H26_nul_bytes.jsonl", "not readable: NUL bytes only: lost in a crash"),
        ("H32_not_objects.jsonl", "not readable: a number, not an object"),
    ],
)
def test_the_reason_why_bytes_are_no_record_is_told_with_their_place(
    folder: Path, name: str, message: str
) -> None:
    with Debugger.open(str(folder / name)) as debugger:
        first = next(each for each in debugger.session.findings if each.code == "TT101")
        gap = debugger.session.heads[0]
    assert (first.code, first.message) == ("TT101", message)
    assert (first.line, first.offset, first.checkpoint) == (
        gap.line,
        gap.offset,
        f"gap@{gap.line}",
    )


def test_a_gap_is_shown_with_its_bytes_and_an_empty_state(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = shown(capsys, f"{folder / 'R01_pi.jsonl'}#gap@4")

    assert answer["checkpoint"] == {
        "id": "gap@4",
        "parent": None,
        "kind": "gap",
        "role": None,
        "row": 3,
        "step": None,
        "time": None,
        "summary": "50 bytes that are no record",
        "line": 4,
        "offset": 339,
        "length": 50,
        "usage": None,
    }
    assert answer["changes"] == []
    assert [each["code"] for each in answer["findings"]] == ["TT101"]
    with Debugger.open(str(folder / "R01_pi.jsonl")) as debugger:
        assert debugger.raw(2) == b'{"type":"message","id":"u3","parentId":"u2","mess\n'


def test_records_glued_on_one_line_cover_it_without_a_byte_left_over(folder: Path) -> None:
    file = folder / "H33_two_objects_one_line.jsonl"
    with Debugger.open(str(file)) as debugger:
        raws = [debugger.raw(row) for row in (0, 1)]
    assert HEADER.encode() + b"\n" + b"".join(raws) == file.read_bytes()


def test_a_newer_version_is_read_as_the_newest_known_one_with_a_warning(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(folder / "H38_future_version.jsonl")]) == 1
    assert capsys.readouterr().out == (
        "warning TT405  line 1, byte 0  the format version is 999; read as version 3\n"
        "  an update of ttdbg may know it\n"
        "warning TT401  line 2, byte 42  the entry type 'hologram' is not known\n"
        "  kept as custom; Pi walks through it and sends nothing of it\n"
        "2 warnings: 1 checkpoint, 87 of 87 bytes shown\n"
    )


# --- Fields of any type --------------------------------------------------------------------------

STRANGE: tuple[Any, ...] = (
    None, True, -1, 1e300, (1 << 64) - 1, "x", [], ["x"], [["x"]], {}, {"type": ["x"]}, [None, 7],
)  # fmt: skip


def strange_twins(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the entry with each of its values, at any depth, replaced by each strange one."""
    places = [place for place in _places(entry) if place not in {("id",), ("parentId",)}]
    for place in places:
        for strange in STRANGE:
            twin = here = json.loads(json.dumps(entry))
            for key in place[:-1]:
                here = here[key]
            here[place[-1]] = strange
            yield twin


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, inner in pairs:
        yield (*place, key)
        if isinstance(inner, (dict, list)):
            yield from _places(inner, (*place, key))


def entries_of_each_shape(sample: str) -> list[dict[str, Any]]:
    lines = (SAMPLES / sample).read_text(encoding="utf-8").splitlines()
    shapes: dict[Any, dict[str, Any]] = {}
    for entry in map(json.loads, lines):
        message = entry.get("message", {})
        shapes.setdefault((entry["type"], message.get("role")), entry)
    return [each for each in shapes.values() if each["type"] != "session"]


@pytest.mark.parametrize(
    ("sample", "parent"), [("pi.jsonl", "parentId"), ("tau.jsonl", "parent_id")]
)
def test_a_value_of_any_other_type_anywhere_in_an_entry_breaks_nothing(
    sample: str, parent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = [HEADER] if sample == "pi.jsonl" else []
    base = said("base", None) if header else tau_said("base", None)
    for entry in entries_of_each_shape(sample):
        twins = [
            twin | {"id": f"t{number}", parent: "base"}
            for number, twin in enumerate(strange_twins(entry))
        ]
        file = tmp_path / sample
        file.write_bytes(jsonl(*header, base, *twins))

        for command in (["log"], ["replay"], ["replay", "--uncompacted", "--json"]):
            assert main([*command, str(file)]) == 0, capsys.readouterr().err
        with Debugger.open(str(file)) as debugger:
            assert debugger.session.format == sample.removesuffix(".jsonl")
            for row in range(len(debugger.session)):
                debugger.resumed(row)


# --- What is no regular file ---------------------------------------------------------------------


def fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.jsonl")
    return folder / "pipe.jsonl"


def device(_: Path) -> Path:
    return Path("/dev/zero")


def link_to_device(folder: Path) -> Path:
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    return folder / "zero.jsonl"


def empty_folder(folder: Path) -> Path:
    return folder


def full_folder(folder: Path) -> Path:
    for name in ("b.jsonl", "a.jsonl", "d.jsonl", "c.jsonl", "e.txt"):
        (folder / name).touch()
    return folder


def link_loop(folder: Path) -> Path:
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    return folder / "loop.jsonl"


def dangling_link(folder: Path) -> Path:
    (folder / "link.jsonl").symlink_to("nowhere.jsonl")
    return folder / "link.jsonl"


def through_a_file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "a.jsonl"


def kernel_file(_: Path) -> Path:
    return Path("/proc/self/status")


def memory(_: Path) -> Path:
    return Path("/proc/self/mem")


def unix_socket(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(folder):
        made.bind("s.jsonl")
    return folder / "s.jsonl"


def too_long(folder: Path) -> Path:
    return folder / ("x" * 5000)


GIVE_A_FILE = "give the path of a session file"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own files are Linux's")
@pytest.mark.parametrize(
    ("make", "reason", "hint"),
    [
        (fifo, "it is a named pipe, not a file", GIVE_A_FILE),
        (device, "it is a device, not a file", GIVE_A_FILE),
        (link_to_device, "it is a device, not a file", GIVE_A_FILE),
        (
            empty_folder,
            "it is a folder, not a file",
            f"{GIVE_A_FILE}; this folder holds none (*.jsonl)",
        ),
        (
            full_folder,
            "it is a folder, not a file",
            "give one of its files: a.jsonl, b.jsonl, c.jsonl and 1 more",
        ),
        (link_loop, "its links lead in a circle", None),
        (dangling_link, "there is no such file", None),
        (through_a_file, "part of its path is not a folder", None),
        (
            kernel_file,
            "it has no size, as files of the kernel have",
            "copy what it gives to a file first",
        ),
        (
            memory,
            "it has no size, as files of the kernel have",
            "copy what it gives to a file first",
        ),
        (unix_socket, "it is a device or socket without another end", None),
        (too_long, "the name is too long", None),
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(
    make: Callable[[Path], Path],
    reason: str,
    hint: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    location = make(tmp_path)

    # A folder is what `open` lists the sessions of.
    opens = () if is_folder(str(location)) else ("open",)
    for command in ("log", "show", "replay", "doctor", *opens):
        assert main([command, str(location)]) == 3
        out, err = capsys.readouterr()
        assert out == ""
        assert err == f"ttdbg: cannot read {location}: {reason}\n" + (
            f"hint: {hint}\n" if hint else ""
        )


def test_a_link_that_is_named_outright_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_bytes(pi(said("a", None)))
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")

    assert seen_in(tmp_path / "link.jsonl") == ONE


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.touch(mode=0)

    with pytest.raises(CannotReadError, match="permission is denied"):
        Debugger.open(str(file))


def test_a_huge_sparse_file_is_refused_from_its_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sparse.jsonl"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)

    assert main(["log", str(file)]) == 3
    assert "no format recognises it" in capsys.readouterr().err


# --- Nothing in a file is ever executed ----------------------------------------------------------

WATCHED = """
import json, os, sys
from tt_debugger.cli.main import main

calm, folder, *names = sys.argv[1:]
commands = json.loads(os.environ["COMMANDS"])

def read_all(folder, names):
    for name in names:
        for command, *options in commands:
            main([command, os.path.join(folder, name), *options])

read_all(calm, os.listdir(calm))  # brings in all modules that reading needs

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN = (
    "import", "exec", "compile", "os.", "subprocess.", "socket.", "ctypes.", "pickle.",
    "marshal.", "shutil.", "tempfile.", "pty.", "urllib.", "webbrowser.", "sqlite3.",
)
READS = ("os.listdir", "os.scandir")
done = []

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & WRITING or any(each in (mode or "") for each in "wax+"):
            done.append(f"{event} {arguments!r}")
    elif event.startswith(FORBIDDEN) and event not in READS:
        done.append(f"{event} {arguments!r:.200}")

sys.addaudithook(watch)
read_all(folder, names)
found, done = done, []
print(json.dumps(found), file=sys.stderr)
print("watched " + str(len(names)), file=sys.stderr)
"""


def test_while_hostile_files_are_read_nothing_is_imported_executed_or_written(
    folder: Path, tmp_path: Path
) -> None:
    pi_sample, tau_sample = ((SAMPLES / f"{each}.jsonl").read_bytes() for each in ("pi", "tau"))
    (tmp_path / "pi.jsonl").write_bytes(pi_sample + jsonl(said("a", None, ATTACK), "{"))
    (tmp_path / "tau.jsonl").write_bytes(tau_sample)
    for each in ("claude-code", "codex"):
        (tmp_path / f"{each}.jsonl").write_bytes((SAMPLES / f"{each}.jsonl").read_bytes())
    (tmp_path / "unknown.jsonl").write_bytes(b"nothing that any format reads\n")
    (tmp_path / "state.json").write_bytes(b'{"id":"a"}')
    (tmp_path / "tree.jsonl").write_bytes(jsonl({"id": "a"}, {"id": "b", "parent": "a"}, "{"))
    before = sorted(tmp_path.iterdir())
    commands = [
        ["log", "--json"],
        ["show"],
        ["show", "--resume", "--json"],
        ["replay"],
        ["doctor"],
    ]

    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", WATCHED, str(tmp_path), str(folder), *ALL],
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | {"COMMANDS": json.dumps(commands)},
        timeout=60,
        check=True,
    )

    *_, found, watched = ran.stderr.decode().splitlines()
    assert watched == f"watched {len(ALL)}"
    assert json.loads(found) == []
    assert sorted(tmp_path.iterdir()) == before


def test_the_watch_sees_what_it_forbids(tmp_path: Path) -> None:
    """The hook would catch a payload, were one ever run."""
    payload = "exec('import wave'); os.system('true'); open(os.devnull, 'w').close()"
    ran = subprocess.run(  # noqa: S603 - our own program
        [
            sys.executable,
            "-c",
            WATCHED.replace("found, done", f"{payload}\nfound, done"),
            tmp_path,
            "",
        ],
        capture_output=True,
        env=os.environ | {"COMMANDS": "[]"},
        timeout=60,
        check=True,
    )

    found = json.loads(ran.stderr.decode().splitlines()[-2])
    assert {each.split()[0] for each in found} >= {"exec", "import", "os.system", "open"}


def test_an_attack_in_the_name_of_a_file_reaches_no_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = ATTACK.replace("\0", "").replace("\ud83c", "") + ".jsonl"
    (tmp_path / name).write_bytes(pi(said("a", "missing")) + b"{\n")
    for location in (tmp_path / name, tmp_path / f"missing{name}", f"{tmp_path / name}#{ATTACK}"):
        for command, *options in COMMANDS:
            main([command, str(location), *options])
            for stream in capsys.readouterr():
                assert transgressions(stream.encode(), PIPE) == []


def test_a_folder_of_attacking_names_is_refused_with_a_safe_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a\x1b]0;P\x07\u202e.jsonl").touch()

    assert main(["log", str(tmp_path)]) == 3
    assert capsys.readouterr().err.splitlines()[1] == (
        "hint: give one of its files: a␛]0;P␇⟨U+202E⟩.jsonl"
    )
