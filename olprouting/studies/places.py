"""Where in a study file something stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = re.compile(r"^\s*\[+\s*([\w.\"'-]+)\s*\]+")
_KEY = re.compile(r"^\s*([\w.\"'-]+)\s*=")


def line_of(text: str, message: str, *, in_reduced: bool) -> str:
    """Return ``, line N`` for the line of a file that a message is about, or nothing.

    Parameters
    ----------
    text
        The file.
    message
        The message: it quotes what is wrong, or begins with the name of the key.
    in_reduced
        Whether the trouble is in the ``[reduced]`` table.
    """
    lines = list(_lines(text, in_reduced=in_reduced))
    about = message.split("; ")[0]
    for word in [*re.findall(r"'([^']+)'", about), re.split(r"[\s:]", message)[0]]:
        for number, keys, _ in lines:
            if word in keys:
                return f", line {number}"
        for number, _, line in lines:
            if re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", line):
                return f", line {number}"
    return ""


def _lines(text: str, *, in_reduced: bool) -> Iterator[tuple[int, set[str], str]]:
    """Yield number, the parameter's names that its key may stand for, and text of every line."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0]
        if header := _HEADER.match(code):
            table = header[1]
        if (table.split(".")[0] == "reduced") is not in_reduced:
            continue
        key = _KEY.match(code)
        name = re.sub("[\"']", "", key[1]) if key else ""
        inner = f"{table.rpartition('.')[2]}.{name}"
        yield number, {name, inner, name.partition(".")[2]} - {""}, code
