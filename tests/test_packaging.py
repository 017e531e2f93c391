"""What is installed is what stands in the tree."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOP = {"codeplan": "codeplan", "sandbox": "codeplan/sandbox", "envs": "codeplan/envs", "prompts": "codeplan/prompts"}


def in_tree() -> set[str]:
    """The package's files, by the path they are installed under."""
    return {
        f"{home}/{f.relative_to(ROOT / folder)}"
        for folder, home in TOP.items()
        for f in (ROOT / folder).rglob("*")
        if f.is_file() and "__pycache__" not in f.parts and not linked(f, folder)
    }


def linked(file: Path, folder: str) -> bool:
    """Whether a file is seen through one of the symlinks in ``codeplan/``."""
    return any(p.is_symlink() for p in file.parents if ROOT / folder in p.parents)


def test_the_wheel_holds_what_the_tree_holds(tmp_path):
    tree = shutil.copytree(
        ROOT, tmp_path / "tree", symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "tests")
    )
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(tree)]
    subprocess.run(build, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        installed = {n for n in wheel.namelist() if ".dist-info/" not in n}
    assert installed == in_tree()


@pytest.mark.parametrize("name", ["sandbox", "envs", "prompts"])
def test_a_second_copy_cannot_be_imported_by_its_short_name(name):
    done = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"import codeplan.{name}" in done.stderr


def test_every_public_name_of_the_package_exists():
    import codeplan

    assert all(hasattr(codeplan, name) for name in codeplan.__all__)
    assert sorted(codeplan.__all__) == codeplan.__all__ or len(set(codeplan.__all__)) == len(codeplan.__all__)


def test_the_version_is_the_projects():
    import codeplan

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert codeplan.__version__ == project["version"]


@pytest.mark.parametrize("use", ["bench.read_bench", "envs.make", "sandbox.Sandbox"])
def test_a_documented_module_needs_no_import_of_its_own(use):
    code = f"import codeplan; print(callable(codeplan.{use}), {use.split('.')[0]!r} in dir(codeplan))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def test_what_the_core_needs_is_enough_for_each_command():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {"RestrictedPython", "libcst", "openai", "pytest"} <= {re.split(r"\W", name)[0] for name in needed}


def test_importing_codeplan_loads_nothing_heavy():
    heavy = ["openai", "libcst", "RestrictedPython", "jinja2", "typer", "rich"]
    code = f"import codeplan, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
