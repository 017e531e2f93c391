"""Which replies hold only steps, which plans they fit, and what the host believes of the merging."""

import textwrap

import pytest
from support.step_replies import PLAN, STEP_2, is_whole, merged, with_body

from codeplan.sandbox import Sandbox
from codeplan.sandbox.analysis.reply_merging import merge_reply
from codeplan.sandbox.host.plan_texts import verified_merging
from codeplan.sandbox.language.extraction import MergedReply
from codeplan.sandbox.language.parsing import RejectedPlanError
from codeplan.types import Rejected

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
    "a large number": "if start_from <= 999999999:\n    pass\n",
    "a deep nest": "if start_from <= 1:\n"
    + "".join(f"{' ' * (i + 1)}if x:\n" for i in range(90))
    + " " * 95
    + "pass\n",
    "a negative guard": "if start_from < 0:\n    pass\n",
    "size": f"x = '{'a' * 60_000}'\n{STEP_2}",
    "a zero byte": "if start_from <= 1:\n    x = '\0'\n",
    "half a pair": "if start_from <= 1:\n    x = '\ud800'\n",
    "many elif": STEP_2 + "".join(f"elif start_from <= {k}:\n    pass\n" for k in range(3, 60)),
    "names that bind one another": "def a(): return b()\ndef b(): return a()\nplaces = a()\n" + STEP_2,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reply_ends_as_a_value(name):
    found = Sandbox().merge_reply(HOSTILE[name], PLAN)
    assert found is None or isinstance(found, MergedReply | Rejected)


LIES = {
    "no source": {"steps": [1]},
    "steps that are no numbers": {"source": "x", "steps": ["1"]},
    "too many steps": {"source": "x", "steps": [*range(2_000)]},
    "a step beyond all plans": {"source": "x", "steps": [10**7]},
    "a step twice": {"source": "x", "steps": [2, 2]},
    "another field": {"source": "x", "steps": [], "sure": True},
}


@pytest.mark.parametrize("name", LIES)
def test_the_host_believes_no_answer_beyond_its_bounds(name):
    found = verified_merging(LIES[name], "reply")
    assert isinstance(found, Rejected)
    assert found.source == "reply"
