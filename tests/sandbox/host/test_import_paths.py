"""Child processes start by the same Python, however the shell found it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import codeplan
from codeplan.sandbox.host.import_paths import python_program

PROJECT = str(Path(codeplan.__file__).parents[1])
RUN_A_PLAN = """
import sys
from codeplan.sandbox import Limits, Sandbox
assert sys.executable == {program!r}, sys.executable
print(Sandbox(Limits()).run('def solution(agent, start_from=1):\\n    return 6 * 7', object(), str).value)
"""


@pytest.mark.parametrize("cage", ["on", "off"])
def test_plans_run_by_a_python_that_a_relative_folder_in_path_names(tmp_path: Path, cage: str):
    if cage == "off":
        pytest.importorskip("pydantic_monty")
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    name = Path(sys.executable).name
    environment = os.environ | {"PATH": "bin", "PYTHONPATH": os.pathsep.join([PROJECT, *sys.path])}
    environment |= {"CODEPLAN_CAGE": "off"} if cage == "off" else {}
    script = RUN_A_PLAN.format(program=f"bin/{name}")
    done = subprocess.run(
        ["/bin/sh", "-c", f'{name} -c "$0"', script],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("42\n", 0), done.stderr


def test_a_python_that_does_not_know_its_program_has_no_path(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "")
    assert python_program() == ""
    monkeypatch.setattr(sys, "executable", "bin/python")
    assert python_program() == str(Path.cwd() / "bin" / "python")
