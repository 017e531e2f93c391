"""The worked examples in the manner of AdaPlanner's: those that ask win, those to refine fail where they are to."""

import re

import pytest
from support.miniwob_pages import needs_browser

from codeplan.envs.household.agent import PaperHouseholdAgent
from codeplan.envs.household.environment import Household
from codeplan.envs.miniwob.agent import PaperMiniWobAgent
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.prompts.templates import Prompts
from codeplan.runner.given_plans import execute
from codeplan.sandbox import Sandbox
from codeplan.standin.household import sort_by_likelihood
from codeplan.types import Completion, Failed, Plan

SEEDS = {"pick": 2000, "clean": 2000, "heat": 2000, "cool": 2002, "examine": 2001, "pick_two": 2001}
"""The task of the training split that each of the household's examples is about, in an easy room."""

ASKS = {"pick": 2, "clean": 2, "heat": 2, "cool": 2, "examine": 4, "pick_two": 3}
"""How often each kind's example asks (Sun et al. 2023, appendix D.1)."""


class Advisor:
    """Answers the questions of the examples as a sensible model would."""

    name = "advisor"

    def __init__(self):
        self.asked = 0

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        self.asked += 1
        return Completion(self.answer(messages[-1]["content"]), model=self.name)

    def answer(self, question):
        if sought := re.match(r"Sort these receptacles by how likely one finds an? (\w+) there.*?(\[.*\])", question):
            return str(sort_by_likelihood(sought[1], re.findall(r"'([a-z]+ \d+)'", sought[2])))
        if sought := re.search(r"Which number has the (\w+) in it", question):
            return re.search(rf"an? {sought[1]} (\d+)", question)[1]
        return re.search(r"[\w-]+\.gpg", question)[0]


@pytest.mark.parametrize("kind", SEEDS)
def test_an_asking_example_of_the_household_solves_its_own_task(kind):
    sample, env, model = (
        Prompts.cached().sample("household/paper_samples", kind),
        Household(difficulty="easy"),
        Advisor(),
    )
    task = env.task(kind, SEEDS[kind])
    seen, goal = re.match(r"# You see: (.*)\n# Task: (.*)\n", sample).groups()
    first = env.reset(task).text
    assert seen in first and goal == task.goal
    assert isinstance(Sandbox().check(sample, PaperHouseholdAgent), Plan)
    execution = execute(sample, env, task, model)
    assert execution.result.success, execution.outcome
    assert model.asked == sample.count("ask_llm(") == ASKS[kind]
    assert len(re.findall("^ +assert ", sample, re.MULTILINE)) == len(re.findall("start_from <= ", sample))


@pytest.mark.parametrize("kind", SEEDS)
def test_alfworld_shows_the_same(kind):
    assert Prompts.cached().sample("alfworld/paper_samples", kind) == Prompts.cached().sample(
        "household/paper_samples", kind
    )


@pytest.fixture(scope="module")
def pages():
    env = MiniWob(agent="paper")
    yield env
    env.close()


def outcome(pages, kind, seed):
    sample = Prompts.cached().sample("miniwob/paper_samples", kind)
    assert isinstance(Sandbox().check(sample, PaperMiniWobAgent), Plan)
    return execute(sample, pages, pages.task(kind, seed), Advisor())


@needs_browser
def test_the_terminals_example_asks_once_and_wins(pages):
    assert outcome(pages, "terminal", 2000).result.success


@needs_browser
def test_the_example_of_guessing_guesses_once_and_tells_what_is_left(pages):
    ran = [outcome(pages, "guess-number", seed) for seed in range(2000, 2006)]
    for one in ran:
        if not one.result.success:
            assert isinstance(one.outcome, Failed)
            assert re.search(r"only \[(5, 6, 7, 8, 9|0, 1, 2, 3)\] are left", one.outcome.message)
    assert any(not one.result.success for one in ran)


@needs_browser
def test_the_example_of_tic_tac_toe_fails_at_a_cell_that_is_not_free(pages):
    ran = [outcome(pages, "tic-tac-toe", seed) for seed in range(2006, 2011)]
    failed = [one.outcome for one in ran if isinstance(one.outcome, Failed)]
    assert any(one.result.success for one in ran)
    assert failed and all("is not mine" in one.message for one in failed)
