"""AdaPlanner: plans as code, refined in plan (``ask_llm``) and out of plan (Sun et al., NeurIPS 2023)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from codeplan import plugins
from codeplan.episode.episode import Episode
from codeplan.methods.adaplanner_settings import (
    RefinePromptSetting,
    SampleKindsSetting,
    SampleSetSetting,
    SamplesSetting,
    SampleTableSetting,
)
from codeplan.methods.registry import PromptsSetting
from codeplan.planning.asking import load_prompts
from codeplan.planning.loop_settings import AfterFailure, CodeCheck, LoopSettings, ResumeBy
from codeplan.planning.plan_run import Fixes, record_notices
from codeplan.planning.planner import Planner, RefinePrompt, SkillPlanWriter
from codeplan.planning.refinement import RefinementLoop
from codeplan.planning.resume_point import ResumeState
from codeplan.planning.sample_choice import SampleSettings
from codeplan.plugins import Setting
from codeplan.sandbox import BackendName, Limits, Sandbox
from codeplan.skills.selection import SkillSelector, open_store
from codeplan.skills.skill import SkillStore
from codeplan.types import Result, Task


class AdaPlanner:
    """The refinement loop (``codeplan.planning.refinement``) with a planner that asks the model, and with skills.

    ``tries=1`` switches refinement off (open loop); ``asks=False`` switches in-plan refinement off, so only
    out-of-plan refinement remains. ``samples`` and the settings after it choose the worked examples
    (``codeplan.planning.sample_choice``).
    """

    name = "adaplanner"

    def __init__(
        self,
        *,
        tries: Annotated[int, Setting("Runs of a plan at most.", "safe", most=1000)] = 6,
        start_over_from: Annotated[
            int, Setting("From this run on, plans start at step 1 again; with tools never.", "safe", most=1000)
        ] = 4,
        resume_by: Annotated[
            ResumeBy, Setting("Who finds the step to resume at: code or the model.", "safe")
        ] = "syntax",
        code_check: Annotated[CodeCheck, Setting("When the model repairs a new plan.", "safe")] = "on-error",
        resume_state: Annotated[
            ResumeState, Setting("The variables that the failed step resumes with.", "safe")
        ] = "failure",
        after_failure: Annotated[
            AfterFailure, Setting("Resume the plan, or restart plan and task.", "safe")
        ] = "resume",
        fixes: Annotated[Fixes, Setting("Whether the check mends plans without a model.", "safe")] = "on",
        replans: Annotated[int, Setting("Replans that a plan may ask for without using a try.", "safe", most=1000)] = 3,
        no_progress: Annotated[
            int, Setting("End after so many refinements that change nothing; 0: never.", "safe", most=1000)
        ] = 2,
        samples: SamplesSetting = 1,
        sample_kinds: SampleKindsSetting = "",
        sample_table: SampleTableSetting = "nearest",
        sample_set: SampleSetSetting = "own",
        asks: Annotated[bool, Setting("Whether plans may ask the model (ask_llm).", "safe")] = True,
        refine_prompt: RefinePromptSetting = "conversation",
        library: Annotated[
            SkillStore | str | Path | None, Setting("The folder of a skill library.", "trusted", repeat="live")
        ] = None,
        skills: Annotated[int, Setting("Skills in the prompt at most.", "safe", most=100)] = 2,
        skill: Annotated[
            str | None, Setting("Show this skill of the library, whatever its status.", "recordable")
        ] = None,
        skill_chars: Annotated[
            int, Setting("Characters of skills in the prompt at most.", "safe", most=1_000_000)
        ] = 12_000,
        reuse: Annotated[bool, Setting("Run the best skill's plan first, and plan if it fails.", "safe")] = False,
        embeddings: Annotated[
            str | None, Setting("Choose skills by meaning, with this embedding model.", "recordable")
        ] = None,
        prompts: PromptsSetting = None,
        limits: Annotated[Limits | None, Setting("The sandbox's limits.", "trusted")] = None,
        allow_weak_sandbox: Annotated[
            bool, Setting("Run plans even if a layer of the sandbox is missing.", "trusted", repeat="never")
        ] = False,
        backend: Annotated[
            BackendName, Setting("What runs plans; auto is Monty where there is no cage.", "trusted", repeat="never")
        ] = "auto",
    ) -> None:
        """Raises UsageError if a value does not fit."""
        loop = {
            "tries": tries,
            "start_over_from": start_over_from,
            "resume_by": resume_by,
            "code_check": code_check,
            "resume_state": resume_state,
            "after_failure": after_failure,
            "fixes": fixes,
            "replans": replans,
            "no_progress": no_progress,
        }
        self.loop_settings: LoopSettings = plugins.build(LoopSettings, loop, "the method adaplanner")
        kinds = tuple(k for k in sample_kinds.split(",") if k)
        self.samples = SampleSettings(count=samples, kinds=kinds, origin=sample_set, table=sample_table)
        self.asks = asks
        self.refine_prompt: RefinePrompt = refine_prompt
        self.skill_selector = SkillSelector(open_store(library, skill), skills, skill_chars, embeddings)
        self.reuse = reuse
        self.prompts = load_prompts(prompts, self.name)
        limits = limits or Limits()
        allowed = limits if asks else msgspec.structs.replace(limits, asks=0)
        self.sandbox = Sandbox(allowed, allow_weak=allow_weak_sandbox, backend=backend)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan, run, refine and resume until the task succeeds or the tries are used up."""
        record_notices(self.sandbox, episode)
        shown = self.skill_selector.select(task, episode, "reuse" if self.reuse else "plan")
        planner = Planner(
            episode,
            self.prompts,
            task,
            samples=self.samples,
            skills=shown,
            asks=self.sandbox.limits.asks,
            tries=self.loop_settings.tries,
            replans=self.loop_settings.replans,
            refine_prompt=self.refine_prompt,
        )
        skill_writer = SkillPlanWriter(planner, shown[0], episode.goal_of(task)) if self.reuse and shown else None
        writer, ask, is_subtask = skill_writer or planner, planner.answer_question, episode.is_subtask(task)
        loop = RefinementLoop(episode, writer, ask, self.sandbox, self.loop_settings, is_subtask)
        result = episode.result(loop.solve(), self.name, loop.claim)
        if not is_subtask:
            tried, helped = (shown[:1], skill_writer.uses_skill_plan) if skill_writer else (shown, True)
            self.skill_selector.record(tried, episode, episode.success and helped)
        return result
