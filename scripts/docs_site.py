"""MkDocs hooks of the documentation's site: pages from outside ``docs/``, the API's pages, and links between them.

The pages are written for readers of the repository: links lead from file to file. The site shows README.md as its
home, and rewrites each link to the page that shows the file.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent

OUTSIDE_PAGES = {
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docker/README.md": "docker.md",
}
"""Pages that stand outside ``docs/``: the file's path in the repository, and its path in the site."""

API_MODULES = [
    "codeplan",
    "codeplan.types",
    "codeplan.tools",
    "codeplan.flows",
    "codeplan.bench",
    "codeplan.sandbox",
    "codeplan.testing",
    "codeplan.envs",
    "codeplan.methods",
    "codeplan.llm",
    "codeplan.recording",
    "codeplan.skills",
]
"""The modules that users import from; each has a page with the names of its ``__all__``."""

FIRST_NAMES = ("do", "run", "Session", "Toolset", "tool", "check", "execute", "resume", "replay", "fork", "approve")
"""The names that a reader meets first, wherever a module has them."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^\s*(```|~~~)")
_LIST_ITEM = re.compile(r"(?:[-*] |\d+\. |\|)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that have no file in ``docs/``."""
    from mkdocs.structure.files import File

    for source, target in OUTSIDE_PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text("utf-8")))
    for module in API_MODULES:
        files.append(File.generated(config, api_page(module), content=api_text(module)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Make a page of the repository a page of the site."""
    site_path = page.file.src_uri
    source = next((s for s, target in OUTSIDE_PAGES.items() if target == site_path), f"docs/{site_path}")
    changed = outside_code(markdown, lambda text: separate_blocks(site_links(text, source, site_path)))
    return changed.replace("\n```console\n", "\n``` { .console .no-copy }\n")  # a button would copy the output, too


def api_page(module: str) -> str:
    """The path of a module's page in the site."""
    return f"api/{module.rpartition('.')[2]}.md"


def api_text(module: str) -> str:
    """A module's page: its docstring, and each public name."""
    place = ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    tree = ast.parse(file.read_text("utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    )
    first = (ast.get_docstring(tree) or "").partition("\n")[0]
    shown = [name for name in names if not name.startswith("__")]
    entries = "\n\n".join(f"::: {module}.{name}" for name in sorted(shown, key=_reading_order))
    return f"# {module}\n{first}\n\n{entries}\n"


def _reading_order(name: str) -> tuple[int, int]:
    """Where a name stands on its module's page: what people begin with, then functions, values and errors."""
    is_error = name.endswith(("Error", "Failure", "Warning"))
    place = FIRST_NAMES.index(name) if name in FIRST_NAMES else len(FIRST_NAMES)
    return place, 2 * is_error + name[0].isupper()


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Change a page's prose, and leave its code blocks as they are."""
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    for line in markdown.split("\n"):
        if _FENCE.match(line):
            if parts[-1][0]:
                parts[-1][1].append(line)
                parts.append((False, []))
            else:
                parts.append((True, [line]))
        else:
            parts[-1][1].append(line)
    return "\n".join("\n".join(lines) if is_code else change("\n".join(lines)) for is_code, lines in parts if lines)


def site_links(text: str, source: str, site_path: str) -> str:
    """Rewrite links between files of the repository as links between the site's pages."""

    def rewritten(link: re.Match[str]) -> str:
        mark, label, target, anchor = link[1], link[2], link[3], link[4] or ""
        if "://" in target or not target or target.startswith("mailto:"):
            return link[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if file in OUTSIDE_PAGES:
            place = OUTSIDE_PAGES[file]
        elif file.startswith("docs/"):
            place = file.removeprefix("docs/")
        elif (ROOT / file).exists():
            return f"{label} (`{file}` in the repository)" if label != file else f"`{file}`"
        else:
            return link[0]  # broken: MkDocs says so
        shown = page_title(ROOT / file) if label in (target, posixpath.basename(target)) else label
        return f"{mark}[{shown}]({posixpath.relpath(place, posixpath.dirname(site_path) or '.')}{anchor})"

    return _LINK.sub(rewritten, text)


@cache
def page_title(file: Path) -> str:
    """The title of a page: a link that shows the file's name shows it on the site."""
    first = file.read_text("utf-8").lstrip().partition("\n")[0]
    return first.removeprefix("# ").strip() if first.startswith("# ") else file.name


def separate_blocks(text: str) -> str:
    """Put the blank line before lists and tables that Python-Markdown needs and CommonMark does not."""
    lines = text.split("\n")
    separated = lines[:1]
    for before, line in pairwise(lines):
        in_block = _LIST_ITEM.match(before) or before.startswith(" ")
        if _LIST_ITEM.match(line) and before.strip() and not in_block and not before.startswith("#"):
            separated.append("")
        separated.append(line)
    return "\n".join(separated)
