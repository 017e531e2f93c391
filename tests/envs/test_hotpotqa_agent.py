"""HotpotQA's agent, and the worked examples that show how plans use it."""

import pytest

from codeplan.agent_api import agent_api, describe_api
from codeplan.envs.hotpotqa.agent import HotpotQAAgent
from codeplan.envs.hotpotqa.environment import HotpotQA
from codeplan.prompts.templates import Prompts
from codeplan.protocols import Agent
from codeplan.runner.new_episodes import execute
from codeplan.types import Finished, Observation, Stopped

EXAMPLES = {"bridge": "bridge/14", "comparison": "comparison/9"}


def answering(*texts):
    """An agent that gets these answers, and the list of its actions."""
    done, left = [], list(texts)

    def act(action):
        done.append(action)
        return Observation(left.pop(0))

    return HotpotQAAgent(act, Observation("Question: Where was Ada born?")), done


def test_its_api_has_only_these_names():
    assert agent_api(HotpotQAAgent).names == ("search", "lookup", "finish", "report", "question", "answer")
    assert isinstance(HotpotQAAgent(lambda action: Observation("")), Agent)
    assert "def lookup(self, string: str) -> str:" in describe_api(agent_api(HotpotQAAgent))


def test_its_methods_take_the_environment_s_actions_and_return_their_observations():
    agent, done = answering("a page", "(Result 1 / 1) x.", "Episode finished, reward = 1\n")
    assert (agent.search("Ada"), agent.lookup("born"), agent.answer) == ("a page", "(Result 1 / 1) x.", None)
    assert agent.finish("London") == "Episode finished, reward = 1\n"
    assert done == ["search[Ada]", "lookup[born]", "finish[London]"]
    assert agent.answer == "London"


def test_it_reports_the_question_and_the_shortened_last_observation():
    agent, _ = answering("No more results.\n", "x" * 1000)
    assert agent.report() == "My question is: Where was Ada born? I have not acted yet."
    agent.lookup("born")
    assert agent.report().endswith("Last action: 'lookup[born]'; it answered: 'No more results.'")
    agent.search("x")
    assert len(agent.report()) < 500


# ------------------------------------------------------------------ the worked examples


@pytest.mark.parametrize(("kind", "id"), EXAMPLES.items())
def test_a_worked_example_answers_a_question_of_train(kind, id):
    sample = Prompts().sample("hotpotqa", kind)
    task = next(t for t in HotpotQA().tasks("train") if t.id == id)
    assert sample.startswith(f"# Question: {task.goal}\n")
    done = execute(sample, "hotpotqa", id)
    assert done.result.success
    assert isinstance(done.outcome, Finished)
    assert done.result.asks == {"bridge": 2, "comparison": 0}[kind]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_worked_example_fails_with_similar_titles_if_a_page_is_missing(kind):
    sample = Prompts().sample("hotpotqa", kind).replace("read('Budapest'", "read('Buda Pest'")
    done = execute(sample.replace("kilometres('Po')", "kilometres('Po river')"), "hotpotqa", EXAMPLES[kind])
    assert not isinstance(done.outcome, Finished | Stopped)
    assert done.outcome.step == 1
    assert "Similar: [" in done.outcome.message
