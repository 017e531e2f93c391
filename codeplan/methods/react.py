"""ReAct: the model thinks and acts by turns, one line at a time (Yao et al., ICLR 2023).

The executor that the methods around it share. Its stop rules are those of ADaPT's executors (Prasad et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.planning.prompting import prompted, prompts_of
from codeplan.planning.turns import HEARD, Turn, claim, formed, is_thought, spoken, told
from codeplan.types import ActionSpace, Result, Task


class ReAct:
    """The method. One model call a turn; a thought is answered ``OK.``, an action by the environment.

    It ends when the environment does, when a line says ``task completed`` or ``task failed``, after ``calls`` turns, or
    after ``patience`` turns in a row that did nothing (thoughts among them); None takes the environment's own numbers.
    ``example`` shows the worked trajectory of the environment, where there is one (few-shot). ``formalise`` has each
    action put into a valid form by a call of its own (AutoPlan, Ouyang & Li, 2023). ``prompts`` is a folder whose
    templates win over codeplan's own.
    """

    name = "react"

    def __init__(
        self,
        *,
        calls: int | None = None,
        patience: int | None = None,
        example: bool = True,
        formalise: bool = False,
        prompts: str | Path | None = None,
    ) -> None:
        """Raises UsageError for a value that does not fit."""
        for name, value in (("calls", calls), ("patience", patience)):
            if value is not None and value < 1:
                raise UsageError(f"the setting {name} of the method react is {value}; give a whole number from 1 up")
        self.calls, self.patience = calls, patience
        self.example, self.formalise = example, formalise
        self.prompts = prompts_of(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Think and act until the end; the claim is the model's own word on this task."""
        run = _Run(self, task, episode)
        reason = run.turns_until_the_end()
        return episode.result(reason, self.name, run.claim)


class _Run:
    """One task's turns."""

    def __init__(self, method: ReAct, task: Task, episode: Episode) -> None:
        self.method, self.task, self.episode = method, task, episode
        self.space: ActionSpace = episode.space
        self.turns: list[Turn] = []
        self.claim: bool | None = None
        sample = method.prompts.sample("react", episode.env.name) if method.example else None
        self._about = {
            "forms": self.space.forms,
            "sample": sample,
            "observation": episode.first.text,
            "goal": task.goal,
            "notes": task.notes,
        }

    def turns_until_the_end(self) -> str:
        """Take turns; returns the reason why they ended."""
        calls = self.method.calls or self.space.calls
        patience = self.method.patience or self.space.patience
        for _ in range(calls):
            if self.episode.observation.done:
                return "the environment ended the episode"
            line = self._line()
            self.turns.append(Turn(line, self._answer(line)))
            self.claim = claim(line)
            if self.claim is not None:
                return "it says that the task is done" if self.claim else "it says that it cannot do the task"
            if _idle(self.turns, self.space) >= patience:
                return f"{patience} turns in a row did nothing"
        return "the environment ended the episode" if self.episode.observation.done else f"no end in {calls} turns"

    def _line(self) -> str:
        reply = prompted(
            self.episode,
            self.method.prompts,
            "react/act",
            "act",
            stop=("\n",),
            **self._about,
            transcript=told(self.turns),
        )
        line = spoken(reply)
        return self._formalised(line) if self.method.formalise and line and not is_thought(line) else line

    def _answer(self, line: str) -> str:
        if is_thought(line):
            return HEARD
        return self.episode.act(formed(line, self.space)).text

    def _formalised(self, line: str) -> str:
        reply = prompted(
            self.episode,
            self.method.prompts,
            "react/formalise",
            "formalise",
            forms=self.space.forms,
            line=line,
            seen=told(self.turns[-3:]),
        )
        return spoken(reply)


def _idle(turns: Sequence[Turn], space: ActionSpace) -> int:
    """How many turns at the end did nothing: thoughts, and actions that the environment calls futile."""
    count = 0
    for turn in reversed(turns):
        if not (is_thought(turn.said) or space.did_nothing(turn.answer)):
            break
        count += 1
    return count
