"""Values and functions on them: no I/O, no clock, no randomness."""
