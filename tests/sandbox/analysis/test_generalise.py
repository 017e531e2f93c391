"""Analyses that generalise a plan, and that identify plans of one shape."""

import ast

import pytest

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.sandbox import Sandbox
from codeplan.sandbox.analysis.plan_shape import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.standin.household import parse_goal, write_plan
from codeplan.types import Plan, Rejected

SANDBOX = Sandbox()
FIRST = "You see a bed 1, a desk 1, a desk 2, and a safe 1. Your task is to: put a mug in safe."
KINDS = ("pick", "clean", "heat", "cool", "examine", "pick_two")


def general(body, goal="put a mug in safe.", first=FIRST, later=""):
    source = "def solution(agent, start_from=1):\n    if start_from <= 1:\n" + "".join(
        f"        {line}\n" for line in body
    )
    return SANDBOX.analyse("generalise", source, {"goal": goal, "first": first, "later": later})


def step(found):
    return found["source"].split("if start_from <= 1:\n")[1]


def values(found):
    return {p["name"]: p["value"] for p in found["parameters"]}


def household(kind, seed):
    env = envs.make("household")
    task = env.task(kind, seed)
    return task, env.reset(task).text, env.agent


# ------------------------------------------------------------------ what becomes a parameter


def test_a_word_of_the_goal_and_a_name_of_the_first_observation_become_parameters():
    found = general(["agent.find('mug')", "agent.goto('safe 1')", "agent.goto('bed 1')"])
    assert values(found) == {"the_item": "mug", "the_target": "safe 1", "the_bed": "bed 1"}
    assert step(found).split() == ["agent.find(the_item)", "agent.goto(the_target)", "agent.goto(the_bed)"]


def test_a_list_of_such_names_is_one_parameter():
    found = general(["for place in ['desk 1', 'desk 2']:", "    agent.goto(place)"])
    assert values(found) == {"the_places": ["desk 1", "desk 2"]}


def test_texts_comments_and_questions_use_the_parameter():
    found = general(
        [
            "# I need a mug",
            "print('[Step 1] I need a mug')",
            "x = 'mug'",
            "ask_llm(f'Where is a mug, {agent.holding}? {{mug}}')",
            "assert x, r'no mug \\d+'",
        ]
    )
    assert "# I need a <the_item>" in found["source"]
    assert "print(f'[Step 1] I need a {the_item}')" in found["source"]
    assert "f'Where is a {the_item}, {agent.holding}? {{{the_item}}}'" in found["source"]
    assert "fr'no {the_item} \\d+'" in found["source"]


def test_values_that_belong_to_no_episode_stay():
    body = ["x = 'is closed'", "y = 'You see'", "z = 'smug'", "n = 'put'", "m = ''", "d = 'desk'"]
    assert values(general(body)) == {}
    assert general(body)["source"].endswith("".join(f"        {line}\n" for line in body))


def test_a_name_from_later_observations_becomes_a_question_before_its_first_use():
    found = general(
        ["agent.goto('desk 1')", "if agent.location:", "    agent.take('mug 2', 'desk 1')", "agent.put('mug 2', 'x')"],
        later="On the desk 1, you see a mug 2.",
    )
    lines = [line.strip() for line in step(found).split("\n")]
    assert lines[1].startswith("the_mug = literal_eval(ask_llm(f'Which mug is to be used now? {agent.report()}")
    assert lines[3:5] == ["agent.take(the_mug, the_desk)", "agent.put(the_mug, 'x')"]
    assert found["asks"] == ["the_mug"]


def test_new_names_do_not_clash_with_the_plans_names():
    found = general(["the_item = 1", "the_item_2 = 2", "agent.find('mug')"])
    assert values(found) == {"the_item_3": "mug"}


def test_no_episode_value_can_escape_from_the_parameters():
    goal = 'put a mug"; agent.steal() # in safe\n    agent.steal()'
    first = f'{FIRST} a "x\\" 1'
    found = general(["agent.goto('safe 1')", "agent.goto('x\\\\\" 1')"], goal, first)
    assert "steal" not in {n.attr for n in ast.walk(ast.parse(found["source"])) if isinstance(n, ast.Attribute)}


def test_a_general_plan_is_unchanged():
    once = general(["agent.find('mug')"])["source"]
    assert (
        SANDBOX.analyse("generalise", once, {"goal": "put a mug in safe.", "first": FIRST, "later": ""})["source"]
        == once
    )


@pytest.mark.parametrize("source", ["", "x = 1\n", "def solution(agent, start_from=1): agent.goto('safe 1')\n"])
def test_a_plan_of_another_form_is_returned_unchanged(source):
    if source:
        found = SANDBOX.analyse("generalise", source, {"goal": "safe", "first": FIRST, "later": ""})
        assert found == {"source": source, "parameters": [], "asks": []}


def test_invalid_python_is_rejected_and_wrong_arguments_are_reported():
    about = {"goal": "", "first": "", "later": ""}
    assert isinstance(SANDBOX.analyse("generalise", "def (", about), Rejected)
    with pytest.raises(UsageError, match="'later' is missing"):
        SANDBOX.analyse("generalise", "x = 1", {"goal": "", "first": ""})


def test_a_part_of_a_text_in_several_parts_is_replaced_within_it():
    found = general(["x = 'mug' ' is here'", "y = f'the ' 'mug'"])
    assert step(found) == "        x = f\"{the_item}\" ' is here'\n        y = f'the ' f\"{the_item}\"\n"


def test_code_before_the_parameters_keeps_its_values_and_helpers_use_names():
    source = (
        "PLACES = ['desk 1', 'x']\ndef look(agent, p='desk 1'):\n    return agent.goto('desk 1')\n"
        "def solution(\n    agent,\n    start_from=1,\n):\n    # about\n    if start_from <= 1:\n        agent.goto('desk 1')\n"
    )
    found = SANDBOX.analyse("generalise", source, {"goal": "put a mug in safe.", "first": FIRST, "later": ""})["source"]
    before, after = found.split("    # about\n")
    assert before.startswith(source.split("    return")[0] + "    return agent.goto(the_desk)\ndef solution(\n")
    assert before.endswith('    the_desk = "desk 1"\n    # End of the parameters.\n')
    assert after == "    if start_from <= 1:\n        agent.goto(the_desk)\n"


# ------------------------------------------------------------------ shape


def shape(source):
    return SANDBOX.analyse("shape", source)


@pytest.mark.parametrize("kind", KINDS)
def test_generalised_plans_for_one_kind_of_task_pass_the_check_and_have_one_shape(kind):
    shapes = set()
    for seed in (2003, 2004, 2005):
        task, first, agent = household(kind, seed)
        plan = write_plan(parse_goal(task.goal, first))
        found = SANDBOX.analyse("generalise", plan, {"goal": task.goal, "first": first, "later": ""})
        assert len(found["parameters"]) >= 3
        assert isinstance(SANDBOX.check(found["source"], agent), Plan)
        shapes.add(shape(found["source"]))
    assert len(shapes) == 1


def test_the_shape_depends_on_code_and_not_on_names_or_layout():
    one = "def solution(agent, start_from=1):\n    found = agent.find('a')\n    print(found)\n"
    renamed = "def solution(agent, start_from=1):\n    # a comment\n    x = agent.find( 'a' )\n\n    print(x)\n"
    other = "def solution(agent, start_from=1):\n    found = agent.find('b')\n    print(found)\n"
    swapped = "def solution(agent, start_from=1):\n    found = agent.find('a')\n    print(agent)\n"
    assert shape(one) == shape(renamed)
    assert len({shape(one), shape(other), shape(swapped)}) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("take = 'mug'\n    agent.take(take)", "goto = 'mug'\n    agent.goto(goto)"),
        ("lower = 'a'\n    print(lower.lower())", "upper = 'a'\n    print(upper.upper())"),
        ("place = 'a'\n    agent.find(place=1)", "item = 'a'\n    agent.find(item=1)"),
        (
            f"{PARAMETERS_OPENING}\n    a = agent.find('a')\n    {PARAMETERS_CLOSING}",
            f"{PARAMETERS_OPENING}\n    a = agent.open('b')\n    {PARAMETERS_CLOSING}",
        ),
        (f"a = agent.find('a')\n    {PARAMETERS_CLOSING}", f"a = agent.open('b')\n    {PARAMETERS_CLOSING}"),
    ],
)
def test_plans_that_do_different_things_have_different_shapes(one, other):
    assert len({shape(f"def solution(agent, start_from=1):\n    {body}\n") for body in (one, other)}) == 2


def test_keyword_names_are_the_plans_own_if_the_function_is():
    plan = "def solution(agent, start_from=1):\n    def f({0}):\n        return {0}\n    print(f({0}=1), sep='')\n"
    assert shape(plan.format("a")) == shape(plan.format("b"))


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize("other", ["25", "-3", "2.5", "'ten'"])
def test_the_shape_ignores_numbers_that_are_parameters_alone(other):
    plan = f"def solution(agent, start_from=1):\n    {PARAMETERS_OPENING} x\n    n = {{0}}\n    {PARAMETERS_CLOSING}\n    agent.f(n, {{1}})\n"
    assert shape(plan.format("10", "1")) == shape(plan.format(other, "1"))
    assert shape(plan.format("10", "1")) != shape(plan.format("10", "2"))


def with_numbers(goal, *lines):
    body = "".join(f"        {line}\n" for line in lines)
    source = f"def solution(agent, start_from=1):\n    if start_from <= 12:\n{body}"
    return SANDBOX.analyse("generalise", source, {"goal": goal, "first": "", "later": "", "numbers": True})


def test_a_number_of_the_goal_becomes_a_parameter_wherever_the_plan_has_it():
    found = with_numbers(
        "order up to 12 at 2.50",
        "n = 12 - agent.stock(12)",
        "print('12 in all')",
        "agent.pay(2.50, 0, 1)",
        "agent.go(2.5)",
    )
    assert [(p["name"], p["value"]) for p in found["parameters"]] == [("the_number", 12)]
    assert "n = the_number - agent.stock(the_number)" in found["source"]
    assert "if start_from <= 12:" in found["source"] and "agent.pay(2.50, 0, 1)" in found["source"]


@pytest.mark.parametrize(
    ("goal", "line"),
    [
        ("do it 12 times", "x = f'{12 + 1}'"),
        ("do it 12 times", "agent.say('about 12', 12)"),
        ("do it 12 times", "agent.say(f'{x} or 12', 12)"),
        ("do it 12 times", "x = agent.rows[12]"),
        ("from 12 to 12", "agent.go(12)"),
        ("on 2026-12-12, at 12:30, in room-12", "agent.go(12)"),
        ("do it 3 times", "agent.go(3, 3)"),
        ("do it 1 time", "agent.go(1)"),
        ("do it -12 times", "agent.go(12)"),
        ("do 12,000 things", "agent.go(12)"),
    ],
)
def test_a_number_that_may_be_the_plans_own_stays(goal, line):
    found = with_numbers(goal, line)
    assert not [p for p in found["parameters"] if isinstance(p["value"], int | float)]


@pytest.mark.parametrize(
    ("goal", "line", "value"),
    [
        ("cancel 17, 19 and 23", "for x in [17, 19, 23]: agent.cancel(x)", [17, 19, 23]),
        ("cancel 17, 19, and 23 today", "done = [agent.cancel(x) for x in (17, 19, 23)]", [17, 19, 23]),
        ("cancel 17 & 19", "agent.cancel_all([17, 19])", [17, 19]),
        ("pay 2.5 and 10", "xs = [2.5, 10]; print(len(xs)); agent.pay(xs)", [2.5, 10]),
        ("cancel A-1 and B-2", "xs = ['A-1', 'B-2']\n        for x in xs: agent.cancel(x)", ["A-1", "B-2"]),
    ],
)
def test_values_that_the_goal_enumerates_and_the_plan_goes_through_become_a_list(goal, line, value):
    found = with_numbers(goal, line)
    assert [(p["name"][:8], p["value"]) for p in found["parameters"]] == [
        ("the_numb" if value[0] != "A-1" else "the_item", value)
    ]
    assert found["source"].count(str(value[0])) == 2  # in the goal, and at the head


@pytest.mark.parametrize(
    "line",
    [
        "xs = [17, 19, 23]; agent.cancel(xs[0])",
        "a, b, c = [17, 19, 23]; agent.cancel(a)",
        "for x in [17, 19, 23]: agent.cancel(x)\n        agent.tell(17)",
        "for x in [17, 19, 23]: agent.cancel(x)\n        assert agent.count() == 3",
        "for x, y in zip([17, 19, 23], agent.rows()): agent.cancel(x, y)",
        "xs = [17, 19, 23]; xs = agent.sort(xs); agent.cancel(xs)",
        "for x in [23, 19, 17]: agent.cancel(x)",
    ],
)
def test_a_list_on_whose_length_the_plan_may_depend_is_none(line):
    found = with_numbers("cancel 17, 19 and 23", line)
    assert not [p for p in found["parameters"] if isinstance(p["value"], list)]


@pytest.mark.parametrize(
    ("goal", "is_it"),
    [
        ("remind Bob on 1 March 2026", True),
        ("remind Bob on the 1st of Mar 2026, please", True),
        ("remind Bob on March 1, 2026", True),
        ("remind Bob on 01.03.2026", True),
        ("remind Bob on 11 March 2026", False),
        ("remind Bob on 01/03/2026", False),
        ("remind Bob in March 2026", False),
    ],
)
def test_a_date_of_the_goal_in_another_form_is_the_plans(goal, is_it):
    found = with_numbers(goal, "agent.remind('2026-03-01')")
    assert [p["value"] for p in found["parameters"]] == ["2026-03-01"] * is_it


def test_a_fields_name_that_is_a_word_of_the_goal_is_no_parameter():
    found = with_numbers(
        "pay 12 euros for apples", "n = agent.row()['euros']; agent.x().get('euros'); agent.pay('apples')"
    )
    assert [p["value"] for p in found["parameters"]] == ["apples"]


def test_the_shape_ignores_the_values_of_lists():
    plan = f"def solution(agent, start_from=1):\n    {PARAMETERS_OPENING} x\n    n = {{0}}\n    {PARAMETERS_CLOSING}\n    agent.f(n)\n"
    assert shape(plan.format("[1, 2]")) == shape(plan.format("[3]"))


def test_without_being_asked_numbers_stay():
    assert general(["agent.go(12)"], goal="go 12 times")["parameters"] == []
