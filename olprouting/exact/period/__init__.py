"""Floor 2, one period of the batch/KV model: optimum, bound and prices, by any solver."""
