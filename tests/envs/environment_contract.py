"""What every environment must do. Its tests inherit ``EnvironmentContract`` and say how one is made.

    class TestMyEnvironment(EnvironmentContract):
        def make(self):
            return MyEnvironment()

Set ``futile`` to an action that never wins from the start; ``split`` to a split that has at least two tasks.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Sequence

import pytest

from codeplan.api import agent_api
from codeplan.errors import UsageError
from codeplan.protocols import Environment, GeneratesTasks
from codeplan.types import Observation, Task

AT_MOST = 500
"""Actions that are tried before an environment without a limit of its own is left alone."""


class EnvironmentContract:
    """Inherit, and define ``make``."""

    split = "test"
    futile = "stand on your head"

    def make(self) -> Environment:
        """A new environment."""
        raise NotImplementedError

    @pytest.fixture
    def env(self) -> Iterator[Environment]:
        env = self.make()
        yield env
        env.close()

    @pytest.fixture
    def task(self, env: Environment) -> Task:
        return env.tasks(self.split)[0]

    # -------------------------------------------------------------- its face

    def test_it_has_the_parts_of_an_environment(self, env: Environment):
        assert isinstance(env, Environment)
        assert env.name
        assert env.name == env.name.strip().lower()

    def test_its_agent_can_be_shown_to_a_model(self, env: Environment):
        api = agent_api(env.agent)
        assert "report" in api.names
        assert all(method.doc for method in api.methods), "each public method of the agent needs a docstring"

    def test_its_agent_acts_through_nothing_but_the_callable_it_is_given(self, env: Environment, task: Task):
        first, done = env.reset(task), []

        def act(action: str) -> Observation:
            done.append(action)
            return env.step(action)

        agent = _agent(env, act, first)
        assert isinstance(agent.report(), str)
        assert done == [], "neither building the agent nor its report may act"

    # -------------------------------------------------------------- tasks

    def test_tasks_are_of_this_environment_and_split_and_told_apart_by_their_ids(self, env: Environment):
        tasks = list(env.tasks(self.split))
        assert len(tasks) >= 2
        assert {(t.env, t.split) for t in tasks} == {(env.name, self.split)}
        assert len({t.id for t in tasks}) == len(tasks)

    def test_tasks_stand_in_the_same_order_every_time(self, env: Environment):
        assert list(env.tasks(self.split)) == list(env.tasks(self.split)) == list(self.make().tasks(self.split))

    def test_tasks_are_a_sequence(self, env: Environment):
        tasks = env.tasks(self.split)
        assert isinstance(tasks, Sequence)
        assert tasks[-1] == tasks[len(tasks) - 1]
        assert list(tasks[:2]) == [tasks[0], tasks[1]]
        with pytest.raises(IndexError):
            tasks[len(tasks)]

    def test_a_split_that_there_is_not_has_no_tasks(self, env: Environment):
        assert list(env.tasks("no such split")) == []

    def test_a_generated_task_is_found_again_by_its_kind_and_seed(self, env: Environment, task: Task):
        if not isinstance(env, GeneratesTasks):
            pytest.skip("this environment does not generate tasks")
        assert env.task(task.kind, task.seed) == task
        with pytest.raises(UsageError):
            env.task("no such kind", 0)

    # -------------------------------------------------------------- reset and step

    def test_reset_begins_an_episode_that_is_not_over_and_tells_the_goal(self, env: Environment, task: Task):
        first = env.reset(task)
        assert type(first) is Observation
        assert (first.done, first.success, first.reward) == (False, False, 0.0)
        assert task.goal in first.text

    def test_reset_is_repeatable(self, env: Environment, task: Task):
        once, answer = env.reset(task), env.step(self.futile)
        assert (env.reset(task), env.step(self.futile)) == (once, answer)
        other = self.make()
        assert (other.reset(task), other.step(self.futile)) == (once, answer)
        other.close()

    def test_reset_to_another_task_leaves_nothing_of_the_one_before(self, env: Environment):
        first, second = env.tasks(self.split)[:2]
        fresh = env.reset(first)
        env.step(self.futile)
        env.reset(second)
        env.step(self.futile)
        assert env.reset(first) == fresh

    def test_a_task_that_there_is_not_is_refused_in_one_sentence(self, env: Environment):
        with pytest.raises(UsageError) as refused:
            env.reset(Task("no such task", env.name))
        assert "\n" not in str(refused.value)

    def test_an_action_that_cannot_be_done_is_answered_not_raised(self, env: Environment, task: Task):
        env.reset(task)
        for action in ("", " ", self.futile, "x" * 10_000, "\0", "{}", "'; drop table", "ÄÖÜ 漢字"):
            answer = env.step(action)
            assert type(answer) is Observation
            assert answer.text
            assert not answer.success

    def test_step_before_any_reset_is_refused(self):
        env = self.make()
        with pytest.raises(UsageError):
            env.step(self.futile)
        env.close()

    def test_success_comes_only_with_the_end_and_an_end_stays(self, env: Environment, task: Task):
        env.reset(task)
        answers = (env.step(self.futile) for _ in range(AT_MOST))
        last = next(itertools.dropwhile(lambda answer: not answer.done, answers), None)
        if last is None:
            pytest.skip(f"this environment sets no end within {AT_MOST} actions")
        assert not last.success
        after = env.step(self.futile)
        assert (after.done, after.success, after.reward) == (True, False, 0.0)

    # -------------------------------------------------------------- the end

    def test_close_may_be_called_twice_and_before_any_reset(self, task: Task):
        env = self.make()
        env.close()
        env.close()
        env = self.make()
        env.reset(task)
        env.close()
        env.close()

    def test_two_of_them_do_not_disturb_one_another(self, env: Environment):
        first, second = env.tasks(self.split)[:2]
        other = self.make()
        here = env.reset(first), env.step(self.futile)
        other.reset(second)
        between = env.reset(first)
        other.step(self.futile)
        assert (between, env.step(self.futile)) == here
        other.close()


def _agent(env: Environment, act, first: Observation):
    """Built as the library does: with the observation that reset returned, where ``__init__`` takes it."""
    takes_both = len(inspect.signature(env.agent).parameters) > 1
    return env.agent(act, first) if takes_both else env.agent(act)
