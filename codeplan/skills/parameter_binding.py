"""Reads the parameters of a plan and sets them to other values. This is text processing; it parses no Python.

``sandbox.analysis.generalise`` writes the parameters as a block of lines ``name = value`` between two comments. Values
are JSON: texts, lists of texts, or numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Final, TypeAlias, cast

import msgspec

from codeplan.sandbox.language.extraction import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.types import Value as Frozen

_Text = Annotated[str, msgspec.Meta(max_length=2_000)]
SkillParameterValue: TypeAlias = _Text | Annotated[list[_Text], msgspec.Meta(max_length=500)] | int | float

MAX_GOAL: Final = 300
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


_LIMITS = frozenset(
    [
        "all",
        "also",
        "although",
        "and",
        "any",
        "anything",
        "before",
        "both",
        "but",
        "each",
        "either",
        "else",
        "every",
        "everything",
        "except",
        "first",
        "half",
        "if",
        "instead",
        "it",
        "last",
        "less",
        "more",
        "neither",
        "never",
        "no",
        "nobody",
        "none",
        "nor",
        "not",
        "nothing",
        "only",
        "or",
        "other",
        "others",
        "plus",
        "same",
        "some",
        "than",
        "that",
        "the",
        "them",
        "then",
        "these",
        "this",
        "those",
        "unless",
        "until",
        "what",
        "whatever",
        "when",
        "whoever",
        "without",
    ]
)
"""Words that say more about a goal than a value does: a goal with one in the place of a value is no such goal."""

_TOKEN = re.compile(r"\w+|[^\w\s]")


def bind_by_rule(plan: str, goal: str) -> dict[str, SkillParameterValue] | None:
    """The values of a plan's parameters for a goal in the plan's own words, with other values in their places.

    None if the rule is not sure of it. Every other word must be equal and stand in the same order, and a value must
    have as many words as the plan's own, of the same sort: words, numbers, the same signs between them. A list, a value
    that the plan's goal has not exactly once, and one that the plan also has elsewhere are never sure.
    """
    block = read_parameters(plan)
    known, new = _tokens(block.goal), _tokens(goal)
    places = {p.name: _find_value(p.value, known) for p in block.parameters}
    if not places or None in places.values() or len(known) != len(new) or _leaves_values(plan, block):
        return None
    spans = [span for span in places.values() if span is not None]
    inside = {i for span in spans for i in span}
    equal = all(known[i][0].casefold() == new[i][0].casefold() for i in range(len(known)) if i not in inside)
    if not equal or len(inside) != sum(map(len, spans)) or len(block.goal) >= MAX_GOAL:
        return None
    values = {p.name: _read_value(p.value, known, new, places[p.name] or range(0), goal) for p in block.parameters}
    return None if None in values.values() else cast("dict[str, SkillParameterValue]", values)


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """The words and signs of a text with their places, without a full stop at the end."""
    found = [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
    while found and found[-1][0] in (".", "!"):
        found.pop()
    return found


def _find_value(value: SkillParameterValue, goal: list[tuple[str, int, int]]) -> range | None:
    """The tokens of the goal that are the value; None unless it stands there once."""
    words = [] if isinstance(value, list) else [token for token, _, _ in _tokens(str(value))]
    size = len(words)
    found = [i for i in range(len(goal) - size + 1) if [t for t, _, _ in goal[i : i + size]] == words]
    return range(found[0], found[0] + size) if words and len(found) == 1 else None


def _leaves_values(plan: str, block: ParameterBlock) -> bool:
    """Whether the plan has a value of its parameters outside of their block."""
    lines = plan.split("\n")
    span = _block_lines(lines)
    rest = [
        t
        for t, _, _ in _tokens("\n".join(line for i, line in enumerate(lines) if i not in span and i != span.start - 1))
    ]
    values = [[t for t, _, _ in _tokens(str(p.value))] for p in block.parameters]
    return any(v == rest[i : i + len(v)] for v in values for i in range(len(rest) - len(v) + 1))


def _read_value(
    own: SkillParameterValue,
    known: list[tuple[str, int, int]],
    new: list[tuple[str, int, int]],
    place: range,
    goal: str,
) -> SkillParameterValue | None:
    """The value in this place of the new goal; None if it is not of the sort of the plan's own."""
    for i in place:
        was, now = known[i][0], new[i][0]
        same_sort = was == now or (was[0].isalnum() and now[0].isalnum() and was.isdigit() == now.isdigit())
        if not same_sort or now.casefold() in _LIMITS:
            return None
    text = goal[new[place.start][1] : new[place.stop - 1][2]]
    if isinstance(own, str):
        return text if not _is_date(own) or _is_date(text) else None
    if not isinstance(own, int | float):
        return None
    number = type(own)(text) if re.fullmatch(r"\d{1,15}(?:\.\d{1,15})?", text) else None
    return number if str(number) == text else None


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def parse_values(reply: str, parameters: Sequence[SkillParameter]) -> dict[str, SkillParameterValue]:
    """Read the value of every parameter from a model's reply, which must hold a JSON object.

    Raises: BindingError if a value is missing or has the wrong type.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        text = reply[start : end + 1].encode("utf-8", "replace")
        given = msgspec.json.decode(text, type=dict[str, SkillParameterValue])
    except (msgspec.DecodeError, RecursionError) as e:
        raise BindingError(f"the reply is not a JSON object of texts and lists of texts: {e}") from None
    for p in parameters:
        if not isinstance(given.get(p.name), _accepted(p.value)):
            sort = _sort_of(p.value)
            raise BindingError(f"the reply gives no {sort} for {p.name}")
    return {p.name: given[p.name] for p in parameters}


def _accepted(value: SkillParameterValue) -> tuple[type, ...]:
    return (int, float) if isinstance(value, float) else (type(value),)


def _sort_of(value: SkillParameterValue) -> str:
    match value:
        case list():
            return "list of texts"
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
