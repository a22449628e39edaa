"""The instance library: named problems with their best known values."""

from olprouting.library.catalogue import (
    Entry,
    Instance,
    best_known,
    entries,
    instance_names,
    load_instance,
)
from olprouting.library.examples import copy_lessons, example, example_names

__all__ = [
    "Entry",
    "Instance",
    "best_known",
    "copy_lessons",
    "entries",
    "example",
    "example_names",
    "instance_names",
    "load_instance",
]
