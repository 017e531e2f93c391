"""What the check says of variables that a run before has left: who may read them, and what the plan says of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.guarded_plans import API

from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.checking import NO_RUN_BEFORE, VariablesBefore, check_source
from codeplan.sandbox.protocol.limits import MAX_NAME_CHARS
from codeplan.types import Plan, Rejected

STEPS = """
def count():
    return len({helper})
def solution(agent, start_from=1):
    {before}
    if start_from <= 1:
        {first}
        assert True
    {between}
    if start_from <= 2:
        {second}
        assert True
    {after}
"""
FREE = {"helper": "'none'", "before": "x = 1", "first": "y = 2", "between": "z = 3", "second": "pass", "after": "pass"}


def check(kept: str = "sent", starts_over: bool = False, **parts: str) -> Plan | Rejected:
    """The check of a plan with these parts after a run that left the variables ``kept``."""
    return check_source(STEPS.format(**FREE | parts), API, VariablesBefore(frozenset(kept.split()), starts_over))


@pytest.mark.parametrize(
    ("parts", "needs"),
    [
        ({"first": "y = len(sent)"}, (["sent"], [], [])),
        ({"second": "y = [p for p in 'ab' if p not in sent]"}, ([], ["sent"], [])),
        ({"second": "sent.append(1)"}, ([], ["sent"], [])),
        ({"second": "y = max('ab', key=lambda p: p in sent)"}, ([], ["sent"], [])),
        ({"after": "return sent"}, ([], [], ["sent"])),
        ({"helper": "sent", "second": "y = count()"}, ([], ["count", "sent"], [])),
    ],
)
def test_steps_and_the_code_after_them_may_read_a_variable_of_the_run_before(parts, needs):
    found = check(**parts)
    assert isinstance(found, Plan)
    assert ([*found.steps[0].needs], [*found.steps[1].needs], [*found.needs]) == needs
    assert found.kept == ("sent",)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"before": "y = len(sent)"},
            "`sent` is kept from the run before, but code before a step runs at every start; read it in a step",
        ),
        (
            {"between": "y = len(sent)"},
            "`sent` is kept from the run before, but code before a step runs at every start; read it in a step",
        ),
        ({"first": "y = snt"}, "`snt` is not defined; did you mean `sent`? Otherwise set it first"),
        (
            {"starts_over": True, "first": "y = len(sent)"},
            "`sent` is not defined: the next run starts at step 1 without variables, also without the `sent` of the "
            "run before; set it before it is read",
        ),
        (
            {"starts_over": True, "first": "y = len(sent)", "second": "sent = []"},
            "`sent` is read here, but first set in step 2; the next run starts at step 1 without variables, also "
            "without the `sent` of the run before; set it in this step or above the first",
        ),
    ],
)
def test_a_read_that_would_find_nothing_is_refused_with_the_reason(parts, message):
    found = check(**parts)
    assert isinstance(found, Rejected)
    assert [d.message for d in found.diagnostics] == [message]


def test_a_name_that_the_plan_sets_earlier_or_python_has_is_not_kept():
    found = check("len x y sent", first="sent = [x]\n        y = len(sent)", second="y = len(sent) + y")
    assert isinstance(found, Plan)
    assert found.kept == ()


WORDS = ["x", "y", "z", "count", "len", "sent", "start_from", "agent", "other"]


@given(st.sets(st.sampled_from(WORDS)), st.booleans(), st.sampled_from(["y = x", "y = count()", "z = 1; y = z"]))
def test_a_plan_that_needs_no_run_before_is_the_same_plan_after_one(names, starts_over, second):
    source = STEPS.format(**FREE | {"second": second})
    plan = check_source(source, API, NO_RUN_BEFORE)
    assert isinstance(plan, Plan)
    assert check_source(source, API, VariablesBefore(frozenset(names), starts_over)) == plan


HOSTILE = ["_secret", "__builtins__", "a b", "", "1", "class", "start_from", "n" * (MAX_NAME_CHARS + 1), "\ud800"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_no_plan_can_have_are_ignored(name):
    plan = STEPS.format(**FREE | {"second": "y = sent"})
    found = Sandbox().check(plan, API, kept=[name, "sent", *(f"n{k}" for k in range(50_000))])
    assert isinstance(found, Plan)
    assert found.kept == ("sent",)
