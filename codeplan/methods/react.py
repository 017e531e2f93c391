"""ReAct: the model thinks and acts in turns of one line, or of one call of a tool (Yao et al., ICLR 2023).

Other methods use it as their executor. It stops by the rules of ADaPT's executors (Prasad et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from codeplan.episode.episode import Episode
from codeplan.errors import SizeExceeded, UsageError
from codeplan.methods.registry import PromptsSetting, require_positive
from codeplan.planning.asking import ask_template, load_prompts
from codeplan.planning.executor_turns import (
    THOUGHT_REPLY,
    Turn,
    first_line,
    format_transcript,
    is_thought,
    normalise_action,
    parse_claim,
)
from codeplan.planning.sample_choice import sample_for
from codeplan.planning.tool_turns import ToolTurns
from codeplan.plugins import Setting
from codeplan.types import (
    ActionSpace,
    Claimed,
    Ending,
    EnvironmentEnded,
    GaveUp,
    NotSolved,
    Purpose,
    Result,
    Task,
    TooLarge,
)


class ReAct:
    """Turns of thoughts and actions. Each turn is one model call; a thought is answered with ``OK.``.

    An attempt ends when the environment ends the episode, when a line says ``task completed`` or ``task failed``, after
    ``calls`` turns, or after ``max_idle_turns`` turns in a row without effect (thoughts count as such). None stands for
    the environment's numbers. ``formalise`` is AutoPlan's formaliser (Ouyang & Li, 2023).
    """

    name = "react"

    def __init__(
        self,
        *,
        calls: Annotated[
            int | None, Setting("Turns per task at most; by default the environment's number.", "safe", most=10_000)
        ] = None,
        max_idle_turns: Annotated[
            int | None, Setting("Turns in a row without effect at most; likewise.", "safe", most=10_000)
        ] = None,
        example: Annotated[bool, Setting("Show the environment's worked trajectory (few-shot).", "safe")] = True,
        formalise: Annotated[
            bool, Setting("Put each action into a valid form with a call of its own.", "safe")
        ] = False,
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, calls=calls, max_idle_turns=max_idle_turns)
        self.calls, self.max_idle_turns = calls, max_idle_turns
        self.example, self.formalise = example, formalise
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Think and act until the task ends. The claim is the model's own opinion of this task."""
        run = self._tool_turns(task, episode) if episode.has_tools else _Run(self, task, episode)
        try:
            ending = run.take_turns()
        except SizeExceeded as e:
            return episode.result(TooLarge(e.what, e.limit, str(e)), self.name, False)
        return episode.result(ending, self.name, run.claim)

    def _tool_turns(self, task: Task, episode: Episode) -> ToolTurns:
        if self.formalise:
            raise UsageError("the setting formalise of the method react is for actions in words, not for tools")
        space = episode.action_space
        calls, idle = self.calls or space.calls, self.max_idle_turns or space.max_idle_turns
        return ToolTurns(self.prompts, task, episode, calls, idle)


class _Run:
    """The turns of one task."""

    def __init__(self, method: ReAct, task: Task, episode: Episode) -> None:
        self.method, self.task, self.episode = method, task, episode
        self.space: ActionSpace = episode.action_space
        self.turns: list[Turn] = []
        self.claim: bool | None = None
        goal = episode.goal_of(task)
        sample = sample_for(method.prompts, "react", episode.env.name, goal) if method.example else None
        self._values = {
            "forms": self.space.forms,
            "sample": sample,
            "observation": episode.first_observation.text,
            "goal": goal,
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
        line = self._ask("act", stop=("\n",), **self._values, transcript=format_transcript(self.turns))
        return self._formalise(line) if self.method.formalise and line and not is_thought(line) else line

    def _answer(self, line: str) -> str:
        if is_thought(line):
            return THOUGHT_REPLY
        return self.episode.act(normalise_action(line, self.space)).text

    def _formalise(self, line: str) -> str:
        return self._ask("formalise", forms=self.space.forms, line=line, seen=format_transcript(self.turns[-3:]))

    def _ask(self, purpose: Purpose, **values: Any) -> str:
        return first_line(ask_template(self.episode, self.method.prompts, f"react/{purpose}", purpose, **values))


def _count_idle_turns(turns: Sequence[Turn], space: ActionSpace) -> int:
    """The number of turns at the end that did nothing: thoughts, and actions without effect."""
    count = 0
    for turn in reversed(turns):
        if not (is_thought(turn.line) or space.did_nothing(turn.answer)):
            break
        count += 1
    return count
