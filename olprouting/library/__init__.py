"""The instance library: named problems with their best known values."""

from olprouting.library.catalogue import (
    Entry,
    Instance,
    best_known,
    entries,
    instance_names,
    load_instance,
)

__all__ = ["Entry", "Instance", "best_known", "entries", "instance_names", "load_instance"]
