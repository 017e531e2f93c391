"""With ``agent="paper"`` plans have the methods of the papers alone."""

import pytest

from codeplan import envs
from codeplan.agent_interface import agent_api, reduced_api
from codeplan.envs.household.agent import HouseholdAgent
from codeplan.envs.household.environment import Household
from codeplan.envs.miniwob.tasks import FEEDBACK_TASKS
from codeplan.errors import UsageError
from codeplan.planning.asking import SampleSettings, choose_samples
from codeplan.prompts.templates import Prompts
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import replay
from codeplan.sandbox import Sandbox
from codeplan.types import Failed, Rejected

ALFWORLD = (
    *("goto", "take", "put", "open_receptacle", "clean", "heat", "cool", "turn_on", "report"),
    *("location", "holding", "receptacles"),
)
MINIWOB = (
    *("type", "press_key", "click_option", "click_xpath", "move_mouse_on", "report"),
    *("description", "current_state"),
)
NAMES = {
    "household": ALFWORLD,
    "alfworld": ALFWORLD,
    "textcraft": ("get", "craft", "inventory", "report"),
    "miniwob": MINIWOB,
    "webshop": ("search", "click", "report"),
    "hotpotqa": ("search", "lookup", "finish", "report"),
}
"""By environment, all that its paper's plans may use."""

KINDS = {"miniwob": FEEDBACK_TASKS, "hotpotqa": ("bridge", "comparison")}
"""The kinds that have worked examples, if these are not all or not listed."""


@pytest.mark.parametrize("env", NAMES)
def test_the_agent_has_the_papers_names_alone(env):
    assert agent_api(envs.make(env, agent="paper").agent).names == NAMES[env]


@pytest.mark.parametrize("env", NAMES)
def test_the_default_is_codeplans_own_agent_with_all_of_these_names(env):
    default = envs.make(env)
    assert default.agent is envs.make(env, agent="full").agent is default.agents["full"]
    assert set(NAMES[env]) < set(agent_api(default.agent).names)


@pytest.mark.parametrize("env", NAMES)
def test_an_unknown_agent_is_refused_in_a_sentence(env):
    with pytest.raises(UsageError, match="agent='papers'.*'full' or 'paper'"):
        envs.make(env, agent="papers")


def test_a_reduced_api_has_only_names_that_there_are():
    with pytest.raises(ValueError, match="HouseholdAgent has no fly"):
        reduced_api(HouseholdAgent, ("goto", "fly"), "")


CLOSES = """def solution(agent, start_from=1):
    if start_from <= 1:
        name = 'close_receptacle'
        print('[Step 1] I close the drawer')
        answer = agent.close_receptacle('drawer 1')
        assert answer, 'Error in [Step 1]'
"""


def test_the_check_and_the_run_know_no_other_method():
    refused = Sandbox().check(CLOSES, Household(agent="paper").agent)
    assert isinstance(refused, Rejected)
    assert not isinstance(Sandbox().check(CLOSES, Household().agent), Rejected)
    known = Sandbox().check(CLOSES, Household().agent)
    env = Household(agent="paper")
    first = env.reset(env.task("heat", 2000))
    ended = Sandbox().run(known, env.agent(env.step, first), str)
    assert isinstance(ended, Failed)


@pytest.mark.parametrize(
    ("env", "id"), [("household", "heat/2000"), ("textcraft", "depth2/200"), ("hotpotqa", "bridge/1")]
)
def test_an_episode_with_it_is_solved_and_replayed(env, id, tmp_path):
    result = run(env, id, agent="paper", out=tmp_path / "run")
    assert result.success
    assert replay(tmp_path / "run") == result


# ------------------------------------------------------------------ worked examples


def samples(env, kind):
    return [s.text for s in choose_samples(Prompts.cached(), env, kind, "another goal", SampleSettings())]


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in NAMES for kind in KINDS.get(name) or envs.make(name).kinds]
)
def test_a_worked_example_uses_only_what_the_agent_has(name, kind):
    (sample,) = samples(envs.make(name, agent="paper"), kind)
    checked = Sandbox().check(sample, envs.make(name, agent="paper").agent)
    assert not isinstance(checked, Rejected), checked


class Cottage(Household):
    """A household for which the package has no examples."""

    name = "cottage"


def test_an_example_with_another_method_is_left_out(tmp_path):
    (tmp_path / "cottage").mkdir()
    (tmp_path / "cottage" / "heat.j2").write_text("agent.close_receptacle('drawer 1')")
    (tmp_path / "cottage" / "cool.j2").write_text("agent.goto('drawer 1')")
    shown = [
        choose_samples(Prompts(tmp_path), Cottage(agent=a), "heat", "x", SampleSettings(count=2))
        for a in ("full", "paper")
    ]
    assert [[sample.text for sample in samples] for samples in shown] == [
        ["agent.close_receptacle('drawer 1')", "agent.goto('drawer 1')"],
        ["agent.goto('drawer 1')"],
    ]


def test_an_agent_s_own_folder_of_examples_comes_first(tmp_path):
    for folder in ("household", "household/paper"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "heat.j2").write_text(f"agent.goto('{folder}')")
    shown = [
        choose_samples(Prompts(tmp_path), Household(agent=a), "heat", "x", SampleSettings())[0].text
        for a in ("full", "paper")
    ]
    assert shown == ["agent.goto('household')", "agent.goto('household/paper')"]
