"""Native exact solver."""

from olprouting.exact.native.backend import Native

__all__ = ["Native"]
