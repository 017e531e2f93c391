"""Neither pytest nor Python runs a plan that ``new-test`` writes from a stranger's trace, whatever its task is called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import codeplan
from codeplan.testing.scaffold import new_test

pytestmark = pytest.mark.long

EVIL = "from pathlib import Path\nPath('ran').touch()\n"
OWN_TEST = "import json\nimport random\n\ndef test_it():\n    assert json.loads('1') and random.random\n"

IDS = {
    "conftest": "conftest",
    "test_it": "plan_test_it",
    "Test/1": "plan_Test_1",
    "it/test": "it_test",
    "attest": "attest",
    "__init__": "__init__",
    "json": "json",
    "setup": "setup",
    "": "task",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    folder = tmp_path_factory.mktemp("recorded")
    codeplan.run("household", "clean/22", mistakes="none", out=folder)
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


@pytest.fixture
def project(tmp_path: Path, recorded: list[dict[str, object]]) -> Path:
    """The user's own folder of tests, with the plans of strangers' traces, which would leave the file ``ran``."""
    for number, task in enumerate(IDS):
        run = tmp_path / "theirs" / str(number)
        run.mkdir(parents=True)
        lines = [json.dumps(forge(event, task)) + "\n" for event in recorded]
        (run / "trace.jsonl").write_text("".join(lines))
        new_test(run, tmp_path / "tests")
    (tmp_path / "tests" / "test_mine.py").write_text(OWN_TEST)
    return tmp_path


def forge(value: object, task: str) -> object:
    """The same with another task's id, and with code before each plan that runs when it is imported."""
    if isinstance(value, dict):
        return {k: EVIL + v if k == "plan" and isinstance(v, str) else forge(v, task) for k, v in value.items()}
    if isinstance(value, list):
        return [forge(v, task) for v in value]
    return task if value == "clean/22" else value


def test_the_files_are_named_after_the_tasks(project: Path) -> None:
    written = {path.name for path in (project / "tests").iterdir()} - {"test_mine.py"}
    endings = (".plan.py", ".plan.toml", ".tape.jsonl")
    assert written == {f"{name}{ending}" for name in IDS.values() for ending in endings}
    assert all(path.read_text().startswith(EVIL) for path in project.glob("tests/*.plan.py"))


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-p", "no:codeplan"],
        ["-p", "no:codeplan", "--import-mode=importlib"],
        ["-o", "python_files=*.py", "--doctest-modules"],
        ["tests/json.plan.py", "tests/plan_test_it.plan.py"],
    ],
    ids=["plain", "no plugin", "importlib", "all files", "named"],
)
def test_pytest_does_not_import_them(options: list[str], project: Path) -> None:
    given = ["-q", "-p", "no:cacheprovider", "--ignore-glob=*.plan.toml", *options]
    done = subprocess.run([sys.executable, "-m", "pytest", *given], cwd=project, capture_output=True, text=True)
    shown = done.stdout + done.stderr
    assert not (project / "ran").exists()
    assert ("no tests ran" if "tests/json.plan.py" in options else "1 passed") in shown, shown


def test_python_does_not_import_them_in_place_of_its_own_modules(project: Path) -> None:
    own = (
        "import sys; sys.path.insert(0, ''); import json, random, unittest; unittest.main(None, argv=['', 'discover'])"
    )
    subprocess.run([sys.executable, "-c", own], cwd=project / "tests", capture_output=True)
    assert not (project / "tests" / "ran").exists()
