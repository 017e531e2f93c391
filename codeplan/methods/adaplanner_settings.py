"""The settings of AdaPlanner that choose the content of its prompts."""

from __future__ import annotations

from typing import Annotated

from codeplan.planning.planner import RefinePrompt
from codeplan.planning.sample_choice import SampleOrigin, SampleTable
from codeplan.plugins import Setting

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
