"""One file a command; each holds a `command`."""
