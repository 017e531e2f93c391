"""Tries a skill over the user's own tools: on a stand-in that the user gives, or on tools that only read.

What is real is never done for a trial: a tool that acts is not called unless the user says that it stands in for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM
from codeplan.runner.given_plans import execute
from codeplan.runner.recorded_calls import is_accepted
from codeplan.runner.tools import ToolSources, open_goal
from codeplan.sandbox import Limits
from codeplan.skills.skill import Skill, find_tool_difference
from codeplan.tools.environment import ToolEnvironment
from codeplan.types import Result
from codeplan.untrusted.values import in_quotes


def try_skill(
    skill: Skill,
    plan: str,
    goal: str,
    sources: ToolSources,
    *,
    is_stand_in: bool,
    out: Path | None = None,
    model: str | LLM | ModelFunction | None = None,
    **settings: Any,
) -> Result:
    """Run the plan of a skill, with values in it, once on tools. ``settings`` are those of ``execute``.

    Without a ``model``, a question of the plan ends it. Raises: UsageError: the tools are not those that the skill
    needs, or one of them acts and does not stand in for another.
    """
    asking: dict[str, Any] = {"limits": Limits(asks=0)} if model is None else {"model": model}
    with open_goal(goal, sources, out, sources.user()) as tools:
        if difference := find_tool_difference(skill.tools, tools.described_tools, by_words=not is_stand_in):
            raise UsageError(f"{skill.env}/{skill.name} does not fit the tools: {difference}")
        if not is_stand_in:
            _require_readonly(skill, tools)
        return execute(plan, tools, skill=skill, out=out, **asking, **settings).result


def has_passed(result: Result) -> bool:
    """Whether the plan's value was verified, or the plan ran to its end and there was no verifier."""
    return is_accepted(result)


def _require_readonly(skill: Skill, tools: ToolEnvironment) -> None:
    for needed in skill.tools:
        tool = tools.toolset.get(needed.method.name)
        if tool is None or not tool.readonly:
            name = in_quotes(needed.method.name, 100)
            raise UsageError(
                f"the tool {name} may act, and a trial does nothing real; give a stand-in of the tools with --trial "
                f"FILE.py, or say --readonly {needed.method.name} if it only reads"
            )
