"""What tools answered when a skill's plan was proven, as shapes: types and the fields that the plan reads, no values.

A plan reads answers in ways that need not fail where a tool has changed: ``row.get("price", 0)``, ``len(orders)``. So
each answer is compared with these shapes while a skill's own plan runs, and one of another shape ends the run there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from codeplan.plain_data import NotPlainData, unpack
from codeplan.recording.events import AnsweredCall
from codeplan.skills.parameter_binding import is_date
from codeplan.types import Answer, Value
from codeplan.untrusted.values import in_quotes, value_text

_MAX_DEPTH: Final = 6
"""Deeper values may have any shape."""

_MAX_KINDS: Final = 20
_MAX_FIELDS: Final = 200
_MAX_SHOWN: Final = 200
_MAX_KIND: Final = 40

_Kind = Annotated[str, msgspec.Meta(max_length=_MAX_KIND)]
_Name = Annotated[str, msgspec.Meta(max_length=200)]


class AnswerShape(Value, frozen=True, omit_defaults=True):
    """The kinds that a value had: ``null``, ``number``, ``text``, ``date``, ``list``, ``mapping`` and others.

    Any kind fits if there are none. ``items`` is what lists held, or mappings without ``fields``; None if they were
    empty. ``fields`` are those of a mapping that the plan names.
    """

    kinds: Annotated[tuple[_Kind, ...], msgspec.Meta(max_length=_MAX_KINDS)] = ()
    items: AnswerShape | None = None
    fields: Annotated[dict[_Name, AnswerShape], msgspec.Meta(max_length=_MAX_FIELDS)] = {}


class ToolAnswers(Value, frozen=True, omit_defaults=True):
    """What one tool answered. ``errors`` are the names of its errors; None if the plan catches none."""

    shape: AnswerShape = AnswerShape()
    errors: Annotated[tuple[_Name, ...], msgspec.Meta(max_length=_MAX_KINDS)] | None = None


ToolAnswersByName: TypeAlias = Annotated[dict[_Name, ToolAnswers], msgspec.Meta(max_length=_MAX_FIELDS)]

_CATCHES = re.compile(r"\b(?:except|suppress|return_exceptions)\b")
_SIGNS_ALONE = re.compile(r"[\d\s.,:/+-]{1,100}")


def shapes_of(plan: str, calls: Iterable[AnsweredCall]) -> dict[str, ToolAnswers]:
    """The shapes of the answers that the plan got, by tool."""
    names = frozenset(re.findall(r"\w+", plan))
    catches = bool(_CATCHES.search(plan))
    found: dict[str, ToolAnswers] = {}
    for made in calls:
        one = _tool_answers(made.answer, plan, names, catches)
        known = found.get(made.call.name)
        found[made.call.name] = one if known is None else _merge_tool(known, one)
    return found


def merge_answers(one: Mapping[str, ToolAnswers], other: Mapping[str, ToolAnswers]) -> dict[str, ToolAnswers]:
    """The shapes of both: what fits one of them fits the result."""
    both = {name: _merge_tool(one[name], other[name]) for name in one.keys() & other.keys()}
    return {**one, **other, **both}


def find_drift(expected: Mapping[str, ToolAnswers]) -> Callable[[str, Answer], str]:
    """A function of a tool's name and its answer, which says how the answer differs; empty if it fits."""

    def compare(tool: str, answer: Answer) -> str:
        known = expected.get(tool)
        if known is None:
            return ""
        if answer.error:
            is_new = known.errors is not None and answer.error not in known.errors
            return f"{tool} raised {answer.error}, which the plan catches, and never met: {answer.message}" * is_new
        if not known.shape.kinds:
            return ""
        try:
            value = unpack(answer.value)
        except NotPlainData:
            return ""  # the plan gets an error
        difference = _difference(known.shape, value)
        return f"{tool} answers otherwise than when the plan was proven: {difference}" if difference else ""

    return compare


def _tool_answers(answer: Answer, plan: str, names: frozenset[str], catches: bool) -> ToolAnswers:
    errors = (answer.error,) if answer.error else ()
    try:
        shape = AnswerShape() if answer.error else _shape_of(unpack(answer.value), plan, names, 0)
    except NotPlainData:
        shape = AnswerShape()
    return ToolAnswers(shape, errors if catches else None)


def _shape_of(value: object, plan: str, names: frozenset[str], depth: int) -> AnswerShape:
    if depth >= _MAX_DEPTH:
        return AnswerShape()
    kinds = (_kind_of(value),)
    match value:
        case dict():
            named = {k: v for k, v in value.items() if isinstance(k, str) and _is_named(k, plan, names)}
            fields = {k: _shape_of(v, plan, names, depth + 1) for k, v in list(named.items())[:_MAX_FIELDS]}
            others = [_shape_of(v, plan, names, depth + 1) for v in value.values()] if not named else []
            return AnswerShape(kinds, _merge_all(others), fields)
        case list() | tuple() | set() | frozenset():
            return AnswerShape(kinds, _merge_all(_shape_of(v, plan, names, depth + 1) for v in value))
    return AnswerShape(kinds)


def _is_named(key: str, plan: str, names: frozenset[str]) -> bool:
    return len(key) <= _MAX_FIELDS and (key in names if re.fullmatch(r"\w+", key) else bool(key) and key in plan)


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return _kind_of_text(value)
        case dict():
            return "mapping"
        case list() | tuple() | set() | frozenset():
            return "list"
    return type(value).__name__[:_MAX_KIND]


def _kind_of_text(text: str) -> str:
    """Texts of digits and signs alone have a kind for each pattern: a date in another form is one of another kind."""
    if is_date(text):
        return "date"
    if any(c.isdigit() for c in text) and _SIGNS_ALONE.fullmatch(text):
        return re.sub(r"\d+", "9", text)[:_MAX_KIND]
    return "text"


def _merge_all(shapes: Iterable[AnswerShape]) -> AnswerShape | None:
    merged: AnswerShape | None = None
    for shape in shapes:
        merged = shape if merged is None else _merge(merged, shape)
    return merged


def _merge(one: AnswerShape, other: AnswerShape) -> AnswerShape:
    kinds = tuple(dict.fromkeys([*one.kinds, *other.kinds]))
    is_any = len(kinds) > _MAX_KINDS or not (one.kinds and other.kinds)
    if is_any:
        return AnswerShape()
    items = _merge_all(i for i in (one.items, other.items) if i is not None)
    if not ("mapping" in one.kinds and "mapping" in other.kinds):
        return AnswerShape(kinds, items, one.fields or other.fields)
    both = one.fields.keys() & other.fields.keys()  # a field that is not always there may be missing
    fields = {k: _merge(one.fields[k], other.fields[k]) for k in both}
    return AnswerShape(kinds, AnswerShape() if one.fields.keys() ^ other.fields.keys() else items, fields)


def _merge_tool(one: ToolAnswers, other: ToolAnswers) -> ToolAnswers:
    errors = None if one.errors is None or other.errors is None else tuple({*one.errors, *other.errors})[:_MAX_KINDS]
    if not (one.shape.kinds and other.shape.kinds):  # one of them has errors alone
        return ToolAnswers(one.shape if one.shape.kinds else other.shape, errors)
    return ToolAnswers(_merge(one.shape, other.shape), errors)


def _difference(shape: AnswerShape, value: Any, where: str = "") -> str:
    """How the value differs, as a clause; empty if it fits."""
    if not shape.kinds:
        return ""
    kind = _kind_of(value)
    if kind not in shape.kinds:
        then = " or ".join(map(_in_words, shape.kinds))
        return f"{where or 'it'} is {_in_words(kind)}, {value_text(value, _MAX_SHOWN)}, and was {then}"
    if isinstance(value, dict):
        if missing := [key for key in shape.fields if key not in value]:
            now = ", ".join(in_quotes(k, 60) for k in list(value)[:20])
            return f"{where or 'it'} has no field {in_quotes(missing[0], 60)}; its fields are {now or 'none'}"
        inner = [(known, value[key], f"{where}[{in_quotes(key, 60)}]") for key, known in shape.fields.items()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = []
    else:
        return ""
    if shape.items is not None and not shape.fields:
        inner += [(shape.items, v, f"{where}[…]") for v in (value.values() if isinstance(value, dict) else value)]
    return next((d for known, v, place in inner if (d := _difference(known, v, place))), "")


def _in_words(kind: str) -> str:
    words = {"null": "None", "bool": "a bool", "9": "a text of digits", "date": "a date as in 2026-03-01"}
    return words.get(kind) or (f"a text as in {in_quotes(kind)}" if "9" in kind else f"a {kind}")
