"""The worked examples of ScienceWorld's prompts win, and plans notice faults."""

import re

import pytest
from support.scienceworld_engine import needs_engine

from codeplan.agent_interface import agent_api
from codeplan.envs.scienceworld.agent import ScienceWorldAgent
from codeplan.envs.scienceworld.environment import VARIATIONS, ScienceWorld, find_task
from codeplan.prompts.templates import PACKAGE_FOLDER, Prompts
from codeplan.runner.given_plans import execute
from codeplan.sandbox import Sandbox
from codeplan.testing.cases import CaseRunner, PlanSuite
from codeplan.types import Plan, Task

SAMPLES = {
    "boil": 0,
    "chemistry-mix-paint-secondary-color": 0,
    "find-plant": 1,
    "grow-plant": 0,
    "inclined-plane-determine-angle": 0,
    "lifespan-longest-lived-then-shortest-lived": 0,
    "power-component": 0,
    "use-thermometer": 2,
}
"""The training variation that each example is about."""


def test_every_kind_has_an_example_of_its_own_or_of_a_similar_kind():
    files = {file.stem for file in (PACKAGE_FOLDER / "scienceworld").glob("[a-z]*.j2")}
    assert files == set(SAMPLES)
    similar = ScienceWorld.similar_kinds
    without = {kind for kind in VARIATIONS if not {kind, *similar[kind]} & files}
    # Nothing in these resembles an example: their plans would learn more from the engine's answers.
    assert without <= {
        "identify-life-stages-1",
        "identify-life-stages-2",
        "mendelian-genetics-known-plant",
        "mendelian-genetics-unknown-plant",
    }
    assert {other for others in similar.values() for other in others} <= set(VARIATIONS)


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_example_has_the_form_that_the_prompt_requires(kind):
    sample = Prompts.cached().sample("scienceworld", kind)
    plan = Sandbox().check(sample, agent_api(ScienceWorldAgent))
    assert isinstance(plan, Plan), plan
    assert [s.number for s in plan.steps] == list(range(1, len(plan.steps) + 1))
    assert sample.count("assert ") >= len(plan.steps)


@pytest.mark.long
@needs_engine
@pytest.mark.parametrize("kind", SAMPLES)
def test_an_example_solves_its_own_task(kind):
    sample, env = Prompts.cached().sample("scienceworld", kind), ScienceWorld()
    try:
        task = find_task(Task(f"{kind}/{SAMPLES[kind]}"))
        assert task.split == "train"
        assert env.reset(task).goal == re.match(r"# Task: (.*)\n", sample)[1]
        assert execute(sample, env, task).result.success
    finally:
        env.close()


# ------------------------------------------------------------------ faults

MANIFEST = """\
env = "scienceworld"
sample = "chemistry-mix-paint-secondary-color"
faults = ["nothing", "popup", "slow"]

[expect]
resumes = "all"

[[tasks]]
kind = "chemistry-mix-paint-secondary-color"
seed = 0
"""


@needs_engine
def test_a_plan_notices_faults_and_resumes_at_every_step(tmp_path):
    (tmp_path / "paint.plan.toml").write_text(MANIFEST)
    runner = CaseRunner(PlanSuite(tmp_path / "paint.plan.toml"))
    verdicts = {case.check: runner.run(case) for case in runner.suite.cases}
    assert set(verdicts) == {"", "resume", "nothing", "popup", "slow"}
    complaints = [c.message for verdict in verdicts.values() for c in verdict.complaints]
    assert complaints == []
