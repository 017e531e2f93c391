"""The scripted stand-in in the household: real episodes, every plan in the real sandbox."""

import pytest
from support.standin_prompts import played
from support.trace_samples import outcomes_of

from codeplan import envs
from codeplan.recording.events import PlanRejected, PlanStarted
from codeplan.types import Failed

pytestmark = pytest.mark.long

KINDS = envs.make("household").kinds


@pytest.mark.parametrize("kind", KINDS)
def test_without_mistakes_every_task_is_won_by_the_first_plan(kind):
    for seed in range(3):
        result, events = played("household", f"{kind}/{seed}", "none")
        assert result.success, result
        assert result.refinements == 0
        assert not [e for e in events if isinstance(e, PlanRejected)]


@pytest.mark.parametrize("kind", KINDS)
def test_with_many_mistakes_every_task_is_won_after_two_refinements_at_most(kind):
    for seed in range(2):
        result, _ = played("household", f"{kind}/{seed}", "many", seed)
        assert result.success, result
        assert result.refinements <= 2


def test_a_forgotten_walk_fails_an_assertion_and_the_mended_plan_resumes_at_that_step():
    result, events = played("household", "clean/3", "forgotten_walk")
    failed = outcomes_of(events, Failed)[0]
    assert result.success
    assert "Nothing happens." in failed.message
    assert [e.start_from for e in events if isinstance(e, PlanStarted)] == [1, failed.step]


def test_a_wrong_guess_fails_the_search_and_the_mended_plan_searches_on():
    result, events = played("household", "pick/0", "wrong_guess")
    failed = outcomes_of(events, Failed)[0]
    assert result.success
    assert (failed.step, result.refinements) == (1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_that_starts_over_in_a_changed_environment_succeeds(kind):
    result, _ = played("household", f"{kind}/2", "many", seed=1, start_over_from=1)
    assert result.success, result


def test_model_calls_for_every_check_and_resume_point_succeed_too():
    settings = {"code_check": "always", "resume_by": "model"}
    usual, paper = played("household", "heat/4", "many"), played("household", "heat/4", "many", **settings)
    assert paper[0].success
    assert paper[0].model_calls > usual[0].model_calls
