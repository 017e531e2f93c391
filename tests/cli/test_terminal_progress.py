"""Progress on a real terminal, silence elsewhere, and what Ctrl-C says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.terminals import codeplan_on_terminal

import codeplan
from codeplan.testing.scaffold import new_test

DISCOVER = ["skills", "discover", "household", "-n", "1", "--pairs", "3", "--compare", "1"]


def test_a_bench_shows_counts_and_times_in_one_line_of_the_terminal(tmp_path: Path) -> None:
    shown = codeplan_on_terminal(
        ["bench", "household", "-n", "1", "--out", "a-folder-with-a-rather-long-name"], tmp_path
    )
    assert shown.code == 0
    assert "0/6 ended, 0 solved" in shown.text
    assert re.search(r"[1-6]/6 ended, [0-6] solved.*0:00:\d\d left: ", shown.text)
    assert max(len(part) for line in shown.text.split("\n") for part in line.split("\r")) <= 80


def test_discovery_shows_its_phases_and_says_that_no_promotion_is_possible(tmp_path: Path) -> None:
    shown = codeplan_on_terminal(DISCOVER, tmp_path)
    assert shown.code == 0
    for phase in ("round 1: tasks: 0/6 ended", "round 1: first proofs: ", "with the library and without: "):
        assert phase in shown.text
    text = " ".join(" ".join(shown.lines).split())  # without the bar that is drawn again between two lines
    assert "no promotion is possible with --pairs 3: at level 0.05 the sequential test needs 7 pairs" in text
    assert re.search(r"Not tried, because even a win in each pair would not promote it .* more pairs needed: \w", text)
    assert max(map(len, shown.lines)) <= 80


def test_discovery_is_quiet_where_standard_error_is_no_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "codeplan", *DISCOVER, "--pairs", "7"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "round 1: " in done.stdout


def test_a_training_shows_its_episodes_in_one_line_of_the_terminal(tmp_path: Path) -> None:
    shown = codeplan_on_terminal(["learn", "textcraft", "-n", "2", "--out", "learnt"], tmp_path)
    assert shown.code == 0
    assert re.search(r"learning: [12]/2 ended, [0-2] solved", shown.text)


def test_an_audit_and_mutants_show_how_many_were_tried_in_one_line_of_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    for name in ("a1_print", "a2_print"):
        (tmp_path / "plans" / f"{name}.py").write_text(
            "# kind: walk\n# tries: nothing\ndef solution(agent, start_from=1):\n    print(1)\n"
        )
    shown = codeplan_on_terminal(["sandbox", "audit", "--corpus", "plans"], tmp_path)
    assert "0/2 tried" in shown.text
    codeplan.run("household", "clean/3", mistakes="none", out=tmp_path / "run")
    new_test(tmp_path / "run", tmp_path / "tests")
    shown = codeplan_on_terminal(["mutate", "tests/clean_3.plan.toml"], tmp_path)
    assert re.search(r"[1-9]\d*/\d+ mutants", shown.text)
