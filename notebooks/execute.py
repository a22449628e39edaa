"""Run the notebooks in place and store them as they are kept: executed, without what changes.

Machine, versions and times of a run stay out, so that running again changes nothing but what the
code changed.
"""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).resolve().parent
TIMEOUT_S = 600
"""Most that a cell may take: a cold machine compiles the routing kernels first."""
COLOURS = 256
"""Of a stored figure: enough for lines and their soft edges, and a third of the bytes."""


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
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                image = base64.b64decode(output.data["image/png"])
                output.data["image/png"] = base64.b64encode(small(image)).decode()


def small(png: bytes) -> bytes:
    """Return a figure with fewer colours, and without the text in which Matplotlib names itself."""
    out = io.BytesIO()
    drawn = Image.open(io.BytesIO(png)).convert("RGB")
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


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
