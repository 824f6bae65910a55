"""Results as Rich renderables, shared by the command line and the UI."""
