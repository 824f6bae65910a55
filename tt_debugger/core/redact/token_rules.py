"""Tokens that tell by how they begin whose they are: the shapes that their vendors publish."""

from __future__ import annotations

from tt_debugger.core.redact.rules import ALNUM, DIGITS, GUARD, HEX, Rule, token

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_MADE_UUID = "{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"

CLOUDS: tuple[Rule, ...] = (
    token(
        "aws-access-key",
        "AKIA ASIA ABIA ACCA",
        "[A-Z0-9]{16}(?![A-Za-z0-9])",
        ("AKIA{up16}", "ASIA{up16}"),
        ("AKIA{up12}", "AKIA{up20}", "AKIA_SECTION_HEADER_X", "xAKIA{up16}"),
    ),
    token("google-api-key", "AIza", r"[\w-]{35,}", ("AIza{w35}",), ("AIza{w20}", "AIzawa")),
    token(
        "google-oauth-secret",
        "GOCSPX-",
        r"[\w-]{28,}",
        ("GOCSPX-{w28}",),
        ("GOCSPX-{w12}",),
    ),
    token(
        "google-oauth-token",
        "ya29. 1//0 1%2F%2F0",
        r"[\w-]{20,}",
        ("ya29.{w120}", "1//0{w60}"),
        ("ya29.short", "1//02"),
    ),
    token(
        "digitalocean-token",
        "dop_v1_ doo_v1_ dor_v1_",
        "[0-9a-f]{64,}",
        ("dop_v1_{hex64}",),
        ("dop_v1_{hex30}",),
    ),
    token("alibaba-key", "LTAI", "[A-Za-z0-9]{12,}", ("LTAI{an20}",), ("LTAI{an6}",)),
    token("tencent-key", "AKID", "[A-Za-z0-9]{32,}", ("AKID{an32}",), ("AKID{an10}",)),
    token(
        "yandex-token",
        "AQVN y0_ t1.9euel",
        r"[\w-]{35,}",
        ("AQVN{w35}", "y0_{w55}"),
        ("y0_position",),
    ),
    token(
        "scaleway-key",
        "SCW",
        "[A-Z0-9]{17}(?![A-Za-z0-9_])",
        ("SCW{up17}",),
        ("SCW{up10}", "SCW_DEFAULT_REGION"),
    ),
)

MODELS: tuple[Rule, ...] = (
    token(
        "anthropic-key",
        "sk-ant-",
        r"[\w-]{20,}",
        ("sk-ant-api03-{w93}AA", "sk-ant-admin01-{w93}AA", "sk-ant-oat01-{w80}"),
        ("sk-ant-", "sk-ant-api03-"),
    ),
    token(
        "openrouter-key",
        "sk-or-",
        r"[\w-]{32,}",
        ("sk-or-v1-{hex64}",),
        ("sk-or-not", "task-or-{an40}"),
    ),
    token(
        "langfuse-key",
        "sk-lf- pk-lf-",
        "[0-9a-f-]{36,}",
        (f"sk-lf-{_MADE_UUID}",),
        ("sk-lf-{hex8}",),
    ),
    token(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        r"[\w-]{20,}",
        ("sk-proj-{w156}", "sk-svcacct-{w120}", "sk-admin-{w100}"),
        ("sk-proj-name", "task-proj-{an40}"),
    ),
    # Other vendors have taken the same beginning over, with other lengths.
    token(
        "openai-key",
        "sk-",
        "[A-Za-z0-9]{20,}",
        ("sk-{an48}", "sk-{an20}T3BlbkFJ{an20}", "sk-{hex32}"),
        ("sk-estimator-id-12", "sk-{an10}", "task-{an48}"),
    ),
    token(
        "openai-session",
        "sess-",
        "[A-Za-z0-9]{40}(?![A-Za-z0-9])",
        ("sess-{an40}",),
        ("sess-{an16}",),
    ),
    token(
        "huggingface-token",
        "hf_ api_org_",
        "[A-Za-z0-9]{30,}",
        ("hf_{an34}", "api_org_{an34}"),
        ("hf_{an12}", "hf_hub_download", "shelf_{an34}"),
    ),
    token("replicate-token", "r8_", "[A-Za-z0-9]{35,}", ("r8_{an37}",), ("r8_{an12}",)),
    token("groq-key", "gsk_", "[A-Za-z0-9]{40,}", ("gsk_{an52}",), ("gsk_{an12}",)),
    token("xai-key", "xai-", "[A-Za-z0-9]{70,}", ("xai-{an80}",), ("xai-{an20}",)),
    token("perplexity-key", "pplx-", "[A-Za-z0-9]{40,}", ("pplx-{an48}",), ("pplx-7b-online",)),
    token("together-key", "tgp_v1_", r"[\w-]{40,}", ("tgp_v1_{w43}",), ("tgp_v1_{w8}",)),
    token(
        "elevenlabs-key", "sk_", "[0-9a-f]{48}(?![A-Za-z0-9])", ("sk_{hex48}",), ("sk_{hex20}",)
    ),
    token(
        "langsmith-key",
        "lsv2_ ls__",
        "[A-Za-z0-9_]{32,}",
        ("lsv2_pt_{hex32}_{hex10}", "lsv2_sk_{hex32}_{hex10}", "ls__{hex32}"),
        ("lsv2_pt_short", "ls__init__"),
    ),
    token("fireworks-key", "fw_", "[A-Za-z0-9]{22,}", ("fw_{an24}",), ("fw_version_{an4}",)),
    token("nvidia-key", "nvapi-", r"[\w-]{50,}", ("nvapi-{w64}",), ("nvapi-{w12}",)),
    token("cerebras-key", "csk-", "[a-z0-9]{40,}", ("csk-{low48}",), ("csk-{low12}",)),
    token("voyage-key", "pa-", r"[\w-]{43}(?![\w-])", ("pa-{w43}",), ("pa-{w20}",)),
    token("jina-key", "jina_", r"[\w-]{50,}", ("jina_{hex32}{w28}",), ("jina_embeddings",)),
    token("tavily-key", "tvly-", r"[\w-]{28,}", ("tvly-dev-{an32}", "tvly-{an32}"), ("tvly-x",)),
    token("firecrawl-key", "fc-", "[0-9a-f]{32}(?![A-Za-z0-9])", ("fc-{hex32}",), ("fc-{hex12}",)),
    token("pinecone-key", "pcsk_", r"[\w]{50,}", ("pcsk_{an5}_{an63}",), ("pcsk_{an12}",)),
    token("e2b-key", "e2b_", "[0-9a-f]{40,}", ("e2b_{hex40}",), ("e2b_{hex12}",)),
    token("wandb-key", "wandb_v1_", r"\w{40,}", ("wandb_v1_{an77}",), ("wandb_v1_{an9}",)),
    token("browserbase-key", "bb_live_", r"[\w-]{20,}", ("bb_live_{w27}",), ("bb_live_view",)),
)

CODE_HOSTS: tuple[Rule, ...] = (
    token("fly-token", "fo1_", r"[\w-]{40,}", ("fo1_{w43}",), ("fo1_x",)),
    token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"\w{36,}",
        ("ghp_{an36}", "gho_{an36}", "ghu_{an36}", "ghs_{an36}", "ghr_{an76}"),
        ("ghp_{an20}", "ghp_token", "xghp_{an36}"),
    ),
    token(
        "github-token",
        "github_pat_",
        r"\w{22,}",
        ("github_pat_{an22}_{an59}",),
        ("github_pat_{an8}",),
    ),
    token(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glimt- glagent- glsoat- gloas- glffct- "
        "glwt- GR1348941",
        r"[\w.-]{19,}",
        ("glpat-{w20}", "glptt-{hex40}", "gldt-{w20}", "glrt-{w20}", "glpat-{w30}.01.{low9}"),
        ("glpat-{w8}",),
    ),
    token(
        "atlassian-token",
        "ATATT3 ATCTT3 ATBB",
        r"(?:[\w=-]|%3D){28,}",
        ("ATATT3{w180}={hex8}", "ATBB{an32}"),
        ("ATBB{an9}",),
    ),
    token("npm-token", "npm_", "[A-Za-z0-9]{36,}", ("npm_{an36}",), ("npm_config_registry",)),
    token(
        "pypi-token",
        "pypi-AgE",
        r"[\w-]{50,}",
        ("pypi-AgEIcHlwaS5vcmc{w150}", "pypi-AgENdGVzdC5weXBpLm9yZw{w150}"),
        ("pypi-AgE{w10}", "pypi-server-{w60}"),
    ),
    token("crates-token", "cio", "[A-Za-z0-9]{32}(?![A-Za-z0-9])", ("cio{an32}",), ("cio{an12}",)),
    token(
        "rubygems-key", "rubygems_", "[0-9a-f]{48,}", ("rubygems_{hex48}",), ("rubygems_{hex8}",)
    ),
    token(
        "docker-token",
        "dckr_pat_ dckr_oat_",
        r"[\w-]{27,}",
        ("dckr_pat_{w27}", "dckr_oat_{w32}"),
        ("dckr_pat_{w9}",),
    ),
    token("nuget-key", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9])", ("oy2{low43}",), ("oy2{low20}",)),
    token(
        "sourcegraph-token",
        "sgp_",
        r"\w{40,}",
        ("sgp_{hex40}", "sgp_{hex16}_{hex40}"),
        ("sgp_{hex9}",),
    ),
    token("clojars-token", "CLOJARS_", "[0-9a-z]{60,}", ("CLOJARS_{hex60}",), ("CLOJARS_USER",)),
    token(
        "jfrog-key",
        "AKCp cmVmdGtuOj",
        "[A-Za-z0-9]{54,}",
        ("AKCp{an69}", "cmVmdGtuOj{an54}"),
        ("AKCp{an9}",),
    ),
    token(
        "circleci-token", "CCIPAT_ CCIPRJ_", r"\w{40,}", ("CCIPAT_{an22}_{hex40}",), ("CCIPAT_X",)
    ),
    token("buildkite-token", "bkua_", "[0-9a-z]{40,}", ("bkua_{hex40}",), ("bkua_{hex9}",)),
    token(
        "sonar-token",
        "sqp_ squ_ sqa_",
        "[0-9a-f]{40,}",
        ("sqp_{hex40}", "squ_{hex40}"),
        ("sqa_x",),
    ),
)

TALK: tuple[Rule, ...] = (
    token(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp- xwfp-",
        r"[\w.%+/=-]{20,}",
        (
            "xoxb-{dig12}-{dig12}-{an24}",
            "xoxp-{dig12}-{dig12}-{dig12}-{hex32}",
            "xapp-1-A{up10}-{dig13}-{hex64}",
            "xoxe.xoxp-1-{an146}",
        ),
        ("xoxb-token", "xoxo-love"),
    ),
)

PAYMENTS: tuple[Rule, ...] = (
    token(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_ pk_live_",
        "[A-Za-z0-9]{16,}",
        ("sk_live_{an24}", "rk_live_{an99}", "sk_test_{an24}"),
        ("sk_live_key", "task_live_{an24}"),
    ),
    token(
        "square-token",
        "sq0atp- sq0csp- sq0idp- EAAA",
        r"[\w-]{22,}",
        ("sq0atp-{w22}", "sq0csp-{w43}", "EAAA{w60}"),
        ("sq0atp-{w6}", "EAAAA"),
    ),
    token(
        "shopify-token",
        "shpat_ shpca_ shppa_ shpss_ shptka_",
        "[0-9a-fA-F]{32,}",
        ("shpat_{hex32}", "shpss_{hex32}"),
        ("shpat_{hex9}",),
    ),
    token(
        "braintree-token",
        "access_token$ access_token%24",
        r"(?:production|sandbox)(?:\$|%24)[0-9a-z]{16}(?:\$|%24)[0-9a-f]{32}",
        ("access_token$production${low16}${hex32}",),
        ("access_token$production$short",),
    ),
    token(
        "razorpay-key",
        "rzp_live_ rzp_test_",
        "[A-Za-z0-9]{14,}",
        ("rzp_live_{an14}",),
        ("rzp_live_x",),
    ),
    token(
        "flutterwave-key",
        "FLWSECK FLWPUBK",
        r"[\w-]{32,}",
        ("FLWSECK_TEST-{hex32}-X", "FLWSECK-{hex32}-X"),
        ("FLWSECK_TEST",),
    ),
    token(
        "plaid-token",
        "access-production- access-development- access-sandbox-",
        _UUID,
        (f"access-production-{_MADE_UUID}",),
        ("access-production-{hex9}",),
    ),
    token("easypost-key", "EZAK EZTK", "[A-Za-z0-9]{54,}", ("EZAK{an54}",), ("EZAK{an9}",)),
)

MAIL: tuple[Rule, ...] = (
    token(
        "sendgrid-key",
        "SG.",
        r"[\w-]{16,}\.[\w-]{30,}",
        ("SG.{w22}.{w43}",),
        ("SG.module.name", "SG.{w22}"),
    ),
    token("mailgun-key", "key-", "[0-9a-f]{32}(?![A-Za-z0-9])", ("key-{hex32}",), ("key-{hex9}",)),
    token(
        "resend-key",
        "re_",
        r"[A-Za-z0-9]{8}_[A-Za-z0-9]{22,}",
        ("re_{an8}_{an24}",),
        ("re_compiled_pattern_of_names",),
    ),
    token(
        "brevo-key",
        "xkeysib- xsmtpsib-",
        "[0-9a-fA-F]{64}-[A-Za-z0-9]{16}",
        ("xkeysib-{hex64}-{an16}",),
        ("xkeysib-{hex9}",),
    ),
    token("mailersend-key", "mlsn.", "[A-Za-z0-9]{30,}", ("mlsn.{hex64}",), ("mlsn.{hex9}",)),
)

SERVICES: tuple[Rule, ...] = (
    token(
        "heroku-key", "HRKU-", r"[\w-]{36,}", (f"HRKU-{_MADE_UUID}", "HRKU-AA{w58}"), ("HRKU-x",)
    ),
    token(
        "cloudflare-origin-key",
        "v1.0-",
        "[0-9a-f]{24}-[0-9a-f]{100,}",
        ("v1.0-{hex24}-{hex146}",),
        ("v1.0-{hex24}",),
    ),
    token(
        "vercel-token",
        "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_",
        r"[\w-]{24,}",
        ("vcp_{an56}", "vck_{an56}", "vercel_blob_rw_{an16}_{an30}"),
        ("vcp_x",),
    ),
    token("netlify-token", "nfp_ nfo_ nfc_", "[A-Za-z0-9]{36,}", ("nfp_{an36}",), ("nfp_{an9}",)),
    token(
        "supabase-key",
        "sbp_ sb_secret_",
        r"[\w-]{30,}",
        ("sbp_{hex40}", "sb_secret_{w31}"),
        ("sbp_{hex9}",),
    ),
    token(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"[\w.-]{40,}",
        ("dp.pt.{an43}", "dp.st.prod.{an43}"),
        ("dp.st.name",),
    ),
    token(
        "vault-token", "hvs. hvb. hvr.", r"[\w-]{24,}", ("hvs.{w92}", "hvb.{w140}"), ("hvs.{w9}",)
    ),
    token(
        "databricks-token",
        "dapi",
        r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])",
        ("dapi{hex32}", "dapi{hex32}-2"),
        ("dapi{hex9}",),
    ),
    token(
        "newrelic-key",
        "NRAK- NRII- NRIQ- NRJS- NRSP- NRAL-",
        r"[\w-]{19,}",
        ("NRAK-{up27}", "NRII-{w32}", "NRJS-{hex19}"),
        ("NRAK-x",),
    ),
    token(
        "sentry-token",
        "sntrys_ sntryu_ sntrya_ sntryi_",
        r"[\w+/=-]{40,}",
        ("sntryu_{hex64}", "sntrys_eyJ{an80}_{b6443}"),
        ("sntryu_x",),
    ),
    token(
        "grafana-token",
        "glsa_ glc_ eyJrIjoi",
        r"[\w+/=]{32,}",
        ("glsa_{an32}_{hex8}", "glc_eyJ{an80}", "eyJrIjoi{an72}"),
        ("glsa_x",),
    ),
    token(
        "linear-key",
        "lin_api_ lin_oauth_ lin_wh_",
        "[A-Za-z0-9]{32,}",
        ("lin_api_{an40}", "lin_oauth_{hex64}"),
        ("lin_api_x",),
    ),
    token(
        "notion-token",
        "ntn_ secret_",
        "[A-Za-z0-9]{43,}",
        ("ntn_{dig11}{an35}", "secret_{an43}"),
        ("ntn_x", "secret_{an20}"),
    ),
    token("figma-token", "figd_ figo_ figu_", r"[\w-]{36,}", ("figd_{w40}",), ("figd_x",)),
    token(
        "postman-key",
        "PMAK-",
        "[0-9a-fA-F]{24}-[0-9a-fA-F]{34,}",
        ("PMAK-{hex24}-{hex34}",),
        ("PMAK-{hex24}",),
    ),
    token("pulumi-token", "pul-", "[0-9a-f]{40,}", ("pul-{hex40}",), ("pul-{hex9}",)),
    token(
        "age-key",
        "AGE-SECRET-KEY-1",
        "[A-Z0-9]{50,}",
        ("AGE-SECRET-KEY-1{up58}",),
        ("AGE-SECRET-KEY-1X",),
    ),
    token(
        "airtable-token",
        "pat",
        r"[A-Za-z0-9]{14}\.[0-9a-f]{64}",
        ("pat{an14}.{hex64}",),
        ("path{an13}.{hex20}",),
    ),
    token(
        "tailscale-key",
        "tskey-",
        r"[\w-]{24,}",
        ("tskey-auth-{an12}CNTRL-{an32}", "tskey-api-{an12}-{an30}"),
        ("tskey-auth",),
    ),
    token(
        "render-key",
        "rnd_",
        "[A-Za-z0-9]{28,}",
        ("rnd_{an32}",),
        ("rnd_{an9}", "rnd_state_of_generator"),
    ),
    token(
        "planetscale-token",
        "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_api_",
        r"[\w.=-]{32,}",
        ("pscale_tkn_{w43}", "pscale_pw_{w43}"),
        ("pscale_pw_x",),
    ),
    token("neon-key", "napi_", "[A-Za-z0-9]{60,}", ("napi_{low64}",), ("napi_create_function",)),
    token("contentful-token", "CFPAT-", r"[\w-]{43,}", ("CFPAT-{w43}",), ("CFPAT-x",)),
    token("dropbox-token", "sl.", r"[\w-]{120,}", ("sl.{w140}",), ("sl.{w20}",)),
    token(
        "hubspot-token",
        "pat-na1- pat-eu1- pat-na2-",
        _UUID,
        (f"pat-na1-{_MADE_UUID}",),
        ("pat-na1-{hex8}",),
    ),
    token("typeform-token", "tfp_", r"[\w-]{40,}", ("tfp_{w44}_{w14}",), ("tfp_x",)),
    token(
        "twilio-key",
        "SK AC",
        "[0-9a-fA-F]{32}(?![A-Za-z0-9])",
        ("SK{hex32}", "AC{hex32}"),
        ("SK{hex20}", "AC{hex40}"),
    ),
    token(
        "twitter-bearer",
        "AAAAAAAAAAAAAAAAAAAA",
        "[A-Za-z0-9%]{60,}",
        ("AAAAAAAAAAAAAAAAAAAA{an80}",),
        ("AAAAAAAAAAAAAAAAAAAA{an9}",),
    ),
    token("facebook-token", "EAA", "(?=[A-Z])[A-Za-z0-9]{90,}", ("EAAM{an150}",), ("EAAM{an20}",)),
    token(
        "mapbox-token",
        "sk.eyJ pk.eyJ tk.eyJ",
        r"[\w-]{30,}\.[\w-]{20,}",
        ("sk.eyJ{w80}.{w22}",),
        ("sk.eyJ{w9}",),
    ),
    token("launchdarkly-key", "sdk- api- mob-", _UUID, (f"sdk-{_MADE_UUID}",), ("sdk-{hex8}",)),
    token(
        "dynatrace-token",
        "dt0c01. dt0s16. dt0s02.",
        r"[A-Z0-9]{8,}\.[A-Z0-9]{32,}",
        ("dt0c01.{up24}.{up64}",),
        ("dt0c01.{up24}",),
    ),
    token("frameio-token", "fio-u-", r"[\w=-]{60,}", ("fio-u-{w64}",), ("fio-u-x",)),
    token(
        "shippo-token",
        "shippo_live_ shippo_test_",
        "[0-9a-fA-F]{40,}",
        ("shippo_live_{hex40}",),
        ("shippo_live_x",),
    ),
    token("prefect-key", "pnu_ pnb_", "[A-Za-z0-9]{36,}", ("pnu_{an36}",), ("pnu_x",)),
    token("readme-key", "rdme_", "[a-z0-9]{60,}", ("rdme_{low70}",), ("rdme_x",)),
    token(
        "onepassword-token",
        "ops_eyJ",
        r"[\w+/=-]{200,}",
        ("ops_eyJ{b64400}",),
        ("ops_eyJ{b6420}",),
    ),
    token(
        "infracost-key", "ico-", "[A-Za-z0-9]{32}(?![A-Za-z0-9])", ("ico-{an32}",), ("ico-{an9}",)
    ),
    token("zuplo-key", "zpka_", r"\w{40,}", ("zpka_{hex32}_{hex8}",), ("zpka_x",)),
    token("posthog-key", "phx_ phc_", r"\w{40,}", ("phx_{an47}",), ("phx_x",)),
    token(
        "clickhouse-key",
        "4b1d",
        "[A-Za-z0-9]{38}(?![A-Za-z0-9])",
        ("4b1d{an38}",),
        ("4b1d{hex20}",),
    ),
    # After all others, because several of them hold one.
    token(
        "jwt",
        "eyJ",
        r"[\w-]{10,}\.(?:eyJ[\w-]{8,}\.[\w-]*|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})",
        ("eyJ{w33}.eyJ{w60}.{w43}", "eyJ{w40}.{w60}.{w16}.{w80}.{w22}"),
        ("eyJ{w33}", "eyJ{w9}.txt"),
    ),
)

# Seen less often.
OTHERS: tuple[Rule, ...] = (
    token(
        "onepassword-key",
        "A3-",
        r"[A-Z0-9]{6}-[A-Z0-9-]{20,40}",
        ("A3-{up6}-{up11}-{up5}-{up5}-{up5}",),
        ("A3-{up6}",),
    ),
    token("adobe-secret", "p8e-", "[a-z0-9-]{32,}", ("p8e-{low32}",), ("p8e-x",)),
    token(
        "aikido-token",
        "AIK_CI_ AIK_CLIENT_",
        "[A-Za-z0-9]{30,}",
        ("AIK_CI_{an60}",),
        ("AIK_CI_NAME",),
    ),
    token(
        "apify-token", "apify_api_", "[A-Za-z0-9]{30,}", ("apify_api_{an36}",), ("apify_api_name",)
    ),
    token("asaas-token", "$aact_", r"[\w:=+/-]{20,}", ("x=$aact_prod_{an60}",), ("$aact_x",)),
    token(
        "bitbucket-server-token", "BBDC-", "[A-Za-z0-9=+/@_-]{30,}", ("BBDC-{w44}",), ("BBDC-x",)
    ),
    token("brave-key", "BSA", r"[\w-]{24,32}(?![\w-])", ("BSA{w27}",), ("BSA{w9}",)),
    token("buildkite-token", "bkct_ bkpt_", r"[\w-]{40,}", ("bkct_{w80}",), ("bkct_x",)),
    token("cartesia-key", "sk_car_", "[A-Za-z0-9]{18,}", ("sk_car_{an22}",), ("sk_car_x",)),
    token(
        "cloudflare-token", "cfat_ cfut_ cfk_", "[A-Za-z0-9]{40,}", ("cfat_{an48}",), ("cfat_x",)
    ),
    token("cloudsmith-key", "csa_", "[A-Za-z0-9]{36,}", ("csa_{hex30}{an6}",), ("csa_x",)),
    token("cockroach-key", "CCDB1_", r"\w{40,}", ("CCDB1_{an22}_{an40}",), ("CCDB1_x",)),
    token(
        "configcat-key",
        "configcat-sdk-1/",
        r"[\w-]{22}/[\w-]{22}",
        ("configcat-sdk-1/{w22}/{w22}",),
        ("configcat-sdk-1/x",),
    ),
    token(
        "cursor-key", "key_", "[0-9a-f]{28,}(?![A-Za-z0-9_])", ("key_{hex64}",), ("key_{hex12}",)
    ),
    token("databento-key", "db-", "[A-Za-z0-9]{29}(?![A-Za-z0-9])", ("db-{an29}",), ("db-{an9}",)),
    token(
        "datastax-token", "AstraCS:", r"[\w:+-]{20,}", ("AstraCS:{an24}:{hex64}",), ("AstraCS:x",)
    ),
    token("defined-key", "dnkey-", r"[\w=-]{60,}", ("dnkey-{w80}",), ("dnkey-x",)),
    token("deno-token", "ddp_ ddo_", "[A-Za-z0-9]{36,}", ("ddp_{an36}",), ("ddp_x",)),
    token(
        "devcycle-key",
        "dvc_server_ dvc_client_ dvc_mobile_",
        "[A-Za-z0-9_]{8,}",
        ("dvc_server_{an24}",),
        ("dvc_server",),
    ),
    token(
        "devin-key",
        "apk_ cog_",
        "[A-Za-z0-9_+/=]{44,}",
        ("cog_{low52}", "apk_user_{an90}"),
        ("apk_name",),
    ),
    token(
        "swarm-token",
        "SWMTKN-1- SWMKEY-1-",
        r"[\w+/-]{40,}",
        ("SWMTKN-1-{low50}-{low25}",),
        ("SWMTKN-1-x",),
    ),
    token(
        "duffel-token",
        "duffel_test_ duffel_live_",
        r"[\w=-]{30,}",
        ("duffel_live_{w43}",),
        ("duffel_live_x",),
    ),
    token("elastic-key", "essu_", "[A-Za-z0-9+/=]{40,}", ("essu_{an64}",), ("essu_x",)),
    token("endor-key", "endr+", "[A-Za-z0-9-]{16,}", ("x: endr+{an16}",), ("endr+x",)),
    token("gemini-key", "AQ.Ab8", r"[\w-]{40,}", ("AQ.Ab8{w47}",), ("AQ.Ab8x",)),
    token(
        "harness-key",
        "sat. pat.",
        r"[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
        ("pat.{w22}.{hex24}.{an20}",),
        ("pat.{w22}",),
    ),
    token("lichess-token", "lip_", "[A-Za-z0-9_]{16,}", ("lip_{an20}",), ("lip_x",)),
    token("llamacloud-key", "llx-", "[A-Za-z0-9]{40,}", ("llx-{an48}",), ("llx-x",)),
    token("mailgun-key", "pubkey-", "[0-9a-f]{32}", ("pubkey-{hex32}",), ("pubkey-x",)),
    token("mem0-key", "m0-", "[A-Za-z0-9]{36,}", ("m0-{an40}",), ("m0-x",)),
    token(
        "mergify-key",
        "mergify_application_key_",
        r"[\w-]{24,}",
        ("mergify_application_key_{w64}",),
        ("mergify_application_key",),
    ),
    token(
        "midtrans-key",
        "Mid-server- Mid-client-",
        r"[\w-]{16,}",
        ("Mid-server-{w24}",),
        ("Mid-server-x",),
    ),
    token("nylas-key", "nyk_", r"\w{40,}", ("nyk_v0_{an64}",), ("nyk_x",)),
    token(
        "octopus-key",
        "API-",
        "[A-Z0-9]{26,}(?![A-Za-z0-9])",
        ("API-{up26}",),
        ("API-KEY", "API-{up9}"),
    ),
    token(
        "onesignal-token",
        "os_v2_app_ os_v2_org_",
        "[a-z0-9]{60,}",
        ("os_v2_org_{low104}",),
        ("os_v2_app_x",),
    ),
    token(
        "onfido-token",
        "api_live. api_live_us. api_live_ca. api_sandbox.",
        r"[\w-]{18,}",
        ("api_live.{w44}",),
        ("api_live.x",),
    ),
    token(
        "paddle-key",
        "pdl_live_apikey_ pdl_sdbx_apikey_",
        r"\w{40,}",
        ("pdl_live_apikey_{low26}_{an22}_{an3}",),
        ("pdl_live_apikey_x",),
    ),
    token(
        "packagist-token",
        "packagist_ort_ packagist_out_ packagist_acs_ packagist_uut_",
        "[0-9a-f]{60,}",
        ("packagist_ort_{hex68}",),
        ("packagist_ort_x",),
    ),
    token(
        "persona-key",
        "persona_production_ persona_sandbox_",
        r"[\w-]{20,}",
        ("persona_production_{w36}",),
        ("persona_production_x",),
    ),
    token("pinterest-token", "pina_", "[A-Za-z0-9]{20,}", ("pina_{an32}",), ("pina_x",)),
    token(
        "polar-token",
        "polar_at_ polar_oat_ polar_pat_ polar_rt_",
        "[A-Za-z0-9_]{20,}",
        ("polar_oat_{an43}",),
        ("polar_oat_x",),
    ),
    token("postman-key", "PMAT-", "[A-Z0-9a-z]{26,}", ("PMAT-{an26}",), ("PMAT-x",)),
    token("runpod-key", "rpa_", "[A-Za-z0-9]{30,}", ("rpa_{up46}",), ("rpa_x",)),
    token("rootly-key", "rootly_", "[0-9a-f]{60,}", ("rootly_{hex64}",), ("rootly_x",)),
    token(
        "samsara-token",
        "samsara_api_",
        "[A-Za-z0-9]{26,}",
        ("samsara_api_{an30}",),
        ("samsara_api_x",),
    ),
    token("scalingo-token", "tk-us-", r"[\w-]{44,}", ("tk-us-{w48}",), ("tk-us-x",)),
    token(
        "settlemint-token",
        "sm_aat_ sm_pat_ sm_sat_",
        "[A-Za-z0-9]{16,}",
        ("sm_aat_{an16}",),
        ("sm_aat_x",),
    ),
    token("thunderstore-token", "tss_", "[A-Za-z0-9]{20,}", ("tss_{an24}",), ("tss_x",)),
    token("unkey-key", "unkey_", "[A-Za-z0-9]{18,}", ("unkey_{an20}",), ("unkey_x",)),
    token("upcloud-token", "ucat_", "[A-Z0-9a-z]{24,}", ("ucat_{up26}",), ("ucat_x",)),
    token("valtown-token", "vtwn_", "[A-Za-z0-9]{20,}", ("vtwn_{an27}",), ("vtwn_x",)),
    token("wakatime-key", "waka_", r"[\w-]{36,}", ("waka_{low50}",), ("waka_x",)),
    token(
        "woocommerce-key",
        "cs_ ck_",
        "[0-9a-f]{40}(?![A-Za-z0-9])",
        ("cs_{hex40}", "ck_{hex40}"),
        ("cs_{hex9}",),
    ),
    token(
        "xendit-key",
        "xnd_production_ xnd_development_",
        r"\w{36,}",
        ("xnd_production_{an60}",),
        ("xnd_production_x",),
    ),
)

# Their bodies are base64, whose other signs break them into short runs.
BROKEN: tuple[Rule, ...] = (
    token(
        "aws-session-token",
        "FwoGZXIvYXdz IQoJb3JpZ2lu",
        "[A-Za-z0-9+/=]{60,}",
        ("FwoGZXIvYXdz{b64180}", "IQoJb3JpZ2lu{b64300}"),
        ("IQoJb3JpZ2lu{b6420}",),
    ),
    token("aws-api-key", "ABSK", "[A-Za-z0-9+/=]{100,}", ("ABSK{b64120}",), ("ABSK{b6440}",)),
    token(
        "fly-token",
        "fm1r_ fm2_",
        r"[\w+/=-]{40,}",
        ("fm2_{b64160}", "fm1r_{b64160}"),
        ("fm2_x",),
    ),
    token("webhook-secret", "whsec_", "[A-Za-z0-9+/=]{24,}", ("whsec_{an32}",), ("whsec_{an9}",)),
)

# What is telling stands inside.
INSIDE: tuple[Rule, ...] = (
    Rule(
        "azure-client-secret",
        ("7Q~", "8Q~"),
        GUARD + r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}",
        ("{an3}8Q~{an34}",),
        ("{an3}8Q~{an9}",),
        before=3,
    ),
    Rule(
        "terraform-token",
        (".atlasv1.",),
        GUARD + r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}",
        ("{an14}.atlasv1.{w67}",),
        ("{an14}.atlasv1.{w9}",),
        before=14,
        left=ALNUM,
    ),
    Rule(
        "telegram-token",
        (":AA", "%3AAA"),
        rf"(?:{GUARD}|(?<=/bot))\d{{8,10}}(?::|%3A)AA[\w-]{{32,34}}(?![\w-])",
        ("{dig10}:AA{w33}", "https://api.telegram.org/bot{dig10}:AA{w33}/getMe"),
        ("{dig10}:AA{w9}", "{dig10}:BB{w33}"),
        before=10,
        left=DIGITS,
    ),
    Rule(
        "mailchimp-key",
        ("-us",),
        GUARD + r"[0-9a-f]{32}-us\d{1,2}(?![\w-])",
        ("{hex32}-us12",),
        ("{hex32}-usage", "en-us"),
        before=32,
        left=HEX,
    ),
)

TOKEN_RULES: tuple[Rule, ...] = (
    *CLOUDS,
    *MODELS,
    *CODE_HOSTS,
    *TALK,
    *PAYMENTS,
    *MAIL,
    *SERVICES,
    *OTHERS,
    *BROKEN,
    *INSIDE,
)
