"""The scripted stand-in: what it answers to each prompt, what mistakes it makes, how it mends them by the feedback."""

import ast
import re

import pytest

from codeplan.agent_api import agent_api, describe_api
from codeplan.envs.household.agent import HouseholdAgent
from codeplan.errors import ModelError, UsageError
from codeplan.prompts.templates import Prompts
from codeplan.standin.environment_rules import rules_for
from codeplan.standin.household.mistakes import MISTAKE_NAMES
from codeplan.standin.household.places import likely_places
from codeplan.standin.household.planning import parse_goal, write_plan
from codeplan.standin.household.refinement import refine_plan
from codeplan.standin.mistakes import Mistakes
from codeplan.standin.model import ScriptedModel, answer_question, first_difference

PROMPTS = Prompts()
PLAIN = {"notes": (), "skills": (), "asks": True}
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a countertop 1, "
    "a desk 1, a diningtable 1, a drawer 1, a fridge 1, a microwave 1, a safe 1, and a sinkbasin 1.\n\n"
    "Your task is to: "
)
CLEAN = "put a clean lettuce in diningtable."
PARSED = parse_goal(CLEAN, ROOM + CLEAN)
CORRECT = write_plan(PARSED)


def ask(name, model=None, **values):
    """The model's answer to a prompt, its fence taken off."""
    text = (
        (model or ScriptedModel(mistakes="none"))
        .complete(PROMPTS.messages(name, **values), purpose=name.split("/")[1])
        .text
    )
    fenced = re.fullmatch(r"```python\n(.*)\n```", text, re.DOTALL)
    return fenced[1] + "\n" if fenced else text


def ask_for_plan(goal=CLEAN, model=None, room=ROOM):
    api = describe_api(agent_api(HouseholdAgent))
    return ask("adaplanner/plan", model, api=api, sample=None, observation=room + goal, goal=goal, **PLAIN)


def ask_to_refine(source, feedback, goal=CLEAN):
    about = {"api": "", "sample": None, "observation": ROOM + goal, "goal": goal, **PLAIN}
    return ask("adaplanner/refine", **about, source=source, feedback=feedback, variables="")


# ------------------------------------------------------------------ what it understands


@pytest.mark.parametrize(
    ("purpose", "messages"),
    [
        ("plan", [{"role": "user", "content": "What is the capital of France?"}]),
        ("ask", PROMPTS.messages("adaplanner/ask", question="What is the capital of France?")),
        (
            "plan",
            PROMPTS.messages("adaplanner/plan", api="", sample=None, observation=ROOM, goal="buy a red shirt", **PLAIN),
        ),
        (
            "plan",
            PROMPTS.messages(
                "adaplanner/plan", api="", sample=None, observation=ROOM, goal="put a mug in toilet.", **PLAIN
            ),
        ),
        ("refine", []),
        ("embed", []),
    ],
)
def test_a_prompt_that_it_does_not_understand_is_an_error(purpose, messages):
    with pytest.raises(
        ModelError, match=r"answers prompts about codeplan's own tasks only: .*use --model NAME with a real endpoint"
    ):
        ScriptedModel().complete(messages, purpose=purpose)


def test_the_purpose_decides_what_it_does():
    messages = [{"role": "user", "content": f"<observation>\n{ROOM + CLEAN}\n</observation>\n<goal>\n{CLEAN}\n</goal>"}]
    assert CORRECT in ScriptedModel(mistakes="none").complete(messages, purpose="plan").text
    assert ScriptedModel().complete(messages, purpose="act").text == "go to countertop 1"


def test_usage_follows_the_length_of_the_texts():
    messages = PROMPTS.messages("adaplanner/ask", question="In which order shall I look for a mug in ['safe 1']?")
    completion = ScriptedModel().complete(messages, purpose="ask")
    assert completion.usage.output_tokens == len(completion.text) // 4
    assert completion.usage.input_tokens == sum(len(m["content"]) for m in messages) // 4
    assert (completion.finish_reason, completion.model) == ("stop", "scripted")


# ------------------------------------------------------------------ understanding and planning


@pytest.mark.parametrize(
    ("goal", "kind", "thing", "place"),
    [
        ("put a mug in desk.", "pick", "mug", "desk 1"),
        ("put some mug on desk.", "pick", "mug", "desk 1"),
        ("put a clean egg in microwave.", "clean", "egg", "microwave 1"),
        ("clean some egg and put it in cabinet.", "clean", "egg", "cabinet 2"),
        ("put a hot apple in fridge.", "heat", "apple", "fridge 1"),
        ("heat some apple and put it in fridge.", "heat", "apple", "fridge 1"),
        ("put a cool pan in countertop.", "cool", "pan", "countertop 1"),
        ("cool some pan and put it in countertop.", "cool", "pan", "countertop 1"),
        ("put two pen in safe.", "pick_two", "pen", "safe 1"),
        ("find two pen and put them in safe.", "pick_two", "pen", "safe 1"),
        ("look at bowl under the desklamp.", "examine", "bowl", ""),
        ("examine the cd with the floorlamp.", "examine", "cd", ""),
    ],
)
def test_both_wordings_of_every_kind_of_goal_are_understood(goal, kind, thing, place):
    chore = parse_goal(goal, ROOM + goal)
    assert (chore.kind, chore.thing, chore.target) == (kind, thing, place)
    assert parse_goal("", ROOM + goal) == chore
    ast.parse(write_plan(chore))


def test_a_plan_searches_likely_places_first():
    places = ast.literal_eval(re.search(r"places = (\[.*\])", ask_for_plan())[1])
    assert places == ["countertop 1", "diningtable 1", "fridge 1", "sinkbasin 1", "microwave 1"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "I look for a pen. It is not in ['desk 1']. In which order in ['fridge 1', 'drawer 1']?",
            "['drawer 1', 'fridge 1']",
        ),
        ("Where to look for a thingamajig: ['safe 1', 'desk 1']?", "['desk 1', 'safe 1']"),
        (
            "Which lettuce is there? On the fridge 1, you see a egg 1, and a lettuce 2. Answer with its name.",
            "'lettuce 2'",
        ),
        ("In which order shall I look for a pen in []?", "[]"),
    ],
)
def test_questions_are_answered_with_a_python_literal(question, expected):
    assert answer_question(question) == ask("adaplanner/ask", question=question) == expected


def test_the_step_to_resume_at_is_the_first_that_differs():
    revised = CORRECT.replace("agent.clean(found", "agent.clean('lettuce 1'")
    assert ask("adaplanner/resume", previous=CORRECT, revised=revised) == "3"
    assert first_difference(CORRECT, CORRECT.replace("        # Where", "        # There")) == 1
    assert first_difference(CORRECT, CORRECT.replace("def find(name,", "def find(what,")) == 1


# ------------------------------------------------------------------ mistakes


def test_the_same_seed_mistakes_and_messages_give_the_same_plan():
    plans = [ask_for_plan(model=ScriptedModel(seed, "many")) for seed in (*range(8), *range(8))]
    assert plans[:8] == plans[8:]
    assert len(set(plans)) > 2


def test_without_mistakes_the_seed_does_not_matter():
    assert {ask_for_plan(model=ScriptedModel(seed, "none")) for seed in range(5)} == {CORRECT}


@pytest.mark.parametrize("name", MISTAKE_NAMES)
def test_a_mistake_requested_by_name_is_made(name):
    broken = ask_for_plan(model=ScriptedModel(3, name))
    assert broken != CORRECT
    assert ask_for_plan(model=ScriptedModel(3, Mistakes(**{name: 1.0}))) == broken


def test_the_levels_set_how_often_each_mistake_is_made():
    def share(level):
        plans = [ask_for_plan(model=ScriptedModel(seed, level)) for seed in range(300)]
        return sum("visit('sinkbasin 1')" not in p or "visit('diningtable 1')" not in p for p in plans) / 300

    assert share("none") == 0
    assert 0.4 < share("some") < 0.6
    assert 0.8 < share("many") < 1


def test_a_wrong_guess_omits_all_likely_places_and_the_question():
    broken = ask_for_plan(model=ScriptedModel(mistakes="wrong_guess"))
    places = ast.literal_eval(re.search(r"places = (\[.*\])", broken)[1])
    assert places
    assert not set(places) & set(likely_places("lettuce", PARSED.room))
    assert "ask_llm" not in broken


@pytest.mark.parametrize("mistakes", ["sum", "some,many", "forgotten_walk,forgetfulness", "", 3])
def test_unknown_mistakes_are_refused_with_the_valid_ones(mistakes):
    with pytest.raises(UsageError, match=r"none, some, many, or some of forgotten_walk, .*syntax_error"):
        ScriptedModel(mistakes=mistakes)


def test_a_probability_outside_0_to_1_is_refused():
    with pytest.raises(UsageError, match="give a number from 0 to 1"):
        Mistakes(wrong_guess=1.5)


# ------------------------------------------------------------------ mending


def syntax_error(source):
    """What the check says of a plan that does not parse; empty for one that does."""
    try:
        ast.parse(source)
    except SyntaxError as e:
        return f"line {e.lineno}, column {e.offset}: {e.msg} [syntax]"
    return ""


@pytest.mark.parametrize("seed", range(12))
def test_a_lost_bracket_or_colon_is_restored(seed):
    broken = ask_for_plan(model=ScriptedModel(seed, "syntax_error"))
    assert syntax_error(broken)
    assert ask("adaplanner/check", source=broken, errors=syntax_error(broken), asks=True) == CORRECT
    assert ask("adaplanner/check", source=broken, errors="", asks=True) == CORRECT


@pytest.mark.parametrize("seed", range(12))
def test_an_unknown_method_becomes_the_right_one(seed):
    broken = ask_for_plan(model=ScriptedModel(seed, "unknown_method"))
    known = set(agent_api(HouseholdAgent).names)
    calls = [(n, m[1]) for n, line in enumerate(broken.split("\n"), 1) for m in re.finditer(r"agent\.(\w+)", line)]
    errors = [f"line {n}, column 9: the agent has no {name} [agent-method]" for n, name in calls if name not in known]
    assert len(errors) == 1
    assert ask("adaplanner/check", source=broken, errors=errors[0], asks=True) == CORRECT


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
    assert ask_to_refine(broken, syntax_error(broken)) == CORRECT


@pytest.mark.parametrize(
    "words",
    [
        "The plan ran to its end without an error, but the task is not done. I am at desk 1, holding nothing.",
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
