"""AdaPlanner: plans as code, refined in plan (``ask_llm``) and out of plan (Sun et al., NeurIPS 2023)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from codeplan import plugins
from codeplan.episode.episode import Episode
from codeplan.methods.registry import PromptsSetting
from codeplan.planning.asking import SampleOrigin, SampleSettings, SampleTable, load_prompts
from codeplan.planning.plan_run import record_notices
from codeplan.planning.planner import Planner, RefinePrompt, SkillPlanWriter
from codeplan.planning.refinement import LoopSettings, RefinementLoop
from codeplan.plugins import Setting
from codeplan.skills.selection import SkillSelection, SkillSelector, expect_answers, open_store
from codeplan.skills.skill import SkillStore
from codeplan.types import Claimed, Result, Task

SamplesSetting = Annotated[int, Setting("Worked examples in the prompts.", "safe", most=100)]
SampleKindsSetting = Annotated[str, Setting("Show worked examples of these kinds only; separate with commas.", "safe")]
SampleTableSetting = Annotated[
    SampleTable,
    Setting("kind: those of the task's kind alone; paper: one, by AdaPlanner's table for 2, 4 or 6.", "safe"),
]
SampleSetSetting = Annotated[
    SampleOrigin, Setting("paper: worked examples that ask, or leave something to refine.", "safe")
]
RefinePromptSetting = Annotated[
    RefinePrompt, Setting("Refine in one conversation, or with a fresh prompt, with or without the plan.", "safe")
]


class AdaPlannerSettings(LoopSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of AdaPlanner: those of the loop, of the prompts, of skills and of the sandbox.

    ``tries=1`` switches refinement off (open loop); ``asks=False`` switches in-plan refinement off, so only
    out-of-plan refinement remains. ``samples`` and the three settings after it choose the worked examples
    (``codeplan.planning.asking``).
    """

    samples: SamplesSetting = 1
    sample_kinds: SampleKindsSetting = ""
    sample_table: SampleTableSetting = "nearest"
    sample_set: SampleSetSetting = "own"
    refine_prompt: RefinePromptSetting = "conversation"
    library: Annotated[
        SkillStore | str | Path | None, Setting("The folder of a skill library.", "trusted", repeat="live")
    ] = None
    skills: Annotated[int, Setting("Skills in the prompt at most.", "safe", most=100)] = 2
    skill: Annotated[str | None, Setting("Show this skill of the library, whatever its status.", "recordable")] = None
    skill_chars: Annotated[int, Setting("Characters of skills in the prompt at most.", "safe", most=1_000_000)] = 12_000
    reuse: Annotated[bool, Setting("Run the best skill's plan first, and plan if it fails.", "safe")] = False
    embeddings: Annotated[str | None, Setting("Choose skills by meaning, with this embedding model.", "recordable")] = (
        None
    )
    prompts: PromptsSetting = None


class AdaPlanner:
    """The refinement loop (``codeplan.planning.refinement``) with a planner that asks the model, and with skills.

    ``given`` are fields of AdaPlannerSettings. Raises: UsageError: a name is unknown, or a value does not fit.
    """

    name = "adaplanner"
    settings_type = AdaPlannerSettings

    def __init__(self, **given: Any) -> None:
        self.settings: AdaPlannerSettings = plugins.build(AdaPlannerSettings, given, "the method adaplanner")
        own = self.settings
        kinds = tuple(k for k in own.sample_kinds.split(",") if k)
        self.samples = SampleSettings(count=own.samples, kinds=kinds, origin=own.sample_set, table=own.sample_table)
        self.skill_selector = SkillSelector(
            open_store(own.library, own.skill), own.skills, own.skill_chars, own.embeddings
        )
        self.prompts = load_prompts(own.prompts, self.name)
        self.sandbox = own.make_sandbox()

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan, run, refine and resume until the task succeeds or the tries are used up."""
        skills = self.choose_skills(task, episode)
        loop = self.make_loop(task, episode, skills)
        result = episode.result(loop.solve(), self.name, loop.claim)
        self.record_skills(task, skills, loop, result)
        return result

    def choose_skills(self, task: Task, episode: Episode) -> SkillSelection:
        """The skills for the task's prompts. Records them, and before them how the sandbox differs from the usual."""
        record_notices(self.sandbox, episode)
        return self.skill_selector.select(task, episode, "reuse" if self.settings.reuse else "plan")

    def make_loop(self, task: Task, episode: Episode, skills: SkillSelection) -> RefinementLoop:
        """The loop for the task, with these skills in its prompts. It has not begun."""
        shown = skills.skills
        planner = Planner(
            episode,
            self.prompts,
            self.sandbox,
            task,
            samples=self.samples,
            skills=shown,
            asks=self.sandbox.limits.asks,
            tries=self.settings.tries,
            replans=self.settings.replans,
            refine_prompt=self.settings.refine_prompt,
            at_entry=self.settings.resume_state == "entry",
        )
        goal, acts = episode.goal_of(task), episode.has_tools
        leave = partial(expect_answers, episode, {})
        own = partial(SkillPlanWriter, bound=skills.bound, changes=skills.changes, acts=acts, on_leaving=leave)
        skill_writer = own(planner, shown[0], goal) if skills.reuses else None
        writer, ask, is_subtask = skill_writer or planner, planner.answer_question, episode.is_subtask(task)
        settings, first = self.settings, bool(skills.changes)
        return RefinementLoop(episode, writer, ask, self.sandbox, settings, is_subtask, repairs_first=first)

    def record_skills(self, task: Task, skills: SkillSelection, loop: RefinementLoop, result: Result) -> None:
        """Record whether the skills helped, if somebody judged the loop's plan."""
        episode, shown = loop.episode, skills.skills
        if loop.is_subtask or (episode.has_tools and isinstance(result.ending, Claimed)):
            return
        writer = loop.writer if isinstance(loop.writer, SkillPlanWriter) else None
        if writer and episode.has_tools and not writer.has_run_it:
            return  # the goal asked for something else, which says nothing about the skill
        tried, helped = (shown[:1], writer.uses_skill_plan) if writer else (shown, True)
        self.skill_selector.record(tried, episode, episode.success and helped, writer.failure if writer else "")
        if writer and writer.asked_values and episode.has_tools and episode.success and helped:
            self.skill_selector.learn(shown[0], episode.goal_of(task), writer.asked_values, episode)
