"""AdaPlanner's loop with plans in words instead of code, for comparison (Sun et al., NeurIPS 2023, section 4.2).

The model plans, an executor follows the plan turn by turn, and the model refines the plan from what happened. The
environment is not reset in between.
"""

from __future__ import annotations

from typing import Annotated, Literal

from codeplan.episode.episode import Episode
from codeplan.methods.registry import ExecutorSetting, PromptsSetting, require_positive, resolve_executor
from codeplan.planning.asking import SampleSettings, ask_template, choose_samples, load_prompts
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.plugins import Setting
from codeplan.recording.events import PlanDrafted
from codeplan.types import Result, Task, TrialEnded


class TextPlanner:
    """Plans in words for an executor, refined until the tries are used up."""

    name = "text-planner"
    needs_space = True

    def __init__(
        self,
        *,
        executor: ExecutorSetting = "react",
        tries: Annotated[int, Setting("Plans at most.", "safe", most=1000)] = 6,
        samples: Annotated[int, Setting("Worked examples, plans in words, in the prompts.", "safe", most=100)] = 1,
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, tries=tries)
        self.samples = SampleSettings(count=samples)
        self.executor = resolve_executor(self.name, executor)
        self.tries = tries
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Write a plan, have the executor follow it, refine it, and so on in the same episode."""
        plan, number = self._write(1, "plan_text", task, episode), 1
        while True:
            first_event = len(episode.trace.events)
            with episode.span("plan", str(number)):
                result = self.executor.solve(task.with_notes(f"Go by this plan:\n{plan}"), episode)
            done = episode.is_over or episode.is_done(task, result.claim)
            if done or number == self.tries:
                return episode.result(TrialEnded(f"plan {number}", result.ending), self.name, result.claim)
            episode.meter.reserve("refinements")
            transcript, number = format_transcript(collect_turns(episode, first_event)), number + 1
            plan = self._write(number, "refine_text", task, episode, plan=plan, transcript=transcript)

    def _write(
        self, number: int, purpose: Literal["plan_text", "refine_text"], task: Task, episode: Episode, **more: str
    ) -> str:
        origin: Literal["plan", "refine"] = "plan" if purpose == "plan_text" else "refine"
        goal = episode.goal_of(task)
        values = {
            "samples": choose_samples(self.prompts, episode.env, task.kind, goal, self.samples, method="text_planner"),
            "forms": episode.action_space.forms,
            "tools": episode.has_tools,
            "observation": episode.first_observation.text,
            "goal": goal,
            "notes": task.notes,
            **more,
        }
        plan = ask_template(episode, self.prompts, f"text_planner/{origin}", purpose, stop=(), **values).strip()
        episode.record(PlanDrafted(number=number, origin=origin, source=plan))
        return plan
