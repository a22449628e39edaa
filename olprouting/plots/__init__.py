"""Floor 5, one figure per module."""
