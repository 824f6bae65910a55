"""Signatures: what is no session is known by its first bytes, and no text is taken for it."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest
from builders import PI_HEADER, jsonl
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text

from tt_debugger.storage.signatures import SIGNATURES, Signature, signature_of

SESSION = jsonl(PI_HEADER)


def zipped(*names: str) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as archive:
        for name in names:
            archive.writestr(name, SESSION)
    return kept.getvalue()


def tarred(form: int) -> bytes:
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w", format=form) as archive:
        member = tarfile.TarInfo("s.jsonl")
        member.size = len(SESSION)
        archive.addfile(member, io.BytesIO(SESSION))
    return kept.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "hint"),
    [
        (gzip.compress(SESSION), "gzip-compressed", "gunzip -c FILE | ttdbg log -"),
        (bz2.compress(SESSION), "bzip2-compressed", "bunzip2 -c FILE | ttdbg log -"),
        (bz2.compress(b""), "bzip2-compressed", "bunzip2 -c FILE | ttdbg log -"),
        (lzma.compress(SESSION), "xz-compressed", "xz -dc FILE | ttdbg log -"),
        (
            zipped("s.jsonl"),
            "a zip archive",
            "take the session out of it: unzip -p FILE NAME | ttdbg log -",
        ),
        (zipped(), "an empty zip archive", None),
        *(
            (
                tarred(form),
                "a tar archive",
                "take the session out of it: tar -xOf FILE NAME | ttdbg log -",
            )
            for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
        ),
        *(
            (
                pickle.dumps({"messages": []}, protocol),
                "a Python pickle, which is never read: it could run code",
                "save what it holds as JSON or JSON lines",
            )
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
        ),
        *(
            (
                SESSION.decode().encode(encoding),
                "UTF-16, not UTF-8",
                f"convert it first, for example with iconv -f {named} -t UTF-8",
            )
            for encoding, named in (
                ("utf-16", "UTF-16"),
                ("utf-16-le", "UTF-16LE"),
                ("utf-16-be", "UTF-16BE"),
            )
        ),
        (
            SESSION.decode().encode("utf-32"),
            "UTF-32, not UTF-8",
            "convert it first, for example with iconv -f UTF-32 -t UTF-8",
        ),
    ],
)
def test_what_python_writes_in_each_form_is_known_with_what_to_do(
    data: bytes, name: str, hint: str | None
):
    known = signature_of(data)

    assert known is not None
    assert (known.name, known.hint) == (name, hint)


def test_a_database_is_known_as_soon_as_it_has_a_page(tmp_path: Path):
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as database:
        database.execute("create table t (a)")
    database.close()
    known = signature_of(path.read_bytes())

    assert known is not None
    assert known.name == "a SQLite database whose tables no format reads"


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda each: each.name)
def test_no_signature_hides_another(signature):
    head = bytearray(b"?" * 300)
    for offset, part in signature.parts:
        head[offset : offset + len(part)] = part

    assert signature_of(bytes(head)) == signature


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n",
        b"\x1f",
        b"BZh is how some begin",
        b"PK and more",
        b"MZ",
        b"RIFF is a word",
        b"# Title\n",
        b"key: value\n",
        b"\xef\xbb\xbf{}",
        b"\0" * 300,
        SESSION,
    ],
)
def test_what_is_text_or_nothing_has_no_signature(head: bytes):
    assert signature_of(head) is None


@given(any_text)
def test_no_json_has_a_signature(text: str):
    for value in ({text: text}, [text], text):
        assert signature_of(json.dumps(value, ensure_ascii=False).encode(errors="replace")) is None


def words_of(part: bytes) -> bytes:
    """Give what of a part of a signature may stand in a text: it up to the first control byte."""
    end = next((place for place, byte in enumerate(part) if not 32 <= byte < 127), len(part))
    return part[:end]


@given(
    st.sampled_from(SIGNATURES),
    st.sampled_from(b"{["),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=400),
)
def test_no_text_that_begins_like_json_is_taken_for_another_kind_of_file(
    signature: Signature, first: int, text: str
):
    head = bytearray(text.encode().ljust(400))
    for offset, part in signature.parts:
        words = words_of(part)
        head[offset : offset + len(words)] = words
    head[0] = first
    known = signature_of(bytes(head))

    assert known is None or known.is_text
