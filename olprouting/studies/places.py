"""Where in a study file something stands."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*\[+\s*([\w.\"'-]+)\s*\]+")
_KEY = re.compile(r"^\s*([\w.\"'-]+)\s*=")


def line_of(text: str, message: str, *, in_reduced: bool) -> str:
    """Return ``, line N`` for the first key of a file that a message names, or nothing.

    Parameters
    ----------
    text
        The file.
    message
        The message.
    in_reduced
        Whether the trouble is in the ``[reduced]`` table.
    """
    words = set(re.findall(r"[\w.]+", message.split(";")[0].split("known:")[0]))
    found = ""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[1]
        elif (key := _KEY.match(line)) and (table.split(".")[0] == "reduced") == in_reduced:
            name = key[1].replace('"', "").replace("'", "")
            if not found and (name in words or _dotted(table, name) & words):
                found = f", line {number}"
    return found


def _dotted(table: str, name: str) -> set[str]:
    """Return the parameter's names that a key may stand for, such as ``weights.zeta2``."""
    return {f"{table.rpartition('.')[2]}.{name}", name.partition(".")[2]}
