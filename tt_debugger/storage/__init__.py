"""How bytes and rows are reached; nothing here knows a format."""
