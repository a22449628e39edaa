"""The API reference: built by one command, complete, without broken links."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import olprouting

ROOT = Path(__file__).resolve().parents[1]


class Page(HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    command = [sys.executable, ".ci/api_reference.py", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}


def test_every_public_name_has_its_place(pages) -> None:
    """Catches names that are loaded on demand and that the reference therefore leaves out."""
    front = next(page for path, page in pages.items() if path.name == "olprouting.html")
    names = {path.name for path in pages}
    rooms = {name for name in olprouting.__all__ if f"{name}.html" in names}
    assert rooms >= {"exact", "models", "prices"}
    assert set(olprouting.__all__) - rooms <= front.anchors
    assert {"engine.html", "period_lp.html", "imbalance_size_class.html"} <= names


def test_no_link_is_broken(pages) -> None:
    """Catches pages and anchors that are linked to and missing."""
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target not in pages or (
                parts.fragment and parts.fragment not in pages[target].anchors
            ):
                broken.append((path.name, link))
    assert not broken
