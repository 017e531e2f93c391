"""Reuses a skill's plan: the model sets its parameters, and writes a new plan only if that plan fails."""

from __future__ import annotations

from typing import Protocol

from codeplan.planning.feedback import RunReport
from codeplan.planning.plan_writer import PlanWriter
from codeplan.skills.parameter_binding import (
    BindingError,
    ParameterBlock,
    bind_parameters,
    parse_values,
    read_parameters,
)
from codeplan.skills.skill import Skill


class BindingPlanWriter(PlanWriter, Protocol):
    """A PlanWriter that can also ask for the values of a plan's parameters."""

    def bind(self, block: ParameterBlock) -> str:
        """The model's reply to the question for the values of the parameters."""
        ...


class SkillPlanWriter:
    """A PlanWriter whose first plan is a skill's. After its first failure, ``planner`` takes over.

    ``uses_skill_plan`` is True until then.
    """

    def __init__(self, planner: BindingPlanWriter, skill: Skill, goal: str) -> None:
        self._planner, self._skill, self._goal = planner, skill, goal
        self.uses_skill_plan = True

    def draft(self) -> str:
        """The skill's plan with the task's values; a new plan if the reply has no valid values."""
        block = read_parameters(self._skill.plan)
        if not block.parameters:
            return self._skill.plan
        try:
            values = parse_values(self._planner.bind(block), block.parameters)
        except BindingError:
            return self._draft_new_plan()
        return bind_parameters(self._skill.plan, self._goal, values)

    def repair(self, source: str, errors: str) -> str:
        """A new plan if the check refuses the skill's; then the planner's repair."""
        return self._draft_new_plan() if self.uses_skill_plan else self._planner.repair(source, errors)

    def refine(self, report: RunReport) -> str:
        """A new plan if the skill's fails; then the planner's refinement."""
        return self._draft_new_plan() if self.uses_skill_plan else self._planner.refine(report)

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The planner's answer."""
        return self._planner.resume_step(previous, revised)

    def _draft_new_plan(self) -> str:
        self.uses_skill_plan = False
        return self._planner.draft()
