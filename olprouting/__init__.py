"""Routing of LLM requests to decode workers: exact models, fast policies, and the gap between them.

The names stand in ``__init__.pyi`` and are loaded when first used, so that
``import olprouting as olp`` is quick.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
