"""Floor 1, where requests come from: readers, synthetic traces, arrival modes, public catalogue."""
