"""Values that a goal says in other words than the plan: *next Friday*, *apples* for apple, *Berlin* for DE-BE.

A form belongs to a parameter and has the words of the skill's own goal. Words of another goal stand for a value only by
a built-in conversion that turns the own words into the plan's own value, or by a table that names them. Where several
conversions do so and would turn the new words into different values, none of them counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec

from codeplan.skills.goal_words import (
    ARTICLES,
    MARKS,
    NUMBER_WORDS,
    GoalToken,
    begins_sentence,
    stem,
    tokenize,
    words_of,
)
from codeplan.skills.parameter_binding import SkillParameterValue, is_date
from codeplan.types import Value

MAX_FORM_WORDS: Final = 100
"""Maximum length of the words that say a value, in characters."""

MAX_TABLE: Final = 100
MAX_TABLE_TEXT: Final = 200
MAX_FORMS: Final = 40
MAX_FORM_TOKENS: Final = 6
"""Maximum number of words that say a value."""

_Words = Annotated[str, msgspec.Meta(max_length=MAX_FORM_WORDS)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_TABLE_TEXT)]
TableValue: TypeAlias = _Text | int | float
FormTable: TypeAlias = Annotated[tuple[tuple[_Words, TableValue], ...], msgspec.Meta(max_length=MAX_TABLE)]


class ValueForm(Value, frozen=True, omit_defaults=True):
    """How goals say the parameter ``name``: the own goal says it as ``words``, on ``day`` (2026-03-01).

    With a ``table`` of words and values, only its words stand for a value.
    """

    name: Annotated[str, msgspec.Meta(max_length=80)]
    words: _Words
    day: Annotated[str, msgspec.Meta(max_length=10)] = ""
    table: FormTable = ()


def convert(form: ValueForm, own: SkillParameterValue, words: str, today: date) -> SkillParameterValue | None:
    """The value that these words say today, as the form's words say the plan's ``own`` one; None if no rule is sure."""
    if form.table:
        return _look_up(form.table, words)
    if is_date(own):
        return _shown_day(form, str(own), words, today)
    if not isinstance(own, str):
        return NUMBER_WORDS.get(words.casefold())
    changed = {change(words) for change in _CHANGES if change(form.words) == own}
    return changed.pop() if len(changed) == 1 else None


def says_own_value(form: ValueForm, own: SkillParameterValue) -> bool:
    """Whether the form's words say the plan's own value by its rule."""
    day = date.fromisoformat(form.day) if is_date(form.day) else None
    return (day is not None or not is_date(own)) and convert(form, own, form.words, day or date.min) == own


# ------------------------------------------------------------------ capitals and plurals

_NO_PLURALS = words_of(
    """
    afterwards always besides bus clippers earnings gas goods grounds headquarters hers his its jeans lens lots means
    minutes news odds ours outskirts pants perhaps pliers plus premises remains savings scissors shorts surroundings
    thanks theirs thus tights tongs trousers yes yours
    """
)
"""Words that end as plurals do, and have no singular, or mean something else in it."""


def _lower(words: str) -> str | None:
    """*Apples* as apples; None for words such as iPhone, which have other capitals than their first letters."""
    plain = re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+){0,3}", words)
    return words.casefold() if plain and all(w[1:] == w[1:].casefold() for w in words.split(" ")) else None


def _singular(words: str) -> str | None:
    """*green apples* as green apple; None where the singular is not the word without its s, or not surely."""
    *_, last = words.split(" ")
    if last in _NO_PLURALS or not re.fullmatch(r"[a-z]{2,40}s", last) or re.search(_UNSURE_PLURAL, last):
        return None
    return words[:-1]


_UNSURE_PLURAL = r"(?:[sauicxzo]|[sxzohvi]e)s$"


def _lower_singular(words: str) -> str | None:
    lower = _lower(words)
    return _singular(lower) if lower is not None else None


_CHANGES: tuple[Callable[[str], str | None], ...] = (_lower, _singular, _lower_singular)


# ------------------------------------------------------------------ tables


def _look_up(table: FormTable, words: str) -> TableValue | None:
    wanted = table_key(words)
    return next((value for key, value in table if table_key(key) == wanted), None)


def table_key(words: str) -> tuple[str, ...]:
    """The words of a table's key, as they are compared."""
    return tuple(stem(t.text) for t in tokenize(words) if t.text.casefold() not in ARTICLES)


# ------------------------------------------------------------------ days

_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAYS = {name: number for number, name in enumerate(_WEEK)}
_NEAR_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1, "day after tomorrow": 2, "day before yesterday": -2}
_AHEAD = re.compile(r"(?:in )?(\S{1,20}) (days?|weeks?)( from (?:now|today))?")


def find_days(words: str, today: date) -> dict[str, date]:
    """The days that these words may mean today, by reading: people differ about *next Friday*, where the weeks begin on
    Monday or on Sunday, or where it is the Friday to come.
    """
    text = " ".join(t.text for t in tokenize(words.casefold()) if t.text not in ARTICLES)
    kind, _, name = text.rpartition(" ")
    try:
        if name in _WEEKDAYS and kind in ("", "this", "coming", "this coming", "next"):
            return {r: today + timedelta(n) for r, n in _days_ahead(kind, _WEEKDAYS[name], today.weekday()).items()}
        days = _NEAR_DAYS.get(text, _days_from_now(text))
        return {} if days is None else {"": today + timedelta(days)}
    except OverflowError:
        return {}


def _days_ahead(kind: str, wanted: int, now: int) -> dict[str, int]:
    """How many days ahead a weekday is. Today's own name may mean today as well, so it means nothing."""
    coming = (wanted - now) % 7
    if kind != "next":
        return {"": coming} if coming else {}
    sunday = 7 - (now + 1) % 7 + (wanted + 1) % 7
    return {"coming": coming or 7, "monday": 7 - now + wanted, "sunday": sunday}


def _days_from_now(text: str) -> int | None:
    """The number of days in *in two weeks* or *10 days from now*."""
    found = _AHEAD.fullmatch(text)
    if found is None or not (text.startswith("in ") or found[3]):
        return None
    count = NUMBER_WORDS.get(found[1], 1 if found[1] == "one" else None)
    if count is None:
        count = int(found[1]) if re.fullmatch(r"[1-9][0-9]{0,3}", found[1]) else None
    return None if count is None else count * (7 if found[2].startswith("week") else 1)


def _shown_day(form: ValueForm, own: str, words: str, today: date) -> str | None:
    """The day, by those readings that the own goal does not rule out."""
    then = find_days(form.words, date.fromisoformat(form.day)) if is_date(form.day) else {}
    shown = {reading for reading, day in then.items() if day.isoformat() == own}
    if not shown:
        return None
    ruled_out = then.keys() - shown
    days = {day for reading, day in find_days(words, today).items() if reading not in ruled_out}
    return days.pop().isoformat() if len(days) == 1 else None


_RELATIVE_DAYS = frozenset(_WEEKDAYS) | {
    "today",
    "tonight",
    "tomorrow",
    "yesterday",
    "week",
    "month",
    "year",
    "weekend",
}
_ISO_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", re.ASCII)


def keeps_a_day(plan: str, goal: str) -> bool:
    """Whether the plan, without its parameters, has a date, and the goal a word such as *tomorrow* that may mean it."""
    return bool(_ISO_DATE.search(plan)) and any(stem(t.text) in _RELATIVE_DAYS for t in tokenize(goal))


# ------------------------------------------------------------------ where a goal says a value


class SaidValue(NamedTuple):
    """A value of a plan, how the goal says it, and where, as offsets in the goal."""

    value: SkillParameterValue
    form: ValueForm
    start: int
    end: int


def find_words(words: str, tokens: Sequence[GoalToken]) -> Iterator[Sequence[GoalToken]]:
    """Where these words stand among the tokens."""
    wanted = [t.text.casefold() for t in tokenize(words)]
    for i in range(len(tokens) if wanted else 0):
        if [t.text.casefold() for t in tokens[i : i + len(wanted)]] == wanted:
            yield tokens[i : i + len(wanted)]


def find_spoken(
    form: ValueForm, own: SkillParameterValue, value: SkillParameterValue, goal: str, today: date
) -> Iterator[Sequence[GoalToken]]:
    """Where the goal says a value today, the longest words first, none within others."""
    tokens = tokenize(goal)
    end = 0
    for i in range(len(tokens)):
        for size in range(MAX_FORM_TOKENS, 0, -1):
            span = tokens[i : i + size]
            if i < end or len(span) < size or not MARKS.isdisjoint(t.text for t in span):
                continue
            if convert(form, own, goal[span[0].start : span[-1].end], today) == value:
                end = i + size
                yield span
                break


def find_forms(values: Collection[SkillParameterValue], goal: str, day: date | None) -> list[SaidValue]:
    """How the goal says values of a plan by a built-in conversion: each once, and no words say two of them.

    Words that are a value themselves say no other: a plan with *apple* and *apples* has them from one word.
    """
    texts = {value for value in values if isinstance(value, str)}
    found: list[SaidValue] = []
    for value in values:
        places = [p for size in range(MAX_FORM_TOKENS, 0, -1) for p in _says(value, goal, day, size)]
        longest = [p for p in places if not any(_is_within(p, other) for other in places)]
        if len(longest) == 1 and longest[0].form.words not in texts:
            found.append(longest[0])
    return [s for s in found if not any(s is not o and s.start < o.end and o.start < s.end for o in found)]


def _is_within(one: SaidValue, other: SaidValue) -> bool:
    return other.start <= one.start and one.end <= other.end and one is not other


def _says(value: SkillParameterValue, goal: str, day: date | None, size: int) -> Iterator[SaidValue]:
    tokens = tokenize(goal)
    for i in range(len(tokens) - size + 1):
        start, end = tokens[i].start, tokens[i + size - 1].end
        is_verb = begins_sentence(tokens[i], goal) and not is_date(value)
        if end - start > MAX_FORM_WORDS or tokens[i].text.casefold() in ARTICLES or is_verb:
            continue
        form = ValueForm("", goal[start:end], day.isoformat() if day and is_date(value) else "")
        if says_own_value(form, value):
            yield SaidValue(value, form, start, end)


def restate(goal: str, said: Iterable[SaidValue]) -> str:
    """The goal with the plan's values in place of the words that say them."""
    for each in sorted(said, key=lambda s: -s.start):
        goal = f"{goal[: each.start]}{each.value}{goal[each.end :]}"
    return goal
