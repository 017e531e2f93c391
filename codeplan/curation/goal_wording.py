"""How a skill's goal is said: which words of it say the plan's values, and the one question for further words.

A rule finds the words that say a value by a built-in conversion (``skills.value_forms``). The model that is asked for
phrases may also name words for the other values. Its reply may be anybody's: a value counts only if its words stand in
the goal once and a conversion makes the plan's own value of them, or if a table names both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import count, islice
from typing import Annotated, NamedTuple, TypeAlias

import msgspec

from codeplan.curation.curation_runner import CurationRunner
from codeplan.errors import SandboxError, UsageError
from codeplan.planning.asking import load_prompts, render_messages
from codeplan.recording.events import Event
from codeplan.sandbox import Sandbox
from codeplan.skills.goal_values import LIMITS, find_value, is_same_sort
from codeplan.skills.goal_words import begins_sentence, tokenize
from codeplan.skills.parameter_binding import (
    MAX_GOAL,
    SkillParameterValue,
    is_date,
    read_parameters,
    without_parameters,
)
from codeplan.skills.phrases import asked_phrase, placed_phrase
from codeplan.skills.skill import Skill
from codeplan.skills.value_forms import (
    MAX_FORM_TOKENS,
    MAX_FORM_WORDS,
    MAX_FORMS,
    MAX_TABLE,
    MAX_TABLE_TEXT,
    FormTable,
    SaidValue,
    TableValue,
    ValueForm,
    find_forms,
    find_spoken,
    find_words,
    says_own_value,
    table_key,
)
from codeplan.types import Completion

MAX_CONSTANTS = 12
_MAX_LOOKED_AT = 60
_MAX_RECORDS = 20_000
_MAX_TEXT = 100
_MIN_NUMBER = 10
"""Smaller numbers are common in plans and as words of goals, without meaning one another."""


class PlanConstant(NamedTuple):
    """A value of a plan that is no parameter yet, or one whose place in the goal no rule finds, by its name."""

    name: str
    value: str | int | float


def day_of(events: Sequence[Event]) -> date | None:
    """The day on which an episode began, here; None if its trace does not say."""
    try:
        return date.fromtimestamp(events[0].at) if events and events[0].at > 0 else None
    except (OverflowError, ValueError, OSError):
        return None


def find_constants(plan: str, sandbox: Sandbox) -> list[str | int | float]:
    """The texts and numbers that a plan hands on or compares, each once, without those for readers and field names."""
    try:
        literals = sandbox.analyse("literals", plan)
    except (SandboxError, UsageError):
        return []
    found: dict[tuple[type, str], str | int | float] = {}
    lines = plan.split("\n")
    for each in literals if isinstance(literals, list) else ():
        value, line = each["value"], lines[each["line"] - 1].lstrip()
        if each["docstring"] or each["f_string"] or each["kind"] not in ("str", "int", "float") or value is None:
            continue
        if isinstance(value, str):
            before, after = plan[: each["start"]], plan[each["end"] :]
            is_message = line.startswith("assert ") and before.endswith(", ") and after[:1] in ("", "\n")
            if is_message or line.startswith("print(") or _is_field(before) or not 2 <= len(value) <= _MAX_TEXT:
                continue
        elif value in (0, 1):
            continue
        found.setdefault(identity(value), value)
    return list(found.values())


def _is_field(before: str) -> bool:
    """Whether a text stands where a field's name does, as in ``row["price"]`` and ``row.get("price")``."""
    return bool(re.search(r"(?:[\w)\]]\[|\.(?:get|pop|setdefault)\()\s*\Z", before[-200:]))


def find_said(plan: str, goal: str, day: date | None, sandbox: Sandbox) -> list[SaidValue]:
    """How the goal says values of the plan by a built-in conversion; none that it has as they are."""
    if len(goal) > MAX_GOAL:
        return []
    values = find_constants(plan, sandbox)[:_MAX_LOOKED_AT]
    tokens = tokenize(goal)
    unsaid = [v for v in values if next(find_value(v, tokens), None) is None or _is_number_word(v, goal)]
    certain = [v for v in unsaid if isinstance(v, str) or v >= _MIN_NUMBER]
    texts = {v for v in values if isinstance(v, str)}
    return [s for s in find_forms(certain, goal, day) if s.form.words not in texts]


def _is_number_word(value: object, goal: str) -> bool:
    return isinstance(value, int | float) and str(value) not in {t.text for t in tokenize(goal)}


def without_overlaps(said: Iterable[SaidValue]) -> list[SaidValue]:
    """The first of those whose words are partly the same."""
    kept: list[SaidValue] = []
    for each in said:
        if not any(each.start < other.end and other.start < each.end for other in kept):
            kept.append(each)
    return kept[:MAX_FORMS]


def with_forms(skill: Skill, said: Iterable[SaidValue]) -> Skill:
    """The skill with the forms of its parameters. A number's word needs none: it is a number in any goal."""
    names = {identity(p.value): p.name for p in read_parameters(skill.plan).parameters}
    forms: list[ValueForm] = []
    for each in said:
        name = names.get(identity(each.value))
        if name and (each.form.table or isinstance(each.value, str)):
            forms.append(msgspec.structs.replace(each.form, name=name))
    return msgspec.structs.replace(skill, forms=tuple(forms))


# ------------------------------------------------------------------ the question


def open_constants(skill: Skill, sandbox: Sandbox) -> list[PlanConstant]:
    """The values of a skill's plan of which no rule knows whether the goal says them."""
    parameters = read_parameters(skill.plan).parameters
    placed = placed_phrase(skill)
    unplaced = [p for p in parameters if f"{{{p.name}}}" not in placed and isinstance(p.value, str | int | float)]
    own = {identity(p.value) for p in parameters}
    free = _free_names(skill.plan)
    others = (v for v in find_constants(without_parameters(skill.plan), sandbox) if identity(v) not in own)
    found = [PlanConstant(p.name, p.value) for p in unplaced if not isinstance(p.value, list)]
    return [*found, *(PlanConstant(next(free), value) for value in others)][:MAX_CONSTANTS]


def _free_names(plan: str) -> Iterator[str]:
    words = frozenset(re.findall(r"\w+", plan))
    return (name for i in count(1) if (name := "the_value" if i == 1 else f"the_value_{i}") not in words)


def ask_wording(skill: Skill, constants: Sequence[PlanConstant], runner: CurationRunner) -> Completion:
    """Ask the model how else people say the goal of a skill over tools, and which words of it say the constants.

    Raises: UsageError: there is nothing to ask, or the model cannot be reached. ModelError: as ``LLM.complete``.
    """
    phrase = asked_phrase(skill)
    if not constants and not (skill.parameters and phrase):
        raise UsageError(UNPLACED)
    if runner.model == "scripted":
        raise UsageError("the stand-in knows no other words")
    phrase = phrase or placed_phrase(skill)
    called = [f"{t.method.name}{t.method.signature}" for t in skill.tools]
    parameters = [p for p in read_parameters(skill.plan).parameters if f"{{{p.name}}}" in phrase]
    values = {"goal": phrase, "parameters": parameters, "constants": constants, "called": called}
    messages = render_messages(load_prompts(None, "adaplanner"), "adaplanner/phrases", **values)
    return runner.ask(messages)


UNPLACED = "its goal does not show, once each, where the values of its parameters stand"

_Table = Annotated[dict[str, TableValue], msgspec.Meta(max_length=MAX_TABLE)]
_Claim: TypeAlias = str | _Table


class _ValuesReply(msgspec.Struct):
    values: Annotated[dict[str, _Claim], msgspec.Meta(max_length=MAX_CONSTANTS)] = {}


def read_said(
    reply: str, constants: Collection[PlanConstant], goal: str, day: date | None, answers: Iterable[object]
) -> dict[str, SaidValue]:
    """What a model's reply, a JSON object, says of the words for constants, by their names, as far as a rule agrees.

    ``answers`` are those of the tools: a table that they contradict counts for nothing.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        claims = msgspec.json.decode(reply[start : end + 1].encode("utf-8", "replace"), type=_ValuesReply).values
    except (msgspec.DecodeError, RecursionError):
        return {}
    named = {c.name: c.value for c in constants}
    read = {n: _read_claim(claim, named[n], goal, day) for n, claim in claims.items() if n in named}
    records = list(islice(_records(answers), _MAX_RECORDS))
    kept = without_overlaps(said for said in read.values() if said and not _is_contradicted(said.form.table, records))
    return {name: said for name, said in read.items() if said and said in kept}


def _read_claim(claim: _Claim, value: str | int | float, goal: str, day: date | None) -> SaidValue | None:
    table = _usable_table(claim, value) if isinstance(claim, dict) else ()
    words = claim if isinstance(claim, str) else next((w for w, v in table if v == value), "")
    places = list(find_words(words, tokenize(goal))) if len(words) <= MAX_FORM_WORDS else []
    if len(places) != 1 or len(places[0]) > MAX_FORM_TOKENS:
        return None
    if begins_sentence(places[0][0], goal) and not is_date(value):
        return None  # it may be the verb
    start, end = places[0][0].start, places[0][-1].end
    said_on = day.isoformat() if day and is_date(value) and not table else ""
    form = ValueForm("", goal[start:end], said_on, table)
    return SaidValue(value, form, start, end) if says_own_value(form, value) else None


def _records(answers: Iterable[object]) -> Iterator[frozenset[str]]:
    """The texts that stand together in the tools' answers: in a mapping, or as a key with its value."""
    waiting = list(answers)
    while waiting:
        there = waiting.pop()
        if isinstance(there, dict):
            yield frozenset(str(v).casefold() for v in there.values() if isinstance(v, str | int | float))
            yield from (
                frozenset({str(k).casefold(), str(v).casefold()})
                for k, v in there.items()
                if isinstance(v, str | int | float)
            )
            waiting += there.values()
        elif isinstance(there, list | tuple):
            waiting += there


def _is_contradicted(table: FormTable, records: Sequence[frozenset[str]]) -> bool:
    """Whether the tools know the words and the value of a pair, and not together: *checking* is another account."""
    for words, value in table:
        pair = (words.casefold(), str(value).casefold())
        known = [[text in record for text in pair] for record in records]
        if all(any(there) for there in zip(*known, strict=True)) and known and not any(map(all, known)):
            return True
    return False


def _usable_table(pairs: Mapping[str, TableValue], own: str | int | float) -> FormTable:
    """Those pairs whose words limit nothing and name one value, which has the sort of the plan's own."""
    kept: dict[tuple[str, ...], tuple[str, TableValue]] = {}
    twice: set[tuple[str, ...]] = set()
    for words, value in pairs.items():
        key = table_key(words)
        if not 0 < len(key) <= MAX_FORM_TOKENS or len(words) > MAX_FORM_WORDS or not LIMITS.isdisjoint(key):
            continue
        if type(value) is not type(own) or (isinstance(value, str) and not _is_like(value, str(own))):
            continue
        if key in kept and kept[key][1] != value:
            twice.add(key)
        kept.setdefault(key, (words, value))
    return tuple(pair for key, pair in kept.items() if key not in twice)


def _is_like(text: str, own: str) -> bool:
    return text.isprintable() and 0 < len(text) <= MAX_TABLE_TEXT and is_same_sort(text, own)


def names_in_reply(asked: Skill, taught: Skill, said: Mapping[str, SaidValue]) -> dict[str, str]:
    """The names that the question gave the values, each with the name of the parameter that now has it."""
    now = {identity(p.value): p.name for p in read_parameters(taught.plan).parameters}
    asked_for = {p.name: p.value for p in read_parameters(asked.plan).parameters}
    asked_for |= {name: each.value for name, each in said.items()}
    return {name: now[identity(value)] for name, value in asked_for.items() if identity(value) in now}


def identity(value: SkillParameterValue) -> tuple[type, str]:
    """What tells values apart: 1, 1.0 and the text 1 are three."""
    return type(value), str(value)


def restate_forms(skill: Skill, plan: str, day: date | None) -> tuple[ValueForm, ...]:
    """The skill's forms for a plan with another goal and other values: with the words of that goal.

    A form of which the goal does not show the words is left out.
    """
    block, forms = read_parameters(plan), []
    before = {p.name: p.value for p in read_parameters(skill.plan).parameters}
    now = {p.name: p.value for p in block.parameters}
    for form in skill.forms:
        own, value = before.get(form.name), now.get(form.name)
        if own is None or value is None or day is None:
            continue
        places = list(find_spoken(form, own, value, block.goal, day))
        if len(places) == 1:
            words = block.goal[places[0][0].start : places[0][-1].end]
            said_on = day.isoformat() if form.day else ""
            forms.append(msgspec.structs.replace(form, words=words, day=said_on))
    return tuple(forms)
