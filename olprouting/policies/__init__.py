"""Floor 3, routing rules."""
