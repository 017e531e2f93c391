"""Messages on a terminal of 60 columns, and in a file, where each is one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.terminals import codeplan_on_terminal

pytestmark = pytest.mark.long

PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        agent.goto('a desk with quite a long name'); x = agent.nothing_like_this('another long argument')
        assert x, "Error in [Step 1]: the agent could not do what no agent can do, which is no wonder"
"""
COMMANDS = {
    "a refused plan": ["check", "plan.py", "--env", "household"],
    "a plan that is refused when it is run": ["exec", "plan.py", "--env", "household", "--task", "clean/3"],
    "a final error": ["check", "plan.py"],
    "environments": ["envs"],
    "methods": ["methods"],
    "this machine": ["doctor"],
    "the cost of a bench": ["bench", "household", "--method", "react", "--dry-run"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.py").write_text(PLAN)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_only_commands_to_copy_and_long_words_pass_the_edge_of_the_terminal(command: list[str], folder: Path) -> None:
    shown = codeplan_on_terminal(command, folder, columns=60)
    assert [row for row in shown.lines if len(row) > 60 and not stays_whole(row)] == []
    assert max(map(len, shown.lines)) > 40


def stays_whole(row: str) -> bool:
    return " " not in row.strip() or row.lstrip().startswith(("pip install ", "apt-get install ", "run  "))


def test_a_problem_goes_on_under_its_text_and_its_caret_stays_in_place(folder: Path) -> None:
    first, second, *_, code, caret, _ = codeplan_on_terminal(COMMANDS["a refused plan"], folder, columns=60).lines
    assert first.startswith("plan.py:3:58: the agent has no `nothing_like_this`")
    assert second.startswith(" " * 14) and second[14] != " "
    assert code[caret.index("^") :].startswith("agent.nothing_")


def test_code_goes_on_at_its_own_indent(folder: Path) -> None:
    lines = codeplan_on_terminal(COMMANDS["a plan that is refused when it is run"], folder, columns=60).lines
    at = next(n for n, line in enumerate(lines) if line.startswith("   3          agent.goto("))
    assert lines[at + 1].startswith(" " * 14) and lines[at + 1][14] != " "
    reason = next(n for n, line in enumerate(lines) if line.startswith("  Reason  "))
    assert lines[reason + 1].startswith(" " * 15) and lines[reason + 1][15] != " "


def test_in_a_file_each_message_is_one_line(folder: Path) -> None:
    problem, code, caret = piped(COMMANDS["a refused plan"], folder).stdout.splitlines()
    assert problem.startswith("plan.py:3:58: ") and problem.endswith(" [agent-method]")
    assert (code.startswith("    "), caret.strip()) == (True, "^")
    assert piped(COMMANDS["a final error"], folder).stderr.count("\n") == 1
    missing = [line for line in piped(["envs"], folder).stdout.splitlines() if line.startswith("  missing ")]
    assert all("pip install" in line for line in missing)


def piped(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "codeplan", *command]
    environment = os.environ | {"OPENAI_API_KEY": "none"}
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
