"""The statements of docs/envs/miniwob.md."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from support.miniwob_pages import needs_browser

from codeplan.envs.miniwob.environment import MiniWob, make
from codeplan.envs.miniwob.tasks import REUSABLE_PAGES
from codeplan.plugins import setting_names

PAGE = (Path(__file__).parents[2] / "docs" / "envs" / "miniwob.md").read_text()


@needs_browser
def test_the_page_starts_with_a_command_that_refines_and_wins(tmp_path):
    command = re.match(r"# MiniWoB\+\+\n```bash\n(codeplan .*)\n```\n", PAGE)[1]
    ran = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"Refinements +[1-9]", ran.stdout)


@needs_browser
def test_the_page_s_figures_are_those_of_the_tasks():
    env = MiniWob()
    for split in env.splits:
        tasks = env.tasks(split)
        assert f"| `{split}` | {len(tasks):,} | " in PAGE
        assert f" | {tasks[0].seed} to {tasks[-1].seed} |" in PAGE.partition(f"| `{split}`")[2].partition("\n")[0]
    assert f"{len(env.kinds)} in miniwob 1.1" in PAGE


def test_the_page_names_every_setting():
    assert [f"- `{name}`:" in PAGE for name in setting_names(make)] == [True] * len(setting_names(make))
    assert f"{len(REUSABLE_PAGES)} pages do not need that" in PAGE
