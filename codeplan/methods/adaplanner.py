"""AdaPlanner: plans as code, refined in plan (``ask_llm``) and out of plan (Sun et al., NeurIPS 2023)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from codeplan.episode import Episode
from codeplan.errors import UsageError
from codeplan.events import Warned
from codeplan.planner import Planner
from codeplan.prompts import PromptError, Prompts
from codeplan.refine import Loop, PlanLoop
from codeplan.sandbox import Limits, Sandbox
from codeplan.types import Result, Task


class AdaPlanner:
    """The method. For ``tries`` to ``resume_state`` see ``codeplan.refine.Loop``.

    ``prompts`` is a folder whose templates win over codeplan's own; ``limits`` are the sandbox's;
    ``allow_weak_sandbox`` lets plans run where a layer of the sandbox is missing.
    """

    name = "adaplanner"

    def __init__(
        self,
        *,
        tries: int = 6,
        start_over_from: int = 4,
        resume_by: str = "syntax",
        code_check: str = "on-error",
        resume_state: str = "failure",
        prompts: str | Path | None = None,
        limits: Limits | None = None,
        allow_weak_sandbox: bool = False,
    ) -> None:
        """Raises UsageError for a value that does not fit."""
        self.loop = _loop(
            tries=tries,
            start_over_from=start_over_from,
            resume_by=resume_by,
            code_check=code_check,
            resume_state=resume_state,
        )
        self.prompts = _prompts(prompts)
        self.sandbox = Sandbox(limits or Limits(), allow_weak=allow_weak_sandbox)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan, run, refine and resume until the task is won or the tries are spent."""
        for layer in self.sandbox.weak:
            episode.record(Warned(message=f"the sandbox runs without {layer}"))
        author = Planner(episode, self.prompts)
        reason = PlanLoop(episode, author, author.answer, self.sandbox, self.loop).solve()
        return episode.result(reason, self.name)


def _loop(**settings: Any) -> Loop:
    try:
        return msgspec.convert(settings, Loop)
    except msgspec.ValidationError as e:
        raise UsageError(f"a setting of the method adaplanner is wrong: {e}") from None


def _prompts(folder: str | Path | None) -> Prompts:
    try:
        return Prompts.of(Path(folder) if folder else None)
    except (PromptError, TypeError) as e:
        raise UsageError(f"the setting prompts of the method adaplanner is wrong: {e}") from None
