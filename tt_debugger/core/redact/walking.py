"""Walking: every text of a JSON-like value redacted, by itself and by the key it stands under."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from tt_debugger.core.paths import pointer
from tt_debugger.core.redact.blobs import blob_kind, data_urls, is_long_base64, tells_of_blobs
from tt_debugger.core.redact.headers import COOKIE, SCHEME, is_about_cookies
from tt_debugger.core.redact.inner import is_json, read, written
from tt_debugger.core.redact.manifests import holds_secrets
from tt_debugger.core.redact.names import LONGEST, kind_of, kind_of_several
from tt_debugger.core.redact.placeholders import (
    Placeholders,
    blob,
    is_placeholder,
    outside,
    standing,
)
from tt_debugger.core.redact.structure import (
    INNER,
    is_envelope,
    key_stays,
    name_stays,
    number_stays,
    stays,
)
from tt_debugger.core.redact.words import words
from tt_debugger.core.redact.worth import (
    is_number,
    is_user_and_password,
    is_worth_hiding,
    looks_chosen,
)

_NAMES = ("name", "key", "header", "Name", "Key")
_VALUES = ("value", "Value")
_BLOCK_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,8}-----\s*")
_BLOCK_END = "-----END"
_BASIC = ("auth", "_auth")
_DEEPEST_JSON = 8
"""How often JSON may stand in JSON; each time doubles its escapes, so no file has more."""
_PAIR = 2
_SHORTEST_NESTED = 6
"""Characters of a text that is a secret by the name of what it stands in."""
_SCHEMA_TYPES = ("string", "object", "array", "number", "integer", "boolean", "null")
_SCHEMA_VALUES = words("value $value default const")
_SCHEMA_KEYS = words(
    "type description enum properties required title format items minLength maxLength pattern "
    "index ignore_above additionalProperties anyOf oneOf allOf $ref nullable"
)
BETWEEN = "\n\0\n"
"""What nothing that is looked for can reach over without being found on both sides."""
_LONGEST_SIFTED = 100_000
BATCH = 4_000_000
"""Characters that are looked through at once."""
_NOWHERE = (1 << 62, 1 << 62)


class Found(NamedTuple):
    """A placeholder and where it stands in what was redacted."""

    place: str
    placeholder: str


class _Trail(NamedTuple):
    """The way to a value, from it upwards: a pointer is written only where something is found."""

    above: _Trail | None
    key: str | int


class _Open:
    """A map or list that is being walked through."""

    __slots__ = (
        *("hides", "is_content", "is_in_block", "items", "key", "made", "name", "renamed"),
        *("source", "trail"),
    )

    def __init__(
        self,
        source: Any,
        trail: _Trail | None,
        hides: str | None,
        name: str = "",
        *,
        is_content: bool,
    ) -> None:
        self.source = source
        self.trail = trail
        self.hides = hides
        """The rule by which each text in it is a secret."""
        self.name = name
        """The key that it stands under; of a list in a list that of the outer one."""
        self.is_content = is_content
        self.items: Iterator[tuple[Any, Any]] = iter(
            cast("dict[Any, Any]", source).items()
            if isinstance(source, dict)
            else enumerate(cast("list[Any]", source))
        )
        self.key: Any = None
        self.made: Any = None
        self.renamed: dict[Any, str] = {}
        self.is_in_block = False

    def put(self, key: Any, redacted: Any) -> None:
        """Keep what a child became."""
        if self.made is None:
            is_map = _is_map(self.source)
            self.made = dict(self.source) if is_map else list(self.source)
        self.made[key] = redacted

    def goes_on(self, line: str) -> bool:
        """Tell whether a text in a list is a line of a key in a block that began before it."""
        went_on = self.is_in_block and _BLOCK_END not in line
        self.is_in_block = went_on or _BLOCK_BEGIN.fullmatch(line) is not None
        return went_on

    def trail_to(self, key: Any) -> _Trail:
        """Give the way to a child, by its key as it is when it is redacted."""
        renamed = self.renamed.get(key)
        return _Trail(self.trail, key if renamed is None else renamed)

    def whole(self) -> Any:
        """Give what it became: itself, if no child changed."""
        made = self.source if self.made is None else self.made
        if self.renamed:
            return {self.renamed.get(key, key): each for key, each in made.items()}
        return made


class Walk:
    """Redacts values and texts, each object and each text once."""

    def __init__(
        self,
        placeholders: Placeholders,
        scanned: Callable[[str], tuple[str, list[Found]]],
        suspected: Callable[[str], Iterable[tuple[int, int]]],
        *,
        structure_only: bool,
    ) -> None:
        self._placeholders = placeholders
        self._scanned = scanned
        self._suspected = suspected
        self._structure_only = structure_only
        # Objects are kept beside what they became, so that no other is given their identity.
        self._objects: dict[tuple[int, str | None, str, bool], tuple[Any, Any]] = {}
        self._clean: dict[int, Any] = {}
        """Objects that stay as they are, by identity."""
        self._texts: dict[str, tuple[str, tuple[Found, ...]]] = {}
        self._clean_texts: set[str] = set()
        self._plain_keys: dict[Any, bool] = {}
        self._depth = 0

    @property
    def clean_texts(self) -> set[str]:
        """The texts in which nothing was found; more may be added of which that is known."""
        return self._clean_texts

    def redacted(self, value: Any) -> tuple[Any, list[Found]]:
        """Give a value without its secrets, and what was found in it."""
        found: list[Found] = []
        if not _is_container(value):
            return self._leaf({}, "", value, None, found), found
        if not (self._structure_only or self._depth):
            self._sift(value)
        return self._container(value, found), found

    def text(self, text: str) -> tuple[str, tuple[Found, ...]]:
        """Give a text without its secrets, and what was found in it."""
        if text in self._clean_texts:
            return text, ()
        known = self._texts.get(text)
        if known is None:
            known = self._first_seen(text)
            if known[1]:
                self._texts[text] = known
            else:
                self._clean_texts.add(text)
        return known

    def key(self, key: str) -> tuple[str, tuple[Found, ...]]:
        """Give the key of a map as it leaves, and what was found in it."""
        renamed, hits = self.text(key)
        if self._structure_only and not (is_placeholder(renamed) or key_stays(renamed)):
            return self._placeholders.of_key(key), ()
        return renamed, hits

    def _sift(self, value: Any) -> None:
        """Look through many texts at once for those in which there is nothing.

        One look at a long text costs much less than a look at each of many short ones.
        """
        batch: list[str] = []
        size = 0
        for text in _texts_in(value):
            if len(text) > _LONGEST_SIFTED or text in self._clean_texts or text in self._texts:
                continue
            batch.append(text)
            size += len(text)
            if size > BATCH:
                self._sift_batch(batch)
                batch, size = [], 0
        self._sift_batch(batch)

    def _sift_batch(self, batch: list[str]) -> None:
        suspected = iter(self._suspected(BETWEEN.join(batch)))
        start, end = next(suspected, _NOWHERE)
        place = 0
        for text in batch:
            close = place + len(text)
            while end <= place:
                start, end = next(suspected, _NOWHERE)
            if start >= close and not (is_json(text) or "base64," in text or is_long_base64(text)):
                self._clean_texts.add(text)
            place = close + len(BETWEEN)

    # --- Containers ---------------------------------------------------------------------------

    def _container(self, root: Any, found: list[Found]) -> Any:
        stack = [_Open(root, None, None, is_content=False)]
        while True:
            top = stack[-1]
            child = self._next_container(top, found)
            if child is not None:
                stack.append(child)
                continue
            whole = top.whole()
            if whole is not top.source or top.hides or self._structure_only:
                place = (id(top.source), top.hides, top.name, top.is_content)
                self._objects[place] = (top.source, whole)
            else:
                self._clean[id(top.source)] = top.source
            stack.pop()
            if not stack:
                return whole
            if whole is not top.source:
                stack[-1].put(stack[-1].key, whole)

    def _next_container(self, top: _Open, found: list[Found]) -> _Open | None:
        """Redact the next texts of a container, up to a child that must be walked first."""
        clean, is_scanned = self._clean_texts, not (self._structure_only or top.hides)
        is_map = _is_map(top.source)
        for key, child in top.items:
            if is_map and not self._is_plain(key):
                self._rename(top, key, found)
            elif is_map and is_scanned and isinstance(child, str):
                if child not in clean:
                    self._put_text(top, key, child, found)
                continue
            if child is None or isinstance(child, bool | int | float):
                if self._structure_only and not (child is None or isinstance(child, bool)):
                    self._put_number(top, key, child)
                continue
            if _is_container(child):
                opened = self._opened(top, key, child)
                if opened is not None:
                    return opened
            else:
                redacted = self._child(top, key, child, found)
                if redacted is not child:
                    top.put(key, redacted)
        return None

    def _put_number(self, top: _Open, key: Any, child: float) -> None:
        if not number_stays(_as_text(key) if _is_map(top.source) else top.name):
            top.put(key, self._placeholders.of_number(_as_text(child)))

    def _put_text(self, top: _Open, key: str, child: str, found: list[Found]) -> None:
        redacted, hits = self.text(child)
        if hits:
            top.put(key, redacted)
            self._note(hits, top.trail_to(key), found)

    def _opened(self, top: _Open, key: Any, child: Any) -> _Open | None:
        """Give a container that must be walked; None where it is known what becomes of it."""
        hides, is_map = top.hides, _is_map(top.source)
        if is_map:
            hides = hides or self._hides_all(key, child)
            if holds_secrets(top.source, key):
                hides = "secret"
        name, is_content = "", False
        if self._structure_only:
            name = _as_text(key) if is_map else top.name
            is_root = top.trail is None and not is_map
            is_content = top.is_content or not (is_root or name in INNER)
        if hides is None and id(child) in self._clean:
            return None
        known = self._objects.get((id(child), hides, name, is_content))
        if known is None:
            top.key = key
            return _Open(child, top.trail_to(key), hides, name, is_content=is_content)
        if known[1] is not child:
            top.put(key, known[1])
        return None

    def _is_plain(self, key: Any) -> bool:
        """Tell whether nothing but its text tells what stands under a key, itself no secret."""
        known = self._plain_keys.get(key)
        if known is None:
            known = isinstance(key, str) and not (
                key in _VALUES
                or key in _BASIC
                or tells_of_blobs(key)
                or kind_of(key)
                or self.text(key)[1]
            )
            known = known and (key_stays(key) or not self._structure_only)
            self._plain_keys[key] = known
        return known

    def _hides_all(self, name: Any, child: Any) -> str | None:
        """Give the rule by which all texts in a container are secrets."""
        if not name or not isinstance(name, str):
            return None
        kind = kind_of(name) or kind_of_several(name)
        if kind is None or kind == "cookie" or not isinstance(child, dict):
            return kind
        return None if _is_schema(cast("dict[Any, Any]", child)) else kind

    def _rename(self, top: _Open, key: Any, found: list[Found]) -> None:
        name = _as_text(key)
        is_named = self._structure_only and not top.is_content and name_stays(name)
        if is_named and (top.trail is None or is_envelope(top.source)):
            renamed, hits = self.text(name)
        else:
            renamed, hits = self.key(name)
        if renamed != key:
            top.renamed[key] = renamed
            self._note(hits, top.trail_to(key), found)

    def _child(self, top: _Open, key: Any, child: Any, found: list[Found]) -> Any:
        trail = top.trail_to(key)
        if _is_map(top.source):
            holder = cast("dict[str, Any]", top.source)
            name = _as_text(key)
            if name in _VALUES:
                name = next((holder[n] for n in _NAMES if isinstance(holder.get(n), str)), name)
        else:
            holder, name = {}, _name_before(top.source, key)
            is_read = isinstance(child, str) and not self._structure_only
            if is_read and top.goes_on(child):
                return self._hidden(child, "private-key", trail, found)
        if self._structure_only:
            return self._leaf(holder, name, child, trail, found, is_content=top.is_content)
        is_long = not _is_map(top.source) or len(_as_text(child)) >= _SHORTEST_NESTED
        if top.hides is not None and isinstance(child, str) and is_long and key != "$type":
            return self._hidden(child, top.hides, trail, found)
        return self._leaf(holder, name, child, trail, found, is_content=top.is_content)

    # --- Texts --------------------------------------------------------------------------------

    def _leaf(
        self,
        holder: Mapping[str, Any],
        name: str,
        value: Any,
        trail: _Trail | None,
        found: list[Found],
        *,
        is_content: bool = True,
    ) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if not isinstance(value, str):
            # No JSON: nothing is known of it, so it is not passed on as it is.
            value = _as_text(value)
        if self._structure_only:
            if not stays(holder, name, value, is_content=is_content):
                return self._placeholders.of_text(value)
        else:
            kind = blob_kind(holder, name, value)
            if kind is not None and not is_placeholder(value):
                return self._blob(kind, value, trail, found)
        kind = kind_of(name) if name else None
        if name in _BASIC and is_user_and_password(value):
            kind = "authorization"
        if kind and (_is_held(holder, name, value, kind) or self.text(value)[1]):
            return self._hidden(value, kind, trail, found)
        redacted, hits = self.text(value)
        if hits and self._structure_only and not is_placeholder(redacted):
            # Not the one word any more for which it was to stay.
            return self._placeholders.of_text(value)
        self._note(hits, trail, found)
        return redacted

    def _blob(self, kind: str, value: str, trail: _Trail | None, found: list[Found]) -> str:
        if not value:
            return value
        data_url = value.startswith("data:") and data_urls(value)
        placeholder = blob(kind, data_url[0][2] if data_url else value)
        found.append(Found(_pointer(trail), placeholder))
        return placeholder

    def _hidden(self, value: str, kind: str, trail: _Trail | None, found: list[Found]) -> str:
        """Give the placeholder of a value that is secret by its key; a scheme before it stays."""
        known, hits = self.text(value)
        rest = "".join(known[a:b] for a, b in outside(standing(known), 0, len(known)))
        if not (rest.strip() if len(rest) < len(known) else is_worth_hiding(value)):
            if self._structure_only:
                known = self._placeholders.of_text(known)
            self._note(hits, trail, found)
            return known
        if kind == "cookie" and "=" in value:
            self._note(hits, trail, found)
            return COOKIE.sub(lambda each: self._cookie(each, trail, found), known)
        scheme = None if kind == "password" else SCHEME.match(value)
        begin = scheme.end() if scheme else 0
        is_held = hits or is_worth_hiding(value[begin:])
        if not is_held or is_placeholder(value[begin:]):
            return value
        placeholder = self._placeholders.named(value[begin:], kind)
        found.append(Found(_pointer(trail), placeholder))
        return value[:begin] + placeholder

    def _cookie(self, match: re.Match[str], trail: _Trail | None, found: list[Found]) -> str:
        name, value = match.groups()
        if is_about_cookies(name) or is_placeholder(value) or not is_worth_hiding(value):
            return match[0]
        placeholder = self._placeholders.named(value, "cookie")
        found.append(Found(_pointer(trail), placeholder))
        return f"{name}={placeholder}"

    def _first_seen(self, text: str) -> tuple[str, tuple[Found, ...]]:
        found: list[Found] = []
        if is_long_base64(text):
            placeholder = blob("base64", text)
            return placeholder, (Found("", placeholder),)
        for url in reversed(data_urls(text)):
            placeholder = blob(url[1] or "data", url[2])
            text = text[: url.start()] + placeholder + text[url.end() :]
            found.append(Found("", placeholder))
        text = self._json(text, found)
        text, more = self._scanned(text)
        return text, (*found, *more)

    def _json(self, text: str, found: list[Found]) -> str:
        """Give a text that is JSON without the secrets in it, written anew only if it has any."""
        if not is_json(text) or self._depth >= _DEEPEST_JSON:
            return text
        inner = read(text)
        if inner is None:
            return self._json_lines(text, found)
        self._depth += 1
        try:
            redacted, hits = self.redacted(inner.value)
        finally:
            self._depth -= 1
        if not hits:
            return text
        try:
            text = written(redacted, text, is_strict=inner.is_strict)
        except RecursionError:
            text = self._placeholders.of_text(text)
        found += hits
        return text

    def _json_lines(self, text: str, found: list[Found]) -> str:
        """Give a text without the secrets in those of its lines that are JSON."""
        if "\n" not in text:
            return text
        # A line that is but a text may be part of what reaches over many.
        return "\n".join(
            self._json(line, found) if line.startswith("{") else line for line in text.split("\n")
        )

    def _note(self, hits: tuple[Found, ...], trail: _Trail | None, found: list[Found]) -> None:
        if hits:
            place = _pointer(trail)
            found += (Found(place + each.place, each.placeholder) for each in hits)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


def _as_text(value: Any) -> str:
    """Give the text of what may be no text; Python writes no number of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return hex(value) if isinstance(value, int) else type(value).__name__


def _is_held(holder: Mapping[str, Any], name: str, value: str, kind: str) -> bool:
    """Tell whether what a telling key holds is what its name says."""
    if not is_worth_hiding(value) or (is_number(value) and kind != "password"):
        return False
    if not holder:
        # The element before it names it, as in the arguments of a command: no word is meant.
        is_variable = name.isupper() and len(value) >= _SHORTEST_NESTED
        return is_variable or looks_chosen(value) or kind in {"authorization", "cookie"}
    # The parts of a text are called tokens too.
    return kind != "token" or len(name) > len("token") or not value.strip().isalpha()


def _texts_in(value: Any) -> Iterator[str]:
    """Give every text of a value once for each object that holds it."""
    waiting = [value]
    met: set[int] = set()
    while waiting:
        holder: Any = waiting.pop()
        if id(holder) in met:
            continue
        met.add(id(holder))
        for each in holder.values() if _is_map(holder) else holder:
            if isinstance(each, str):
                yield each
            elif _is_container(each):
                waiting.append(each)


def _is_schema(child: Mapping[Any, Any]) -> bool:
    """Tell whether a map says what a secret may be, and holds none."""
    if child.get("type") in _SCHEMA_TYPES and not _SCHEMA_VALUES & child.keys():
        return True
    return bool(child) and child.keys() <= _SCHEMA_KEYS


def _name_before(elements: Any, index: int) -> str:
    """Give what names an element of a list: an option before it, or the first of a pair."""
    before = elements[index - 1] if index else None
    if not isinstance(before, str) or len(before) > LONGEST:
        return ""
    return before if before.startswith("-") or len(elements) == _PAIR else ""


def _pointer(trail: _Trail | None) -> str:
    keys: list[str | int] = []
    while trail is not None:
        keys.append(trail.key)
        trail = trail.above
    return pointer(tuple(reversed(keys)))
