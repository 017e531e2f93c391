"""The documentation as a site: every page has its place, and every link leads somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
NAV = re.findall(r"^ +- .*?([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2], re.MULTILINE)


@pytest.fixture(scope="module")
def docs_site():
    """The hooks of scripts/docs_site.py."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield import_module("docs_site")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def test_the_navigation_names_each_page_once_and_no_other(docs_site):
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    generated = [*docs_site.OUTSIDE_PAGES.values(), *map(docs_site.api_page, docs_site.API_MODULES)]
    assert sorted(NAV) == sorted([*pages, *generated])


def test_pages_from_outside_the_folder_exist(docs_site):
    assert [source for source in docs_site.OUTSIDE_PAGES if not (ROOT / source).is_file()] == []


def test_an_api_page_has_each_public_name_of_its_module(docs_site):
    for module in docs_site.API_MODULES:
        shown = re.findall(r"^::: (\S+)$", docs_site.api_text(module), re.MULTILINE)
        public = [name for name in import_module(module).__all__ if not name.startswith("__")]
        assert sorted(shown) == [f"{module}.{name}" for name in sorted(public)]
    assert re.findall(r"^::: codeplan\.(\S+)$", docs_site.api_text("codeplan"), re.MULTILINE)[:3] == [
        "do",
        "run",
        "Session",
    ]


@pytest.mark.parametrize(
    ("source", "page", "text", "wanted"),
    [
        ("README.md", "index.md", "[a](docs/envs/webshop.md#tasks)", "[a](envs/webshop.md#tasks)"),
        ("README.md", "index.md", "![a](docs/run.svg)", "![a](run.svg)"),
        ("docs/envs/webshop.md", "envs/webshop.md", "[a](../glossary.md)", "[a](../glossary.md)"),
        ("docs/sandbox.md", "sandbox.md", "[a](../SECURITY.md)", "[a](security.md)"),
        ("docker/README.md", "docker.md", "[a](seccomp.json)", "a (`docker/seccomp.json` in the repository)"),
        ("README.md", "index.md", "[a](https://arxiv.org) and [b](#a-plan)", "[a](https://arxiv.org) and [b](#a-plan)"),
    ],
)
def test_a_link_between_files_becomes_one_between_pages(docs_site, source, page, text, wanted):
    assert docs_site.site_links(text, source, page) == wanted


def test_a_list_is_separated_from_its_sentence_and_code_is_left_alone(docs_site):
    text = "These:\n- one\n  more\n- two\n\n```\nx:\n- [a](../b)\n```"
    assert docs_site.outside_code(text, docs_site.separate_blocks) == text.replace("These:\n", "These:\n\n")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(folder / "mkdocs.yml")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def small_tree(tmp_path) -> Path:
    """What the site is made of, without the packages: the API's pages are left out."""
    for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "mkdocs.yml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("docs", "docker", "scripts", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    hooks = tmp_path / "scripts" / "docs_site.py"
    hooks.write_text(re.sub(r"API_MODULES = \[.*?\]", "API_MODULES = []", hooks.read_text(), flags=re.DOTALL))
    config = tmp_path / "mkdocs.yml"
    config.write_text(re.sub(r"  - API reference:\n(      .*\n)+", "", config.read_text()))
    return tmp_path


@pytest.mark.parametrize("broken", ["[x](no-such-page.md)", "[x](tools.md#no-such-part)"])
def test_the_site_is_built_and_a_broken_link_is_an_error(small_tree, broken):
    pytest.importorskip("mkdocs", reason="make docs installs mkdocs")
    pytest.importorskip("mkdocstrings", reason="make docs installs mkdocstrings")
    done = build(small_tree)
    assert done.returncode == 0, done.stderr
    pages = "".join(page.read_text() for page in (small_tree / "build" / "site").rglob("*.html"))
    assert re.findall(r'<(?:script|img|link|iframe)[^>]+(?:src|href)="?https?:[^>]*', pages) == []
    assert all(
        'href="site.css"' in (small_tree / "build" / "site" / f"{name}.html").read_text() for name in ("index", "faq")
    )
    page = small_tree / "docs" / "faq.md"
    page.write_text(f"{page.read_text()}\n{broken}\n")
    done = build(small_tree)
    assert done.returncode == 1
    assert "no-such-pa" in done.stderr
