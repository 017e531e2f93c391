"""A folder named codeplan in the current folder does not stand in for the installed package.

Python finds such a folder before a package that is installed as editable.
"""

import subprocess
import sys

from codeplan.version import VERSION

PLAN = "def solution(agent, start_from=1):\n    return 1"
IN_PYTHON = f"from codeplan.sandbox import Sandbox; Sandbox().run({PLAN!r}, object(), ask=str)"


def run_python(folder, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_line_runs_a_plan_beside_a_folder_of_its_name(tmp_path):
    (tmp_path / "codeplan").mkdir()
    done = run_python(tmp_path, "-m", "codeplan", "run", "household", "--task", "clean/22", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert run_python(tmp_path, "-m", "codeplan", "--version").stdout.split()[-1] == VERSION


def test_in_python_one_sentence_names_the_folder(tmp_path):
    (tmp_path / "codeplan").mkdir()
    done = run_python(tmp_path, "-c", IN_PYTHON)
    if done.returncode:
        hides = f"the folder {tmp_path / 'codeplan'} hides the installed codeplan; start Python in another folder"
        assert done.stderr.splitlines()[-1] == f"codeplan.errors.SandboxError: {hides}"
    else:  # a package that is not editable is found first
        assert run_python(tmp_path, "-c", "import codeplan; codeplan.run").returncode == 0
