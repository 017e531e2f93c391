"""The statements of docs/envs/webshop.md."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

from support.shown_commands import codeplan_commands

from codeplan.envs.webshop.factory import make

PAGE = (Path(__file__).parents[2] / "docs" / "envs" / "webshop.md").read_text()


def test_the_page_starts_with_a_command_that_wins(tmp_path):
    assert PAGE.startswith("# WebShop\n```bash\ncodeplan ")
    (arguments,) = codeplan_commands(PAGE)  # no other test plays the page
    ran = subprocess.run(
        [sys.executable, "-m", "codeplan", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"Refinements +[1-9]", ran.stdout)


def test_the_page_s_figures_are_those_of_the_tasks():
    env = make()
    for split in ("test", "dev", "train"):
        assert f"| `{split}` | {len(env.tasks(split))} |" in PAGE


def test_the_page_names_every_setting():
    assert all(f"`{name}`" in PAGE for name in inspect.signature(make).parameters)
