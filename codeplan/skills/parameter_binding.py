"""Reads the parameters of a plan and sets them to other values. This is text processing; it parses no Python.

``sandbox.analysis.generalise`` writes the parameters as a block of lines ``name = value`` between two comments. Values
are JSON: texts, numbers, or lists of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from codeplan.errors import UsageError
from codeplan.sandbox.language.extraction import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.types import Value as Frozen
from codeplan.untrusted.values import in_quotes

_Text = Annotated[str, msgspec.Meta(max_length=2_000)]
SkillParameterValue: TypeAlias = (
    _Text | Annotated[list[_Text | int | float], msgspec.Meta(max_length=500)] | int | float
)

MAX_GOAL: Final = 600
"""Maximum length of the goal in a plan's block, in characters."""

_ASSIGNMENT = re.compile(r"^(?P<margin> *)(?P<name>[A-Za-z][A-Za-z0-9_]{0,79}) = (?P<value>[\"\[\d-].*)$")
_DESCRIPTION = re.compile(r"^ *# (?P<name>\w+): (?P<about>.*)$")


class SkillParameter(Frozen, frozen=True):
    """A parameter's name, its value in the plan, and what it is for."""

    name: str
    value: SkillParameterValue
    description: str = ""


class ParameterBlock(Frozen, frozen=True):
    """The parameters of a plan in order, and the goal of the task that their values belong to."""

    goal: str
    parameters: tuple[SkillParameter, ...]


class BindingError(ValueError):
    """The values cannot be bound to the plan's parameters; the message says why."""


def read_parameters(plan: str) -> ParameterBlock:
    """Return the plan's parameter block; it has no parameters if the plan has none."""
    lines = plan.split("\n")
    span = _block_lines(lines)
    goal = lines[span.start - 1].partition(PARAMETERS_OPENING)[2].strip() if span else ""
    abouts = {m["name"]: m["about"] for i in span if (m := _DESCRIPTION.match(lines[i]))}
    found: list[SkillParameter] = []
    for i in span:
        assigned = _ASSIGNMENT.match(lines[i])
        value = _parse_value(assigned["value"]) if assigned else None
        if assigned and value is not None:
            found.append(SkillParameter(assigned["name"], value, abouts.get(assigned["name"], "")))
    return ParameterBlock(goal, tuple(found))


def without_parameters(plan: str) -> str:
    """The plan without its block and the comment before it."""
    lines = plan.split("\n")
    span = _block_lines(lines)
    return "\n".join([*lines[: max(0, span.start - 1)], *lines[span.stop :]]) if span else plan


def parse_values(reply: str, parameters: Sequence[SkillParameter]) -> dict[str, SkillParameterValue]:
    """Read the value of every parameter from a model's reply, which must hold a JSON object.

    Raises: BindingError if a value is missing or has the wrong type.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        text = reply[start : end + 1].encode("utf-8", "replace")
        given = msgspec.json.decode(text, type=dict[str, SkillParameterValue])
    except (msgspec.DecodeError, RecursionError) as e:
        raise BindingError(f"the reply is not a JSON object of texts, numbers and lists: {e}") from None
    for p in parameters:
        if not _is_of_sort(given.get(p.name), p.value):
            sort = _sort_of(p.value)
            raise BindingError(f"the reply gives no {sort} for {p.name}")
    return {p.name: given[p.name] for p in parameters}


def _is_of_sort(value: object, own: SkillParameterValue) -> bool:
    """Whether a value has the type of the plan's own; a whole number may stand for any number."""
    if isinstance(own, list):
        return isinstance(value, list) and all(_is_of_sort(each, _item_of(own)) for each in value)
    return isinstance(value, (int, float) if isinstance(own, float) else type(own))


def _item_of(values: list[str | int | float]) -> str | int | float:
    """A value of the sort that a list holds: a fraction if one of its numbers is."""
    return next((v for v in values if isinstance(v, float)), values[0] if values else "")


def _sort_of(value: SkillParameterValue) -> str:
    match value:
        case list():
            return f"list of {_sort_of(_item_of(value))}s"
        case str():
            return "text"
        case int():
            return "whole number"
    return "number"


def bind_parameters(plan: str, goal: str, values: Mapping[str, SkillParameterValue]) -> str:
    """Return the plan with these values and this goal in its block. Parameters without a value here keep theirs.

    A value is set once: a plan that assigns a parameter many times would grow without bound.
    """
    lines, left = plan.split("\n"), dict(values)
    span = _block_lines(lines)
    for i in span:
        assigned = _ASSIGNMENT.match(lines[i])
        if assigned and assigned["name"] in left:
            lines[i] = f"{assigned['margin']}{assigned['name']} = {_format_value(left.pop(assigned['name']))}"
    if span:
        margin = lines[span.start - 1].partition("#")[0]
        lines[span.start - 1] = f"{margin}{PARAMETERS_OPENING} {' '.join(goal.split())[:MAX_GOAL]}"
    return "\n".join(lines)


def fill_parameters(skill_name: str, plan: str, goal: str, given: Mapping[str, object]) -> str:
    """The plan with this goal and a value for each parameter, as a user or a client gave it.

    Raises: UsageError: a parameter has no value or one of another sort, or there is no such parameter.
    """
    known = {p.name: p for p in read_parameters(plan).parameters}
    forms = " ".join(f"{p.name}={'[…]' if isinstance(p.value, list) else '…'}" for p in known.values())
    usage = f"its parameters: {forms}" if known else f"{skill_name} has no parameters"
    for name in given:
        if name not in known:
            raise UsageError(f"{in_quotes(name, 100)} is no parameter; {usage}")
    if missing := [name for name in known if name not in given]:
        raise UsageError(f"there is no value for {', '.join(missing)}; {usage}")
    values = {name: _check_value(p, given[name]) for name, p in known.items()}
    if not holds_values(plan, values):
        raise UsageError("a value has characters that a plan cannot hold; leave them out")
    return bind_parameters(plan, goal, values)


def holds_values(plan: str, values: Mapping[str, SkillParameterValue]) -> bool:
    """Whether the plan, with these values in its block, has each of them, unchanged and once."""
    filled = read_parameters(bind_parameters(plan, "", values)).parameters
    return len(filled) == len(values) and {p.name: p.value for p in filled} == values


def _check_value(parameter: SkillParameter, given: object) -> SkillParameterValue:
    """The value, of the sort of the plan's own. Raises: UsageError."""
    own = parameter.value
    item = _item_of(own) if isinstance(own, list) else own
    wanted: Any = list[type(item)] if isinstance(own, list) else type(own)  # type: ignore[misc]  # made at run time
    try:
        value: SkillParameterValue = msgspec.convert(msgspec.convert(given, wanted), SkillParameterValue)
    except msgspec.ValidationError:
        raise UsageError(f"{parameter.name} is {_wanted(own)}") from None
    if is_date(item) and not all(map(is_date, value if isinstance(value, list) else [value])):
        raise UsageError(
            f"{parameter.name} is {'a list of dates' if isinstance(own, list) else 'a date'}, as in {item}"
        )
    return value


def _wanted(own: SkillParameterValue) -> str:
    match own:
        case list():
            return f"a {_sort_of(own)}, as in {_format_value(own)}"
        case str():
            return "a text of at most 2,000 characters"
        case int():
            return f"a whole number, as in {own}"
    return f"a number, as in {own}"


def is_date(value: object) -> bool:
    """Whether it is the text of a day, such as 2026-03-01."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _block_lines(lines: Sequence[str]) -> range:
    """The indices of the lines between the two comments; empty if there is no block."""
    first = next((i for i, line in enumerate(lines) if line.strip().startswith(PARAMETERS_OPENING)), None)
    last = next((i for i, line in enumerate(lines) if line.strip() == PARAMETERS_CLOSING), None)
    return range(0) if first is None or last is None else range(first + 1, last)


def _parse_value(text: str) -> SkillParameterValue | None:
    try:
        value: SkillParameterValue = msgspec.json.decode(text.encode("utf-8", "replace"), type=SkillParameterValue)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value


def _format_value(value: SkillParameterValue) -> str:
    """The value on one line, in a form that is both JSON and Python."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else "?" for c in text)
