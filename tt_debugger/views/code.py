"""Code as lines, its keywords, names, texts, numbers and comments told apart by style.

Pygments reads the code, and is imported when there first is some. Only the languages of the
tables below are read: looking a name up among all lexers also looks for plug-ins, and content
must not choose what is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from rich.text import Span, Text

from tt_debugger.core.text import pieces, safe_line
from tt_debugger.views.palette import Palette

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MOST_CODE = 65_536
"""Characters of code that are read; more is drawn plain."""
PART = 16_384
"""Characters that are read at once: some lexers take the square of it on code made for that."""
LONGEST_LINE = 500
"""Characters of a line of code that is read; code with a longer one is drawn plain."""
MOST_BLANKS = 40
"""Blank lines in a row in code that is read, for the same reason."""
PIECE = 32_768
"""Characters of one line of the view; a longer line of a message is drawn in pieces."""

_LANGUAGES = {
    "bash": "bash shell sh zsh console shell-session",
    "c": "c h",
    "cpp": "cpp c++ cc cxx hpp hh",
    "css": "css",
    "diff": "diff patch udiff",
    "docker": "docker dockerfile",
    "go": "go golang",
    "html": "html htm",
    "ini": "ini cfg conf",
    # Near enough: those of Java and C# take seconds on a few thousand words without a sign.
    "javascript": "javascript js mjs cjs jsx java csharp c# cs",
    "json": "json jsonl ndjson json5 jsonc",
    "kotlin": "kotlin kt kts",
    "lua": "lua",
    "make": "make makefile mk",
    "php": "php",
    "powershell": "powershell ps1 pwsh",
    "python": "python py py3 python3 pyi",
    "ruby": "ruby rb",
    "rust": "rust rs",
    "scala": "scala",
    "scss": "scss sass",
    "sql": "sql sqlite postgresql postgres mysql",
    "swift": "swift",
    "toml": "toml",
    "typescript": "typescript ts tsx mts cts",
    "xml": "xml svg xsd",
    "yaml": "yaml yml",
}
_LEXERS = {word: lexer for lexer, words in _LANGUAGES.items() for word in words.split()}
_STYLES = (
    ("Keyword", "code_keyword"),
    ("Operator.Word", "code_keyword"),
    ("Name.Tag", "code_keyword"),
    ("Name.Function", "code_name"),
    ("Name.Class", "code_name"),
    ("Name.Decorator", "code_name"),
    ("Name.Builtin", "code_name"),
    ("Name.Attribute", "code_name"),
    ("Literal.String", "code_string"),
    ("Literal.Number", "code_number"),
    ("Comment", "code_comment"),
    ("Generic.Inserted", "add"),
    ("Generic.Deleted", "remove"),
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
)


def language_of(file_name: str) -> str:
    """Give the language of a file by its name, empty where it tells none."""
    name = PurePosixPath(file_name.replace("\\", "/")).name.lower()
    return _LEXERS.get(name) or _LEXERS.get(name.rpartition(".")[2], "")


def code_lines(code: str, palette: Palette, language: str = "") -> Iterator[Text]:
    """Give code line by line; of a language that is not known, or of very much, as plain text.

    A line is read when it is asked for. Nothing of the code is left out, whatever a lexer does.
    """
    lexer = _lexer(language.lower())
    code = code.replace("\r\n", "\n")
    if lexer is None or not _is_readable(code):
        yield from plain_lines(code, palette.code if lexer is None else palette.text)
        return
    for part in _parts(code):
        yield from _part_lines(part, lexer, palette)


def plain_lines(text: str, style: str) -> Iterator[Text]:
    """Give a text line by line in one style, a very long line in pieces."""
    # Split as it is drawn: a text can be megabytes long, and only what is seen need be made safe.
    begin = 0
    while begin >= 0:
        end = text.find("\n", begin)
        line = text[begin:] if end < 0 else text[begin:end].removesuffix("\r")
        begin = end + 1 if end >= 0 else -1
        yield from (Text(safe_line(each), style) for each in pieces(line, PIECE))


def warm_up() -> None:
    """Import what the first piece of code would have to wait for."""
    _lexer("python")
    _lexer("bash")
    _ = _styles()


def _is_readable(code: str) -> bool:
    if len(code) > MOST_CODE:
        return False
    blanks = 0
    for line in code.split("\n"):
        blanks = 0 if line.strip() else blanks + 1
        if blanks > MOST_BLANKS or len(line) > LONGEST_LINE:
            return False
    return True


def _parts(code: str) -> Iterator[str]:
    """Give code in parts of whole lines."""
    begin = 0
    while len(code) - begin > PART:
        end = code.rindex("\n", begin, begin + PART)
        yield code[begin:end]
        begin = end + 1
    yield code[begin:]


def _part_lines(code: str, lexer: Lexer, palette: Palette) -> Iterator[Text]:
    runs: list[tuple[str, str]] = []
    for text, style in _styled(code, lexer, palette):
        first, *others = text.split("\n")
        runs.append((first, style))
        for other in others:
            yield _line(runs, palette.text)
            runs = [(other, style)]
    yield _line(runs, palette.text)


def _line(runs: list[tuple[str, str]], style: str) -> Text:
    """Give a line of its runs, or its text unread where these are not together what is safe.

    A lexer can cut a pile of combining marks into pieces that are each short enough.
    """
    shown = "".join(safe_line(text) for text, _ in runs)
    whole = safe_line("".join(text for text, _ in runs))
    if shown != whole:
        return Text(whole, style)
    spans: list[Span] = []
    end = 0
    for text, its_style in runs:
        begin, end = end, end + len(safe_line(text))
        if its_style and end > begin:
            spans.append(Span(begin, end, its_style))
    return Text(whole, style, spans=spans)


def _styled(code: str, lexer: Lexer, palette: Palette) -> Iterator[tuple[str, str]]:
    """Give the whole code in runs with their styles; what the lexer leaves out has none."""
    done, run_from, run_style = 0, 0, ""
    tokens = iter(lexer.get_tokens_unprocessed(code))
    while True:
        try:
            begin, kind, value = next(tokens)
        except StopIteration:
            break
        except Exception:  # noqa: BLE001 - a lexer is outside code: what it cannot read is plain
            break
        end = begin + len(value)
        style = getattr(palette, _style_of(kind), "")
        if end <= done or (style == run_style and begin <= done):
            done = max(done, end)
            continue
        if begin > done and run_style:
            yield code[run_from:done], run_style
            run_from, run_style = done, ""
        if style != run_style:
            cut = max(begin, done)
            yield code[run_from:cut], run_style
            run_from, run_style = cut, style
        done = end
    yield code[run_from:done], run_style
    yield code[done:], ""


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    name = _LEXERS.get(language)
    if name is None:
        return None
    from pygments import lexers

    return cast("Lexer", cast("Any", lexers).get_lexer_by_name(name))


@lru_cache(maxsize=1)
def _styles() -> dict[Any, str]:
    from pygments.token import string_to_tokentype

    return {string_to_tokentype(name): style for name, style in _STYLES}


@lru_cache(maxsize=512)
def _style_of(kind: Any) -> str:
    """Give the field of the palette for a kind of token, by its nearest kind that has one."""
    styles = _styles()
    while kind is not None:
        if kind in styles:
            return styles[kind]
        kind = kind.parent
    return ""
