"""How the stand-in mends household plans by the errors of the check and by feedback."""

import ast
import re

import pytest
from support.standin_prompts import CORRECT, FIRST_CHECK, PARSED, ROOM, ask, ask_for_plan, ask_to_refine, errors_of

from codeplan.envs.household.agent import HouseholdAgent
from codeplan.standin.household import parse_goal, refine_plan, write_plan
from codeplan.standin.model import ScriptedModel, first_difference, rules_for


@pytest.mark.parametrize("name", ["syntax_error", "unknown_method"])
@pytest.mark.parametrize("seed", range(4))
def test_a_refused_plan_is_repaired(name, seed):
    broken = ask_for_plan(model=ScriptedModel(seed, name))
    errors = errors_of(broken, HouseholdAgent)
    assert errors.count("\n") == 0 < len(errors)
    assert ask("adaplanner/check", source=broken, errors=errors, **FIRST_CHECK) == CORRECT
    if name == "syntax_error":
        assert ask("adaplanner/check", source=broken, errors="", **FIRST_CHECK) == CORRECT


def test_errors_without_a_known_fix_leave_the_plan_unchanged():
    assert (
        rules_for(CORRECT).repair_plan(CORRECT, "line 3, column 1: this step has no assertion [assertion]") == CORRECT
    )
    assert rules_for(CORRECT).repair_plan(CORRECT, "line 9999, column 1: invalid syntax [syntax]") == CORRECT


def feedback(step, message, report):
    return f"[Step {step}], line 40 raised AssertionError: Error in [Step {step}]: {message} {report}"


def test_an_object_used_from_afar_is_walked_to_in_the_failed_step_only():
    forgetful = CORRECT.replace("        visit('sinkbasin 1')\n", "")
    report = (
        "I am at countertop 1, holding lettuce 1. "
        "Last action: 'clean lettuce 1 with sinkbasin 1'; it answered: 'Nothing happens.'"
    )
    assert ask_to_refine(forgetful, feedback(3, "I cannot clean lettuce 1.", report)) == CORRECT
    assert first_difference(forgetful, CORRECT) == 3


def test_after_a_failed_search_the_other_places_are_searched():
    guess = ask_for_plan(model=ScriptedModel(mistakes="wrong_guess"))
    searched = re.search(r"places = (\[.*\])", guess)[1]
    mended = ask_to_refine(guess, feedback(1, f"no lettuce found in {searched}.", "I am at safe 1, holding nothing."))
    places = ast.literal_eval(re.search(r"places = (\[.*\])", mended)[1])
    assert sorted(places + ast.literal_eval(searched)) == sorted(PARSED.room)
    assert places[0] == "countertop 1"


def test_a_closed_target_is_opened():
    report = "I am at fridge 1, holding egg 1. Last action: 'put egg 1 in/on fridge 1'; it answered: 'Nothing happens.'"
    plan = write_plan(parse_goal("put a egg in fridge.", ROOM))
    mended = refine_plan(plan, feedback(3, "I cannot put egg 1.", report), parse_goal("put a egg in fridge.", ROOM))
    assert "agent.open_receptacle('fridge 1')\n        agent.put(found, 'fridge 1')" in mended
    assert first_difference(plan, mended) == 3


def test_full_hands_are_emptied_before_taking():
    report = (
        "I am at fridge 1, holding mug 2. Last action: 'take lettuce 1 from fridge 1'; it answered: 'Nothing happens.'"
    )
    mended = ask_to_refine(CORRECT, feedback(2, "I cannot take lettuce 1.", report))
    ast.parse(mended)
    step_2 = mended.split("if start_from <= 2:")[1].split("if start_from <= 3:")[0]
    assert "agent.put(agent.holding, spot)" in step_2
    assert step_2.rindex("visit(place)") < step_2.index("agent.take(")
    assert first_difference(CORRECT, mended) == 2


def test_an_unknown_method_at_run_time_is_replaced():
    broken = CORRECT.replace("agent.clean(", "agent.wash(")
    assert ask_to_refine(broken, "[Step 3], line 42 raised AttributeError: the agent has no method wash") == CORRECT


def test_a_refused_plan_is_repaired_when_refined():
    broken = CORRECT.replace("def visit(place):", "def visit(place)")
    assert ask_to_refine(broken, errors_of(broken, HouseholdAgent)) == CORRECT


@pytest.mark.parametrize(
    "words",
    [
        "The plan was stopped in [Step 2]: the plan took more than 10000 loop turns",
        "[Step 7], line 3 raised ZeroDivisionError: division by zero",
        feedback(
            2,
            "I cannot take.",
            "I am at desk 1, holding nothing. "
            "Last action: 'take lettuce 9 from desk 1'; it answered: 'Nothing happens.'",
        ),
    ],
)
def test_feedback_without_a_fix_leads_to_a_thorough_plan(words):
    mended = ask_to_refine(CORRECT, words)
    places = ast.literal_eval(re.search(r"places = (\[.*\])", mended)[1])
    assert sorted(places) == sorted(PARSED.room)
    assert first_difference(CORRECT, mended) == 1
