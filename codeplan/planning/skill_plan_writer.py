"""Taking a skill's plan as it is: its parameters are bound by one ask, and nobody plans until it fails."""

from __future__ import annotations

from typing import Protocol

from codeplan.planning.plan_writer import PlanWriter
from codeplan.skills.binding import BindingError, ParameterBlock, bind_parameters, parse_values, read_parameters
from codeplan.skills.skill import Skill
from codeplan.types.plan import Checkpoint


class BindingPlanWriter(PlanWriter, Protocol):
    """An Author that can also say which values a plan's parameters have for its task."""

    def bind(self, head: ParameterBlock) -> str:
        """The model's reply to the question which values the parameters have."""
        ...


class SkillPlanWriter:
    """An Author whose first plan is a skill's; from its first failure on it is its planner.

    ``alone`` says that the skill's plan is all that there has been.
    """

    def __init__(self, planner: BindingPlanWriter, skill: Skill, goal: str) -> None:
        self._planner, self._skill, self._goal = planner, skill, goal
        self.uses_skill_plan = True

    def draft(self) -> str:
        """The skill's plan, bound to the task; a new one where the answer does not bind it."""
        about = read_parameters(self._skill.plan)
        if not about.parameters:
            return self._skill.plan
        try:
            values = parse_values(self._planner.bind(about), about.parameters)
        except BindingError:
            return self._draft_new_plan()
        return bind_parameters(self._skill.plan, self._goal, values)

    def repair(self, source: str, errors: str) -> str:
        """A new plan where the skill's is refused; then the planner's repair."""
        return self._draft_new_plan() if self.uses_skill_plan else self._planner.repair(source, errors)

    def refine(self, source: str, feedback: str, variables: Checkpoint) -> str:
        """A new plan where the skill's has failed; then the planner's refinement."""
        return self._draft_new_plan() if self.uses_skill_plan else self._planner.refine(source, feedback, variables)

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The planner's word."""
        return self._planner.resume_step(previous, revised)

    def _draft_new_plan(self) -> str:
        self.uses_skill_plan = False
        return self._planner.draft()
