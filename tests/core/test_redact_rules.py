"""The rules of redaction: each example of each, both ways, and what it costs to try them."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from time import process_time

import pytest
from secrets_made import ALNUM, BASE64, CAPITALS, HEX, SMALL, URL_SAFE, chars

from tt_debugger.core.redact.names import NAME_RULES, kind_of
from tt_debugger.core.redact.placeholders import RULE_IDS
from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.core.redact.rules import compiled
from tt_debugger.core.redact.shape_rules import SHAPE_RULES
from tt_debugger.core.redact.token_rules import TOKEN_RULES
from tt_debugger.core.redact.vendors import VENDOR_RULE, VENDORS

RULES = (*TOKEN_RULES, *SHAPE_RULES)
ALPHABETS = {
    "an": ALNUM, "w": URL_SAFE, "b64": BASE64, "hex": HEX, "dig": "0123456789", "up": CAPITALS,
    "low": SMALL,
}  # fmt: skip
GAP = re.compile(r"\{(b64|[a-z]+)(\d+)\}")
LONG, SHORT = 100_000, 10_000
ORDINARY = "for each in range(10):\n    total += values[each]  # sum of all\n" * 1500


def filled(example: str, seed: int = 1) -> str:
    """Give an example with made-up characters in its gaps."""
    random = Random(seed)  # noqa: S311 - reproducible on purpose
    return GAP.sub(lambda gap: chars(random, ALPHABETS[gap[1]], int(gap[2])), example)


def rules_hit(text: str) -> set[str]:
    redactor = Redactor()
    redactor.text(text)
    return {hit.rule for hit in redactor.hits}


def test_there_are_rules_of_at_least_sixty_families_each_with_examples_both_ways():
    assert len({each.id for each in RULES}) >= 60
    assert [each.id for each in (*RULES, *NAME_RULES) if not (each.must and each.must_not)] == []


def test_no_two_rules_of_tokens_have_the_same_anchor():
    anchors = Counter(anchor for rule in TOKEN_RULES for anchor in rule.anchors)

    assert [anchor for anchor, count in anchors.items() if count > 1] == []


def test_the_name_of_a_rule_is_what_a_placeholder_can_hold():
    assert [each for each in RULE_IDS if not re.fullmatch("[a-z0-9-]{2,40}", each)] == []


@pytest.mark.parametrize(
    ("rule", "example"),
    [(rule.id, example) for rule in RULES for example in rule.must],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_a_rule_must_match_is_replaced_by_it(rule: str, example: str, seed: int):
    found = rules_hit(f"before {filled(example, seed)} after")

    assert rule in found


@pytest.mark.parametrize(
    ("rule", "example"),
    [(rule.id, example) for rule in RULES for example in rule.must_not],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_a_rule_must_not_match_is_left_to_others(rule: str, example: str, seed: int):
    found = rules_hit(f"before {filled(example, seed)} after")

    assert rule not in found


@pytest.mark.parametrize(
    ("rule", "name"), [(rule.id, name) for rule in NAME_RULES for name in rule.must]
)
def test_a_name_of_a_secret_is_known_for_one(rule: str, name: str):
    assert kind_of(name) == rule


@pytest.mark.parametrize(
    ("rule", "name"), [(rule.id, name) for rule in NAME_RULES for name in rule.must_not]
)
def test_a_name_like_that_of_a_secret_is_known_for_none(rule: str, name: str):
    assert kind_of(name) != rule


@pytest.mark.parametrize(
    "name",
    [
        *("tokens", "max_tokens", "token_count", "key", "primary_key", "input_tokens", "keys"),
        *("cache_read_input_tokens", "totalTokens", "keyboard", "passed", "token_ids", "author"),
        *("PUBLIC_KEY", "page_token"),
    ],
)
def test_names_of_every_session_are_no_secrets(name: str):
    assert kind_of(name) is None


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("OPENAI_API_KEY", "api-key"),
        ("MY_SERVICE_KEY", "api-key"),
        ("DEPLOY_SECRET", "secret"),
        ("GH_TOKEN", "token"),
        ("x-api-key", "api-key"),
        ("client_secret", "secret"),
        ("authorization", "authorization"),
        ("passwd", "password"),
    ],
)
def test_names_of_secrets_are_told_in_any_way_of_writing(name: str, rule: str):
    assert kind_of(name) == rule


# --- What it costs -------------------------------------------------------------------------------


def near_misses() -> Iterator[tuple[str, str]]:
    """Give texts that begin to match a rule again and again, and never do."""
    for rule in RULES:
        for anchor in rule.anchors:
            yield f"{rule.id} {anchor!r} apart", f"{anchor} "
            yield f"{rule.id} {anchor!r} and a little", f"{anchor}a1B2c3D4e5"
        yield f"{rule.id} cut off", f"{filled(rule.must[0])[:-9]}! "


STUBBORN = {
    "names": "password=",
    "names apart": "password= ",
    "quoted names": '"token": "',
    "escapes": "\\" * 9 + '"key',
    "options": "--a-b-c-d-token ",
    "annotations": "key: a b c d e f g h ",
    "cookies": "cookie: a=b; c=d; ",
    "addresses": "a@a.",
    "many at": "a.b@",
    "urls": "x://a:b",
    "escape sequences": "\x1b[31",
    "zero width": "a\u200b",
    "placeholders": "‹token:1",
    "data urls": "data:image/png;base64,",
    "brackets": "[",
    "quotes": '"',
    "dots": "eyJ" + "a" * 20 + ".",
    "blocks": "-----BEGIN A B C ",
    "one run": "a1-",
    "base64": "aB3/",
}


def test_no_text_of_near_misses_costs_much_more_than_an_ordinary_one():
    rules_hit(ORDINARY)
    texts = {name: STUBBORN[name] * (LONG // len(STUBBORN[name])) for name in STUBBORN}
    texts |= {name: (piece * (SHORT // len(piece) + 1))[:SHORT] for name, piece in near_misses()}

    costs = {name: cost(text) / len(text) for name, text in texts.items()}

    # What is quadratic costs some thousand times as much.
    plain = max(cost(ORDINARY) / len(ORDINARY), 2e-8)
    assert {name: round(each / plain) for name, each in costs.items() if each > 150 * plain} == {}


def cost(text: str) -> float:
    """Give the seconds of work, the least of some.

    The collector of garbage waits meanwhile: what it looks through is what other tests have left.
    """
    taken: list[float] = []
    gc.disable()
    try:
        for _ in range(3):
            began = process_time()
            Redactor().text(text)
            taken.append(process_time() - began)
            if taken[0] < 0.002:
                break
    finally:
        gc.enable()
    return min(taken)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.id} {rule.anchors[0]}")
def test_a_pattern_tried_at_each_place_of_its_near_miss_ends(rule):
    pattern = compiled(rule.pattern)
    text = (filled(rule.must[0])[:-9] + "!") * 20 + rule.anchors[0] * 2000
    began = process_time()

    sum(pattern.match(text, place) is not None for place in range(0, len(text), 7))

    assert process_time() - began < 2


@pytest.mark.parametrize("vendor", sorted(VENDORS))
def test_a_random_value_under_the_name_of_a_vendor_is_a_secret(vendor: str):
    random = Random(1)  # noqa: S311 - reproducible on purpose
    for around in ("{}: {}", '"{}": "{}"', "{}_id={}", "{}.live => '{}'"):
        value = chars(random, HEX, 32)

        found = rules_hit(around.format(vendor, value))

        assert found
        assert found <= {VENDOR_RULE, *RULE_IDS}


@pytest.mark.parametrize(
    "text",
    [
        "heroku run of the day, 2026-03-01T10:00:00.000Z",
        "https://github.com/twilio/twilio-node/commit/94660f6d0c2b7a6fa1e3a8d9b3f7c0e5d4a2b1c8",
        '"@sentry/node": "^8.26.0", "datadog-ci": "2.1.0"',
        "okta: some_name_of_a_function_in_a_program",
    ],
)
def test_what_is_only_near_the_name_of_a_vendor_stays(text: str):
    assert rules_hit(text) == set()
