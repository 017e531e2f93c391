"""Tables on a real terminal of 80 columns, and in a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.skill_samples import skill
from support.terminals import codeplan_on_terminal

from codeplan.skills.library import SkillLibrary

GRID = """
suites = ["household"]
methods = ["adaplanner", "react", "try-again"]
settings = [{}, {mistakes = "none"}, {mistakes = "many"}, {model_seed = 1}, {model_seed = 2}, {model_seed = 3}]
kind = "clean"
n = 1
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bench of 18 cells in ``grid``."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "grid.toml").write_text(GRID)
    bench = codeplan_on_terminal(["bench", "grid.toml", "--out", "grid"], folder)
    assert bench.code == 0
    (folder / "bench.txt").write_text("\n".join(bench.lines))
    return folder


def test_a_bench_of_18_cells_fits_80_columns(grid: Path) -> None:
    lines = (grid / "bench.txt").read_text().split("\n")
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(("adaplanner.", "react.", "try-again.")) for line in lines) == 18
    assert "  100%" in "".join(line for line in lines if line.startswith("adaplanner.scripted "))


def test_a_comparison_of_18_cells_fits_80_columns(grid: Path) -> None:
    shown = codeplan_on_terminal(["compare", "grid"], grid)
    assert shown.code == 0
    assert max(map(len, shown.lines)) <= 80
    assert "|" not in shown.text
    assert "household.try-again.scripted.model_seed=3 †" in shown.lines


def test_a_wider_terminal_is_used(grid: Path) -> None:
    shown = codeplan_on_terminal(["compare", "grid"], grid, columns=160)
    assert 100 < max(map(len, shown.lines)) <= 160


def test_a_comparison_in_a_file_is_markdown(grid: Path) -> None:
    command = [sys.executable, "-m", "codeplan", "compare", "grid"]
    done = subprocess.run(command, cwd=grid, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("**Statistics**\n\n| cell | kind |")


def test_a_terminal_shows_markdown_on_request(grid: Path) -> None:
    assert "| cell | kind |" in codeplan_on_terminal(["compare", "grid", "--format", "markdown"], grid).text


def test_a_bench_of_which_no_episode_ended_shows_dashes(tmp_path: Path) -> None:
    arguments = ["--kind", "clean", "-n", "1", "--retries", "0", "--set", "max_retries=0", "--out", "broken"]
    unreachable = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    bench = codeplan_on_terminal(["bench", "household", *arguments, *unreachable], tmp_path)
    assert bench.code == 4
    assert next(line.split()[:4] for line in bench.lines if line.startswith("all ")) == ["all", "0", "-", "-"]
    assert "%" not in bench.text.replace(" 95 % ", "")
    compared = codeplan_on_terminal(["compare", "broken"], tmp_path)
    assert next(line.split() for line in compared.lines if line.startswith("  all")) == ["all", "0"]


@pytest.mark.parametrize("command", [["list"], ["stats"], ["search", "heats"], ["show", "heat-1"]])
def test_tables_of_skills_fit_80_columns(command: list[str], tmp_path: Path) -> None:
    library = SkillLibrary(tmp_path / "skills")
    library.add(skill("heat-1", kind="a-kind-with-quite-a-long-name"))
    library.add(skill("a-skill-with-a-name-of-many-words-1b9d6bcd", "candidate", kind="another-long-kind"))
    shown = codeplan_on_terminal(["skills", *command], tmp_path)
    assert shown.code == 0
    table = [line for line in shown.lines if "heat-1" in line or "status" in line or "─" in line]
    assert table
    assert max(map(len, table)) <= 80
