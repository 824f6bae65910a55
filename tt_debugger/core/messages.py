"""Messages: what an agent keeps of a talk, read into parts, whatever wire shape it has.

Agents write the same few things under different names: Pi and Tau in camelCase, Anthropic by the
types of blocks, OpenAI with calls beside the content, or as items of their own (see
`core.response_items`), LangChain by its classes (see `core.langchain_messages`). Two tables tell
them apart, one by the type of a block, one by the fields of a message; whoever draws or matches
parts knows no wire shape. What is read comes from a file, so any field may have any type, and
what no table knows stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Snapshot, Splice
from tt_debugger.core.contents import content_as_message
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.langchain_messages import is_langchain_message, langchain_as_message
from tt_debugger.core.response_items import is_item, item_as_message


class Said(msgspec.Struct, frozen=True):
    """Text that was said, asked or summed up."""

    text: str


class Thought(msgspec.Struct, frozen=True):
    """What a model thought before it spoke; `is_redacted` where its provider hides it."""

    text: str
    is_redacted: bool = False


class Call(msgspec.Struct, frozen=True):
    """A tool that a model calls; `arguments` is an object, or whatever stands in its place."""

    id: str | None
    name: str
    arguments: Any


class Image(msgspec.Struct, frozen=True):
    """A picture: base64 as it stands in the file, or the address of one."""

    mime: str
    data: str
    url: str = ""


class Section(msgspec.Struct, frozen=True):
    """A named section of a system prompt; without text it is taken away."""

    name: str
    text: str | None


class Tool(msgspec.Struct, frozen=True):
    """A tool that a system prompt adds or takes away."""

    name: str
    about: str
    is_added: bool


class Shell(msgspec.Struct, frozen=True):
    """A command that the user ran; `failure` says how it failed, empty where it did not."""

    command: str
    output: str
    failure: str


class Failure(msgspec.Struct, frozen=True):
    """The message of an error."""

    text: str


class Other(msgspec.Struct, frozen=True):
    """What no table knows, as it is."""

    value: Any


class Result(msgspec.Struct, frozen=True):
    """What a tool gave back; `call` is the id of the call it answers."""

    call: str | None
    name: str
    parts: tuple[Part, ...]
    failed: bool


ROLES_OF_USER = frozenset(("user", "human"))
ROLES_OF_ASSISTANT = frozenset(("assistant", "ai", "AIMessage", "model"))
"""Who speaks, in the words of all shapes."""

Part = Said | Thought | Call | Result | Image | Section | Tool | Shell | Failure | Other


class Reading(msgspec.Struct, frozen=True):
    """A message as it was read: its role, what else tells about it in a word, and its parts."""

    role: str
    facts: tuple[str, ...]
    failed: bool
    parts: tuple[Part, ...]


def messages_in(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Give the messages that a checkpoint put into the state."""
    found: list[dict[str, Any]] = []
    for change in changes:
        values: list[Any] = []
        match change:
            case Append(value=value) | Put(path=(*_, int()), value=value):
                values.append(value)
            case Splice(values=several):
                values += several
            case Put(value=value) | Snapshot(value=value):
                found += _langchain_messages(value)
            case _:
                pass
        found += filter(is_message, map(as_map, values))
    return found


def is_message(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a message of any shape."""
    return isinstance(value.get("role"), str) or is_item(value) or is_langchain_message(value)


def _langchain_messages(value: Any) -> Iterator[dict[str, Any]]:
    """Give the messages of a list that is new, or of lists in a map of them that is new."""
    lists = [value, *as_map(value).values(), *as_map(as_map(value).get("values")).values()]
    for each in lists:
        yield from filter(is_langchain_message, map(as_map, as_list(each)))


def read_message(value: Any) -> Reading:
    """Give a message of any shape by its parts."""
    message = as_map(value)
    for as_message in (item_as_message, content_as_message, langchain_as_message):
        known = as_message(message)
        if known is not None:
            message = known
            break
    role = _name(message.get("role"))
    facts = tuple(message[key] for key in _FACTS if isinstance(message.get(key), str))
    failed = _is_failed(message) or text_or_none(message.get("stopReason")) in _FAILED_STOPS
    return Reading(role, facts, failed, tuple(_parts(role, message)))


def calls_in(message: Any) -> tuple[Call, ...]:
    """Give the tool calls of a message, in order."""
    return tuple(each for each in read_message(message).parts if isinstance(each, Call))


def results_in(message: Any) -> tuple[Result, ...]:
    """Give the tool results of a message, in order."""
    return tuple(each for each in read_message(message).parts if isinstance(each, Result))


def model_of(message: Mapping[str, Any]) -> str | None:
    """Give the model that a message itself names, None where it names none."""
    told = as_map(message.get("response_metadata"))
    names = (message.get("model"), told.get("model_name"), told.get("model"))
    return next(filter(None, map(text_or_none, names)), None)


_ReadBlock = Callable[[dict[str, Any]], Part | None]
_FACTS = ("toolName", "customType", "model", "stopReason")
_RESULT_ROLES = frozenset(("toolResult", "tool"))
_FAILED_STOPS = frozenset(("error", "aborted"))
_ERRORS = ("errorMessage", "error")
_CONTENTS = ("content", "summary", "output")
_CALL_IDS = ("toolCallId", "tool_call_id", "tool_use_id")


def _parts(role: str, message: dict[str, Any]) -> Iterator[Part]:
    yield from (Failure(message[key]) for key in _ERRORS if isinstance(message.get(key), str))
    if role in _RESULT_ROLES:
        yield _result(message)
        return
    if isinstance(message.get("command"), str):
        yield _shell(message)
        return
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str):
            yield Thought(message[key])
    yield from _content(next((message[key] for key in _CONTENTS if key in message), None), _BLOCKS)
    if isinstance(message.get("refusal"), str):
        yield Said(message["refusal"])
    for call in map(as_map, as_list(message.get("tool_calls"))):
        yield _function_call(call)
    for name, text in as_map(message.get("sections")).items():
        yield Section(str(name), text_or_none(text))
    for key, is_added in (("toolsAdded", True), ("toolsRemoved", False)):
        for tool in map(as_map, as_list(message.get(key))):
            about = text_or_none(tool.get("description")) or ""
            yield Tool(_name(tool.get("name")), about, is_added)


NO_NAME = "(no name)"
"""The name of a tool where none was written down."""


def _name(value: Any) -> str:
    """Give a name that was written down, or what says that there is none."""
    return value if isinstance(value, str) else NO_NAME


def _content(content: Any, blocks: Mapping[str, _ReadBlock]) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield Said(content)
    elif isinstance(content, list):
        for item in as_list(content):
            if isinstance(item, str):
                yield Said(item)
                continue
            block = as_map(item)
            kind = block.get("type")
            read = blocks.get(kind) if isinstance(kind, str) else None
            part = None if read is None else read(block)
            yield Other(item) if part is None else part
    elif content is not None:
        yield Other(content)


def _shell(message: dict[str, Any]) -> Shell:
    code = message.get("exitCode")
    failure = f"exit code {code}" if isinstance(code, int) and code else ""
    if message.get("cancelled") is True:
        failure = "cancelled"
    output = text_or_none(message.get("output")) or text_or_none(message.get("content")) or ""
    return Shell(message["command"], output, failure)


def _result(block: dict[str, Any]) -> Result:
    name = text_or_none(block.get("toolName")) or text_or_none(block.get("name")) or ""
    return Result(
        next((block[key] for key in _CALL_IDS if isinstance(block.get(key), str)), None),
        name,
        tuple(_content(block.get("content"), _RESULT_BLOCKS)),
        _is_failed(block),
    )


def _is_failed(block: dict[str, Any]) -> bool:
    """Tell whether something says that it failed; Tau calls no exit code an error by itself."""
    if block.get("isError") is True or block.get("is_error") is True:
        return True
    codes = (block.get("exitCode"), as_map(block.get("details")).get("exit_code"))
    return block.get("cancelled") is True or any(
        isinstance(code, int) and code != 0 for code in codes
    )


def _text_at(key: str) -> _ReadBlock:
    return lambda block: Said(block[key]) if isinstance(block.get(key), str) else None


def _thought(block: dict[str, Any]) -> Part | None:
    is_redacted = bool(block.get("redacted")) or block.get("type") == "redacted_thinking"
    text = text_or_none(block.get("thinking"))
    return Thought(text or "", is_redacted) if is_redacted or text is not None else None


def _call(block: dict[str, Any]) -> Call:
    arguments = block.get("arguments", block.get("input"))
    return Call(text_or_none(block.get("id")), _name(block.get("name")), arguments)


def _function_call(call: dict[str, Any]) -> Call:
    """Give a call whose arguments are JSON in a text; what is no JSON stays the text."""
    function = as_map(call.get("function"))
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            arguments = msgspec.json.decode(arguments)
    return Call(text_or_none(call.get("id")), _name(function.get("name")), arguments)


def _image(block: dict[str, Any]) -> Part:
    source = as_map(block.get("source")) or block
    mime = _name(source.get("mimeType", source.get("media_type")))
    url = text_or_none(source.get("url")) or ""
    return Image(mime, text_or_none(source.get("data")) or "", url)


def _image_url(block: dict[str, Any]) -> Part | None:
    """Give an image that is an address, whose data may be in the address itself."""
    url = text_or_none(as_map(block.get("image_url")).get("url", block.get("image_url")))
    if url is None:
        return None
    head, comma, data = url.partition(";base64,")
    if comma and head.startswith("data:"):
        return Image(head.removeprefix("data:"), data)
    return Image("", "", url)


_RESULT_BLOCKS: dict[str, _ReadBlock] = {
    "text": _text_at("text"),
    "input_text": _text_at("text"),
    "output_text": _text_at("text"),
    "refusal": _text_at("refusal"),
    "image": _image,
    "image_url": _image_url,
    "input_image": _image_url,
}
_BLOCKS: dict[str, _ReadBlock] = _RESULT_BLOCKS | {
    "thinking": _thought,
    "redacted_thinking": _thought,
    "toolCall": _call,
    "tool_use": _call,
    "tool_result": _result,
}
