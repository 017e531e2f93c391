"""Values in a goal: where the plan's own values stand in it, and what may stand in their places in another goal."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

from codeplan.skills.goal_words import (
    ARTICLES,
    FILLERS,
    MARKS,
    NUMBER_WORDS,
    POSSESSIVES,
    GoalPart,
    GoalToken,
    begins_sentence,
    stem,
    tokenize,
    words_of,
)
from codeplan.skills.parameter_binding import (
    MAX_GOAL,
    ParameterBlock,
    SkillParameter,
    SkillParameterValue,
    is_date,
    without_parameters,
)
from codeplan.skills.patterns import Binding
from codeplan.skills.tool_names import MAX_NAME_TOKENS, ListedNames
from codeplan.skills.value_forms import MAX_FORM_TOKENS, ValueForm, convert, table_key

LIMITS = words_of(
    """
    all also although and another any anybody anyone anything as at because before both but by each either else
    every everybody everyone everything except few first for from half he her here hers him his how i if in
    instead into it its last least less many me mine more most much neither never next no nobody none nor not
    nothing of off on once one only or other others out over per plus previous same she some somebody someone
    something than that their them then there these they this those to today tomorrow twice under unless until
    up us via we what whatever when where which who whom whose with without yesterday you
    """
)
"""Words that say more about a goal than a value does: one in a value's place makes it another goal."""

_NO_NAMES = words_of("asap urgent urgently monday tuesday wednesday thursday friday saturday sunday tonight")
"""Words with a capital that name nothing that a plan is about."""


_FUNCTION_WORDS = LIMITS | words_of(
    """
    about across after against along and are around be behind below beside between by can down during has have in
    inside is like must near need needs onto out outside past should since so through till toward until was were
    while will within
    """
)
"""Words that a noun does not go on with: one before them is the last of its name."""


def find_value(value: SkillParameterValue, tokens: Sequence[GoalToken]) -> Iterator[Sequence[GoalToken]]:
    """Where the value stands among the tokens, in quotes or without."""
    if isinstance(value, list):
        yield from _find_list(value, tokens)
        return
    if isinstance(value, int | float):
        yield from _find_number(value, tokens)
        return
    words = [t.text for t in tokenize(value.removesuffix("/") if is_path(value) else value)]
    if is_date(value):
        yield from _find_date(value, tokens)
        return
    for i in range(len(tokens) if words else 0):
        if [t.text for t in tokens[i : i + len(words)]] == words:
            yield tokens[i : i + len(words)]
        elif _is_quoted(tokens[i].text) and tokens[i].text[1:-1] == value:
            yield tokens[i : i + 1]


def _find_number(value: float, tokens: Sequence[GoalToken]) -> Iterator[Sequence[GoalToken]]:
    """Where a number stands, in digits or as a word."""
    for i, token in enumerate(tokens):
        if token.text == str(value) or NUMBER_WORDS.get(token.text.casefold()) == value:
            yield tokens[i : i + 1]


def _find_date(value: str, tokens: Sequence[GoalToken]) -> Iterator[Sequence[GoalToken]]:
    """Where a date stands, in any form of which it is certain."""
    end = 0
    for i in range(len(tokens)):
        for size in range(6, 0, -1):
            words = tokens[i : i + size]
            if i >= end and len(words) == size and words[-1].text not in MARKS and _read_date(_spelled(words)) == value:
                end = i + size
                yield words
                break


def _spelled(tokens: Sequence[GoalToken]) -> str:
    return " ".join(t.text for t in tokens).replace(" ,", ",")


def _find_list(values: Sequence[str | int | float], tokens: Sequence[GoalToken]) -> Iterator[Sequence[GoalToken]]:
    """Where all values of a list stand, one after the other."""
    for start in range(len(tokens) if values else 0):
        at = start
        for i, value in enumerate(values):
            while i and at < len(tokens) and tokens[at].text in _JOINTS:
                at += 1
            size = next((len(p) for p in find_value(value, tokens[at:]) if p[0] is tokens[at]), 0)
            at += size or len(tokens)
        if at <= len(tokens) and _split_list(tokens[start:at]):
            yield tokens[start:at]


_JOINTS = frozenset({",", "and", "&"})
_JOINED = (",", "and"), (",",), ("and",), ("&",)


def _split_list(tokens: Sequence[GoalToken]) -> list[Sequence[GoalToken]]:
    """The tokens of each value of an enumeration; none if they are no enumeration."""
    parts: list[list[GoalToken]] = [[]]
    joint: list[str] = []
    for token in [*tokens, GoalToken("", 0, 0, 0)]:
        if token.text in _JOINTS:
            joint.append(token.text)
            continue
        if joint and tuple(joint) not in _JOINED:
            return []
        if joint:
            parts.append([])
            joint = []
        parts[-1].append(token)
    parts[-1].pop()
    return list(parts) if all(parts) else []


def _is_quoted(word: str) -> bool:
    return len(word) > 1 and word[0] in '"“'


def leaves_values(plan: str, parameters: Sequence[SkillParameter]) -> bool:
    """Whether the plan also has a text of its parameters elsewhere: its other values may belong to it.

    A number is a parameter only if the plan has it nowhere else. What is printed may name the values of a list. A text
    that differs in capitals or in its plural alone, *apple* beside *apples*, is the same thing.
    """
    lists = any(isinstance(p.value, list) for p in parameters)
    rest = without_parameters(plan)
    words = re.findall(r"\w+", _PRINTED.sub("", rest) if lists else rest)
    quoted = {table_key(text[1:-1]) for text in _QUOTED.findall(_PRINTED.sub("", rest)) if len(text) <= MAX_GOAL}
    places: dict[str, list[int]] = {}
    for i, word in enumerate(words):
        places.setdefault(word, []).append(i)
    for p in parameters:
        for value in p.value if isinstance(p.value, list) else [p.value]:
            if isinstance(value, str) and table_key(value) in quoted:
                return True
            if isinstance(value, str) and re.fullmatch(r"\w+(?:[^\w\s]\w+)+", value):  # its signs tell it from names
                if value in rest:
                    return True
                continue
            own = [] if isinstance(value, int | float) else re.findall(r"\w+", value)
            if any(own == words[i : i + len(own)] for i in (places.get(own[0], []) if own else [])):
                return True
    return False


_PRINTED = re.compile(r"^ *(?:print\(.*|#.*)$", re.MULTILINE)
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_MAX_LIST_TOKENS = 60
_MAX_PATH_TOKENS = 26
_PATH = re.compile(r"~?(?:/(?!\.{1,2}(?:/|$))[\w.@+-]{1,100}){1,12}/?")


def is_path(value: object) -> bool:
    """Whether it is the path of a folder or a file, from the root or from home."""
    return isinstance(value, str) and bool(_PATH.fullmatch(value))


def value_sizes(value: SkillParameterValue) -> range:
    """How many tokens a value may have that stands for this one."""
    if isinstance(value, list):
        return range(1, _MAX_LIST_TOKENS)
    if is_date(value):
        return range(1, 7)
    if is_path(value):
        return range(2, _MAX_PATH_TOKENS)
    own = len(tokenize(str(value)))
    return range(1, 2) if not isinstance(value, str) else range(1, max(4, own) + 1)


class OwnValue(NamedTuple):
    """A parameter's value in the plan. Words without capitals, digits and signs may be part of what is asked for, such
    as *as viewer* or *a monthly order*: they are ``fixed``, unless they name a thing, as a plural or behind an article,
    and no further noun follows. A ``single`` thing, *the warehouse*, has no name of its own in its place. ``form`` is
    how goals say it, if that is in other words, and ``today`` the day on which they do. ``listed`` asks a tool for the
    names that may stand in its place, and no other.
    """

    value: SkillParameterValue
    fixed: bool = False
    single: bool = False
    form: ValueForm | None = None
    today: date = date.min
    listed: Callable[[], ListedNames] | None = None


def own_value(value: SkillParameterValue, goal: str, form: ValueForm | None = None, today: date = date.min) -> OwnValue:
    """The plan's value, which the goal says in its words or in those of the form."""
    if form is not None:
        is_name = isinstance(value, str) and not is_date(value) and not form.table
        said = own_value(form.words, goal) if is_name else OwnValue(value)
        return said._replace(value=value, form=form, today=today)
    tokens = tokenize(goal)
    place = next(find_value(value, tokens), None) if isinstance(value, str) and _is_plain(value) else None
    if place is None or _read_quoted(place, goal):
        return OwnValue(value)
    is_single = stem(place[-1].text) == place[-1].text.casefold()
    is_relation = is_single and goal[place[-1].end :].split()[:1] == ["of"]  # a duplicate of
    if is_relation or not (_is_thing(place, goal) and _is_last_noun(place, goal)):
        return OwnValue(value, fixed=True)
    return OwnValue(value, single=is_single)


def free_parameters(block: ParameterBlock, forms: Mapping[str, ValueForm]) -> tuple[str, ...]:
    """The names of the parameters that may have another value by rule; all, if that is none of them."""
    free = tuple(p.name for p in block.parameters if not own_value(p.value, block.goal, forms.get(p.name)).fixed)
    return free or tuple(p.name for p in block.parameters)


def find_led(block: ParameterBlock) -> frozenset[str]:
    """The names of numbers that have a word such as *to* before them in the goal, and none behind them."""
    tokens = tokenize(block.goal)
    led: set[str] = set()
    for p in block.parameters if len(block.goal) <= MAX_GOAL else ():
        place = next(find_value(p.value, tokens), None) if isinstance(p.value, int | float) else None
        if place and place[0].number:
            before, after = tokens[place[0].number - 1].text.casefold(), tokens[place[-1].number + 1 :][:1]
            if before in _FUNCTION_WORDS and (not after or not after[0].text.isalpha() or after[0].text in _JOINED_BY):
                led.add(p.name)
    return frozenset(led)


_JOINED_BY = frozenset({"and", "then", "or", "for", "in", "on", "at", "from", "to", "by", "with", "of"})


def _is_plain(text: str) -> bool:
    return text == text.casefold() and text.replace(" ", "").isalpha()


def _is_thing(span: Sequence[GoalToken], goal: str) -> bool:
    """Whether the words are a plural, or stand behind an article."""
    last = span[-1].text
    return stem(last) != last.casefold() or _has_article(span[0], goal)


def _has_article(first: GoalToken, goal: str) -> bool:
    before = tokenize(goal[: first.start])
    return bool(before) and before[-1].text.casefold() in ARTICLES


def _is_last_noun(span: Sequence[GoalToken], goal: str) -> bool:
    after = next(iter(tokenize(goal[span[-1].end :])), None)
    return after is None or not after.text[0].isalpha() or after.text.casefold() in _FUNCTION_WORDS | FILLERS


def find_spans(own: OwnValue, parts: Sequence[GoalPart], goal: str, known: Collection[str]) -> list[list[int]]:
    """For each part, where a value that begins there and may stand for this one ends.

    A word of ``known`` that begins a sentence has its capital from there, and is no name.
    """
    return [
        [
            at + size
            for size in _sizes(own)
            if at + size <= len(parts)
            and not (begins_sentence(part.tokens[0], goal) and part.word in known)
            and _may_be_value(own, parts[at : at + size], goal)
        ]
        for at, part in enumerate(parts)
    ]


def _sizes(own: OwnValue) -> range:
    if own.listed is not None:
        return range(1, MAX_NAME_TOKENS + 1)
    return value_sizes(own.value) if own.form is None else range(1, MAX_FORM_TOKENS + 1)


def _may_be_value(own: OwnValue, parts: Sequence[GoalPart], goal: str) -> bool:
    """Whether a value may stand there. No tool is called for that."""
    if own.listed is not None:
        return bool(_words_of_name([token for part in parts for token in part.tokens], goal))
    return read_value(own, parts, goal) is not None


def _words_of_name(span: Sequence[GoalToken], goal: str) -> list[str]:
    """The words between which nothing else stands, and none of which says more about the goal; empty if one does."""
    words = [t.text for t in span]
    if _is_quoted(words[0]) and len(words) == 1:
        return words
    apart = span[-1].number - span[0].number != len(span) - 1 or _belongs_to_more(goal, span[0])
    return [] if apart or any(_limits(word) for word in words) else words


def _limits(word: str) -> bool:
    """Whether a word says more about a goal, as an adverb does: *the pears weekly*."""
    known = word.casefold()
    is_adverb = word == known and (known.endswith("ly") or known in _ADVERBS)
    return is_adverb or word in _FUNCTION_WORDS or known in _NO_NAMES or known in LIMITS or known in MARKS


_ADVERBS = words_of("again always fast instantly later never now often soon straightaway then too well")


def _read_listed(names: ListedNames, span: Sequence[GoalToken], goal: str) -> str | None:
    """The only name that the words say."""
    words = _words_of_name(span, goal)
    if quoted := _read_quoted(span, goal):
        return quoted if names.has(quoted) else None
    return names.find(words) if words else None


def read_value(own: OwnValue, parts: Sequence[GoalPart], goal: str) -> SkillParameterValue | None:
    """The value of these parts; None if it cannot stand for the plan's own."""
    span = [token for part in parts for token in part.tokens]
    if own.listed is not None:
        return _read_listed(own.listed(), span, goal)
    read = _read_value(own.value, span, goal) if own.form is None else _read_form(own, own.form, span, goal)
    value = read if len(span) == len(parts) else None
    if value is None or (own.fixed and value != own.value) or (own.single and not _has_article(span[0], goal)):
        return None
    return value


def read_values(
    binding: Binding, own: Mapping[str, OwnValue], parts: Sequence[GoalPart], goal: str
) -> dict[str, SkillParameterValue] | None:
    """The values in these places; None if one cannot stand for the plan's own."""
    found: dict[str, SkillParameterValue] = {}
    for name, start, end, alone in binding:
        value = read_value(own[name], parts[start:end], goal)
        if value is None or (alone and not _says_what_it_is(value)) or found.get(name, value) != value:
            return None
        found[name] = value
    return found


def _says_what_it_is(value: SkillParameterValue) -> bool:
    """Whether a value needs no word beside it: a date, an address, a path, a name with letters and digits."""
    return isinstance(value, str) and (is_date(value) or is_path(value) or (any(_sort(value)) and not value.isdigit()))


def _read_form(own: OwnValue, form: ValueForm, span: Sequence[GoalToken], goal: str) -> SkillParameterValue | None:
    """The value that the tokens say in other words than the plan, or, if it is a date, as a date."""
    text = goal[span[0].start : span[-1].end]
    if is_date(own.value):
        return _read_date(text) or convert(form, own.value, text, own.today)
    if form.table:
        return None if _belongs_to_more(goal, span[0]) else convert(form, own.value, text, own.today)
    said = _read_value(form.words, span, goal)
    return convert(form, own.value, said, own.today) if isinstance(said, str) else None


def _read_value(own: SkillParameterValue, span: Sequence[GoalToken], goal: str) -> SkillParameterValue | None:
    text = goal[span[0].start : span[-1].end]
    if isinstance(own, list):
        return _read_list(own, text, span[0].start, goal)
    if isinstance(own, int | float):
        text = str(NUMBER_WORDS.get(text.casefold(), text))
        is_number = re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,15})?", text) and (isinstance(own, float) or "." not in text)
        return type(own)(text) if is_number else None
    if is_date(own):
        return _read_date(text)
    if text == own and own.isalpha():
        return own
    if is_path(own):
        slash = "/" * own.endswith("/")
        fits = (
            is_path(text) and not text.endswith("/") and text[0] == own[0] and _sort(text + slash)[0] == _sort(own)[0]
        )
        return text + slash if fits else None
    if "\n" in text or _belongs_to_more(goal, span[0]):
        return None
    quoted = _read_quoted(span, goal)
    if not quoted and text != own and not _is_name(own, span, goal):
        return None
    text = quoted or text
    return text if text.strip() and _sort(text) == _sort(own) else None


def _read_quoted(span: Sequence[GoalToken], goal: str) -> str:
    """The text between the quotes around the tokens; empty if there are none."""
    if len(span) == 1 and _is_quoted(span[0].text):
        return span[0].text[1:-1]
    closing = re.match(r"[.,;:!?]{0,3}'(?!\w)", goal[span[-1].end :])
    opens = goal[max(0, span[0].start - 2) : span[0].start]
    if closing is None or not opens.endswith("'") or opens[:-1].strip() or "'" in goal[span[0].start : span[-1].end]:
        return ""
    return goal[span[0].start : span[-1].end] + closing[0][:-1]


def _read_list(own: Sequence[str | int | float], text: str, start: int, goal: str) -> list[str | int | float] | None:
    """The values of an enumeration, each of the sort of all values of the plan's own; none twice."""
    tokens = [t._replace(start=t.start + start, end=t.end + start) for t in tokenize(text)]
    values: list[str | int | float] = []
    for part in _split_list(tokens):
        read = [_read_value(each, part, goal) for each in own]
        value = read[0]
        if value is None or isinstance(value, list) or any(type(r) is not type(value) or r != value for r in read):
            return None
        values.append(value)
    return values if len(set(values)) == len(values) > 0 else None


def _is_name(own: str, span: Sequence[GoalToken], goal: str) -> bool:
    """Whether the tokens stand side by side and name one thing, as the plan's own value does."""
    words, known = [t.text for t in span], [t.text for t in tokenize(own)]
    if span[-1].number - span[0].number != len(span) - 1:
        return False
    if _signs(words) != _signs(known) or any(_says_more(w, own) for w in words):
        return False
    names = [w for w in words if any(map(str.isalnum, w))]
    if all(w[0].isupper() or w[0].isdigit() for w in names):
        return True
    if own[0].isupper() or (len(names) > 1 and not (_is_plain(own) and len(names) <= len(known))):
        return False
    is_plain = all(w.isalpha() and w == w.casefold() for w in names)
    return _is_thing(span, goal) if is_plain else len(names) == 1


def _signs(words: Sequence[str]) -> list[tuple[int, str]]:
    """The signs among the words, and where they stand: the # in #12."""
    return [(i, w) for i, w in enumerate(words) if not any(map(str.isalnum, w))]


def _says_more(word: str, own: str) -> bool:
    """Whether a word is one that limits, has one in it (not-apples), or joins two as the plan's own does not (a/b)."""
    inner = re.findall(r"\w+", word.casefold())
    joins = set(re.findall(r"[^\w-]", word)) - set(own)
    is_other = word in _FUNCTION_WORDS or word.casefold() in _NO_NAMES
    return is_other or not LIMITS.isdisjoint([word.casefold(), *inner]) or bool(joins)


def _belongs_to_more(goal: str, first: GoalToken) -> bool:
    """Whether the word before the value makes it another: The Hague, my landlord."""
    before = tokenize(goal[: first.start])
    word = before[-1].text if before else ""
    is_title = len(before) > 1 and word.casefold() in FILLERS and word[0].isupper()
    return is_title or word.casefold() in POSSESSIVES


_FILE_NAME = re.compile(r"[\w-]{1,100}(?:\.[\w-]{1,100}){0,5}\.[A-Za-z][A-Za-z0-9]{0,4}")


def _sort(text: str) -> tuple[bool, bool, bool, bool]:
    is_file = bool(_FILE_NAME.fullmatch(text))
    return is_file, text.isdigit(), not is_file and any(c.isdigit() for c in text), "@" in text


def is_same_sort(text: str, own: str) -> bool:
    """Whether a text could stand for the plan's own: a file's name, digits, an address, with the same signs."""
    return _sort(text) == _sort(own) and re.findall(r"[^\w\s]", text) == re.findall(r"[^\w\s]", own)


_DATE_FORMS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y"),
    *("%d %B %Y", "%B %d %Y", "%B %d, %Y", "%d %B, %Y"),
    *("%d %b %Y", "%b %d %Y", "%b %d, %Y"),
)
"""Without forms of which nobody knows whether the day or the month comes first."""


def _read_date(text: str) -> str | None:
    """The date as in 2026-03-01, from this form or with the month's name; None for another text."""
    text = re.sub(r"\b([0-9]{1,2})(?:st|nd|rd|th)\b(?: of\b)?", r"\1", text)
    for form in _DATE_FORMS:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return None
