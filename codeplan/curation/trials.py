"""Tries skills over the user's own tools: on recorded answers, on a stand-in that the user gives, or on tools that only
read. Filtering promotes those that pass.

What is real is never done for a trial: a tool that acts is not called unless the user says that it stands in for one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM
from codeplan.runner.given_plans import execute
from codeplan.runner.recorded_calls import is_accepted
from codeplan.runner.tools import ToolSources, open_goal
from codeplan.sandbox import Limits
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidencePhase, EvidenceRecord, Skill, find_tool_difference
from codeplan.tools.environment import ToolEnvironment
from codeplan.types import NotSolved, Result, Success, Value
from codeplan.untrusted.texts import excerpt
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


def _require_readonly(skill: Skill, tools: ToolEnvironment) -> None:
    for needed in skill.tools:
        tool = tools.toolset.get(needed.method.name)
        if tool is None or not tool.readonly:
            name = in_quotes(needed.method.name, 100)
            raise UsageError(
                f"the tool {name} may act, and a trial does nothing real; give a stand-in of the tools with --trial "
                f"FILE.py, or say --readonly {needed.method.name} if it only reads"
            )


_MAX_REASON = 500


def record_trial(
    library: SkillLibrary, skill: Skill, result: Result, folder: str, phase: EvidencePhase = "check"
) -> None:
    """Record a run of a skill's own plan as evidence, if somebody judged it. ``folder`` has its trace."""
    if library.writable and isinstance(result.ending, Success | NotSolved):
        why = "" if result.success else excerpt(result.reason, _MAX_REASON)
        made = EvidenceRecord(result.task.id, 0, "none", True, result.success, skill.version, phase, folder, reason=why)
        library.record(skill, made)


class TrialOutcome(Value, frozen=True):
    """What trials decided on a skill over tools, which has this ``status`` now.

    ``test`` is whether its test on recorded answers passed, ``trial`` whether its plan did on tools; None: there was
    none. ``reason`` is why it is not promoted, as a clause.
    """

    skill: str
    env: str
    test: bool | None
    trial: bool | None
    status: str
    reason: str = ""


def filter_by_trial(
    library: SkillLibrary, skill: Skill, run_test: Callable[[Skill], bool], run_trial: Callable[[Skill], Result] | None
) -> TrialOutcome:
    """Try a skill over tools, and promote a candidate that passes its test, and the trial if there is one.

    ``run_test`` says whether there is a test, and raises UsageError if that fails. ``run_trial`` runs a skill's plan
    and raises UsageError if that must not be, or cannot. A skill that fails stays what it is, and so does a pinned
    one, and one for which a model named values that no rule verifies.
    """
    test: bool | None = None
    trial: bool | None = None
    reason = ""
    try:
        test = False
        test = run_test(skill) or None
        if run_trial is not None:
            trial = False
            result = run_trial(skill)
            trial = is_accepted(result)
            reason = "" if trial else f"the trial fails: {excerpt(result.reason, _MAX_REASON)}"
    except UsageError as e:
        reason = str(e)
    reason = reason or _refuse_promotion(skill, is_tried=bool(test or trial))
    if not reason:
        skill = library.change(skill, status="active")
    return TrialOutcome(skill.name, skill.env, test, trial, skill.status, reason)


def _refuse_promotion(skill: Skill, *, is_tried: bool) -> str:
    """Why a skill that has not failed is not promoted; empty if it is."""
    if not is_tried:
        return "it has no test, and there was no trial"
    if skill.pinned or skill.status != "candidate":
        return f"it is {'pinned' if skill.pinned else skill.status}"
    if any(form.table for form in skill.forms):
        return "a model named values for words of its goal; read them with codeplan skills show, and promote it by hand"
    return ""
