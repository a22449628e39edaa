"""Floor 5, the command line."""
