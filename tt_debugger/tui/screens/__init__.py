"""One file a screen, with its styles beside it."""
