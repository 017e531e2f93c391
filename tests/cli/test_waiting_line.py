"""Something moves on a terminal while a model writes; Ctrl-C then says how to go on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.endpoint import serve
from support.served import Serve
from support.terminals import codeplan_on_terminal

from codeplan.cli.output import reply_tail
from codeplan.untrusted.texts import clean

__all__ = ["serve"]

pytestmark = pytest.mark.long

MODEL = '''
import time

PLAN = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print("[Step 1] look")
        agent.look()
        assert agent.location is not None, "nowhere"
```"""


def slow(messages):
    time.sleep(2)
    return PLAN


def never(messages):
    time.sleep(3600)
'''
WRITING = "The model is called to write a plan: "
RUN = ["run", "household", "--task", "clean/3", "--tries", "1", "--out", "mine", "--model"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def test_a_line_says_what_the_episode_waits_for_and_goes_away(folder: Path) -> None:
    shown = codeplan_on_terminal([*RUN, "model.py:slow"], folder)
    assert re.search(WRITING + r"\d+ s, \d+ s in all", shown.text)
    assert not any(WRITING in line.split("\r")[-1] for line in shown.lines[-5:])


def test_the_last_lines_of_a_reply_are_shown_while_it_is_written(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", serve(latency=2.0).url)
    shown = codeplan_on_terminal([*RUN, "some"], folder)
    below = re.findall(WRITING + r"\d+ s, \d+ s in all\s*\n([^\n]*)", shown.text)
    plan = re.search(r"^ +\d+  (def solution.*)", shown.text, re.MULTILINE)
    assert plan and any("[Step" in line or "agent." in line or "start_from" in line for line in below)
    assert not any(WRITING in line.split("\r")[-1] for line in shown.lines[-5:])


def test_the_tail_of_a_reply_fits_the_terminal_and_controls_nothing() -> None:
    reply = "first\n\nsecond\nthird \x1b[2J\n" + "x" * 99 + "end\n"
    assert reply_tail(reply, 20) == ["second", clean("third \x1b[2J"), "…" + "x" * 16 + "end"]
    assert reply_tail("", 20) == []


def test_nothing_moves_where_standard_error_is_no_terminal(folder: Path) -> None:
    command = [sys.executable, "-m", "codeplan", *RUN, "model.py:slow"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.stderr == "codeplan: to go on, run: codeplan resume mine --tries 3 --model model.py:slow\n"
    assert WRITING not in done.stdout


def test_ctrl_c_while_a_model_writes_says_how_to_go_on(folder: Path) -> None:
    shown = codeplan_on_terminal([*RUN, "model.py:never"], folder, interrupt_at=WRITING)
    assert shown.code == 130
    assert _last_message(shown.text) == "interrupted; to go on, run: codeplan resume mine --model model.py:never"
    again = ["resume", "mine", "--model", "model.py:never"]
    shown = codeplan_on_terminal(again, folder, interrupt_at=WRITING)
    assert shown.code == 130
    assert _last_message(shown.text) == "interrupted; to go on, run: codeplan resume mine --model model.py:never"
    branch = ["fork", "mine", "--at", "1", "--out", "other", "--model", "model.py:never"]
    shown = codeplan_on_terminal(branch, folder, interrupt_at=WRITING)
    assert shown.code == 130
    assert _last_message(shown.text) == "interrupted; to go on, run: codeplan resume other --model model.py:never"


def _last_message(text: str) -> str:
    return " ".join(text.split()).rpartition("codeplan: ")[2]


def test_ctrl_c_in_an_episode_with_tools_says_that_resume_needs_them_again(folder: Path) -> None:
    (folder / "tools.py").write_text("def get() -> int:\n    return 1\n")
    command = ["do", "get it", "--tools", "tools.py", "--out", "mine", "--model", "model.py:never"]
    shown = codeplan_on_terminal(command, folder, interrupt_at=WRITING)
    again = "run: codeplan resume mine --model model.py:never; name the tools again, as for this command"
    assert (shown.code, _last_message(shown.text)) == (130, f"interrupted; to go on, {again}")


ENVIRONMENT = """
import time
from codeplan import Observation, Task

class DoorAgent:
    def __init__(self, act):
        self._act = act

    def open(self) -> str:
        return self._act("open").text

    def report(self) -> str:
        return ""

class Door:
    name, agent, waits = "door", DoorAgent, "{waits}"

    def tasks(self, split):
        return [Task(id="one", env="door", kind="open", goal="open the door")]

    def reset(self, task):
        if self.waits == "reset":
            time.sleep(3600)
        return Observation("A door.")

    def step(self, action):
        if self.waits == "step":
            time.sleep(3600)
        return Observation("It is open.")

    def close(self):
        pass

def plan(messages):
    return "def solution(agent, start_from=1):\\n    if start_from <= 1:\\n        assert agent.open()\\n"
"""


@pytest.mark.parametrize(
    ("waits", "said"), [("reset", "The environment works: "), ("step", "The plan or its environment works: ")]
)
def test_the_line_names_a_plan_only_once_one_runs(waits: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "door.py").write_text(ENVIRONMENT.replace("{waits}", waits))
    shown = codeplan_on_terminal(["run", "door.py:Door", "--model", "door.py:plan"], tmp_path, interrupt_at=said)
    assert shown.code == 130
    assert ("The plan or its environment" in shown.text) == (waits == "step")
