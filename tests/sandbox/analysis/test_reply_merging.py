"""Replies that hold only steps, merged into the plan before."""

import ast
import json
import random
import textwrap
from pathlib import Path

import pytest

from codeplan.sandbox import Sandbox, extract
from codeplan.sandbox.analysis.replies.reply_merging import merge_reply
from codeplan.sandbox.host.reply_merging import MergedReply, verified_merging
from codeplan.sandbox.language.diagnostics import RejectedPlanError
from codeplan.sandbox.language.extraction import extract_code
from codeplan.types import Rejected

RECORDED = Path(__file__).parents[4] / "shared" / "fixtures" / "model_replies.jsonl"

PLAN = '''\
# A plan
def solution(agent, start_from=1):
    # where to look
    places = ['desk 1']
    limit = 3

    def visit(place):
        """Go there."""
        return agent.goto(place)

    # first
    if start_from <= 1:
        print('[Step 1] look')
        found = [p for p in places if visit(p)]  # all of them
        assert found

    # second
    if start_from <= 2:
        print('[Step 2] take')
        assert agent.take('mug 1', found[0])
    if start_from <= 3:
        assert agent.put('mug 1', 'desk 1')
'''
STEP_2 = "if start_from <= 2:\n    assert agent.take('mug 2', found[0])\n"


def merged(reply, plan=PLAN):
    """Return the merged plan and the numbers of the reply's steps."""
    found = merge_reply(reply, {"before": plan})
    assert found is not None, "the reply was taken for a whole plan"
    return found["source"], found["steps"]


def is_whole(reply, plan=PLAN):
    return merge_reply(reply, {"before": plan}) is None


def with_body(*lines, steps=("x = 1",)):
    """Return a plan with these lines before its steps."""
    blocks = [f"if start_from <= {k}:\n    {code}" for k, code in enumerate(steps, 1)]
    body = textwrap.indent("\n".join([*lines, *blocks]), "    ")
    return f"def solution(agent, start_from=1):\n{body}\n"


def same(one, other):
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


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


def test_a_step_that_is_to_do_nothing_holds_pass():
    source, _ = merged("if start_from <= 3: pass\n")
    assert source.endswith("    if start_from <= 3: pass\n")


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


def test_a_number_with_a_gap_is_renumbered_by_the_check():
    source, _ = merged("if start_from <= 7:\n    assert True\n")
    assert source.endswith("    if start_from <= 7:\n        assert True\n")


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
    "plain": (["a = 1"], "a = 2", ["a = 2"]),
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


def test_a_reply_may_change_a_helper_alone():
    source, steps = merged("def visit(place):\n    return 1\n")
    assert steps == []
    assert "return 1" in source


def test_code_that_acts_or_needs_what_a_step_sets_stays_behind_its_step():
    reply = "if start_from <= 1:\n    found = visit('desk 1')\nagent.look()\nn = len(found)\n"
    source, _ = merged(reply)
    assert source.index("found = visit") < source.index("agent.look()") < source.index("n = len") < source.index("<= 2")


def test_imports_come_first():
    source, _ = merged(f"import math\nfar = math.inf\n{STEP_2}")
    assert source.index("import math") < source.index("def solution") < source.index("far = math.inf")


# ------------------------------------------------------------------ what is a reply of steps


def test_a_plan_of_all_its_steps_is_whole():
    assert is_whole(PLAN)
    assert is_whole(with_body("n = 1"))


@pytest.mark.parametrize("number", [1, 3])
def test_a_header_over_later_steps_alone_leaves_the_first_ones(number):
    reply = f"def solution(agent, start_from={number}):\n    if start_from <= 3:\n        assert agent.look()\n"
    source, steps = merged(reply)
    assert steps == [3]
    assert "[Step 1] look" in source
    assert source.count("def solution") == 1


def test_a_header_over_steps_that_the_plan_does_not_reach_is_a_whole_plan():
    assert is_whole("def solution(agent, start_from=1):\n    if start_from <= 6:\n        assert agent.look()\n")


def test_a_plan_of_another_name_is_whole():
    assert is_whole(PLAN.replace("solution", "main"))
    assert is_whole(PLAN.replace("solution(agent, start_from=1)", "main(agent)"))


def test_code_that_defines_nothing_known_is_no_reply_of_steps():
    assert is_whole("agent.goto('desk 1')\n")
    assert is_whole("rooms = ['desk 1']\n")
    assert is_whole("places = agent.rooms\nagent.goto(places[0])\n")


def test_steps_for_a_plan_without_steps_are_a_whole_plan():
    assert is_whole(STEP_2, "def solution(agent, start_from=1):\n    agent.look()\n")


BROKEN = PLAN.replace("places = ['desk 1']", "places = ['desk 1'")


def test_steps_of_a_plan_that_cannot_be_read_are_refused():
    with pytest.raises(RejectedPlanError) as refused:
        merge_reply(STEP_2, {"before": BROKEN})
    (reason,) = refused.value.diagnostics
    assert reason.rule == "steps-alone"
    assert "write the whole plan" in reason.message


BROKEN_PARTS = {
    "a step": ("assert agent.take('mug 1', found[0])", "assert agent.take('mug 1', found[0]"),
    "the guard": ("if start_from <= 2:", "if start_from <= 2"),
    "a step in several lines": (
        "print('[Step 2] take')",
        "print('[Step 2] take',\n            {\n                1: [\n            }",
    ),
}


@pytest.mark.parametrize("name", BROKEN_PARTS)
def test_steps_that_replace_what_cannot_be_read_are_taken(name):
    right, wrong = BROKEN_PARTS[name]
    assert right in PLAN
    source, steps = merged(STEP_2, PLAN.replace(right, wrong))
    assert (source, steps) == (merged(STEP_2)[0], [2])


def test_definitions_that_replace_what_cannot_be_read_are_taken():
    reply = "places = ['desk 1']\n"
    assert merged(reply, BROKEN) == (PLAN, [])
    helper = "def visit(place):\n    return agent.goto(place)\n"
    broken = PLAN.replace("return agent.goto(place)", "return agent.goto(place")
    assert merged(helper + STEP_2, broken)[0] == merged(helper + STEP_2)[0]


def test_all_steps_of_a_plan_that_cannot_be_read_are_a_whole_plan():
    body = textwrap.dedent(PLAN.split("\n", 2)[2])
    assert merged(body, BROKEN)[0] == PLAN
    assert is_whole(body, PLAN.replace("start_from=1):", "start_from=1)"))


@pytest.mark.parametrize("reply", ["if start_from <= 2\n    pass\n", "I am sorry.\n", "if start_from <= 2:\n"])
def test_a_reply_that_is_not_python_is_refused(reply):
    found = Sandbox().merge_reply(reply, PLAN)
    assert isinstance(found, Rejected)
    assert [d.rule for d in found.diagnostics] == ["syntax"]


# ------------------------------------------------------------------ in the cage


def test_the_sandbox_merges_in_a_worker():
    found = Sandbox().merge_reply(STEP_2, PLAN)
    assert found == MergedReply(merged(STEP_2)[0], (2,))
    assert Sandbox().merge_reply(PLAN, PLAN) is None


HOSTILE = {
    "many constants that need the next": "".join(f"a{i} = a{i + 1}\n" for i in range(2000)) + STEP_2,
    "many steps": "".join(f"if start_from <= {k}:\n    x = {k}\n" for k in range(1, 900)),
    "a large number": "if start_from <= 999999999:\n    pass\n",
    "a deep nest": "if start_from <= 1:\n"
    + "".join(f"{' ' * (i + 1)}if x:\n" for i in range(90))
    + " " * 95
    + "pass\n",
    "a negative guard": "if start_from < 0:\n    pass\n",
    "brackets": "(" * 10_000,
    "size": f"x = '{'a' * 60_000}'\n{STEP_2}",
    "too long": f"x = '{'a' * 70_000}'\n{STEP_2}",
    "a zero byte": "if start_from <= 1:\n    x = '\0'\n",
    "half a pair": "if start_from <= 1:\n    x = '\ud800'\n",
    "nothing": "",
    "many elif": STEP_2 + "".join(f"elif start_from <= {k}:\n    pass\n" for k in range(3, 60)),
    "names that bind one another": "def a(): return b()\ndef b(): return a()\nplaces = a()\n" + STEP_2,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reply_ends_as_a_value(name):
    found = Sandbox().merge_reply(HOSTILE[name], PLAN)
    assert found is None or isinstance(found, MergedReply | Rejected)


LIES = {
    "a text": "x",
    "no source": {"steps": [1]},
    "a source that is no text": {"source": 1, "steps": []},
    "steps that are no numbers": {"source": "x", "steps": ["1"]},
    "too many steps": {"source": "x", "steps": [*range(2_000)]},
    "a step beyond all plans": {"source": "x", "steps": [10**7]},
    "steps in no order": {"source": "x", "steps": [2, 1]},
    "a step twice": {"source": "x", "steps": [2, 2]},
    "another field": {"source": "x", "steps": [], "sure": True},
}


@pytest.mark.parametrize("name", LIES)
def test_the_host_believes_no_answer_beyond_its_bounds(name):
    found = verified_merging(LIES[name], "reply")
    assert isinstance(found, Rejected)
    assert found.source == "reply"


# ------------------------------------------------------------------ recorded plans


def recorded_plans():
    """Return the plans in the recorded replies."""
    if not RECORDED.exists():
        return []
    rows = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    calls = [c for r in rows for c in r["calls"] if c["purpose"] in ("plan", "refine", "check")]
    plans = [extract(c["reply"]) for c in calls]
    return [p for p in plans if "def solution" in p and "if start_from <= 2:" in p]


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
