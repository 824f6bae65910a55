"""Damage with a known truth: every record that is still whole is found, and every gap is told."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from damage import DAMAGES, DIALECTS, Dialect, Piece, Scene, _whole, damaged, outcome

SEEDS = 60


@pytest.mark.parametrize("dialect", DIALECTS, ids=[each.name for each in DIALECTS])
def test_every_whole_record_of_a_damaged_session_is_a_checkpoint(dialect: Dialect, tmp_path: Path):
    cases = {seed: damaged(dialect, seed) for seed in range(SEEDS)}

    outcomes = {seed: outcome(case, tmp_path / "s.jsonl") for seed, case in cases.items()}

    wrong = {seed: each.wrong for seed, each in outcomes.items() if each.wrong}
    assert wrong == {}
    assert sum(each.whole for each in outcomes.values()) > SEEDS


def test_every_kind_of_damage_is_done():
    done = {name for seed in range(SEEDS * 4) for name in damaged(DIALECTS[0], seed).damages}

    assert done == set(DAMAGES)


def test_the_same_seed_does_the_same_damage():
    assert [damaged(each, 7) for each in DIALECTS] == [damaged(each, 7) for each in DIALECTS]


A, B = b'{"id":"a"}', b'{"id":"b","t":"x"}'


def whole(*pieces: bytes | Piece) -> list[bytes]:
    """Give the whole records of pieces; A and B are records, all else is not."""
    made = [each if isinstance(each, Piece) else Piece(each, each in {A, B}) for each in pieces]
    return list(_whole(made))


@pytest.mark.parametrize(
    ("pieces", "records"),
    [
        ((A, b"\n", B, b"\n"), [A, B]),
        ((A, B, b"\n"), [A, B]),
        ((b'{"id":"c","t":"tor', A, b"\n", B), [A, B]),
        ((b"\0" * 9, A, b"\0" * 9, B), [A, B]),
        ((A, b'rest"}\n', B), [A, B]),
        # Behind a colon it could be a part of the torn record, and before a brace of another.
        ((b'{"id":', A, b"\n", B), [B]),
        ((b'{"id":"c","t":"tor', A, b"}\n", B), [B]),
        ((Piece(b"[" * 300, is_deep=True), A, b"\n", B), [B]),
    ],
)
def test_what_is_whole_is_known_without_reading(pieces: tuple[bytes, ...], records: list[bytes]):
    assert whole(*pieces) == records


def test_the_check_sees_a_record_that_is_lost(tmp_path: Path):
    case = damaged(DIALECTS[0], 1)
    promised = case._replace(whole=(*case.whole, b'{"id":"never"}'))

    assert outcome(case, tmp_path / "s.jsonl").wrong == ()
    assert outcome(promised, tmp_path / "s.jsonl").wrong == ("""not found: b'{"id":"never"}'""",)


def test_each_damage_can_be_done_to_a_file_that_is_empty_or_one_record():
    for name, damage in DAMAGES.items():
        for pieces in ([], [Piece(A, is_record=True)]):
            damage(Scene(random.Random(name), pieces, DIALECTS[0]))  # noqa: S311 - repeatable
