"""Random programs with classes, generators and coroutines: some of those that ``make fuzz`` tries, and their judges."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"

JUDGED = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
import programs
programs.{judge}("def solution(agent, start_from=1):\\n    if start_from <= 1:\\n        {body}\\n")
"""


@pytest.mark.parametrize(("target", "examples"), [("programs", 30), ("hostile", 20)])
def test_some_random_programs_do_what_python_does_and_reach_nothing(target: str, examples: int) -> None:
    command = [sys.executable, str(FUZZ), "--target", target, "--examples", str(examples)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == f"{target}: {examples} examples, nothing found\n", done.stdout + done.stderr[-4_000:]


@pytest.mark.parametrize(
    ("judge", "body", "told"),
    [
        ("judge_program", "print(id(agent) < 1_000)", r"-False\n.*\+True"),
        ("judge_program", "import os; os.getcwd()", "it is refused: .*os"),
        ("judge_program", "print(repr(solution.__name__))", "it is refused"),
        ("judge_program", "print(sorted('ba'))", ""),
        ("judge_hostile", "print('CANA' 'RY')", "CANARY"),
        ("judge_hostile", "while True: pass", ""),
    ],
)
def test_the_judges_of_random_programs_notice_a_difference(judge: str, body: str, told: str) -> None:
    script = JUDGED.format(judge=judge, body=body)
    done = subprocess.run([sys.executable, "-c", script, str(FUZZ)], capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(told), done.stderr
    assert re.search(told, done.stderr, re.DOTALL)
