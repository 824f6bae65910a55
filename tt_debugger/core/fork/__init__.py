"""Forks: what a new branch is made of, before a byte of it is written."""
