"""Pages of the site that are made from the code and from the other folders of the repository."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from typer.main import get_command

import olprouting
from olprouting import options
from olprouting.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#|/generated)([^)\s]+)\)")
PAGES = {
    ROOT / "experiments" / "README.md": "/generated/findings/index.md",
    ROOT / "notebooks" / "README.md": "/generated/lessons/index.md",
    ROOT / "CONTRIBUTING.md": "/generated/contributing.md",
    ROOT / "CHANGELOG.md": "/generated/changelog.md",
}


def write_pages(docs: Path) -> None:
    """Write all of them to `docs`/generated, anew."""
    target = docs / "generated"
    shutil.rmtree(target, ignore_errors=True)
    pictures = target / "pictures"
    pictures.mkdir(parents=True)
    front = _moved(ROOT / "README.md", pictures).partition("\n## By hand")[0]
    pages = {
        "front.md": front,
        "commands.md": _commands(),
        "options.md": _options(),
        "api.md": _api(),
    }
    for folder, source in (("lessons", "notebooks"), ("findings", "experiments/pages")):
        (target / folder).mkdir(parents=True)
        for file in sorted((ROOT / source).iterdir()):
            if file.suffix == ".ipynb":
                shutil.copy(file, target / folder)
            elif file.suffix == ".md":
                pages[f"{folder}/{file.name}"] = _moved(file, pictures)
    pages["findings/index.md"] = _with_contents(
        _moved(ROOT / "experiments" / "README.md", pictures)
    )
    pages["lessons/index.md"] = _with_contents(_moved(ROOT / "notebooks" / "README.md", pictures))
    for name in ("CONTRIBUTING", "CHANGELOG"):
        pages[f"{name.lower()}.md"] = _moved(ROOT / f"{name}.md", pictures)
    for name, text in pages.items():
        (target / name).write_text(text, encoding="utf-8")


def _moved(file: Path, pictures: Path) -> str:
    """Return a page of the repository with the links of the site, its pictures copied."""
    for name in re.findall(r"\]\(([^)\s]+\.png)\)", text := file.read_text(encoding="utf-8")):
        shutil.copy(file.parent / name, pictures)
    return with_site_links(text, file.parent)


def with_site_links(text: str, folder: Path) -> str:
    """Return the text of a page in `folder`; links to what is no page of the site become words."""

    def link(match: re.Match[str]) -> str:
        words, place = match.groups()
        target = (folder / place.partition("#")[0]).resolve()
        if target.suffix == ".png":
            return f"[{words}](/generated/pictures/{target.name})"
        if target in PAGES:
            return f"[{words}]({PAGES[target]})"
        for source, part in (("experiments/pages", "findings"), ("notebooks", "lessons")):
            if target.parent == ROOT / source and target.suffix in (".md", ".ipynb"):
                return f"[{words}](/generated/{part}/{target.name})"
        if target.parent == ROOT / "docs":
            return f"[{words}](/{target.name})"
        return str(words)

    return LINK.sub(link, text)


def _with_contents(text: str) -> str:
    return f"{text}\n```{{toctree}}\n:hidden:\n:glob:\n\n*\n```\n"


def _commands() -> str:
    """Return what every command says of itself under --help."""
    root = get_command(app)
    parts = ["# Every command and option\n"]
    for path, command in _all_commands("olprouting", root):
        context = click.Context(command, info_name=path, terminal_width=88)  # type: ignore[arg-type]
        parts.append(f"## {path}\n\n{command.help or ''}\n\n{_option_table(command, context)}")
    return "\n".join(parts)


def _all_commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        yield path, command
        return
    for name, subcommand in subcommands.items():
        yield from _all_commands(f"{path} {name}", subcommand)


def _option_table(command: Any, context: Any) -> str:
    lines = ["| option | meaning | default |", "|---|---|---|"]
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        name = " ".join(f"`{text}`" for text in parameter.opts)
        shown = getattr(parameter, "show_default", True) and parameter.default is not None
        default = f"`{parameter.default}`" if shown else ""
        lines.append(f"| {name} | {_cell(getattr(parameter, 'help', '') or '')} | {default} |")
    return "\n".join(lines) + "\n"


def _options() -> str:
    """Return a table per class of options, as Python and study files know them."""
    parts = ["# Options in Python and in study files\n"]
    parts.append("The command line, study files and Python take the same names and ranges.\n")
    for name in options.__all__:
        chosen = getattr(options, name)
        known = getattr(chosen, "parameters", None)
        if not known:
            continue
        parts.append(
            f"## {name}\n\n| name | meaning | default | range | unit |\n|---|---|---|---|---|"
        )
        for one in known.values() if hasattr(known, "values") else known:
            words = _cell(f"{one.help} {one.details}".strip())
            parts.append(
                f"| `{one.name}` | {words} | `{one.default}` | {_cell(one.range)} | {one.unit} |"
            )
        parts.append("")
    return "\n".join(parts)


def _api() -> str:
    """Return the list of public names; autosummary writes a page for each."""
    functions = [name for name in olprouting.__all__ if not name.startswith("_")]
    listed = "\n".join(f"olprouting.{name}" for name in functions)
    models = "\n".join(
        f"olprouting.models.{file.stem}"
        for file in sorted((ROOT / "models").glob("*.py"))
        if file.stem != "__init__"
    )
    return (
        "# Python API\n\n`import olprouting as olp`; names are loaded when they are first used.\n\n"
        f"```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n\n{_indented(listed)}\n```\n\n"
        "## Models\n\nThe algebra: numbers in, model out.\n\n"
        f"```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n\n{_indented(models)}\n```\n"
    )


def _indented(lines: str) -> str:
    return "\n".join(f"   {line}" for line in lines.splitlines())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
