"""Made-up secrets, built at run time from the shapes that vendors publish.

No token stands here as a whole, so no scanner of sources stumbles over this file. Each family is
written from its vendor's own description, not from the patterns that are to find it.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple
from urllib.parse import quote

ALNUM = ascii_letters + digits
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = digits + "abcdef"
BASE32 = ascii_uppercase + "234567"
CAPITALS = ascii_uppercase + digits
SMALL = ascii_lowercase + digits
ESC = "\x1b"


class Made(NamedTuple):
    """A made-up secret: its family, the name it is given where it needs one, and its text."""

    family: str
    name: str
    secret: str
    shown: str
    """How it stands in a sentence or a program, so that it can be known for one."""


def chars(random: Random, alphabet: str, count: int) -> str:
    return "".join(random.choices(alphabet, k=count))


def uuid(random: Random) -> str:
    return "-".join(chars(random, HEX, each) for each in (8, 4, 4, 4, 12))


def encoded(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def web_token(random: Random) -> str:
    head = encoded({"alg": "RS256", "typ": "JWT", "kid": chars(random, HEX, 16)})
    body = encoded({"sub": uuid(random), "name": "Ada", "iat": random.randrange(10**9)})
    return f"{head}.{body}.{chars(random, URL_SAFE, 86)}"


def block(random: Random, kind: str) -> str:
    """A PEM block; only its body is secret."""
    body = b64encode(random.randbytes(600)).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"


# A letter is an alphabet, the number after it how many of its characters; the rest is literal.
_ALPHABETS = {
    "a": ALNUM, "w": URL_SAFE, "b": BASE64, "h": HEX, "d": digits, "u": CAPITALS, "l": SMALL,
    "t": BASE32,
}  # fmt: skip


def shape(*parts: str | tuple[str, int]) -> Callable[[Random], str]:
    """Give what makes a token of literal parts and of runs of an alphabet."""

    def make(random: Random) -> str:
        return "".join(
            each if isinstance(each, str) else chars(random, _ALPHABETS[each[0]], each[1])
            for each in parts
        )

    return make


# What tells by itself. Beginnings and bodies stand apart.
TOKENS: dict[str, Callable[[Random], str]] = {
    "aws access key": shape("AK" + "IA", ("t", 16)),
    "aws temporary key": shape("AS" + "IA", ("t", 16)),
    "google api key": shape("AI" + "za", ("w", 35)),
    "google oauth secret": shape("GOC" + "SPX-", ("w", 28)),
    "google access token": shape("ya" + "29.", ("w", 180)),
    "google refresh token": shape("1/" + "/0", ("w", 100)),
    "azure client secret": shape(("a", 3), "8Q" + "~", ("a", 34)),
    "digitalocean": shape("dop" + "_v1_", ("h", 64)),
    "alibaba": shape("LT" + "AI5t", ("a", 20)),
    "tencent": shape("AK" + "ID", ("a", 32)),
    "yandex": shape("AQ" + "VN", ("w", 36)),
    "anthropic": shape("sk-" + "ant-api03-", ("w", 93), "AA"),
    "anthropic oauth": shape("sk-" + "ant-oat01-", ("w", 93), "AA"),
    "openai": shape("sk" + "-", ("a", 20), "T3Blbk" + "FJ", ("a", 20)),
    "openai project": shape("sk-" + "proj-", ("w", 74), "T3Blbk" + "FJ", ("w", 74)),
    "openai service account": shape("sk-" + "svcacct-", ("w", 120)),
    "deepseek": shape("sk" + "-", ("h", 32)),
    "openrouter": shape("sk-" + "or-v1-", ("h", 64)),
    "hugging face": shape("h" + "f_", ("a", 34)),
    "replicate": shape("r" + "8_", ("a", 37)),
    "groq": shape("gs" + "k_", ("a", 52)),
    "xai": shape("xa" + "i-", ("a", 80)),
    "perplexity": shape("pp" + "lx-", ("a", 48)),
    "together": shape("tgp" + "_v1_", ("w", 43)),
    "elevenlabs": shape("sk" + "_", ("h", 48)),
    "langsmith": shape("lsv2" + "_pt_", ("h", 32), "_", ("h", 10)),
    "fireworks": shape("f" + "w_", ("a", 24)),
    "nvidia": shape("nv" + "api-", ("w", 64)),
    "cerebras": shape("cs" + "k-", ("l", 48)),
    "tavily": shape("tv" + "ly-dev-", ("a", 32)),
    "pinecone": shape("pc" + "sk_", ("a", 6), "_", ("a", 63)),
    "langfuse": lambda random: "sk-" + "lf-" + uuid(random),
    "github classic": shape("gh" + "p_", ("a", 36)),
    "github oauth": shape("gh" + "o_", ("a", 36)),
    "github app": shape("gh" + "s_", ("a", 36)),
    "github refresh": shape("gh" + "r_", ("a", 76)),
    "github fine-grained": shape("github" + "_pat_", ("a", 22), "_", ("a", 59)),
    "gitlab": shape("gl" + "pat-", ("w", 20)),
    "gitlab deploy": shape("gl" + "dt-", ("w", 20)),
    "gitlab runner": shape("gl" + "rt-", ("w", 20)),
    "bitbucket": shape("AT" + "BB", ("a", 32)),
    "atlassian": shape("ATA" + "TT3xFfGF0", ("w", 171), "=", ("h", 8)),
    "npm": shape("np" + "m_", ("a", 36)),
    "pypi": shape("py" + "pi-", "AgEIcHlwaS5vcmc", ("w", 160)),
    "crates.io": shape("ci" + "o", ("a", 32)),
    "rubygems": shape("ruby" + "gems_", ("h", 48)),
    "docker": shape("dckr" + "_pat_", ("w", 27)),
    "nuget": shape("oy" + "2", ("l", 43)),
    "sourcegraph": shape("sg" + "p_", ("h", 16), "_", ("h", 40)),
    "circleci": shape("CCI" + "PAT_", ("a", 22), "_", ("h", 40)),
    "sonar": shape("sq" + "p_", ("h", 40)),
    "slack bot": shape("xo" + "xb-", ("d", 12), "-", ("d", 12), "-", ("a", 24)),
    "slack user": shape("xo" + "xp-", ("d", 12), "-", ("d", 12), "-", ("d", 12), "-", ("h", 32)),
    "slack app": shape("xa" + "pp-1-A", ("u", 10), "-", ("d", 13), "-", ("h", 64)),
    "discord bot": shape("MT", ("a", 24), ".G", ("a", 5), ".", ("w", 38)),
    "telegram": shape(("d", 10), ":A" + "A", ("w", 33)),
    "stripe live": shape("sk" + "_live_", ("a", 24)),
    "stripe restricted": shape("rk" + "_live_", ("a", 99)),
    "stripe webhook": shape("wh" + "sec_", ("a", 32)),
    "square": shape("sq0" + "atp-", ("w", 22)),
    "shopify": shape("shp" + "at_", ("h", 32)),
    "braintree": shape("access_token" + "$production$", ("l", 16), "$", ("h", 32)),
    "razorpay": shape("rzp" + "_live_", ("a", 14)),
    "sendgrid": shape("S" + "G.", ("w", 22), ".", ("w", 43)),
    "mailgun": shape("ke" + "y-", ("h", 32)),
    "mailchimp": shape(("h", 32), "-u" + "s14"),
    "resend": shape("r" + "e_", ("a", 8), "_", ("a", 24)),
    "brevo": shape("xkey" + "sib-", ("h", 64), "-", ("a", 16)),
    "heroku": lambda random: "HR" + "KU-" + uuid(random),
    "netlify": shape("nf" + "p_", ("a", 36)),
    "vercel": shape("vc" + "p_", ("a", 56)),
    "fly": shape("fo" + "1_", ("w", 43)),
    "supabase": shape("sb" + "p_", ("h", 40)),
    "doppler": shape("dp" + ".pt.", ("a", 43)),
    "vault": shape("hv" + "s.", ("w", 92)),
    "terraform": shape(("a", 14), ".atl" + "asv1.", ("w", 67)),
    "databricks": shape("da" + "pi", ("h", 32)),
    "new relic": shape("NR" + "AK-", ("u", 27)),
    "sentry": shape("sntr" + "yu_", ("h", 64)),
    "grafana": shape("gl" + "sa_", ("a", 32), "_", ("h", 8)),
    "linear": shape("lin" + "_api_", ("a", 40)),
    "notion": shape("nt" + "n_", ("d", 11), ("a", 35)),
    "figma": shape("fig" + "d_", ("w", 40)),
    "postman": shape("PM" + "AK-", ("h", 24), "-", ("h", 34)),
    "pulumi": shape("pu" + "l-", ("h", 40)),
    "age": shape("AGE-SECRET" + "-KEY-1", ("u", 58)),
    "airtable": shape("pa" + "t", ("a", 14), ".", ("h", 64)),
    "tailscale": shape("ts" + "key-auth-", ("a", 12), "CNTRL-", ("a", 32)),
    "planetscale": shape("pscale" + "_tkn_", ("w", 43)),
    "hubspot": lambda random: "pat-" + "na1-" + uuid(random),
    "twilio": shape("S" + "K", ("h", 32)),
    "dynatrace": shape("dt0" + "c01.", ("u", 24), ".", ("u", 64)),
    "json web token": web_token,
    "rsa key": lambda random: block(random, "RSA PRIVATE" + " KEY"),
    "ssh key": lambda random: block(random, "OPENSSH PRIVATE" + " KEY"),
    "pkcs8 key": lambda random: block(random, "PRIVATE" + " KEY"),
    "pgp key": lambda random: block(random, "PGP PRIVATE" + " KEY BLOCK"),
}

# What tells by its name.
NAMED: dict[str, tuple[str, Callable[[Random], str]]] = {
    "aws secret key": ("aws_secret_access_key", shape(("b", 40))),
    "azure storage key": ("AccountKey", shape(("b", 86), "==")),
    "cloudflare": ("cloudflare_api_token", shape(("w", 40))),
    "cohere": ("cohere_api_key", shape(("a", 40))),
    "mistral": ("mistral_api_key", shape(("a", 32))),
    "datadog": ("datadog_api_key", shape(("h", 32))),
    "algolia": ("algolia_admin_key", shape(("h", 32))),
    "fastly": ("fastly_api_token", shape(("w", 32))),
    "okta": ("okta_api_token", shape("00", ("w", 40))),
    "paypal": ("paypal_client_secret", shape("E", ("w", 79))),
    "heroku by name": ("heroku_api_key", uuid),
    "password": ("password", shape(("a", 14), "!", ("d", 2))),
    "client secret": ("client_secret", shape(("w", 36))),
    "access token": ("access_token", shape(("w", 40))),
    "api key": ("api_key", shape(("h", 32))),
    "private token": ("private_token", shape(("w", 26))),
}

# What tells by the text around it, in which it stands where the braces are.
AROUND: dict[str, tuple[str, Callable[[Random], str]]] = {
    "bearer": ("Authorization: Bearer {}", shape(("w", 44))),
    "basic": (
        "Authorization: Basic {}",
        lambda random: b64encode(f"ada:{chars(random, ALNUM, 17)}".encode()).decode(),
    ),
    "cookie": ("Cookie: theme=dark; sid={}; lang=en", shape(("a", 40))),
    "set-cookie": ("Set-Cookie: session={}; Path=/; HttpOnly", shape(("h", 48))),
    "database url": ("postgres://app:{}@db.host.dev:5432/app", shape(("a", 20))),
    "queue url": ("amqps://svc:{}@mq.host.dev/vhost", shape(("w", 24))),
    "cache url": ("redis://:{}@cache.host.dev:6379/0", shape(("a", 24))),
    "git url": ("https://{}@git.host.dev/ada/site.git", shape(("a", 40))),
    "slack webhook": (
        "https://hooks.slack.com/services/{}",
        shape("T", ("u", 10), "/B", ("u", 10), "/", ("a", 24)),
    ),
    "discord webhook": (
        "https://discord.com/api/webhooks/{}",
        shape(("d", 18), "/", ("w", 68)),
    ),
    "shared access signature": (
        "https://x.blob.core.windows.net/c?sv=2024-11-04&sp=r&sig={}",
        shape(("a", 43), "%3D"),
    ),
    "presigned url": (
        "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={}",
        shape(("h", 64)),
    ),
    "option": ("deploy --auth-token {} --yes", shape(("a", 30))),
    "curl": ("curl -u ada:{} https://host.dev/", shape(("a", 18))),
    "connection string": ("Server=db;User Id=app;Password={};Encrypt=true", shape(("a", 20))),
    "npmrc": ("//registry.npmjs.org/:_authToken={}", uuid),
    "netrc-like": ("machine: host.dev\npassword: {}\n", shape(("a", 22))),
}


def made(seed: int = 5, each: int = 3) -> Iterator[Made]:
    """Make secrets of every family, always the same for a seed."""
    random = Random(seed)  # noqa: S311 - reproducible on purpose
    for family, make in TOKENS.items():
        for _ in range(each):
            secret = make(random)
            yield Made(family, "note", secret, secret)
    for family, (name, make) in NAMED.items():
        for _ in range(each):
            secret = make(random)
            yield Made(family, name, secret, f'{name} = "{secret}"')
    for family, (around, make) in AROUND.items():
        for _ in range(each):
            secret = make(random)
            yield Made(family, "", secret, around.format(secret))


# --- Embeddings ----------------------------------------------------------------------------------


def plain(each: Made) -> object:
    return f"I used {each.shown} for this, it works"


def in_json(each: Made) -> object:
    return {"config": {each.name: each.secret} if each.name else {"line": each.shown}, "n": 1}


def in_json_in_json(each: Made) -> object:
    inner = json.dumps(in_json(each))
    return {"arguments": json.dumps({"body": inner, "path": "a/b"})}


def after_an_escaped_line_feed(each: Made) -> object:
    written = json.dumps({"content": f"first line\n{each.shown}\nlast line"})
    return f"$ tail -1 log.jsonl\n{written}\n$"


def in_a_url(each: Made) -> object:
    if not each.name:
        return f"see {each.shown}"
    return (
        f"GET https://api.host.dev/v1/items?page=2&{each.name}={quote(each.secret, safe='')}&x=1"
    )


def in_a_header(each: Made) -> object:
    if not each.name:
        return f"> GET / HTTP/1.1\n> Host: host.dev\n> {each.shown}\n>"
    name = each.name.replace("_", "-").title()
    return f"> GET / HTTP/1.1\n> Host: host.dev\n> X-{name}: {each.secret}\n> Accept: */*"


def in_an_environment(each: Made) -> object:
    if not each.name:
        return f"LINE='{each.shown}'\nHOME=/srv"
    return f"PATH=/usr/bin\nAPP_{each.name.upper()}={each.secret}\nHOME=/srv"


def split_by_colours(each: Made) -> object:
    middle = len(each.secret) // 2
    secret = f"{each.secret[:middle]}{ESC}[1;31m{each.secret[middle:]}"
    return f"{ESC}[32mfound{ESC}[0m {each.shown.replace(each.secret, secret)}{ESC}[0m done"


EMBEDDINGS: tuple[Callable[[Made], object], ...] = (
    plain,
    in_json,
    in_json_in_json,
    after_an_escaped_line_feed,
    in_a_url,
    in_a_header,
    in_an_environment,
    split_by_colours,
)
