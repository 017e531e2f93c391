"""Random programs with classes, generators and coroutines: some of those that ``make fuzz`` tries, and their judges."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"

JUDGED = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
import programs

for judge, body, _ in json.load(sys.stdin):
    told = ""
    try:
        getattr(programs, judge)(f"def solution(agent, start_from=1):\\n    if start_from <= 1:\\n        {body}\\n")
    except BaseException as error:
        told = f"it is noticed: {error}"
    print(json.dumps(told))
"""
EXAMPLES = (
    ("judge_program", "print(id(agent) < 1_000)", r"-False\n.*\+True"),
    ("judge_program", "import os; os.getcwd()", "it is refused: .*os"),
    ("judge_program", "print(repr(solution.__name__))", "it is refused"),
    ("judge_program", "print(sorted('ba'))", ""),
    ("judge_hostile", "print('CANA' 'RY')", "CANARY"),
    ("judge_hostile", "while True: pass", ""),
)


@pytest.mark.parametrize(("target", "examples"), [("programs", 30), ("hostile", 20)])
def test_some_random_programs_do_what_python_does_and_reach_nothing(target: str, examples: int) -> None:
    command = [sys.executable, str(FUZZ), "--target", target, "--examples", str(examples)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == f"{target}: {examples} examples, nothing found\n", done.stdout + done.stderr[-4_000:]


def test_the_judges_of_random_programs_notice_a_difference() -> None:
    command = [sys.executable, "-c", JUDGED, str(FUZZ)]
    done = subprocess.run(command, input=json.dumps(EXAMPLES), capture_output=True, text=True, check=True)
    for (_, body, expected), line in zip(EXAMPLES, done.stdout.splitlines(), strict=True):
        said = json.loads(line)
        assert (bool(said), bool(re.search(expected, said, re.DOTALL))) == (bool(expected), True), (body, said)
