"""Run the notebooks in place and store them as they are kept: executed, without what changes.

Machine, versions and times of a run stay out, so that running again changes nothing but what the
code changed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
TIMEOUT_S = 600
"""Most that a cell may take: a cold machine compiles the routing kernels first."""
FIGURE = "image/svg+xml"
BANNER = re.compile(r"Running HiGHS .*\n.*third-party.*\n?")
"""With its version, once per process, before any option can stop it."""


def run(notebook: Any) -> None:
    """Execute a notebook in this folder; its outputs are replaced.

    Raises
    ------
    CellExecutionError
        If a cell fails.
    """
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()


def tidy(notebook: Any) -> None:
    """Leave out of a notebook what differs from run to run or from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags, "jupyter": {"source_hidden": True}} if tags else {}
        if cell.cell_type == "code":
            cell.outputs = [shown for shown in joined(cell.outputs) if shown.get("text") != ""]
            for output in cell.outputs:
                if FIGURE in output.get("data", {}):
                    output.data[FIGURE] = same_every_time(output.data[FIGURE], cell.id)


def joined(outputs: list[Any]) -> list[Any]:
    """Return outputs with printed text in one piece: in how many it comes is chance."""
    pieces: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and pieces and pieces[-1].get("name") == output.name:
            pieces[-1].text += output.text
        else:
            pieces.append(output)
    for output in pieces:
        if output.output_type == "stream":
            output.text = BANNER.sub("", output.text)
    return pieces


def same_every_time(svg: str, cell: str) -> str:
    """Return a figure without time and version, and with names that no other figure has."""
    svg = re.sub(r" *<metadata>.*?</metadata>\n?", "", svg, flags=re.DOTALL)
    drawn = dict.fromkeys(re.findall(r'id="(\w+)"', svg))
    names = {name: f"{cell}-{number}" for number, name in enumerate(drawn)}
    return re.sub(
        r'(id="|href="#|url\(#)(\w+)',
        lambda found: found[1] + names.get(found[2], found[2]),
        svg,
    )


def main(names: list[str]) -> int:
    """Run the notebooks of these file names, or all; return the exit code."""
    known = sorted(path.name for path in FOLDER.glob("*.ipynb"))
    for name in names:
        if name not in known:
            sys.stderr.write(f"no notebook {name!r}; there are {', '.join(known)}\n")
            return 2
    for name in names or known:
        notebook = nbformat.read(FOLDER / name, as_version=4)
        run(notebook)
        tidy(notebook)
        nbformat.write(notebook, FOLDER / name)
        sys.stdout.write(f"{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
