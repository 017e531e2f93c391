"""One name, one meaning: public class names are unique, and retired terms do not come back."""

import ast
import os
import re
from collections import Counter, defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOP = ("codeplan", "sandbox", "envs", "prompts")

RETIRED_NAMES = (
    "Cast Silent GivenPlan PlanLoop Ran Author Studied Unstudied Growth Trade Shelf OnlyThese Unrecorded "
    "Elsewhere Lab Asked Planned Conducted Player Allowance Told Teller Live Patience Prey Hunt Shot Traps Watch "
    "Moment Play Steady Home World Workbench _Liar takes _untold hands_on prompts_of spoken formed practise "
    "rehearsed hear heard futile"
)
"""Identifiers that docs/glossary.md's terms replaced."""


@cache
def files_of_the_package() -> tuple[Path, ...]:
    """Every file, by its real place: what the symlinks in ``codeplan/`` show is left out."""
    found = [Path(folder, name) for top in TOP for folder, _, names in os.walk(ROOT / top) for name in names]
    assert len(found) > 400
    return tuple(f for f in found if "__pycache__" not in f.parts)


def python_files() -> list[Path]:
    return [f for f in files_of_the_package() if f.suffix == ".py"]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def identifiers(tree: ast.AST) -> set[str]:
    """Names of definitions, parameters and variables: what a reader of the code meets."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.arg(arg=name) | ast.Name(id=name):
                found.add(name)
    return found


def test_no_public_class_name_is_defined_twice():
    homes = defaultdict(list)
    for file in python_files():
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_no_retired_name_is_left_in_the_code():
    left = {str(f.relative_to(ROOT)): identifiers(tree_of(f)) & {*RETIRED_NAMES.split()} for f in python_files()}
    assert {file: names for file, names in left.items() if names} == {}


@pytest.mark.parametrize("term", ["whoever", "thereof", "wherein", "lest"])
def test_archaic_words_stay_out_of_the_code(term):
    pattern = re.compile(rf"\b{term}\b", re.IGNORECASE)
    assert [str(f.relative_to(ROOT)) for f in python_files() if pattern.search(f.read_text())] == []


def test_limits_begin_with_max():
    pattern = re.compile(r"^_?(MOST|DEEPEST|LONGEST|BIGGEST|LARGEST)(_|\b)", re.MULTILINE)
    assert [str(f.relative_to(ROOT)) for f in python_files() if pattern.search(f.read_text())] == []


def test_package_faces_hold_nothing_but_names_that_they_hand_on():
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.If, ast.Expr)
    for file in (f for f in python_files() if f.name == "__init__.py"):
        for node in tree_of(file).body:
            assert isinstance(node, allowed), f"{file.relative_to(ROOT)}, line {node.lineno}"
            if isinstance(node, ast.If):
                assert ast.unparse(node.test) == "TYPE_CHECKING", f"{file.relative_to(ROOT)}, line {node.lineno}"


def test_every_name_that_a_package_hands_on_exists():
    for file in (f for f in python_files() if f.name == "__init__.py"):
        folder = file.parent.relative_to(ROOT).parts
        package = import_module(".".join(folder if folder[0] == "codeplan" else ("codeplan", *folder)))
        assert [name for name in getattr(package, "__all__", ()) if not hasattr(package, name)] == []


def test_no_two_test_files_have_one_name() -> None:
    """pytest takes the second for the first, and collects neither."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
