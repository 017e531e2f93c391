"""Replies that hold only steps, merged into the plan before."""

import ast
import json
import random
import textwrap
from pathlib import Path

import pytest
from support.step_replies import PLAN, STEP_2, merged, same, with_body

from codeplan.sandbox import extract
from codeplan.sandbox.analysis.reply_merging import merge_reply
from codeplan.sandbox.language.extraction import extract_code

RECORDED = Path(__file__).parents[4] / "shared" / "fixtures" / "model_replies.jsonl"


# ------------------------------------------------------------------ steps


def test_a_known_step_is_replaced_and_all_else_stays_to_the_letter():
    source, steps = merged(STEP_2)
    old = "        print('[Step 2] take')\n        assert agent.take('mug 1', found[0])\n"
    assert source == PLAN.replace(old, "        assert agent.take('mug 2', found[0])\n")
    assert steps == [2]


def test_a_new_step_is_added_behind_the_others():
    source, steps = merged("if start_from <= 4:\n    assert agent.look()\n")
    assert source == PLAN + "    if start_from <= 4:\n        assert agent.look()\n"
    assert steps == [4]


def test_an_unchanged_step_may_be_repeated():
    step = textwrap.dedent(PLAN[PLAN.index("    if start_from <= 2") : PLAN.index("    if start_from <= 3")])
    assert merged(step) == (PLAN, [2])


def test_comments_of_the_reply_replace_those_of_the_step():
    source, _ = merged(f"# better\n{STEP_2}")
    assert "    # better\n    if start_from <= 2" in source
    assert "# second" not in source
    assert "# first" in source


@pytest.mark.parametrize(
    "guard",
    [
        "if start_from <= 2:",
        "if 2 >= start_from:",
        "if start_from < 3:",
        "if not start_from > 2:",
        "if start_from < 2+1:",
    ],
)
def test_guards_in_other_spellings_name_their_step(guard):
    source, steps = merged(STEP_2.replace("if start_from <= 2:", guard))
    assert (guard in source, steps) == (True, [2])


def test_steps_in_a_chain_of_elif_are_steps_of_their_own():
    source, steps = merged(f"{STEP_2}elif start_from <= 3:\n    assert agent.put('mug 2', 'desk 1')\n")
    assert steps == [2, 3]
    assert "elif" not in source


def test_of_two_steps_with_one_number_the_last_counts():
    source, steps = merged(STEP_2 + STEP_2.replace("mug 2", "mug 3"))
    assert steps == [2]
    assert "mug 3" in source
    assert "mug 2" not in source


@pytest.mark.parametrize("indent", ["  ", "\t", "        "])
def test_other_indentation_becomes_that_of_the_plan(indent):
    source, _ = merged(STEP_2.replace("    ", indent))
    assert source == merged(STEP_2)[0]


@pytest.mark.parametrize("margin", ["    ", "\t", "  ", "   "])
def test_steps_indented_as_inside_the_function_are_taken(margin):
    step = textwrap.indent(STEP_2, margin)
    assert merged(step) == merged(STEP_2)
    assert merged(extract_code(f"```python\n{step}```")) == merged(STEP_2)


def test_a_helper_at_the_margin_does_not_swallow_steps_that_are_indented():
    helper = "def visit(place):\n    return agent.goto(place, 2)\n\n"
    source, steps = merged(helper + textwrap.indent(STEP_2, "    "))
    assert source == merged(helper + STEP_2)[0]
    assert steps == [2]
    ast.parse(source)


def test_line_ends_of_windows_and_other_scripts():
    plan = PLAN.replace("places", "örter").replace("visit", "besuche")
    source, _ = merged("örter = ['Tür 1']\n".replace("\n", "\r\n") + STEP_2.replace("\n", "\r\n"), plan)
    assert "    örter = ['Tür 1']\n" in source
    assert "\r\n" not in source


def test_code_behind_a_step_that_binds_no_name_goes_with_that_step():
    plan = with_body(steps=("x = agent.look()\nassert x".replace("\n", "\n"), "assert True"))
    plan = plan.replace("    if start_from <= 2", "    assert x, 'old'\n    if start_from <= 2")
    source, _ = merged("if start_from <= 1:\n    x = agent.look()\n    assert x, 'new'\n", plan)
    assert "old" not in source


def test_the_plans_last_return_stays_last():
    plan = with_body(steps=("x = 1", "y = 2")) + "    return x\n"
    source, _ = merged("if start_from <= 3:\n    z = 3\nreturn z\n", plan)
    assert source.endswith("    if start_from <= 3:\n        z = 3\n    return z\n")
    assert "return x" not in source
    kept, _ = merged("if start_from <= 1:\n    x = 5\n", plan)
    assert kept.endswith("    return x\n")


# ------------------------------------------------------------------ helper functions and constants


@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_a_helper_function_of_a_known_name_is_replaced_wherever_the_reply_has_it(place):
    helper = "def visit(place):\n    return agent.goto(place, 2)\n"
    step_3 = "if start_from <= 3:\n    assert agent.put('mug 2', 'desk 1')\n"
    parts = {"before": [helper, STEP_2, step_3], "between": [STEP_2, helper, step_3], "after": [STEP_2, step_3, helper]}
    source, steps = merged("".join(parts[place]))
    assert steps == [2, 3]
    assert source.count("def visit") == 1
    assert "    limit = 3\n\n    def visit(place):\n        return agent.goto(place, 2)\n\n    # first\n" in source


def test_new_helpers_and_constants_stand_before_the_first_step():
    source, _ = merged(f"MOST = 2\ndef far(place):\n    return visit(place)\n{STEP_2}")
    body = ast.parse(source).body[0].body
    assert [type(s).__name__ for s in body[:6]] == ["Assign", "Assign", "FunctionDef", "Assign", "FunctionDef", "If"]


def test_a_helper_that_stands_outside_solution_is_replaced_there():
    plan = "def far(place):\n    return 1\n\n\n" + PLAN
    source, _ = merged("def far(place):\n    return 2\n" + STEP_2, plan)
    assert source.startswith("def far(place):\n    return 2\n\n\n# A plan\ndef solution")
    assert source.count("def far") == 1


def test_a_constant_that_needs_the_agent_moves_into_solution():
    source, _ = merged("rooms = agent.rooms\n" + STEP_2, "rooms = ['desk 1']\n" + PLAN)
    assert source.index("def solution") < source.index("rooms = agent.rooms")
    assert "rooms = ['desk 1']" not in source


CONSTANTS = {
    "annotated": (["a = 1"], "a: int = 2", ["a: int = 2"]),
    "a pair for two": (["a = 1", "b = 2"], "a, b = 3, 4", ["a, b = 3, 4"]),
    "two for a pair": (["a, b = 1, 2"], "a = 3\nb = 4", ["a = 3", "b = 4"]),
    "one of a pair": (["a, b = 1, 2"], "a = 3", ["a, b = 1, 2", "a = 3"]),
    "augmented before": (["a = [1]", "a += [2]"], "a = [3]", ["a = [3]"]),
    "augmentation changed": (["a = [1]", "a += [2]"], "a += [3]", ["a = [1]", "a += [3]"]),
    "augmentation added": (["a = [1]", "b = 2"], "a += [3]", ["a = [1]", "a += [3]", "b = 2"]),
    "needs a new one": (["a = 1", "b = a + 1"], "n = 3\na = n", ["n = 3", "a = n", "b = a + 1"]),
    "needs a later one": (["a = 1", "b = 2"], "c = b + 1\na = c", ["b = 2", "c = b + 1", "a = c"]),
    "needs a helper": (["a = 1"], "a = f()\ndef f():\n    return 2", ["def f():\n    return 2", "a = f()"]),
    "filled": (["d = {}", "d['k'] = 1"], "d = {}\nd['k'] = 2", ["d = {}", "d['k'] = 2", "d['k'] = 1"]),
    "a loop again": (
        ["d = {}", "for k in 'ab':\n    d[k] = 1"],
        "for k in 'ab':\n    d[k] = 2",
        ["d = {}", "for k in 'ab':\n    d[k] = 2"],
    ),
    "the same once more": (["d = {}", "d['k'] = 1"], "d['k'] = 1", ["d = {}", "d['k'] = 1"]),
    "a function for a constant": (["a = 1"], "def a():\n    return 2", ["def a():\n    return 2"]),
    "a docstring": (["a = 1"], "'''Now better.'''\na = 2", ["a = 2"]),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_redefined(name):
    before, reply, after = CONSTANTS[name]
    source, _ = merged(f"{reply}\nif start_from <= 1:\n    x = 2\n", with_body(*before))
    assert same(source, with_body(*after, steps=("x = 2",))), source


def test_code_that_acts_or_needs_what_a_step_sets_stays_behind_its_step():
    reply = "if start_from <= 1:\n    found = visit('desk 1')\nagent.look()\nn = len(found)\n"
    source, _ = merged(reply)
    assert source.index("found = visit") < source.index("agent.look()") < source.index("n = len") < source.index("<= 2")


def test_imports_come_first():
    source, _ = merged(f"import math\nfar = math.inf\n{STEP_2}")
    assert source.index("import math") < source.index("def solution") < source.index("far = math.inf")


# ------------------------------------------------------------------ recorded plans


def recorded_plans():
    """Return the plans in the recorded replies."""
    if not RECORDED.exists():
        return []
    rows = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    calls = [c for r in rows for c in r["calls"] if c["purpose"] in ("plan", "refine", "check")]
    plans = [extract(c["reply"]) for c in calls]
    return [p for p in plans if "def solution" in p and "if start_from <= 2:" in p]


@pytest.mark.long
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded replies are not on this machine")
def test_any_steps_of_a_recorded_plan_merge_into_it_again():
    """Damage some steps and definitions, then restore them from a reply: the plan is the whole one again."""
    plans, chance = recorded_plans(), random.Random(7)
    assert plans
    for plan in plans:
        tree = ast.parse(plan)
        for _ in range(5):
            damaged, patch = split_plan_at_random(tree, chance)
            found = merge_reply(patch, {"before": damaged})
            assert found is not None
            assert same(found["source"], plan), f"{damaged}\n\n{patch}"


def split_plan_at_random(tree, chance):
    """Return the plan with other code in some of its parts, and these parts as they should be."""
    damaged = ast.parse(ast.unparse(tree))
    solution = next(s for s in damaged.body if isinstance(s, ast.FunctionDef) and s.name == "solution")
    reply = []
    for part in [s for s in solution.body if isinstance(s, ast.If | ast.FunctionDef)]:
        is_step = isinstance(part, ast.If)
        if chance.random() < 0.5 or (is_step and not reply):
            reply.append(ast.unparse(part))
            part.body = ast.parse("x = 'old'\nassert x").body
    return ast.unparse(damaged), "\n".join(reply)
