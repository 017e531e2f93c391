"""AdaPlanner's loop with a plan in words instead of code, for comparison (Sun et al., NeurIPS 2023, section 4.2).

The model plans, an executor goes by the plan turn by turn, and the plan is refined from what happened. The world goes
on meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSpec
from codeplan.methods.registry import resolve_executor as method
from codeplan.planning.prompting import ask_template, load_prompts
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.recording.events import PlanDrafted
from codeplan.types.ending import TrialEnded
from codeplan.types.result import Result
from codeplan.types.task import Task


class TextPlanner:
    """The method: a plan in words for its ``executor``, refined until ``tries`` are spent.

    ``prompts`` is a folder whose templates win over codeplan's own.
    """

    name = "text-planner"

    def __init__(self, *, executor: ExecutorSpec = "react", tries: int = 6, prompts: str | Path | None = None) -> None:
        """Raises UsageError for a value that does not fit."""
        if tries < 1:
            raise UsageError(f"the setting tries of the method text-planner is {tries}; give a whole number from 1 up")
        self.executor = method(self.name, executor)
        self.tries = tries
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan, have the plan followed, refine it, and so on in the same episode."""
        plan, number = self._write(1, "plan_text", task, episode), 1
        while True:
            since = len(episode.trace.events)
            with episode.span("plan", str(number)):
                note = f"Go by this plan:\n{plan}"
                result = self.executor.solve(msgspec.structs.replace(task, notes=(*task.notes, note)), episode)
            done = episode.success or episode.observation.done or (episode.is_subtask(task) and result.claim)
            if done or number == self.tries:
                return episode.result(TrialEnded(f"plan {number}", result.ending), self.name, result.claim)
            episode.meter.reserve_refinement()
            happened, number = format_transcript(collect_turns(episode.trace.events[since:])), number + 1
            plan = self._write(number, "refine_text", task, episode, plan=plan, transcript=happened)

    def _write(
        self, number: int, purpose: Literal["plan_text", "refine_text"], task: Task, episode: Episode, **more: str
    ) -> str:
        forms, seen = episode.action_space.forms, episode.first_observation.text
        about = {"forms": forms, "observation": seen, "goal": task.goal, "notes": task.notes, **more}
        origin: Literal["plan", "refine"] = "plan" if purpose == "plan_text" else "refine"
        plan = ask_template(episode, self.prompts, f"text_planner/{origin}", purpose, stop=(), **about).strip()
        episode.record(PlanDrafted(number=number, origin=origin, source=plan))
        return plan
