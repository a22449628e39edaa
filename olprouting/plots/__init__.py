"""Figures: tables in, axes out. They know nothing of the rest of the package."""
