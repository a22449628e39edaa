"""Pages as a browser shows them: what a script finds on one, in Chromium without a window."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

_FRAME = """<!DOCTYPE html><title>nothing</title>
<iframe src="{address}" style="width: {width}px; height: 800px; border: 0"></iframe>
<script>
const ask = async () => {{
  const page = document.querySelector("iframe").contentWindow;
  for (let n = 0; n < 200 && !(await page.eval({ready})); n++)
    await new Promise(next => setTimeout(next, 50));
  document.title = JSON.stringify(page.eval({question}));
}};
onload = () => ask().catch(error => document.title = JSON.stringify(String(error)));
</script>"""


def asked(
    page: str | Path, question: str, folder: Path, *, width: int = 1000, ready: str = "true"
) -> Any:
    """Return what an expression in JavaScript says of a page.

    Parameters
    ----------
    page
        The page's text, or its file.
    question
        The expression; its value must be plain.
    folder
        For files of the browser.
    width
        Of the window, in pixels.
    ready
        Another expression: whether the page is complete.
    """
    if isinstance(page, str):
        (folder / "asked.html").write_text(page, encoding="utf-8")
        page = folder / "asked.html"
    frame = folder / "frame.html"
    frame.write_text(
        _FRAME.format(
            address=page.as_uri(),
            width=width,
            ready=json.dumps(ready),
            question=json.dumps(question),
        ),
        encoding="utf-8",
    )
    assert CHROMIUM is not None
    shown = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--allow-file-access-from-files",
            f"--user-data-dir={folder / 'profile'}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            frame.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    title = re.search("<title>(.*?)</title>", shown, re.DOTALL)
    assert title is not None
    return json.loads(html.unescape(title.group(1)))
