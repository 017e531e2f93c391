"""ReAct: the model thinks and acts by turns, one line at a time (Yao et al., ICLR 2023).

The executor that the methods around it share. Its stop rules are those of ADaPT's executors (Prasad et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.planning.prompting import ask_template, load_prompts
from codeplan.planning.turns import (
    THOUGHT_REPLY,
    Turn,
    first_line,
    format_transcript,
    is_thought,
    normalise_action,
    parse_claim,
)
from codeplan.types.ending import Claimed, Ending, EnvironmentEnded, GaveUp, NotSolved
from codeplan.types.result import Result
from codeplan.types.task import ActionSpace, Task


class ReAct:
    """ReAct. Each turn is one model call; a thought is answered with ``OK.``, an action by the environment.

    An attempt ends when the environment ends the episode, when a line says ``task completed`` or ``task failed``, after
    ``calls`` turns, or after ``max_idle_turns`` turns in a row without effect (thoughts count as such). None uses the
    environment's numbers. ``example`` shows the environment's worked trajectory, if it has one. ``formalise`` puts each
    action into a valid form with a model call of its own (AutoPlan, Ouyang & Li, 2023). ``prompts`` is a folder whose
    templates override codeplan's own.
    """

    name = "react"

    def __init__(
        self,
        *,
        calls: int | None = None,
        max_idle_turns: int | None = None,
        example: bool = True,
        formalise: bool = False,
        prompts: str | Path | None = None,
    ) -> None:
        """Raises UsageError for a value that does not fit."""
        for name, value in (("calls", calls), ("max_idle_turns", max_idle_turns)):
            if value is not None and value < 1:
                raise UsageError(f"the setting {name} of the method react is {value}; give a whole number from 1 up")
        self.calls, self.max_idle_turns = calls, max_idle_turns
        self.example, self.formalise = example, formalise
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Think and act until the end; the claim is the model's own word on this task."""
        run = _Run(self, task, episode)
        return episode.result(run.take_turns(), self.name, run.claim)


class _Run:
    """One task's turns."""

    def __init__(self, method: ReAct, task: Task, episode: Episode) -> None:
        self.method, self.task, self.episode = method, task, episode
        self.space: ActionSpace = episode.action_space
        self.turns: list[Turn] = []
        self.claim: bool | None = None
        sample = method.prompts.sample("react", episode.env.name) if method.example else None
        self._values = {
            "forms": self.space.forms,
            "sample": sample,
            "observation": episode.first_observation.text,
            "goal": task.goal,
            "notes": task.notes,
        }

    def take_turns(self) -> Ending:
        """Take turns until the task ends; returns how it ended."""
        calls = self.method.calls or self.space.calls
        max_idle = self.method.max_idle_turns or self.space.max_idle_turns
        for _ in range(calls):
            if self.episode.observation.done:
                return EnvironmentEnded()
            line = self._next_line()
            self.turns.append(Turn(line, self._answer(line)))
            self.claim = parse_claim(line)
            if self.claim is not None:
                if self.claim:
                    return Claimed("it says that the task is done")
                return GaveUp("it says that it cannot do the task")
            if _count_idle_turns(self.turns, self.space) >= max_idle:
                return NotSolved(f"{max_idle} turns in a row did nothing")
        return EnvironmentEnded() if self.episode.observation.done else NotSolved(f"no end in {calls} turns")

    def _next_line(self) -> str:
        reply = ask_template(
            self.episode,
            self.method.prompts,
            "react/act",
            "act",
            stop=("\n",),
            **self._values,
            transcript=format_transcript(self.turns),
        )
        line = first_line(reply)
        return self._formalise(line) if self.method.formalise and line and not is_thought(line) else line

    def _answer(self, line: str) -> str:
        if is_thought(line):
            return THOUGHT_REPLY
        return self.episode.act(normalise_action(line, self.space)).text

    def _formalise(self, line: str) -> str:
        reply = ask_template(
            self.episode,
            self.method.prompts,
            "react/formalise",
            "formalise",
            forms=self.space.forms,
            line=line,
            seen=format_transcript(self.turns[-3:]),
        )
        return first_line(reply)


def _count_idle_turns(turns: Sequence[Turn], space: ActionSpace) -> int:
    """How many turns at the end did nothing: thoughts, and actions that the environment calls futile."""
    count = 0
    for turn in reversed(turns):
        if not (is_thought(turn.line) or space.did_nothing(turn.answer)):
            break
        count += 1
    return count
