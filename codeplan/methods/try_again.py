"""Try-Again: the same method from the start, again and again, and the best trial is kept.

The baseline of ADaPT's comparison that spends what the others spend, without learning (Prasad et al., 2024, sec. 4.2).
"""

from __future__ import annotations

import msgspec

from codeplan.episode.episode import Episode
from codeplan.episode.rewind import actions_since_reset, rewind
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSpec
from codeplan.methods.registry import resolve_executor as method
from codeplan.types.ending import TrialEnded
from codeplan.types.result import Result
from codeplan.types.task import Task


class TryAgain:
    """The method: at most ``trials`` of its ``executor``, each from where the first began."""

    name = "try-again"

    def __init__(self, *, executor: ExecutorSpec = "react", trials: int = 3) -> None:
        """Raises UsageError for a value that does not fit."""
        if trials < 1:
            raise UsageError(f"the setting trials of the method try-again is {trials}; give a whole number from 1 up")
        self.executor = method(self.name, executor)
        self.trials = trials

    def solve(self, task: Task, episode: Episode) -> Result:
        """Try until a trial succeeds; the reward, and the claim, are the best of all trials."""
        begun = actions_since_reset(episode)
        tried: list[Result] = []
        while len(tried) < self.trials:
            if tried:
                rewind(episode, begun)
            with episode.span("trial", str(len(tried) + 1)):
                tried.append(self.executor.solve(task, episode))
            if episode.success or (episode.is_subtask(task) and tried[-1].claim):
                break
        best = max(tried, key=lambda r: (r.success, r.reward, r.claim or False))
        result = episode.result(TrialEnded(f"the best of {len(tried)} trials", best.ending), self.name, best.claim)
        return msgspec.structs.replace(result, reward=best.reward)
