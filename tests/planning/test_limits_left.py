"""What prompts say is left: the nearest of an environment's, a budget's and a method's limits."""

import pytest
from msgspec.structs import replace
from support.boxes import Boxes, Replies

from codeplan.budget import Budget, Meter
from codeplan.episode import Episode
from codeplan.planning.feedback import limits_left
from codeplan.recording.trace import Trace
from codeplan.types import Observation, Task


def episode(env=None, replies=(), **budget):
    env, trace = env or Boxes(max_actions=3), Trace()
    return Episode(env, env.tasks("test")[2], Replies(*replies), Meter(Budget(**budget), trace.now), trace)


def left(opened, asks=50, tries=6, replans=3):
    return limits_left(opened, asks=asks, tries=tries, replans=replans)


def test_the_environments_actions_are_counted_from_the_latest_reset():
    opened = episode()
    assert left(opened).actions == 3
    opened.act("open 1")
    opened.act("open 2")
    assert left(opened).actions == 1
    opened.restart()
    assert left(opened).actions == 3


def test_the_budgets_actions_are_counted_over_the_whole_episode():
    opened = episode(actions=4)
    opened.act("open 1")
    opened.restart()
    opened.act("open 1")
    assert left(opened).actions == 2


def test_an_environment_that_names_no_limit_has_none():
    boxes = Boxes()
    del boxes.max_actions
    assert left(episode(boxes)).actions is None


def test_the_model_calls_that_are_left_bound_what_needs_one():
    now = left(episode(model_calls=3))
    assert (now.asks, now.tries, now.replans) == (2, 6, 2)
    assert left(episode(model_calls=1)).asks == 0


def test_the_refinements_that_are_left_bound_tries_and_replans():
    assert (left(episode(refinements=1)).tries, left(episode(refinements=1)).replans) == (2, 1)
    assert (left(episode(refinements=0)).tries, left(episode(refinements=0)).replans) == (1, 0)


def test_a_budget_that_is_spent_leaves_nothing_and_never_less():
    opened = episode(model_calls=1, replies=("hi",))
    opened.ask([{"role": "user", "content": "hello"}], purpose="ask")
    now = left(opened)
    assert (now.asks, now.replans, now.tries) == (0, 0, 6)


def test_a_budget_gives_a_method_no_limit_that_it_does_not_have():
    now = left(episode(refinements=1, model_calls=3), asks=None, tries=None, replans=None)
    assert (now.asks, now.tries, now.replans) == (None, None, None)


def test_a_limit_that_there_is_not_has_no_line():
    boxes = Boxes()
    del boxes.max_actions
    assert limits_left(episode(boxes), asks=None, tries=None, replans=None).lines == ()
    assert left(episode()).lines == (
        "actions: 3",
        "questions (ask_llm) in a run: 50",
        "runs of a plan: 6",
        "replans: 3",
    )


@pytest.mark.parametrize(("ended", "seconds"), [(104.5, 5), (109.0, 1), (109.1, 0), (112.5, 0)])
def test_the_seconds_are_those_of_the_recording_when_an_episode_is_repeated(ended, seconds):
    played = episode()
    played.act("open 1")
    events = [replace(event, at=at) for event, at in zip(played.trace.events, (100.0, 100.0, ended), strict=True)]
    trace = Trace(recording=events)
    boxes = Boxes(max_actions=3)
    repeated = Episode(boxes, played.task, Replies(), Meter(Budget(seconds=10), trace.now), trace)
    repeated.act("open 1")
    assert left(repeated).seconds == seconds


# ------------------------------------------------------------------ the goal


class Page(Boxes):
    """An environment whose reset reveals the goal."""

    goal = "find the ball on this page"

    def reset(self, task):
        return Observation("a page", goal=self.goal)


def test_a_goal_that_only_the_reset_reveals_is_the_goal():
    opened = Episode(Page(), Task("page/1"), Replies())
    assert opened.goal_of(opened.task) == "find the ball on this page"
    assert opened.goal_of(Task("page/1", goal="open box 2")) == "open box 2"


def test_a_goal_that_nothing_reveals_is_not_empty():
    assert Episode(Boxes(), Task("ball/1", seed=1), Replies()).goal_of(Task("ball/1"))


@pytest.mark.parametrize(
    ("goal", "length"), [("x" * 8_000, 8_000), ("x" * 8_001, 8_000), ("x" * 1_000_000, 8_000), ("\ud800" * 10, 60)]
)
def test_a_revealed_goal_is_bounded_and_can_be_recorded(goal, length):
    page = Page()
    page.goal = goal
    revealed = Episode(page, Task("page/1"), Replies()).goal_of(Task("page/1"))
    assert len(revealed) == length
    revealed.encode()
