"""The reward of a trace in hindsight: Lagrangian bounds, and schedules close to them."""
