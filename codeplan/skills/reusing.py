"""Taking a skill's plan as it is: its parameters are bound by one ask, and nobody plans until it fails."""

from __future__ import annotations

from typing import Protocol

from codeplan.planning.plan_writer import Author
from codeplan.skills.binding import Head, Unbound, bound, head, values_in
from codeplan.skills.values import Skill
from codeplan.types import Checkpoint


class Binder(Author, Protocol):
    """An Author that can also say which values a plan's parameters have for its task."""

    def bind(self, head: Head) -> str:
        """The model's reply to the question which values the parameters have."""
        ...


class Reusing:
    """An Author whose first plan is a skill's; from its first failure on it is its planner.

    ``alone`` says that the skill's plan is all that there has been.
    """

    def __init__(self, planner: Binder, skill: Skill, goal: str) -> None:
        self._planner, self._skill, self._goal = planner, skill, goal
        self.alone = True

    def draft(self) -> str:
        """The skill's plan, bound to the task; a new one where the answer does not bind it."""
        about = head(self._skill.plan)
        if not about.parameters:
            return self._skill.plan
        try:
            values = values_in(self._planner.bind(about), about.parameters)
        except Unbound:
            return self._planned()
        return bound(self._skill.plan, self._goal, values)

    def repair(self, source: str, errors: str) -> str:
        """A new plan where the skill's is refused; then the planner's repair."""
        return self._planned() if self.alone else self._planner.repair(source, errors)

    def refine(self, source: str, feedback: str, variables: Checkpoint) -> str:
        """A new plan where the skill's has failed; then the planner's refinement."""
        return self._planned() if self.alone else self._planner.refine(source, feedback, variables)

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The planner's word."""
        return self._planner.resume_step(previous, revised)

    def _planned(self) -> str:
        self.alone = False
        return self._planner.draft()
