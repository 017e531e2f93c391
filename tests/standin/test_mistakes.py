"""What the stand-in does alike in every world: mistakes are made as asked for, and plans that the check refuses repaired."""

import pytest
from support.scienceworld_engine import needs_engine
from support.standin_prompts import PLAIN, ask, played

from codeplan import envs
from codeplan.agent_interface import agent_api
from codeplan.recording.events import PlanRejected
from codeplan.standin import hotpotqa, household, scienceworld, textcraft, webshop
from codeplan.standin.mistakes import Mistakes
from codeplan.standin.model import ScriptedModel

WORLDS = {
    "household": ("clean/3", household.MISTAKE_NAMES),
    "textcraft": ("depth3/70", textcraft.MISTAKE_INSERTERS),
    "webshop": ("buy/0", webshop.MISTAKE_INSERTERS),
    "hotpotqa": ("bridge/2", hotpotqa.MISTAKE_INSERTERS),
}
"""By environment, a task and the mistakes that a plan for it may have."""


@pytest.mark.parametrize(("world", "name"), [(world, name) for world in WORLDS for name in WORLDS[world][1]])
def test_a_mistake_requested_by_name_is_made(world, name):
    env = envs.make(world)
    task = envs.select(env, id=WORLDS[world][0])
    about = {"api": "", "left": (), "observation": env.reset(task).text, "goal": task.goal, **PLAIN}
    correct = ask("adaplanner/plan", **about)
    for seed in range(6):
        broken = ask("adaplanner/plan", ScriptedModel(seed, name), **about)
        assert broken != correct
        assert ask("adaplanner/plan", ScriptedModel(seed, Mistakes(**{name: 1.0})), **about) == broken


@pytest.mark.parametrize("mistake", ["unknown_method", "syntax_error"])
@pytest.mark.parametrize(
    ("env", "task"),
    [
        *(("household", "heat/1"), ("textcraft", "depth3/70"), ("webshop", "buy/0"), ("hotpotqa", "bridge/2")),
        pytest.param("scienceworld", "lifespan-shortest-lived/95", marks=needs_engine),
    ],
)
def test_a_plan_that_the_check_refuses_is_repaired_without_a_refinement(env, task, mistake):
    result, events = played(env, task, mistake)
    assert [e for e in events if isinstance(e, PlanRejected)]
    assert result.success
    assert (result.refinements, result.model_calls) == (0, 2 + result.asks)


@pytest.mark.parametrize("rules", [scienceworld, webshop])
def test_the_vocabulary_matches_the_agent(rules):
    agent = envs.make(rules.__name__.rpartition(".")[2]).agent
    assert set(rules.AGENT_VOCABULARY.names) == set(agent_api(agent).names)
