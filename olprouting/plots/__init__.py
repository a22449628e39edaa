"""Figures: tables in, axes out. They know nothing of the rest of the package.

The names stand in ``__init__.pyi`` and are loaded when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
