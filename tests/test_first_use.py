"""What a newcomer met in the first hours, and should not meet again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.boxes import Boxes

import codeplan

pytestmark = pytest.mark.long

PLAN = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print("[Step 1] open a box")
        found = agent.open(2)
        assert found, "nothing came back"
    return {"box": 2}
```"""


def codeplan_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codeplan", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_broken_manifest_is_wrong_use_and_no_interrupt(tmp_path: Path) -> None:
    (tmp_path / "bad.plan.toml").write_text("x = [")
    done = codeplan_command(tmp_path, "test", "bad.plan.toml")
    assert done.returncode == 2
    assert "bad.plan.toml:1: this is not TOML" in done.stdout
    assert "codeplan: interrupted" not in done.stderr


@pytest.mark.parametrize("words", ["likeliest", "agent's hand", "receptacle", "sinkbasin"])
def test_no_word_of_the_household_reaches_another_environment(words: str) -> None:
    asked: list[str] = []

    def model(messages: list[codeplan.Message]) -> str:
        asked.extend(message["content"] for message in messages)
        return PLAN.replace("agent.open(2)", "agent.open(1)").replace("assert found", "assert found == 1")

    codeplan.run(Boxes(), "ball/2", model=model, tries=2)
    assert asked
    assert not [text for text in asked if words in text]


def test_what_a_plan_returns_and_its_variables_are_plain_values() -> None:
    result = codeplan.run(Boxes(), "ball/2", model=lambda messages: PLAN)
    assert result.success
    ran = codeplan.execute(PLAN.split("```python\n")[1].removesuffix("```"), Boxes(), "ball/2").outcome
    assert ran is not None
    assert (ran.value, ran.variables["found"]) == ({"box": 2}, "Here is the ball!")


def test_advice_in_python_names_what_python_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(codeplan.UsageError, match="set OPENAI_API_KEY, or give --base-url URL \\(base_url=URL\\) for"):
        codeplan.run("household", "clean/3", model="strong")


def test_the_tutorials_project_runs_its_mutants_on_request(tmp_path: Path) -> None:
    """The line of the documentation's CI, with a manifest as ``new-test`` writes it and with one that asks for mutants."""
    codeplan.run("household", "clean/22", mistakes="none", out=tmp_path / "run")
    assert codeplan_command(tmp_path, "new-test", "run", "-o", "plans").returncode == 0
    line = ("test", "plans", "-q", "-m", "plan_mutants", "--plan-mutants")
    done = codeplan_command(tmp_path, *line)
    assert (done.returncode, done.stderr) == (0, "")
    assert "codeplan: no mutants ran; a manifest asks for them with [mutation]" in done.stdout
    manifest = tmp_path / "plans" / "clean_22.plan.toml"
    manifest.write_text(manifest.read_text() + "\n[mutation]\nat_least = 0.1\n")
    done = codeplan_command(tmp_path, *line)
    assert done.returncode == 0, done.stdout
    assert "strength of plans' assertions" in done.stdout
    assert "1 passed" in done.stdout
    assert "no mutants ran" not in done.stdout


@pytest.mark.parametrize("function", [lambda: "", lambda messages, more: "", lambda *, messages: ""])
def test_a_model_that_cannot_be_called_with_the_messages_is_refused_before_anything_begins(function, tmp_path) -> None:
    with pytest.raises(codeplan.UsageError, match=r"cannot be called with the messages \(.*\); write def model"):
        codeplan.run(Boxes(), "ball/2", model=function, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_unknown_price_is_not_shown_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(f"PLAN = {PLAN!r}\n\ndef plans(messages):\n    return PLAN\n")
    done = codeplan_command(tmp_path, "run", "household", "--model", "model.py:plans", "--tries", "1", "-q")
    assert "Money        unknown" in done.stdout
    assert "$0.00" not in done.stdout


def test_make_run_says_first_what_it_does(tmp_path: Path) -> None:
    """Nothing that takes time comes before the first line of output."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(Path(__file__).parents[1] / name, tmp_path)
    plan = subprocess.run(
        ["make", "-n", "--no-print-directory", "run"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    commands = plan.stdout.replace("\\\n", "").splitlines()
    says = next(i for i, command in enumerate(commands) if command.startswith("echo "))
    assert "Making the environment .venv" in commands[says]
    assert commands[says + 1].endswith(" -m venv .venv")
    assert all("sys.version_info" in command for command in commands[:says])


def test_the_installed_command_prints_the_script_of_a_shell() -> None:
    program = Path(sys.executable).with_name("codeplan")
    within_bash = ["bash", "-c", '"$0" --show-completion; exit $?', program]
    done = subprocess.run(within_bash, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    checked = subprocess.run(["bash", "-n"], input=done.stdout, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "complete -o default -F _codeplan_completion codeplan"
