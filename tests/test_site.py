"""The site: built without a warning, complete, without broken links, readable on a telephone."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import asked, needs_browser

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
        if tag in ("a", "img") and (link := values.get("href") or values.get("src")):
            self.links.append(link)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built anew."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_public_name_command_lesson_and_finding_has_its_place(site, pages) -> None:
    """Catches names that are loaded on demand, and pages that nothing leads to."""
    anchors = set().union(*(page.anchors for page in pages.values()))
    for name in set(olprouting.__all__) - {"__version__"}:
        assert anchors & {f"olprouting.{name}", f"module-olprouting.{name}"}, name
    names = {path.relative_to(site).as_posix() for path in pages}
    for folder, part in (("notebooks", "lessons"), ("experiments/pages", "findings")):
        for file in (ROOT / folder).iterdir():
            if file.suffix in (".md", ".ipynb") and file.name != "README.md":
                assert f"generated/{part}/{file.stem}.html" in names
    commands = (site / "generated" / "commands.html").read_text(encoding="utf-8")
    assert all(f"olprouting {name}" in commands for name in ("gaps", "study run", "traces fetch"))


def test_no_link_is_broken(pages) -> None:
    """Catches pages, pictures and anchors that are linked to and missing."""
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append(f"{path.name}: {link}")
            elif target in pages and parts.fragment and path.name != "genindex.html":
                known = pages[target].anchors | {""}
                if unquote(parts.fragment) not in known:
                    broken.append(f"{path.name}: {link}")
    assert broken == []


@needs_browser
@pytest.mark.parametrize("width", [1200, 400])
def test_no_page_is_wider_than_the_window(site, tmp_path, width) -> None:
    """Catches a table or figure that makes readers scroll sideways."""
    for name in ("index", "mathematics", "generated/commands", "generated/findings/routers"):
        wide = asked(
            site / f"{name}.html",
            "document.documentElement.scrollWidth",
            tmp_path,
            width=width,
        )
        assert wide <= width, name
