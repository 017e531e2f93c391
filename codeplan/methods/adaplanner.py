"""AdaPlanner: plans as code, refined in plan (``ask_llm``) and out of plan (Sun et al., NeurIPS 2023)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.planning.planner import Planner
from codeplan.planning.prompting import load_prompts
from codeplan.planning.refinement import LoopSettings, RefinementLoop
from codeplan.planning.skill_plan_writer import SkillPlanWriter
from codeplan.recording.events import WarningIssued
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.sandbox.limits import Limits
from codeplan.skills.selection import SkillSelector, open_store
from codeplan.skills.skill_store import SkillStore
from codeplan.types.result import Result
from codeplan.types.task import Task


class AdaPlanner:
    """The method. For ``tries`` to ``after_failure`` see ``codeplan.planning.refinement.Loop``.

    ``samples`` is how many worked examples the prompts show (Table 6); without ``asks`` a plan cannot ask the model, so
    that all refinement is out of plan. With ``tries=1`` there is none (open loop).
    ``sample_kinds`` are kinds of tasks with commas between: no worked examples of others are shown then.

    ``library`` is a skill library's folder, or a SkillStore: at most ``skills`` of its skills are shown, and at most
    ``skill_chars`` characters of them; ``skill`` names the one that is shown whatever its status. With ``reuse`` the
    best skill's own plan is run first, its parameters bound by one ask, and planning begins where that fails.
    ``embeddings`` names an embedding model at the model's endpoint: skills are then chosen by meaning, not by words.

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
        after_failure: str = "resume",
        samples: int = 1,
        asks: bool = True,
        sample_kinds: str = "",
        library: SkillStore | str | Path | None = None,
        skills: int = 2,
        skill: str | None = None,
        skill_chars: int = 12_000,
        reuse: bool = False,
        embeddings: str | None = None,
        prompts: str | Path | None = None,
        limits: Limits | None = None,
        allow_weak_sandbox: bool = False,
    ) -> None:
        """Raises UsageError for a value that does not fit."""
        self.loop_settings = _loop_settings(
            tries=tries,
            start_over_from=start_over_from,
            resume_by=resume_by,
            code_check=code_check,
            resume_state=resume_state,
            after_failure=after_failure,
        )
        if samples < 0:
            raise UsageError(f"the setting samples of the method adaplanner is {samples}; give a number from 0 up")
        self.samples, self.asks = samples, asks
        self.sample_kinds = [k for k in sample_kinds.split(",") if k]
        self.skill_selector = SkillSelector(open_store(library, skill), skills, skill_chars, embeddings)
        self.reuse = reuse
        self.prompts = load_prompts(prompts, self.name)
        limits = limits or Limits()
        allowed = limits if asks else msgspec.structs.replace(limits, asks=0)
        self.sandbox = Sandbox(allowed, allow_weak=allow_weak_sandbox)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan, run, refine and resume until the task is won or the tries are spent."""
        for layer in self.sandbox.missing_layers:
            episode.record(WarningIssued(message=f"the sandbox runs without {layer}"))
        shown = self.skill_selector.select(task, episode, "reuse" if self.reuse else "plan")
        planner = Planner(
            episode,
            self.prompts,
            task,
            samples=self.samples,
            sample_kinds=self.sample_kinds,
            skills=shown,
            asks=self.asks,
        )
        reusing = SkillPlanWriter(planner, shown[0], task.goal) if self.reuse and shown else None
        author = reusing or planner
        loop = RefinementLoop(
            episode,
            author,
            planner.answer_question,
            self.sandbox,
            self.loop_settings,
            is_subtask=episode.is_subtask(task),
        )
        result = episode.result(loop.solve(), self.name, loop.claim)
        if not episode.is_subtask(task):
            tried, alone = (shown[:1], reusing.uses_skill_plan) if reusing else (shown, True)
            self.skill_selector.record(tried, episode, episode.success and alone)
        return result


def _loop_settings(**settings: Any) -> LoopSettings:
    loop: LoopSettings = plugins.build(LoopSettings, settings, "the method adaplanner")
    return loop
