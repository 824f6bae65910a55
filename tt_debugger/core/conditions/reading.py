"""The text of a condition, read into a form; what is wrong with it is said in words.

    form     = either ("or" either)*        either = one ("and" one)*
    one      = "not" one | "(" form ")" | atom

An atom is ready-made (`error`, `tool=bash`, `cost > 1`, `text~"a b"`), `entry:` with JMESPath
over a checkpoint, or JMESPath over the state, which `jmes:` forces. `and`, `or` and `not` are
words only outside of quotes and brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tt_debugger.core.conditions import figures, names
from tt_debugger.core.conditions.forms import And, Atom, Form, Not, Or, Single
from tt_debugger.core.conditions.refusal import ConditionError
from tt_debugger.core.conditions.texts import text as of_text
from tt_debugger.core.formula.quotes import QUOTED

if TYPE_CHECKING:
    from tt_debugger.core.expressions import JmesPath

LONGEST = 8000
"""Characters of the longest condition."""
DEEPEST = 50
"""How deep groups may be nested."""
READY_MADE = (
    "error, tool=, kind=, role=, model=, label=, text~ and, with any comparison, "
    + ", ".join(figures.NAMES)
)
"""The ready-made conditions, as they are named where there is no such."""

_NAMES: dict[str, Callable[[str], Atom]] = {
    "tool": names.tool,
    "kind": names.kind,
    "role": names.role,
    "model": names.model,
    "label": names.label,
}
_TEXT, _ERROR = "text", "error"
_KNOWN = (*_NAMES, *figures.NAMES, _TEXT)

_EXAMPLES = {
    **{name: f"{name}=NAME" for name in _NAMES},
    _TEXT: "text~denied",
    "tokens": "tokens>100k",
    "took": "took>30s",
    figures.TIME: "time>2026-01-31T09:40",
}
_CLOSE = 0.7
"""How much alike two names are, of 1, so that one may have been meant by the other."""
_SPACE = re.compile(r"\s*")
_AND, _OR, _NOT = (
    re.compile(rf"{word}(?=[\s(]|$)", re.IGNORECASE) for word in ("and", "or", "not")
)
_BARE_ERROR = re.compile(rf"{_ERROR}(?=\s*(?:$|\)|&&|\|\|)|\s+(?:and|or)\b)", re.IGNORECASE)
_BARE = re.compile(
    rf"({'|'.join(each for each in _KNOWN if each != 'messages')})(?=\s*(?:$|\))|\s+(?:and|or)\b)"
)
_COMPARED = re.compile(r"([A-Za-z_]\w*)\s*(!=|>=|<=|==|=|>|<|~)\s*", re.ASCII)
_FORCED = re.compile(r"(jmes|entry):\s*")
_QUOTED_VALUE = re.compile(
    r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`"?((?:[^`\\]|\\.)*?)"?`', re.DOTALL
)
_ESCAPED_QUOTE = re.compile(r"\\([\"'])")
_VALUE = re.compile(r"[^\s()]+")
_PIECES = re.compile(
    rf"(?P<quoted>{QUOTED})|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<word>(?<=[\s)\]}'\"`])(?:and|or)(?=[\s(]|$))",
    re.DOTALL | re.IGNORECASE,
)
_OF_EXPRESSION = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()\s]|.", re.DOTALL)


def form_of(text: str) -> Form:
    """Read a condition. Raises ValueError that says what is wrong, and at which column."""
    if len(text) > LONGEST:
        message = f"a condition has at most {LONGEST:,} characters, this one {len(text):,}"
        raise ValueError(message)
    return _Reader(text).read()


class _Reader:
    """A text of which some is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0

    def read(self) -> Form:
        form = self._form()
        if self._place < len(self._text):
            raise self._error(f"{self._rest()!r} does not belong here")
        return form

    def _form(self) -> Form:
        forms = [self._either()]
        while self._takes(_OR):
            forms.append(self._either())
        return forms[0] if len(forms) == 1 else Or(tuple(forms))

    def _either(self) -> Form:
        forms = [self._one()]
        while self._takes(_AND):
            forms.append(self._one())
        return forms[0] if len(forms) == 1 else And(tuple(forms))

    def _one(self) -> Form:
        is_not = False
        while self._takes(_NOT):
            is_not = not is_not
        form = self._group() if self._is_at_group() else self._atom()
        self._skip_space()
        return Not(form) if is_not else form

    def _is_at_group(self) -> bool:
        """Tell whether a parenthesis holds conditions, and is none of JMESPath."""
        if not self._text.startswith("(", self._place):
            return False
        depth = 0
        for found in _PIECES.finditer(self._text, self._place):
            depth += (found["open"] is not None) - (found["close"] is not None)
            if depth == 0:
                behind = _SPACE.match(self._text, found.end())
                place = len(self._text) if behind is None else behind.end()
                return any(each.match(self._text, place) for each in _BEHIND_GROUPS)
        return True

    def _group(self) -> Form:
        begin = self._place
        self._place += 1
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"groups may be nested {DEEPEST} levels deep, and these are deeper")
        form = self._form()
        if not self._text.startswith(")", self._place):
            complaint = f"{self._rest()!r} does not belong here" if self._rest() else ""
            raise self._error(complaint or "the parenthesis is never closed", place=begin)
        self._place += 1
        self._depth -= 1
        return form

    def _atom(self) -> Form:
        text, begin = self._text, self._place
        if begin == len(text) or any(each.match(text, begin) for each in _BEHIND_GROUPS):
            raise self._error("a condition is missing here")
        if bare := _BARE_ERROR.match(text, begin):
            self._place = bare.end()
            self._end(None)
            return Single(Atom(names.failed))
        if forced := _FORCED.match(text, begin):
            self._place = forced.end()
            return self._expression(is_of_entry=forced[1] == "entry")
        compared = _COMPARED.match(text, begin)
        if compared is not None and compared[1] in _KNOWN:
            self._place = compared.end()
            return self._compared(compared[1], compared[2])
        if compared is not None and compared[2] in ("=", "~"):
            raise self._error(*_unknown(compared[1], compared[2]))
        if bare := _BARE.match(text, begin):
            raise self._error(*_without_comparison(bare[1]))
        return self._expression()

    def _compared(self, name: str, sign: str) -> Form:
        """Read what a ready-made name is compared with."""
        if sign not in _signs(name):
            signs = ", ".join(_signs(name))
            raise self._error(f"{name} goes with {signs}", _of_state(name))
        begin = self._place
        value = self._value(is_expression=name == _TEXT)
        if not value:
            raise self._error(f"something is missing behind {name}{sign}", place=begin)
        try:
            if name == _TEXT:
                atom = of_text(value)
            elif name in _NAMES:
                atom = _NAMES[name](value)
            else:
                atom = figures.figure(name, sign, value)
        except ValueError as error:
            hint = error.hint if isinstance(error, ConditionError) else None
            raise self._error(str(error), hint, begin) from None
        self._end("what has spaces in it is put in quotes")
        return Not(Single(atom)) if name in _NAMES and sign == "!=" else Single(atom)

    def _value(self, *, is_expression: bool) -> str:
        """Take a value: in quotes, or up to the next space, or the end of the group."""
        if quoted := _QUOTED_VALUE.match(self._text, self._place):
            self._place = quoted.end()
            return _ESCAPED_QUOTE.sub(r"\1", next(filter(None, quoted.groups()), ""))
        begin = self._place
        if self._text.startswith(("'", '"', "`"), begin):
            raise self._error(f"the quote {self._text[begin]} is never closed")
        if is_expression:
            self._place = _end_of_expression(self._text, begin)
        elif plain := _VALUE.match(self._text, begin):
            self._place = plain.end()
        return self._text[begin : self._place]

    def _expression(self, *, is_of_entry: bool = False) -> Form:
        """Take JMESPath, up to a word that joins conditions, or the end of the group."""
        # Only who asks in JMESPath pays for the import.
        from tt_debugger.core.conditions.states import of_entry, of_state

        begin, depth = self._place, 0
        self._place = len(self._text)
        for found in _PIECES.finditer(self._text, begin):
            if depth == 0 and (found["word"] or found["close"] == ")"):
                self._place = found.start()
                break
            depth += (found["open"] is not None) - (found["close"] is not None)
        expression = _jmespath(self._text[begin : self._place].rstrip(), begin + 1)
        return Single(of_entry(expression) if is_of_entry else of_state(expression))

    def _end(self, hint: str | None) -> None:
        """Make sure that a ready-made condition ends here."""
        end = self._place
        self._skip_space()
        rest = self._rest()
        if rest.startswith(("&&", "||")):
            word = "and" if rest.startswith("&&") else "or"
            raise self._error(f"{rest[:2]!r} joins no ready-made conditions", f"write {word!r}")
        is_joined = any(each.match(self._text, self._place) for each in _BEHIND_GROUPS)
        if not is_joined or (end == self._place and rest and rest[0] != ")"):
            raise self._error(f"{rest!r} does not belong here", hint)

    def _takes(self, word: re.Pattern[str]) -> bool:
        self._skip_space()
        found = word.match(self._text, self._place)
        if found is not None:
            self._place = found.end()
            self._skip_space()
        return found is not None

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._place)
        self._place = self._place if space is None else space.end()

    def _rest(self) -> str:
        return self._text[self._place : self._place + 30].split(" ")[0]

    def _error(
        self, complaint: str, hint: str | None = None, place: int | None = None
    ) -> ConditionError:
        column = (self._place if place is None else place) + 1
        return ConditionError(f"{complaint} (column {column})", hint)


_BEHIND_GROUPS = (_AND, _OR, re.compile(r"\)|$"))


def _signs(name: str) -> tuple[str, ...]:
    if name == _TEXT:
        return ("~",)
    return ("=", "==", "!=") if name in _NAMES else figures.comparisons(name)


def _unknown(name: str, sign: str) -> tuple[str, str]:
    """Complain of a name that is none of a condition; say which there are."""
    meant = condition_like(name)
    complaint = f"no condition {name}{sign}"
    if meant is not None:
        complaint += f"; did you mean {_with_sign(meant, sign)}?"
    equals = "; what is equal in JMESPath is written with ==" if sign == "=" else ""
    return complaint, f"there are {READY_MADE}{equals}"


def condition_like(name: str) -> str | None:
    """Give the ready-made condition whose name is near to another, None where none is."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, (*_KNOWN, _ERROR), 1, _CLOSE)), None)


def _with_sign(name: str, sign: str) -> str:
    if name == _ERROR:
        return name
    return f"{name}{sign if sign in _signs(name) else _signs(name)[0]}"


def _without_comparison(name: str) -> tuple[str, str]:
    """Complain of a name that stands alone, such as what a shell leaves of `cost>1`."""
    example = _EXAMPLES.get(name, f"{name}>1")
    shell = " (in quotes: a shell takes > for itself)" if ">" in example else ""
    return f"{name} wants a comparison: '{example}'{shell}", _of_state(name)


def _of_state(name: str) -> str:
    return f"jmes:{name} is the field of the state"


def _end_of_expression(text: str, begin: int) -> int:
    """Give where a regular expression without quotes ends."""
    depth = 0
    for found in _OF_EXPRESSION.finditer(text, begin):
        piece = found[0]
        if piece.isspace() or (piece == ")" and depth == 0):
            return found.start()
        depth += (piece == "(") - (piece == ")")
    return len(text)


def _jmespath(text: str, column: int) -> JmesPath:
    from tt_debugger.core.expressions import JmesPath

    return JmesPath.parse(text, column)
