"""The answers of the server's tools, as data. Clients get them as structured content, with schemas of these classes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from codeplan.types import Diagnostic, Fix, Value

Ended = Literal[
    "finished", "failed", "stopped", "replan", "gave_up", "refused", "budget", "infrastructure", "interrupted"
]

_JSON_TYPES = ["null", "boolean", "number", "string", "array", "object"]


class CheckedStep(Value, frozen=True):
    """A step of a plan: its number and what it prints first."""

    number: int
    title: str = ""


class PlanFault(Value, frozen=True):
    """What the check says of a place in the plan."""

    line: int
    column: int
    rule: str
    message: str


class CheckAnswer(Value, frozen=True):
    """What the check found. Nothing of the plan ran."""

    accepted: bool
    steps: tuple[CheckedStep, ...] = ()
    faults: Annotated[tuple[PlanFault, ...], Meta(description="Why the plan is refused.")] = ()
    warnings: tuple[PlanFault, ...] = ()
    changes: Annotated[tuple[str, ...], Meta(description="What the check mended by itself.")] = ()
    plan: Annotated[str, Meta(description="The mended plan, if anything was mended; lines are those of it.")] = ""


class RunFailure(Value, frozen=True):
    """What ended a run before its end: an error, a limit, a replan or a give_up, with the step and the line."""

    error: str
    message: str
    step: int | None = None
    line: int | None = None
    code: Annotated[str, Meta(description="The text of the line.")] = ""


class RunAnswer(Value, frozen=True):
    """How a run of a plan ended."""

    ended: Ended
    run: Annotated[str | None, Meta(description="The run's id for resume_plan; null if the plan was refused.")] = None
    value: Annotated[Any, Meta(description="What the plan returned.", extra_json_schema={"type": _JSON_TYPES})] = None
    printed: str = ""
    failure: RunFailure | None = None
    faults: Annotated[tuple[PlanFault, ...], Meta(description="Why the plan was refused; none of it ran.")] = ()
    changes: Annotated[tuple[str, ...], Meta(description="What the check mended by itself.")] = ()
    resumes: Annotated[str | None, Meta(description="The run that this one resumed.")] = None
    started_from: Annotated[int, Meta(description="The step that this run began with.")] = 1
    resumable_step: Annotated[
        int | None, Meta(description="The step that resume_plan goes on with, if no earlier one changes.")
    ] = None
    calls: Annotated[int, Meta(description="Calls of tools that this run made.")] = 0
    log: Annotated[
        str, Meta(description="The calls with their answers, the newest last, if the run did not finish.")
    ] = ""
    variables: Annotated[str, Meta(description="The plan's variables, which the next plan starts with.")] = ""
    note: str = ""


class FoundSkill(Value, frozen=True):
    """A plan of the skill library, whose parameters are set at its head."""

    name: str
    description: str
    parameters: tuple[str, ...]
    plan: str


class FoundSkills(Value, frozen=True):
    """The skills that fit a goal best, best first."""

    skills: tuple[FoundSkill, ...]


class ToolsText(Value, frozen=True):
    """Tools as the methods of the agent that a plan gets."""

    text: str


def plan_faults(diagnostics: tuple[Diagnostic, ...]) -> tuple[PlanFault, ...]:
    """The check's diagnostics as answers."""
    return tuple(PlanFault(d.line, d.column, d.rule, d.message) for d in diagnostics)


def fix_texts(fixes: tuple[Fix, ...]) -> tuple[str, ...]:
    """The check's fixes, each in a sentence."""
    return tuple(f"{fix}" for fix in fixes)
