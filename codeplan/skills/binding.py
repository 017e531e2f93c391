"""A plan's parameters: read from its head, and set to other values there. Text work: nothing here parses Python.

The head is what ``sandbox.language.generalise`` writes: lines ``name = value``, the values in JSON, between two
comments. Values are texts or lists of texts; nothing else can be a parameter, and nothing else be bound to one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec

from codeplan.sandbox.analysis.head import CLOSING, OPENING
from codeplan.types import Value as Frozen

_Text = Annotated[str, msgspec.Meta(max_length=2_000)]
Value: TypeAlias = _Text | Annotated[list[_Text], msgspec.Meta(max_length=500)]

_ASSIGNED = re.compile(r"^(?P<margin> *)(?P<name>[A-Za-z][A-Za-z0-9_]{0,79}) = (?P<value>[\"\[].*)$")
_ABOUT = re.compile(r"^ *# (?P<name>\w+): (?P<about>.*)$")


class Parameter(Frozen, frozen=True):
    """A parameter: its name, the value that it had in the plan, and what it is for."""

    name: str
    value: Value
    about: str = ""


class Head(Frozen, frozen=True):
    """A plan's parameters, in their order, and the goal of the task that their values are for."""

    goal: str
    parameters: tuple[Parameter, ...]


class Unbound(ValueError):
    """Values that cannot be bound to a plan's parameters: the message says why."""


def head(plan: str) -> Head:
    """What stands at the plan's head; no parameters where it has none."""
    lines = plan.split("\n")
    span = _span(lines)
    goal = lines[span.start - 1].partition(OPENING)[2].strip() if span else ""
    abouts = {m["name"]: m["about"] for i in span if (m := _ABOUT.match(lines[i]))}
    found: list[Parameter] = []
    for i in span:
        assigned = _ASSIGNED.match(lines[i])
        value = _value(assigned["value"]) if assigned else None
        if assigned and value is not None:
            found.append(Parameter(assigned["name"], value, abouts.get(assigned["name"], "")))
    return Head(goal, tuple(found))


def values_in(reply: str, parameters: Sequence[Parameter]) -> dict[str, Value]:
    """The value of every parameter, out of a model's reply: a JSON object. Raises Unbound where it is not all there."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        given = msgspec.json.decode(reply[start : end + 1].encode("utf-8", "replace"), type=dict[str, Value])
    except (msgspec.DecodeError, RecursionError) as e:
        raise Unbound(f"the answer is no JSON object of texts and lists of texts: {e}") from None
    for p in parameters:
        if not isinstance(given.get(p.name), type(p.value)):
            sort = "list of texts" if isinstance(p.value, list) else "text"
            raise Unbound(f"the answer gives no {sort} for {p.name}")
    return {p.name: given[p.name] for p in parameters}


def bound(plan: str, goal: str, values: Mapping[str, Value]) -> str:
    """The plan with these values at its head, for a task with this goal. Other parameters keep theirs."""
    lines = plan.split("\n")
    span = _span(lines)
    for i in span:
        assigned = _ASSIGNED.match(lines[i])
        if assigned and assigned["name"] in values:
            lines[i] = f"{assigned['margin']}{assigned['name']} = {_written(values[assigned['name']])}"
    if span:
        margin = lines[span.start - 1].partition("#")[0]
        lines[span.start - 1] = f"{margin}{OPENING} {' '.join(goal.split())[:300]}"
    return "\n".join(lines)


def _span(lines: Sequence[str]) -> range:
    """The lines between the head's two comments, by their indices; none where there is no head."""
    first = next((i for i, line in enumerate(lines) if line.strip().startswith(OPENING)), None)
    last = next((i for i, line in enumerate(lines) if line.strip() == CLOSING), None)
    return range(0) if first is None or last is None else range(first + 1, last)


def _value(text: str) -> Value | None:
    try:
        value: Value = msgspec.json.decode(text.encode("utf-8", "replace"), type=Value)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value


def _written(value: Value) -> str:
    """The value in a form that is JSON and Python alike: one line, whatever is in it."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else "?" for c in text)
