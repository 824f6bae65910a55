"""Secrets that tell by the text around them: keys in blocks, addresses, headers, homes."""

from __future__ import annotations

from tt_debugger.core.redact.rules import ALNUM, Rule

_LOCAL = r"[\w.%+-]"
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
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})",
        ("https://hooks.slack.com/services/T{up10}/B{up10}/{an24}",),
        ("https://hooks.slack.com/services/docs",),
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"/api/webhooks/(\d{15,20}/[\w-]{40,})",
        ("https://discord.com/api/webhooks/{dig18}/{w68}",),
        ("https://discord.com/api/webhooks/{dig18}",),
    ),
    Rule(
        "teams-webhook",
        (".webhook.office.com/",),
        r"\.webhook\.office\.com/webhookb2/([\w@/-]{60,})",
        (
            "https://x.webhook.office.com/webhookb2/{hex36}@{hex36}/IncomingWebhook/{hex32}/{hex36}",
        ),
        ("https://x.webhook.office.com/webhookb2/x",),
    ),
    Rule(
        "bearer-token",
        ("bearer",),
        r"(?i:bearer)(?:[ \t]|%20|\+){1,2}(?=[A-Za-z~+/_.-]{0,80}\d)([\w.~+/-]{16,}={0,2})",
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
        r"://([A-Za-z0-9_-]{16,256})(?::x-oauth-basic)?@",
        ("https://{an32}@git.host.dev/x",),
        ("ssh://git@host.dev/x",),
    ),
    Rule(
        "curl-password",
        ("curl",),
        r"(?i:curl)[^\n]{0,400}? (?:-u|--user) [\"']?[\w.@+-]{1,64}:([^\s\"'$‹›]{4,128})",
        ("curl -u me:{an12} https://a.b",),
        ("docker run -u 1000:1000 x", "curl -u me:$PASSWORD https://a.b"),
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
        "home-name",
        ("/home/",),
        r"(?:(?<![\w.-])|(?<=\\[nrtbf]))/home/([A-Za-z0-9_][\w.-]{0,31})",
        ("/home/{low9}/x", "\\n/home/{low9}"),
        ("/home/user/x", "https://a.b/home/page"),
    ),
    Rule(
        "home-name",
        ("users",),
        r"(?:(?<![\w.-]/)(?<=/)|(?<=\\[nrtbf]/))Users/([A-Za-z0-9_][\w.-]{0,31})"
        r"|(?<=[:\\][\\/])(?i:users)(?:\\{1,8}|/)([A-Za-z0-9_][\w.-]{0,31})",
        (
            "file:///Users/{low9}",
            "/Users/{low9}/x",
            "C:\\Users\\{low9}\\x",
            "C:\\\\Users\\\\{low9}",
            "c:/Users/{low9}/x",
        ),
        ("/users/list", "/Users/Shared", "C:\\Users\\Public\\x", "10 users/group"),
    ),
    Rule(
        "home-name",
        ("-home-",),
        r"(?<![\w.-])-{1,2}home-([A-Za-z0-9_]{2,31})(?=-)|(?<=/)-home-([A-Za-z0-9_]{2,31})(?=-)",
        ("/projects/-home-{low9}-site/",),
        ("nav-home-page-x", "--home-dir"),
    ),
    Rule(
        "home-name",
        ("-users-",),
        r"(?<=/)-Users-([A-Za-z0-9_]{2,31})(?=-)",
        ("/projects/-Users-{low9}-site/",),
        ("nav-users-page-x",),
    ),
)

SHAPE_RULES: tuple[Rule, ...] = (*BLOCKS, *SHAPES)
