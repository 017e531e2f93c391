"""The names that a step needs: those that it reads before it sets them, itself or through functions, if they exist."""

from __future__ import annotations

import pytest
from support.guarded_plans import accepted

ABOVE = """\
def bottom():
    return depth
"""
"""Functions of one part of the plan share what they read, so each of these is in a part of its own."""

WITHIN = ("limit = 1", "def middle():\n    return bottom() + offset", "def top():\n    return middle() + width")


def needs(*steps: str, above: str = "", between: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """What each step of a plan needs. ``between`` is code outside the steps, before the first and the later ones."""
    lines = ["def solution(agent, start_from=1):"]
    for k, body in enumerate(steps, 1):
        lines += [f"    {line}" for line in between[k - 1 : k] for line in line.split("\n")]
        lines.append(f"    if start_from <= {k}:")
        lines += [f"        {line}" for line in [*body.split("\n"), "assert True"]]
    return [step.needs for step in accepted(above + "\n".join(lines) + "\n").steps]


FIRST = "depth = 1\noffset = 2\nwidth = 3"


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("print(bottom())", ("bottom", "depth")),
        ("print(middle())", ("bottom", "depth", "middle", "offset")),
        ("print(top())", ("bottom", "depth", "middle", "offset", "top", "width")),
        ("print(sorted('ab', key=lambda c: middle()))", ("bottom", "depth", "middle", "offset")),
        ("depth = 5\nprint(middle())", ("bottom", "middle", "offset")),
        ("print(1)", ()),
    ],
)
def test_a_step_needs_what_its_functions_read_however_indirectly(body: str, needed: tuple[str, ...]) -> None:
    assert needs(FIRST, "pass", body, above=ABOVE, between=WITHIN)[2] == needed


def test_functions_that_call_each_other_end_the_search() -> None:
    between = ("def b():\n    return a() + y",)
    assert needs("x = 1\ny = 2", "print(a())", above="def a():\n    return b() + x\n", between=between)[1] == tuple(
        "abxy"
    )


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("size = 4\nprint([lambda: size][0]())", ()),
        ("pick = lambda c: size\nsize = 4\nprint(pick(1))", ()),
        ("def f():\n    return size\nsize = 4\nprint(f())", ()),
        ("def f():\n    return size\nprint(f())", ("size",)),
        ("print(sorted('ab', key=lambda c: size))", ("size",)),
    ],
)
def test_a_name_that_a_function_in_the_step_reads_is_needed_unless_the_step_sets_it(
    body: str, needed: tuple[str, ...]
) -> None:
    assert needs("size = 1", body)[1] == needed


def test_what_only_a_later_step_sets_is_not_needed() -> None:
    assert needs("print([lambda: late])", "late = 1") == [(), ()]


def test_a_name_of_an_earlier_step_or_of_code_above_the_steps_is_needed() -> None:
    assert needs("mine = 1", "print(mine, given)", above="given = 2\n")[1] == ("given", "mine")
