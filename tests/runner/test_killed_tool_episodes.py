"""Episodes with tools that are killed by SIGKILL come to the same end; ``make crash`` kills three hundred times."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.tool_crashes import play_rounds

pytestmark = pytest.mark.long

KILLS = os.environ.get("KILLED_JOBS", "3")
"""How many kills of jobs each half makes."""


@pytest.mark.parametrize("first", [0, 1])
def test_a_killed_episode_comes_to_the_same_end_and_makes_no_call_twice(tmp_path, first):
    figures = play_rounds(tmp_path, kills=1, first=first, workers=1)
    assert figures.faults == []
    assert figures.counts["killed"] >= 1 and figures.counts["reached the goal"] == figures.counts["episodes"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_killed_job_makes_no_call_of_a_once_tool_twice_and_names_each_doubt(tmp_path, first):
    command = [sys.executable, "-m", "support.killed_jobs", "--half", str(first), KILLS, str(tmp_path)]
    played = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "reached the goal" in played.stdout and "killed within a call" in played.stdout
