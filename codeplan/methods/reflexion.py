"""Reflexion: after a failed trial the model reflects, and reads its reflections in the next one.

Algorithm 1 of Shinn et al., NeurIPS 2023.
"""

from __future__ import annotations

from typing import Annotated

from codeplan.episode.episode import Episode, actions_since_reset, rewind
from codeplan.methods.registry import ExecutorSetting, PromptsSetting, require_positive, resolve_executor
from codeplan.planning.asking import ask_template, load_prompts
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.plugins import Setting
from codeplan.types import Result, Task, TrialEnded


class Reflexion:
    """Trials of an executor, with the latest reflections as notes.

    If actions are real (tools), each trial starts in the state of the world that the previous trial left.
    """

    name = "reflexion"

    def __init__(
        self,
        *,
        executor: ExecutorSetting = "react",
        trials: Annotated[int, Setting("Trials at most.", "safe", most=1000)] = 3,
        memory: Annotated[int, Setting("Reflections in the notes at most.", "safe", most=1000)] = 3,
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, trials=trials, memory=memory)
        self.executor = resolve_executor(self.name, executor)
        self.trials, self.memory = trials, memory
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Try and reflect until a trial succeeds or the trials are used up."""
        start, reflections, number = actions_since_reset(episode), list[str](), 1
        while True:
            first_event = len(episode.trace.events)
            with episode.span("trial", str(number)):
                result = self.executor.solve(task.with_notes(*reflections[-self.memory :]), episode)
            if number == self.trials or episode.is_done(task, result.claim):
                return episode.result(TrialEnded(f"trial {number}", result.ending), self.name, result.claim)
            with episode.span("reflection", str(number)):
                reflections.append(self._reflect(task, episode, first_event))
            if not episode.acts_for_real:
                rewind(episode, start)
            number += 1

    def _reflect(self, task: Task, episode: Episode, first_event: int) -> str:
        reply = ask_template(
            episode,
            self.prompts,
            "reflexion/reflect",
            "reflect",
            observation=episode.first_observation.text,
            goal=episode.goal_of(task),
            transcript=format_transcript(collect_turns(episode, first_event)),
        )
        return f"What I learnt from a trial that failed: {reply.strip()}"
