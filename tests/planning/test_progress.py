"""When refinements change nothing: runs that end alike, in a world that answers as before."""

from __future__ import annotations

import pytest

from codeplan.planning.feedback import Exchange
from codeplan.planning.refinement import ProgressMonitor
from codeplan.types import (
    Checkpoint,
    Diagnostic,
    Failed,
    Finished,
    Observation,
    Outcome,
    Rejected,
    Replan,
    ResourceUsage,
    Stopped,
)

SEEN = Observation("It is empty.")
OPEN, OTHER = Exchange(1, 1, "open 1", "It is empty."), Exchange(1, 1, "open 2", "It is empty.")


def failed(step: int | None = 1, error: str = "ValueError", message: str = "no") -> Failed:
    return Failed(step, 3, error, message, "", Checkpoint(), {}, ResourceUsage())


def stopped(step: int | None = 1, limit: str = "calls", value: float = 9) -> Stopped:
    return Stopped(limit, value, 8, step, 3, f"{value} calls", "", None, {}, ResourceUsage())


def finished(step: int | None = 1) -> Finished:
    return Finished("", step, Checkpoint(), {}, ResourceUsage())


def replan(reason: str = "look on", step: int | None = 1) -> Replan:
    return Replan(step, 3, reason, False, "", Checkpoint(), {}, ResourceUsage())


def acted(run: Outcome | Rejected) -> list[Exchange]:
    return [] if isinstance(run, Rejected) else [OPEN]


def judged(*runs: Outcome | Rejected | tuple[Outcome, Observation, list[Exchange]], most: int = 1) -> list[str | None]:
    """What is said of each run; a run without actions of its own repeats one that is known."""
    monitor = ProgressMonitor(most)
    whole = [run if isinstance(run, tuple) else (run, SEEN, acted(run)) for run in runs]
    found = [monitor.find_standstill(*run) for run in whole]
    return [ending and ending.sentence for ending in found]


def test_one_that_changes_nothing_is_told_in_the_singular_and_more_in_the_plural() -> None:
    told = "no progress: a refinement led to the same end; each plan ended with ValueError in step 1"
    assert judged(failed(), failed()) == [None, told]
    told = "no progress: 2 refinements in a row led to the same end; each plan ended with ValueError outside the steps"
    assert judged(*[failed(None)] * 3, most=2) == [None, None, told]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (stopped(2), "each plan ended with calls in step 2"),
        (finished(2), "each plan ran to its end; then came: 'It is empty.'"),
        (replan(), "each plan asked to replan in step 1"),
    ],
)
def test_each_kind_of_end_is_described(outcome: Outcome, said: str) -> None:
    assert judged(outcome, outcome)[1] == f"no progress: a refinement led to the same end; {said}"


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (failed(), failed(message="yes"), False),
        (failed(), failed(error="TypeError"), False),
        (failed(), failed(step=2), False),
        (stopped(), stopped(value=77), True),
        (stopped(), stopped(limit="wall"), False),
        (stopped(), stopped(step=2), False),
        (finished(), finished(2), True),
        (replan(), replan("look elsewhere"), False),
        (replan(), replan(step=2), False),
        (finished(), failed(), False),
    ],
)
def test_runs_are_alike_in_all_but_times_and_amounts(first: Outcome, second: Outcome, alike: bool) -> None:
    assert [ending is not None for ending in judged(first, second)] == [False, alike]


def test_another_observation_or_a_new_answer_is_progress() -> None:
    assert judged(failed(), (failed(), Observation("A ball."), [OPEN])) == [None, None]
    assert judged(failed(), (failed(), SEEN, [OPEN, OTHER])) == [None, None]
    other = (failed(), SEEN, [OTHER])
    told = judged(failed(), failed())[1]
    assert judged(failed(), other, failed()) == [None, None, told]
    assert judged(failed(), other, other) == [None, None, told]


def test_questions_and_their_answers_are_no_progress() -> None:
    asked = Exchange(None, 1, "where?", "there")
    assert judged(failed(), (failed(), SEEN, [OPEN, asked]))[1] is not None


def test_progress_begins_the_count_anew() -> None:
    runs = [failed(), failed(), failed(message="other"), failed(), failed(), failed()]
    assert [ending is not None for ending in judged(*runs, most=2)] == [False] * 5 + [True]


def refused(message: str = "no Python", line: int = 0) -> Rejected:
    return Rejected(message, (Diagnostic(line, 0, "rule", message),))


def test_equal_refusals_are_no_progress() -> None:
    told = "no progress: 2 refinements in a row led to the same end; each plan was refused: no Python [rule]"
    assert judged(refused(), refused(), refused(), most=2) == [None, None, told]
    assert judged(refused(), refused(), most=1)[1] is not None


@pytest.mark.parametrize("other", [refused("syntax"), refused(line=3), failed()])
def test_another_refusal_or_a_run_in_between_is_progress(other: Outcome | Rejected) -> None:
    assert judged(refused(), other, refused()) == [None] * 3
    assert judged(refused(), refused(), other, refused(), refused(), most=2) == [None] * 5


def test_a_refused_plan_begins_the_count_of_runs_anew() -> None:
    assert [ending is not None for ending in judged(failed(), refused(), failed(), failed())] == [False] * 3 + [True]


def test_two_replans_in_a_row_need_an_action_in_between() -> None:
    idle = "no progress: two plans in a row asked to replan, without an action in between"
    assert judged(replan(), (replan("other"), SEEN, []), most=9) == [None, idle]
    assert judged(replan(), (replan("other"), SEEN, [OTHER]), most=9) == [None, None]
    assert judged(replan(), (failed(), SEEN, []), most=9) == [None, None]
    assert judged((failed(), SEEN, []), (failed(message="x"), SEEN, []), most=9) == [None, None]


def test_with_0_everything_is_allowed() -> None:
    assert judged(*[failed()] * 9, *[(replan(), SEEN, [])] * 3, most=0) == [None] * 12
