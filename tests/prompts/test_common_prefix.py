"""Prompts begin with what stays the same, so that endpoints' prefix caches hit."""

from itertools import pairwise, takewhile

import pytest

from codeplan import run
from codeplan.agent_interface import agent_api, describe_api
from codeplan.envs import make
from codeplan.standin.model import ScriptedModel

TASKS = {
    "household": ("clean/0", "clean/1", "heat/0"),
    "hotpotqa": ("bridge/1", "bridge/2", "comparison/1"),
    "textcraft": ("depth4/0", "depth4/1", "depth2/123"),
    "webshop": ("buy/0", "buy/1", "buy/2"),
}
"""For each environment two tasks of one kind, and one of another kind if it has one."""


class ListeningModel:
    """The stand-in, with a list of the prompts that it got."""

    name = "scripted"

    def __init__(self):
        self._model, self.prompts = ScriptedModel(mistakes="many"), []

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        self.prompts.append((purpose, [m["content"] for m in messages]))
        return self._model.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)

    def first(self, purpose):
        """The system's and the user's text of the first prompt for this purpose; None if there was none."""
        return next((texts for asked, texts in self.prompts if asked == purpose), None)


def listen(env, task, **settings):
    model = ListeningModel()
    run(env, task, "adaplanner", model, **settings)
    return model


def shared_start(first, second):
    """The common start of two prompts, each a system's and a user's text."""
    pairs = zip("\n".join(first), "\n".join(second), strict=False)
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@pytest.mark.parametrize("env", TASKS)
def test_two_tasks_of_a_kind_share_the_whole_system_text(env):
    first, second = (listen(env, task).first("plan") for task in TASKS[env][:2])
    assert first[1] != second[1]
    assert len(shared_start(first, second)) > len(first[0])


@pytest.mark.parametrize("env", TASKS)
def test_tasks_of_all_kinds_share_the_rules_and_the_api(env):
    prompts = [listen(env, TASKS[env][number]).first("plan") for number in (0, 2)]
    world = make(env)
    try:
        api = describe_api(agent_api(world.agent))
    finally:
        world.close()
    shared = shared_start(*prompts)
    assert api in shared
    assert "one fenced python block" in shared


@pytest.mark.parametrize(("env", "number"), [("household", 0), ("hotpotqa", 0), ("textcraft", 0)])
def test_a_fresh_refinement_begins_as_the_draft_up_to_the_goal(env, number):
    model = listen(env, TASKS[env][number], refine_prompt="fresh")
    draft, refinement = model.first("plan"), model.first("refine")
    assert refinement is not None
    assert "</goal>\n\n" in shared_start(draft, refinement)


@pytest.mark.parametrize(("env", "number"), [("household", 0), ("hotpotqa", 0), ("textcraft", 0)])
def test_a_refinement_in_conversation_begins_with_all_messages_of_the_call_before(env, number):
    model = listen(env, TASKS[env][number], refine_prompt="conversation")
    calls = [texts for purpose, texts in model.prompts if purpose in ("plan", "refine")]
    assert len(calls) > 1
    assert all(after[: len(before)] == before for before, after in pairwise(calls))


@pytest.mark.parametrize("env", TASKS)
def test_the_system_text_says_nothing_of_the_task(env):
    for task in TASKS[env]:
        model = listen(env, task)
        goal = model.first("plan")[1].partition("<goal>\n")[2].partition("\n</goal>")[0]
        assert goal
        assert not any(goal in texts[0] for purpose, texts in model.prompts if purpose in ("plan", "refine"))
