"""What the documentation shows runs as it stands."""

import re
from pathlib import Path

import pytest

from codeplan.protocols import BaseEnvironment, Environment
from codeplan.types import Claimed, Success

ROOT = Path(__file__).parent.parent


def test_the_own_environment_page_runs_from_top_to_bottom():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "own-environment.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, "own-environment.md", "exec"), namespace)
    assert namespace["result"].success


def test_the_tools_page_runs_from_top_to_bottom():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tools.md").read_text(), re.DOTALL)
    assert len(blocks) == 12
    for block in blocks:
        namespace: dict[str, object] = {"__name__": "page"}
        exec(compile(block, "tools.md", "exec"), namespace)
        ended = namespace["result"].ending if "result" in namespace else namespace["done"].returncode
        assert ended == 0 or isinstance(ended, Success | Claimed)


@pytest.mark.parametrize("page", ["README.md", "docs/methods.md"])
def test_the_examples_in_python_run_as_they_stand(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    for block in (b for b in blocks if "codeplan.run(" in b):
        namespace: dict[str, object] = {"__name__": "page"}
        exec(compile(block, page, "exec"), namespace)
        assert namespace["result"].success


def test_the_page_on_python_runs_block_by_block(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "python.md", "exec"), {"__name__": "page"})
    shown = capsys.readouterr().out
    assert "Result(success=True, task='household clean/3', actions=" in shown
    assert "household.react.scripted 1 of 2" in shown


@pytest.mark.parametrize("page", sorted(p.name for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]))
def test_links_and_file_names_in_the_pages_exist(page):
    path = next(p for p in (ROOT / page, ROOT / "docs" / page) if p.exists())
    links = [t for t in re.findall(r"\]\(([^)#]+)", path.read_text()) if "://" not in t]
    assert [t for t in links if not (path.parent / t).exists()] == []


def test_the_places_that_the_architecture_page_names_exist():
    places = re.findall(
        r"`((?:codeplan|sandbox|prompts|envs|tests)/[\w/.]+)`", (ROOT / "docs" / "architecture.md").read_text()
    )
    assert len(places) > 20
    assert [p for p in places if not (ROOT / p).exists()] == []


def test_the_pages_count_the_members_of_an_environment():
    members = {n for n in [*dir(Environment), *BaseEnvironment.__annotations__] if not n.startswith("_")}
    assert len(members) == 6
    for page in ("faq.md", "own-environment.md"):
        assert "is a class with six members" in (ROOT / "docs" / page).read_text()
