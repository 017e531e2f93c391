"""The fixtures for tests of plans in Python."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, find, given, settings
from support.plan_suites import clean_plan

import codeplan
from codeplan.envs.household.agent import HouseholdAgent
from codeplan.errors import AgentError, ModelError, UsageError
from codeplan.testing.fixtures import calls_of, tasks
from codeplan.types import Failed, Finished

GREET = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print(agent.goto('desk 1'), agent.holding, ask_llm('Which one?'))
        assert agent.report(), 'Error in [Step 1]'
"""


def test_a_run_reports_what_the_plan_did(plan_runner, assert_steps):
    run = plan_runner(clean_plan(), "household", "clean/418")
    assert run.success
    assert [made.call.name for made in run.action_events][-1] == "put lettuce 1 in/on diningtable 1"
    assert_steps(run, 1, 2, 3, 4)
    with pytest.raises(AssertionError, match="it entered the steps 1, 2, 3, 4; expected 1"):
        assert_steps(run, 1)


def test_assert_resumes_passes_or_reports_the_difference(assert_resumes):
    assert_resumes(clean_plan(), "household", "clean/418", at=3)
    again = clean_plan().replace("    if start_from <= 1:", "    agent.goto('countertop 1')\n    if start_from <= 1:")
    with pytest.raises(AssertionError, match="resumed at step 3, the plan did 'examine countertop 1'; expected"):
        assert_resumes(again, "household", "clean/418", at=3)
    with pytest.raises(AssertionError, match="step 9 is never entered"):
        assert_resumes(clean_plan(), "household", "clean/418", at=9)


@pytest.mark.parametrize("answers", ["mug 1", ["mug 1"], {"one": "mug 1"}, lambda question: "mug 1"])
def test_a_scripted_model_gives_the_given_answers(plan_runner, scripted_llm, fake_agent, answers):
    model = scripted_llm(answers)
    agent = fake_agent("household", goto="a desk", report="here")
    outcome = plan_runner.with_agent(GREET, agent, model)
    assert isinstance(outcome, Finished)
    assert outcome.output == "a desk None mug 1\n"
    assert model.questions == ["Which one?"]


def test_a_question_without_an_answer_is_an_error_and_not_an_empty_answer(plan_runner, scripted_llm, fake_agent):
    agent = fake_agent("household", goto="a desk", report="here")
    with pytest.raises(ModelError, match="has no answer: no pattern fits"):
        plan_runner.with_agent(GREET, agent, scripted_llm({"two": "mug 1"}))


def test_a_fake_agent_has_what_the_real_one_has_and_nothing_else(fake_agent):
    agent = fake_agent(
        "household",
        goto=["a desk", "a bed"],
        holding="mug 1",
        put=lambda object, receptacle: f"{object} in {receptacle}",
    )
    assert [agent.goto("desk 1"), agent.goto("bed 1")] == ["a desk", "a bed"]
    assert (agent.holding, agent.put("mug 1", receptacle="bed 1")) == ("mug 1", "mug 1 in bed 1")
    assert calls_of(agent)[0] == ("goto", ("desk 1",), {})
    with pytest.raises(AgentError, match="has no further answer for goto"):
        agent.goto("bed 2")
    with pytest.raises(AgentError, match="has no further answer for take"):
        agent.take("mug 1", "desk 1")
    with pytest.raises(AgentError, match="call it as goto.*: too many positional arguments"):
        agent.goto("bed 1", "slowly")
    with pytest.raises(AgentError, match="call it as goto.*: goto has no argument `place`; it has receptacle"):
        agent.goto(place="bed 1")
    with pytest.raises(AttributeError):
        agent.fly()
    with pytest.raises(UsageError, match="HouseholdAgent has no 'got'; did you mean 'goto'"):
        fake_agent(HouseholdAgent, got="x")


def test_a_plan_for_a_fake_agent_is_checked_against_the_real_api(plan_runner, fake_agent):
    outcome = plan_runner.with_agent(GREET.replace("goto", "fly"), fake_agent("household"))
    assert "fly" in outcome.diagnostics[0].message
    failed = plan_runner.with_agent(GREET, fake_agent("household"))
    assert isinstance(failed, Failed)
    assert "has no further answer for goto" in failed.message


def test_an_episode_is_recorded_once_and_then_replayed(pytester):
    pytester.makepyfile(
        "import codeplan\n\n"
        "def test_it(episode_tape):\n"
        "    assert codeplan.run('household', 'clean/22', **episode_tape('one')).success\n"
    )
    missing = pytester.runpytest()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no tape *one.jsonl; run the test once with --live-llm to record it*"])
    pytester.runpytest("--live-llm").assert_outcomes(passed=1)
    assert (pytester.path / "tapes" / "one.jsonl").is_file()
    pytester.runpytest().assert_outcomes(passed=1)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(task=tasks("household", kind="clean", seeds=[418, 493, 737, 1147, 1591]))
def test_a_property_of_a_plan_is_tried_on_many_tasks(plan_runner, task):
    assert plan_runner(clean_plan(), "household", task).success


def test_a_failure_shrinks_to_the_smallest_household():
    def size(task):
        game = codeplan.envs.make("household").game(task)
        return len(game.receptacles) + len(game.objects)

    sizes = sorted(size(codeplan.envs.make("household").task("heat", seed)) for seed in range(40))
    limit = sizes[len(sizes) // 2]
    found = find(tasks("household", kind="heat", seeds=range(40)), lambda task: size(task) >= limit)
    assert size(found) == limit


def test_impossible_task_strategies_are_usage_errors():
    with pytest.raises(UsageError, match="none of the household tasks"):
        tasks("household", kind="heat", where=lambda task: False)
    with pytest.raises(UsageError, match="no tasks of kind 'dance'"):
        tasks("household", kind="dance")
