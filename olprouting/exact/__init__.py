"""Floor 2, the proven optimum of a routing decision, by any solver."""
