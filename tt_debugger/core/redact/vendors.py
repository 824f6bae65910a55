"""Vendors whose tokens have no shape of their own: one is known only by the name before it."""

from __future__ import annotations

import re

from tt_debugger.core.redact.literals import any_of
from tt_debugger.core.redact.words import words

VENDOR_RULE = "vendor-key"

VENDORS = words(
    "abuseipdb adafruit adobe aiven airtable algolia asana assemblyai auth0 bitbucket bitly "
    "bitrise bittrex brave-search cloudflare codecov cohere coinbase confluent contentful "
    "contentstack coveralls databento datadog deepgram deepseek discord disqus droneci fastly "
    "facebook finicity finnhub flickr freshbooks gitea gitter gocardless greptile gumroad heroku "
    "honeycomb hubspot infomaniak intercom jumpcloud klaviyo kraken kucoin launchdarkly linkedin "
    "linode looker mailgun mailchimp mattermost meraki messagebird mistral netlify new-relic "
    "ngrok okta openweather opsgenie pagerduty paypal pinterest plaid postmark "
    "privateai pusher rapidapi rollbar sendbird sentry snyk splunk squarespace sslmate sumologic "
    "telnyx travisci trello twilio twitch twitter upstage vercel virustotal vultr wakatime "
    "weatherstack weightsandbiases wandb zendesk zoho"
)
"""Names that stand in no text but for their vendor: no `box`, no `linear`, no `segment`."""

VENDORS_BY_NAME = words("elastic hetzner jira railway segment stability together travis")
"""Names that are words too: of a vendor only in the name of a key."""

BEFORE = frozenset(b"=:>|,\"' ")
"""What may stand right before a value that is given."""
REACH = 48

NAMED = re.compile(
    any_of(
        sorted({each.replace("-", sign) for each in VENDORS for sign in ("-", "_", "")})
    ).encode()
    + rb"[a-z0-9_.-]{0,20}[\"'\]]{0,2}[ \t]{0,4}(?:=>|:=|[|]{2}|[?:=]{1,3}=|[=:>,])"
    rb"[ \t]{0,4}[\"'`]?\Z"
)
"""A vendor's name, whatever it is the name of there, and the sign that gives it a value."""

VALUE = re.compile(r"(?=[A-Za-z_.+/=~-]{0,64}\d)[\w.+/=~-]{16,}", re.ASCII)
