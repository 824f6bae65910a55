"""Widgets: each shows one value and speaks through messages."""
