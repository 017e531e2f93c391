"""The stand-in: its answers to each prompt, and its mistakes."""

import ast
import re

import pytest
from support.standin_prompts import CLEAN, CORRECT, PARSED, PLAIN, PROMPTS, ROOM, ask, ask_for_plan

from codeplan.errors import ModelError, UsageError
from codeplan.standin.household import likely_places, parse_goal, write_plan
from codeplan.standin.mistakes import Mistakes
from codeplan.standin.model import ScriptedModel, answer_question, first_difference

# ------------------------------------------------------------------ what it understands


@pytest.mark.parametrize(
    ("purpose", "messages"),
    [
        ("plan", [{"role": "user", "content": "What is the capital of France?"}]),
        ("ask", PROMPTS.messages("adaplanner/ask", question="What is the capital of France?")),
        *(
            ("plan", PROMPTS.messages("adaplanner/plan", api="", left=(), observation=ROOM, goal=goal, **PLAIN))
            for goal in ("buy a red shirt", "put a mug in toilet.")
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


@pytest.mark.parametrize(
    "question",
    [
        *("[" + "-" * 15_000 + "1]", "[" + "not " * 4_000 + "1]", "[" + "9" * 5_000 + "]"),
        "Which of the words [x] mean much the same as one of the words [" * 3_000,
        "In Minecraft I need " * 20_000,
        "Text: " + " Question: " * 20_000,
        "Text: " + "born in " * 20_000 + " Question: in what year was he ",
        "I am to buy: " + ". The " * 20_000,
    ],
    ids=lambda question: question[:20],
)
def test_a_question_made_to_mislead_its_rules_is_an_error(question):
    with pytest.raises(ModelError, match=r"it cannot (read the prompt|answer the question)"):
        ScriptedModel().complete([{"role": "user", "content": question}], purpose="ask")


@pytest.mark.parametrize("value", ['"a', "[1,", "[" * 2_000])
def test_a_skill_with_a_damaged_parameter_is_an_error(value):
    head = "# Parameters, with their values for the task: put a mug in safe."
    skill = f'<skill name="a">\n{head}\nx = {value}\n# End of the parameters.\n</skill>'
    task = f"<observation>\n{ROOM + CLEAN}\n</observation>\n<goal>\n{CLEAN}\n</goal>"
    with pytest.raises(ModelError, match="it cannot read the prompt"):
        ScriptedModel().complete(
            [{"role": "system", "content": skill}, {"role": "user", "content": task}], purpose="plan"
        )


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


TREATED = [
    (wording.format(adjective=adjective, verb=kind, thing=thing, place=place.split()[0]), kind, thing, place)
    for kind, adjective, thing, place in (
        *(("clean", "clean", "egg", "cabinet 2"), ("heat", "hot", "apple", "fridge 1")),
        ("cool", "cool", "pan", "countertop 1"),
    )
    for wording in ("put a {adjective} {thing} in {place}.", "{verb} some {thing} and put it in {place}.")
]


@pytest.mark.parametrize(
    ("goal", "kind", "thing", "place"),
    [
        *((f"put {wording} desk.", "pick", "mug", "desk 1") for wording in ("a mug in", "some mug on")),
        *(
            (wording, "pick_two", "pen", "safe 1")
            for wording in ("put two pen in safe.", "find two pen and put them in safe.")
        ),
        ("look at bowl under the desklamp.", "examine", "bowl", ""),
        ("examine the cd with the floorlamp.", "examine", "cd", ""),
        *TREATED,
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
