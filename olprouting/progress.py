"""How long work says how far it is."""

from collections.abc import Callable
from typing import Final

OnProgress = Callable[[str, int, int], None]
"""Called with (what is being done, units done, units in all). What is done begins with its stage,
``run``, ``solve``, ``prove`` or ``write``; what stands after a colon may change within it."""

ON_COMPILATION: Final[list[OnProgress]] = []
"""Called with (kernel, kernels compiled, kernels there are) as each kernel begins to be compiled,
and with an empty name when all that was asked for is ready. Code from the cache is not counted."""
