"""Recognises a goal that a skill's plan can do with other values, by rule: no model is asked.

A skill knows its own goal and further phrases, in which a parameter's name in braces stands for its value. A goal is
one of them if it has the same words in the same order, and a value of the right sort in each parameter's place. Words
that a skill knows as interchangeable count as the same, capitals, plurals, articles and courtesies do not count, and
any other word makes it another goal. Plan caches that match by similarity (Zhang et al., "Agentic Plan Caching", arXiv
2506.14852) take wrong plans too; here calls are real, so the rule abstains unless it is sure.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec

from codeplan.skills.parameter_binding import (
    MAX_GOAL,
    SkillParameter,
    SkillParameterValue,
    holds_values,
    is_date,
    read_parameters,
    without_parameters,
)
from codeplan.skills.skill import Skill

MAX_PHRASES: Final = 60
MAX_WORD_GROUPS: Final = 60
MAX_GROUP: Final = 20
MAX_WORD: Final = 60

Phrase: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_GOAL)]
_Word = Annotated[str, msgspec.Meta(max_length=MAX_WORD)]
WordGroup: TypeAlias = Annotated[tuple[_Word, ...], msgspec.Meta(max_length=MAX_GROUP)]

_TOKEN = re.compile(r"\"[^\"]*\"|“[^“”]*”|\w+(?:[-@./:'’+&]\w+)*|[^\w\s]")
_PLACE_MARK = "\ue000"  # a private character: the place of a parameter
_PLACE = re.compile(r"\{(\w{1,80})\}")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


_FILLERS = _words("a an the my our your please pls kindly just")
_ARTICLES = _words("a an the my our your")
_POSSESSIVES = _words("my our your")
_MARKS = frozenset(".,;:!?'‘’")

_OPENINGS = (
    "could you, can you, would you, will you, could someone, can someone, could somebody, can somebody, i want to, "
    "i want you to, i need to, i need you to, i would like to, i would like you to, i'd like to, i'd like you to, "
    "we need to, we want to, we would like to, we'd like to, would you be so kind as to, be so kind as to, let's, "
    "let us, go ahead and, make sure to, hi, hello, hey, hi there, hello there, good morning, thanks, thank you, thx"
)
_CLOSINGS = (
    "thanks, thank you, thx, many thanks, thanks a lot, thank you very much, thank you so much, thanks in advance, "
    "for me, for us, now, right now, if you can, when you can, cheers"
)
_POLITE = tuple(
    tuple(sorted((tuple(p.split()) for p in phrases.split(", ")), key=len, reverse=True))
    for phrases in (_OPENINGS, _CLOSINGS)
)

_LIMITS = _words(
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


_CONDITIONS = _words(
    """
    after all also although and any anything before but by each either else every everything except first half if
    instead last neither never no nobody none nor not nothing once only or other others plus some then twice unless
    when whenever while without
    """
) | {"don't", "doesn't", "won't", "can't"}
"""Words that change what a goal asks for. A goal with one becomes no phrase, even if a model took it for the same."""


_FUNCTION_WORDS = _LIMITS | _words(
    """
    about across after against along and are around be behind below beside between by can down during has have in
    inside is like must near need needs onto out outside past should since so through till toward until was were
    while will within
    """
)
"""Words that a noun does not go on with: one before them is the last of its name."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    number: int  # among all tokens of the text


class _Place(NamedTuple):
    """A parameter's place in a phrase."""

    name: str


_MAX_WAYS = 8
"""A phrase that fits in so many ways says nothing."""

_Items: TypeAlias = tuple["str | _Place", ...]
_Binding: TypeAlias = tuple[tuple[str, int, int], ...]  # a parameter's name, and the tokens that are its value


def bind_by_rule(skill: Skill, goal: str) -> dict[str, SkillParameterValue] | None:
    """The values of the parameters with which the skill's plan does the goal; None if the rule is not sure of it.

    A value has the sort of the plan's own: a number, a date, a word, a name with digits, an address. It is one word,
    or several with capitals, or in quotes; a list has one or more of them, with commas and *and* between them. A plan
    that also has a value elsewhere than among its parameters is never sure.
    """
    block = read_parameters(skill.plan)
    names = tuple(p.name for p in block.parameters)
    if not names or names != skill.parameters or len(set(names)) < len(names) or len(goal) > MAX_GOAL:
        return None
    if _leaves_values(skill.plan, block.parameters):
        return None
    same = _interchangeable(skill.words)
    parts = _parts(_meaningful(goal), same)
    words = [part.word for part in parts]
    there = set(words)
    own = {p.name: _own_value(p.value, block.goal) for p in block.parameters}
    found: list[dict[str, SkillParameterValue]] = []
    for items in _phrases(skill, same):
        if all(isinstance(i, _Place) or i in there for i in items):
            ways = _align(items, words, {n: _sizes(p.value) for n, p in own.items()})
            if len(ways) == _MAX_WAYS:
                return None
            for binding in ways:
                values = _read_values(binding, own, parts, goal)
                if values is not None and values not in found:
                    found.append(values)
    return found[0] if len(found) == 1 and holds_values(skill.plan, found[0]) else None


def shares_words(skill: Skill, goal: str) -> bool:
    """Whether the goal has a word of the skill's goal, of its phrases or of their interchangeable words."""
    known = {item for items in _phrases(skill, {}) for item in items if isinstance(item, str)}
    known |= {_stem(t.text) for t in _meaningful(read_parameters(skill.plan).goal)}
    known |= {_stem(word) for group in skill.words for part in group for word in part.split()}
    return any(_stem(t.text) in known - _LIMITS for t in _meaningful(goal[:MAX_GOAL]))


def find_phrase(skill: Skill, goal: str, values: Mapping[str, SkillParameterValue]) -> str | None:
    """The goal as a phrase: with the names of the parameters in braces in place of these values of theirs.

    None if it has a value not exactly once, if it has conditions that the skill's own goal has not, or if the skill
    would not recognise the goal by this phrase.
    """
    phrase = _with_places(goal, {name: values.get(name, "") for name in skill.parameters})
    more = _conditions(phrase) - _conditions(own_phrase(skill))
    known = valid_phrases(skill, [] if more else [phrase])
    learnt = msgspec.structs.replace(skill, said=(*skill.said, *known))
    return phrase if known and bind_by_rule(learnt, goal) == dict(values) else None


def _conditions(phrase: str) -> set[str]:
    return {t.text.casefold().replace("’", "'") for t in _tokens(phrase)} & _CONDITIONS


def own_phrase(skill: Skill) -> str:
    """The skill's own goal as a phrase; empty if it does not show where each value stands."""
    block = read_parameters(skill.plan)
    return _with_places(block.goal, {p.name: p.value for p in block.parameters}) if len(block.goal) < MAX_GOAL else ""


def _with_places(goal: str, values: Mapping[str, SkillParameterValue]) -> str:
    """The goal with names in braces in place of their values; empty unless it has each value once, for itself."""
    for name, value in values.items():
        places = list(_find_value(value, _tokens(goal)))
        if len(places) != 1:
            return ""
        goal = f"{goal[: places[0][0].start]}{{{name}}}{goal[places[0][-1].end :]}"
    return goal


class _Said(msgspec.Struct):
    said: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()


def parse_phrases(reply: str, skill: Skill) -> Skill:
    """The skill with the phrases and words of a model's reply, a JSON object; without those that are not usable."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        found = msgspec.json.decode(reply[start : end + 1].encode("utf-8", "replace"), type=_Said)
    except (msgspec.DecodeError, RecursionError):
        return skill
    groups = (tuple(dict.fromkeys(w for w in group if 0 < len(w) <= MAX_WORD))[:MAX_GROUP] for group in found.words)
    words = tuple(group for group in groups if len(group) > 1)[:MAX_WORD_GROUPS]
    said = valid_phrases(skill, [*skill.said, *found.said])
    return msgspec.structs.replace(skill, said=said, words=(*skill.words, *words)[:MAX_WORD_GROUPS])


def valid_phrases(skill: Skill, phrases: Iterable[str]) -> tuple[str, ...]:
    """Those phrases that have each parameter of the skill once, and words of their own; each once.

    No two parameters stand side by side, unless one of them is a number, and the other is not.
    """
    numbers = {p.name for p in read_parameters(skill.plan).parameters if isinstance(p.value, int | float)}
    return tuple(
        dict.fromkeys(
            p
            for p in (" ".join(phrase.split()) for phrase in phrases)
            if len(p) <= MAX_GOAL
            and sorted(_PLACE.findall(p)) == sorted(skill.parameters)
            and _has_words(_items(p, {}), numbers)
        )
    )[:MAX_PHRASES]


def _has_words(items: _Items, numbers: Collection[str]) -> bool:
    pairs = [(a, b) for a, b in itertools.pairwise(items) if isinstance(a, _Place) and isinstance(b, _Place)]
    are_apart = all((a.name in numbers) != (b.name in numbers) for a, b in pairs)
    return are_apart and any(isinstance(i, str) for i in items)


# ------------------------------------------------------------------ phrases


_Same: TypeAlias = Mapping[tuple[str, ...], str]  # what stands for each of several interchangeable parts


class _Part(NamedTuple):
    """A word of a text, or several that are interchangeable with others; ``word`` stands for it."""

    word: str
    tokens: Sequence[_Token]


def _phrases(skill: Skill, same: _Same) -> Iterator[_Items]:
    """The skill's own goal, if it shows where the values stand, and its other phrases."""
    for phrase in valid_phrases(skill, [own_phrase(skill), *skill.said]):
        yield _items(phrase, same)


def _items(phrase: str, same: _Same) -> _Items:
    """The words of a phrase in canonical form, and the places of its parameters."""
    names = iter(_PLACE.findall(phrase))
    marked = _PLACE.sub(f" {_PLACE_MARK} ", phrase.replace(_PLACE_MARK, ""))
    parts = _parts(_meaningful(marked), same)
    return tuple(_Place(next(names)) if p.tokens[0].text == _PLACE_MARK else p.word for p in parts)


def _interchangeable(groups: Iterable[Sequence[str]]) -> dict[tuple[str, ...], str]:
    """What stands for each part of a group, by its words; a part in two groups stands for itself."""
    found: dict[tuple[str, ...], str] = {}
    twice: set[tuple[str, ...]] = set()
    for group in groups:
        parts = [key for key in (_key(part) for part in group) if key]
        for part in parts:
            twice |= {part} & found.keys()
            found.setdefault(part, " ".join(parts[0]))
    return {part: stands for part, stands in found.items() if part not in twice and tuple(stands.split()) not in twice}


def _key(part: str) -> tuple[str, ...]:
    """The words of a part; none if it has the mark of a place, which some model or some stranger's file wrote."""
    if _PLACE_MARK in part:
        return ()
    return tuple(_stem(t.text) for t in _tokens(part) if t.text not in _MARKS and t.text.casefold() not in _FILLERS)


def _parts(tokens: Sequence[_Token], same: _Same) -> list[_Part]:
    """The tokens as parts, the longest that is interchangeable first."""
    stems = [_stem(t.text) for t in tokens]
    longest = max(map(len, same), default=1)
    found: list[_Part] = []
    at = 0
    while at < len(tokens):
        sizes = range(min(longest, len(tokens) - at), 0, -1)
        size = next((n for n in sizes if tuple(stems[at : at + n]) in same), 1)
        stem = tuple(stems[at : at + size])
        found.append(_Part(same.get(stem, stem[0]), tokens[at : at + size]))
        at += size
    return found


def _stem(word: str) -> str:
    """The word without capitals, possessive and plural."""
    word = word.casefold().replace("’", "'").removesuffix("'s")
    plural = len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word


def _tokens(text: str) -> list[_Token]:
    return [_Token(m[0], m.start(), m.end(), i) for i, m in enumerate(_TOKEN.finditer(text))]


def _meaningful(text: str) -> list[_Token]:
    """The tokens of a text without marks, articles and courtesies."""
    left = [t for t in _tokens(text) if t.text not in _MARKS and t.text.casefold() not in _FILLERS]
    words = [t.text.casefold().replace("’", "'") for t in left]
    first, last, (openings, closings) = 0, len(words), _POLITE
    while size := next((len(p) for p in openings if tuple(words[first : first + len(p)]) == p), 0):
        first += size
    while size := next((len(p) for p in closings if tuple(words[max(first, last - len(p)) : last]) == p), 0):
        last -= size
    return left[first:last]


# ------------------------------------------------------------------ values


def _find_value(value: SkillParameterValue, tokens: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    """Where the value stands among the tokens, in quotes or without."""
    if isinstance(value, list):
        yield from _find_list(value, tokens)
        return
    words = [t.text for t in _tokens(str(value))]
    if is_date(value):
        yield from _find_date(str(value), tokens)
        return
    for i in range(len(tokens) if words else 0):
        if [t.text for t in tokens[i : i + len(words)]] == words:
            yield tokens[i : i + len(words)]
        elif _is_quoted(tokens[i].text) and tokens[i].text[1:-1] == value:
            yield tokens[i : i + 1]


def _find_date(value: str, tokens: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    """Where a date stands, in any form of which it is certain."""
    end = 0
    for i in range(len(tokens)):
        for size in range(6, 0, -1):
            words = tokens[i : i + size]
            if (
                i >= end
                and len(words) == size
                and words[-1].text not in _MARKS
                and _read_date(_spelled(words)) == value
            ):
                end = i + size
                yield words
                break


def _spelled(tokens: Sequence[_Token]) -> str:
    return " ".join(t.text for t in tokens).replace(" ,", ",")


def _find_list(values: Sequence[str | int | float], tokens: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    """Where all values of a list stand, one after the other."""
    for start in range(len(tokens) if values else 0):
        at = start
        for i, value in enumerate(values):
            while i and at < len(tokens) and tokens[at].text in _JOINTS:
                at += 1
            size = next((len(p) for p in _find_value(value, tokens[at:]) if p[0] is tokens[at]), 0)
            at += size or len(tokens)
        if at <= len(tokens) and _split_list(tokens[start:at]):
            yield tokens[start:at]


_JOINTS = frozenset({",", "and", "&"})
_JOINED = (",", "and"), (",",), ("and",), ("&",)


def _split_list(tokens: Sequence[_Token]) -> list[Sequence[_Token]]:
    """The tokens of each value of an enumeration; none if they are no enumeration."""
    parts: list[list[_Token]] = [[]]
    joint: list[str] = []
    for token in [*tokens, _Token("", 0, 0, 0)]:
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


def _leaves_values(plan: str, parameters: Sequence[SkillParameter]) -> bool:
    """Whether the plan also has a text of its parameters elsewhere: its other values may belong to it.

    A number is a parameter only if the plan has it nowhere else. What is printed may name the values of a list.
    """
    lists = any(isinstance(p.value, list) for p in parameters)
    rest = without_parameters(plan)
    words = re.findall(r"\w+", _PRINTED.sub("", rest) if lists else rest)
    places: dict[str, list[int]] = {}
    for i, word in enumerate(words):
        places.setdefault(word, []).append(i)
    for p in parameters:
        for value in p.value if isinstance(p.value, list) else [p.value]:
            own = [] if isinstance(value, int | float) else re.findall(r"\w+", value)
            if any(own == words[i : i + len(own)] for i in (places.get(own[0], []) if own else [])):
                return True
    return False


_PRINTED = re.compile(r"^ *(?:print\(.*|#.*)$", re.MULTILINE)
_MAX_LIST_TOKENS = 60


def _sizes(value: SkillParameterValue) -> range:
    """How many tokens a value may have that stands for this one."""
    if isinstance(value, list):
        return range(1, _MAX_LIST_TOKENS)
    if is_date(value):
        return range(1, 7)
    own = len(_tokens(str(value)))
    return range(1, 2) if not isinstance(value, str) else range(1, max(4, own) + 1)


def _align(items: _Items, words: Sequence[str], sizes: Mapping[str, range]) -> list[_Binding]:
    """The first ways in which all words are those of the phrase, with tokens for each place."""
    below: list[list[_Binding]] = [*([] for _ in words), [()]]  # for each word, the ways of the items after this one
    for item in reversed(items):
        below = [list(itertools.islice(_ways(item, at, words, sizes, below), _MAX_WAYS)) for at in range(len(below))]
    return below[0]


def _ways(
    item: str | _Place, at: int, words: Sequence[str], sizes: Mapping[str, range], below: Sequence[Sequence[_Binding]]
) -> Iterator[_Binding]:
    """The ways in which this item and those after it are the words from a place on."""
    if isinstance(item, str):
        if at < len(words) and words[at] == item:
            yield from below[at + 1]
        return
    for end in (at + size for size in sizes[item.name] if at + size <= len(words)):
        yield from (((item.name, at, end), *more) for more in below[end])


class _OwnValue(NamedTuple):
    """A parameter's value in the plan. Words without capitals, digits and signs may be part of what is asked for, such
    as *as viewer* or *a monthly order*: they are ``fixed``, unless they name a thing, as a plural or behind an article,
    and no further noun follows. A ``single`` thing, *the warehouse*, has no name of its own in its place.
    """

    value: SkillParameterValue
    fixed: bool = False
    single: bool = False


def _own_value(value: SkillParameterValue, goal: str) -> _OwnValue:
    tokens = _tokens(goal)
    place = next(_find_value(value, tokens), None) if isinstance(value, str) and _is_plain(value) else None
    if place is None or _is_quoted(place[0].text):
        return _OwnValue(value)
    if not (_is_thing(place, goal) and _is_last_noun(place, goal)):
        return _OwnValue(value, fixed=True)
    return _OwnValue(value, single=_stem(place[-1].text) == place[-1].text.casefold())


def _is_plain(text: str) -> bool:
    return text == text.casefold() and text.replace(" ", "").isalpha()


def _is_thing(span: Sequence[_Token], goal: str) -> bool:
    """Whether the words are a plural, or stand behind an article."""
    last = span[-1].text
    return _stem(last) != last.casefold() or _has_article(span[0], goal)


def _has_article(first: _Token, goal: str) -> bool:
    before = _tokens(goal[: first.start])
    return bool(before) and before[-1].text.casefold() in _ARTICLES


def _is_last_noun(span: Sequence[_Token], goal: str) -> bool:
    after = next(iter(_tokens(goal[span[-1].end :])), None)
    return after is None or not after.text[0].isalpha() or after.text.casefold() in _FUNCTION_WORDS | _FILLERS


def _read_values(
    binding: _Binding, own: Mapping[str, _OwnValue], parts: Sequence[_Part], goal: str
) -> dict[str, SkillParameterValue] | None:
    """The values in these places; None if one cannot stand for the plan's own."""
    found: dict[str, SkillParameterValue] = {}
    for name, start, end in binding:
        span = [token for part in parts[start:end] for token in part.tokens]
        value = _read_value(own[name].value, span, goal) if len(span) == end - start else None
        if value is None or (own[name].fixed and value != own[name].value):
            return None
        if own[name].single and not _has_article(span[0], goal):
            return None
        found[name] = value
    return found


def _read_value(own: SkillParameterValue, span: Sequence[_Token], goal: str) -> SkillParameterValue | None:
    text = goal[span[0].start : span[-1].end]
    if isinstance(own, list):
        return _read_list(own, text, span[0].start, goal)
    if isinstance(own, int | float):
        is_number = re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,15})?", text) and (isinstance(own, float) or "." not in text)
        return type(own)(text) if is_number else None
    if is_date(own):
        return _read_date(text)
    if text == own and own.isalpha():
        return own
    if "\n" in text or _belongs_to_more(goal, span[0]):
        return None
    quoted = len(span) == 1 and _is_quoted(text)
    if not quoted and not _is_name(own, span, goal):
        return None
    text = text[1:-1] if quoted else text
    return text if text.strip() and _sort(text) == _sort(own) else None


def _read_list(own: Sequence[str | int | float], text: str, start: int, goal: str) -> list[str | int | float] | None:
    """The values of an enumeration, each of the sort of all values of the plan's own; none twice."""
    tokens = [t._replace(start=t.start + start, end=t.end + start) for t in _tokens(text)]
    values: list[str | int | float] = []
    for part in _split_list(tokens):
        read = [_read_value(each, part, goal) for each in own]
        value = read[0]
        if value is None or isinstance(value, list) or any(type(r) is not type(value) or r != value for r in read):
            return None
        values.append(value)
    return values if len(set(values)) == len(values) > 0 else None


def _is_name(own: str, span: Sequence[_Token], goal: str) -> bool:
    """Whether the tokens stand side by side and name one thing, as the plan's own value does."""
    words, known = [t.text for t in span], [t.text for t in _tokens(own)]
    if span[-1].number - span[0].number != len(span) - 1:
        return False
    if _signs(words) != _signs(known) or any(_says_more(w, own) for w in words):
        return False
    names = [w for w in words if w[0].isalnum()]
    if all(w[0].isupper() or w[0].isdigit() for w in names):
        return True
    if own[0].isupper() or (len(names) > 1 and not (_is_plain(own) and len(names) <= len(known))):
        return False
    is_plain = all(w.isalpha() and w == w.casefold() for w in names)
    return _is_thing(span, goal) if is_plain else len(names) == 1


def _signs(words: Sequence[str]) -> list[tuple[int, str]]:
    """The signs among the words, and where they stand: the # in #12."""
    return [(i, w) for i, w in enumerate(words) if not w[0].isalnum()]


def _says_more(word: str, own: str) -> bool:
    """Whether a word is one that limits, has one in it (not-apples), or joins two as the plan's own does not (a/b)."""
    inner = re.findall(r"\w+", word.casefold())
    joins = set(re.findall(r"[^\w-]", word)) - set(own)
    return not _LIMITS.isdisjoint([word.casefold(), *inner]) or bool(joins)


def _belongs_to_more(goal: str, first: _Token) -> bool:
    """Whether the word before the value makes it another: The Hague, my landlord."""
    before = _tokens(goal[: first.start])
    word = before[-1].text if before else ""
    is_title = len(before) > 1 and word.casefold() in _FILLERS and word[0].isupper()
    return is_title or word.casefold() in _POSSESSIVES


_FILE_NAME = re.compile(r"[\w-]{1,100}(?:\.[\w-]{1,100}){0,5}\.[A-Za-z][A-Za-z0-9]{0,4}")


def _sort(text: str) -> tuple[bool, bool, bool, bool]:
    is_file = bool(_FILE_NAME.fullmatch(text))
    return is_file, text.isdigit(), not is_file and any(c.isdigit() for c in text), "@" in text


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
