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


MAKERS = {
    "a statement": "class K(Base):\n    pass",
    "type": "type('K', (Base,), {})",
    "make_dataclass": "dataclasses.make_dataclass('K', ['a'], bases=(Base,))",
    "make_dataclass with slots": "dataclasses.make_dataclass('K', ['a'], bases=(Base,), slots=True)",
    "an Enum's statement": "class K(BaseEnum):\n    _ignore_ = ['__plan_class__']\n    A = 1",
    "an Enum's call": "BaseEnum('K', 'A B')",
    "an Enum's call with a type": "enum.Enum('K', ['A'], type=Base)",
    "make_dataclass over an Enum": "dataclasses.make_dataclass('K', [], bases=(BaseEnum,), eq=False, repr=False)",
}


@pytest.mark.parametrize("made", MAKERS.values(), ids=MAKERS)
def test_a_class_is_the_plans_own_as_soon_as_any_code_sees_it(made: str) -> None:
    source = (
        "import dataclasses, enum\nseen = []\nclass Seen:\n    def __init_subclass__(cls, **named):\n"
        "        seen.append(cls.__module__)\n        cls.mine = 1\nclass Base(Seen):\n    pass\n"
        "class BaseEnum(enum.Enum):\n    def __init_subclass__(cls, **named):\n        seen.append(cls.__module__)\n"
        f"        cls.mine = 1\n{made}\nprint({{*seen}})\n"
    )
    assert in_plan(f"{source}def solution(agent, start_from=1):\n    pass\n") == "{'__main__'}\n"


@pytest.mark.parametrize("name", ["mro", "register"])
def test_a_made_dataclass_takes_no_default_from_its_metaclass(name: str) -> None:
    source = (
        "import abc, dataclasses\nclass Base(abc.ABC):\n    pass\n"
        f"dataclasses.make_dataclass('K', [{name!r}], bases=(Base,))\ndef solution(agent, start_from=1):\n    pass\n"
    )
    assert "cannot be called" in in_plan(source)


def test_what_copies_a_user_list_copies_nothing_else() -> None:
    source = (
        "import collections, threading\nt = threading.Thread(target=print)\nt.data = []\n"
        "for kind in (collections.UserList, collections.UserDict):\n    try:\n        print(kind.__copy__(t))\n"
        "    except TypeError as e:\n        print(e)\nprint(collections.UserList.__copy__(collections.UserList([1])))\n"
    )
    shown = "this __copy__ is not for a Thread\n" * 2 + "[1]\n"
    assert in_plan(f"{source}def solution(agent, start_from=1):\n    pass\n") == shown
