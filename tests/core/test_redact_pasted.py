"""What people paste and tools print: secrets in files, commands, programs and talk."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from random import Random
from urllib.parse import quote

import pytest
from secrets_made import ALNUM, CAPITALS, HEX, URL_SAFE, block, chars, web_token

from tt_debugger.core.redact.redactor import Hit, Redactor

RANDOM = Random(4)  # noqa: S311 - reproducible on purpose
CHOSEN = ("hunter2x!", "Tr0ub4dor&3x", chars(RANDOM, ALNUM, 20))
WORDS = ("swordfish", "correct-horse")
RANDOM_ONES = (chars(RANDOM, ALNUM, 40), chars(RANDOM, HEX, 32), chars(RANDOM, URL_SAFE, 43))

# `§` is the gap for a secret, `|` a line feed, `[bar]` a bar.
OF_ANY_PASSWORD = (
    *("DB_HOST=x|DB_PASSWORD=§|X=1", 'DB_PASSWORD="§"', "export DB_PASSWORD='§'"),
    *("PGPASSWORD='§' psql -h db", 'password = "§"', "spring.datasource.password=§|"),
    *("user=root|password=§|", "host=db user=ada password=§ dbname=x", "ansible_ssh_pass=§"),
    *("db:|  user: ada|  password: §|", "environment:|  POSTGRES_PASSWORD: §|"),
    *("- name: DB_PASSWORD|  value: §|", '- name: DB_PASSWORD|  value: "§"|'),
    *("{'user': 'ada', 'password': '§'}", "connect(host='x', password='§')"),
    *('got {"user": "ada", "password": "§"} ok', "<password>§</password>"),
    *('<add key="DbPassword" value="§"/>', "Server=db;User Id=sa;Password=§;Encrypt=true"),
    *('variable "db_password" {|  default = "§"|}', "wget --user=ada --password=§ https://h.dev"),
    *("machine h.dev login ada password §", "machine h.dev|  login ada|  password §|"),
    *("db.h.dev:5432:app:ada:§", "*:*:*:ada:§", "curl -u ada:§ https://h.dev/x"),
    *('curl -s -u "ada:§" https://h.dev', "curl -sSuada:§ x", "curl --user=ada:§ https://h.dev"),
    *('curl https://h.dev \\|  -H "A: b" \\|  -u ada:§', "sshpass -p '§' ssh u@h"),
    *("mysql -uroot -p§ db", "mysqldump -h db -u root -p§ db", "redis-cli -h c -a § ping"),
    *("docker login -u ada -p § reg.dev", "mongosh -u ada -p § --host x"),
    *("openssl rsa -passin pass:§ -in x", "CREATE USER ada WITH PASSWORD '§';"),
    *("ALTER USER 'root'@'localhost' IDENTIFIED BY '§';", 'echo "ada:§" [bar] chpasswd'),
    *("sqlalchemy.exc.OperationalError: (postgresql+psycopg2://ada:§@db:5432/x)",),
)
OF_A_CHOSEN_PASSWORD = (
    *("the password is §", "password: §", "password:|  §", "  password: >-|    §|"),
    *('setx DB_PASSWORD "§"', "set -gx DB_PASSWORD §", "ENV DB_PASSWORD §|"),
    *("-  password: §|+  password: x|", '$env:DB_PASSWORD = "§"', "echo '§' [bar] sudo -S ls"),
)
OF_A_TOKEN = (
    *("headers={'Authorization': 'Bearer §'}", "headers={'Authorization': 'token §'}"),
    *('\\"headers\\": {\\"Authorization\\": \\"Bearer §\\"}', "curl -H 'X-Api-Key:§' h"),
    *('curl -b "session=§" h', "curl --cookie 'a=b; sid=§' h", "curl -b sid=§ h"),
    *("cookies={'theme': 'dark', 'sessionid': '§'}", "curl -H 'Cookie: sid=§; x=y' h"),
    *("https://h.dev/x?access_token=§&y=1", "https://h.dev/x?key=§&y=1", "cb?code=§&state=1"),
    *("u=https%3A%2F%2Fa.b%2F%3Ftoken%3D§%26x%3D1", "https://oauth2:§@gitlab.dev/x.git"),
    *("https://§:@git.dev/x.git", "https%3A%2F%2Foauth2%3A§%40gitlab.dev%2Fx.git"),
    *('"identitytoken": "§"', "users:|- name: a|  user:|    token: §|"),
    *("[default]|aws_secret_access_key = §|", '{"name": "X-Api-Key", "value": "§"} x'),
    *("gh secret set DEPLOY_TOKEN --body §", 'gh secret set DEPLOY_TOKEN -b"§"'),
    *("api_key: [bar]|  §|", "api_key: >-|  §|", "api_key: &k §|", "api_key: !!str §|"),
    *("- name: API_TOKEN|  value: §|", "<apiKey>§</apiKey>", '<x api-key="§"/>'),
    *('<input type="hidden" name="csrf_token" value="§">', '<meta name="csrf-token" content="§">'),
    *('os.environ.setdefault("API_TOKEN", "§")', 'monkeypatch.setenv("API_TOKEN", "§")'),
    *("const token = process.env.TOKEN [bar][bar] '§'", 'client.set_token("§")'),
    *('req.Header.Set("X-Api-Key", "§")', 'let api_key: &str = "§";', '#define API_KEY "§"'),
    *("define('API_KEY', '§');", '"access_token": {"value": "§"}', "api_key=SecretStr('§')"),
    *("[('X-Api-Key', '§'), ('A','b')]", "[(b'x-api-key', b'§')]"),
    *("[bar] API_TOKEN [bar] § [bar]", "API_TOKEN    §", "my api key is §, please", "API key: §"),
    *("Here's the token:|§|", "**API Key**: `§`", "requests.get(u, auth=('ada', '§'))"),
    *("HTTPBasicAuth('ada', '§')", "[pypi]|username = __token__|password = §|"),
)  # fmt: skip
OF_USER_AND_PASSWORD = (
    *('{"auths": {"reg.dev": {"auth": "§"}}} x', "//registry.npmjs.org/:_auth=§"),
    *("{'Authorization': 'Basic §'}", '\\"authorization\\":\\"Basic §\\"'),
    *("> Authorization: Basic §",),
)  # fmt: skip


def written(template: str, secret: str) -> str:
    """Give a template with a secret in its gap."""
    return template.replace("|", "\n").replace("[bar]", "|").replace("§", secret)


def left(secret: str, text: str) -> str | None:
    """Give what became of a text in which a part of a secret is left."""
    redacted = Redactor().value({"said": [text]})["said"][0]
    parts = [secret[at : at + 8] for at in range(max(len(secret) - 7, 1))]
    return redacted if any(part in redacted for part in parts) else None


@pytest.mark.parametrize("template", OF_ANY_PASSWORD)
def test_a_password_is_found_even_if_it_is_a_word(template: str):
    secrets = [*CHOSEN, *WORDS]

    assert [left(each, written(template, each)) for each in secrets] == [None] * len(secrets)


@pytest.mark.parametrize("template", OF_A_CHOSEN_PASSWORD)
def test_a_password_of_more_than_letters_is_found(template: str):
    assert [left(each, written(template, each)) for each in CHOSEN] == [None] * len(CHOSEN)


@pytest.mark.parametrize("template", OF_A_TOKEN)
def test_a_random_value_is_found(template: str):
    found = [left(each, written(template, each)) for each in RANDOM_ONES]

    assert found == [None] * len(RANDOM_ONES)


@pytest.mark.parametrize("template", OF_USER_AND_PASSWORD)
def test_user_and_password_in_base64_are_found(template: str):
    secret = b64encode(f"ada:{CHOSEN[2]}".encode()).decode()

    assert left(secret, written(template, secret)) is None


def test_user_and_password_in_base64_are_found_in_a_value():
    secret = b64encode(f"ada:{CHOSEN[2]}".encode()).decode()

    assert Redactor().value({"auths": {"reg.dev": {"auth": secret}, "x": {"auth": "none"}}}) == {
        "auths": {"reg.dev": {"auth": "‹authorization:1›"}, "x": {"auth": "none"}}
    }


def test_of_the_secrets_of_a_cluster_no_value_stays():
    value = b64encode(CHOSEN[2].encode()).decode()
    text = f"kind: Secret\ndata:\n  foo: {value}\n  bar: c3dvcmQ=\nmetadata:\n  a: b\n"
    redactor = Redactor()

    assert redactor.text(text) == text.replace(value, "‹secret:1›").replace(
        "c3dvcmQ=", "‹secret:2›"
    )
    assert redactor.value({"kind": "Secret", "data": {"foo": value}, "type": "Opaque"}) == {
        "kind": "Secret",
        "data": {"foo": "‹secret:1›"},
        "type": "Opaque",
    }


# --- Keys ----------------------------------------------------------------------------------------

KEY = block(Random(5), "RSA PRIVATE" + " KEY")  # noqa: S311 - reproducible on purpose
BODY = KEY.split("\n")[1:-1]
LINES: dict[str, Callable[[str], str]] = {
    "added": lambda line: f"+{line}",
    "removed": lambda line: f"-{line}",
    "coloured": lambda line: f"\x1b[32m+{line}\x1b[m",
    "numbered": lambda line: f"    12→{line}",
    "numbered by cat": lambda line: f"     3\t{line}",
    "quoted": lambda line: f"> {line}",
    "framed": lambda line: f"│ {line} │",
    "a comment": lambda line: f"# {line}",
    "in a program": lambda line: f'    "{line}\\n"',
    "joined": lambda line: f"  '{line}\\n' +",
    "a list": lambda line: f'"{line}",',
    "found": lambda line: f"id_rsa-3-{line}",
    "a page": lambda line: f"{line}<br>",
    "windows": lambda line: f"{line}\r",
}


@pytest.mark.parametrize("line", LINES)
def test_of_a_key_no_line_stays_whatever_stands_about_its_lines(line: str):
    text = "\n".join(map(LINES[line], KEY.split("\n"))) + "\nand so on"

    assert [left(each, text) for each in BODY] == [None] * len(BODY)
    assert Redactor().text(text).endswith("and so on")


@pytest.mark.parametrize("line", ["added", "quoted", "numbered", "in a program", "framed"])
def test_of_a_key_that_is_cut_off_no_whole_line_stays(line: str):
    text = "\n".join(map(LINES[line], KEY.split("\n")[:6]))

    assert [left(each, text) for each in BODY[:5]] == [None] * 5


def test_of_a_key_without_its_beginning_no_line_stays():
    text = "\n".join(KEY.split("\n")[2:])

    assert [left(each, text) for each in BODY[1:]] == [None] * (len(BODY) - 1)


def test_of_a_key_that_is_a_list_of_lines_no_line_stays():
    lines = ["before", *KEY.split("\n"), "after"]

    value = Redactor().value({"source": lines})["source"]

    assert [each for each in value if each in BODY] == []
    assert (value[0], value[-1]) == ("before", "after")


@pytest.mark.parametrize("kind", ["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
def test_a_key_in_base64_is_found(kind: str):
    encoded = b64encode(block(RANDOM, f"{kind}PRIVATE" + " KEY").encode()).decode()
    wrapped = "\n".join("    " + encoded[at : at + 76] for at in range(0, len(encoded), 76))

    assert left(encoded[60:], f"  client-key-data: {encoded}\n") is None
    assert left(encoded[160:220], f"  tls.key: |\n{wrapped}\n") is None


def test_a_certificate_in_base64_stays():
    encoded = b64encode(block(RANDOM, "CERTIFICATE").encode()).decode()

    assert left(encoded, f"  client-certificate-data: {encoded}\n") is not None


# --- Addresses -----------------------------------------------------------------------------------

HOOK = f"T{chars(RANDOM, CAPITALS, 10)}/B{chars(RANDOM, CAPITALS, 10)}/{chars(RANDOM, ALNUM, 24)}"
OTHER_HOOK = f"{chars(RANDOM, '0123456789', 18)}/{chars(RANDOM, URL_SAFE, 68)}"


@pytest.mark.parametrize(
    ("secret", "address"),
    [
        (HOOK[24:], f"https://hooks.slack.com/services/{HOOK}"),
        (OTHER_HOOK[20:], f"https://discordapp.com/api/webhooks/{OTHER_HOOK}"),
    ],
)
def test_the_address_of_a_hook_is_found_in_any_way_of_writing(secret: str, address: str):
    ways = [address, address.replace("/", "\\/"), quote(address, safe=""), json.dumps(address)]

    assert [left(secret, each) for each in ways] == [None] * len(ways)


def test_a_web_token_is_found_in_an_address():
    secret = web_token(RANDOM)
    signature = secret.rpartition(".")[2]
    ways = [f"https://h/x?jwt={secret}&a=1", quote(f"https://h/#id={secret}", safe="")]

    assert [left(signature, each) for each in ways] == [None, None]


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("Ada Lovelace", "C:\\Users\\Ada Lovelace\\x"),
        ("adal", "/mnt/c/Users/adal/x"),
        ("adal", "/c/Users/adal/x"),
        ("adal", "\\\\srv\\Users\\adal\\x"),
        ("adal", "file:///C%3A/Users/adal/x"),
        ("adal", "C%3A%5CUsers%5Cadal%5Cx"),
        ("adal", "%2Fhome%2Fadal%2Fx"),
        ("adal", "/var/home/adal/x"),
        ("adal", "vscode-remote://wsl/home/adal/x"),
        ("adal", "projects/C--Users-adal-site/x"),
        ("adal", "-Users-adal-site"),
        ("ada.l@posteo.net", "Co-authored-by: Ada <ada.l@posteo.net>"),
        ("ada.l%40posteo.net", "user=ada.l%40posteo.net"),
    ],
)
def test_who_somebody_is_is_found_in_any_way_of_writing(secret: str, text: str):
    assert left(secret, text) is None


# --- What stays ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "password: string\nuser: string",
        "    user: str\n    password: SecretStr\n",
        "def login(user, password=password): pass",
        "login(\n    user=user,\n    password=entered\n)",
        'labels = {"user": "Name", "password": "Passwort"}',
        "the login or password field, the machine login and password",
        "the token is expired-since-12-days; the secret was kept",
        'for word in ("key", "token", "secret"): pass',
        "<label>token</label> <password></password>",
        "API_TOKEN and DB_PASSWORD are read from .env",
        "mkdir -p build && mysql -u root -p shop; docker login && mkdir -p /srv/x",
        "localhost:5432:5432 arn:aws:logs:*:*:log-group:/a/b",
        "echo hello | sudo tee /etc/x; echo done | cat",
        "curl https://h.dev/x -b cookies.txt; git checkout -b topic=1",
        "https://h.dev/x?key=name&code=200",
        "kind: ConfigMap\ndata:\n  foo: barbazqux\n",
        "get_token('prod/database-1')",
    ],
)
def test_what_only_looks_so_stays(text: str):
    redactor = Redactor()

    assert redactor.text(text) == text
    assert redactor.hits == ()


def test_a_key_that_ends_takes_nothing_after_it():
    redactor = Redactor()

    assert redactor.text(f"{KEY}\nThen I went on.") == "‹private-key:1›\nThen I went on."
    assert redactor.hits == (Hit("private-key", "", "‹private-key:1›"),)
