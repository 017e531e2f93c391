"""A bug in the user's own environment or model ends the command with its traceback and one sentence."""

import json
import os
import subprocess
import sys

import pytest

BOXES = """
from codeplan import Observation, Task

class BoxAgent:
    def __init__(self, act):
        self._act = act

    def open(self, box: int) -> str:
        return self._act("open").txet

    def report(self) -> str:
        return ""

class Boxes:
    name, agent = "boxes", BoxAgent

    def tasks(self, split):
        return [Task(id="ball", env="boxes", kind="find", goal="find the ball")]

    def reset(self, task):
        return Observation("There are boxes.")

    def step(self, action):
        return Observation("It is empty.")

    def close(self):
        pass
"""
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        try:
            agent.open(1)
        except Exception:
            print('hidden')
"""


def test_the_developer_sees_where_the_agent_is_broken(tmp_path):
    (tmp_path / "boxes.py").write_text(BOXES)
    (tmp_path / "boxes-1.dist-info").mkdir()
    (tmp_path / "boxes-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: boxes\nVersion: 1\n")
    (tmp_path / "boxes-1.dist-info" / "entry_points.txt").write_text("[codeplan.envs]\nboxes = boxes:Boxes\n")
    (tmp_path / "plan.py").write_text(PLAN)
    command = [sys.executable, "-m", "codeplan", "exec", "plan.py", "--env", "boxes", "--out", "run"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    *trace, sentence = done.stderr.splitlines()
    assert done.returncode == 4
    assert sentence.startswith("codeplan: agent.open is broken: AttributeError: 'Observation' object has no attribute")
    assert 'boxes.py", line 9, in open' in "\n".join(trace) and "agent_port.py" not in done.stderr
    end = json.loads((tmp_path / "run" / "trace.jsonl").read_text().splitlines()[-1])
    assert (end["result"]["ending"]["error"], end["broken_off"]) == ("AgentBroken", True)


MODELS = """
def answer(messages):
    return pick(messages)

def pick(messages):
    return messages[99]["content"]

async def later(messages):
    return pick(messages)

class Mine:
    name = "mine"

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        return pick(messages)

mine = Mine()
"""


@pytest.mark.parametrize(("name", "frame"), [("answer", 3), ("later", 9), ("mine", 15)])
def test_the_developer_sees_where_the_model_is_broken(name, frame, tmp_path):
    (tmp_path / "own.py").write_text(MODELS)
    command = [sys.executable, "-m", "codeplan", "run", "household", "--model", f"own.py:{name}", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    first, *trace, sentence = done.stderr.splitlines()
    assert done.returncode == 4
    assert (first, sentence) == (
        "Traceback (most recent call last):",
        f"codeplan: the model {name} failed: IndexError: list index out of range (own.py, line 6)",
    )
    files = [line.strip() for line in trace if line.strip().startswith("File ")]
    assert [line.rpartition("/")[2].split(", in")[0] for line in files] == [f'own.py", line {frame}', 'own.py", line 6']
    end = json.loads((tmp_path / "run" / "trace.jsonl").read_text().splitlines()[-1])
    assert (end["result"]["ending"]["error"], end["broken_off"]) == ("ModelError", True)
