"""The text of an expression, read into a tree; what is wrong with it is said in words.

jmespath reads it. Two things are made easier: a bare number stands for itself on either side of a
comparison (`cost > 1`), and a literal in backticks that is no JSON is a text, without a warning.
What would fail at each evaluation (a function that is not there, too few arguments) is an error
of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from jmespath.exceptions import IncompleteExpressionError, LexerError, ParseError
from jmespath.functions import Functions
from jmespath.lexer import Lexer
from jmespath.parser import Parser

from tt_debugger.core.formula.quotes import QUOTED
from tt_debugger.core.text import counted

Node = dict[str, Any]
"""A part of an expression: its `type`, its `children`, and what some types have as `value`."""

LONGEST = 4000
"""Characters of the longest expression."""
DEEPEST = 100
"""How deep an expression may be nested; each level takes a few frames where it is evaluated."""

_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])"
_COMPARATOR = "==|!=|<=|>=|<|>"
_REWRITTEN = re.compile(
    rf"(?P<quoted>{QUOTED})"
    rf"|(?P<before>(?:{_COMPARATOR})[ \t\r\n]*)(?P<right>{_NUMBER})"
    rf"|(?<![\w.-])(?P<left>{_NUMBER})(?=[ \t\r\n]*(?:{_COMPARATOR}))",
    re.DOTALL | re.ASCII,
)

_FUNCTIONS: dict[str, Any] = Functions.FUNCTION_TABLE


_Parameters = Sequence[Mapping[str, Any]]


def parse(text: str, column: int = 1) -> Node:
    """Read an expression. Raises ValueError that says what is wrong, and at which column.

    Columns are counted from that of its first character.
    """
    if not text.strip():
        message = f"an expression is missing (column {column})"
        raise ValueError(message)
    if len(text) > LONGEST:
        message = f"an expression has at most {LONGEST:,} characters, this one {len(text):,}"
        raise ValueError(message)
    typed = _Typed(text, column)
    try:
        tokens = list(Lexer().tokenize(typed.text))
        node = cast("Node", Parser().parse(typed.text).parsed)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ParseError as error:
        message = f"{_complaint(error)} (column {typed.column(_place(error, typed.text))})"
        raise ValueError(message) from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # Such as a number of thousands of digits.
        message = f"this is no expression of JMESPath: {error}"
        raise ValueError(message) from None
    _check(node, typed, tokens)
    return node


_TOO_DEEP = f"an expression may be nested {DEEPEST} levels deep, and this one is deeper"


class _Typed:
    """An expression in the form that jmespath takes, and where it was typed otherwise."""

    def __init__(self, typed: str, column: int) -> None:
        self._column = column
        self._size = len(typed)
        self._grown: list[tuple[int, int]] = []
        """Places in the text behind what was rewritten, and how much longer it is up to there."""
        parts: list[str] = []
        begin = grown = 0
        for found in _REWRITTEN.finditer(typed):
            new = _rewritten(found)
            parts += (typed[begin : found.start()], new)
            begin = found.end()
            grown += len(new) - len(found[0])
            self._grown.append((begin + grown, grown))
        self.text = "".join((*parts, typed[begin:]))

    def column(self, place: int) -> int:
        """Give the column at which a place of the text was typed."""
        grown = max((by for end, by in self._grown if end <= place), default=0)
        return min(place - grown, self._size) + self._column


def _rewritten(found: re.Match[str]) -> str:
    if found["quoted"] is None:
        return f"{found['before'] or ''}`{found['right'] or found['left']}`"
    literal = found["quoted"]
    if literal[0] != "`" or literal[-1] != "`" or _is_json(literal[1:-1].replace("\\`", "`")):
        return literal
    # The old form of a text: `user` for `"user"`.
    text = f'"{literal[1:-1].lstrip()}"'
    return f"`{text}`" if _is_json(text.replace("\\`", "`")) else literal


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _place(error: ParseError, text: str) -> int:
    return len(text) if isinstance(error, IncompleteExpressionError) else error.lex_position


def _complaint(error: ParseError) -> str:
    if isinstance(error, IncompleteExpressionError) or error.token_value == "":
        return "the expression ends too soon"
    if not isinstance(error, LexerError):
        return f"{str(error.token_value)!r} does not belong here"
    if error.message.startswith("Unclosed"):
        return f"the quote {error.lexer_value[0]} is never closed"
    if error.lexer_value == "=":
        return "'=' is no operator of JMESPath, which compares with '=='"
    if error.message.startswith("Unknown token"):
        return f"{error.lexer_value!r} means nothing here"
    return f"what stands in {error.lexer_value[0]} is no JSON"


def _check(node: Node, typed: _Typed, tokens: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what is too deep, and what could never be evaluated. Raises ValueError."""
    names = (
        token["start"]
        for token, behind in pairwise(tokens)
        if (token["type"], behind["type"]) == ("unquoted_identifier", "lparen")
    )
    references = (token["start"] for token in tokens if token["type"] == "expref")
    slices = _slices([(token["type"], token["start"]) for token in tokens])
    for part, takes_reference in _parts(node):
        complaint, place = "", 0
        match part["type"]:
            case "function_expression":
                complaint, place = _wrong_call(part), next(names)
            case "expref":
                place = next(references)
                if not takes_reference:
                    complaint = f"'&' belongs into an argument of {_TAKING_REFERENCES}"
            case "slice":
                place = next(slices)
                if part["children"][2] == 0:
                    complaint = "a slice cannot go by steps of 0"
            case _:
                pass
        if complaint:
            message = f"{complaint} (column {typed.column(place)})"
            raise ValueError(message)


def _slices(tokens: Sequence[tuple[str, int]]) -> Iterator[int]:
    """Give where slices begin, from left to right."""
    for (kind, place), (second, _), (third, _) in zip(
        tokens, tokens[1:], tokens[2:], strict=False
    ):
        if kind == "lbracket" and "colon" in (second, third if second == "number" else ""):
            yield place


def _parts(node: Node) -> Iterator[tuple[Node, bool]]:
    """Give each part in the order of the text, and whether it may be a reference (`&name`).

    Raises ValueError where one is too deep.
    """
    waiting = [(node, False, 1)]
    while waiting:
        part, takes_reference, depth = waiting.pop()
        if depth > DEEPEST:
            raise ValueError(_TOO_DEEP)
        yield part, takes_reference
        children: list[Any] = part["children"]
        references: Sequence[bool] = ()
        match part["type"]:
            case "slice":
                continue
            case "filter_projection":
                # What is done with an item stands behind the condition.
                children = [children[0], children[2], children[1]]
            case "function_expression":
                references = [_is_reference(each) for each in _parameters(part["value"])]
            case _:
                pass
        below = [
            (child, place < len(references) and references[place], depth + 1)
            for place, child in enumerate(children)
        ]
        waiting += reversed(below)


def _parameters(name: str) -> _Parameters:
    return _FUNCTIONS[name]["signature"] if name in _FUNCTIONS else ()


def _is_reference(parameter: Mapping[str, Any]) -> bool:
    return "expref" in parameter["types"]


_TAKING_REFERENCES = ", ".join(
    f"{name}()" for name in sorted(_FUNCTIONS) if any(map(_is_reference, _parameters(name)))
)


def _wrong_call(call: Node) -> str:
    """Tell what is wrong with a call of a function, empty where it is well."""
    name, given = call["value"], call["children"]
    if name not in _FUNCTIONS:
        return f"there is no function {name}(); there are: {', '.join(sorted(_FUNCTIONS))}"
    parameters = _parameters(name)
    wanted = counted(len(parameters), "argument")
    if parameters and parameters[-1].get("variadic"):
        if len(given) < len(parameters):
            return f"{name}() takes {wanted} or more, not {len(given)}"
    elif len(given) != len(parameters):
        return f"{name}() takes {wanted}, not {len(given)}"
    for place, (parameter, argument) in enumerate(zip(parameters, given, strict=False), 1):
        if _is_reference(parameter) and argument["type"] != "expref":
            return f"{name}() takes '&' and an expression as argument {place}"
    return ""
