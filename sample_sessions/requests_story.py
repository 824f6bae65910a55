"""What a client sent to a chat model while it looked for trains for two, one of them a cello.

A request repeats all that was said before it. So does one that tries another way: it repeats
what it goes back to.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import json
from hashlib import sha256

Body = dict[str, object]
"""A JSON object whose keys keep the order in which they were given."""

Call = tuple[str, Body]
"""The name of a tool and its arguments."""


def says(role: str, content: str) -> Body:
    """A message of words."""
    return {"role": role, "content": content}


def calls(*wanted: Call) -> Body:
    """A message of the model that wants tools to be called."""
    functions = [{"name": name, "arguments": compact(given)} for name, given in wanted]
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": call_id(*each), "type": "function", "function": function}
            for each, function in zip(wanted, functions, strict=True)
        ],
    }


def answers(call: Call, content: object) -> Body:
    """A message with what a call gave."""
    return {"role": "tool", "tool_call_id": call_id(*call), "content": compact(content)}


def call_id(name: str, arguments: Body) -> str:
    """An id that looks like one of a provider, and is the same each time."""
    return f"call_{sha256(compact([name, arguments]).encode()).hexdigest()[:24]}"


def tool(name: str, description: str, **types: str) -> Body:
    """A tool declaration; all parameters must be given."""
    parameters: Body = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in types.items()},
        "required": list(types),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def request(model: str, messages: list[Body]) -> Body:
    """A request body, with its keys in the order in which OpenAI's client sends them."""
    return {"model": model, "messages": messages, "temperature": 0.2, "tools": TOOLS}


def compact(value: object) -> str:
    """JSON as clients send it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- The story: a seat for the cello -----------------------------------------------------------

SMALL, LARGE = "example-small", "example-large"

TOOLS = [
    tool(
        "find_connections",
        "Find train connections. Times are local.",
        origin="string",
        destination="string",
        leave_after="string",
        arrive_before="string",
    ),
    tool(
        "luggage_rules",
        "What may be taken along on a leg of a connection.",
        connection="string",
        leg="integer",
    ),
    tool(
        "hold_seats",
        "Hold seats side by side, for an hour. Costs nothing.",
        connection="string",
        leg="integer",
        car="integer",
        seats="integer",
    ),
]

OPENING = [
    says(
        "system",
        "You find train connections. Look up the luggage rules of a leg before you hold seats on "
        "it. You cannot buy tickets. Answer in few words.",
    ),
    says(
        "user",
        "My cello and I must be in Trieste on Friday by noon. We start in Lyon, on Thursday, not "
        "before nine. The cello is 135 cm in its case and travels on a seat of its own.",
    ),
]

SEARCH: Call = (
    "find_connections",
    {
        "origin": "Lyon",
        "destination": "Trieste",
        "leave_after": "Thu 09:00",
        "arrive_before": "Fri 12:00",
    },
)
CONNECTIONS = [
    {
        "id": "day",
        "legs": ["Lyon 09:34 - Modane 11:52", "Modane 12:20 - Torino 14:50", "Torino - Trieste"],
        "arrives": "Thu 21:02",
        "eur": 118,
    },
    {
        "id": "night",
        "legs": ["Lyon 13:10 - Zürich 18:15", "Zürich 20:40 - Villach 06:12", "Villach - Trieste"],
        "arrives": "Fri 09:50",
        "eur": 214,
    },
    {
        "id": "late",
        "legs": ["Lyon 16:04 - Milano 22:37", "Milano Fri 06:15 - Trieste 10:57"],
        "arrives": "Fri 10:57",
        "eur": 149,
    },
]
COACH: Call = ("luggage_rules", {"connection": "day", "leg": 2})
SLEEPER: Call = ("luggage_rules", {"connection": "night", "leg": 2})
LAST_LEG: Call = ("luggage_rules", {"connection": "night", "leg": 3})
HOLD_FULL: Call = ("hold_seats", {"connection": "night", "leg": 2, "car": 261, "seats": 2})
HOLD: Call = ("hold_seats", {"connection": "night", "leg": 2, "car": 263, "seats": 2})

OFFER = """\
Three ways, prices for two seats:

1. **Day**, 118 EUR: Thursday 09:34 to 21:02, by Torino
2. **Night**, 214 EUR: Thursday 13:10 to Friday 09:50, one night on the train from Zürich
3. **Late**, 149 EUR: Thursday 16:04 to Friday 10:57, one night in Milano

Which one shall I look into?"""


def requests_story() -> bytes:
    """Gives the request bodies in the order in which they were sent, a line each."""
    found = [*OPENING, calls(SEARCH), answers(SEARCH, CONNECTIONS)]
    # The small model takes the cheapest without asking, and ends in a coach.
    coach = {"vehicle": "coach in place of the train", "longest_item_cm": 90}
    day = [*found, calls(COACH), answers(COACH, coach)]
    # From the same prefix the large model asks. Two answers to it are tried.
    offered = [*found, says("assistant", OFFER)]
    cheapest = [*offered, says("user", "The cheapest that takes a cello.")]
    night = [*offered, says("user", "The night train. The cello sleeps beside me.")]
    rules = [
        *night,
        calls(SLEEPER, LAST_LEG),
        answers(SLEEPER, {"vehicle": "train with seats and berths", "longest_item_cm": 150}),
        answers(LAST_LEG, {"vehicle": "train", "longest_item_cm": 150}),
    ]
    full = {"error": "no two seats side by side are left in car 261; car 263 has four"}
    refused = [*rules, calls(HOLD_FULL), answers(HOLD_FULL, full)]
    seats = {"car": 263, "seats": ["71", "72"], "held_until": "18:40"}
    held = [*refused, calls(HOLD), answers(HOLD, seats)]

    sent = [request(SMALL, messages) for messages in (OPENING, found, day)]
    sent += [request(LARGE, messages) for messages in (cheapest, night, rules, refused, held)]
    return "".join(f"{compact(body)}\n" for body in sent).encode()
