"""The statements of docs/envs/hotpotqa.md, miniwob.md, textcraft.md and webshop.md: commands, figures, settings, examples."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.miniwob_pages import needs_browser
from support.shown_commands import codeplan_commands

from codeplan import envs
from codeplan.envs.miniwob import environment
from codeplan.envs.miniwob.tasks import REUSABLE_PAGES
from codeplan.envs.webshop.environment import make as make_webshop
from codeplan.plugins import setting_names

PAGES = {
    name: (Path(__file__).parents[2] / "docs" / "envs" / f"{name}.md").read_text()
    for name in ("hotpotqa", "miniwob", "textcraft", "webshop")
}
NAMES = [pytest.param(name, marks=needs_browser if name == "miniwob" else ()) for name in PAGES]


def python(*arguments, cwd):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_starts_with_a_command_that_refines_and_wins(name, tmp_path):
    assert re.match(r"# \S+\n```bash\ncodeplan ", PAGES[name])
    ran = python("-m", "codeplan", *codeplan_commands(PAGES[name])[0], cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"Refinements +[1-9]", ran.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_s_figures_are_those_of_the_tasks(name):
    env = envs.make(name)
    tasks = {split: env.tasks(split) for split in envs.splits(env)}
    if name == "hotpotqa":
        assert ", ".join(f"`{split}` {len(of)}" for split, of in tasks.items()) in PAGES[name]
        assert f"{sum(map(len, tasks.values()))} over 32 short articles" in PAGES[name]
        return
    for split, of in tasks.items():
        row = f"| `{split}` | {len(of):,} |"
        assert row in PAGES[name]
        if name != "webshop":
            line = row + PAGES[name].partition(row)[2].partition("\n")[0]
            assert f" | {of[0].seed} to {of[-1].seed} |" in line


def test_other_figures_of_the_pages_are_true():
    assert "4 (11 tasks), 3 (112), 2 (77)" in PAGES["textcraft"]
    assert f"{len(REUSABLE_PAGES)} pages do not need that" in PAGES["miniwob"]


@needs_browser
def test_miniwob_has_so_many_pages():
    assert f"{len(envs.make('miniwob').kinds)} in miniwob 1.1" in PAGES["miniwob"]


@pytest.mark.parametrize(("name", "make"), [("miniwob", environment.make), ("webshop", make_webshop)])
def test_a_page_names_every_setting(name, make):
    assert [setting for setting in setting_names(make) if f"`{setting}`" not in PAGES[name]] == []


def test_live_wikipedia_without_a_contact_is_refused_with_advice(tmp_path):
    assert "--set live=true --set contact=me@example.org" in PAGES["hotpotqa"]
    ran = python("-m", "codeplan", "run", "hotpotqa", "--set", "live=true", cwd=tmp_path)
    assert ran.returncode == 2
    assert "contact=me@example.org" in " ".join(ran.stderr.split())


def test_the_python_example_of_hotpotqa_runs(tmp_path):
    (lines,) = re.findall(r"```python\n(.*?)```", PAGES["hotpotqa"], re.DOTALL)
    ran = python("-c", lines, cwd=tmp_path)
    assert ran.stdout == "AnswerScore(em=True, f1=1.0, precision=1.0, recall=1.0)\n", ran.stderr
