"""Parameters as text: read from a plan's head, and set there, without parsing Python."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.skill_samples import PLAN

from codeplan.skills.parameter_binding import (
    BindingError,
    SkillParameter,
    bind_parameters,
    parse_values,
    read_parameters,
)


def test_the_block_holds_names_values_and_descriptions():
    found = read_parameters(PLAN)
    assert found.goal == "heat some apple and put it in fridge."
    assert found.parameters == (
        SkillParameter("the_item", "apple", "step 1: I look for an apple"),
        SkillParameter("the_places", ["countertop 1", "fridge 1"], "step 1: I look for an apple"),
    )


def test_a_plan_without_a_block_has_no_parameters():
    assert read_parameters("def solution(agent, start_from=1):\n    x = 'apple'\n").parameters == ()


@given(st.text(max_size=50), st.lists(st.text(max_size=20), max_size=5))
def test_any_text_is_bound_as_data_and_reads_back(item, places):
    plan = bind_parameters(PLAN, "a goal", {"the_item": item, "the_places": places})
    assert plan.count("\n") == PLAN.count("\n")
    solution = ast.parse(plan).body[0]
    values = {s.targets[0].id: ast.literal_eval(s.value) for s in solution.body if isinstance(s, ast.Assign)}
    given_back = {p.name: p.value for p in read_parameters(plan).parameters}
    assert values == given_back
    if all(c.isprintable() for c in item):
        assert values["the_item"] == item


def test_only_parameters_in_the_block_are_set():
    assert bind_parameters(PLAN, "heat some apple and put it in fridge.", {"start_from": "9", "print": "x"}) == PLAN


def test_a_reply_gives_every_parameter_a_value_of_its_type():
    reply = 'Here: {"the_item": "egg", "the_places": ["fridge 1"], "more": "x"} as asked.'
    assert parse_values(reply, read_parameters(PLAN).parameters) == {"the_item": "egg", "the_places": ["fridge 1"]}


@pytest.mark.parametrize(
    "reply",
    [
        *("", "no", "{}", "{" * 100_000, '{"the_item": "egg"}'),
        '{"the_item": ["egg"], "the_places": []}',
        '{"the_item": 3, "the_places": []}',
        '{"the_item": {"a": "b"}, "the_places": []}',
        '{"the_item": "' + "x" * 5_000 + '", "the_places": []}',
    ],
)
def test_any_other_reply_binds_nothing(reply):
    with pytest.raises(BindingError):
        parse_values(reply, read_parameters(PLAN).parameters)


def test_a_plan_that_assigns_a_parameter_many_times_grows_by_one_value():
    opening, closing = (line for line in PLAN.split("\n") if line.strip().startswith("# ") and "arameters" in line)
    plan = "\n".join([opening, *['    the_item = "a"'] * 5_000, closing])
    bound = bind_parameters(plan, "heat it", {"the_item": ["x" * 2_000] * 500})
    assert len(bound) < len(plan) + 1_100_000
    assert bound.count("xxx") > 0
