"""The statements of docs/envs/hotpotqa.md."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from codeplan.envs.hotpotqa.environment import HotpotQA

PAGE = (Path(__file__).parents[2] / "docs" / "envs" / "hotpotqa.md").read_text()


def codeplan(*arguments, cwd):
    command = [sys.executable, "-m", "codeplan", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_the_page_starts_with_a_command_that_wins(tmp_path):
    command = re.match(r"# HotpotQA\n```bash\ncodeplan (.*)\n```\n", PAGE)[1]
    ran = codeplan(*shlex.split(command), cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"Refinements +1", ran.stdout)


def test_live_wikipedia_without_a_contact_is_refused_with_advice(tmp_path):
    assert "--set live=true --set contact=me@example.org" in PAGE
    ran = codeplan("run", "hotpotqa", "--set", "live=true", cwd=tmp_path)
    assert ran.returncode == 2
    assert "contact=me@example.org" in " ".join(ran.stderr.split())


def test_the_page_s_figures_are_those_of_the_questions():
    env = HotpotQA()
    sizes = {split: len(env.tasks(split)) for split in env.splits}
    assert ", ".join(f"`{split}` {size}" for split, size in sizes.items()) in PAGE
    assert f"{sum(sizes.values())} over 32 short articles" in PAGE


def test_the_page_s_python_example_runs(tmp_path):
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "AnswerScore(em=True, f1=1.0, precision=1.0, recall=1.0)\n", ran.stderr
