"""Programs as models write them for tool tasks do as plans what they do in Python: the same output, calls and ending."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import functools
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import support.office
from support.office import Office

from codeplan.errors import AgentError
from codeplan.sandbox import Limits, Sandbox
from codeplan.types import Finished

TEXT = (Path(support.office.__file__).parent / "tool_programs.txt").read_text()
PROGRAMS = {name: body for name, _, body in (part.partition("\n") for part in ("\n" + TEXT).split("\n### ")[1:])}
PREDEFINED = {
    "asyncio": asyncio,
    "json": json,
    "re": re,
    **{n: getattr(collections, n) for n in ("Counter", "defaultdict")},
}


def for_plans(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of the office that tells plans its errors."""

    @functools.wraps(method)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return method(*args, **named)
        except Exception as error:
            raise AgentError(str(error.args[0]), type(error)) from None

    return call


class PlanOffice(Office):
    """The office as plans reach it."""


for _name, _method in vars(Office).items():
    if not _name.startswith("_"):
        setattr(PlanOffice, _name, for_plans(_method))


def in_python(source: str) -> tuple[str, list[Any]]:
    office, out = Office(), io.StringIO()
    space: dict[str, Any] = {"__name__": "__main__", **PREDEFINED}
    with contextlib.redirect_stdout(out):
        exec(compile(source, "program", "exec", dont_inherit=True), space)
        space["solution"](office)
    return out.getvalue(), office.calls


def as_plan(source: str) -> tuple[str, list[Any]]:
    office = PlanOffice()
    outcome = Sandbox(Limits(wall=20)).run(source, office, str)
    assert isinstance(outcome, Finished), outcome
    return outcome.output, office.calls


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) == 20
    assert all("assert" in program for program in PROGRAMS.values())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_a_tool_task_does_as_a_plan_what_it_does_in_python(name: str) -> None:
    assert as_plan(PROGRAMS[name]) == in_python(PROGRAMS[name])
