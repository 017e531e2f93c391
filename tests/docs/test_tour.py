"""The tour runs as it is printed, on a terminal of 80 columns."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from support.shown_commands import named_files
from support.terminals import codeplan_on_terminal

pytestmark = pytest.mark.long

TOUR = (Path(__file__).parent.parent.parent / "docs" / "tour.md").read_text()
REFUSED = "codeplan check butterknife.py --env household"
"""The command that is shown twice: the first time it refuses a plan, with exit code 1."""


def shown_runs() -> list[tuple[str, list[str]]]:
    """Each command of the page, with the lines of output below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", TOUR, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def run_on_terminal(command: str, folder: Path) -> tuple[int, list[str]]:
    program, *arguments = shlex.split(command)
    if program != "codeplan":
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout.splitlines()
    done = codeplan_on_terminal(arguments, folder)
    return done.code, [line.rstrip() for line in done.lines]


def missing_line(shown: list[str], written: list[str]) -> str | None:
    """The first shown line that is not among those written, in their order. ``…`` at a line's end stands for its rest."""
    left = iter(written)
    for line in shown:
        if line == "…":
            continue
        begin = line.removesuffix("…")
        if not any(each.startswith(begin) if begin != line else each == line for each in left):
            return line
    return None


def test_the_tour_runs_as_printed(tmp_path):
    for name, text in named_files(TOUR).items():
        (tmp_path / name).write_text(text)
    runs = shown_runs()
    assert len(runs) == 16
    for number, (command, shown) in enumerate(runs):
        code, written = run_on_terminal(command, tmp_path)
        is_refusal = command == REFUSED and command in [later for later, _ in runs[number + 1 :]]
        assert code == (1 if is_refusal else 0), (command, written[-20:])
        assert missing_line(shown, written) is None, (command, written)
        assert all(len(line) <= 80 for line in written) or command.startswith("codeplan test")


def test_a_line_that_was_not_written_is_found():
    assert missing_line(["a", "…", "c…"], ["a", "b", "cd"]) is None
    assert missing_line(["c…", "a"], ["a", "b", "cd"]) == "a"
    assert missing_line(["c"], ["a", "b", "cd"]) == "c"


def test_a_file_that_readme_and_the_tour_show_is_the_same_in_both():
    readme = named_files((Path(__file__).parent.parent.parent / "README.md").read_text())
    tour = named_files(TOUR)
    assert readme["tools.py"] == tour["tools.py"]
    assert readme["plan.py"].strip() in tour["model.py"]
