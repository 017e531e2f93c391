"""Try-Again: repeats the same method from the start, and keeps the best trial.

A baseline of ADaPT's comparison that spends as much as the others, without learning (Prasad et al., 2024, section 4.2).
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from codeplan.episode.episode import Episode
from codeplan.episode.rewind import actions_since_reset, require_fresh_world, rewind
from codeplan.methods.registry import ExecutorSetting, require_positive, resolve_executor
from codeplan.plugins import Setting
from codeplan.types import Result, Task, TrialEnded


class TryAgain:
    """Independent trials of an executor, each from the same state."""

    name = "try-again"

    def __init__(
        self,
        *,
        executor: ExecutorSetting = "react",
        trials: Annotated[int, Setting("Trials at most.", "safe", most=1000)] = 3,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, trials=trials)
        self.executor = resolve_executor(self.name, executor)
        self.trials = trials

    def solve(self, task: Task, episode: Episode) -> Result:
        """Try until a trial succeeds. The reward and the claim are those of the best trial.

        Raises: UsageError: actions are real here, so no trial but the first has a fresh world.
        """
        if self.trials > 1:
            require_fresh_world(episode, "try-again", "trials=1, or the method reflexion")
        start = actions_since_reset(episode)
        tried: list[Result] = []
        while len(tried) < self.trials:
            if tried:
                rewind(episode, start)
            with episode.span("trial", str(len(tried) + 1)):
                tried.append(self.executor.solve(task, episode))
            if episode.is_done(task, tried[-1].claim):
                break
        best = max(tried, key=lambda r: (r.success, r.reward, r.claim or False))
        ending = TrialEnded(f"the best of {len(tried)} trials", best.ending)
        return msgspec.structs.replace(episode.result(ending, self.name, best.claim), reward=best.reward)
