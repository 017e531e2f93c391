"""Recognises a goal that a skill's plan can do with other values, by rule: no model is asked.

A skill knows its own goal and further phrases, in which a parameter's name in braces stands for its value. A goal is
one of them if it has the same words in the same order, and a value of the right sort in each parameter's place. A
phrase is a pattern (``skills.patterns``), which may have alternatives. A skill may also know the pieces in which its
goal is said: then a goal says each of its things once, in any order, and has no other word. Words that a skill knows as
interchangeable count as the same, capitals, plurals, articles and courtesies do not count, and any other word makes it
another goal. Plan caches that match by similarity (Zhang et al., "Agentic Plan Caching", arXiv 2506.14852) take wrong
plans too; here calls are real, so the rule abstains unless it is sure.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec

from codeplan.skills.goal_values import (
    LIMITS,
    OwnValue,
    find_led,
    find_spans,
    find_value,
    free_parameters,
    leaves_values,
    own_value,
    read_values,
)
from codeplan.skills.goal_words import (
    GoalToken,
    Same,
    asks_for_facts,
    find_joined,
    find_joints,
    interchangeable,
    meaningful,
    split_parts,
    stem,
    tokenize,
    words_of,
)
from codeplan.skills.parameter_binding import (
    MAX_GOAL,
    ParameterBlock,
    SkillParameterValue,
    holds_values,
    is_date,
    read_parameters,
    without_parameters,
)
from codeplan.skills.patterns import (
    PLACE,
    Binding,
    GoalFrame,
    GoalWords,
    Pattern,
    TooManyWays,
    ValuePlace,
    Work,
    count_words,
    escape,
    flatten,
    has_choice,
    make_frame,
    match_frame,
    match_whole,
    may_match,
    may_match_frame,
    read_pattern,
    without_words,
    without_words_before_values,
)
from codeplan.skills.skill import MAX_PATTERN, MAX_PATTERNS, MAX_THINGS, GoalPieces, Skill
from codeplan.skills.tool_names import NameLookup, is_call_of
from codeplan.skills.value_forms import ValueForm, find_spoken, find_words, keeps_a_day, says_own_value

MAX_PHRASES: Final = 60
MAX_WORD_GROUPS: Final = 60
MAX_GROUP: Final = 20
MAX_WORD: Final = 60
MAX_PIECES: Final = 40_000
"""Characters that all pieces of a skill may have together."""

Phrase: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_GOAL)]
_Word = Annotated[str, msgspec.Meta(max_length=MAX_WORD)]
WordGroup: TypeAlias = Annotated[tuple[_Word, ...], msgspec.Meta(max_length=MAX_GROUP)]


_CONDITIONS = words_of(
    """
    after all also although and any anything before but by each either else every everything except first half if
    instead last neither never no nobody none nor not nothing once only or other others plus some then twice unless
    when whenever while without
    """
) | {"don't", "doesn't", "won't", "can't"}
"""Words that change what a goal asks for. A goal with one becomes no phrase, even if a model took it for the same."""


_DENIALS = words_of("if unless except without not never no none nobody nothing neither nor either or") | {
    "don't",
    "doesn't",
    "won't",
    "can't",
    "cannot",
    "isn't",
    "shouldn't",
}
"""Words that no alternative and no piece has: among others they would turn goals into their opposite."""


def bind_by_rule(
    skill: Skill, goal: str, today: date | None = None, lookup: NameLookup | None = None
) -> dict[str, SkillParameterValue] | None:
    """The values of the parameters with which the skill's plan does the goal; None if the rule is not sure of it.

    A value has the sort of the plan's own: a number, a date, a word, a name with digits, an address. It is one word,
    or several with capitals, or in quotes; a list has one or more of them, with commas and *and* between them. A plan
    that also has a value elsewhere than among its parameters is never sure. Words such as *tomorrow* are said
    ``today``, by default the present day. ``lookup`` gets the names that tools list; they are asked only if the goal
    has the skill's words.
    """
    block = read_parameters(skill.plan)
    names = tuple(p.name for p in block.parameters)
    if not names or names != skill.parameters or len(set(names)) < len(names) or len(goal) > MAX_GOAL:
        return None
    forms = forms_of(skill)
    free = frozenset(free_parameters(block, forms))
    varying = [p for p in block.parameters if p.name in free]
    if leaves_values(skill.plan, varying) or _says_otherwise(block, forms):
        return None
    if keeps_a_day(without_parameters(skill.plan), block.goal):
        return None
    today = today or date.today()
    own = {p.name: own_value(p.value, block.goal, forms.get(p.name), today) for p in block.parameters}
    own |= _listed_values(skill, own, lookup)
    with contextlib.suppress(TooManyWays):
        found = _find_values(skill, goal, own, free)
        return found[0] if len(found) == 1 and holds_values(skill.plan, found[0]) else None
    return None


def _listed_values(skill: Skill, own: Mapping[str, OwnValue], lookup: NameLookup | None) -> dict[str, OwnValue]:
    """The values whose names a tool lists that may be asked."""
    found: dict[str, OwnValue] = {}
    for source in skill.sources:
        value = own.get(source.name)
        if lookup is None or value is None or not isinstance(value.value, str) or is_date(value.value):
            continue
        if (value.form and value.form.table) or not is_call_of(skill.plan, source):
            continue
        if listed := lookup(source):
            found[source.name] = value._replace(listed=listed)
    return found


def _find_values(
    skill: Skill, goal: str, own: Mapping[str, OwnValue], names: frozenset[str]
) -> list[dict[str, SkillParameterValue]]:
    """All values that fit the goal, in some reading that has those of ``names``; others are the plan's own.

    Raises: TooManyWays.
    """
    grammar = _grammar(skill.plan, skill.said, skill.words, skill.pieces, skill.forms)
    parts = split_parts(meaningful(goal), grammar.same)
    there = frozenset(part.word for part in parts)
    phrases = [pattern for pattern in grammar.phrases if may_match(pattern, there)]
    is_framed = may_match_frame(grammar.frame, there) and not asks_for_facts(goal)
    if not phrases and not is_framed:
        return []
    spans = {name: find_spans(value, parts, goal, grammar.known) for name, value in own.items()}
    words, led = [part.word for part in parts], find_led(read_parameters(skill.plan))
    known = GoalWords(words, spans, find_joints(parts, goal), find_joined(parts, goal), led, Work())
    if any(match_whole(pattern, known) for pattern in grammar.other):
        return []
    every = _names(skill)
    bindings = [b for pattern in phrases for b in match_whole(pattern, known) if _are_apart(b, every)]
    if is_framed:
        bindings += match_frame(grammar.frame, known)
    fixed = {name: value.value for name, value in own.items() if name not in names}
    found: list[dict[str, SkillParameterValue]] = []
    for binding in bindings:
        values = read_values(binding, own, parts, goal) if {*names}.issubset(b.name for b in binding) else None
        if values is not None and (values := fixed | values) not in found:
            found.append(values)
    return found


def _are_apart(binding: Binding, names: _Names) -> bool:
    """Whether no two values stand side by side where one of them may have some of the other's words."""
    pairs = ((a, b) for a, b in itertools.pairwise(sorted(binding, key=lambda b: b.start)) if a.end == b.start)
    return all(names.may_touch(a.name, b.name) for a, b in pairs)


def forms_of(skill: Skill) -> dict[str, ValueForm]:
    """The forms of the parameters' values, by name."""
    return {form.name: form for form in skill.forms}


def _says_otherwise(block: ParameterBlock, forms: Mapping[str, ValueForm]) -> bool:
    """Whether the goal says a text of the plan in other words, as Berlin for DE-BE, and no form knows those of another.

    A form that does not say the plan's own value counts for nothing: somebody has edited it, or the plan.
    """
    tokens = tokenize(block.goal)
    for p in block.parameters:
        if form := forms.get(p.name):
            if len(list(find_words(form.words, tokens))) != 1 or not says_own_value(form, p.value):
                return True
            continue
        texts = p.value if isinstance(p.value, list) else [p.value]
        if any(isinstance(text, str) and next(find_value(text, tokens), None) is None for text in texts):
            return True
    return False


_SINGLE_TURNS = words_of(
    "by before after per every each than over under below above between about plus minus more less"
)
_TURNS = (
    words_of("from off out since starting beginning"),
    words_of("until till through"),
    *({word} for word in _SINGLE_TURNS),
)
"""Words before a value that turn what is asked for into something else, unless the goal has one of their group."""


def _turns(goal: str) -> frozenset[str]:
    """The words that no piece has before a value."""
    there = {t.text.casefold() for t in tokenize(goal)}
    if {"from", "to"} <= there or {"up", "to"} <= there:  # a span ends *until* it, too
        there.add("until")
    return frozenset().union(*(group for group in _TURNS if there.isdisjoint(group)))


class _Grammar(NamedTuple):
    """The phrases and the pieces of a skill, in canonical form, its interchangeable words, and all that they know."""

    phrases: tuple[Pattern, ...]
    frame: GoalFrame
    other: tuple[Pattern, ...]
    same: dict[tuple[str, ...], str]
    known: frozenset[str]


@lru_cache(maxsize=64)
def _grammar(
    plan: str,
    said: tuple[str, ...],
    words: tuple[tuple[str, ...], ...],
    pieces: GoalPieces,
    forms: tuple[ValueForm, ...],
) -> _Grammar:
    """The grammar of a skill, with what is usable of its phrases and pieces, which a stranger may have written."""
    skill = Skill("", "", plan, parameters=tuple(p.name for p in read_parameters(plan).parameters), forms=forms)
    same, names = interchangeable(words), _names(skill)
    sentences = [_read_phrase(phrase, same, names) for phrase in valid_phrases(skill, [own_phrase(skill), *said])]
    usable = valid_pieces(skill, pieces)
    does = [[_read_piece(way, same, names) or () for way in ways] for ways in usable.does]
    has = [_read_value_piece(way, same, names) or () for way in usable.has]
    other = [p for way in usable.other if (p := read_pattern(way, same, whole=True))]
    every = itertools.chain(*does, has, (s for s in sentences if s))
    known = frozenset(item for pattern in every for item in flatten(pattern) if isinstance(item, str))
    return _Grammar(tuple(s for s in sentences if s), make_frame(does, has), tuple(other), same, known)


def shares_words(skill: Skill, goal: str) -> bool:
    """Whether the goal has a word of the skill's goal, of its phrases or of their interchangeable words."""
    said = (own_phrase(skill), *skill.said, *skill.pieces.has, *itertools.chain.from_iterable(skill.pieces.does))
    patterns = (read_pattern(phrase, {}, whole=True) or () for phrase in said)
    known = {item for pattern in patterns for item in flatten(pattern) if isinstance(item, str)}
    known |= {stem(t.text) for t in meaningful(read_parameters(skill.plan).goal)}
    known |= {stem(word) for group in skill.words for part in group for word in part.split()}
    return any(stem(t.text) in known - LIMITS for t in meaningful(goal[:MAX_GOAL]))


def find_phrase(skill: Skill, goal: str, values: Mapping[str, SkillParameterValue]) -> str | None:
    """The goal as a phrase: with the names of the parameters in braces in place of these values of theirs.

    None if it has a value not exactly once, if it has conditions that the skill's own goal has not, or if the skill
    would not recognise the goal by this phrase.
    """
    block, forms, today = read_parameters(skill.plan), forms_of(skill), date.today()
    own = {p.name: p.value for p in block.parameters}
    free = {name: values.get(name, "") for name in free_parameters(block, forms)}
    said = {n: list(find_spoken(f, own[n], free[n], goal, today)) for n, f in forms.items() if n in free}
    phrase = _with_places(goal, free, {name: places for name, places in said.items() if places})
    more = _conditions(phrase) - _conditions(own_phrase(skill))
    known = valid_phrases(skill, [] if more else [phrase])
    learnt = msgspec.structs.replace(skill, said=(*skill.said, *known))
    return phrase if known and bind_by_rule(learnt, goal, today) == dict(values) else None


def _conditions(phrase: str) -> set[str]:
    return {t.text.casefold().replace("’", "'") for t in tokenize(phrase)} & _CONDITIONS


def own_phrase(skill: Skill) -> str:
    """The skill's own goal as a phrase; empty if it does not show where each value stands."""
    return _own_phrase(skill, {p.name for p in read_parameters(skill.plan).parameters})


def asked_phrase(skill: Skill) -> str:
    """The skill's own goal as a phrase that has places for those values alone that may be others."""
    return _own_phrase(skill, free_parameters(read_parameters(skill.plan), forms_of(skill)))


def placed_phrase(skill: Skill) -> str:
    """The skill's own goal as a phrase with places for those values alone of which a rule finds one."""
    free = free_parameters(read_parameters(skill.plan), forms_of(skill))
    phrase = _own_phrase(skill, [name for name in free if _own_phrase(skill, [name])])
    return phrase or escape(read_parameters(skill.plan).goal[:MAX_GOAL])


def _own_phrase(skill: Skill, names: Collection[str]) -> str:
    block, forms = read_parameters(skill.plan), forms_of(skill)
    values = {p.name: p.value for p in block.parameters if p.name in names}
    said = {n: list(find_words(f.words, tokenize(block.goal))) for n, f in forms.items() if n in values}
    return _with_places(block.goal, values, said) if len(block.goal) < MAX_GOAL else ""


_Places: TypeAlias = Mapping[str, Sequence[Sequence[GoalToken]]]


def _with_places(goal: str, values: Mapping[str, SkillParameterValue], said: _Places) -> str:
    """The goal as a pattern, with names in braces for the values; empty unless it has each value, a number once.

    ``said`` are the places of values that it has in other words.
    """
    tokens = tokenize(goal)
    there: list[tuple[int, int, str]] = []
    for name, value in values.items():
        places = said.get(name) or list(find_value(value, tokens))
        if not places or (len(places) > 1 and (name in said or not isinstance(value, str))):
            return ""
        there += [(place[0].start, place[-1].end, name) for place in places]
    there.sort()
    if any(one[1] > other[0] for one, other in itertools.pairwise(there)):
        return ""
    for start, end, name in reversed(there):
        goal = f"{goal[:start]}{{{name}}}{goal[end:]}"
    return escape(goal)


class _Reply(msgspec.Struct):
    said: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()
    does: tuple[tuple[str, ...], ...] = ()
    has: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


def parse_phrases(reply: str, skill: Skill, names: Mapping[str, str] | None = None) -> Skill:
    """The skill with the phrases, words and pieces of a model's reply, a JSON object, as far as they are usable.

    ``names`` are those under which the reply knows parameters, each with the parameter's own.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        found = msgspec.json.decode(reply[start : end + 1].encode("utf-8", "replace"), type=_Reply)
    except (msgspec.DecodeError, RecursionError):
        return skill
    groups = (tuple(dict.fromkeys(w for w in group if 0 < len(w) <= MAX_WORD))[:MAX_GROUP] for group in found.words)
    words = tuple(group for group in groups if len(group) > 1)[:MAX_WORD_GROUPS]
    does = tuple(_renamed(ways, names) for ways in found.does)
    has, other = _renamed(found.has, names), _renamed(found.other, names)
    said = valid_phrases(skill, [*skill.said, *_renamed(found.said, names)])
    pieces = valid_pieces(skill, GoalPieces(does, has, other)) if does else skill.pieces
    return msgspec.structs.replace(skill, said=said, words=(*skill.words, *words)[:MAX_WORD_GROUPS], pieces=pieces)


def _renamed(patterns: tuple[str, ...], names: Mapping[str, str] | None) -> tuple[str, ...]:
    known = names or {}
    return tuple(PLACE.sub(lambda m: f"{{{known.get(m[1], m[1])}}}", pattern) for pattern in patterns)


def valid_phrases(skill: Skill, phrases: Iterable[str]) -> tuple[str, ...]:
    """Those phrases that have each parameter that may have another value, and words of their own; each once.

    Without alternatives, no two parameters stand side by side, unless one of them is a number, and the other is not.
    """
    names = _names(skill)
    tidy = (" ".join(phrase.split()) for phrase in phrases)
    return tuple(dict.fromkeys(p for p in tidy if _read_phrase(p, {}, names)))[:MAX_PHRASES]


class _Names(NamedTuple):
    """The names of a skill's parameters: all, those that a phrase must have, and those of numbers. ``denials`` are the
    words that no alternative may have, and ``turns`` those that none may have before a value.
    """

    every: frozenset[str]
    free: frozenset[str]
    numbers: frozenset[str]
    denials: frozenset[str]
    turns: frozenset[str]

    def may_touch(self, one: str, other: str) -> bool:
        """Whether values may stand side by side: one of them is a number, or can be none but the plan's own."""
        return (one in self.numbers) != (other in self.numbers) or not {one, other} <= self.free


def _names(skill: Skill) -> _Names:
    block, forms = read_parameters(skill.plan), forms_of(skill)
    return _Names(
        frozenset(skill.parameters),
        frozenset(free_parameters(block, forms)),
        frozenset(p.name for p in block.parameters if isinstance(p.value, int | float) and p.name not in forms),
        _DENIALS - {stem(t.text) for t in tokenize(block.goal)},
        _turns(block.goal),
    )


def _read_phrase(phrase: str, same: Same, names: _Names) -> Pattern | None:
    """A whole sentence as a pattern; None if it is none."""
    pattern = read_pattern(phrase, same, whole=True) if len(phrase) <= MAX_GOAL else None
    if not pattern or not count_words(pattern):
        return None
    places = PLACE.findall(phrase)
    if not names.free.issubset(places) or not names.every.issuperset(places):
        return None
    if has_choice(pattern):
        return without_words(pattern, names.denials)
    pairs = [(a, b) for a, b in itertools.pairwise(pattern) if isinstance(a, ValuePlace) and isinstance(b, ValuePlace)]
    return pattern if all(names.may_touch(a.name, b.name) for a, b in pairs) else None


def valid_pieces(skill: Skill, pieces: GoalPieces) -> GoalPieces:
    """The pieces of a goal without those that no goal may have: none at all if a thing cannot be said any more.

    A way to say a thing has a word of its own in each of its alternatives; a way to give a value has the value.
    """
    names, room = _names(skill), _Room(MAX_PIECES)

    def says_a_thing(piece: str) -> bool:
        return count_words(_read_piece(piece, {}, names) or ()) > 0 and room.take(piece)

    def gives_a_value(piece: str) -> bool:
        return bool(PLACE.search(piece) and _read_value_piece(piece, {}, names)) and room.take(piece)

    does = tuple(tuple(dict.fromkeys(filter(says_a_thing, ways)))[:MAX_PATTERNS] for ways in pieces.does)
    has = tuple(dict.fromkeys(filter(gives_a_value, pieces.has)))[:MAX_PATTERNS]
    other = tuple(p for p in pieces.other if len(p) <= MAX_PATTERN and room.take(p))[:MAX_PATTERNS]
    return GoalPieces(does, has, other) if does and all(does) and len(does) <= MAX_THINGS else GoalPieces()


class _Room:
    """Room for so many characters."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def take(self, text: str) -> bool:
        self._left -= len(text)
        return self._left >= 0


def _read_piece(piece: str, same: Same, names: _Names) -> Pattern | None:
    """A piece of a goal as a pattern; None if it is none."""
    pattern = read_pattern(piece, same, whole=False) if len(piece) <= MAX_PATTERN else None
    if not pattern or not names.every.issuperset(PLACE.findall(piece)):
        return None
    return without_words(pattern, names.denials)


def _read_value_piece(piece: str, same: Same, names: _Names) -> Pattern | None:
    """A piece that gives a value as a pattern, without *from Dover* where the goal has *to Dover*."""
    pattern = _read_piece(piece, same, names)
    return without_words_before_values(pattern, names.turns) if pattern else None
