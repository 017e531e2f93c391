"""The ports of methods: what solves a task in an episode, and what learns first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from codeplan.episode.episode import Episode
from codeplan.types.result import Result
from codeplan.types.task import Task


@runtime_checkable
class Method(Protocol):
    """A way to solve tasks: AdaPlanner and its rivals. It touches the world and the model through the episode alone."""

    name: str

    def solve(self, task: Task, episode: Episode) -> Result:
        """Work on the task until it is won or given up.

        The task may be the episode's own, or a part of it that another method hands on: then ``task.goal`` is that
        part's, and the environment has no word on whether it is reached. A method that can tell says so in ``claim``.
        """
        ...


EpisodeOpener = Callable[[Task], AbstractContextManager[Episode]]
"""Opens an episode of a task, with a trace of its own, that ends when the context does. A spent budget leaves the
context quietly: such an episode teaches nothing more."""


@runtime_checkable
class Learner(Protocol):
    """A method that learns from tasks before it solves others."""

    name: str

    def fit(self, tasks: Sequence[Task], open_episode: EpisodeOpener) -> Method:
        """Work on the tasks, and return the method that has learnt from them."""
        ...
