"""Redaction: what must not leave with an export, and what stands in its place."""
