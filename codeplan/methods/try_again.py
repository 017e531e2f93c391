"""Try-Again: repeats the same method from the start, and keeps the best trial.

A baseline of ADaPT's comparison that spends as much as the other methods, without learning (Prasad et al., 2024,
section 4.2).
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from codeplan.budget import temperature_in
from codeplan.episode.episode import Episode, actions_since_reset, require_fresh_world, rewind
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSetting, require_positive, resolve_executor
from codeplan.plugins import Setting
from codeplan.types import Result, Task, TrialEnded
from codeplan.untrusted.texts import with_count


class TryAgain:
    """Independent trials of an executor, each from the same state.

    Trials after the first sample at ``retry_temperature`` (0.7 in the paper's appendix A), if the model has a
    temperature of its own.
    """

    name = "try-again"

    def __init__(
        self,
        *,
        executor: ExecutorSetting = "react",
        trials: Annotated[int, Setting("Trials at most.", "safe", most=1000)] = 3,
        retry_temperature: Annotated[
            float | None,
            Setting("The temperature from the second trial on, in place of the model's own.", "safe", most=10),
        ] = 0.7,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, trials=trials)
        if retry_temperature is not None and not (math.isfinite(retry_temperature) and retry_temperature >= 0):
            raise UsageError(
                f"the setting retry_temperature of the method {self.name} is {retry_temperature}; give 0 or more"
            )
        self.executor = resolve_executor(self.name, executor)
        self.trials, self.retry_temperature = trials, retry_temperature

    def solve(self, task: Task, episode: Episode) -> Result:
        """Try until a trial succeeds. The reward and the claim are those of the best trial.

        Raises: UsageError: actions are real here, so only the first trial would have a fresh world.
        """
        if self.trials > 1:
            require_fresh_world(episode, "try-again", "trials=1, or the method reflexion")
        start = actions_since_reset(episode)
        tried: list[Result] = []
        while len(tried) < self.trials:
            if tried:
                rewind(episode, start)
            temperature = self.retry_temperature if tried else None
            with episode.span("trial", str(len(tried) + 1)), temperature_in(temperature):
                tried.append(self.executor.solve(task, episode))
            if episode.is_done(task, tried[-1].claim):
                break
        best = max(tried, key=lambda r: (r.success, r.reward, r.claim or False))
        ending = TrialEnded(f"the best of {with_count(len(tried), 'trial')}", best.ending)
        return msgspec.structs.replace(episode.result(ending, self.name, best.claim), reward=best.reward)
