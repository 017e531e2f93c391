"""What a stranger gets: the source distribution, the wheel made from it, an empty environment, README's commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from support.shown_commands import named_files

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BUILD_SDIST = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"


def in_folder(folder: Path, *command: str | Path) -> str:
    """What a command prints, with this environment's own packages out of its sight."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "CODEPLAN", "COLUMNS"))}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=own, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    """The source distribution, built as an index's uploader would."""
    folder = tmp_path_factory.mktemp("sdist")
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
    tree = shutil.copytree(ROOT, folder / "tree", symlinks=True, ignore=ignored)
    in_folder(folder, sys.executable, "-m", "venv", "builder")
    in_folder(folder, "builder/bin/pip", "install", "-q", "setuptools>=77")
    return folder / in_folder(tree, folder / "builder/bin/python", "-c", BUILD_SDIST, folder).split()[-1]


@pytest.fixture(scope="module")
def installed(sdist, tmp_path_factory) -> Path:
    """The folder of programs of an empty environment with the wheel that pip makes from the source distribution."""
    folder = tmp_path_factory.mktemp("installed")
    in_folder(folder, sys.executable, "-m", "venv", "venv")
    in_folder(folder, "venv/bin/pip", "install", "-q", "--disable-pip-version-check", sdist)
    return folder / "venv" / "bin"


def test_the_source_distribution_is_complete_and_holds_nothing_else(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("codeplan", "sandbox", "envs", "prompts"):
        wanted = {str(f.relative_to(ROOT)) for f in (ROOT / folder).rglob("*.py") if not through_link(f)}
        assert {name for name in wanted if name not in names and f"codeplan/{name}" not in names} == set()
    assert {"README.md", "LICENSE", "pyproject.toml"} <= names
    assert [name for name in names if name.startswith(".venv")] == []


def through_link(file: Path) -> bool:
    """Whether the file is seen through one of the links in ``codeplan/``."""
    return any(p.is_symlink() for p in file.parents)


def test_an_empty_environment_plays_and_tests_as_readme_shows(installed, tmp_path):
    codeplan = installed / "codeplan"
    for name, text in named_files(README).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "checks.py").write_text("def verify(value):\n    return value == ['Ada', 'Grace']\n")
    in_folder(tmp_path, codeplan, "check", "plan.py", "--tools", "tools.py")
    played = in_folder(tmp_path, codeplan, "exec", "plan.py", "--tools", "tools.py", "--verify", "checks.py:verify")
    assert "Success" in played
    in_folder(tmp_path, codeplan, "run", "household", "--task", "clean/3", "--out", "first")
    in_folder(tmp_path, codeplan, "show", "first")
    assert "identical" in in_folder(tmp_path, codeplan, "replay", "first")
    in_folder(tmp_path, codeplan, "new-test", "first", "-o", "tests")
    assert "passed" in in_folder(tmp_path, codeplan, "test", "tests")
    in_folder(tmp_path, codeplan, "bench", "household", "-n", "1", "--out", "bench")
    in_folder(tmp_path, codeplan, "report", "bench", "-o", "bench.html")
    assert (tmp_path / "bench.html").read_text().startswith("<!doctype html>")


def test_readmes_python_runs_in_an_empty_environment(installed, tmp_path):
    blocks = [b for b in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "codeplan.run(" in b]
    assert blocks
    for number, block in enumerate(blocks):
        (tmp_path / f"block{number}.py").write_text(block)
        assert "True" in in_folder(tmp_path, installed / "python", f"block{number}.py")
