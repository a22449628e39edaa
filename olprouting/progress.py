"""How long work says how far it is."""

from collections.abc import Callable

OnProgress = Callable[[str, int, int], None]
"""Called with (what is being done, units done, units in all)."""
