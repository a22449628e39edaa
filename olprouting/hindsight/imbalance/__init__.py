"""The imbalance of a run in hindsight: the least that a maximal policy must leave."""
