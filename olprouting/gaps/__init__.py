"""Floor 4, how far routing rules are from the proven optimum."""
