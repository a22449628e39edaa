"""The site: sphinx-build -W docs build/site."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generated_pages import with_site_links, write_pages

import olprouting

project = "olprouting"
author = "The authors of olprouting"
version = release = olprouting.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["pictures", "generated/front.md"]

html_theme = "furo"
html_title = "olprouting"
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False

myst_enable_extensions = ["amsmath", "attrs_inline", "deflist", "dollarmath", "html_image"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the lessons are stored with their outputs; tests run them
nb_merge_streams = True

math_number_all = False
numfig = True

napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say shapes, units and ranges
autosummary_generate = True

# what the lessons say to Jupyter alone, and files that are in the repository and not on the site
suppress_warnings = ["mystnb.mime_priority"]

HERE = Path(__file__).resolve().parent
write_pages(HERE)


def link_to_pages(app, name, source):  # noqa: D103 - Sphinx's
    if "generated" not in name:
        source[0] = with_site_links(source[0], HERE)


def show_formulas(app, what, name, obj, options, lines):
    """Show the indented formulas of the models as they are written."""
    if not name.startswith("olprouting.models."):
        return
    shown = []
    for line in lines:
        before = next((one for one in reversed(shown) if one), "")
        if line.startswith("    ") and not before.startswith("    "):
            shown += ["::", ""]
        shown.append(line)
    lines[:] = shown


def setup(app):  # noqa: D103 - Sphinx's
    app.connect("source-read", link_to_pages)
    app.connect("autodoc-process-docstring", show_formulas)
