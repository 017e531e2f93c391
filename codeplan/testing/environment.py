"""Tests that every environment must pass, to inherit. Any runner that collects methods named ``test_…`` runs them.

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
from codeplan.agent_interface import agent_api
from codeplan.errors import UsageError
from codeplan.protocols import Environment, GeneratesTasks, HasSnapshots
from codeplan.types import Observation, Task
from codeplan.untrusted.texts import with_article, with_count
from codeplan.untrusted.values import in_quotes

MAX_CONTRACT_ACTIONS = 500
"""Actions to try before the tests conclude that an environment has no action limit."""

ODD_ACTIONS = ("", " ", "x" * 10_000, "\0", "{}", "'; drop table", "ÄÖÜ 漢字", "line\nline")


class EnvironmentContract:
    """Inherit and define ``make``.

    ``split`` is a split with at least two tasks; None means the environment's first. ``non_winning_action`` is an
    action that never wins from the start of a task.
    """

    split: str | None = None
    non_winning_action = "stand on your head"

    def make(self) -> Environment:
        """Return a new environment."""
        raise NotImplementedError(f"{type(self).__name__} must define make(), which returns a new environment")

    # -------------------------------------------------------------- name and agent

    def test_it_has_the_parts_of_an_environment(self) -> None:
        with self._open() as env:
            assert isinstance(env, Environment), f"{type(env).__name__} lacks a part of the Environment protocol"
            assert env.name, "its name is empty"
            assert env.name == env.name.strip().lower(), "its name must be in lower case and stripped"

    def test_its_agent_has_a_report_and_docstrings(self) -> None:
        with self._open() as env:
            api = agent_api(env.agent)
            assert "report" in api.names, "its agent has no report()"
            silent = [method.name for method in api.methods if not method.doc]
            assert not silent, f"these methods of its agent need a docstring: {silent}"

    def test_its_agent_acts_only_when_a_method_is_called(self) -> None:
        with self._start_first_task() as (env, first, _):
            done: list[str] = []

            def act(action: str) -> Observation:
                done.append(action)
                return env.step(action)

            agent = _agent(env, act, first)
            assert isinstance(agent.report(), str), "report() must return a str"
            assert done == [], "building the agent and report() must not act"

    # -------------------------------------------------------------- tasks

    def test_tasks_name_their_environment_and_split_and_have_unique_ids(self) -> None:
        with self._open() as env:
            tasks = list(env.tasks(self._split(env)))
            assert len(tasks) >= 2, f"the split {self._split(env)} has {with_count(len(tasks), 'task')}"
            found = {(t.env, t.split) for t in tasks}
            assert found == {(env.name, self._split(env))}, f"the tasks name these environments and splits: {found}"
            assert len({t.id for t in tasks}) == len(tasks), "two tasks have the same id"

    def test_tasks_are_always_in_the_same_order(self) -> None:
        with self._open() as env, self._open() as other:
            split = self._split(env)
            once = list(env.tasks(split))
            assert once == list(env.tasks(split)), "a second call of tasks() returns another list"
            assert once == list(other.tasks(split)), "tasks() of another instance returns another list"

    def test_tasks_are_a_sequence(self) -> None:
        with self._open() as env:
            tasks = env.tasks(self._split(env))
            assert isinstance(tasks, Sequence), f"tasks() returns {with_article(type(tasks).__name__)}, not a Sequence"
            assert tasks[-1] == tasks[len(tasks) - 1]
            assert list(tasks[:2]) == [tasks[0], tasks[1]]
            _assert_raises(IndexError, lambda: tasks[len(tasks)])

    def test_an_unknown_split_has_no_tasks(self) -> None:
        with self._open() as env:
            assert list(env.tasks("no such split")) == []

    def test_a_task_is_found_by_its_id(self) -> None:
        with self._start_first_task() as (env, _, task):
            assert envs.select(env, id=task.id) == task

    def test_a_generated_task_is_found_by_its_kind_and_seed(self) -> None:
        with self._start_first_task() as (env, _, task):
            if not isinstance(env, GeneratesTasks):
                raise unittest.SkipTest("this environment does not generate tasks")
            assert env.task(task.kind, task.seed) == task
            generating = env
            _assert_raises(UsageError, lambda: generating.task("no such kind", 0))

    # -------------------------------------------------------------- reset and step

    def test_reset_begins_an_unfinished_episode_and_states_the_goal(self) -> None:
        with self._start_first_task() as (_, first, task):
            assert type(first) is Observation
            assert (first.done, first.success, first.reward) == (False, False, 0.0)
            assert task.goal in first.text, f"the first observation does not contain the goal: {task.goal}"

    def test_reset_is_repeatable(self) -> None:
        with self._start_first_task() as (env, first, task), self._open() as other:
            answer = env.step(self.non_winning_action)
            assert (env.reset(task), env.step(self.non_winning_action)) == (first, answer), (
                "a second reset begins differently"
            )
            assert (other.reset(task), other.step(self.non_winning_action)) == (first, answer), (
                "another instance differs"
            )

    def test_reset_to_another_task_keeps_nothing_of_the_previous_one(self) -> None:
        with self._open() as env:
            first, second = env.tasks(self._split(env))[:2]
            fresh = env.reset(first)
            env.step(self.non_winning_action)
            env.reset(second)
            env.step(self.non_winning_action)
            assert env.reset(first) == fresh

    def test_an_unknown_task_is_refused_in_one_line(self) -> None:
        with self._open() as env:
            refused = _assert_raises(UsageError, lambda: env.reset(Task("no such task", env.name)))
            assert "\n" not in str(refused), "the error has several lines"

    def test_an_action_that_cannot_be_done_is_answered_and_raises_nothing(self) -> None:
        with self._start_first_task() as (env, _, _):
            for action in (self.non_winning_action, *ODD_ACTIONS):
                answer = env.step(action)
                assert type(answer) is Observation
                assert answer.text, f"the action {in_quotes(action, 20)} gets an empty answer"
                assert not answer.success, f"the action {in_quotes(action, 20)} wins"

    def test_step_before_any_reset_is_refused(self) -> None:
        with self._open() as env:
            _assert_raises(UsageError, lambda: env.step(self.non_winning_action))

    def test_success_comes_only_with_the_end_and_the_end_is_final(self) -> None:
        with self._start_first_task() as (env, _, _):
            answers = (env.step(self.non_winning_action) for _ in range(MAX_CONTRACT_ACTIONS))
            last = next(itertools.dropwhile(lambda answer: not answer.done, answers), None)
            if last is None:
                raise unittest.SkipTest(f"no end within {MAX_CONTRACT_ACTIONS} actions")
            assert not last.success
            after = env.step(self.non_winning_action)
            assert (after.done, after.success, after.reward) == (True, False, 0.0)

    def test_a_snapshot_brings_back_what_the_world_was(self) -> None:
        with self._start_first_task() as (env, _, _):
            if not isinstance(env, HasSnapshots):
                raise unittest.SkipTest("this environment has no snapshots")
            start = env.snapshot()
            answer = env.step(self.non_winning_action)
            for _ in range(2):
                env.step(self.non_winning_action)
                env.restore(start)
                assert env.step(self.non_winning_action) == answer, "after a restored snapshot it answers differently"

    # -------------------------------------------------------------- close, and two instances

    def test_close_may_be_called_twice_and_before_any_reset(self) -> None:
        with self._open() as env:
            env.close()
            env.close()
        with self._start_first_task() as (env, _, _):
            env.close()
            env.close()

    def test_two_instances_are_independent(self) -> None:
        with self._open() as env, self._open() as other:
            first, second = env.tasks(self._split(env))[:2]
            here = env.reset(first), env.step(self.non_winning_action)
            other.reset(second)
            between = env.reset(first)
            other.step(self.non_winning_action)
            assert (between, env.step(self.non_winning_action)) == here

    # -------------------------------------------------------------- helpers

    @contextmanager
    def _open(self) -> Iterator[Environment]:
        with closing(self.make()) as env:
            yield env

    @contextmanager
    def _start_first_task(self) -> Iterator[tuple[Environment, Observation, Task]]:
        """Open an environment at the start of the split's first task."""
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
    """Build the agent as codeplan does: with the first observation if ``__init__`` takes it."""
    takes_both = len(inspect.signature(env.agent).parameters) > 1
    return env.agent(act, first) if takes_both else env.agent(act)
