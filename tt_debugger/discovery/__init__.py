"""Discovery: which sessions lie at a location, or wherever agents keep them."""

from tt_debugger.discovery.finding import READ_AT_ONCE, Discovery, Left
from tt_debugger.discovery.places import EVERYWHERE
from tt_debugger.discovery.reading import Read, read, read_with_newest, session_of

__all__ = [
    "EVERYWHERE",
    "READ_AT_ONCE",
    "Discovery",
    "Left",
    "Read",
    "read",
    "read_with_newest",
    "session_of",
]
