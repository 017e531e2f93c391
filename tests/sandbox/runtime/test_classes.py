"""Plans with classes, generators and contexts do what Python does with the same program."""

from __future__ import annotations

import contextlib
import io

import pytest
from support.class_programs import CLASSES, FUNCTIONS, LIBRARY, MATCHING, STEPS
from support.guarded_plans import accepted, run

from codeplan.sandbox.runtime.termination import AssertionFailure

PROGRAMS = CLASSES | LIBRARY | FUNCTIONS | MATCHING


def in_python(source: str) -> str:
    """Return what Python prints, and the error with which it ends."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(source, "program", "exec", dont_inherit=True), {"__name__": "__main__"})
    except Exception as error:
        return f"{out.getvalue()}{type(error).__name__}: {error}\n"
    return out.getvalue()


def in_plan(source: str) -> str:
    """Return what the plan prints, and the error with which it ends."""
    accepted(source)
    ran = run(source)
    error = ran.error
    name = "AssertionError" if isinstance(error, AssertionFailure) else type(error).__name__
    return ran.output + (f"{name}: {error}\n" if error else "")


def indented(source: str) -> str:
    return "".join(f"    {line}\n" for line in source.split("\n"))


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) + len(STEPS) >= 60
    assert all("print(" in program for program in PROGRAMS.values())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_around_the_plan_does_what_python_does(name: str) -> None:
    program = PROGRAMS[name]
    assert in_plan(f"def solution(agent, start_from=1):\n    pass\n{program}") == in_python(program)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_in_a_function_of_the_plan_does_what_python_does(name: str) -> None:
    program = PROGRAMS[name]
    if "global" in program:
        pytest.skip("its names are those of the module")
    program = f"def program():\n{indented(program)}program()\n"
    assert in_plan(f"{program}def solution(agent, start_from=1):\n    pass\n") == in_python(program)


@pytest.mark.parametrize("name", STEPS)
def test_steps_share_what_they_set_as_one_program_does(name: str) -> None:
    before, *steps = STEPS[name].split("#-- step\n")
    blocks = [f"    if start_from <= {k}:\n{indented(indented(step))}" for k, step in enumerate(steps, 1)]
    plan = f"def solution(agent, start_from=1):\n{indented(before)}{''.join(blocks)}"
    assert in_plan(plan) == in_python("\n".join([before, *steps]))
