"""Recordings: what a recorder writes of a session, entry by entry, and how a state comes of it."""
