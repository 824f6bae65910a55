"""Secrets that tell by the text around them: keys in blocks, addresses, headers, homes."""

from __future__ import annotations

from tt_debugger.core.redact.rules import ALNUM, Rule

_LOCAL = r"[\w.%+-]"
_SLASH = r"(?:\\{0,4}/|%2[Ff])"
_AND_SLASHES = r"(?:[\w@/-]|\\{1,4}/|%2[Ff]|%40)"
_GIVEN = r"[^\s\"'`;|<>‹›$][^\s\"'`;|<>‹›]{3,127}"
_USER_KEY = r"[ =]{0,4}[\"']?[^\s:\"'‹›]{1,64}:([^\s\"'$‹›]{4,128})"
_MADE_KEY = "{b6464}\\n{b6464}\\n{b6440}\\n"

BLOCKS: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("-----begin",),
        # Without its end, a block that was cut off goes as far as it can be one.
        r"-----BEGIN(?: |%20|\+)(?:[A-Z0-9]{1,12}(?: |%20|\+)){0,3}PRIVATE(?: |%20|\+)KEY"
        r"(?:(?: |%20|\+)BLOCK)?-----(?:[A-Za-z0-9+/=\s,:;.()%\\-]|‹[\w:-]{1,40}›)*",
        (
            f"-----BEGIN RSA PRIVATE KEY-----\n{_MADE_KEY}-----END RSA PRIVATE KEY-----",
            f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{_MADE_KEY}",
            "-----BEGIN OPENSSH PRIVATE KEY-----\\n{b6470}\\n{b6470}",
        ),
        (f"-----BEGIN PUBLIC KEY-----\n{_MADE_KEY}", "-----BEGIN CERTIFICATE-----\n{b6464}"),
    ),
    Rule(
        "private-key",
        ("-----end",),
        # The end of one whose beginning was cut off.
        r"[A-Za-z0-9+/=\r\n]{60,}-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        ("{b6464}\n{b6440}=\n-----END RSA PRIVATE KEY-----",),
        ("{b6464}\n-----END PUBLIC KEY-----", "-----END PRIVATE KEY-----"),
        before=4000,
        left=ALNUM + "+/=\r\n",
    ),
    Rule(
        "private-key",
        ("private-lines:",),
        r"(?i:private-lines:) \d{1,4}\s{1,4}((?:[A-Za-z0-9+/=]{1,100}\s{1,4}){1,200})",
        ("Private-Lines: 2\n{b6464}\n{b6432}\nPrivate-MAC: {hex40}",),
        ("Private-Lines: none",),
    ),
    Rule(
        "private-key",
        ("ls0tls1crudjti",),
        # The same in base64, as configurations keep it: "-----BEGIN", what kind, "PRIVATE".
        r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BEU0EgUFJJVkFUR"
        r"|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUFJJVkFUR|BQR1AgUFJJVkFUR)"
        r"[A-Za-z0-9+/=]{8,}(?:\s{1,20}[A-Za-z0-9+/=]{60,})*(?:\s{1,20}[A-Za-z0-9+/]{1,90}={1,2})?",
        ("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk{b6464}",),
        ("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk{b6464}",),
    ),
)

SHAPES: tuple[Rule, ...] = (
    Rule(
        "url-signature",
        ("sig=", "signature="),
        r"(?<=[?&;-])(?i:sig|signature)=([A-Za-z0-9%+/=_-]{32,})",
        ("?sv=2022-11-02&sig={b6443}%3D", "&X-Amz-Signature={hex64}"),
        ("?sig=short", "sig={b6443}"),
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        rf"hooks\.slack\.com{_SLASH}(?:services|workflows|triggers){_SLASH}({_AND_SLASHES}{{20,400}})",
        (
            "https://hooks.slack.com/services/T{up10}/B{up10}/{an24}",
            "https:\\/\\/hooks.slack.com\\/services\\/T{up10}\\/B{up10}\\/{an24}",
            "https%3A%2F%2Fhooks.slack.com%2Fservices%2FT{up10}%2FB{up10}%2F{an24}",
        ),
        ("https://hooks.slack.com/services/docs",),
    ),
    Rule(
        "discord-webhook",
        ("webhooks",),
        rf"(?:(?<=api/)|(?<=api\\/)|(?<=api%2F))webhooks{_SLASH}(\d{{15,20}}{_SLASH}[\w-]{{40,}})",
        (
            "https://discord.com/api/webhooks/{dig18}/{w68}",
            "https:\\/\\/discord.com\\/api\\/webhooks\\/{dig18}\\/{w68}",
            "https%3A%2F%2Fdiscord.com%2Fapi%2Fwebhooks%2F{dig18}%2F{w68}",
        ),
        ("https://discord.com/api/webhooks/{dig18}",),
    ),
    Rule(
        "teams-webhook",
        (".webhook.office.com",),
        rf"\.webhook\.office\.com{_SLASH}webhookb2{_SLASH}({_AND_SLASHES}{{60,400}})",
        (
            "https://x.webhook.office.com/webhookb2/{hex36}@{hex36}/IncomingWebhook/{hex32}/{hex36}",
        ),
        ("https://x.webhook.office.com/webhookb2/x",),
    ),
    Rule(
        "bearer-token",
        ("bearer",),
        r"(?i:bearer)(?:[ \t]|%20|\+){1,2}([\w.~+/-]{16,}={0,2})",
        ("Authorization: Bearer {an40}", "bearer {w32}"),
        ("Bearer authentication-required", "bearer of news", "Bearer $TOKEN"),
    ),
    Rule(
        "basic-credentials",
        ("basic",),
        r"(?i:basic)(?:[ \t]|%20){1,2}([A-Za-z0-9+/]{12,}={0,2})(?![\w-])",
        ("proxy: Basic dXNlcjpw{an16}",),
        ("Basic authentication", "basic types"),
    ),
    Rule(
        "url-password",
        ("://",),
        r"://[^\s/@:\"'<>‹›\\]{0,128}:([^\s/@\"'<>‹›\\]{1,256})@",
        ("postgres://app:{an16}@db:5432/x", "redis://:{an12}@cache/0"),
        ("http://host:8080/a@b", "https://a.b/c:d@e", "postgres://app:${PASSWORD}@db/x"),
    ),
    Rule(
        "url-password",
        ("://",),
        r"://([A-Za-z0-9_-]{16,256})(?::(?:x-oauth-basic)?)?@",
        ("https://{an32}@git.host.dev/x", "https://{an32}:@git.host.dev/x"),
        ("ssh://git@host.dev/x",),
    ),
    Rule(
        "url-password",
        ("%2f",),
        r"(?i:%3A%2F%2F)(?:[\w.~-]{0,128}(?i:%3A))?((?:[\w.~!*'()-]|%(?!40|2F|2f|3A|3a)[0-9A-Fa-f]{2}){4,256})%40",
        ("https%3A%2F%2Fada%3A{an16}%40git.host.dev%2Fx", "https%3A%2F%2F{an32}%40git.host.dev"),
        ("https%3A%2F%2Fhost.dev%2Fa%40b", "ssh%3A%2F%2Fgit%40host.dev"),
        before=3,
    ),
    Rule(
        "url-key",
        ("key=", "code="),
        r"[?&](?:key|code)=([\w.~%+/-]{24,200})(?![\w.~%+/-])",
        ("https://host.dev/x?key={an32}", "https://host.dev/cb?x=1&code={an40}&state=a"),
        ("https://host.dev/x?key=name", "https://host.dev/x?code=some-long-words-and-no-figure"),
        before=1,
    ),
    Rule(
        "curl-password",
        ("curl",),
        # A command goes on behind a backslash.
        r"(?i:curl)[^\n]{0,240}?(?:\\\r?\n[^\n]{0,240}?){0,4}?"
        rf"[ \t](?:-[a-zA-Z]{{0,8}}[uU]|--(?:proxy-)?user){_USER_KEY}",
        (
            "curl -u me:{an12} https://a.b",
            "curl -sSu 'me:{an12}' https://a.b",
            "curl https://a.b \\\n  --user=me:{an12}",
        ),
        ("docker run -u 1000:1000 x", "curl -u me:$PASSWORD https://a.b"),
    ),
    Rule(
        "command-password",
        ("sshpass",),
        rf"sshpass[ \t]{{1,4}}-p[ \t]{{0,4}}[\"']?({_GIVEN})",
        ("sshpass -p {an12} ssh ada@host.dev", "sshpass -p'{an12}' ssh ada@host.dev"),
        ("sshpass -p $PASSWORD ssh x", "sshpass -f file ssh x"),
    ),
    Rule(
        "command-password",
        ("mysql",),
        r"mysql(?:dump|admin|check|show|import)?[ \t][^\n;&|]{0,300}?"
        rf"(?<=[ \t])-p[\"']?({_GIVEN})",
        ("mysql -uroot -p{an12} shop", "mysqldump -h db -u root -p'{an12}' shop"),
        ("mysql -u root -p shop", "mysql -P3306 x", "mysql -p$PASSWORD x"),
    ),
    Rule(
        "command-password",
        ("redis-cli",),
        rf"redis-cli[ \t][^\n;&|]{{0,300}}?(?<=[ \t])(?:-a|--pass)[ \t=]{{1,4}}[\"']?({_GIVEN})",
        ("redis-cli -h cache -a {an12} ping",),
        ("redis-cli -h cache ping",),
    ),
    Rule(
        "command-password",
        ("login ",),
        r"(?:(?<=docker )|(?<=podman )|(?<=nerdctl )|(?<=registry )|(?<=az )|(?<=oc ))"
        rf"login [^\n;&|]{{0,300}}?(?<=[ \t])-p[ \t]{{1,4}}[\"']?({_GIVEN})",
        ("docker login -u ada -p {an12} host.dev", "az login -u ada -p '{an12}'"),
        ("docker login -u ada --password-stdin", "the login page -p 8080"),
    ),
    Rule(
        "command-password",
        ("mongo",),
        r"mongo(?:sh|dump|restore|export|import)? [^\n;&|]{0,300}?"
        rf"(?<=[ \t])-p[ \t]{{1,4}}[\"']?({_GIVEN})",
        ("mongosh -u ada -p {an12} --host db",),
        ("mongosh --port 27017", "mongo is up"),
    ),
    Rule(
        "command-password",
        ("echo",),
        r"echo[ \t]{1,4}(?:-n[ \t]{1,4})?[\"']?(?:[\w.-]{1,32}:)?"
        rf"({_GIVEN})[\"']?[ \t]{{0,4}}\|[ \t]{{0,4}}"
        r"(?:sudo[^\n|]{0,60}[ \t]-[a-zA-Z]{0,6}S|(?:sudo[ \t]{1,4})?chpasswd"
        r"|[^\n|]{0,200}--(?:password-stdin|with-token))",
        (
            "echo {an12} | sudo -S apt update",
            "echo 'ada:{an12}' | sudo chpasswd",
            "echo {an20} | docker login -u ada --password-stdin",
        ),
        ("echo hello there | sudo -S x", "echo $PASSWORD | sudo -S x", "echo {an12} | sudo tee x"),
    ),
    Rule(
        "command-password",
        (" pass:",),
        rf"(?:(?<=-passin)|(?<=-passout)|(?<=-pass)) pass:({_GIVEN})",
        ("openssl rsa -passin pass:{an12} -in x", "openssl enc -pass pass:{an12}"),
        ("the pass: {an12}", "a pass:word"),
    ),
    Rule(
        "url-password",
        ("auth",),
        r"(?i:auth)(?: ?= ?)?\([ \t]{0,4}[\"'][^\"'\n]{1,64}[\"'],[ \t]{0,4}"
        r"[\"']([^\"'\n]{4,128})[\"']",
        ("HTTPBasicAuth('ada', '{an12}')", 'get(url, auth=("ada", "{an12}"))'),
        ("auth=(user, password)", "HTTPBasicAuth(user, 'password')"),
    ),
    Rule(
        "command-password",
        ("identified by", "password"),
        r"(?i:identified by|password)[ \t]{1,4}([\"'])([^\"'\s]{4,128})\1",
        ("ALTER USER a IDENTIFIED BY '{an12}'", "CREATE ROLE a WITH PASSWORD '{an12}'"),
        ("password 'password'", "identified by name"),
    ),
    Rule(
        "command-password",
        ("machine", "default"),
        r"(?:machine\s{1,4}\S{1,256}|default)\s{1,8}(?:login|user)\s{1,4}\S{1,128}\s{1,8}password\s{1,4}[\"']?([^\s\"']{4,256})",
        (
            "machine host.dev login ada password {an12}",
            "machine a\n  login b\n  password {an12}\n",
        ),
        ("the machine has a login and a password field",),
    ),
    Rule(
        "command-password",
        (":5432:", ":*:"),
        r":(?:5432|\*):[^\s:]{1,64}:[^\s:]{1,64}:([^\s:‹›]{4,128})(?!\S)",
        ("db.host.dev:5432:shop:ada:{an12}", "*:*:*:ada:{an12}\n"),
        ("localhost:5432:5432", "arn:aws:logs:*:*:log-group:/a/b"),
    ),
    Rule(
        "basic-credentials",
        ("auth",),
        # As the files of docker and npm keep it.
        r"(?i:auth)(?:\\{0,4}[\"'])?\s{0,3}[:=]\s{0,3}(?:\\{0,4}[\"'])?([A-Za-z0-9+/]{12,}={0,2})(?![\w-])",
        ('"auth": "dXNlcjpw{an16}"', "//registry.npmjs.org/:_auth=dXNlcjpw{an16}"),
        ('"auth": "{an10}"', "auth: requireAuthentication"),
    ),
    Rule(
        "email",
        ("@",),
        rf"(?:(?<=\\[nrtbf])|(?<![\w.%+\\-]))({_LOCAL}{{1,64}}@"
        r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24})(?![\w@-])",
        ("ada.{low9}@posteo.net", "mail ada+x@lists.cam.ac.uk."),
        ("git@github.com", "ada@example.com", "icon@2x.png", "react@18.2.0", "@decorator.name"),
        before=64,
        left=ALNUM + "_.%+-",
    ),
    Rule(
        "email",
        ("%40",),
        r"([A-Za-z0-9._+-]{1,64}%40(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24})(?![\w@-])",
        ("user=ada.{low9}%40posteo.net&x",),
        ("git%40github.com", "ada%40example.com"),
        before=64,
        left=ALNUM + "_.+-",
    ),
    Rule(
        "home-name",
        ("home",),
        r"(?:(?<![\w.-])|(?<=\\[nrtbf])|(?<=/var)|(?<=/export)|(?<=//wsl))"
        r"/home/([A-Za-z0-9_][\w.-]{0,31})",
        (
            "/home/{low9}/x",
            "\\n/home/{low9}",
            "/var/home/{low9}/x",
            "vscode-remote://wsl/home/{low9}",
        ),
        ("/home/user/x", "https://a.b/home/page"),
        before=1,
    ),
    Rule(
        "home-name",
        ("%2f", "%5cusers%5c"),
        r"(?i:%2Fhome%2F|%2FUsers%2F|%5CUsers%5C)([A-Za-z0-9_][\w.-]{0,31})",
        ("file%3A%2F%2F%2Fhome%2F{low9}%2Fx", "C%3A%5CUsers%5C{low9}%5Cx"),
        ("%2Fhome%2Fuser%2Fx",),
    ),
    Rule(
        "home-name",
        ("users",),
        r"(?:(?<![\w.-]/)(?<=/)|(?<=\\[nrtbf]/)|(?<=%3A/)|(?<=/mnt/[a-z]/)|(?<![^\s\"'=(]/[a-z]/)(?<=/[a-z]/))"
        r"Users/([A-Za-z0-9_][\w.-]{0,31})"
        r"|(?:(?<=[:\\][\\/])|(?<=[A-Za-z0-9]\\))(?i:users)(?:\\{1,8}|/)"
        r"([A-Za-z0-9_][\w.-]{0,31}(?: [\w.-]{1,31}){1,3}(?=\\)|[A-Za-z0-9_][\w.-]{0,31})",
        (
            "file:///Users/{low9}",
            "/Users/{low9}/x",
            "C:\\Users\\{low9}\\x",
            "C:\\\\Users\\\\{low9}",
            "c:/Users/{low9}/x",
            "/mnt/c/Users/{low9}/x",
            "cd /c/Users/{low9}/x",
            "C:\\Users\\Ada {low9}\\x",
        ),
        ("/users/list", "/Users/Shared", "C:\\Users\\Public\\x", "10 users/group"),
    ),
    Rule(
        "home-name",
        ("home",),
        r"(?<![\w.-])-{1,2}home-([A-Za-z0-9_]{2,31})(?=-)|(?<=/)-home-([A-Za-z0-9_]{2,31})(?=-)",
        ("/projects/-home-{low9}-site/",),
        ("nav-home-page-x", "--home-dir"),
        before=2,
        left="-",
    ),
    Rule(
        "home-name",
        ("users",),
        r"(?:(?<![^/\s\"'])|(?<=[A-Z]-))-Users-([A-Za-z0-9_]{2,31})(?=-)",
        (
            "/projects/-Users-{low9}-site/",
            '"-Users-{low9}-site"',
            "/projects/C--Users-{low9}-site",
        ),
        ("nav-users-page-x",),
        before=1,
    ),
)

SHAPE_RULES: tuple[Rule, ...] = (*BLOCKS, *SHAPES)
