"""Names: which keys, variables, options and headers hold a secret, told by their words."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from tt_debugger.core.redact.vendors import VENDORS, VENDORS_BY_NAME

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
LONGEST = 80
"""Characters a name may have: longer ones are no names."""

_ASIDE = r"(?: (?:prod|production|dev|staging|live|value|base|old|new|current|v?\d+))*$"
"""Words at the end that say which one it is, not what."""


class NameRule(Struct, frozen=True):
    """A kind of secret by the words of its name, written small with a space between them."""

    id: str
    pattern: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]


_HELD = r"(?:api ?key|access ?key|app(?:lication)? ?key|secret|token|key|auth)"

NAME_RULES: tuple[NameRule, ...] = (
    NameRule(
        "aws-secret-key",
        rf"(?:^| )(?:secret ?access ?key|aws ?secret(?: ?key)?){_ASIDE}",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "AWS_SECRET_KEY"),
        ("aws_secret_name", "access_key_id"),
    ),
    NameRule(
        "azure-storage-key",
        rf"(?:^| )(?:account|shared ?access) ?key{_ASIDE}",
        ("AccountKey", "SharedAccessKey", "AZURE_STORAGE_ACCOUNT_KEY"),
        ("account_key_name", "AccountName"),
    ),
    *(
        NameRule(
            f"{vendor}-key",
            rf"(?:^| ){' ?'.join(re.findall('[a-z]+|[0-9]+', vendor))}(?: [a-z]+){{0,3}}? "
            rf"{_HELD}{_ASIDE}",
            (f"{vendor}_api_key", f"{vendor.upper()}_API_TOKEN", f"{vendor}ApiKey"),
            (f"{vendor}_count", f"{vendor}_token_count", f"{vendor}_url"),
        )
        for vendor in sorted(VENDORS | VENDORS_BY_NAME)
    ),
    NameRule(
        "password",
        r"(?:(?:^| )(?:password|passwd|passphrase|passcode|passwort|pwd|[a-z]+password)| pass)"
        rf"{_ASIDE}",
        ("password", "DB_PASSWORD", "userPassword", "passwd", "PGPASSWORD", "DB_PASS", "--pwd"),
        ("passwords", "password_length", "password_hash_type", "pass", "passport", "bypass"),
    ),
    NameRule(
        "cookie",
        rf"(?:^| )cookies?{_ASIDE}",
        ("Cookie", "Set-Cookie", "set_cookie", "session_cookie"),
        ("cookie_name", "cookie_path"),
    ),
    NameRule(
        "authorization",
        rf"(?:^| )(?:authorization|auth ?header){_ASIDE}",
        ("Authorization", "Proxy-Authorization", "authorization"),
        ("authorization_url", "author", "authors"),
    ),
    NameRule(
        "private-key",
        rf"(?:^| )(?:private ?key|ssh ?key|signing ?key|encryption ?key|master ?key){_ASIDE}",
        ("private_key", "privateKey", "SSH_KEY", "ENCRYPTION_KEY"),
        ("public_key", "private_key_path", "key"),
    ),
    NameRule(
        "api-key",
        rf"(?:^| )(?:x ?)?(?:api|access|account|app|application|auth|service|subscription|shared"
        rf"|storage|license|integration|ingest|admin|client|server|instrumentation|functions)"
        rf" ?key{_ASIDE}",
        ("api_key", "apiKey", "x-api-key", "X-Goog-Api-Key", "APIKEY", "OPENAI_API_KEY"),
        ("primary_key", "key", "foreign_key", "sort_key", "api_key_id", "cache_key"),
    ),
    NameRule(
        "secret",
        rf"(?:^| )(?:secret(?: ?key)?|secret id|client ?secret|[a-z]+secret|credentials?){_ASIDE}",
        ("secret", "client_secret", "SECRET_KEY_BASE", "webhookSecret", "secret_id", "credential"),
        ("secrets", "secret_name", "secret_count", "secretary"),
    ),
    NameRule(
        "token",
        r"(?:^| )(?<!page )(?<!next )(?<!eos )(?<!bos )(?<!pad )(?<!unk )(?<!sep )(?<!cls )"
        r"(?<!mask )(?<!stop )(?<!special )(?<!cancellation )(?<!continuation )(?<!per )"
        rf"(?:token|[a-z]*(?:auth|access|api|bearer|csrf|xsrf|id|refresh|identity|session|registry)token|bearer|jwt){_ASIDE}",
        ("token", "access_token", "refreshToken", "_authToken", "GITHUB_TOKEN", "JWT"),
        ("tokens", "max_tokens", "token_count", "input_tokens", "next_page_token", "tokenizer",
         "eos_token", "token_type", "tokens_per_second"),
    ),
)  # fmt: skip

# Any variable of an environment that ends in _KEY, but for those that are known to be none.
_VARIABLE_KEY = re.compile(r"[A-Z][A-Z0-9_]*_KEY\Z")
_NO_SECRET_KEY = re.compile(
    r"(?:PRIMARY|PUBLIC|FOREIGN|SORT|CACHE|PARTITION|HOT|ENTER|REG|H)_KEY\Z"
)


_TELLING = re.compile("key|secret|token|pass|pwd|cookie|auth|credential|bearer|jwt", re.IGNORECASE)
"""What a name must hold to be looked at: most hold nothing of it."""


@lru_cache(1)
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((each.id, re.compile(each.pattern)) for each in NAME_RULES)


@lru_cache(16384)
def kind_of(name: str) -> str | None:
    """Give the rule by which what has this name is a secret, or None."""
    if len(name) > LONGEST or "‹" in name or not _TELLING.search(name):
        return None
    words = " ".join(_WORDS.findall(name)).lower()
    for rule, pattern in _rules():
        if pattern.search(words):
            return rule
    is_variable = _VARIABLE_KEY.match(name) and not _NO_SECRET_KEY.search(name)
    return "api-key" if is_variable else None


def kind_of_several(name: str) -> str | None:
    """Give the rule by which all that stands beneath this name are secrets, or None."""
    kind = kind_of(name[:-1]) if name.endswith(("s", "S")) else None
    return None if kind == "token" and name.lower() == "tokens" else kind
