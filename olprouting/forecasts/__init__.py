"""Floor 2, forecasts of when active requests complete."""
