"""The algebra: one module per mathematical model. Numbers in, model out."""
