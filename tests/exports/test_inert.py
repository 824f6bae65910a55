"""Nothing in an export is active: no script, no link, no picture, nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from exported import pages
from hostile_files import MADE, SAMPLES, STORED
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from strategies import any_text

from tt_debugger.exports.elements import element
from tt_debugger.exports.exporting import page_of
from tt_debugger.exports.forms import FORMS
from tt_debugger.exports.gate import Gate
from tt_debugger.exports.markdown_text import code, fenced, inline, prose
from tt_debugger.exports.subjects import Origin, Transcript, Turn, TwoStates

HOSTILE = (
    *("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=x>"),
    *("[x](javascript:alert(1))", "![i](http://evil.example/i.png)", "](http://evil.example)"),
    *("<http://evil.example>", "http://evil.example", "www.evil.example", "a@evil.example"),
    *("[x]: http://evil.example", "[x][x]", "[^1]", "[^1]: note", "- [ ] @ada", "@ada", "#12"),
    *("GH-7", "ada/repo#3", "!5", "```", "````", "~~~", "```mermaid\ngraph TD\n```", "`", "``"),
    *(
        "<!-- ",
        "-->",
        "</pre>",
        "</code>",
        "</style>",
        "<style>",
        "]]>",
        "&lt;script&gt;",
        "&#x3c;",
    ),
    *(
        "| a | b |\n|---|---|\n| <b> | @ada |",
        "> quote",
        "# heading",
        "===",
        "---",
        "1. one",
        "* x",
    ),
    *("\n", "\n\n", "    ", "\t", "\\", "$$x$$", '"', "'", "5d0c7e2a", "http:\\\\evil", "**", "_"),
)
hostile_texts = st.lists(st.one_of(st.sampled_from(HOSTILE), any_text), max_size=6).map("".join)


class Seen(HTMLParser):
    """The tags and attributes of a page, and its text outside code."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.styles = 0
        self.open: list[str] = []
        self.said = ""
        self.others: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.said += " " if {"code", "pre", "style"} & set(self.open) else data

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def seen(page: str) -> Seen:
    parser = Seen()
    parser.feed(page)
    parser.close()
    return parser


TAGS = frozenset(
    """
    html head meta title style body header section main footer article div span p h1 h2 dl dt dd
    b ul ol li blockquote strong em code pre mark details summary br hr table thead tbody tr th td
    """.split()  # noqa: SIM905 - as a list it would be a page
)
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "role"}
ATTRIBUTES |= {"title", "open"}


def check_html(page: str) -> None:
    found = seen(page)
    assert found.tags <= TAGS
    assert found.attributes <= ATTRIBUTES
    assert found.others == []
    assert page.count("<style>") == page.count("</style>") == 1


def check_markdown(page: str) -> None:
    """Check that what a code host makes of Markdown holds nothing live."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page)
    every = [each for token in tokens for each in (token, *(token.children or ()))]
    live = {"html_block", "html_inline", "link_open", "image"}
    assert [each.content for each in every if each.type in live] == []
    languages = {token.info for token in tokens if token.type == "fence"}
    assert languages <= {"", "text", "json", "diff", "sh", "python"}
    # What is made live after reading: names, numbers, addresses outside code.
    said = seen(MarkdownIt("commonmark").enable("table").render(page)).said
    assert re.findall(r"@\w|#\d|://|\bwww\.|\bGH-\d|(?<!\w)!\d", said) == []


def check_svg(page: str) -> None:
    tags = {each.tag.rpartition("}")[2] for each in ET.fromstring(page).iter()}  # noqa: S314 - our own
    assert tags <= {"svg", "style", "defs", "clipPath", "rect", "g", "text", "circle"}
    attributes = {name for each in ET.fromstring(page).iter() for name in each.attrib}  # noqa: S314 - our own
    assert [name for name in attributes if name.startswith("on") or "href" in name] == []
    assert "@font-face" not in page
    assert "@import" not in page
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", re.sub(r">[^<]*<", "><", page)) == []


CHECKS = {".html": check_html, ".md": check_markdown, ".svg": check_svg}


def check(name: str, page: str) -> None:
    for ending, checked in CHECKS.items():
        if name.endswith(ending):
            checked(page)


@pytest.mark.parametrize(
    "path",
    [*(SAMPLES / name for name in ("pi.jsonl", "tau.jsonl", "agent-state.jsonl"))],
    ids=lambda path: path.stem,
)
def test_nothing_in_an_export_of_a_sample_is_active(path: Path):
    for name, page in pages(path, 5, 11).items():
        check(name, page.text)


@pytest.mark.parametrize("name", sorted(each.name for each in STORED.glob("H*.jsonl")))
def test_nothing_in_an_export_of_a_hostile_file_is_active(name: str):
    if name == "H32_not_objects.jsonl":
        pytest.skip("it has no checkpoint")
    for exported, page in pages(STORED / name, 0, 0).items():
        check(exported, page.text)


@pytest.mark.parametrize("name", [name for name in MADE if name.startswith("E0")])
def test_nothing_in_an_export_of_a_file_that_attacks_everywhere_is_active(
    name: str, tmp_path: Path
):
    path = tmp_path / name
    path.write_bytes(MADE[name]())

    for exported, page in pages(path, 1, 3).items():
        check(exported, page.text)


def exports_of(texts: list[str], origin_like: Origin) -> dict[str, str]:
    """Give every export of messages that say these texts in every place that there is."""
    messages = [
        {"role": "user", "content": texts[0]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": texts[1]},
                {"type": "text", "text": texts[2]},
                {
                    "type": "toolCall",
                    "id": "c",
                    "name": texts[0],
                    "arguments": {texts[1]: texts[2]},
                },
                {
                    "type": "toolCall",
                    "id": "d",
                    "name": "bash",
                    "arguments": {"command": texts[0]},
                },
            ],
        },
        {"role": "toolResult", "toolName": texts[1], "content": texts[2]},
        {"role": "system", "content": "", "sections": {texts[0]: texts[1]}},
        {texts[0]: texts[1]},
    ]
    origin = Origin(texts[0], "pi", texts[1], texts[2], texts[0], origin_like.checkpoint, texts[1])
    change = {"op": "put", "path": f"/{texts[0]}", "value": texts[1]}
    turns = tuple(
        Turn(origin.checkpoint, texts[0], False, texts[1], each, (change,))
        for each in (tuple(messages), ())
    )
    old = {"messages": messages[:3], "a": texts[0], texts[1]: 1}
    new = {"messages": messages[1:], "a": texts[1], texts[2]: 2}
    finding = {"severity": "note", "code": "TT101", "message": texts[2]}
    subjects = {
        "transcript": Transcript(origin, turns, (finding,)),
        "diff": TwoStates(origin, origin, old, new, texts[0], texts[1]),
    }
    return {
        f"{name}{form.ending}": page_of(subject, form, Gate(None)).text
        for name, subject in subjects.items()
        for form in FORMS.values()
        if form.ending in CHECKS
    }


@given(st.lists(hostile_texts, min_size=3, max_size=3))
@example(["".join(HOSTILE), "\n".join(HOSTILE), "\n\n".join(HOSTILE)])
@example(["](http://evil.example)", "```\n</script>", "<img onerror=x>"])
def test_nothing_in_an_export_is_active_whatever_was_said(texts: list[str]):
    checkpoint = {"id": "a", "parent": None, "kind": "message", "role": "user", "row": 1}
    checkpoint |= {"time": None, "summary": texts[0], "usage": None}
    origin = Origin("s", None, "s", None, None, checkpoint)

    for name, page in exports_of(texts, origin).items():
        check(name, page)


@given(hostile_texts)
@example("<x>```mermaid\ngraph TD\n```![i](http://evil.example/i.png)```")
@example("`a```b``@ada`c`")
def test_text_in_markdown_is_read_as_that_text_and_nothing_else(text: str):
    check_markdown(f"{inline(text)}\n")
    check_markdown("\n".join(prose(text)))


@given(hostile_texts)
def test_a_fence_holds_all_of_its_text(text: str):
    lines = fenced(text, "text")

    tokens = MarkdownIt("commonmark").parse("\n".join(lines))

    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.removesuffix("\n") == "\n".join(lines[1:-1])


@given(hostile_texts)
def test_a_line_of_code_is_all_code(text: str):
    told = code(text)

    html = MarkdownIt("commonmark").render(f"x {told} y")

    if told.strip():
        assert seen(html).said.split() == ["x", "y"]
        assert html.count("<code>") == 1


def test_only_markup_is_markup():
    told = element("p", "<b>", element("i", "&"), None, title='"<')

    assert told == '<p title="&quot;&lt;">&lt;b&gt;<i>&amp;</i></p>'


def test_prose_keeps_its_shape():
    text = (
        "# Why\n\nTwo **causes**:\n- `a`\n  - b\n- c\n\n1. one\n2. two\n\n```py\nx = 1\n```\nend"
    )

    assert prose(text) == [
        *(
            "**Why**",
            "",
            "Two **causes**:",
            "",
            "- `a`",
            "  - b",
            "- c",
            "",
            "1. one",
            "2. two",
            "",
        ),
        *("```py", "x = 1", "```", "", "end"),
    ]
