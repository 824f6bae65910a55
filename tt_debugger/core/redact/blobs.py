"""Blobs: pictures, signatures and what is encrypted, told by where they stand in a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tt_debugger.core.json import text_or_none
from tt_debugger.core.redact.words import words

_TYPES = ("mimeType", "media_type", "mime_type", "mime", "mediaType")
_HOLDERS = words("image document file audio input_audio redacted_thinking")
_PAYLOADS = words("data base64 b64_json image_data file_data blob bytes")
_SIGNATURES = words(
    "signature thinkingSignature thinking_signature thoughtSignature thought_signature "
    "textSignature text_signature reasoning_signature"
)
_ENCRYPTED = words(
    "encrypted_content encryptedContent encrypted_reasoning redacted_content ciphertext"
)
_SHORTEST_SIGNATURE = 40
_SHORTEST_PAYLOAD = 16
_LONG = 1024
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{1,100})*={0,2}\s?")
_DATA_URL = re.compile(
    r"data:([\w.+-]{1,40}/[\w.+-]{1,60})?(?:;[\w=.+-]{1,60}){0,4};base64,([A-Za-z0-9+/=_-]{16,})",
    re.ASCII | re.IGNORECASE,
)


def blob_kind(holder: Mapping[str, Any], key: str, text: str) -> str | None:
    """Give what kind of blob a text in a map is, or None where it is to be read as text."""
    if key == "$bytes":
        return "bytes"
    if key in _ENCRYPTED:
        return "encrypted"
    if key in _SIGNATURES:
        is_blob = len(text) >= _SHORTEST_SIGNATURE and not any(map(text.__contains__, ' {"'))
        return "signature" if is_blob else None
    if key in _PAYLOADS and len(text) >= _SHORTEST_PAYLOAD:
        mime = next((holder[each] for each in _TYPES if isinstance(holder.get(each), str)), "")
        if mime and not mime.startswith("text/"):
            return mime
        if not mime and text_or_none(holder.get("type")) in _HOLDERS:
            return "encrypted" if holder["type"] == "redacted_thinking" else "image"
    return None


def tells_of_blobs(key: str) -> bool:
    """Tell whether what stands under a key can be a blob."""
    return key == "$bytes" or key in _ENCRYPTED or key in _SIGNATURES or key in _PAYLOADS


def is_long_base64(text: str) -> bool:
    """Tell whether a text is a long run of base64 and nothing else."""
    if len(text) < _LONG or " " in text[:_LONG] or not _BASE64.fullmatch(text):
        return False
    begin = text[:_LONG]
    return not (begin.isalpha() or begin.isdigit() or begin.islower() or begin.isupper())


def data_urls(text: str) -> list[re.Match[str]]:
    """Give the addresses in a text that are themselves what they lead to: type and content."""
    return list(_DATA_URL.finditer(text)) if "base64," in text else []
