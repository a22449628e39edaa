"""Parts of `sqrt_b_log_g.py`: what is run, what is estimated, and how it is shown."""
