"""The worked examples of MiniWoB++'s prompts: each solves its task."""

import re

import pytest
from support.miniwob_pages import needs_browser

from codeplan.agent_interface import agent_api
from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.tasks import FEEDBACK_TASKS
from codeplan.planning.asking import SampleSettings, choose_samples
from codeplan.prompts.templates import Prompts
from codeplan.runner.given_plans import execute
from codeplan.sandbox import Sandbox
from codeplan.types import Completion, Plan

SEEDS = {
    **{"search-engine": 2001, "tic-tac-toe": 2001, "terminal": 2000, "login-user-popup": 2001, "guess-number": 2000},
    **{"email-inbox": 2002, "email-inbox-nl-turk": 2011},
    **{"email-inbox-forward-nl": 2000, "email-inbox-forward-nl-turk": 2002},
    **dict.fromkeys(("click-checkboxes-large", "click-dialog-2", "click-widget", "enter-date", "enter-text"), 2000),
    **dict.fromkeys(("enter-text-dynamic", "enter-time", "simple-algebra", "use-spinner", "click-menu"), 2000),
    **dict.fromkeys(("click-checkboxes-soft", "click-collapsible-2", "click-tab-2", "click-tab-2-hard"), 2000),
    **dict.fromkeys(("click-scroll-list", "click-shades", "click-shape", "count-shape", "identify-shape"), 2000),
    **{"grid-coordinate": 2000, "navigate-tree": 2002, "social-media": 2002, "social-media-some": 2000},
    **{"click-shape_2": 2004, "social-media-some_2": 2009, "email-inbox_2": 2000, "email-inbox_3": 2001},
    **{"email-inbox-nl-turk_2": 2006, "email-inbox-nl-turk_3": 2008},
}
"""By example, the task of the training split that it is about."""

SHARED = {"email-inbox": 3, "email-inbox-nl-turk": 3, "click-shape": 2, "social-media-some": 2}
"""The pages with several examples."""


class Solver:
    """Answers the questions of the examples: the x of an equation as x - 7 = 27, and which words are similar."""

    name = "solver"

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        question = messages[-1]["content"]
        if "mean nearly the same" in question:
            return Completion("['peaceful', 'chop', 'brave', 'delectable']", model=self.name)
        less, total = map(int, re.search(r"x - (\d+) = (\d+)", question).groups())
        return Completion(str(total + less), model=self.name)


def examples(page, method=""):
    """All examples for a page, with the goal of none of them."""
    shown = SampleSettings(count=100, table="kind")
    return [s.text for s in choose_samples(Prompts.cached(), MiniWob(), page, "another goal", shown, method=method)]


def test_every_kind_with_feedback_has_an_example():
    assert set(SEEDS) >= set(FEEDBACK_TASKS)


def test_every_example_is_played_here():
    found = [text for page in MiniWob().kinds for text in examples(page)]
    assert len(found) == len(SEEDS) == 38
    assert {*found} == {Prompts.cached().sample("miniwob", name) for name in SEEDS}


@pytest.mark.parametrize("method", ["", "text_planner"])
def test_pages_have_as_many_examples_as_in_the_paper(method):
    counts = {page: len(examples(page, method=method)) for page in MiniWob().kinds}
    assert {page: n for page, n in counts.items() if n > 1} == SHARED
    assert sum(n == 1 for n in counts.values()) == 28


@pytest.mark.parametrize("name", SEEDS)
def test_an_example_has_the_form_that_the_prompt_requires(name):
    sample = Prompts.cached().sample("miniwob", name)
    plan = Sandbox().check(sample, agent_api(MiniWobAgent))
    assert isinstance(plan, Plan), plan
    assert [s.number for s in plan.steps] == list(range(1, len(plan.steps) + 1))
    assert sample.count("assert ") >= len(plan.steps)


@pytest.fixture(scope="module", params=["full", "paper"])
def env(request):
    made = MiniWob(agent=request.param)
    yield made
    made.close()


@needs_browser
@pytest.mark.parametrize("name", SEEDS)
def test_an_example_solves_its_own_task(name, env):
    sample = Prompts.cached().sample("miniwob", name)
    task = env.task(name.partition("_")[0], SEEDS[name])
    goal = re.match(r"# Task: (.*?)(?: \((?:all tasks of this page|on another page of this kind)\))?\n", sample)[1]
    assert env.reset(task).text.startswith(f"Task: {goal}\n\n")
    assert execute(sample, env, task, Solver()).result.success
