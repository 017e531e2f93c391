"""The server's tools and their answers as data. Clients get the answers as structured content, with these schemas."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
import msgspec.inspect
from msgspec import Meta

from codeplan.errors import UsageError
from codeplan.types import Diagnostic, Fix, Value
from codeplan.untrusted.json_values import has_more_values
from codeplan.untrusted.texts import one_line

Ended = Literal[
    "finished",
    "failed",
    "stopped",
    "replan",
    "gave_up",
    "refused",
    "waiting",
    "budget",
    "infrastructure",
    "interrupted",
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
    flows: Annotated[
        tuple[str, ...], Meta(description="Where the arguments of each call come from, and what would be asked.")
    ] = ()


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
    flows: Annotated[
        tuple[str, ...], Meta(description="Where the arguments of calls came from, and what was decided.")
    ] = ()
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


_PlanText = Annotated[str, Meta(description="The plan: a Python function `solution(agent, start_from=1)` of steps.")]


class CheckPlanArguments(Value, frozen=True, forbid_unknown_fields=True):
    """Arguments of check_plan."""

    plan: _PlanText


class RunPlanArguments(Value, frozen=True, forbid_unknown_fields=True):
    """Arguments of run_plan."""

    plan: _PlanText
    goal: Annotated[str, Meta(description="What the plan is for, in a sentence. The trace keeps it.")] = ""


class ResumePlanArguments(Value, frozen=True, forbid_unknown_fields=True):
    """Arguments of resume_plan."""

    run: Annotated[str, Meta(description="The id that run_plan or resume_plan returned.")]
    plan: Annotated[
        str,
        Meta(
            description="The new and changed steps alone, as whole blocks `if start_from <= k:`, with new or changed "
            "helper functions and constants; or the whole plan."
        ),
    ]


class DescribeToolsArguments(Value, frozen=True, forbid_unknown_fields=True):
    """Arguments of describe_tools."""

    names: Annotated[list[str], Meta(description="Describe these tools in full.", max_length=200)] = []
    goal: Annotated[str, Meta(description="If there are many tools, show those in full that fit this goal.")] = ""


class FindSkillsArguments(Value, frozen=True, forbid_unknown_fields=True):
    """Arguments of find_skills."""

    goal: Annotated[str, Meta(description="What is to be done, in a sentence.")]
    limit: Annotated[int, Meta(ge=1, le=20)] = 5


class RunSkillArguments(Value, frozen=True, forbid_unknown_fields=True):
    """Arguments of run_skill."""

    skill: Annotated[str, Meta(description="The name of a skill, as find_skills gives it.")]
    values: Annotated[
        dict[str, str | int | float | list[str]],
        Meta(description="A value for each of its parameters, of the same sort as in its plan."),
    ] = {}


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool of the server. ``hints`` are those of the protocol, by name; ``arguments`` and ``answer`` its classes."""

    name: str
    title: str
    description: str
    arguments: type[Value]
    answer: type[Value]
    hints: dict[str, bool]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return _object_schema(self.arguments)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of its structured content; None for a text, which would only come twice."""
        return None if self.answer is ToolsText else _object_schema(self.answer)

    def read(self, arguments: dict[str, Any] | None) -> Value:
        """The arguments as a value. Some models write null for what they leave out, and JSON in a text for a list.

        Raises: UsageError: one is missing, unknown or of another type.
        """
        given = {name: _whole(self._read_text(name, value)) for name, value in (arguments or {}).items()}
        try:
            return msgspec.convert({n: v for n, v in given.items() if v is not None}, self.arguments)
        except msgspec.ValidationError as e:
            raise UsageError(f"the arguments of {self.name} do not fit: {one_line(f'{e}', 300)}") from None
        except UnicodeEncodeError:  # half of a surrogate pair where a list or a number is expected
            raise UsageError(f"the arguments of {self.name} do not fit: one is a text that is not UTF-8") from None

    def _read_text(self, name: str, value: Any) -> Any:
        """The argument; that in a JSON text, or None for an empty one, if the argument cannot be a text."""
        if not isinstance(value, str) or name in self._texts or name not in self.arguments.__struct_fields__:
            return value
        if not value.strip():
            return None
        if has_more_values(value.encode(errors="replace"), MAX_ARGUMENT_VALUES):
            raise UsageError(f"the argument {name} of {self.name} holds more than {MAX_ARGUMENT_VALUES:,} values")
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return value

    @property
    def _texts(self) -> frozenset[str]:
        """The names of the arguments that are texts."""
        return _text_fields(self.arguments)


MAX_ARGUMENT_VALUES: Final = 1_000
"""Maximum number of values in one argument that comes as a JSON text."""

_READS: Final = {"read_only_hint": True, "open_world_hint": False}
_ACTS: Final = {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": False, "open_world_hint": True}

OFFERED: Final = (
    OfferedTool(
        "describe_tools",
        "Describe tools",
        "The tools that plans may call as methods of `agent`: signatures, documentation and types. If there are many, "
        "those that fit `goal` are shown in full, and one line of each other; `names` asks for some in full.",
        DescribeToolsArguments,
        ToolsText,
        _READS,
    ),
    OfferedTool(
        "check_plan",
        "Check a plan",
        "Check a plan without running it: its form, names and calls of tools. run_plan does so by itself.",
        CheckPlanArguments,
        CheckAnswer,
        _READS,
    ),
    OfferedTool(
        "run_plan",
        "Run a plan",
        "Run a plan: a Python function whose steps call tools as methods of `agent`, in a sandbox. One plan takes the "
        "place of many calls. The answer has what the plan returned and printed; after a failure also the calls with "
        "their answers, the variables and the step at which resume_plan goes on.",
        RunPlanArguments,
        RunAnswer,
        _ACTS,
    ),
    OfferedTool(
        "resume_plan",
        "Resume a plan",
        "Go on from a run's end with a changed plan: after a failure or a replan, or to add steps to a finished run. "
        "It starts at the first step that is new or changed, but no later than at the one that failed; steps before "
        "it are not run again, and their variables are there. Each run can be resumed once: then resume the new run. A "
        "run that waits for an approval goes on by itself at that call, as the same run: send its plan unchanged.",
        ResumePlanArguments,
        RunAnswer,
        _ACTS,
    ),
    OfferedTool(
        "find_skills",
        "Find skills",
        "Plans of a library that solved other tasks and fit a goal. Give their parameters the values of your task.",
        FindSkillsArguments,
        FoundSkills,
        _READS,
    ),
    OfferedTool(
        "run_skill",
        "Run a skill",
        "Run the plan of a skill with your values for its parameters, without sending the plan. The answer is that of "
        "run_plan, and resume_plan goes on after a failure.",
        RunSkillArguments,
        RunAnswer,
        _ACTS,
    ),
)
"""All tools of the server."""

OF_SKILLS: Final = frozenset({"find_skills", "run_skill"})
"""Tools that need a library."""


def _whole(value: Any) -> Any:
    """The value; 5.0 as 5, which is the same number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _text_fields(kind: type[Value]) -> frozenset[str]:
    """The names of the fields that take texts."""
    types = {field.name: field.type for field in msgspec.inspect.type_info(kind).fields}  # type: ignore[attr-defined]
    return frozenset(name for name, type in types.items() if isinstance(_bare(type), msgspec.inspect.StrType))


def _bare(type: msgspec.inspect.Type) -> msgspec.inspect.Type:
    """A type without its description."""
    return _bare(type.type) if isinstance(type, msgspec.inspect.Metadata) else type


@cache
def _object_schema(kind: type[Value]) -> dict[str, Any]:
    """The schema of a class, with those of the classes within it beside it."""
    (_, *_), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = {k: v for k, v in components.pop(kind.__name__).items() if k not in ("title", "description")}
    return {**own, "$defs": components} if components else own
