"""Packages that plans import by the user's word: what they do in the cage, and what its walls refuse them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from codeplan.errors import UsageError
from codeplan.sandbox import Sandbox
from codeplan.types import Failed, Finished, Outcome, Plan, Rejected, Stopped

needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")


class Desk:
    """An agent that keeps what it is given."""

    def note(self, value: object) -> object:
        """Return the value."""
        return value


def plan_text(body: str) -> str:
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    return f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{lines}"


def run(body: str, imports: str = "numpy") -> Outcome | Rejected:
    sandbox = Sandbox(imports=imports, backend="cage")
    plan = sandbox.check(plan_text(body), Desk)
    assert isinstance(plan, Plan), plan.diagnostics
    return sandbox.run(plan, Desk(), lambda question: "")


@needs_numpy
def test_a_plan_computes_with_numpy_and_returns_plain_data():
    body = """
import numpy as np, numpy.linalg
from numpy import array
a = array([[2.0, 1.0], [1.0, 3.0]])
a[0][1] *= 2
a[1] += 1
try:
    np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError as error:
    print(error)
return a.tolist(), agent.note(float((a @ a).sum())), numpy.linalg.norm(np.ones(9)).item()
"""
    outcome = run(body)
    assert isinstance(outcome, Finished)
    assert outcome.value == ([[2.0, 2.0], [2.0, 4.0]], 52.0, 3.0)
    assert outcome.output == "Singular matrix\n"


@needs_numpy
def test_numpys_own_random_numbers_are_those_of_the_runs_seed():
    first, again = (run("import numpy as np\nreturn np.random.rand(3).tolist()") for _ in range(2))
    assert isinstance(first, Finished) and isinstance(again, Finished)
    assert first.value == again.value


@needs_numpy
@pytest.mark.parametrize(
    "attack",
    [
        "np.load('{file}')",
        "np.fromfile('{file}')",
        "np.genfromtxt('{file}')",
        "np.lib.npyio.DataSource('{folder}').open('{file}').read()",
        "np.memmap('{file}').tolist()",
        "np.genfromtxt('http://127.0.0.1:9/x')",
        "np.ones(2).tofile('{folder}/made')",
        "np.save('{folder}/made', np.ones(2))",
        "np.ctypeslib.load_library('libc.so.6', '/lib')",
    ],
)
def test_the_cage_holds_what_a_package_would_reach(tmp_path: Path, attack: str):
    secret = tmp_path / "secret"
    secret.write_text("1 2 3")
    outcome = run(f"import numpy as np\nreturn {attack.format(file=secret, folder=tmp_path)}")
    assert isinstance(outcome, Failed | Stopped)
    assert list(tmp_path.iterdir()) == [secret]


@needs_numpy
def test_a_limit_holds_inside_a_package():
    memory = run("import numpy as np\nreturn float(np.ones(10**9).sum())")
    processor = run("import numpy as np\nf = np.vectorize(lambda x: x)\nwhile True:\n    f([1, 2])")
    assert isinstance(memory, Stopped) and memory.limit == "memory"
    assert isinstance(processor, Stopped) and processor.limit in ("cpu", "wall")


@needs_numpy
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("agent.note(np.ones(2))", "was given a ndarray; give it texts, numbers, lists and dicts; write x.tolist()"),
        ("np.ones(2)._x", "has no attribute '_x'"),
        ("np.ctypeslib.ctypes.string_at(0)", "'ctypes' is a module that plans cannot reach"),
        ("np.ones(2).__class__", "type() is for data"),
        ("setattr(np, 'add', 3)", "cannot be written"),
    ],
)
def test_what_a_plan_may_not_do_with_a_package_is_named(body: str, said: str):
    outcome = run(f"import numpy as np\nreturn {body}")
    assert isinstance(outcome, Failed)
    assert said in outcome.message


@needs_numpy
def test_a_returned_array_is_named_with_what_to_write():
    outcome = run("import numpy as np\nreturn np.ones(2)")
    assert isinstance(outcome, Finished)
    assert outcome.omitted["return"] == "a ndarray cannot be saved; write x.tolist(), float(x) or str(x)"


def test_a_module_of_the_standard_library_is_held_by_the_cage_alone():
    listed = run("import posix\nreturn posix.listdir('/')", "posix")
    started = run("import posix\nreturn posix.system('true')", "posix")
    assert isinstance(listed, Failed) and listed.error == "PermissionError"
    assert isinstance(started, Stopped) and "forbidden system call" in started.message
    beyond = run("import shutil\nreturn shutil.os", "shutil")
    assert isinstance(beyond, Failed) and "name it when you start: --imports os" in beyond.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os; x", "is not the name of a module"),
        ("json", "plans have already"),
        ("codeplan.sandbox", "which plans cannot import"),
        ("no_such_package", "pip install no_such_package"),
        ("xml.nothing", "xml has no such module"),
    ],
)
def test_a_name_that_cannot_be_loaded_is_a_usage_error(name: str, said: str):
    with pytest.raises(UsageError, match=said):
        run("return 1", name)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise OSError('no folder to write to')", "fails when imported: OSError: no folder to write to"),
        ("import no_such_part", "it needs no_such_part, which is not installed"),
        ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()", "starts threads"),
    ],
)
def test_what_a_package_needs_and_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, said: str
):
    name = f"needy_{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=f"--imports {name}: .*{said}"):
        run("return 1", name)


@pytest.mark.parametrize("line", ["import numpy", "from numpy import array"])
def test_a_package_without_the_users_word_is_refused_with_the_option(line: str):
    refused = Sandbox().check(plan_text(f"{line}\nreturn [numpy, array]"), Desk)
    assert isinstance(refused, Rejected)
    assert any("--imports" in diagnostic.message for diagnostic in refused.diagnostics)


def test_private_parts_and_stars_of_a_package_are_refused():
    sandbox = Sandbox(imports="numpy")
    for line in ("import numpy._core as q", "from numpy._core import q", "from numpy import *"):
        assert isinstance(sandbox.check(plan_text(f"{line}\nreturn q"), Desk), Rejected)


def test_a_backend_that_loads_no_packages_refuses_them():
    with pytest.raises(UsageError, match="loaded in the cage"):
        Sandbox(imports="numpy", backend="monty").check(plan_text("return 1"), Desk)
