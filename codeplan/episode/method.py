"""The ports of methods: Method solves a task in an episode, Learner learns from other tasks first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from codeplan.episode.episode import Episode
from codeplan.types import Result, Task


@runtime_checkable
class Method(Protocol):
    """A way to solve tasks, such as AdaPlanner. It reaches the environment and the model only through the episode."""

    name: str

    def solve(self, task: Task, episode: Episode) -> Result:
        """Work on the task until it succeeds or the method gives up.

        The task may be the episode's own or a sub-task of it. ``task.goal`` is then the sub-task's goal, and the
        environment cannot judge it; a method that can tell sets ``claim``.
        """
        ...


EpisodeOpener = Callable[[Task], AbstractContextManager[Episode]]
"""A context manager: an episode of a task, with a trace of its own. It suppresses BudgetExceeded: such an episode has
nothing more to teach."""


@runtime_checkable
class Learner(Protocol):
    """A method that learns from tasks before it solves others."""

    name: str

    def fit(self, tasks: Sequence[Task], open_episode: EpisodeOpener) -> Method:
        """Learn from the tasks, and return the method that uses what was learnt."""
        ...
