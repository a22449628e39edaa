"""Floor 3, the barrier model: replay a trace under a routing rule."""
