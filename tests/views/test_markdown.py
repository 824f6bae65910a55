"""Markdown as lines: what each sign looks like, and that nothing acts, hides or hangs."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from strategies import any_text

from tt_debugger.core.text import safe_line
from tt_debugger.views.code import MOST_BLANKS, code_lines, language_of
from tt_debugger.views.markdown import markdown_lines
from tt_debugger.views.palette import ANSI, ASCII, UNICODE


def plain(text, glyphs=UNICODE):
    return [line.plain for line in markdown_lines(text, ANSI, glyphs)]


def styled(line: Text):
    return [(line.plain[each.start : each.end], each.style) for each in line.spans]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n## Two", ["# One", "## Two"]),
        ("One\n===", ["# One"]),
        ("a **b** *c* `d` ~~e~~", ["a b c d ~~e~~"]),
        ("a\nb\\\nc", ["a", "b", "c"]),
        ("a\n\n\n\nb", ["a", "", "b"]),
        ("- a\n- b\n  - c", ["• a", "• b", "  • c"]),
        ("- [ ] a\n- [x] b", ["• [ ] a", "• [x] b"]),
        ("3. a\n\n4. b", ["3. a", "", "4. b"]),
        ("- a\n\n  more", ["• a", "  ", "  more"]),
        ("> a\n> > b", ["│ a", "│ │ b"]),
        ("***", ["─" * 24]),
        ("[a](b)", ["a (b)"]),
        ('[a](b "c")', ['a (b "c")']),
        ("<http://a.b>", ["http://a.b"]),
        ("![a](b)", ["[image: a (b)]"]),
        ("a <b>c</b>", ["a <b>c</b>"]),
        ("<!-- a -->", ["<!-- a -->"]),
        ("[a]: b", ["[a]: b"]),
        ("```py\nx = 1\n\ny\n```\nz", ["│ py", "│ x = 1", "│ ", "│ y", "z"]),
        ("```\na", ["│ a"]),
        ("````\n```\n````", ["│ ```"]),
        ("- a\n\n  ```\n  b\n\n  c\n  ```", ["• a", "  ", "  │ b", "  │ ", "  │ c"]),
        ("    a\n\n    b", ["│ a", "│ ", "│ b"]),
        ("|a|bb|\n|-|-:|\n|ccc|d|", ["a   │ bb", "────────", "ccc │  d"]),
        ("|a|\n|-|\n|b|c|", ["|a|", "|-|", "|b|c|"]),
    ],
)
def test_what_markdown_looks_like(text, expected):
    assert plain(text) == expected


def test_signs_have_their_twins_in_ascii():
    assert plain("- a\n\n> b", ASCII) == ["- a", "", "| b"]


def test_a_table_that_is_too_wide_stands_as_it_was_written():
    lines = [f"| a | {'b' * 120} |", "|---|---|", "| c | d |"]

    assert plain("\n".join(lines)) == lines


def test_words_have_their_styles():
    (line,) = markdown_lines("**a** `b` [c](d)", ANSI, UNICODE)

    assert styled(line) == [
        ("a", ANSI.strong),
        ("b", ANSI.code),
        ("c", ANSI.accent),
        (" (d)", ANSI.dim),
    ]


def test_code_between_fences_is_told_apart():
    _, line = markdown_lines("```python\nreturn 'x'\n```", ANSI, UNICODE)

    assert ("return", ANSI.code_keyword) in styled(line)
    assert ("'x'", ANSI.code_string) in styled(line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&#x202e;a &#8203;", ["⟨U+202E⟩a ⟨U+200B⟩"]),
        ("`\x1b[2J`", ["␛[2J"]),
        ("[a](javascript:b)", ["[a](javascript:b)"]),
        ("[a](<b\x1bc>)", ["a (b␛c)"]),
        ("```\x07\n\x9b\n```", ["│ ␇", "│ ⟨U+009B⟩"]),
    ],
)
def test_what_could_act_is_shown(text, expected):
    assert plain(text) == expected


def test_no_link_of_the_terminal_is_made():
    lines = list(markdown_lines("[a](http://b) <http://c> ![d](http://e)", ANSI, UNICODE))

    assert all("link" not in str(each.style) for line in lines for each in line.spans)


_signs = st.lists(
    st.sampled_from(
        (
            *(
                "# ",
                "> ",
                "- ",
                "1. ",
                "```",
                "~~~",
                "|",
                "|-|",
                "*",
                "**",
                "_",
                "`",
                "[",
                "](",
                ")",
            ),
            *(
                "![",
                "<",
                ">",
                "&#27;",
                "&lrm;",
                "\\",
                "\n",
                "\n\n",
                "    ",
                "\t",
                "a",
                "b c",
                "~~",
            ),
            *("---", "===", "<!--", "\r\n", "\u202e", "\x1b", "http://a", "\u0301" * 20),
        )
    ),
    max_size=30,
).map("".join)


@given(st.one_of(any_text, _signs))
def test_any_text_gives_lines_in_which_nothing_acts(text):
    for line in plain(text):
        assert line == safe_line(line)


@given(st.lists(st.lists(st.text("abcxyzäß0", min_size=1), min_size=1), max_size=6))
def test_no_word_of_a_paragraph_is_lost(paragraphs):
    text = "\n\n".join("x" + " ".join(words) for words in paragraphs)

    assert " ".join(plain(text)).split() == text.split()


@given(
    st.lists(
        st.sampled_from(("# ", "> ", "- ", "1. ", "*", "`", "[", "](", ")", "w", "\n", "|")),
        max_size=40,
    )
)
def test_no_letter_is_lost_whatever_stands_around_it(signs):
    text = "".join(signs)

    assert "".join(plain(text)).count("w") == text.count("w")


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000,
        "> " * 30 + "word",
        "- " * 10_000,
        "[" * 100_000,
        "![" * 4_000,
        "*a_" * 2_500,
        "`" * 100_000,
        "|a" * 20_000,
        "x" * 1_000_000,
        "\n" * 1_000_000,
        " \n" * 500_000,
        "```\n" * 20_000,
        "".join("  " * depth + "- a\n" for depth in range(100)),
    ],
    ids=range(13),
)
def test_text_that_is_made_to_hang_is_drawn_too(text):
    lines = plain(text)

    assert sum(map(len, lines)) > 0 or not text.strip()


def test_what_is_nested_too_deep_stands_as_it_was_written():
    text = "> " * 30 + "word"

    assert plain(text) == [text]


def test_a_long_text_begins_before_it_is_read():
    seen = []

    class Watched(str):
        __slots__ = ()

        def find(self, *where):
            seen.append(where[1])
            return super().find(*where)

    text = Watched("Some **words**.\n\n" * 300_000)

    assert len(list(islice(markdown_lines(text, ANSI, UNICODE), 40))) == 40
    assert max(seen) < 10_000


def test_languages_are_told_by_the_names_of_files():
    names = ("a/b.py", "Dockerfile", "C:\\x.RS", "README", "a.tar.gz", "", "Makefile")

    assert [language_of(name) for name in names] == [
        "python",
        "docker",
        "rust",
        "",
        "",
        "",
        "make",
    ]


@given(any_text, st.sampled_from(("python", "bash", "json", "html", "none")))
def test_code_is_all_there_and_acts_nowhere(code, language):
    lines = [line.plain for line in code_lines(code, ANSI, language)]

    expected = code.replace("\r\n", "\n").split("\n")
    assert lines == [safe_line(each) for each in expected]


def test_code_made_to_take_long_is_drawn_plain():
    code = "x = 1\n" + "\n" * (MOST_BLANKS + 2)

    assert all(not line.spans for line in code_lines(code, ANSI, "python"))
    assert any(line.spans for line in code_lines("x = 1\n", ANSI, "python"))
