"""Reflexion: after a failed trial the model reflects, and reads that in the next (Shinn et al., NeurIPS 2023).

The loop is that of its Algorithm 1.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from codeplan.episode.episode import Episode
from codeplan.episode.rewind import actions_since_reset, rewind
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSpec
from codeplan.methods.registry import resolve_executor as method
from codeplan.planning.prompting import ask_template, load_prompts
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.types.ending import TrialEnded
from codeplan.types.result import Result
from codeplan.types.task import Task


class Reflexion:
    """The method: at most ``trials`` of its ``executor``, each with the last ``memory`` reflections as notes.

    ``prompts`` is a folder whose templates win over codeplan's own.
    """

    name = "reflexion"

    def __init__(
        self, *, executor: ExecutorSpec = "react", trials: int = 3, memory: int = 3, prompts: str | Path | None = None
    ) -> None:
        """Raises UsageError for a value that does not fit."""
        for name, value in (("trials", trials), ("memory", memory)):
            if value < 1:
                raise UsageError(
                    f"the setting {name} of the method reflexion is {value}; give a whole number from 1 up"
                )
        self.executor = method(self.name, executor)
        self.trials, self.memory = trials, memory
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Try and reflect until a trial succeeds or none is left."""
        begun, reflections, number = actions_since_reset(episode), list[str](), 1
        while True:
            since = len(episode.trace.events)
            with episode.span("trial", str(number)):
                informed = msgspec.structs.replace(task, notes=(*task.notes, *reflections[-self.memory :]))
                result = self.executor.solve(informed, episode)
            if episode.success or number == self.trials or (episode.is_subtask(task) and result.claim):
                return episode.result(TrialEnded(f"trial {number}", result.ending), self.name, result.claim)
            with episode.span("reflection", str(number)):
                reflections.append(self._reflect(task, episode, since))
            rewind(episode, begun)
            number += 1

    def _reflect(self, task: Task, episode: Episode, since: int) -> str:
        reply = ask_template(
            episode,
            self.prompts,
            "reflexion/reflect",
            "reflect",
            observation=episode.first_observation.text,
            goal=task.goal,
            transcript=format_transcript(collect_turns(episode.trace.events[since:])),
        )
        return f"What I learnt from a trial that failed: {reply.strip()}"
