"""What every environment must do, as tests to inherit. Any runner that collects methods named ``test_…`` can run them.

from codeplan.testing import EnvironmentContract

class TestMyEnvironment(EnvironmentContract):
    def make(self):
        return MyEnvironment()
"""

from __future__ import annotations

import inspect
import itertools
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from codeplan import envs
from codeplan.agent_api import agent_api
from codeplan.errors import UsageError
from codeplan.protocols import Environment, GeneratesTasks
from codeplan.types.task import Observation, Task

MAX_CONTRACT_ACTIONS = 500
"""Actions that are tried before an environment without a limit of its own is left alone."""

ODD_ACTIONS = ("", " ", "x" * 10_000, "\0", "{}", "'; drop table", "ÄÖÜ 漢字", "line\nline")


class EnvironmentContract:
    """Inherit, and define ``make``.

    ``split`` is a split that has at least two tasks, None for the environment's first; ``futile`` is an action that
    never wins from the start.
    """

    split: str | None = None
    non_winning_action = "stand on your head"

    def make(self) -> Environment:
        """A new environment."""
        raise NotImplementedError(f"{type(self).__name__} has to define make(), which returns a new environment")

    # -------------------------------------------------------------- its face

    def test_it_has_the_parts_of_an_environment(self) -> None:
        with self._open() as env:
            assert isinstance(env, Environment), f"{type(env).__name__} lacks a part of an Environment"
            assert env.name, "its name is empty"
            assert env.name == env.name.strip().lower(), "its name is written in small letters, without white space"

    def test_its_agent_can_be_shown_to_a_model(self) -> None:
        with self._open() as env:
            api = agent_api(env.agent)
            assert "report" in api.names, "its agent has no report()"
            silent = [method.name for method in api.methods if not method.doc]
            assert not silent, f"these methods of its agent need a docstring: {silent}"

    def test_its_agent_acts_through_nothing_but_the_callable_it_is_given(self) -> None:
        with self._start_first_task() as (env, first, _):
            done: list[str] = []

            def act(action: str) -> Observation:
                done.append(action)
                return env.step(action)

            agent = _agent(env, act, first)
            assert isinstance(agent.report(), str), "the agent's report is no text"
            assert done == [], "neither building the agent nor its report may act"

    # -------------------------------------------------------------- tasks

    def test_tasks_are_of_this_environment_and_split_and_told_apart_by_their_ids(self) -> None:
        with self._open() as env:
            tasks = list(env.tasks(self._split(env)))
            assert len(tasks) >= 2, f"the split {self._split(env)} has {len(tasks)} tasks"
            found = {(t.env, t.split) for t in tasks}
            assert found == {(env.name, self._split(env))}, f"the tasks say that they are of {found}"
            assert len({t.id for t in tasks}) == len(tasks), "two tasks have one id"

    def test_tasks_stand_in_the_same_order_every_time(self) -> None:
        with self._open() as env, self._open() as other:
            split = self._split(env)
            once = list(env.tasks(split))
            assert once == list(env.tasks(split)), "tasks() gives another list the second time"
            assert once == list(other.tasks(split)), "tasks() gives another list in another environment"

    def test_tasks_are_a_sequence(self) -> None:
        with self._open() as env:
            tasks = env.tasks(self._split(env))
            assert isinstance(tasks, Sequence), f"tasks() gives a {type(tasks).__name__}, which is no Sequence"
            assert tasks[-1] == tasks[len(tasks) - 1]
            assert list(tasks[:2]) == [tasks[0], tasks[1]]
            _assert_raises(IndexError, lambda: tasks[len(tasks)])

    def test_a_split_that_there_is_not_has_no_tasks(self) -> None:
        with self._open() as env:
            assert list(env.tasks("no such split")) == []

    def test_a_task_is_found_by_its_id(self) -> None:
        with self._start_first_task() as (env, _, task):
            assert envs.select(env, id=task.id) == task

    def test_a_generated_task_is_found_again_by_its_kind_and_seed(self) -> None:
        with self._start_first_task() as (env, _, task):
            if not isinstance(env, GeneratesTasks):
                raise unittest.SkipTest("this environment does not generate tasks")
            assert env.task(task.kind, task.seed) == task
            generating = env
            _assert_raises(UsageError, lambda: generating.task("no such kind", 0))

    # -------------------------------------------------------------- reset and step

    def test_reset_begins_an_episode_that_is_not_over_and_tells_the_goal(self) -> None:
        with self._start_first_task() as (_, first, task):
            assert type(first) is Observation
            assert (first.done, first.success, first.reward) == (False, False, 0.0)
            assert task.goal in first.text, f"the first observation does not have the goal's words: {task.goal}"

    def test_reset_is_repeatable(self) -> None:
        with self._start_first_task() as (env, first, task), self._open() as other:
            answer = env.step(self.non_winning_action)
            assert (env.reset(task), env.step(self.non_winning_action)) == (first, answer), (
                "a second reset begins otherwise"
            )
            assert (other.reset(task), other.step(self.non_winning_action)) == (first, answer), (
                "another environment differs"
            )

    def test_reset_to_another_task_leaves_nothing_of_the_one_before(self) -> None:
        with self._open() as env:
            first, second = env.tasks(self._split(env))[:2]
            fresh = env.reset(first)
            env.step(self.non_winning_action)
            env.reset(second)
            env.step(self.non_winning_action)
            assert env.reset(first) == fresh

    def test_a_task_that_there_is_not_is_refused_in_one_sentence(self) -> None:
        with self._open() as env:
            refused = _assert_raises(UsageError, lambda: env.reset(Task("no such task", env.name)))
            assert "\n" not in str(refused), "the error has several lines"

    def test_an_action_that_cannot_be_done_is_answered_not_raised(self) -> None:
        with self._start_first_task() as (env, _, _):
            for action in (self.non_winning_action, *ODD_ACTIONS):
                answer = env.step(action)
                assert type(answer) is Observation
                assert answer.text, f"the action {action[:20]!r} is answered with no text"
                assert not answer.success, f"the action {action[:20]!r} wins"

    def test_step_before_any_reset_is_refused(self) -> None:
        with self._open() as env:
            _assert_raises(UsageError, lambda: env.step(self.non_winning_action))

    def test_success_comes_only_with_the_end_and_an_end_stays(self) -> None:
        with self._start_first_task() as (env, _, _):
            answers = (env.step(self.non_winning_action) for _ in range(MAX_CONTRACT_ACTIONS))
            last = next(itertools.dropwhile(lambda answer: not answer.done, answers), None)
            if last is None:
                raise unittest.SkipTest(f"this environment sets no end within {MAX_CONTRACT_ACTIONS} actions")
            assert not last.success
            after = env.step(self.non_winning_action)
            assert (after.done, after.success, after.reward) == (True, False, 0.0)

    # -------------------------------------------------------------- the end

    def test_close_may_be_called_twice_and_before_any_reset(self) -> None:
        with self._open() as env:
            env.close()
            env.close()
        with self._start_first_task() as (env, _, _):
            env.close()
            env.close()

    def test_two_of_them_do_not_disturb_one_another(self) -> None:
        with self._open() as env, self._open() as other:
            first, second = env.tasks(self._split(env))[:2]
            here = env.reset(first), env.step(self.non_winning_action)
            other.reset(second)
            between = env.reset(first)
            other.step(self.non_winning_action)
            assert (between, env.step(self.non_winning_action)) == here

    # -------------------------------------------------------------- what the tests share

    @contextmanager
    def _open(self) -> Iterator[Environment]:
        with closing(self.make()) as env:
            yield env

    @contextmanager
    def _start_first_task(self) -> Iterator[tuple[Environment, Observation, Task]]:
        """An environment at the start of the split's first task."""
        with self._open() as env:
            task = env.tasks(self._split(env))[0]
            yield env, env.reset(task), task

    def _split(self, env: Environment) -> str:
        return self.split or envs.splits(env)[0]


def _assert_raises(wanted: type[Exception], call: Callable[[], object]) -> Exception:
    try:
        call()
    except wanted as e:
        return e
    raise AssertionError(f"no {wanted.__name__} was raised")


def _agent(env: Environment, act: Callable[[str], Observation], first: Observation) -> Any:
    """Built as the library does: with the observation that reset returned, where ``__init__`` takes it."""
    takes_both = len(inspect.signature(env.agent).parameters) > 1
    return env.agent(act, first) if takes_both else env.agent(act)
