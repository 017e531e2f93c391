"""The page on TextCraft is true."""

import subprocess
import sys
from pathlib import Path

from support.shown_commands import codeplan_commands

from codeplan.envs.textcraft.environment import TextCraft

PAGE = (Path(__file__).parents[2] / "docs" / "envs" / "textcraft.md").read_text()


def test_the_page_starts_with_a_command_that_wins(tmp_path):
    assert PAGE.startswith("# TextCraft\n```bash\ncodeplan ")
    (arguments,) = codeplan_commands(PAGE)  # no other test plays the page
    ran = subprocess.run(
        [sys.executable, "-m", "codeplan", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Refinements" in ran.stdout


def test_the_page_s_figures_agree_with_the_tasks():
    env = TextCraft()
    for split in ("test", "dev", "train"):
        tasks = env.tasks(split)
        assert f"| `{split}` | {len(tasks)} | {tasks[0].seed} to {tasks[-1].seed} |" in PAGE
    assert "4 (11 tasks), 3 (112), 2 (77)" in PAGE
